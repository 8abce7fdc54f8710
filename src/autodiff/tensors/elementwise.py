"""Functions of each entry by itself that are made of several rows."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.tensors.compose import run, shape_of
from autodiff.tensors.shapes import unsqueeze
from autodiff.tensors.tensor import Tensor, raw_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def addcmul(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    """a + value*b*c.

    >>> addcmul(tensor(1.0), tensor(2.0), tensor(3.0))
    tensor(7.)
    """
    return a + value * (b * c)


def addcdiv(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    """a + value*b/c.

    >>> addcdiv(tensor(1.0), tensor(6.0), tensor(3.0))
    tensor(3.)
    """
    return a + value * (b / c)


def clamp(x: Any, min: Any = None, max: Any = None, **options: Any) -> Tensor:
    """x brought between min and max, either of which may be missing.

    >>> clamp(tensor([1.0, 2.0, 3.0]), max=2.0)
    tensor([1., 2., 2.])
    """
    min, max = options.get("a_min", min), options.get("a_max", max)
    return run("clip", x, -math.inf if min is None else min, math.inf if max is None else max)


def heaviside(x: Any, values: Any) -> Tensor:
    """0 below 0, 1 above it, and values at it.

    >>> heaviside(tensor([-1.0, 0.0, 2.0]), 0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """
    return run("where", run("eq", x, 0.0), values, run("gt", x, 0.0))


def nan_to_num(x: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x with other numbers for nan and the infinities (the largest there are), which get no gradient.

    >>> nan_to_num(tensor([float("nan"), float("inf")]), posinf=9.0)
    tensor([0., 9.])
    """
    np = numeric.numpy()
    value, big = np.asarray(numeric.real(raw_of(x))), float(np.finfo(float).max)
    y: Any = run("where", np.isnan(value), 0.0 if nan is None else nan, x)
    for infinity, given, largest in ((np.inf, posinf, big), (-np.inf, neginf, -big)):
        if (value == infinity).any():
            y = run("where", value == infinity, largest if given is None else given, y)
    return y  # type: ignore[no-any-return]


def round_(x: Any, decimals: int = 0) -> Tensor:
    """To whole numbers, halves to even; or to decimals.

    >>> round_(tensor(2.345), 2)
    tensor(2.3500)
    """
    if not decimals:
        return run("round", x)
    return run("div", run("round", run("mul", x, 10.0**decimals)), 10.0**decimals)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    """The powers of each entry of a vector, a row each.

    >>> vander(tensor([2.0, 3.0]), 3)
    tensor([[4., 2., 1.],
            [9., 3., 1.]])
    """
    powers = numeric.numpy().arange(float(shape_of(x)[0] if N is None else N))
    return run("pow", unsqueeze(x, 1), powers if increasing else powers[::-1].copy())
