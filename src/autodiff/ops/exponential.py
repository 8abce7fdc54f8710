"""Rows: exponentials, logarithms, and sums of them that stay stable."""

from __future__ import annotations

import math

from autodiff.numeric import from_numpy, inf, nan, total
from autodiff.ops.arithmetic import add, div, eq, le, lt, mul, neg, square, sub, where
from autodiff.ops.record import Op, gate
from autodiff.ops.trigonometric import sech

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def _pole(x: float) -> float:
    return -inf if x == 0.0 else nan


def _logaddexp(a: float, b: float) -> float:
    if a == b:
        return a + LN2
    if a != a or b != b:
        return nan
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


exp: Op = Op(
    "exp",
    "x",
    "e to the power x",
    total(math.exp),
    from_numpy("exp"),
    [lambda y, x: y],
    samples=[0.0, 1.5, -700.0, 700.0],
)
exp2: Op = Op(
    "exp2",
    "x",
    "2 to the power x",
    total(math.exp2),
    from_numpy("exp2"),
    [lambda y, x: mul(y, LN2)],
    samples=[0.5, -3.0, 1000.0],
)
expm1: Op = Op(
    "expm1",
    "x",
    "exp(x) - 1, exact near 0",
    total(math.expm1),
    from_numpy("expm1"),
    [lambda y, x: exp(x)],
    samples=[1e-12, -40.0, 2.0],
)
log: Op = Op(
    "log",
    "x",
    "natural logarithm",
    total(math.log, outside=_pole),
    from_numpy("log"),
    [lambda y, x: div(1.0, x)],
    aliases="ln",
    domain="x > 0",
    samples=[2.0, 1e-300, 1e300],
)
log2: Op = Op(
    "log2",
    "x",
    "logarithm to base 2",
    total(math.log2, outside=_pole),
    from_numpy("log2"),
    [lambda y, x: div(1.0 / LN2, x)],
    domain="x > 0",
    samples=[2.0, 0.3],
)
log10: Op = Op(
    "log10",
    "x",
    "logarithm to base 10",
    total(math.log10, outside=_pole),
    from_numpy("log10"),
    [lambda y, x: div(1.0 / LN10, x)],
    domain="x > 0",
    samples=[2.0, 0.3],
)
log1p: Op = Op(
    "log1p",
    "x",
    "log(1 + x), exact near 0",
    total(math.log1p, outside=lambda x: -inf if x == -1.0 else nan),
    from_numpy("log1p"),
    [lambda y, x: div(1.0, add(1.0, x))],
    domain="x > -1",
    samples=[3e-19, -0.5, 2.0],
)
logaddexp: Op = Op(
    "logaddexp",
    "a b",
    "log(exp(a) + exp(b)) without overflow",
    _logaddexp,
    from_numpy("logaddexp"),
    [
        lambda y, a, b: where(eq(y, -inf), 0.0, sigmoid(sub(a, b))),
        lambda y, a, b: where(eq(y, -inf), 0.0, sigmoid(sub(b, a))),
    ],
    samples=[(1.0, 2.0), (1000.0, 0.0), (-1000.0, -1001.0)],
    conventions={"torch": [lambda y, a, b: exp(sub(a, y)), lambda y, a, b: exp(sub(b, y))]},
)
xlogy: Op = Op(
    "xlogy",
    "x y",
    "x*log(y), 0 where x is 0",
    lambda x, y: 0.0 if x == 0.0 and y == y else x * log.scalar(y),
    lambda x, y: where(eq(x, 0.0) & (y == y), 0.0, x * log(where(eq(x, 0.0) & (y == y), 1.0, y))),
    [lambda z, x, y: log(y), lambda z, x, y: where(eq(x, 0.0), gate(x, div(1.0, y)), div(x, y))],
    domain="y > 0, or x = 0",
    samples=[(2.0, 3.0), (0.0, 2.0), (0.5, 1e-10)],
    kinks="-inf by x and 0 by y at (0, 0)",
    conventions={
        "torch": [lambda z, x, y: where(eq(x, 0.0), where(le(y, 0.0), 0.0, log(y)), log(y)), lambda z, x, y: div(x, y)],
        "jax": [lambda z, x, y: log(y), lambda z, x, y: div(x, y)],
    },
)
xlog1py: Op = Op(
    "xlog1py",
    "x y",
    "x*log1p(y), 0 where x is 0",
    lambda x, y: 0.0 if x == 0.0 and y == y else x * log1p.scalar(y),
    lambda x, y: where(eq(x, 0.0) & (y == y), 0.0, x * log1p(where(eq(x, 0.0) & (y == y), 0.0, y))),
    [lambda z, x, y: log1p(y), lambda z, x, y: where(eq(x, 0.0), gate(x, div(1.0, add(1.0, y))), div(x, add(1.0, y)))],
    domain="y > -1, or x = 0",
    samples=[(2.0, 3.0), (0.0, 2.0), (0.5, 1e-10)],
    kinks="-inf by x and 0 by y at (0, -1)",
    conventions={
        "torch": [
            lambda z, x, y: where(eq(x, 0.0), where(le(y, -1.0), 0.0, log1p(y)), log1p(y)),
            lambda z, x, y: div(x, add(1.0, y)),
        ],
        "jax": [lambda z, x, y: log1p(y), lambda z, x, y: div(x, add(1.0, y))],
    },
)


def _sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e) if x == x else nan


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x))) if x == x else nan


sigmoid: Op = Op(
    "sigmoid",
    "x",
    "1/(1 + exp(-x))",
    _sigmoid,
    lambda x: where(lt(x, 0.0), exp(x), 1.0) * div(1.0, 1.0 + exp(-abs(x))),
    [lambda y, x: square(mul(0.5, sech(mul(0.5, x))))],
    aliases="logistic expit",
    samples=[0.3, 38.0, -700.0, 2.0],
)
softplus: Op = Op(
    "softplus",
    "x",
    "log(1 + exp(x)) without overflow",
    _softplus,
    lambda x: where(lt(x, 0.0), 0.0, x) + log1p(exp(-abs(x))),
    [lambda y, x: sigmoid(x)],
    samples=[0.3, 1000.0, -700.0],
)
log_sigmoid: Op = Op(
    "log_sigmoid",
    "x",
    "log(sigmoid(x)) without underflow",
    lambda x: -_softplus(-x),
    lambda x: neg(softplus(-x)),
    [lambda y, x: sigmoid(neg(x))],
    samples=[0.3, 700.0, -1000.0],
)


def _logit(p: float) -> float:
    if 0.25 < p < 0.75:
        return 2.0 * math.atanh(2.0 * p - 1.0)
    if p != p or p < 0.0 or p > 1.0:
        return nan
    return -inf if p == 0.0 else inf if p == 1.0 else math.log(p) - math.log1p(-p)


def _logit_array(p: object) -> object:
    from autodiff.numeric import each

    return each(_logit)(p)


logit: Op = Op(
    "logit",
    "p",
    "log(p/(1 - p))",
    _logit,
    _logit_array,
    [lambda y, p: add(div(1.0, p), div(1.0, sub(1.0, p)))],
    domain="0 < p < 1",
    samples=[0.5, 0.3, 1e-12, 0.9999999999999999],
)
