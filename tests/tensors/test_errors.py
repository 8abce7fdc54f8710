"""What goes wrong in the library is an AutodiffError, also one of Python's kinds, with what and how to mend it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as ad
from autodiff.errors import AutodiffError


def leaf(data: Any) -> ad.Tensor:
    return ad.tensor(data, requires_grad=True)


v, A, s = leaf([1.0, 2.0, 3.0]), leaf([[1.0, 2.0], [3.0, 4.0]]), leaf(2.0)


class NoGradients(ad.Function):
    """A function whose backward forgets an argument."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        return a * b

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


CASES: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "norm by another word": (lambda: ad.linalg.norm(A, "nuc"), TypeError),
    "no gradient wanted": (lambda: ad.tensor(1.0).backward(), RuntimeError),
    "not one number": (lambda: v.backward(), RuntimeError),
    "seed of another shape": (lambda: v.backward(ad.tensor([1.0])), RuntimeError),
    "shapes of an operator": (lambda: v + ad.tensor([1.0, 2.0]), RuntimeError),
    "shapes of a comparison": (lambda: v < ad.tensor([1.0, 2.0]), RuntimeError),
    "matrix product": (lambda: A @ v, RuntimeError),
    "view": (lambda: v.view(2, 2), RuntimeError),
    "two places left open": (lambda: v.reshape(-1, -1), RuntimeError),
    "index": (lambda: v[5], IndexError),
    "too many indices": (lambda: v[0, 0], IndexError),
    "entries of a number": (lambda: s[0], IndexError),
    "axis": (lambda: v.sum(dim=3), IndexError),
    "axis of softmax": (lambda: v.softmax(2), IndexError),
    "unknown argument": (lambda: v.sum(foo=1), TypeError),
    "missing argument": (lambda: ad.sin(), TypeError),
    "one argument too many": (lambda: ad.atan2(v, v, v), TypeError),
    "text": (lambda: ad.tensor("a"), TypeError),
    "text in a function": (lambda: ad.sin("a"), TypeError),
    "None in a list": (lambda: ad.tensor([1.0, None]), TypeError),
    "rows of different length": (lambda: ad.tensor([[1.0], [1.0, 2.0]]), RuntimeError),
    "complex numbers": (lambda: ad.tensor(1j), TypeError),
    "complex arrays": (lambda: ad.tensor(np.array([1j])), TypeError),
    "item of several": (lambda: v.item(), RuntimeError),
    "truth of several": (lambda: bool(v), RuntimeError),
    "float of several": (lambda: float(v), RuntimeError),
    "length of a number": (lambda: len(s), TypeError),
    "entries of a number by iteration": (lambda: list(s), TypeError),
    "numpy": (lambda: v.numpy(), RuntimeError),
    "hook": (lambda: ad.tensor(1.0).register_hook(print), RuntimeError),
    "gradient of truth values": (lambda: ad.tensor([True]).requires_grad_(), RuntimeError),
    "leaf in place": (lambda: v.add_(1.0), RuntimeError),
    "gradient of another shape": (lambda: setattr(v, "grad", ad.tensor(1.0)), RuntimeError),
    "requires_grad of a result": (lambda: setattr(v * 2, "requires_grad", False), RuntimeError),
    "device": (lambda: ad.device("cuda"), RuntimeError),
    "dtype": (lambda: ad.tensor(1.0, dtype=np.complex128), TypeError),
    "cat": (lambda: ad.cat([v, A]), RuntimeError),
    "cat of nothing": (lambda: ad.cat([]), ValueError),
    "stack": (lambda: ad.stack([v, ad.tensor([1.0])]), RuntimeError),
    "expand": (lambda: v.expand(4), RuntimeError),
    "permute": (lambda: A.permute(0, 0), RuntimeError),
    "squeeze": (lambda: v.squeeze(4), IndexError),
    "split": (lambda: v.split([1, 1]), RuntimeError),
    "gather": (lambda: v.gather(0, ad.tensor([[0]])), RuntimeError),
    "einsum": (lambda: ad.einsum("ij,jk->ik", A, v), RuntimeError),
    "einsum lengths": (lambda: ad.einsum("i,i", v, A[0]), RuntimeError),
    "singular matrix": (lambda: ad.inverse(ad.zeros(2, 2)), RuntimeError),
    "no square matrix": (lambda: ad.det(ad.zeros(2, 3)), RuntimeError),
    "unused input": (lambda: ad.grad(s * s, v), RuntimeError),
    "input that needs none": (lambda: ad.grad(s * s, ad.tensor(1.0)), RuntimeError),
    "inputs is empty": (lambda: (s * s).backward(inputs=[]), RuntimeError),
    "numbers of seeds": (lambda: ad.grad([s * 1, s * 2], s, [ad.tensor(1.0)]), RuntimeError),
    "no tensor": (lambda: ad.grad(1.0, s), TypeError),
    "no tensor by": (lambda: ad.grad(s * s, [1.0]), TypeError),
    "function of an array": (lambda: ad.func.grad(lambda x: x * 2)(v), RuntimeError),
    "tangents": (lambda: ad.func.jvp(lambda x: x, (s,), ()), RuntimeError),
    "too few gradients": (lambda: NoGradients.apply(s, s).backward(), RuntimeError),
    "nothing to check": (lambda: ad.gradcheck(lambda x: x, ad.tensor(1.0)), RuntimeError),
    "copy of a result": (lambda: (v * 2).__reduce__(), RuntimeError),
    "huge array": (lambda: ad.zeros(10**6, 10**6), RuntimeError),
    "empty randint": (lambda: ad.randint(3, 3, (2,)), RuntimeError),
    "size": (lambda: ad.zeros(-1), RuntimeError),
    "index of a fraction": (lambda: v[0.5], IndexError),
    "whole numbers wanted": (lambda: range(ad.tensor(1.5)), TypeError),  # type: ignore[call-overload]
    "range of nothing": (lambda: ad.arange(0, 1, 0), RuntimeError),
    "unknown method": (lambda: v.nonsense(), AttributeError),
}


@pytest.mark.parametrize("name", CASES)
def test_says_what_is_wrong(name: str) -> None:
    call, kind = CASES[name]
    with pytest.raises(kind) as caught:
        call()
    assert len(str(caught.value)) > 10
    if kind is not AttributeError:
        assert isinstance(caught.value, AutodiffError)


def test_the_text_of_an_error_holds_the_fix() -> None:
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        v.numpy()
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        ad.grad(s * s, v)


@pytest.mark.parametrize("name", ["optim", "sine", "nonsense"])
def test_a_missing_name_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(ad, name)


SAID = {
    "y = x * x; y.backward(o); y.backward(o)": "Trying to backward through the graph a second time",
    "y = 2 * x; z = y * y; y.add_(1); z.backward(o)": "has been modified by an inplace operation",
    "x.exp().backward()": "grad can be implicitly created only for scalar outputs",
    "o.sum().backward()": "element 0 of tensors does not require grad and does not have a grad_fn",
    "x.add_(1)": "a leaf Variable that requires grad is being used in an in-place operation",
    "x[0].add_(1)": "a view of a leaf Variable that requires grad is being used in an in-place operation",
    "torch.autograd.grad(x.sum(), o)": "One of the differentiated Tensors does not require grad",
    "torch.autograd.grad(x.sum(), A)": "appears to not have been used in the graph",
    "torch.autograd.grad(x.sum(), [])": "`inputs` argument to `grad()` cannot be empty",
    "x.sum().backward(inputs=[])": "`inputs` argument to `backward()` cannot be empty",
    "x.exp().backward(A)": "Mismatch in shape: grad_output[0] has a shape of torch.Size([2, 3]) and output",
    "x.numpy()": "Can't call numpy() on Tensor that requires grad",
    "x.exp().requires_grad_(False)": "you can only change requires_grad flags of leaf variables",
    "torch.tensor([True], requires_grad=True)": "Only Tensors of floating point and complex dtype can",
    "torch.zeros(1, dtype=torch.int64, requires_grad=True)": "Only Tensors of floating point and complex dtype can",
    "torch.tensor([True]).requires_grad_()": "only Tensors of floating point dtype can require gradients",
    "o.retain_grad()": "can't retain_grad on Tensor that has requires_grad=False",
    "o.register_hook(print)": "cannot register a hook on a tensor that doesn't require gradient",
    "x.grad = 1.0": "assigned grad expected to be a Tensor or None but got grad of type float",
    "x.grad = A": "attempting to assign a gradient of size '[2, 3]' to a tensor of size '[2]'",
    "bool(o)": "Boolean value of Tensor with more than one value is ambiguous",
    "bool(torch.zeros(0))": "Boolean value of Tensor with no values is ambiguous",
    "o.item()": "a Tensor with 2 elements cannot be converted to Scalar",
    "float(o)": "only one element tensors can be converted to Python scalars",
    "int(o)": "only one element tensors can be converted to Python scalars",
    "copy.deepcopy(x.exp())": "Only Tensors created explicitly by the user (graph leaves) support the deepcopy",
    "o + torch.ones(3)": "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    "A / torch.ones(2, 2)": "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    "A @ A": "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    "A @ o": "size mismatch, got input (2), mat (2x3), vec (2)",
    "o @ torch.ones(3, dtype=torch.float64)": "inconsistent tensor size, expected tensor [2] and src [3]",
    "torch.dot(A, o)": "1D tensors expected, but got 2D and 1D tensors",
    "A.sum(2)": "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    "A.t().softmax(-3)": "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    "o[5]": "index 5 is out of bounds for dimension 0 with size 2",
    "A[0, -4]": "index -4 is out of bounds for dimension 1 with size 3",
    "o[0, 0]": "too many indices for tensor of dimension 1",
    "torch.tensor(1.0)[0]": "invalid index of a 0-dim tensor",
    "A.view(4)": "shape '[4]' is invalid for input of size 6",
    "A.reshape(2, 2)": "shape '[2, 2]' is invalid for input of size 6",
    "o.expand(3)": "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0",
    "len(torch.tensor(1.0))": "len() of a 0-d tensor",
    "list(torch.tensor(1.0))": "iteration over a 0-d tensor",
    "o.topk(3)": "selected index k out of range",
    "o.split(0)": "split_size can only be 0 if dimension size is 0, but got dimension size of 2",
    "torch.cat([])": "expected a non-empty list of Tensors",
    "torch.ones(-1)": "Trying to create tensor with negative dimension -1: [-1]",
    "torch.arange(1, 0)": "upper bound and lower bound inconsistent with step sign",
    "torch.zeros(0).argmax()": "argmax()",
    "o.sinus": "'Tensor' object has no attribute 'sinus'",
    "torch.nn.functional.cross_entropy(A, torch.tensor([0, 5], dtype=torch.int64))": "Target 5 is out of bounds",
    "double(x, 2)": "Backward returned an incorrect number of gradients (expected 1, got 2)",
    "double(x, 0)": "Backward returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]",
    "torch.autograd.gradcheck(lambda x: double(x, 1, False), x)": "Jacobian mismatch for output 0 with respect to",
}


def said(torch: Any, text: str) -> Exception:
    """The error that a line raises, with x a leaf of two entries, o ones, A a leaf of shape (2, 3)."""

    def double(x: Any, count: int, run: bool = True) -> Any:
        class Double(torch.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return 2 * x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return (g,) * count if count else torch.ones(3)

        y = Double.apply(x)
        if run:
            y.sum().backward()
        return y

    names = {
        "torch": torch,
        "copy": copy,
        "double": double,
        "o": torch.ones(2, dtype=torch.float64),
        "x": torch.tensor([2.0, 3.0], requires_grad=True, dtype=torch.float64),
        "A": torch.ones((2, 3), requires_grad=True, dtype=torch.float64),
    }
    with pytest.raises(Exception) as caught:
        exec(text, names)
    return caught.value


@pytest.mark.parametrize("text", SAID)
def test_says_it_in_the_words_that_torch_users_know(text: str) -> None:
    error = said(ad, text)
    assert SAID[text] in str(error)
    try:
        import torch
    except ImportError:
        return
    theirs = said(torch, text)
    assert SAID[text] in str(theirs)
    kinds = (RuntimeError, IndexError, TypeError, ValueError, AttributeError)
    assert all(isinstance(error, kind) for kind in kinds if isinstance(theirs, kind))
