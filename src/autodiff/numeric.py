"""Raw values: IEEE doubles and NumPy arrays, told apart here; the one file that fetches NumPy for the core.

An array can only exist if NumPy is loaded already, so `numpy()` costs nothing where it is needed.
"""

from __future__ import annotations

import math
from _thread import _local  # threading's own, without the rest of threading
from collections.abc import Callable, Collection, Iterator
from functools import wraps
from sys import modules

from autodiff.errors import LimitError, ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, TypeVar

    Rule = TypeVar("Rule", bound=Callable[..., Any])

inf = math.inf
nan = math.nan
LARGEST = 2**31  # bytes of one array; more is taken for a slip of the pen


def numpy() -> ModuleType:
    """The NumPy module, imported at the first array."""
    import numpy

    return numpy


def special() -> ModuleType:
    """scipy.special, imported at the first function that has no form of its own here."""
    import scipy.special

    module: ModuleType = scipy.special
    return module


def is_array(x: object) -> bool:
    """Whether x is a NumPy array (scalars are Python floats); a tensor has a dtype, but no strides."""
    return hasattr(x, "strides")


class _Quiet(_local):
    """How many functions with NumPy's warnings off this thread is in."""

    depth = 0


quiet = _Quiet()


def quietly(function: Rule) -> Rule:
    """The function, with NumPy's warnings off: nan and infinities are answers here, and noted elsewhere."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        np = modules.get("numpy")
        if quiet.depth or np is None or not hasattr(np, "errstate"):
            return function(*args, **options)
        with np.errstate(all="ignore"):
            quiet.depth += 1
            try:
                return function(*args, **options)
            finally:
                quiet.depth -= 1

    return call  # type: ignore[return-value]


def shape(x: Any) -> tuple[int, ...]:
    """Shape of a raw value: () for a float."""
    return getattr(x, "shape", ())


def raw(x: Any) -> Any:
    """The canonical form of a value: float, bool, or an array of one or more dimensions."""
    if x.__class__ is float or x.__class__ is bool:
        return x
    if hasattr(x, "strides"):
        if x.ndim:
            return x if x.dtype.kind in "bf" else x.astype(float)
        return bool(x) if x.dtype.kind == "b" else float(x)
    return x if hasattr(x, "op_rank") else float(x)  # a formula is its own value


def known(x: Any) -> Any:
    """The raw value of an operand of any kind that has one."""
    while hasattr(x, "value"):
        x = x.value
    return x[0] if hasattr(x, "coefficients") else x


def real(x: Any) -> Any:
    """The value as numbers: true and false become 1 and 0."""
    if x.__class__ is float:
        return x
    if hasattr(x, "strides"):
        return x if x.dtype.kind == "f" else x.astype(float)
    return float(x)


def is_nan(x: Any) -> bool:
    """Whether a scalar is, or an array holds, nan."""
    if hasattr(x, "strides"):
        return bool(numpy().isnan(x).any())
    return bool(x != x)


def is_finite(x: Any) -> bool:
    """Whether a scalar or every entry of an array is finite; entries may be numbers of other systems."""
    if hasattr(x, "strides"):
        try:
            return bool(numpy().isfinite(x).all())
        except TypeError:
            return not (x - x).any()
    return math.isfinite(x)


def surely_finite(values: Collection[Any]) -> bool:
    """Whether floats and arrays are all finite, seen quickly; beyond about 1e154 it may deny it for nothing."""
    numbers = [x for x in values if x.__class__ is float]
    total = sum(numbers)
    if len(numbers) < len(values):
        return _surely_finite([x for x in values if x.__class__ is not float], total)
    return total - total == 0.0


@quietly
def _surely_finite(arrays: list[Any], total: float) -> bool:
    for x in arrays:
        # the product of a short vector with itself; of a long one BLAS would wake its threads
        flat = x.ravel()
        total += float(flat.dot(flat) if flat.size < 5000 else flat.max() - flat.min())
    return total - total == 0.0


def entries(x: Any) -> Iterator[float]:
    """All numbers of a value in row-major order."""
    return iter(x.ravel().tolist()) if hasattr(x, "strides") else iter((float(x),))


def places(x: Any) -> list[tuple[int, ...]]:
    """The places of all entries of a value in row-major order: () alone for a number."""
    return list(numpy().ndindex(x.shape)) if is_array(x) else [()]


def units(shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """All places of a shape in row-major order, each with the value of that shape that is 1 there and 0 elsewhere."""
    if not shape:
        yield (), 1.0
        return
    np = numpy()
    for place in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[place] = 1.0
        yield place, unit


def total(
    function: Callable[..., float], overflow: float = inf, outside: Callable[..., float] | None = None
) -> Callable[..., float]:
    """`math` functions raise where IEEE has an answer; this one answers.

    Outside its domain the function gives `outside(*xs)`, nan if there is none; on overflow `overflow`.
    """

    def answer(*xs: float) -> float:
        try:
            return function(*xs)
        except ValueError:
            return nan if outside is None else outside(*xs)
        except OverflowError:
            return overflow

    answer.raising = function  # type: ignore[attr-defined]  # for code that is written out
    return answer


def each(function: Callable[..., float]) -> Callable[..., Any]:
    """The array form of a scalar function: entry by entry, so that both agree to the last bit."""

    def over(*xs: Any) -> Any:
        return numpy().frompyfunc(function, len(xs), 1)(*(real(x) for x in xs)).astype(float)

    return over


def from_numpy(name: str) -> Callable[..., Any]:
    """The array form of an operation by its NumPy name, looked up when first called."""

    def call(*xs: Any) -> Any:
        return getattr(numpy(), name)(*xs)

    call.numpy_name = name  # type: ignore[attr-defined]  # for code that is written out
    return call


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Shape that all broadcast to, as in NumPy; ShapeError if there is none."""
    try:
        found: tuple[int, ...] = numpy().broadcast_shapes(*shapes)
        return found
    except ValueError:
        raise ShapeError(f"shapes {' and '.join(map(str, shapes))} do not broadcast together") from None


def sum_to(x: Any, target: tuple[int, ...]) -> Any:
    """Sum x over the axes along which an operand of shape `target` was repeated."""
    found = shape(x)
    if found == target:
        return x
    np = numpy()
    if not target:
        return float(np.sum(x))
    if len(found) < len(target):
        return np.broadcast_to(x, target)
    lead = len(found) - len(target)
    axes = (*range(lead), *(i + lead for i, n in enumerate(target) if n == 1 and found[i + lead] != 1))
    x = np.sum(x, axis=axes) if axes else x
    return x.reshape(target) if x.size == math.prod(target) else np.broadcast_to(x, target)


def guard_size(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions, unless an array of them would not fit into memory for a sensible purpose."""
    if math.prod(dimensions) * 8 > LARGEST:
        raise LimitError(
            f"an array of shape {dimensions} needs {math.prod(dimensions) * 8 / 2**30:.3g} GiB; the limit is 2 GiB"
        )
    return dimensions
