"""Arrays of formulas: every entry is a formula or a number of its own, and ops act entry by entry.

Their values are those of the rows, written out: sums as sums, determinants by minors. NumPy's object arrays
do the indexing and the broadcasting.
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import product as indices

from autodiff.errors import ComputationError, ShapeError
from autodiff.numeric import numpy
from autodiff.ops.record import OPS, Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

LARGEST = 4  # rows of a matrix whose determinant is written out


class Entries:
    """An array of formulas and floats, of one or more dimensions."""

    __slots__ = ("array",)
    op_rank = 1.5
    __array_ufunc__ = None

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    @staticmethod
    def apply_op(op: Op, xs: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
        """The op of arrays of formulas, formulas, arrays and floats; ComputationError if it has no such form."""
        arrays = [objects(x) for x in xs]
        try:
            if op.name in FORMS:
                return settled(FORMS[op.name](*arrays, **params))
            if op.elementwise and not params:
                return settled(numpy().frompyfunc(op, len(xs), 1)(*arrays))
        except (ValueError, IndexError) as error:
            raise ShapeError(op.refusal([x for x in xs if hasattr(x, "shape")], error)) from None
        raise ComputationError(f"{op.name} of an array has no formula", help="write it out, or use jac for numbers")


def objects(x: Any) -> Any:
    """An operand as an object array."""
    np = numpy()
    if isinstance(x, Entries):
        return x.array
    if hasattr(x, "dtype"):
        return x if x.dtype == object else x.astype(object)
    array = np.empty((), dtype=object)
    array[()] = x
    return array


def settled(found: Any) -> Any:
    """A result as an operand: an array, or its only entry."""
    if getattr(found, "shape", ()):
        return Entries(found)
    return found.item() if hasattr(found, "dtype") else found


def each(name: str) -> Callable[..., Any]:
    """A row's op, entry by entry."""

    def call(*xs: Any) -> Any:
        return numpy().frompyfunc(OPS[name], len(xs), 1)(*map(objects, xs))

    return call


def folded(name: str, x: Any, axis: Any) -> Any:
    """The entries along an axis, or all, joined by an op of two operands."""
    np = numpy()
    if axis is None:
        return reduce(OPS[name], x.ravel().tolist())
    if isinstance(axis, tuple):
        for one in sorted((a % x.ndim for a in axis), reverse=True):
            x = folded(name, x, one)
        return x
    return reduce(each(name), np.moveaxis(x, axis, 0))


def total(x: Any, axis: Any = None) -> Any:
    return folded("add", x, axis)


def mean(x: Any, axis: Any = None) -> Any:
    n = x.size if axis is None else x.shape[axis]
    return each("div")(total(x, axis), float(n))


def var(x: Any, axis: Any = None, ddof: int = 0) -> Any:
    n = x.size if axis is None else x.shape[axis]
    middle = numpy().expand_dims(mean(x, axis), axis) if axis is not None else mean(x)
    return each("div")(total(each("square")(each("sub")(x, middle)), axis), float(n - ddof))


def norm(x: Any, p: Any = None, axis: Any = None) -> Any:
    power = 2.0 if p is None else p.item()
    if power in (math.inf, -math.inf):
        return folded("max" if power > 0 else "min", each("abs")(x), axis)
    if power == 0.0:
        return total(each("ne")(x, 0.0), axis)
    if power == 2.0:
        return each("sqrt")(total(each("square")(x), axis))
    return each("pow")(total(each("pow")(each("abs")(x), power), axis), OPS["div"](1.0, power))


def softmax(x: Any, axis: int = -1) -> Any:
    e = each("exp")(x)
    return each("div")(e, numpy().expand_dims(total(e, axis), axis))


def matmul(a: Any, b: Any) -> Any:
    return numpy().matmul(a, b) if a.ndim and b.ndim else each("mul")(a, b)


def cross(a: Any, b: Any) -> Any:
    np = numpy()
    (a0, a1, a2), (b0, b1, b2) = a, b
    found = np.empty(3, dtype=object)
    found[:] = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    return found


def det(a: Any) -> Any:
    if a.ndim != 2 or len(a) != len(a[0]):
        raise ValueError(f"a determinant wants a square matrix, not shape {a.shape}")
    n = len(a)
    if n > LARGEST:
        raise ComputationError(f"a determinant of {n} rows is too long for a formula")
    if n == 1:
        return a[0, 0]
    found: Any = 0.0
    for j in range(n):
        found = found + (a[0, j] if j % 2 == 0 else -a[0, j]) * det(minor(a, 0, j))
    return found


def minor(a: Any, i: int, j: int) -> Any:
    np = numpy()
    return np.delete(np.delete(a, i, 0), j, 1)


def inv(a: Any) -> Any:
    np = numpy()
    whole = det(a)
    found = np.empty(a.shape, dtype=object)
    for i, j in indices(range(len(a)), repeat=2):
        part: Any = det(minor(a, j, i)) if len(a) > 1 else 1.0
        found[i, j] = OPS["div"](part if (i + j) % 2 == 0 else OPS["neg"](part), whole)
    return found


def listed(*xs: Any) -> Any:
    return numpy().stack(xs) if xs else numpy().empty(0, dtype=object)


def spaced(start: Any, stop: Any, n: Any) -> Any:
    count = int(n.item())
    steps = numpy().arange(count, dtype=float) / max(1, count - 1)
    return each("add")(start, each("mul")(each("sub")(stop, start), steps))


def reshaped(x: Any, *sizes: Any) -> Any:
    return x.reshape([int(n) for size in sizes for n in size.ravel().tolist()])


FORMS: dict[str, Callable[..., Any]] = {
    "list": listed,
    "stack": lambda *xs, axis=0: numpy().stack(xs if len(xs) > 1 else list(xs[0]), axis),
    "concat": lambda *xs, axis=0: numpy().concatenate(xs if len(xs) > 1 else list(xs[0]), axis),
    "index": lambda x, index: x[index],
    "reshape": reshaped,
    "flatten": lambda x: x.reshape(-1),
    "transpose": lambda x: x.T,
    "diag": lambda x: numpy().diag(x) if x.ndim == 2 else numpy().where(numpy().eye(len(x)) == 1, x, 0.0),
    "size": lambda x: float(x.size),
    "shape": lambda x: numpy().array([float(n) for n in x.shape]),
    "sum": total,
    "mean": mean,
    "prod": lambda x, axis=None: folded("mul", x, axis),
    "any": lambda x, axis=None: folded("or", x, axis),
    "all": lambda x, axis=None: folded("and", x, axis),
    "linspace": spaced,
    "var": var,
    "std": lambda x, axis=None, ddof=0: each("sqrt")(var(x, axis, ddof)),
    "norm": norm,
    "amax": lambda x, axis=None: folded("max", x, axis),
    "amin": lambda x, axis=None: folded("min", x, axis),
    "logsumexp": lambda x, axis=None: each("log")(total(each("exp")(x), axis)),
    "softmax": softmax,
    "log_softmax": lambda x, axis=-1: each("log")(softmax(x, axis)),
    "cumsum": lambda x, axis=-1: numpy().cumsum(x, axis),
    "cumprod": lambda x, axis=-1: numpy().cumprod(x, axis),
    "dot": matmul,
    "matmul": matmul,
    "outer": lambda a, b: numpy().multiply.outer(a, b),
    "cross": cross,
    "trace": lambda x: total(numpy().diag(x)),
    "det": det,
    "logdet": lambda x: OPS["log"](det(x)),
    "inv": inv,
    "solve": lambda a, b: matmul(inv(a), b),
    "kron": lambda a, b: numpy().kron(a, b),
}
