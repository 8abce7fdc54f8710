"""PyTorch as oracle: value, gradient and Hessian of every function that it has too, and each deliberate difference.

DELIBERATE is the one list of those; the README shows it (`differences`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from autodiff.differentiate import gradient, hessian
from autodiff.errors import AutodiffError
from autodiff.job import Settings
from autodiff.parse import parse

INF, NAN = math.inf, math.nan


class Difference(NamedTuple):
    """One point where the derivative, or the value, is not torch's."""

    text: str
    point: dict[str, Any]
    ours: dict[str, Any]
    torch: dict[str, Any]
    reason: str


DELIBERATE = [
    Difference("relu(x) - relu(-x)", {"x": 0.0}, {"x": 1.0}, {"x": 0.0}, "both sides agree: it is x"),
    Difference(
        "hypot(x, y)", {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, {"x": NAN, "y": NAN}, "as norm, in torch too"
    ),
    Difference(
        "atan2(x, y)", {"x": 0.0, "y": 0.0}, {"x": NAN, "y": NAN}, {"x": 0.0, "y": 0.0}, "there is no angle to change"
    ),
    Difference("logsumexp(v)", {"v": [-INF, -INF]}, {"v": [0.0, 0.0]}, {"v": [NAN, NAN]}, "masked entries stay masked"),
    Difference("logaddexp(x, y)", {"x": -INF, "y": -INF}, {"x": 0.0, "y": 0.0}, {"x": NAN, "y": NAN}, "as logsumexp"),
    Difference(
        "xlogy(x, y)", {"x": 0.0, "y": 0.0}, {"x": -INF, "y": 0.0}, {"x": 0.0, "y": NAN}, "the limits along x and y"
    ),
    Difference("xlog1py(x, y)", {"x": 0.0, "y": -1.0}, {"x": -INF, "y": 0.0}, {"x": 0.0, "y": NAN}, "as xlogy"),
    Difference(
        "max(v, axis=0)", {"v": [2.0, 2.0]}, {"v": [0.5, 0.5]}, {"v": [1.0, 0.0]}, "ties share, along an axis too"
    ),
    Difference(
        "det(A)",
        {"A": [[0.0, 0.0], [0.0, 3.0]]},
        {"A": [[3.0, 0.0], [0.0, 0.0]]},
        {"A": [[0.0] * 2] * 2},
        "the cofactors are right for singular matrices",
    ),
    Difference("silu(x)", {"x": -INF}, {"x": 0.0}, {"x": NAN}, "the limit"),
    Difference("gelu(x)", {"x": -INF}, {"x": 0.0}, {"x": NAN}, "the limit"),
    Difference("tanh(x)", {"x": 20.0}, {"x": 1.699341702116e-17}, {"x": 0.0}, "1 - tanh^2 cancels"),
    Difference("sigmoid(x)", {"x": 40.0}, {"x": 4.248354255291589e-18}, {"x": 0.0}, "1 - sigmoid cancels"),
    Difference("softplus(x)", {"x": 21.0}, {"x": 0.9999999992417439}, {"x": 1.0}, "torch takes it for x above 20"),
    Difference("sinc(x)", {"x": 1e-8}, {"x": -3.289868133696453e-08}, {"x": -2.1063981330815398e-08}, "cancels near 0"),
    Difference("asinh(x)", {"x": 1e200}, {"x": 1e-200}, {"x": 0.0}, "x^2 overflows"),
    Difference("norm(v)", {"v": [3e200, 4e200]}, {"v": [0.6, 0.8]}, {"v": [0.0, 0.0]}, "x^2 overflows"),
    Difference("std(v)", {"v": [1e200, 3e200]}, {"v": [-0.5, 0.5]}, {"v": [0.0, 0.0]}, "x^2 overflows"),
    Difference("expm1(x)", {"x": -40.0}, {"x": 4.248354255291589e-18}, {"x": 0.0}, "expm1 + 1 cancels"),
    Difference(
        "log_ndtr(x)",
        {"x": -1e5},
        {"x": 100000.00000999999},
        {"x": 100000.07402897284},
        "by its own continued fraction",
    ),
]


def differences() -> str:
    """The table of the README."""
    lines = ["| expression | at | here | torch | why |", "| --- | --- | --- | --- | --- |"]
    for d in DELIBERATE:
        cells = [", ".join(f"{name}={number(x)}" for name, x in part.items()) for part in (d.point, d.ours, d.torch)]
        lines.append(f"| `{d.text}` | {' | '.join(cells)} | {d.reason} |")
    return "\n".join(lines)


def number(x: Any) -> str:
    return f"[{', '.join(map(number, x))}]" if isinstance(x, list) else f"{x:.10g}"


REAL, POSITIVE, UNIT, FRACTION, ABOVE = (-3.0, 3.0), (0.1, 4.0), (-0.95, 0.95), (0.05, 0.95), (1.05, 5.0)
WAVES = ("abs", "square", "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan")
SPECIAL = ("sinc", "deg2rad", "rad2deg", "erf", "erfc", "sigmoid", "sign", "floor", "ceil", "round", "trunc", "frac")
ACTIVATIONS = ("softplus", "softsign", "relu", "leaky_relu", "elu", "selu", "gelu", "silu", "mish")
POSITIVES = ("sqrt", "reciprocal", "log", "log2", "log10", "log1p", "lgamma", "digamma")
ONE: dict[str, tuple[str, tuple[float, float]]] = {
    **{name: (name, REAL) for name in (*WAVES, *SPECIAL)},
    **{name: (name, POSITIVE) for name in POSITIVES},
    **{name: (name, UNIT) for name in ("asin", "acos", "atanh", "erfinv")},
    "acosh": ("acosh", ABOVE),
    "logit": ("logit", FRACTION),
    **{name: (f"special.{name}", REAL) for name in ("ndtr", "log_ndtr")},
    "log_sigmoid": ("nn.functional.logsigmoid", REAL),
    **{name: (f"nn.functional.{name}", REAL) for name in ACTIVATIONS},
}
"""Functions of one number: torch's name and where to draw from."""
TWO: dict[str, tuple[str, tuple[float, float]]] = {
    **{name: (name, REAL) for name in ("atan2", "hypot", "logaddexp", "copysign")},
    "max": ("maximum", REAL),
    "min": ("minimum", REAL),
    **{name: (name, POSITIVE) for name in ("pow", "xlogy", "fmod")},
    "xlog1py": ("special.xlog1py", POSITIVE),
}

ARRAYS: dict[str, Callable[..., Any]] = {
    "sum(v)": lambda t, v: v.sum(),
    "mean(v)": lambda t, v: v.mean(),
    "var(v)": lambda t, v: t.var(v, correction=0),
    "var(v, ddof=1)": lambda t, v: t.var(v),
    "std(v)": lambda t, v: t.std(v, correction=0),
    "prod(v)": lambda t, v: t.prod(v),
    "max(v)": lambda t, v: t.max(v),
    "min(v)": lambda t, v: t.min(v),
    "norm(v)": lambda t, v: t.linalg.norm(v),
    "norm(v, 1)": lambda t, v: t.linalg.norm(v, 1),
    "norm(v, 3)": lambda t, v: t.linalg.norm(v, 3),
    "norm(v, inf)": lambda t, v: t.linalg.norm(v, INF),
    "logsumexp(v)": lambda t, v: t.logsumexp(v, 0),
    "cumsum(v)[1]^2": lambda t, v: t.cumsum(v, 0)[1] ** 2,
    "sum(cumprod(v)^2)": lambda t, v: (t.cumprod(v, 0) ** 2).sum(),
    "softmax(v)[0]": lambda t, v: t.softmax(v, 0)[0],
    "log_softmax(v)[0]": lambda t, v: t.log_softmax(v, 0)[0],
    "dot(v, v)": lambda t, v: t.dot(v, v),
    "sum(outer(v, v)^2)": lambda t, v: (t.outer(v, v) ** 2).sum(),
    "norm(cross(v, [1, 2, 3]))": lambda t, v: t.linalg.norm(
        t.linalg.cross(v, t.tensor([1.0, 2.0, 3.0], dtype=v.dtype))
    ),
    "sum(diag(v) @ v)": lambda t, v: (t.diag(v) @ v).sum(),
    "sum(kron(v, v))": lambda t, v: t.kron(v, v).sum(),
    "sum(stack(v, v^2)[1])": lambda t, v: t.stack([v, v**2])[1].sum(),
    "sum(concat(v, v^2))": lambda t, v: t.cat([v, v**2]).sum(),
    "det(A)": lambda t, a: t.det(a),
    "logdet(A)": lambda t, a: t.logdet(a),
    "trace(A @ A)": lambda t, a: t.trace(a @ a),
    "sum(inv(A))": lambda t, a: t.inverse(a).sum(),
    "sum(solve(A, [1, 2, 3]))": lambda t, a: t.linalg.solve(a, t.tensor([1.0, 2.0, 3.0], dtype=a.dtype)).sum(),
    "sum(cholesky(A @ transpose(A)))": lambda t, a: t.linalg.cholesky(a @ a.T).sum(),
    "eigvalsh(A)[0]": lambda t, a: t.linalg.eigvalsh((a + a.T) / 2)[0],
    "norm(A)": lambda t, a: t.linalg.norm(a),
    "sum(max(A, axis=0))": lambda t, a: t.max(a, 0)[0].sum(),
}
EXTREME = [1e-300, -1e-300, 1e-8, -1e-8, 20.0, -20.0, 300.0, -300.0, 1e15, -1e15]
# where torch itself leaves float64's precision behind: asked for no more than it has
COARSE = {"asinh", "log_ndtr", "lgamma", "digamma", "softplus", "sinc"}


def tolerance(name: str) -> tuple[float, float]:
    return (1e-6, 1e-7) if name in COARSE else (1e-10, 1e-13)


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def find(torch: Any, name: str) -> Callable[..., Any]:
    for part in name.split("."):
        torch = getattr(torch, part)
    return torch  # type: ignore[no-any-return]


def theirs(torch: Any, function: Callable[..., Any], *xs: Any) -> tuple[Any, Any, Any]:
    """Value, gradient and Hessian of a function of tensors by torch, the last two over all entries in order."""
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
    y = function(*leaves)
    grads = (
        [
            g if g is not None else torch.zeros_like(leaf)
            for g, leaf in zip(
                torch.autograd.grad(y, leaves, create_graph=True, allow_unused=True), leaves, strict=True
            )
        ]
        if y.requires_grad
        else [torch.zeros_like(leaf) for leaf in leaves]
    )
    flat = torch.cat([g.reshape(-1) for g in grads])
    rows = []
    for entry in flat:
        seconds = (
            torch.autograd.grad(entry, leaves, retain_graph=True, allow_unused=True)
            if entry.requires_grad
            else [None] * len(leaves)
        )
        rows.append(
            torch.cat(
                [(torch.zeros_like(x) if h is None else h).reshape(-1) for h, x in zip(seconds, leaves, strict=True)]
            )
        )
    return y.detach().numpy(), flat.detach().numpy(), torch.stack(rows).detach().numpy()


def ours(text: str, point: dict[str, Any]) -> tuple[Any, Any, Any]:
    out = hessian(parse(text), point, list(point))
    assert out.gradient is not None and out.hessian is not None
    flat = np.concatenate([np.ravel(g) for g in out.gradient.values()])
    rows = [
        np.concatenate([np.reshape(h, (np.size(point[a]), -1)) for h in blocks.values()], axis=1)
        for a, blocks in out.hessian.items()
    ]
    return np.asarray(out.value), flat, np.concatenate(rows)


def agree(text: str, point: dict[str, Any], other: tuple[Any, Any, Any], rtol: float, atol: float) -> None:
    for mine, yours in zip(ours(text, point), other, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=rtol, atol=atol, err_msg=f"{text} at {point}")


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(torch: Any, name: str) -> None:
    path, (low, high) = ONE[name]
    for x in np.random.default_rng(1).uniform(low, high, 12):
        agree(
            f"{name}(x)",
            {"x": float(x)},
            theirs(torch, find(torch, path), x),
            *tolerance(name),
        )


@pytest.mark.parametrize("name", ONE)
def test_extreme_numbers(torch: Any, name: str) -> None:
    """Where torch's value and derivatives are finite numbers, they are ours up to what it rounds away."""
    path, (low, high) = ONE[name]
    points = [
        x for x in EXTREME if low == REAL[0] or (x > 0.0 and low == POSITIVE[0]) or (abs(x) < 0.1 and low == UNIT[0])
    ]
    listed = [abs(d.point["x"]) for d in DELIBERATE if d.text == f"{name}(x)"]
    points = [x for x in points if abs(x) not in listed]
    compared = 0
    for x in points or [(low + high) / 2.0]:
        other = theirs(torch, find(torch, path), x)
        if all(np.isfinite(part).all() for part in other):
            agree(f"{name}(x)", {"x": x}, other, *tolerance(name))
            compared += 1
    assert compared


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(torch: Any, name: str) -> None:
    path, (low, high) = TWO[name]
    for x, y in np.random.default_rng(2).uniform(low, high, (12, 2)):
        agree(f"{name}(x, y)", {"x": float(x), "y": float(y)}, theirs(torch, find(torch, path), x, y), 1e-10, 1e-13)


@pytest.mark.parametrize("text", ARRAYS)
def test_functions_of_arrays(torch: Any, text: str) -> None:
    random = np.random.default_rng(3)
    for _ in range(5):
        x = random.uniform(-1.0, 1.0, (3, 3)) + 3.0 * np.eye(3) if "A" in text else random.uniform(-2.0, 2.0, 3)
        agree(text, {"A" if "A" in text else "v": x}, theirs(torch, lambda v: ARRAYS[text](torch, v), x), 1e-9, 1e-12)


TORCH: dict[str, Callable[..., Any]] = {
    "relu(x) - relu(-x)": lambda t, x: t.relu(x) - t.relu(-x),
    "max(v, axis=0)": lambda t, v: t.max(v, 0)[0],
    "std(v)": ARRAYS["std(v)"],
    "norm(v)": ARRAYS["norm(v)"],
    "logsumexp(v)": ARRAYS["logsumexp(v)"],
    "det(A)": ARRAYS["det(A)"],
}


@pytest.mark.parametrize("case", DELIBERATE, ids=[d.text for d in DELIBERATE])
def test_each_difference_is_one(torch: Any, case: Difference) -> None:
    """Torch still answers what the table says it does, and so do we; --convention torch answers as torch at kinks."""
    point = {name: np.array(x) if isinstance(x, list) else x for name, x in case.point.items()}
    name = case.text.split("(")[0]
    function = TORCH.get(case.text) or (lambda t, *xs: find(t, {**ONE, **TWO}[name][0])(*xs))
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in case.point.values()]
    found = torch.autograd.grad(function(torch, *leaves), leaves)
    for g, (leaf, expected) in zip(found, case.torch.items(), strict=True):
        np.testing.assert_allclose(g.numpy(), expected, rtol=1e-6, atol=0, err_msg=leaf)
    mine = gradient(parse(case.text), point, list(point)).gradient
    assert mine is not None
    for leaf, expected in case.ours.items():
        np.testing.assert_allclose(mine[leaf], expected, rtol=1e-12, atol=0, err_msg=leaf)
    if all(abs(x) in (0.0, 1.0, 2.0, INF) for v in case.point.values() for x in np.ravel(v)) and name not in (
        "silu",
        "gelu",
    ):
        like = gradient(parse(case.text), point, list(point), Settings(convention="torch")).gradient
        assert like is not None
        for leaf, expected in case.torch.items():
            np.testing.assert_array_equal(like[leaf], expected)


def test_most_functions_are_compared(torch: Any) -> None:
    assert len(ONE) + len(TWO) + len(ARRAYS) > 90
    with pytest.raises(AutodiffError):
        gradient(parse("sin(v)"), {"v": np.ones(2)}, ["v"])
