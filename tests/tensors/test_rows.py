"""Every row as a function of tensors: values as everywhere, first and second derivatives against differences."""

from __future__ import annotations

import doctest
import importlib
import inspect
import keyword
import math
import pkgutil
import re
import sys
from typing import Any

import numpy as np
import pytest

import autodiff as ad
import autodiff.tensors
from autodiff.ops import NAMES, OPS
from autodiff.tensors.namespace import function, public
from autodiff.tensors.tensor import Tensor

ROWS = [
    op
    for op in OPS.values()
    if op.name in NAMES and "n" not in op.operands and op.differentiable and op.samples and op.elementwise
]


def moderate(*numbers: float) -> bool:
    """Whether differences in float64 can check there; everywhere else mpmath does (tests/ops)."""
    return all(x == 0.0 or 1e-2 < abs(x) < 20.0 for x in numbers)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_elementwise_rows(op: Any) -> None:
    call = function(op)
    for sample in op.samples:
        xs = tuple(map(float, sample)) if isinstance(sample, tuple) else (float(sample),)
        want = op(*xs)
        assert ad.equal(call(*map(ad.tensor, xs)), want) or math.isnan(want)
        slopes = [op.partial(i) for i in range(len(xs))]
        if not moderate(*xs, *(s(want, *xs) if callable(s) else s for s in slopes)):
            continue
        if op.kink is not None and op.kink(want, *xs):
            continue
        for shaped in (xs, tuple(np.full(2, x) for x in xs)):
            leaves = [ad.tensor(x, requires_grad=True) for x in shaped]
            assert ad.gradcheck(call, leaves)
            if not op.jump:
                assert ad.gradgradcheck(call, leaves, atol=1e-4)


M = [[2.0, 0.5, 0.1], [0.3, 3.0, 0.2], [0.1, 0.4, 1.5]]
V = [0.5, -1.5, 2.0]
ARRAYS: dict[str, Any] = {
    "sum": lambda v, m: ad.sum(m, axis=0) * v,
    "mean": lambda v, m: ad.mean(v) * ad.mean(m, dim=1),
    "prod": lambda v, m: ad.prod(m, axis=1) * ad.prod(v),
    "var": lambda v, m: ad.var(m, axis=0) + ad.var(v, ddof=1),
    "std": lambda v, m: ad.std(v) * ad.std(m, axis=1),
    "max": lambda v, m: ad.max(v) * ad.max(m, axis=0) + ad.max(v, 1.0),
    "norm": lambda v, m: ad.norm(v) * ad.norm(m),
    "logsumexp": lambda v, m: ad.logsumexp(v) + ad.logsumexp(m, axis=0),
    "softmax": lambda v, m: ad.softmax(m, dim=1) @ v,
    "log_softmax": lambda v, m: ad.log_softmax(v) * v,
    "cumsum": lambda v, m: ad.cumsum(v) * ad.cumprod(v) + ad.cumsum(m, dim=0),
    "matmul": lambda v, m: m @ m @ v + ad.mv(m, v) + v @ m,
    "dot": lambda v, m: ad.dot(v, v) * ad.outer(v, v),
    "cross": lambda v, m: ad.cross(v, v * v),
    "linear algebra": lambda v, m: ad.det(m) * ad.solve(m, v) + ad.inv(m) @ v * ad.logdet(m) + ad.trace(m),
    "cholesky": lambda v, m: ad.cholesky(m @ m.T) @ v,
    "eigvalsh": lambda v, m: ad.eigvalsh(m + m.T) * v,
    "shapes": lambda v, m: (
        ad.cat([v, v * v]).reshape(2, -1).T @ ad.stack([v, v], dim=0) + m.view(9).view(3, 3).permute(1, 0)
    ),
    "views": lambda v, m: m[0] * m[:, 1] + m[-1, ::2].sum() + m[[0, 2]].sum() + v.unsqueeze(0).expand(3, -1) * m,
    "diag": lambda v, m: ad.diag(v) @ m + ad.diag(m) * ad.kron(v, v).sum(),
    "keepdim": lambda v, m: m / m.sum(dim=1, keepdim=True) + v.mean(0, keepdim=True),
    "where": lambda v, m: ad.where(m > 1, m * v, m.clamp(min=0.25)) + m.squeeze().transpose(0, 1),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    v, m = ad.tensor(V, requires_grad=True), ad.tensor(M, requires_grad=True)
    assert ad.gradcheck(ARRAYS[name], (v, m))
    assert ad.gradgradcheck(ARRAYS[name], (v, m), atol=1e-4)


def test_every_public_name_is_there() -> None:
    for name in [*public(), "tensor", "func", "autograd", "compile", "Function", "float64", "pi"]:
        assert getattr(ad, name) is not None
    assert set(public()) <= set(dir(ad))
    with pytest.raises(AttributeError):
        _ = ad.nonsense
    for name in ("exp", "sum", "view", "mul_", "relu_"):
        assert callable(getattr(ad.tensor([1.0]), name))
    with pytest.raises(AttributeError):
        _ = ad.tensor(1.0).nonsense


def test_functions_of_functions() -> None:
    def f(x: Any, y: Any) -> Any:
        return ad.sin(x) * y**2

    x, y = 0.3, 2.0
    s, c = math.sin(x), math.cos(x)
    close = pytest.approx
    assert [g.item() for g in ad.func.grad(f, (0, 1))(x, y)] == close([4 * c, 4 * s])
    value, slope = ad.func.value_and_grad(f)(x, y)
    assert (value.item(), slope.item()) == (close(4 * s), close(4 * c))
    assert ad.func.grad(ad.func.grad(f), 1)(x, y).item() == close(4 * c)
    value, slope = ad.func.jvp(f, (x, y), (1.0, 10.0))
    assert slope.item() == close(4 * c + 40 * s)
    value, pull = ad.func.vjp(f, x, y)
    assert [g.item() for g in pull(2.0)] == close([8 * c, 8 * s])
    assert [g.item() for g in ad.func.hvp(f, (x, y), (1.0, 0.0))[1]] == close([-4 * s, 4 * c])
    v = ad.tensor([1.0, 2.0, 3.0])
    assert ad.func.hessian(lambda t: (t**3).sum())(v).tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]
    assert ad.func.jacobian(lambda t: t[:2] * t[2])(v).tolist() == [[3, 0, 1], [0, 3, 2]]
    assert ad.func.jacobian(lambda t: ad.tensor([5.0]))(v).tolist() == [[0, 0, 0]]
    assert ad.autograd.functional.hessian(lambda t: (t * t).prod(), v).shape == (3, 3)
    outer = ad.tensor(2.0, requires_grad=True)
    (ad.func.grad(lambda t: t**3 * outer)(ad.tensor(3.0)) * 1).backward()
    assert outer.grad.item() == close(27.0)


def test_gradcheck_finds_a_wrong_rule() -> None:
    class Wrong(ad.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0] * 2.01

    x = ad.tensor(3.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="differences"):
        ad.gradcheck(Wrong.apply, x)
    assert not ad.gradcheck(Wrong.apply, x, raise_exception=False)


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(autodiff.tensors.__path__)])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(f"autodiff.tensors.{name}")
    assert doctest.testmod(module, extraglobs={"tensor": ad.tensor}).failed == 0


def shown(owner: Any, names: list[str]) -> list[tuple[str, Any]]:
    """What can be called under these names, and the properties of a class."""
    found = [(name, inspect.getattr_static(owner, name, None) or getattr(owner, name)) for name in names]
    return [(n, x) for n, x in found if callable(x) or isinstance(x, (property, staticmethod))]


PUBLIC = [
    *shown(ad, [name for name in dir(ad) if not keyword.iskeyword(name)]),
    *shown(Tensor, [name for name in vars(Tensor) if name[:1] != "_"]),
    *shown(ad.autograd.functional, [name for name in vars(ad.autograd.functional) if name[:1] != "_"]),
    *shown(ad.nn.utils, list(vars(ad.nn.utils))),
    *shown(ad.linalg, list(vars(ad.linalg))),
    *shown(ad.special, list(vars(ad.special))),
    *shown(ad.autograd, [name for name in ad.autograd.__all__ if name != "functional"]),
]


@pytest.mark.parametrize("name,thing", PUBLIC, ids=[name for name, _ in PUBLIC])
def test_every_public_name_shows_an_example_that_runs(name: str, thing: Any) -> None:
    doc = thing.__doc__ or ""
    assert ">>>" in doc
    if callable(thing) and not isinstance(thing, type):  # others are run with their modules
        called = "".join(re.findall(r">>> (\w+)\(", doc)[:1]) or name
        names = {called: thing, **vars(sys.modules[thing.__module__]), "tensor": ad.tensor}
        test = doctest.DocTestParser().get_doctest(doc, names, name, None, 0)
        assert test.examples and doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize(
    "module", ["compose", "create", "functional", "random", "func", "arrays", "dtypes", "checkpoint"]
)
def test_functions_made_of_rows_say_what_they_are(module: str) -> None:
    found = vars(importlib.import_module(f"autodiff.tensors.{module}"))
    for name, value in found.items():
        if name[:1] != "_" and callable(value) and getattr(value, "__module__", "").endswith(module):
            assert value.__doc__ and len(value.__doc__) > 8, name


def test_spread_is_by_n_minus_1_as_in_pytorch_and_by_n_as_in_numpy() -> None:
    v = ad.tensor([1.0, 3.0, 8.0], requires_grad=True)
    data = np.array([1.0, 3.0, 8.0])
    assert v.std().item() == pytest.approx(data.std(ddof=1)) and ad.var(v).item() == pytest.approx(data.var(ddof=1))
    assert v.std(unbiased=False).item() == pytest.approx(data.std()) and v.var(correction=0).item() == data.var()
    assert np.std(v).item() == pytest.approx(data.std()) and np.var(v, ddof=1).item() == pytest.approx(data.var(ddof=1))
    assert ad.compile("std(v)")(v=data) == pytest.approx(data.std())
    assert math.isnan(ad.tensor([2.0]).std().item())
