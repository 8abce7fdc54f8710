"""What every row computes, once more in mpmath: forms taken from definitions, none from the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

Value = Callable[..., Any]


def half(x: Any) -> Any:
    return mp.mpf(x) / 2


def mills(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) / ndtr(x)


def erfc(x: Any) -> Any:
    """Far out, where mpmath gives up, by the asymptotic series."""
    if abs(x) < 1e9:
        return mp.erfc(x)
    u = 1 / (2 * x * x)
    tail = mp.exp(-x * x) / (abs(x) * mp.sqrt(mp.pi)) * (1 - u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u))))
    return tail if x > 0 else 2 - tail


def ndtr(x: Any) -> Any:
    return erfc(-x / mp.sqrt(2)) / 2


def excess_derivative(x: Any, n: int) -> Any:
    """Each derivative a polynomial in the ratio m and in x, by m' = -m(m + x)."""
    terms = {(1, 0): 1}
    for _ in range(n):
        found: dict[tuple[int, int], int] = {}
        for (i, j), c in terms.items():
            for key, k in (((i + 1, j), -i * c), ((i, j + 1), -i * c), ((i, j - 1), j * c)):
                found[key] = found.get(key, 0) + k
        terms = found
    with mp.extradps(60 * n):
        return mp.fsum(c * mills(x) ** i * x**j for (i, j), c in terms.items() if c) + (n == 1)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def softplus(x: Any) -> Any:
    return mp.log1p(mp.exp(x))


def sinc(x: Any) -> Any:
    return mp.sin(mp.pi * x) / (mp.pi * x) if x else mp.mpf(1)


def dsinc(x: Any, n: Any) -> Any:
    """By the series of sinc, term by term."""
    k = int(n)
    with mp.workdps(mp.mp.dps + int(3 * abs(x)) + 10):
        total, j = mp.mpf(0), (k + 1) // 2
        while True:
            power = mp.pi ** (2 * j) * (x ** (2 * j - k) if 2 * j > k else 1)
            term = (-1) ** j * power * mp.ff(2 * j, k) / mp.factorial(2 * j + 1)
            total += term
            j += 1
            if j > k + 3 and abs(term) <= abs(total) * mp.eps:
                return total


def lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


def cbrt(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


def power(x: Any, y: Any) -> Any:
    return (
        mp.mpf(1) if y == 0 else mp.mpf(0) if x == 0 else x ** int(y) if x < 0 or mp.isint(y) else mp.exp(y * mp.log(x))
    )


def log(x: Any) -> Any:
    return mp.log(x) if x > 0 else mp.nan


SCALE = mp.mpf("1.0507009873554804934193349852946")
ALPHA = mp.mpf("1.6732632423543772848170429916717")

SCALARS: dict[str, Value] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "chain": lambda a, b: a * b,
    "gate": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda x: -x,
    "pos": lambda x: +x,
    "floordiv": lambda a, b: mp.floor(a / b),
    "mod": lambda a, b: a - b * mp.floor(a / b),
    "pow": power,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "sqrt": mp.sqrt,
    "cbrt": cbrt,
    "where": lambda c, a, b: a if c else b,
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expm1": mp.expm1,
    "log": log,
    "log2": lambda x: log(x) / mp.log(2),
    "log10": lambda x: log(x) / mp.log(10),
    "log1p": mp.log1p,
    "logaddexp": lambda a, b: max(a, b) + mp.log1p(mp.exp(-abs(a - b))),
    "xlogy": lambda x, y: x * log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "sigmoid": sigmoid,
    "softplus": softplus,
    "log_sigmoid": lambda x: -softplus(-x),
    "logit": lambda p: mp.log(p) - mp.log1p(-p),
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "sec": mp.sec,
    "csc": mp.csc,
    "cot": mp.cot,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "sech": mp.sech,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "sinc": sinc,
    "dsinc": dsinc,
    "deg2rad": lambda x: x * mp.pi / 180,
    "rad2deg": lambda x: x * 180 / mp.pi,
    "hypot": lambda x, y: mp.sqrt(x * x + y * y),
    "unit": lambda x, y: x / mp.sqrt(x * x + y * y),
    "inversion": lambda x, y: x / (x * x + y * y),
    "atan2": mp.atan2,
    "erf": mp.erf,
    "erfc": erfc,
    "erfinv": mp.erfinv,
    "gamma": mp.gamma,
    "lgamma": lgamma,
    "digamma": mp.digamma,
    "polygamma": lambda n, x: mp.psi(int(n), x),
    "polygamma_difference": lambda n, x, h: mp.psi(int(n), x + h) - mp.psi(int(n), x),
    "factorial": lambda x: mp.gamma(x + 1),
    "beta": lambda a, b: mp.gamma(a) * mp.gamma(b) / mp.gamma(a + b),
    "lbeta": lambda a, b: lgamma(a) + lgamma(b) - lgamma(a + b),
    "ndtr": ndtr,
    "log_ndtr": lambda x: mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x)),
    "mills": mills,
    "excess_derivative": lambda x, n: excess_derivative(x, int(n)),
    "mills_excess": lambda x: mills(x) + x,
    "gelu": lambda x: x * ndtr(x),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * mp.tanh(softplus(x)),
    "abs": abs,
    "sign": mp.sign,
    "floor": mp.floor,
    "ceil": mp.ceil,
    "round": mp.nint,
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "frac": lambda x: x - mp.sign(x) * mp.floor(abs(x)),
    "fmod": lambda x, y: x - y * mp.sign(x / y) * mp.floor(abs(x / y)),
    "copysign": lambda x, y: abs(x) * mp.sign(y),
    "relu": lambda x: max(x, mp.mpf(0)),
    "leaky_relu": lambda x, s: x if x > 0 else s * x,
    "elu": lambda x, a: x if x > 0 else a * mp.expm1(x),
    "selu": lambda x: SCALE * (x if x > 0 else ALPHA * mp.expm1(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "max": lambda *xs: max(xs),
    "min": lambda *xs: min(xs),
    "clip": lambda x, lo, hi: min(max(x, lo), hi),
    "lerp": lambda a, b, t: a + t * (b - a),
}
"""Elementwise rows, of mpf."""


def along(function: Callable[[list[Any]], Any]) -> Value:
    """A reduction of a list as one of object arrays with an axis, or of all entries."""

    def value(x: Any, axis: Any = None, **options: Any) -> Any:
        if axis is None:
            return function(list(x.ravel()), **options)
        return np.apply_along_axis(lambda v: np.array([function(list(v), **options), None])[:1], axis, x).squeeze(axis)

    return value


def running(function: Callable[[list[Any]], list[Any]]) -> Value:
    """A function of lists to lists of the same length, along an axis."""

    def value(x: Any, axis: int = -1, **options: Any) -> Any:
        return np.apply_along_axis(lambda v: np.array([*function(list(v), **options), None])[:-1], axis, x)

    return value


def variance(v: list[Any], ddof: int = 0) -> Any:
    m = mp.fsum(v) / len(v)
    return mp.fsum((x - m) ** 2 for x in v) / (len(v) - ddof)


def logsumexp(v: list[Any]) -> Any:
    return max(v) + mp.log(mp.fsum(mp.exp(x - max(v)) for x in v))


def p_norm(v: list[Any], p: Any = 2) -> Any:
    if p == mp.inf:
        return max(map(abs, v))
    return mp.root(mp.fsum(abs(x) ** p for x in v), 1) if p == 1 else mp.fsum(abs(x) ** p for x in v) ** (1 / mp.mpf(p))


def leave_out(v: list[Any]) -> list[Any]:
    return [mp.fprod(v[:i] + v[i + 1 :]) for i in range(len(v))]


def array(m: Any) -> Any:
    return np.array(m.tolist(), dtype=object)


def matrix(a: Any) -> Any:
    return mp.matrix(a.tolist())


def even(a: Any) -> Any:
    return matrix((a + a.T) / mp.mpf(2))


def minor(a: Any, i: int, j: int) -> Any:
    return np.delete(np.delete(a, i, 0), j, 1)


def det(a: Any) -> Any:
    """By cofactors: right for singular matrices too."""
    if not len(a):
        return mp.mpf(1)
    return mp.fsum((-1) ** j * a[0, j] * det(minor(a, 0, j)) for j in range(len(a)))


def cofactor(a: Any) -> Any:
    n = range(len(a))
    return np.array([[(-1) ** (i + j) * det(minor(a, i, j)) for j in n] for i in n], dtype=object)


def eigenvalues(a: Any) -> Any:
    return np.array(list(mp.eigsy(even(a), eigvals_only=True)), dtype=object)


def reshape(x: Any, *sizes: Any) -> Any:
    return x.reshape([int(n) for s in sizes for n in np.ravel(s)])


def joined(join: Callable[..., Any]) -> Value:
    return lambda *xs, axis=0: join(list(xs[0]) if len(xs) == 1 else xs, axis=axis)


def linspace(a: Any, b: Any, n: Any) -> Any:
    return np.array([a + (b - a) * k / (int(n) - 1) for k in range(int(n))], dtype=object)


def arange(*xs: Any) -> Any:
    a, b, step = (mp.mpf(0), xs[0], 1) if len(xs) == 1 else (*xs, 1)[:3]
    return np.array([a + k * step for k in range(int(mp.ceil((b - a) / step)))], dtype=object)


def scatter(g: Any, index: Any, shape: Any) -> Any:
    y = np.full(shape, mp.mpf(0), dtype=object)
    np.add.at(y, index, g)
    return y


def put(x: Any, v: Any, index: Any) -> Any:
    y = x.copy()
    y[index] = v
    return y


ARRAYS: dict[str, Value] = {
    "sum": along(mp.fsum),
    "mean": along(lambda v: mp.fsum(v) / len(v)),
    "var": along(variance),
    "std": along(lambda v, ddof=0: mp.sqrt(variance(v, ddof))),
    "prod": along(mp.fprod),
    "amax": along(max),
    "amin": along(min),
    "logsumexp": along(logsumexp),
    "norm": lambda x, p, axis=None: along(p_norm)(x, axis=axis, p=p),
    "normalized": lambda x, axis=None: (
        x / (p_norm(list(x.ravel())) if axis is None else np.expand_dims(along(p_norm)(x, axis=axis), axis))
    ),
    "dual": lambda x, p, y, axis=None: (
        np.vectorize(mp.sign)(x)
        * (np.abs(x) / (p_norm(list(x.ravel()), p) if axis is None else along(p_norm)(x, axis=axis, p=p))) ** (p - 1)
    ),
    "leave_out": running(leave_out),
    "cumsum": running(lambda v: [mp.fsum(v[: i + 1]) for i in range(len(v))]),
    "cumprod": running(lambda v: [mp.fprod(v[: i + 1]) for i in range(len(v))]),
    "softmax": running(lambda v: [mp.exp(x - logsumexp(v)) for x in v]),
    "log_softmax": running(lambda v: [x - logsumexp(v) for x in v]),
    "flip": lambda x, axis: np.flip(x, axis),
    "matmul": lambda a, b: a @ b,
    "dot": np.dot,
    "outer": np.outer,
    "cross": lambda a, b: np.array([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)], dtype=object),
    "trace": lambda a: mp.fsum(np.diag(a)),
    "det": det,
    "cofactor": cofactor,
    "logdet": lambda a: mp.log(det(a)),
    "inv": lambda a: cofactor(a).T / det(a),
    "triangular_inverse": lambda a: cofactor(np.tril(a)).T / det(np.tril(a)),
    "solve": lambda a, b: (cofactor(a).T / det(a)) @ b,
    "cholesky": lambda a: array(mp.cholesky(even(a))),
    "eigvalsh": eigenvalues,
    "diag": np.diag,
    "kron": lambda a, b: np.kron(a, b),
    "list": lambda *xs: np.array(xs, dtype=object),
    "index": lambda x, index: x[index],
    "scatter": scatter,
    "put": put,
    "broadcast": lambda x, shape: np.broadcast_to(x, shape),
    "sum_to": lambda x, shape: np.sum(x, axis=tuple(range(np.ndim(x) - len(shape)))),
    "expand": lambda g, axis, shape: np.broadcast_to(g if axis is None else np.expand_dims(g, axis), shape),
    "sum_axes": lambda x, axis: np.sum(x, axis=axis),
    "moveaxis": lambda x, source, target: np.moveaxis(x, source, target),
    "reshape": reshape,
    "flatten": np.ravel,
    "transpose": np.transpose,
    "swap": lambda x: np.swapaxes(x, -1, -2),
    "concat": joined(np.concatenate),
    "stack": joined(np.stack),
    "full": lambda *xs: np.full([int(n) for s in xs[:-1] for n in np.ravel(s)], xs[-1], dtype=object),
    "linspace": linspace,
    "arange": arange,
}
"""Rows of arrays, of object arrays of mpf."""
