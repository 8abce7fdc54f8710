"""Rows: circular and hyperbolic functions, their inverses, and the plane."""

from __future__ import annotations

import math

from autodiff.numeric import each, from_numpy, inf, known, nan, numpy, total
from autodiff.ops.arithmetic import add, div, eq, lt, mul, neg, sqrt, square, sub, where
from autodiff.ops.record import Op, gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sin: Op = Op("sin", "x", "sine", total(math.sin), from_numpy("sin"), [lambda y, x: cos(x)], samples=[0.3, -1.2, 100.0])
cos: Op = Op(
    "cos", "x", "cosine", total(math.cos), from_numpy("cos"), [lambda y, x: neg(sin(x))], samples=[0.3, -1.2, 100.0]
)
tan: Op = Op(
    "tan", "x", "tangent", total(math.tan), from_numpy("tan"), [lambda y, x: add(1.0, square(y))], samples=[0.3, -1.2]
)
sec: Op = Op(
    "sec",
    "x",
    "1/cos(x)",
    lambda x: div.scalar(1.0, cos.scalar(x)),
    lambda x: div(1.0, cos(x)),
    [lambda y, x: mul(y, tan(x))],
    samples=[0.3, -1.2],
)
csc: Op = Op(
    "csc",
    "x",
    "1/sin(x)",
    lambda x: div.scalar(1.0, sin.scalar(x)),
    lambda x: div(1.0, sin(x)),
    [lambda y, x: neg(mul(y, cot(x)))],
    domain="x not a multiple of pi",
    samples=[0.3, -1.2],
)
cot: Op = Op(
    "cot",
    "x",
    "1/tan(x)",
    lambda x: div.scalar(1.0, tan.scalar(x)),
    lambda x: div(1.0, tan(x)),
    [lambda y, x: neg(add(1.0, square(y)))],
    domain="x not a multiple of pi",
    samples=[0.3, -1.2],
)
asin: Op = Op(
    "asin",
    "x",
    "inverse sine",
    total(math.asin),
    from_numpy("arcsin"),
    [lambda y, x: div(1.0, sqrt(sub(1.0, square(x))))],
    aliases="arcsin",
    domain="-1 <= x <= 1",
    samples=[0.3, -0.999],
)
acos: Op = Op(
    "acos",
    "x",
    "inverse cosine",
    total(math.acos),
    from_numpy("arccos"),
    [lambda y, x: div(-1.0, sqrt(sub(1.0, square(x))))],
    aliases="arccos",
    domain="-1 <= x <= 1",
    samples=[0.3, -0.999],
)
atan: Op = Op(
    "atan",
    "x",
    "inverse tangent",
    math.atan,
    from_numpy("arctan"),
    [lambda y, x: inversion(1.0, x)],
    aliases="arctan",
    samples=[0.3, -2.0, 1e160],
)


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(inf, x)


def _sech(x: float) -> float:
    e = math.exp(-abs(x))
    return 2.0 * e / (1.0 + e * e)


def _seches(x: Any) -> Any:
    e = numpy().exp(-abs(x))
    return 2.0 * e / (1.0 + e * e)


sinh: Op = Op(
    "sinh", "x", "hyperbolic sine", _sinh, from_numpy("sinh"), [lambda y, x: cosh(x)], samples=[0.3, -2.0, 700.0]
)
cosh: Op = Op(
    "cosh",
    "x",
    "hyperbolic cosine",
    total(math.cosh),
    from_numpy("cosh"),
    [lambda y, x: sinh(x)],
    samples=[0.3, -2.0, 700.0],
)
tanh: Op = Op(
    "tanh",
    "x",
    "hyperbolic tangent",
    math.tanh,
    from_numpy("tanh"),
    [lambda y, x: square(sech(x))],
    samples=[0.3, -2.0, 20.0, -300.0],
)
sech: Op = Op(
    "sech",
    "x",
    "1/cosh(x), without early underflow",
    _sech,
    _seches,
    [lambda y, x: neg(mul(y, tanh(x)))],
    samples=[0.3, -2.0, 300.0],
)
asinh: Op = Op(
    "asinh",
    "x",
    "inverse hyperbolic sine",
    math.asinh,
    from_numpy("arcsinh"),
    [lambda y, x: div(1.0, hypot(1.0, x))],
    aliases="arcsinh",
    samples=[0.3, -3.0, 1e200],
)
acosh: Op = Op(
    "acosh",
    "x",
    "inverse hyperbolic cosine",
    total(math.acosh),
    from_numpy("arccosh"),
    [lambda y, x: div(div(1.0, sqrt(sub(x, 1.0))), sqrt(add(x, 1.0)))],
    aliases="arccosh",
    domain="x >= 1",
    samples=[1.3, 3.0, 1e180],
)
atanh: Op = Op(
    "atanh",
    "x",
    "inverse hyperbolic tangent",
    total(math.atanh, outside=lambda x: math.copysign(inf, x) if abs(x) == 1.0 else nan),
    from_numpy("arctanh"),
    [lambda y, x: div(1.0, sub(1.0, square(x)))],
    aliases="arctanh",
    domain="-1 < x < 1",
    samples=[0.3, -0.999],
)


def _dsinc(x: float, n: float) -> float:
    """The n-th derivative of sinc, by its series near 0 and by x·s⁽ⁿ⁾ = (sin(πx)/π)⁽ⁿ⁾ - n·s⁽ⁿ⁻¹⁾ elsewhere."""
    if not 0.0 <= n <= 150.0 or n % 1.0 != 0.0 or x != x:  # higher ones would overflow on the way
        return nan
    if abs(x) == inf:
        return 0.0
    k = int(n)
    z = math.pi * x
    if abs(z) < 1.5 + k:
        # sum over j of (-1)^j pi^2j x^(2j-k) (2j)!/((2j-k)! (2j+1)!)
        j = (k + 1) // 2
        term = (-1.0) ** j * math.pi**k * z ** (2 * j - k) / (2 * j + 1)
        terms = [term]
        while j < k + 80 and (abs(term) > 1e-22 * abs(terms[0]) or j < k + 4):
            j += 1
            term *= -z * z * (2 * j) * (2 * j - 1) / ((2 * j - k) * (2 * j - k - 1) * (2 * j + 1) * (2 * j))
            terms.append(term)
        return math.fsum(terms)
    turned = math.fmod(x, 2.0)
    s = _sinpi(turned) / z
    for m in range(1, k + 1):
        s = (math.pi ** (m - 1) * _sinpi(turned + 0.5 * m) - m * s) / x
    return s


def _sinpi(x: float) -> float:
    """sin(pi x), exact at whole and half numbers."""
    x = math.fmod(x, 2.0)
    nearest = round(2.0 * x)
    r = math.pi * (x - nearest / 2.0)
    return (math.sin, math.cos, lambda v: -math.sin(v), lambda v: -math.cos(v))[nearest % 4](r)


sinc: Op = Op(
    "sinc",
    "x",
    "sin(pi x)/(pi x), 1 at 0",
    lambda x: _dsinc(x, 0.0),
    lambda x: each(lambda v: _dsinc(v, 0.0))(x),
    [lambda y, x: dsinc(x, 1.0)],
    samples=[0.3, -1e-11, 2.5, 7.0, 1e-200],
)
dsinc: Op = Op(
    "dsinc",
    "x n",
    "derivative of order n of sinc",
    _dsinc,
    each(_dsinc),
    [lambda y, x, n: dsinc(x, add(n, 1.0)), 0.0],
    domain="n whole",
    samples=[(0.3, 1.0), (1e-11, 1.0), (2.5, 2.0)],
)
deg2rad: Op = Op(
    "deg2rad",
    "x",
    "degrees to radians",
    math.radians,
    from_numpy("deg2rad"),
    [math.pi / 180.0],
    aliases="radians",
    samples=[90.0],
)
rad2deg: Op = Op(
    "rad2deg",
    "x",
    "radians to degrees",
    math.degrees,
    from_numpy("rad2deg"),
    [180.0 / math.pi],
    aliases="degrees",
    samples=[1.0],
)
hypot: Op = Op(
    "hypot",
    "x y",
    "sqrt(x^2 + y^2) without overflow",
    math.hypot,
    from_numpy("hypot"),
    [lambda z, x, y: unit(x, y), lambda z, x, y: unit(y, x)],
    samples=[(3.0, 4.0), (1e200, 1.0), (1e-200, 1e-200)],
    kink=lambda z, x, y: z == 0.0,
    kinks="0 at (0, 0)",
    conventions={
        "torch": [
            lambda z, x, y: where(eq(z, 0.0), nan, unit(x, y)),
            lambda z, x, y: where(eq(z, 0.0), nan, unit(y, x)),
        ],
        # the larger of |x| and |y|, which share the tie
        "jax": [
            lambda z, x, y: where(eq(z, 0.0), 0.5, unit(x, y)),
            lambda z, x, y: where(eq(z, 0.0), 0.5, unit(y, x)),
        ],
    },
    germ=lambda x, y: sqrt(add(mul(x, x), mul(y, y))),
)


def _unit(x: float, y: float) -> float:
    top = max(abs(x), abs(y))
    if top == 0.0:
        return 0.0
    if top == inf:  # the limit
        return 0.0 if abs(x) != inf else math.copysign(1.0 if abs(y) != inf else math.sqrt(0.5), x)
    if not 1e-300 < top < 1e300:
        shift = -math.frexp(top)[1]
        x, y = math.ldexp(x, shift), math.ldexp(y, shift)
    return x / math.hypot(x, y)


def _units(x: Any, y: Any) -> Any:
    np = numpy()
    h = np.hypot(x, y)
    far = ~((h > 1e-300) & (h < 1e300))
    return np.where(far, each(_unit)(x, y), x / h) if far.any() else x / h


def _scale(x: Any, y: Any) -> Any:
    """A power of 2 that brings the larger of |x| and |y| near 1, where it is far from there, else 1.

    None where values are unknown, or there is a point without such a number.
    """
    x, y = known(x), known(y)
    if x.__class__ is float and y.__class__ is float:
        top = max(abs(x), abs(y))
        if 1e-70 < top < 1e70:
            return 1.0
        return math.ldexp(1.0, min(-math.frexp(top)[1], 1000)) if 0.0 < top < inf else None
    if not (hasattr(x, "strides") or hasattr(y, "strides")):
        return None
    square = x * x + y * y
    if square.min(initial=1.0) > 1e-140 and square.max(initial=1.0) < 1e140:
        return 1.0
    scale = numpy().frompyfunc(_scale, 2, 1)(x, y).ravel().tolist()
    return None if None in scale else numpy().array(scale).reshape(square.shape)


def _unit_slope(u: Any, x: Any, y: Any, turned: bool) -> Any:
    """v*v/r by x, -u*v/r by y, where v = unit(y, x); of scaled operands, whose squares are safe."""
    s = _scale(x, y)
    if s is None:
        # v*(v/r) and -(u*v)/r: whichever of u and v is large, none of their parts overflows before the whole
        r = hypot(x, y)
        slope = neg(div(mul(u, unit(y, x)), r)) if turned else gate(unit(y, x), inversion(y, x))
        return where(eq(r, 0.0), 0.0, slope)
    plain = s.__class__ is float and s == 1.0
    if not plain:
        x, y = mul(s, x), mul(s, y)
    m = add(square(x), square(y))
    q = div(y, m)
    if turned:
        slope = neg(mul(u if plain else div(x, sqrt(m)), q))
        return slope if plain else mul(s, slope)
    return mul(q if plain else mul(s, q), div(y, sqrt(m)))


unit: Op = Op(
    "unit",
    "x y",
    "x/hypot(x, y), 0 at (0, 0)",
    _unit,
    _units,
    [lambda u, x, y: _unit_slope(u, x, y, turned=False), lambda u, x, y: _unit_slope(u, x, y, turned=True)],
    samples=[(3.0, 4.0), (1e8, 1.0)],
    looks=True,
)


def _inversion(x: float, y: float) -> float:
    top = max(abs(x), abs(y))
    if 1e-150 < top < 1e150:
        return x / (x * x + y * y)
    if top == 0.0 or x != x or y != y:
        return nan
    if top == inf:
        return math.copysign(0.0, x)
    shift = -math.frexp(top)[1]
    x, y = math.ldexp(x, shift), math.ldexp(y, shift)
    try:
        return math.ldexp(x / (x * x + y * y), shift)
    except OverflowError:
        return math.copysign(inf, x)


def _inversions(x: Any, y: Any) -> Any:
    np = numpy()
    square = x * x + y * y
    if square.min(initial=1.0) > 1e-300 and square.max(initial=1.0) < 1e300:
        return x / square
    far = ~((square > 1e-300) & (square < 1e300))
    return np.where(far, each(_inversion)(x, y), x / square)


def _difference_of_squares(p: Any, x: Any, y: Any) -> Any:
    """(y^2 - x^2)/r^4; where its squares overflow, by the unit vector: the difference may be 0."""
    q = inversion(y, x)
    r = hypot(x, y)
    far = div(div(sub(square(unit(y, x)), square(unit(x, y))), r), r)
    return where(lt(add(square(q), square(p)), inf), sub(square(q), square(p)), far)


inversion: Op = Op(
    "inversion",
    "x y",
    "x/(x^2 + y^2), of the inversion at the unit circle; nan at (0, 0)",
    _inversion,
    _inversions,
    [
        _difference_of_squares,
        lambda p, x, y: mul(-2.0, gate(p, inversion(y, x))),
    ],
    samples=[(3.0, 4.0), (1.0, -1.0), (1e200, 1e180)],
    hidden=True,
)
atan2: Op = Op(
    "atan2",
    "y x",
    "angle of the point (x, y)",
    math.atan2,
    from_numpy("arctan2"),
    [lambda z, y, x: inversion(x, y), lambda z, y, x: neg(inversion(y, x))],
    aliases="arctan2",
    samples=[(1.0, 2.0), (-1.0, -2.0), (3e180, 4e180)],
    kink=lambda z, y, x: (y == 0.0) & (x < 0.0),
    jump=True,
    kinks="nan at (0, 0); at y = 0, x < 0 that of the value's side",
    conventions={
        "torch": [
            lambda z, y, x: where(eq(hypot(x, y), 0.0), 0.0, inversion(x, y)),
            lambda z, y, x: where(eq(hypot(x, y), 0.0), 0.0, neg(inversion(y, x))),
        ]
    },
)
