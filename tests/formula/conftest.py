"""Fixtures: formulas evaluated with mpmath, by definitions that owe nothing to the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from autodiff.operands.formula import Formula, walk

CONSTANTS: dict[str, Callable[[], Any]] = {
    "pi!": lambda: +mp.pi,
    "e!": lambda: +mp.e,
    "inf!": lambda: mp.inf,
    "nan!": lambda: mp.nan,
}


def real(function: Callable[..., Any]) -> Callable[..., Any]:
    """nan where the value is not real."""

    def call(*xs: Any) -> Any:
        try:
            y = function(*xs)
        except (ZeroDivisionError, ValueError):
            return mp.nan
        return mp.nan if isinstance(y, mp.mpc) and y.imag != 0 else mp.re(y)

    return call


def _polygamma(n: Any, x: Any) -> Any:
    return mp.psi(int(n), x)


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _density(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _sinc(x: Any) -> Any:
    return mp.mpf(1) if x == 0 else mp.sin(mp.pi * x) / (mp.pi * x)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


OPS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "chain": lambda a, b: a * b,
    "gate": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pos": lambda a: a,
    "pow": lambda a, b: mp.power(a, b),
    "floordiv": lambda a, b: mp.floor(a / b),
    "mod": lambda a, b: a - b * mp.floor(a / b),
    "square": lambda a: a * a,
    "reciprocal": lambda a: 1 / a,
    "sqrt": mp.sqrt,
    "cbrt": lambda a: mp.sign(a) * mp.cbrt(abs(a)),
    "exp": mp.exp,
    "exp2": lambda a: mp.power(2, a),
    "expm1": lambda a: mp.exp(a) - 1,
    "log": mp.log,
    "log2": lambda a: mp.log(a) / mp.log(2),
    "log10": lambda a: mp.log(a) / mp.log(10),
    "log1p": lambda a: mp.log(1 + a),
    "logaddexp": lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    "xlogy": lambda a, b: a * mp.log(b),
    "xlog1py": lambda a, b: a * mp.log(1 + b),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sec": mp.sec, "csc": mp.csc, "cot": mp.cot,
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
    "sech": mp.sech, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh, "sinc": _sinc,
    "dsinc": lambda x, n: mp.diff(_sinc, x, int(n)),
    "deg2rad": mp.radians, "rad2deg": mp.degrees, "hypot": mp.hypot, "atan2": mp.atan2,
    "unit": lambda x, y: x / mp.hypot(x, y),
    "erf": mp.erf, "erfc": mp.erfc, "erfinv": mp.erfinv, "gamma": mp.gamma,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))), "digamma": mp.digamma, "polygamma": _polygamma,
    "factorial": mp.factorial, "beta": mp.beta,
    "lbeta": lambda a, b: mp.log(abs(mp.beta(a, b))),
    "sigmoid": _sigmoid, "logit": lambda p: mp.log(p / (1 - p)),
    "log_sigmoid": lambda x: mp.log(_sigmoid(x)), "softplus": lambda x: mp.log(1 + mp.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "relu": lambda x: max(x, mp.mpf(0)), "leaky_relu": lambda x, s: x if x > 0 else s * x,
    "elu": lambda x, a: x if x > 0 else a * (mp.exp(x) - 1),
    "selu": lambda x: mp.mpf("1.0507009873554804934193349852946")
    * (x if x > 0 else mp.mpf("1.6732632423543772848170429916717") * (mp.exp(x) - 1)),
    "ndtr": _ndtr, "log_ndtr": lambda x: mp.log(_ndtr(x)), "mills": lambda x: _density(x) / _ndtr(x),
    "mills_excess": lambda x: _density(x) / _ndtr(x) + x,
    "gelu": lambda x: x * _ndtr(x), "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * mp.tanh(mp.log(1 + mp.exp(x))),
    "abs": abs, "sign": mp.sign, "floor": mp.floor, "ceil": mp.ceil, "round": mp.nint,
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)), "frac": lambda x: x - mp.sign(x) * mp.floor(abs(x)),
    "fmod": lambda x, y: x - y * mp.sign(x / y) * mp.floor(abs(x / y)),
    "copysign": lambda x, y: abs(x) * (1 if y >= 0 else -1),
    "max": max, "min": min, "clip": lambda x, a, b: min(max(x, a), b), "lerp": lambda a, b, t: a + t * (b - a),
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "not": lambda a: not a,
    "and": lambda a, b: bool(a) and bool(b), "or": lambda a, b: bool(a) or bool(b),
    "stop_gradient": lambda x: x,
}  # fmt: skip


def number(x: float) -> Any:
    """The decimal that was typed, exactly."""
    if x != x or x in (float("inf"), float("-inf")):
        return mp.mpf(x)
    c = Fraction(repr(float(x)))
    near = Fraction(x).limit_denominator(1000)
    if len(repr(x)) > 16 and float(near) == x:
        c = near
    return mp.mpf(c.numerator) / c.denominator


def evaluate(root: Any, point: dict[str, Any]) -> Any:
    """The value of a formula at a point of mpmath numbers."""
    values: dict[Any, Any] = {}
    for f in walk([root]):
        if f.op is None:
            values[f] = CONSTANTS[f.name]() if f.name in CONSTANTS else point[f.name]
            continue
        if f.op.name == "where":
            c, a, b = f.inputs
            chosen = a if _of(c, values) else b
            values[f] = _of(chosen, values)
            continue
        xs = [_of(x, values) for x in f.inputs]
        values[f] = mp.nan if any(x != x for x in xs) else real(OPS[f.op.name])(*xs)
    return _of(root, values)


def _of(x: Any, values: dict[Any, Any]) -> Any:
    return values[x] if isinstance(x, Formula) else number(x)


@pytest.fixture
def exactly() -> Callable[[Any, dict[str, Any]], Any]:
    """The value of a formula at a point of mpmath numbers, at 50 digits."""
    return evaluate


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(50):
        yield
