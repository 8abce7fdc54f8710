"""Rows: functions with kinks and jumps, and those that choose among their operands."""

from __future__ import annotations

import math

from autodiff.numeric import from_numpy, known, nan, numpy
from autodiff.ops.arithmetic import add, div, eq, floordiv, ge, gt, le, lt, mul, neg, square, sub, where
from autodiff.ops.exponential import exp, expm1
from autodiff.ops.record import OPS, Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _rounded(function: Any) -> Any:
    return lambda x: x if x != x or abs(x) >= 2.0**52 else math.copysign(float(function(x)), x)


def _whole(y: Any, x: Any) -> Any:
    return x == y


abs_: Op = Op(
    "abs",
    "x",
    "absolute value",
    abs,
    from_numpy("abs"),
    [lambda y, x: sign(x)],
    samples=[2.5, -0.5],
    kink=lambda y, x: x == 0.0,
    kinks="0 at 0",
    conventions={"jax": [lambda y, x: where(eq(x, 0.0), 1.0, sign(x))]},
)
sign: Op = Op(
    "sign",
    "x",
    "-1, 0 or 1",
    lambda x: x if x != x or x == 0.0 else math.copysign(1.0, x),
    from_numpy("sign"),
    [0.0],
    samples=[2.5, -0.5],
    kink=lambda y, x: x == 0.0,
    jump=True,
    kinks="0 at 0",
)
floor: Op = Op(
    "floor",
    "x",
    "largest whole number not above x",
    _rounded(math.floor),
    from_numpy("floor"),
    [0.0],
    samples=[1.4, -1.4],
    kink=_whole,
    jump=True,
    kinks="0 at whole numbers",
)
ceil: Op = Op(
    "ceil",
    "x",
    "smallest whole number not below x",
    _rounded(math.ceil),
    from_numpy("ceil"),
    [0.0],
    samples=[1.4, -1.4],
    kink=_whole,
    jump=True,
    kinks="0 at whole numbers",
)
round_: Op = Op(
    "round",
    "x",
    "nearest whole number, half to even",
    _rounded(round),
    from_numpy("round"),
    [0.0],
    samples=[1.4, -1.4],
    kink=lambda y, x: abs(x - y) == 0.5,
    jump=True,
    kinks="0 at halves",
)
trunc: Op = Op(
    "trunc",
    "x",
    "x without its fraction",
    _rounded(math.trunc),
    from_numpy("trunc"),
    [0.0],
    samples=[1.4, -1.4],
    kink=lambda y, x: (x == y) & (x != 0.0),
    jump=True,
    kinks="0 at whole numbers",
)
frac: Op = Op(
    "frac",
    "x",
    "x - trunc(x)",
    lambda x: sub(x, trunc(x)),
    lambda x: sub(x, trunc(x)),
    [1.0],
    samples=[1.4, -1.4],
    kink=lambda y, x: (y == 0.0) & (x != 0.0),
    jump=True,
    kinks="1 at whole numbers",
    germ=lambda x: sub(x, trunc(x)),
)


def _side(x: Any, y: Any) -> Any:
    """1 or -1 as the signs agree or not; without a slope, which times an infinite quotient would be nan."""
    return where(lt(mul(sign(x), sign(y)), 0.0), -1.0, 1.0)


fmod: Op = Op(
    "fmod",
    "x y",
    "remainder with the sign of x",
    lambda x, y: math.fmod(x, y) if y and abs(x) != math.inf else nan,
    from_numpy("fmod"),
    [1.0, lambda z, x, y: neg(mul(_side(x, y), floordiv(abs_(x), abs_(y))))],
    domain="y not 0",
    samples=[(5.0, 3.0), (-5.0, 3.0)],
    kink=lambda z, x, y: (z == 0.0) & (x != 0.0),
    jump=True,
    kinks="of the branch that the value belongs to",
    germ=lambda x, y: sub(x, mul(y, trunc(div(x, y)))),
)
copysign: Op = Op(
    "copysign",
    "x y",
    "x with the sign of y",
    math.copysign,
    from_numpy("copysign"),
    [lambda z, x, y: mul(sign(x), copysign(1.0, y)), 0.0],
    samples=[(2.0, -1.0), (-2.0, 3.0)],
    kink=lambda z, x, y: (x == 0.0) | (y == 0.0),
    jump=True,
    germ=lambda x, y: mul(abs_(x), where(eq(y, 0.0), copysign(1.0, known(y)), sign(y))),
    kinks="0 at x = 0 and at y = 0",
    # jax flips the sign of x where the signs differ
    conventions={"jax": [lambda z, x, y: mul(copysign(1.0, x), copysign(1.0, y)), 0.0]},
)

relu: Op = Op(
    "relu",
    "x",
    "max(x, 0)",
    lambda x: x if x > 0.0 or x != x else 0.0,
    lambda x: numpy().where(x <= 0.0, 0.0, x),
    [lambda y, x: where(gt(x, 0.0), 1.0, 0.0)],
    selects=True,
    samples=[2.0, -1.0],
    kink=lambda y, x: x == 0.0,
    kinks="0 at 0",
)
leaky_relu: Op = Op(
    "leaky_relu",
    "x slope=0.01",
    "x where positive, else slope*x",
    lambda x, s: x if x > 0.0 else s * x,
    lambda x, s: where(gt(x, 0.0), x, s * x),
    [lambda y, x, s: where(gt(x, 0.0), 1.0, s), lambda y, x, s: where(gt(x, 0.0), 0.0, x)],
    samples=[(2.0, 0.01), (-1.0, 0.2)],
    kink=lambda y, x, s: (x == 0.0) & (s != 1.0),
    kinks="slope at 0",
    conventions={
        "jax": [lambda y, x, s: where(ge(x, 0.0), 1.0, s), lambda y, x, s: where(ge(x, 0.0), 0.0, x)],
    },
)
elu: Op = Op(
    "elu",
    "x alpha=1",
    "x where positive, else alpha*(exp(x) - 1)",
    lambda x, a: x if x > 0.0 else a * math.expm1(x),
    lambda x, a: where(gt(x, 0.0), x, a * expm1(x)),
    [lambda y, x, a: where(gt(x, 0.0), 1.0, mul(a, exp(x))), lambda y, x, a: where(gt(x, 0.0), 0.0, expm1(x))],
    samples=[(2.0, 1.0), (-1.0, 1.5)],
    kink=lambda y, x, a: x == 0.0,
    kinks="alpha at 0",
)
SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
selu: Op = Op(
    "selu",
    "x",
    "scaled elu of Klambauer et al. 2017",
    lambda x: SCALE * (x if x > 0.0 else ALPHA * math.expm1(x)),
    lambda x: SCALE * where(gt(x, 0.0), x, ALPHA * expm1(x)),
    [lambda y, x: where(gt(x, 0.0), SCALE, mul(SCALE * ALPHA, exp(x)))],
    samples=[2.0, -1.0],
    kink=lambda y, x: x == 0.0,
    kinks="from the left at 0",
)
softsign: Op = Op(
    "softsign",
    "x",
    "x/(1 + |x|)",
    lambda x: x / (1.0 + abs(x)) if abs(x) != math.inf else math.copysign(1.0, x),
    lambda x: where(eq(abs(x), math.inf), sign(x), x / (1.0 + abs(x))),
    [lambda y, x: square(div(1.0, add(1.0, abs_(x))))],
    samples=[0.3, -2.0, 1e160],
    kink=lambda y, x: x == 0.0,
    kinks="1 at 0; the second derivative there is 0",
    germ=lambda x: div(x, add(1.0, abs_(x))),
)


def _extremes(name: str, doc: str, pick: Any, ahead: Op, reached: Op, array: str) -> Op:
    def value(*xs: float) -> float:
        return nan if any(x != x for x in xs) else float(pick(xs))

    def over(*xs: Any) -> Any:
        np = numpy()
        y = xs[0]
        for x in xs[1:]:
            y = getattr(np, array)(y, x)
        return y

    def partial(i: int) -> Any:
        def rule(y: Any, *xs: Any) -> Any:
            if len(xs) == 2:
                here, there = xs[i], xs[1 - i]
                return mul(0.5, add(where(ahead(here, there), 1.0, 0.0), where(reached(here, there), 1.0, 0.0)))
            ties: Any = 0.0
            for x in xs:
                ties = ties + where(eq(x, y), 1.0, 0.0)
            return where(eq(xs[i], y), div(1.0, ties), 0.0)

        return rule

    def kink(y: Any, *xs: Any) -> Any:
        if len(xs) == 2:
            return xs[0] == xs[1]
        ties: Any = 0.0
        for x in xs:
            ties = ties + (x == y)
        return ties > 1.0

    return Op(
        name,
        "a b …",
        doc,
        value,
        over,
        partial,
        selects=True,
        samples=[(2.0, 3.0), (2.0, -1.0, 0.5)],
        kink=kink,
        kinks="ties share evenly",
    )


max_ = _extremes("max", "largest of the operands; of one array its largest entry", max, gt, ge, "maximum")
min_ = _extremes("min", "smallest of the operands; of one array its smallest entry", min, lt, le, "minimum")


def _clip(x: float, lo: float, hi: float) -> float:
    if x != x or lo != lo or hi != hi:
        return nan
    return min(max(x, lo), hi)


def _above(a: Any, b: Any) -> Any:
    """1 where a is above b, and a half at a tie."""
    return where(gt(a, b), 1.0, where(eq(a, b), 0.5, 0.0))


clip: Op = Op(
    "clip",
    "x lo hi",
    "x brought into lo … hi",
    _clip,
    lambda x, lo, hi: numpy().minimum(numpy().maximum(x, lo), hi),
    [
        lambda y, x, lo, hi: mul(where(ge(x, lo), 1.0, 0.0), where(le(x, hi), 1.0, 0.0)),
        lambda y, x, lo, hi: mul(where(lt(x, lo), 1.0, 0.0), where(le(lo, hi), 1.0, 0.0)),
        lambda y, x, lo, hi: where(gt(max_(x, lo), hi), 1.0, 0.0),
    ],
    aliases="clamp",
    selects=True,
    samples=[(5.0, 0.0, 2.0), (1.0, 0.0, 2.0), (-1.0, 0.0, 2.0), (1.0, 2.0, 0.0)],
    kink=lambda y, x, lo, hi: ((x == lo) | (x == hi)) & (lo <= hi) | (lo == hi) & (x < lo),
    kinks="1 for x at a bound",
    germ=lambda x, lo, hi: min_(max_(x, lo), hi),
    # the minimum of a maximum, each of which shares its ties
    conventions={
        "jax": [
            lambda y, x, lo, hi: mul(_above(x, lo), _above(hi, max_(x, lo))),
            lambda y, x, lo, hi: mul(_above(lo, x), _above(hi, max_(x, lo))),
            lambda y, x, lo, hi: _above(max_(x, lo), hi),
        ]
    },
)
lerp: Op = Op(
    "lerp",
    "a b t",
    "a + t*(b - a), exact at both ends",
    lambda a, b, t: a + t * (b - a) if abs(t) < 0.5 else b - (b - a) * (1.0 - t),
    lambda a, b, t: where(lt(abs(t), 0.5), a + t * (b - a), b - (b - a) * (1.0 - t)),
    [lambda y, a, b, t: sub(1.0, t), lambda y, a, b, t: t, lambda y, a, b, t: sub(b, a)],
    samples=[(1.0, 3.0, 0.25), (1.0, 3.0, 2.0)],
)
stop_gradient: Op = Op("stop_gradient", "x", "the value, as a constant", lambda x: x, lambda x: x, aliases="detach")

__all__ = ["OPS"]
