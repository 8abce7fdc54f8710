"""Rows: error functions, gamma functions, the normal distribution, and the activations made of them."""

from __future__ import annotations

import math

from autodiff.numeric import each, inf, nan, numpy, special
from autodiff.ops.arithmetic import add, div, eq, mul, neg, pow_, square, sub, where
from autodiff.ops.exponential import exp, sigmoid, softplus
from autodiff.ops.record import Op
from autodiff.ops.trigonometric import sech, tanh

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        return inf


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return inf


# B_2k of the asymptotic series of trigamma (DLMF 5.15.8), highest first; from 12 on their sum is right to rounding
BERNOULLI = (-3617.0 / 510.0, 7.0 / 6.0, -691.0 / 2730.0, 5.0 / 66.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 1.0 / 6.0)


def _trigamma(x: Any) -> Any:
    """The derivative of digamma for floats or arrays x > 0: twelve steps of its recurrence, then the series."""
    t = 1.0 / (x + 12.0)
    u = t * t
    tail = BERNOULLI[0] * u
    for b in BERNOULLI[1:]:
        tail = (tail + b) * u
    total = t + (0.5 * u + t * tail)
    for k in range(11, -1, -1):
        t = 1.0 / (x + k)
        total += t * t
    return total


def _polygamma(n: float, x: float) -> float:
    """By series or scipy for x > 0; by the reflection formula (DLMF 5.15.6) through cot left of 0."""
    if n == 0.0:
        return float(special().digamma(x))
    k = int(n)
    if x > 0.0 or x != x:
        return float(_trigamma(x) if k == 1 else special().polygamma(k, x))
    if x == math.floor(x):
        return inf if k % 2 else nan
    # psi_n(1-x) + (-1)^(n+1) psi_n(x) = (-1)^n pi d^n/dx^n cot(pi x)
    return (-1.0) ** k * _polygamma(n, 1.0 - x) - math.pi * _cot_derivative(k, x)


def _polygammas(n: Any, x: Any) -> Any:
    np = numpy()
    if not np.ndim(n) and n > 0.0 and (x > 0.0).all():
        return _trigamma(x) if n == 1.0 else special().polygamma(int(n), x)
    return each(_polygamma)(n, x)


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
    c = 1.0 / math.tan(math.pi * math.remainder(x, 1.0))
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
beta: Op = Op(
    "beta",
    "a b",
    "gamma(a)*gamma(b)/gamma(a + b)",
    scipy("beta"),
    scipy("beta"),
    [
        lambda y, a, b: mul(y, sub(digamma(a), digamma(add(a, b)))),
        lambda y, a, b: mul(y, sub(digamma(b), digamma(add(a, b)))),
    ],
    domain="a, b > 0",
    samples=[(1.5, 2.5)],
)
lbeta: Op = Op(
    "lbeta",
    "a b",
    "log of |beta(a, b)|",
    scipy("betaln"),
    scipy("betaln"),
    [lambda y, a, b: sub(digamma(a), digamma(add(a, b))), lambda y, a, b: sub(digamma(b), digamma(add(a, b)))],
    domain="a, b > 0",
    samples=[(1.5, 2.5)],
)


def _excess(x: float) -> float:
    """mills(x) + x, for x < -2 by the continued fraction 1/(t + 2/(t + 3/(t + …))), t = -x (DLMF 7.9.1)."""
    if x > -2.0 or x != x:
        return _mills(x) + x
    t = -x
    y = t
    for k in range(int(12 + 800 / (t * t)), 1, -1):
        y = t + k / y
    return 1.0 / y


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
    [lambda y, x: neg(mul(y, mills_excess(x)))],
    samples=[0.3, -30.0, 5.0],
)
mills_excess: Op = Op(
    "mills_excess",
    "x",
    "mills(x) + x, exact in the tail",
    _excess,
    each(_excess),
    [lambda y, x: sub(1.0, mul(mills(x), y))],
    samples=[0.3, -30.0, 5.0],
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
