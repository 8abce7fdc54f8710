"""What goes wrong in the library is an AutodiffError, also one of Python's kinds, with what and how to mend it."""

from __future__ import annotations

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
    "cat of nothing": (lambda: ad.cat([]), TypeError),
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
