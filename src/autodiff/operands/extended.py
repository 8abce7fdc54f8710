"""Extended operands: numbers of any precision, and arrays of them, with a value of their own for every row.

The values here are written apart from the rows (by mpmath, or from the definition), so that they can judge
them: a program run at extended leaves gives its value to as many digits as are asked for, control flow and all.
mpmath is loaded with this module, so it is imported inside functions only.
"""

from __future__ import annotations

import math
import operator
from contextlib import contextmanager
from fractions import Fraction

import mpmath
import numpy as np
from mpmath.ctx_mp import MPContext

from autodiff import numeric
from autodiff.errors import ComputationError, ShapeError
from autodiff.ops.record import OPS, Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Value = Callable[..., Any]

m = MPContext()
"""The precision of all extended numbers; `digits` sets it."""
m.dps = 50


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Within, compute with `count` significant decimal digits."""
    before = m.dps
    m.dps = count
    try:
        yield
    finally:
        m.dps = before


_held: list[list[Any]] = []  # what stop_gradient let through, in the order of the run at the point itself
_turn: list[int] = []


@contextmanager
def holding(passed: list[Any]) -> Iterator[None]:
    """Within, stop_gradient gives what it gave in the first run: `passed` is filled then, and read later."""
    first = not passed
    _held.append(passed)
    _turn.append(-1 if first else 0)
    try:
        yield
    finally:
        _held.pop()
        _turn.pop()


class Extended:
    """A number (mpf) or an array of numbers (object array of mpf)."""

    __slots__ = ("value",)
    op_rank = 1
    __array_ufunc__ = None

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        return numeric.shape(self.value) if hasattr(self.value, "dtype") else ()

    def __float__(self) -> float:
        if self.shape:
            raise ShapeError(f"one number is wanted, not an array of shape {self.shape}")
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        if self.shape:
            raise ShapeError(f"a condition must be one number, not an array of shape {self.shape}")
        return bool(self.value != 0)

    def __eq__(self, other: object) -> Any:
        return OPS["eq"](self, other)

    def __ne__(self, other: object) -> Any:
        return OPS["ne"](self, other)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<extended {self.value}>"

    @staticmethod
    def apply_op(op: Op, xs: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
        """The value of the op: extended, or raw for ops that answer with truth values and sizes."""
        try:
            if op.name in RAW:
                return numeric.raw(RAW[op.name](*xs, **params))
            if op.name in ENTRIES:
                return entrywise(op, xs)
            return lift(WHOLE[op.name](*xs, **params))
        except (ValueError, IndexError, np.exceptions.AxisError) as error:
            raise ShapeError(op.refusal([np.zeros(numeric.shape(x)) for x in xs], error)) from None
        except ZeroDivisionError:
            raise ComputationError(f"{op.name}: singular matrix") from None


def number(x: Any) -> Any:
    """A number or truth value as an mpf, exactly."""
    return x if isinstance(x, m.mpf) else m.mpf(float(x)) if not isinstance(x, int) else m.mpf(x)


_numbers = np.frompyfunc(number, 1, 1)


def array(x: Any) -> Any:
    """Any operand as an object array of mpf."""
    x = x.value if isinstance(x, Extended) else x
    y = _numbers(x)
    if hasattr(y, "dtype"):
        return y
    wrapped = np.empty((), dtype=object)
    wrapped[()] = y
    return wrapped


def lift(x: Any) -> Extended:
    """A raw value as an extended one, exactly."""
    if isinstance(x, Extended):
        return x
    if hasattr(x, "dtype"):
        return Extended(array(x) if x.ndim else number(x.item()))
    return Extended(number(x))


def lower(x: Any) -> Any:
    """The nearest float, or array of floats; raw values stay."""
    if not isinstance(x, Extended):
        return x
    return x.value.astype(float) if x.shape else float(x.value)


FINE = 10**6  # the largest denominator of a fraction that a rule computes: a count of entries
NAMED: dict[float, Value] = {
    math.log(2.0): lambda: m.log(2),
    1.0 / math.log(2.0): lambda: 1 / m.log(2),
    1.0 / math.log(10.0): lambda: 1 / m.log(10),
    2.0 / math.sqrt(math.pi): lambda: 2 / m.sqrt(m.pi),
    math.sqrt(math.pi) / 2.0: lambda: m.sqrt(m.pi) / 2,
    1.0 / math.sqrt(math.tau): lambda: 1 / m.sqrt(2 * m.pi),
    math.pi / 180.0: lambda: m.pi / 180,
    180.0 / math.pi: lambda: 180 / m.pi,
}
"""The irrational numbers that derivative rules compute, and what they stand for."""


def meant(x: Any) -> Any:
    """A plain number beside extended ones, as an mpf: it comes from a rule, and stands for a fraction or a constant.

    The numbers of a text and of a point are extended before it runs.
    """
    if x.__class__ is not float or x % 1.0 == 0.0 or not math.isfinite(x):
        return number(x)
    if abs(x) in NAMED:
        return m.sign(x) * NAMED[abs(x)]()
    top, bottom = Fraction(x).limit_denominator(FINE).as_integer_ratio()
    return m.mpf(top) / bottom if top / bottom == x else number(x)


def entrywise(op: Op, xs: tuple[Any, ...]) -> Any:
    """An elementwise row, with broadcasting; where mpmath has no answer (poles, infinities) IEEE's is taken."""
    value = ENTRIES[op.name]

    def one(*ys: Any) -> Any:
        if op.name not in CLOSED and not all(map(m.isfinite, ys)):
            return number(op.scalar(*map(float, ys)))
        if op.name not in ALGEBRAIC and any(m.mag(y) > HUGE for y in ys if y):
            return number(op.scalar(*map(float, ys)))
        try:
            z = value(*ys)
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
            return number(op.scalar(*map(float, ys)))
        if isinstance(z, m.mpc):
            z = z.real if z.imag == 0 else m.nan
        return z if isinstance(z, m.mpf) else number(z)

    for x in xs:
        if numeric.shape(x):
            break
    else:
        return Extended(one(*[x.value if isinstance(x, Extended) else meant(x) for x in xs]))
    return Extended(np.frompyfunc(one, len(xs), 1)(*[array(meant(x) if x.__class__ is float else x) for x in xs]))


def compared(relation: Value) -> Value:
    def over(*xs: Any) -> Any:
        y = np.frompyfunc(relation, len(xs), 1)(*map(array, xs))
        return y.astype(bool) if hasattr(y, "dtype") else bool(y)

    return over


def truth(x: Any) -> Any:
    return compared(lambda v: v != 0)(x)


RAW: dict[str, Value] = {
    "lt": compared(operator.lt),
    "le": compared(operator.le),
    "gt": compared(operator.gt),
    "ge": compared(operator.ge),
    "eq": compared(operator.eq),
    "ne": compared(operator.ne),
    "not": compared(lambda x: x == 0),
    "and": compared(lambda a, b: a != 0 and b != 0),
    "or": compared(lambda a, b: a != 0 or b != 0),
    "any": lambda x, axis=None: np.any(truth(x), axis=axis),
    "all": lambda x, axis=None: np.all(truth(x), axis=axis),
    "size": lambda x: float(math.prod(numeric.shape(x))),
    "shape": lambda x: np.array([float(n) for n in numeric.shape(x)]),
    "zeros": lambda *n: OPS["zeros"](*map(lower, n)),
    "ones": lambda *n: OPS["ones"](*map(lower, n)),
    "eye": lambda *n: OPS["eye"](*map(lower, n)),
}
"""Rows whose answer is a raw value."""

# ---- entry by entry


def _root(x: Any) -> Any:
    return m.sqrt(x) if x >= 0 else m.nan


def _cbrt(x: Any) -> Any:
    return m.cbrt(x) if x >= 0 else -m.cbrt(-x)


def _lgamma(x: Any) -> Any:
    return m.loggamma(x) if x > 0 else m.log(abs(m.gamma(x)))


def _beside(function: Value) -> Value:
    """With as many bits more as a and b are apart, which the difference of a function of a and of a + b loses."""

    def value(*xs: Any) -> Any:
        *_, a, b = xs
        apart = abs(m.mag(a) - m.mag(b)) if a and b and m.isfinite(a) and m.isfinite(b) else 0
        with m.extraprec(apart):
            return function(*xs)

    return value


def _softplus(x: Any) -> Any:
    return m.log1p(m.exp(-abs(x))) + max(x, m.zero)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + m.exp(-x))


def _ndtr(x: Any) -> Any:
    return m.erfc(-x / m.sqrt(2)) / 2


def _log_ndtr(x: Any) -> Any:
    return m.log(_ndtr(x)) if x < 0 else m.log1p(-_ndtr(-x))


def _mills(x: Any) -> Any:
    return m.exp(-x * x / 2) / m.sqrt(2 * m.pi) / _ndtr(x)


def _excess_derivative(x: Any, n: Any) -> Any:
    """By m' = -m*(m + x), with the digits more that this loses in the left tail."""
    order = int(n)
    with m.extradps(2 * order * max(0, int(m.mag(x)) if x else 0) + 10 * order):
        ratios, excess = [_mills(x)], [_mills(x) + x]
        for k in range(order):
            ratios.append(-sum(ratios[i] * excess[k - i] for i in range(k + 1)) / (k + 1))
            excess.append(ratios[-1] if k else 1 + ratios[-1])
        return excess[order] * m.factorial(order)


def _sign(x: Any) -> Any:
    return x if m.isnan(x) else m.mpf((x > 0) - (x < 0))


def _trunc(x: Any) -> Any:
    return m.floor(x) if x >= 0 else m.ceil(x)


def _max(*xs: Any) -> Any:
    return m.nan if any(map(m.isnan, xs)) else max(xs)


def _min(*xs: Any) -> Any:
    return m.nan if any(map(m.isnan, xs)) else min(xs)


def _round(x: Any) -> Any:
    low = m.floor(x)
    rest = x - low
    return low if rest < 0.5 or (rest == 0.5 and low % 2 == 0) else low + 1


def _elu(x: Any, a: Any) -> Any:
    return x if x > 0 else a * m.expm1(x)


def _selu(x: Any) -> Any:
    from autodiff.ops.piecewise import ALPHA, SCALE  # its constants, as the row's floats, are the definition

    return number(SCALE) * (x if x > 0 else number(ALPHA) * m.expm1(x))


def _power(x: Any, y: Any) -> Any:
    return m.one if y == 0 else m.power(x, y)


ENTRIES: dict[str, Value] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "chain": lambda g, d: m.zero if g == 0 else g * d,
    "gate": lambda g, d: m.zero if g == 0 or d == 0 else g * d,
    "div": operator.truediv,
    "neg": operator.neg,
    "pos": operator.pos,
    "floordiv": lambda a, b: m.floor(a / b),
    "mod": lambda a, b: a - b * m.floor(a / b),
    "fmod": lambda a, b: a - b * _trunc(a / b),
    "pow": _power,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "sqrt": _root,
    "cbrt": _cbrt,
    "where": lambda c, a, b: a if c != 0 else b,
    "exp": lambda x: m.exp(x),
    "exp2": lambda x: m.power(2, x),
    "expm1": lambda x: m.expm1(x),
    "log": lambda x: m.log(x),
    "log2": lambda x: m.log(x) / m.log(2),
    "log10": lambda x: m.log(x) / m.log(10),
    "log1p": lambda x: m.log1p(x),
    "logaddexp": lambda a, b: max(a, b) + m.log1p(m.exp(-abs(a - b))),
    "xlogy": lambda x, y: m.zero if x == 0 else x * m.log(y),
    "xlog1py": lambda x, y: m.zero if x == 0 else x * m.log1p(y),
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "logit": lambda p: m.log(p) - m.log1p(-p),
    "abs": abs,
    "sign": _sign,
    "floor": lambda x: m.floor(x),
    "ceil": lambda x: m.ceil(x),
    "round": _round,
    "trunc": _trunc,
    "frac": lambda x: x - _trunc(x),
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "relu": lambda x: x if x > 0 or m.isnan(x) else m.zero,
    "leaky_relu": lambda x, s: x if x > 0 else s * x,
    "elu": _elu,
    "selu": _selu,
    "softsign": lambda x: x / (1 + abs(x)),
    "max": _max,
    "min": _min,
    "clip": lambda x, lo, hi: _min(_max(x, lo), hi),
    "lerp": lambda a, b, t: a + t * (b - a),
    "sin": lambda x: m.sin(x),
    "cos": lambda x: m.cos(x),
    "tan": lambda x: m.tan(x),
    "sec": lambda x: 1 / m.cos(x),
    "csc": lambda x: 1 / m.sin(x),
    "cot": lambda x: m.cos(x) / m.sin(x),
    "asin": lambda x: m.asin(x),
    "acos": lambda x: m.acos(x),
    "atan": lambda x: m.atan(x),
    "sinh": lambda x: m.sinh(x),
    "cosh": lambda x: m.cosh(x),
    "tanh": lambda x: m.tanh(x),
    "sech": lambda x: 1 / m.cosh(x),
    "asinh": lambda x: m.asinh(x),
    "acosh": lambda x: m.acosh(x),
    "atanh": lambda x: m.atanh(x),
    "sinc": lambda x: m.sincpi(x),
    "dsinc": lambda x, n: m.diff(m.sincpi, x, int(n)),
    "deg2rad": lambda x: x * m.pi / 180,
    "rad2deg": lambda x: x * 180 / m.pi,
    "hypot": lambda x, y: m.sqrt(x * x + y * y),
    "unit": lambda x, y: m.zero if x == y == 0 else x / m.sqrt(x * x + y * y),
    "inversion": lambda x, y: m.nan if x == y == 0 else x / (x * x + y * y),
    "atan2": lambda y, x: m.atan2(y, x),
    "erf": lambda x: m.erf(x),
    "erfc": lambda x: m.erfc(x),
    "erfinv": lambda x: m.erfinv(x),
    "gamma": lambda x: m.gamma(x),
    "lgamma": _lgamma,
    "digamma": lambda x: m.psi(0, x),
    "polygamma": lambda n, x: m.psi(int(n), x),
    "polygamma_difference": _beside(lambda n, x, h: m.psi(int(n), x + h) - m.psi(int(n), x)),
    "factorial": lambda x: m.gamma(x + 1),
    "beta": _beside(lambda a, b: m.beta(a, b)),
    "lbeta": _beside(lambda a, b: _lgamma(a) + _lgamma(b) - _lgamma(a + b)),
    "ndtr": _ndtr,
    "log_ndtr": _log_ndtr,
    "mills": _mills,
    "mills_excess": lambda x: _mills(x) + x,
    "excess_derivative": _excess_derivative,
    "gelu": lambda x: x * _ndtr(x),
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * m.tanh(_softplus(x)),
}
CLOSED = frozenset(
    [
        "add",
        "sub",
        "mul",
        "chain",
        "gate",
        "neg",
        "pos",
        "where",
        "max",
        "min",
        "clip",
        "relu",
        "abs",
        "leaky_relu",
        "sign",
        "copysign",
    ]
)
"""Entries that are right at nan and infinity too."""
ALGEBRAIC = CLOSED | frozenset(
    (
        *("div", "reciprocal", "square", "sqrt", "cbrt", "hypot", "unit", "inversion", "lerp", "softsign"),
        *("log", "log2", "log10"),
        *("log1p", "xlogy", "xlog1py", "deg2rad", "rad2deg", "floor", "ceil", "round", "trunc", "frac"),
    )
)
"""Entries whose cost does not grow with the size of the operands, be they towers of exponentials."""
HUGE = 20_000  # bits of an operand from which on the others take it for infinite

# ---- of whole arrays


def _stopped(x: Any) -> Any:
    if not _held:
        return x
    passed, turn = _held[-1], _turn[-1]
    if turn < 0:
        passed.append(x)
        return x
    _turn[-1] += 1
    return passed[turn] if turn < len(passed) else x


def _plain(name: str) -> Value:
    """A row whose array form moves entries about, or adds and multiplies them: it serves object arrays too."""

    def value(x: Any, *others: Any, **params: Any) -> Any:
        return OPS[name].array(array(x), *[v.value if isinstance(v, Extended) else v for v in others], **params)

    return value


def _joining(name: str) -> Value:
    return lambda *xs, **params: OPS[name].array(*map(array, xs), **params)


def _scatter(g: Any, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    y = array(np.zeros(shape))
    np.add.at(y, index, array(g))
    return y


def _put(x: Any, v: Any, index: tuple[Any, ...]) -> Any:
    y = array(x).copy()
    y[index] = array(v)
    return y


def _linspace(a: Any, b: Any, n: Any) -> Any:
    (weights,) = [array(np.arange(float(k))) / max(k - 1, 1) for k in [len(OPS["zeros"](lower(n)))]]
    first, last = array(a), array(b)
    return first + weights * (last - first) if weights.size else weights


def _arange(*xs: Any) -> Any:
    count = len(OPS["arange"](*map(lower, xs)))
    a, step = (array(0.0), array(1.0)) if len(xs) == 1 else (array(xs[0]), array(xs[2] if len(xs) > 2 else 1.0))
    return a + array(np.arange(float(count))) * step


def each(name: str, x: Any) -> Any:
    """An elementwise row of an object array, as an object array."""
    return array(entrywise(OPS[name], (Extended(x) if x.ndim else Extended(x.item()),)))


def _back(y: Any, axis: Any) -> Any:
    return y if axis is None else np.expand_dims(y, axis)


def _var(x: Any, axis: Any = None, ddof: int = 0) -> Any:
    x = array(x)
    n = x.size if axis is None else x.shape[axis]
    d = x - _back(np.sum(x, axis=axis), axis) / n
    total = np.sum(d * d, axis=axis)
    return total / (n - ddof) if n != ddof else array(total) * m.nan


def _top(x: Any, axis: Any) -> Any:
    return _back(np.max(x, axis=axis), axis)


def _logsumexp(x: Any, axis: Any = None) -> Any:
    x = array(x)
    if not x.size:
        return np.full(np.sum(x, axis=axis).shape, -np.inf) if axis is not None else -math.inf
    top = array(np.max(x, axis=axis))
    safe = np.where(each("abs", top) == m.inf, m.zero, top)
    rest = np.sum(each("exp", x - _back(safe, axis)), axis=axis)
    # one of the largest is 1 exactly; the others are added up without it
    others = array(rest - 1)
    return np.where(each("abs", top) == m.inf, top, array(safe + each("log1p", others)))


def _softmax(x: Any, axis: int = -1) -> Any:
    x = array(x)
    e = each("exp", x - _top(x, axis))
    return e / _back(np.sum(e, axis=axis), axis)


def _log_softmax(x: Any, axis: int = -1) -> Any:
    x = array(x)
    return x - _back(_logsumexp(x, axis), axis)


def _norm(x: Any, p: Any = 2.0, axis: Any = None) -> Any:
    x, p = each("abs", array(x)), number(p) if not isinstance(p, Extended) else p.value
    if m.isinf(p):
        return np.max(x, axis=axis) if p > 0 else np.min(x, axis=axis)
    if p == 0:
        return np.sum(array(x != 0), axis=axis)
    if p == 2:
        return each("sqrt", array(np.sum(x * x, axis=axis)))
    powers = np.frompyfunc(lambda v: m.power(v, p) if v else m.zero if p > 0 else m.inf, 1, 1)(x)
    total = array(np.sum(powers, axis=axis))
    return np.frompyfunc(lambda v: m.power(v, 1 / p) if v or p > 0 else m.inf, 1, 1)(total)


def _normalized(x: Any, axis: Any = None) -> Any:
    x = array(x)
    n = array(_back(_norm(x, 2.0, axis), axis))
    return x / np.where(n == 0, m.one, n)


def _dual(x: Any, p: Any, y: Any, axis: Any = None) -> Any:
    x = array(x)
    ratios = each("abs", x) / array(_back(array(y), axis))
    return each("sign", x) * np.frompyfunc(lambda v: m.power(v, lift(p).value - 1) if v else m.zero, 1, 1)(ratios)


def _leave_out(x: Any) -> Any:
    x = array(x)
    n = x.shape[-1]
    parts = [np.prod(np.delete(x, i, -1), axis=-1) for i in range(n)]
    return np.stack([array(p) for p in parts], -1) if parts else x


def _square(a: Any) -> Any:
    a = array(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ShapeError(f"a square matrix is wanted, not shape {a.shape}")
    return a


def eliminated(a: Any, b: Any) -> tuple[Any, Any]:
    """The determinant of a, and a⁻¹·b (None where a is singular), by Gauss and Jordan with the largest pivots."""
    a, b = a.copy(), b.copy()
    n = len(a)
    det = m.one
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i, k]))
        if a[pivot, k] == 0:
            return m.zero, None
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]] = a[[pivot, k]], b[[pivot, k]]
            det = -det
        det = det * a[k, k]
        b[k] = b[k] / a[k, k]
        a[k] = a[k] / a[k, k]
        for i in range(n):
            if i != k and a[i, k] != 0:
                b[i] = b[i] - a[i, k] * b[k]
                a[i] = a[i] - a[i, k] * a[k]
    return det, b


def _det(a: Any) -> Any:
    a = array(a)
    if a.ndim > 2:
        flat = [_det(part) for part in a.reshape(-1, *a.shape[-2:])]
        return array(np.array(flat, dtype=object)).reshape(a.shape[:-2])
    return eliminated(_square(a), array(np.zeros((len(a), 0))))[0]


def _cofactor(a: Any) -> Any:
    a = array(a)
    if a.ndim > 2:
        return np.stack([_cofactor(part) for part in a.reshape(-1, *a.shape[-2:])]).reshape(a.shape)
    y = array(np.zeros(a.shape))
    for i, j in np.ndindex(a.shape):
        y[i, j] = (-1) ** (i + j) * _det(np.delete(np.delete(a, i, 0), j, 1))
    return y


def _logdet(a: Any) -> Any:
    det = _det(_square(a))
    return m.log(det) if det > 0 else -m.inf if det == 0 else m.nan


def _solve(a: Any, b: Any) -> Any:
    a, b = _square(a), array(b)
    found = eliminated(a, b)[1]
    if found is None:
        raise ZeroDivisionError
    return found


def _even(a: Any) -> Any:
    a = _square(a)
    return (a + a.T) / 2


def _cholesky(a: Any) -> Any:
    a = _even(a)
    y = array(np.zeros(a.shape))
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - np.sum(y[i, :j] * y[j, :j])
            if i == j and not rest > 0:
                raise ComputationError("cholesky: matrix is not positive definite")
            y[i, j] = m.sqrt(rest) if i == j else rest / y[j, j]
    return y


def _eigen(a: Any) -> tuple[Any, Any]:
    a = _even(a)
    values, vectors = m.eigsy(m.matrix(a.tolist()))
    order = sorted(range(len(a)), key=lambda k: values[k])
    w = np.array([values[k] for k in order], dtype=object)
    v = np.array([[vectors[i, k] for k in order] for i in range(len(a))], dtype=object)
    return w, v


def _sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    y = array(x)
    lead = y.ndim - len(shape)
    if lead < 0:
        return np.broadcast_to(y, shape)
    axes = tuple(i for i in range(y.ndim) if i < lead or shape[i - lead] == 1)
    return array(np.sum(y, axis=axes, keepdims=True)).reshape(shape)


def _reshaped(x: Any, *sizes: Any) -> Any:
    return OPS["reshape"].array(array(x), *map(lower, sizes))


WHOLE: dict[str, Value] = {
    "stop_gradient": _stopped,
    "list": lambda *xs: np.stack([array(x) for x in xs]) if xs else np.zeros(0),
    "concat": _joining("concat"),
    "stack": _joining("stack"),
    "scatter": _scatter,
    "put": _put,
    "reshape": _reshaped,
    "sum_to": _sum_to,
    "full": lambda *xs: np.broadcast_to(array(xs[-1]), numeric.shape(OPS["zeros"](*map(lower, xs[:-1])))),
    "linspace": _linspace,
    "arange": _arange,
    "var": _var,
    "std": lambda x, axis=None, ddof=0: each("sqrt", array(_var(x, axis, ddof))),
    "amax": lambda x, axis=None: np.max(array(x), axis=axis),
    "amin": lambda x, axis=None: np.min(array(x), axis=axis),
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "norm": _norm,
    "normalized": _normalized,
    "dual": _dual,
    "leave_out": _leave_out,
    "matmul": _joining("matmul"),
    "dot": _joining("dot"),
    "outer": _joining("outer"),
    "cross": _joining("cross"),
    "kron": _joining("kron"),
    "det": _det,
    "cofactor": _cofactor,
    "logdet": _logdet,
    "inv": lambda a: _solve(a, np.eye(len(_square(a)))),
    "triangular_inverse": lambda a: _solve(np.tril(_square(a)), np.eye(len(_square(a)))),
    "solve": _solve,
    "cholesky": _cholesky,
    "eigvalsh": lambda a: _eigen(a)[0],
    "eigenvectors": lambda a: _eigen(a)[1],
    **{
        name: _plain(name)
        for name in (
            *("index", "broadcast", "expand", "sum_axes", "moveaxis", "flatten", "transpose", "swap"),
            *("sum", "mean", "prod", "cumsum", "cumprod", "flip", "trace", "diag"),
        )
    },
}
"""Rows that are not entry by entry."""


def _operators() -> None:
    binary = {
        "add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "floordiv": "floordiv", "mod": "mod",
        "pow": "pow", "matmul": "matmul",
    }  # fmt: skip
    for name, method in binary.items():
        setattr(Extended, f"__{method}__", lambda self, other, op=OPS[name]: op(self, other))
        setattr(Extended, f"__r{method}__", lambda self, other, op=OPS[name]: op(other, self))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Extended, f"__{name}__", lambda self, other, op=OPS[name]: op(self, other))
    for name in ("neg", "pos", "abs"):
        setattr(Extended, f"__{name}__", lambda self, op=OPS[name]: op(self))


_operators()
