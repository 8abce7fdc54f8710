"""Rows: the operators, comparisons and logic, powers and roots."""

from __future__ import annotations

import math
import operator

from autodiff.numeric import each, from_numpy, inf, known, nan, numpy, real, total
from autodiff.ops.record import Op, chain, gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


SMALL = 0.0625  # exponents below lose digits in y - 1


def _div(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        return nan if a == 0.0 or a != a else math.copysign(inf, a) * math.copysign(1.0, b)


def _floordiv(a: float, b: float) -> float:
    try:
        return a // b if abs(a) != inf else nan if abs(b) == inf else _div(a, b)
    except ZeroDivisionError:
        return _div(a, b)


def _floordivs(a: Any, b: Any) -> Any:
    """NumPy's, but for infinities over finite numbers, of which that makes nan."""
    np = numpy()
    y = np.floor_divide(a, b)
    return np.where(np.isinf(a), a / b, y) if np.isinf(a).any() else y


def _mod(a: float, b: float) -> float:
    try:
        return a % b
    except ZeroDivisionError:
        return nan


def _pow(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except ValueError:
        if a != 0.0:
            return nan  # a negative base with a broken exponent
        return math.copysign(inf, a) if b % 2.0 == 1.0 else inf
    except OverflowError:
        return -inf if a < 0.0 and b % 2.0 == 1.0 else inf


def _reciprocal(x: float) -> float:
    return _div(1.0, x)


def _choices(c: Any, a: Any, b: Any) -> Any:
    chosen = c if c.__class__ is bool or getattr(c, "dtype", float) == "bool" else c != 0.0
    return numpy().where(chosen, real(a), real(b))


def whole(y: Any, x: Any, n: Any = 1.0) -> Any:
    """Where floor and its kin jump."""
    return x == x // 1.0


add: Op = Op(
    "add",
    "a b",
    "sum",
    operator.add,
    operator.add,
    [1.0, 1.0],
    symbol="+",
    order=4,
    samples=[(2.0, 3.0), (-1.5, 0.25)],
)
sub: Op = Op(
    "sub",
    "a b",
    "difference",
    operator.sub,
    operator.sub,
    [1.0, -1.0],
    symbol="-",
    order=4,
    samples=[(2.0, 3.0), (-1.5, 0.25)],
)
mul: Op = Op(
    "mul",
    "a b",
    "product",
    operator.mul,
    operator.mul,
    [lambda y, a, b: b, lambda y, a, b: a],
    symbol="*",
    order=5,
    samples=[(2.0, 3.0), (-1.5, 0.25)],
)
div: Op = Op(
    "div",
    "a b",
    "quotient",
    _div,
    operator.truediv,
    [lambda y, a, b: div(1.0, b), lambda y, a, b: neg(div(y, b))],
    symbol="/",
    order=5,
    domain="b not 0",
    samples=[(2.0, 3.0), (-1.5, 0.25), (1.0, -1e150)],
)
neg: Op = Op(
    "neg",
    "x",
    "the value with its sign changed",
    operator.neg,
    operator.neg,
    [-1.0],
    linear=True,
    symbol="-",
    order=6,
    samples=[2.0, -0.5],
)
pos: Op = Op(
    "pos", "x", "the value itself", operator.pos, operator.pos, [1.0], linear=True, symbol="+", order=6, samples=[2.0]
)
floordiv: Op = Op(
    "floordiv",
    "a b",
    "quotient rounded down",
    _floordiv,
    _floordivs,
    [0.0, 0.0],
    symbol="//",
    order=5,
    domain="b not 0",
    samples=[(7.5, 2.0), (-7.5, 2.0)],
    jump=True,
    kink=lambda y, a, b: div(a, b) == y,
    kinks="0 at the jumps",
    germ=lambda a, b: floor(div(a, b)),
)
mod: Op = Op(
    "mod",
    "a b",
    "a - b*floor(a/b), with the sign of b",
    _mod,
    from_numpy("mod"),
    [1.0, lambda y, a, b: neg(floordiv(a, b))],
    symbol="%",
    order=5,
    domain="b not 0",
    samples=[(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)],
    jump=True,
    kink=lambda y, a, b: y == 0.0,
    kinks="the derivative of the branch that the value belongs to, at the jumps",
    germ=lambda a, b: sub(a, mul(b, floor(div(a, b)))),
)


def _powers(x: Any, y: Any) -> Any:
    """NumPy's power, which takes its time where a product or nothing at all would do."""
    if y.__class__ is float and y == 2.0:
        return x * x
    return x * 1.0 if y.__class__ is float and y == 1.0 else numpy().power(x, y)


def _pow_slope(x: Any, y: Any) -> Any:
    """y*x^(y-1)."""
    if y.__class__ is float:
        if y == 0.0:
            return 0.0
        if abs(y) == inf:
            return gate(y, pow_(x, y))
        return y * (pow_(x, y - 1.0) if abs(y) >= SMALL else mul(pow_(x, y - 1.0), _rounded_away(x, y)))
    slope = pow_(x, y - 1.0)
    if _plain(x, y):
        return mul(y, slope)
    side = where(lt(y, 0.0), -1.0, where(eq(y, 0.0), 0.0, 1.0))
    edge = where(eq(y, 1.0), 1.0 + chain(y - 1.0, log(x)), gate(where(lt(y, 1.0), side, y), slope))
    return _at_zero(x, y, edge, gate(y, mul(slope, _rounded_away(x, y))))


def _plain(x: Any, y: Any) -> bool:
    """Whether arrays hold no base 0, no infinite exponent, and none of which y - 1 loses digits: nothing for care."""
    x, y = known(x), known(y)
    if not (hasattr(x, "strides") or hasattr(y, "strides")):
        return False
    np = numpy()
    size = np.abs(y)
    return bool(np.all(x) and np.min(size, initial=1.0) >= SMALL and np.max(size, initial=1.0) < inf)


def _at_zero(x: Any, y: Any, edge: Any, inside: Any) -> Any:
    """The edge at x = 0, y <= 1: what x -> 0 gives, which the second derivatives see.

    The bound is written as an equation: such a condition is a guard, which no formula shows.
    """
    return where(eq(abs_(y - 1.0), 1.0 - y), where(eq(x, 0.0), edge, inside), inside)


def _rounded_away(x: Any, y: Any) -> Any:
    """x to the power of what y - 1 has lost of a small y; nearly 1, and of no slope that counts."""
    lost = where(lt(y * y, SMALL * SMALL), y - ((y - 1.0) + 1.0), 0.0)
    return stop_gradient(exp(chain(lost, log(where(eq(x, 0.0), 1.0, x)))))


def _pow_growth(z: Any, x: Any, y: Any) -> Any:
    """By y: z*log(x); 0^y is flat for y > 0, and taken to be so at y = 0, but its slope by x is infinite up to 1."""
    if _plain(x, y):
        return z * log(x)
    level = 0.0 - gate(where(lt(0.0, y), 1.0, 0.0), pow_(x, 0.5 * y))
    return _at_zero(x, y, where(lt(y, 0.0), z * log(x), level), z * log(where(eq(x, 0.0), 1.0, x)))


def _pow_germ(x: Any, y: Any) -> Any:
    """Beside (0, 0): 1 for y = 0 throughout, 0 or inf for x = 0 throughout, else 1 at an infinite slope."""
    flat = eq(known(y), 0.0)
    if not hasattr(y, "coefficients"):
        return where(flat, 1.0, pow_(x, where(flat, 1.0, y)))
    here = where(eq(known(x), 0.0), flat, 0.0)
    steep = where(lt(x, 0.0), nan, where(lt(y, 0.0), 1.0 + sqrt(abs_(y)), 1.0 - sqrt(abs_(y))))
    beside = where(eq(y, 0.0), 1.0, where(eq(x, 0.0), where(lt(y, 0.0), inf, 0.0), steep))
    return where(here, beside, pow_(where(here, 1.0, x), where(here, 1.0, y)))


pow_: Op = Op(
    "pow",
    "x y",
    "x to the power y",
    _pow,
    _powers,
    [
        lambda z, x, y: _pow_slope(x, y),
        lambda z, x, y: _pow_growth(z, x, y),
    ],
    symbol="^",
    order=7,
    domain="x > 0, or y whole",
    samples=[(2.0, 3.0), (0.5, -1.5), (1.3, 1.2), (7.0, 0.0)],
    kink=lambda z, x, y: (x == 0.0) & (y == 0.0),
    kinks="inf at x = 0 for 0 < y < 1; d/dy 0^y = 0 for y >= 0",
    looks=True,
    germ=lambda x, y: _pow_germ(x, y),
)
square: Op = Op("square", "x", "x*x", lambda x: x * x, None, [lambda y, x: 2.0 * x], samples=[2.0, -0.5, 0.0])
reciprocal: Op = Op(
    "reciprocal",
    "x",
    "1/x",
    _reciprocal,
    lambda x: 1.0 / x,
    [lambda y, x: neg(y * y)],
    domain="x not 0",
    samples=[2.0, -0.5, 1e-100],
)


def _unsigned(y: Any) -> Any:
    """The root y, but 0 for -0: of -0 too the slope is +inf."""
    value = known(y)
    if value.__class__ is float:
        signed = value == 0.0 and math.copysign(1.0, value) < 0.0
    else:
        signed = hasattr(value, "strides") and bool(numpy().signbit(value).any())
    return y + 0.0 if signed else y


sqrt: Op = Op(
    "sqrt",
    "x",
    "square root",
    total(math.sqrt),
    from_numpy("sqrt"),
    [lambda y, x: div(0.5, _unsigned(y))],
    domain="x >= 0",
    samples=[2.0, 1e-9, 1e200],
    kinks="inf at 0",
    looks=True,
)
cbrt: Op = Op(
    "cbrt",
    "x",
    "cube root, real for negative x too",
    math.cbrt,
    from_numpy("cbrt"),
    [lambda y, x: div(div(1.0 / 3.0, y), y)],
    samples=[2.0, -27.0, 1e-9],
    kinks="inf at 0",
)

lt: Op = Op("lt", "a b", "less than", operator.lt, operator.lt, symbol="<", order=3)
le: Op = Op("le", "a b", "less than or equal", operator.le, operator.le, symbol="<=", order=3)
gt: Op = Op("gt", "a b", "greater than", operator.gt, operator.gt, symbol=">", order=3)
ge: Op = Op("ge", "a b", "greater than or equal", operator.ge, operator.ge, symbol=">=", order=3)
eq: Op = Op("eq", "a b", "equal", operator.eq, operator.eq, symbol="==", order=3)
ne: Op = Op("ne", "a b", "not equal", operator.ne, operator.ne, symbol="!=", order=3)
not_: Op = Op(
    "not", "x", "true where x is 0", operator.not_, from_numpy("logical_not"), symbol="not", order=2, raw=True
)
and_: Op = Op(
    "and", "a b", "both", lambda a, b: a != 0.0 and b != 0.0, from_numpy("logical_and"), symbol="and", order=1, raw=True
)
or_: Op = Op("or", "a b", "either", lambda a, b: a != 0.0 or b != 0.0, from_numpy("logical_or"), symbol="or", raw=True)

where: Op = Op(
    "where",
    "c a b",
    "a where c is true, else b",
    lambda c, a, b: a if c else b,
    _choices,
    [0.0, lambda y, c, a, b: where(c, 1.0, 0.0), lambda y, c, a, b: where(c, 0.0, 1.0)],
    selects=True,
    raw=True,
    samples=[(1.0, 2.0, 3.0), (0.0, 2.0, 3.0)],
)

from autodiff.ops.exponential import exp, log  # noqa: E402  (rules are looked up when they run)
from autodiff.ops.piecewise import abs_, floor, stop_gradient  # noqa: E402

__all__ = ["each"]
