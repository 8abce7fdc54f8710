"""Rows: error functions, gamma functions, the normal distribution, and the activations made of them."""

from __future__ import annotations

import math
from functools import cache

from autodiff.numeric import each, inf, nan, numpy, special
from autodiff.ops.arithmetic import add, div, eq, lt, mul, neg, pow_, square, sub, where
from autodiff.ops.exponential import exp, log1p, sigmoid, softplus
from autodiff.ops.record import Op
from autodiff.ops.trigonometric import sech, tanh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ROOT_PI = math.sqrt(math.pi)
ROOT_TAU = math.sqrt(math.tau)


def scipy(name: str) -> Any:
    """Value by scipy.special, for floats and arrays alike."""

    def value(*xs: Any) -> Any:
        y = getattr(special(), name)(*xs)
        return float(y) if getattr(y, "ndim", 0) == 0 else y

    return value


def density(x: Any) -> Any:
    """Of the standard normal distribution."""
    return mul(1.0 / ROOT_TAU, exp(mul(-0.5, square(x))))


def _erfcs(x: Any) -> Any:
    """erfc of arrays: SciPy's, but in the tail, where that is off by 50 ulp, entry by entry."""
    y = special().erfc(x)
    far = (x > 1.0) & (y > 0.0)
    if far.any():
        y[far] = each(math.erfc)(x[far])
    return y


erf: Op = Op(
    "erf",
    "x",
    "error function",
    math.erf,
    lambda x: special().erf(x),
    [lambda y, x: mul(2.0 / ROOT_PI, exp(neg(square(x))))],
    samples=[0.3, -2.0, 1e-300],
)
erfc: Op = Op(
    "erfc",
    "x",
    "1 - erf(x), exact in the tail",
    math.erfc,
    _erfcs,
    [lambda y, x: mul(-2.0 / ROOT_PI, exp(neg(square(x))))],
    samples=[0.3, -2.0, 20.0],
)
erfinv: Op = Op(
    "erfinv",
    "x",
    "inverse of erf",
    scipy("erfinv"),
    scipy("erfinv"),
    [lambda y, x: mul(ROOT_PI / 2.0, exp(square(y)))],
    domain="-1 < x < 1",
    samples=[0.3, -0.9],
)


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except ValueError:
        return math.copysign(inf, x) if x == 0.0 else nan
    except OverflowError:
        return math.copysign(inf, x)  # left of 0 only next to that pole


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return inf


# B_2k of the Euler–Maclaurin formula; right to rounding from 12 on, for ζ(2, x)
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
FAR = 12  # that many terms before the series are always enough


@cache
def _euler_maclaurin(s: int) -> tuple[float, ...]:
    """ζ(s, x) is nearly x^(1-s) times a polynomial in 1/x (DLMF 25.11.28): its coefficients, highest first.

    That of x^0 is 1/(s - 1); for s = 1, where a logarithm stands in its place, 0.
    """
    found = [1.0 / (s - 1.0) if s > 1 else 0.0, 0.5]
    for k, b in enumerate(BERNOULLI, 1):
        found += [b * math.prod(s + i + 0.0 for i in range(2 * k - 1)) / math.factorial(2 * k), 0.0]
    return tuple(found[-2::-1])


def _power(x: Any, s: int) -> Any:
    """x^-s."""
    t = 1.0 / x
    return math.prod([t] * (s - 1), start=t) if 0 < s < 8 else pow_(x, -float(s))


def _hurwitz(s: int, x: Any) -> Any:
    """Hurwitz's zeta function of floats or arrays x > 0: as many of its terms as are due, then the series."""
    least = x if x.__class__ is float else x.min(initial=inf)
    steps = math.ceil(min(max(0.0, 8.0 + 2.0 * s - least), FAR))
    far = x + float(steps)
    t = 1.0 / far
    u = t * t
    *even, half, pole = _euler_maclaurin(s)
    total: Any = 0.0
    for c in even[::2]:
        total = (total + c) * u
    total = (total + half * t + pole) * _power(far, s - 1)
    first: Any = 0.0
    for k in range(steps - 1, -1, -1):  # the largest last
        first += _power(x + k, s)
    return total + first


def _polygamma(n: float, x: float) -> float:
    """By zeta for x > 0; by the reflection formula (DLMF 5.15.6) through cot left of 0."""
    if n == 0.0:
        return float(special().digamma(x))
    if not n > 0.0 or n % 1.0 != 0.0 or x != x:
        return nan
    sign = 1.0 if n % 2.0 else -1.0
    if x > 0.0:
        return float(sign * _gamma(n + 1.0) * _hurwitz(int(n) + 1, x))
    if x == -inf or x % 1.0 == 0.0:
        return nan if x == -inf or sign < 0.0 else inf
    if n > 170.0:  # beyond all floats, with the sign of the nearest pole's
        return inf if sign > 0.0 else -math.copysign(inf, math.remainder(x, 1.0))
    # psi_n(1-x) + (-1)^(n+1) psi_n(x) = (-1)^n pi d^n/dx^n cot(pi x)
    return -sign * _polygamma(n, 1.0 - x) - math.pi * _cot_derivative(int(n), x)


def _polygammas(n: Any, x: Any) -> Any:
    order = _one(n)
    if order > 0.0 and order % 1.0 == 0.0 and numpy().all(x > 0.0):
        x, _ = numpy().broadcast_arrays(x, n)
        return (1.0 if order % 2.0 else -1.0) * _gamma(order + 1.0) * _hurwitz(int(order) + 1, x)
    return each(_polygamma)(n, x)


def _one(n: Any) -> float:
    """The number that n is throughout, else nan."""
    first = float(numpy().ravel(n)[0]) if numpy().size(n) else nan
    return first if numpy().all(n == first) else nan


def _divided(coefficients: Sequence[float], t: Any, v: Any) -> Any:
    """The divided difference between t and v of a polynomial, by Horner's scheme."""
    p: Any = coefficients[0]
    d = p
    for c in coefficients[1:-1]:
        p = p * t + c
        d = d * v + p
    return d


def _climb(s: int, x: Any, h: Any) -> Any:
    """ζ(s, x) - ζ(s, x + h) for x > 0 and x + h > 0, term by term: none of them cancels; for s = 1 the limit."""

    def fall(coefficients: Sequence[float], z: Any) -> Any:
        w = z + h
        return h / w / z * _divided(coefficients, 1.0 / z, 1.0 / w)

    total = fall((*_euler_maclaurin(s), *[0.0] * (s - 1)), x + FAR)
    if s == 1:
        total = total + log1p(h / (x + FAR))
    return total + sum(fall((1.0, *[0.0] * s), x + k) for k in range(FAR - 1, -1, -1))


def _polygamma_difference(n: float, x: float, h: float) -> float:
    if not (n >= 0.0 and n % 1.0 == 0.0 and n <= 170.0 and x > 0.0 and h < inf and x + h > 0.0):
        return _polygamma(n, x + h) - _polygamma(n, x)
    return float((1.0 if n % 2.0 == 0.0 else -1.0) * _gamma(n + 1.0) * _climb(int(n) + 1, x, h))


def _polygamma_differences(n: Any, x: Any, h: Any) -> Any:
    order = _one(n)
    if 0.0 <= order <= 170.0 and order % 1.0 == 0.0 and numpy().all((x > 0.0) & (x + h > 0.0) & (h < inf)):
        x, h, _ = numpy().broadcast_arrays(x, h, n)
        return (1.0 if order % 2.0 == 0.0 else -1.0) * _gamma(order + 1.0) * _climb(int(order) + 1, x, h)
    return each(_polygamma_difference)(n, x, h)


def _cot_derivative(n: int, x: float) -> float:
    """d^n/dx^n cot(pi x): a polynomial in c = cot, for c' = -pi (1 + c^2)."""
    p = [0.0, 1.0]
    for _ in range(n):
        slope = [i * v for i, v in enumerate(p)][1:]
        new = [0.0] * (len(slope) + 2)
        for i, v in enumerate(slope):
            new[i] -= math.pi * v
            new[i + 2] -= math.pi * v
        p = new
    r = math.remainder(x, 1.0)
    c = 1.0 / math.tan(math.pi * r) if abs(r) < 0.25 else math.tan(math.pi * (math.copysign(0.5, r) - r))
    total = p.pop()
    for v in reversed(p):
        total = total * c + v
    return total


gamma: Op = Op(
    "gamma",
    "x",
    "gamma function",
    _gamma,
    each(_gamma),
    [lambda y, x: mul(y, digamma(x))],
    domain="x not 0, -1, -2, …",
    samples=[2.5, 0.3, -2.5],
)
lgamma: Op = Op(
    "lgamma",
    "x",
    "log of |gamma(x)|",
    _lgamma,
    each(_lgamma),
    [lambda y, x: digamma(x)],
    aliases="gammaln",
    domain="x not 0, -1, -2, …",
    samples=[2.5, 0.3, -1.5, 1e10],
)
digamma: Op = Op(
    "digamma",
    "x",
    "derivative of lgamma",
    scipy("digamma"),
    scipy("digamma"),
    [lambda y, x: polygamma(1.0, x)],
    domain="x not 0, -1, -2, …",
    samples=[2.5, 0.3, -1.5],
)
polygamma: Op = Op(
    "polygamma",
    "n x",
    "derivative of order n of digamma",
    _polygamma,
    _polygammas,
    [0.0, lambda y, n, x: polygamma(add(n, 1.0), x)],
    domain="n whole, x not 0, -1, -2, …",
    samples=[(1.0, 2.5), (2.0, 0.3), (1.0, -1.5)],
)
factorial: Op = Op(
    "factorial",
    "x",
    "gamma(x + 1)",
    lambda x: _gamma(x + 1.0),
    lambda x: each(_gamma)(x + 1.0),
    [lambda y, x: mul(y, digamma(add(x, 1.0)))],
    domain="x not -1, -2, …",
    samples=[3.0, 0.5],
)
polygamma_difference: Op = Op(
    "polygamma_difference",
    "n x h",
    "polygamma(n, x + h) - polygamma(n, x), without cancellation for x, x + h > 0",
    _polygamma_difference,
    _polygamma_differences,
    [
        0.0,
        lambda y, n, x, h: polygamma_difference(add(n, 1.0), x, h),
        lambda y, n, x, h: polygamma(add(n, 1.0), add(x, h)),
    ],
    domain="n whole, x and x + h not 0, -1, -2, …",
    samples=[(0.0, 2.5, 1.5), (1.0, 0.3, 1e-12)],
    hidden=True,
)


def _stirling(x: float) -> float:
    """What log gamma(x) has beyond (x - 1/2)log(x) - x + log(tau)/2, for x >= 10 (DLMF 5.11.1)."""
    total = 0.0
    for k in range(len(BERNOULLI), 0, -1):
        total = total / (x * x) + BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return total / x


def _gamma_ratio(a: float, b: float) -> float:
    """log(gamma(b)/gamma(a + b)) for a < 10 <= b."""
    return a - a * math.log(a + b) - (b - 0.5) * math.log1p(a / b) + (_stirling(b) - _stirling(a + b))


def _lbeta(a: float, b: float) -> float:
    if not (a > 0.0 and b > 0.0):
        return float(special().betaln(a, b))
    a, b = min(a, b), max(a, b)
    if b == inf:
        return -inf
    if b < 10.0:
        return math.log(_near(a, b)) + math.log1p(a / b) - math.log(a)
    if a < 10.0:
        return math.lgamma(a) + _gamma_ratio(a, b)
    # Didonato and Morris, TOMS 708, 1992
    rest = _stirling(a) + (_stirling(b) - _stirling(a + b)) + 0.5 * (math.log(math.tau) - math.log(b))
    return rest - (a - 0.5) * math.log1p(b / a) - b * math.log1p(a / b)


def _beta(a: float, b: float) -> float:
    if not (a > 0.0 and b > 0.0):
        return float(special().beta(a, b))
    a, b = min(a, b), max(a, b)
    if b < 10.0:
        return _near(a, b) * (1.0 / b + (1.0 / a))
    if a < 10.0 and b < inf:
        return _gamma(a) * math.exp(_gamma_ratio(a, b))
    return math.exp(_lbeta(a, b))


def _near(a: float, b: float) -> float:
    """beta(a, b)/(1/a + 1/b)."""
    return math.gamma(1.0 + a) * math.gamma(1.0 + b) / math.gamma(1.0 + a + b)


beta: Op = Op(
    "beta",
    "a b",
    "gamma(a)*gamma(b)/gamma(a + b)",
    _beta,
    each(_beta),
    [
        lambda y, a, b: neg(mul(y, polygamma_difference(0.0, a, b))),
        lambda y, a, b: neg(mul(y, polygamma_difference(0.0, b, a))),
    ],
    domain="a, b > 0",
    samples=[(1.5, 2.5)],
)
lbeta: Op = Op(
    "lbeta",
    "a b",
    "log of |beta(a, b)|",
    _lbeta,
    each(_lbeta),
    [
        lambda y, a, b: neg(polygamma_difference(0.0, a, b)),
        lambda y, a, b: neg(polygamma_difference(0.0, b, a)),
    ],
    domain="a, b > 0",
    samples=[(1.5, 2.5)],
)


def _excess(x: float) -> float:
    """mills(x) + x, for x < -2 by the continued fraction 1/(t + 2/(t + 3/(t + …))), t = -x (DLMF 7.9.1)."""
    if x > -2.0 or x != x:
        return _mills(x) + x
    t = -x
    y = t
    for k in range(_depth(t), 1, -1):
        y = t + k / y
    return 1.0 / y


def _depth(t: float) -> int:
    return int(12 + 800 / (t * t))


def _excess_derivative(x: float, n: float) -> float:
    """By Taylor coefficients: of the continued fraction for x < -2, else those that m' = -m(m + x) gives."""
    if not (n >= 1.0 and n % 1.0 == 0.0) or x != x:
        return nan
    if abs(x) == inf:
        return 1.0 if n == 1.0 and x > 0.0 else 0.0
    order = int(n)
    if x > -2.0:
        ratio = _mills(x)
        if order == 1:
            return 1.0 - ratio * (ratio + x)
        m, e = [ratio], [ratio + x]
        for k in range(order):
            m.append(-sum(m[i] * e[k - i] for i in range(k + 1)) / (k + 1))
            e.append(m[-1] if k else 1.0 + m[-1])
        return math.factorial(order) * e[order]
    y = [-x, -1.0, *[0.0] * order]
    for k in range(_depth(x) + 2 * order, 1, -1):
        y = [k * r for r in _inverse_series(y, order)]
        y[0] -= x
        y[1] -= 1.0
    return math.factorial(order) * _inverse_series(y, order)[order]


def _inverse_series(y: list[float], order: int) -> list[float]:
    """Taylor coefficients of 1/y."""
    r = [1.0 / y[0]]
    for k in range(1, order + 1):
        r.append(-sum(y[i] * r[k - i] for i in range(1, k + 1)) * r[0])
    return r


def _mills(x: float) -> float:
    if x > -2.0 or x != x:
        return math.exp(-0.5 * x * x) / ROOT_TAU / (0.5 * math.erfc(-x / math.sqrt(2.0)))
    return _excess(x) - x


def _log_ndtr(x: float) -> float:
    if x != x:
        return nan
    if x > -1.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    if x > -20.0:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    return -0.5 * x * x - math.log(ROOT_TAU) - math.log(_mills(x)) if x != -inf else -inf


def _ndtr(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _ndtrs(x: Any) -> Any:
    return 0.5 * _erfcs(-x / math.sqrt(2.0))


ndtr: Op = Op(
    "ndtr",
    "x",
    "distribution function of the standard normal",
    _ndtr,
    _ndtrs,
    [lambda y, x: density(x)],
    aliases="normcdf",
    samples=[0.3, -20.0],
)
log_ndtr: Op = Op(
    "log_ndtr",
    "x",
    "log(ndtr(x)) without underflow",
    _log_ndtr,
    each(_log_ndtr),
    [lambda y, x: mills(x)],
    samples=[0.3, 12.0, -30.0, -1e5],
)
mills: Op = Op(
    "mills",
    "x",
    "derivative of log_ndtr: density over distribution of the standard normal",
    _mills,
    each(_mills),
    # of either form, that whose own derivatives don't cancel
    [lambda y, x: where(lt(x, -2.0), sub(excess_derivative(x, 1.0), 1.0), neg(mul(y, mills_excess(x))))],
    samples=[0.3, -30.0, 5.0],
)
mills_excess: Op = Op(
    "mills_excess",
    "x",
    "mills(x) + x, exact in the tail",
    _excess,
    each(_excess),
    [lambda y, x: excess_derivative(x, 1.0)],
    samples=[0.3, -30.0, 5.0],
)
excess_derivative: Op = Op(
    "excess_derivative",
    "x n",
    "derivative of order n of mills_excess, exact in the tail",
    _excess_derivative,
    each(_excess_derivative),
    [lambda y, x, n: excess_derivative(x, add(n, 1.0)), 0.0],
    domain="n whole, n > 0",
    samples=[(0.3, 1.0), (-30.0, 1.0), (5.0, 2.0)],
    hidden=True,
)


def _gelu(x: float) -> float:
    return x * 0.5 * math.erfc(-x / math.sqrt(2.0)) if x != -inf else 0.0


def _silu(x: float) -> float:
    return x * sigmoid.scalar(x) if x != -inf else 0.0


def _mish(x: float) -> float:
    return x * math.tanh(softplus.scalar(x)) if x != -inf else 0.0


def _tail(x: Any, slope: Any) -> Any:
    """x·slope where the slope is not underflown: at ±inf too."""
    return where(eq(slope, 0.0), 0.0, mul(x, slope))


gelu: Op = Op(
    "gelu",
    "x",
    "x*ndtr(x)",
    _gelu,
    lambda x: _tail(x, _ndtrs(x)),
    [lambda y, x: add(ndtr(x), _tail(x, density(x)))],
    samples=[0.3, -2.0, -20.0, 1e200],
)
silu: Op = Op(
    "silu",
    "x",
    "x*sigmoid(x)",
    _silu,
    lambda x: _tail(x, sigmoid.array(x)),
    [lambda y, x: add(sigmoid(x), _tail(x, square(mul(0.5, sech(mul(0.5, x))))))],
    aliases="swish",
    samples=[0.3, -2.0, -600.0, 1e200],
)
mish: Op = Op(
    "mish",
    "x",
    "x*tanh(softplus(x))",
    _mish,
    lambda x: _tail(x, numpy().tanh(softplus.array(x))),
    [lambda y, x: add(tanh(softplus(x)), _tail(x, mul(square(sech(softplus(x))), sigmoid(x))))],
    samples=[0.3, -2.0, -600.0, 700.0],
)

__all__ = ["div", "pow_"]
