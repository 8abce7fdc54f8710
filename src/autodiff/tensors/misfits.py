"""Why operands do not go together, in PyTorch's words."""

from __future__ import annotations

from itertools import zip_longest

from autodiff import numeric
from autodiff.errors import ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from autodiff.ops.record import Op


class RangeError(ShapeError, IndexError):
    """An axis or an index that is not there."""


class CountError(ShapeError, ValueError):
    """Not as many entries as are wanted."""


def explained(op: Op, values: Sequence[Any], error: ShapeError) -> ShapeError:
    """The error of a row for these operands: of the shapes, where two do not fit; else as the row says it."""
    shapes = [numeric.shape(x) for x in values]
    if len(shapes) == 2:
        said = None
        if op.elementwise:
            said = _sizes(*shapes)
        elif op.name == "matmul" and all(shapes):
            said = _product(*shapes)
        if said is not None:
            return ShapeError(said)
    return error


def _sizes(a: tuple[int, ...], b: tuple[int, ...]) -> str | None:
    """Of shapes that do not broadcast: the last axis along which they differ."""
    rank = max(len(a), len(b))
    for back, (m, n) in enumerate(zip_longest(reversed(a), reversed(b), fillvalue=1)):
        if m != n and 1 not in (m, n):
            return (
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) "
                f"at non-singleton dimension {rank - 1 - back}"
            )
    return None


def _product(a: tuple[int, ...], b: tuple[int, ...]) -> str | None:
    """Of matrices and vectors that can't be multiplied."""
    m, n = a[-1], b[-2:][0]
    if m == n:
        return None
    if len(a) == len(b) == 1:
        return f"inconsistent tensor size, expected tensor [{m}] and src [{n}] to have the same number of elements"
    if len(b) == 1:
        return f"size mismatch, got input ({a[-2]}), mat ({a[-2]}x{m}), vec ({n})"
    rows = a[-2] if len(a) > 1 else 1
    return f"mat1 and mat2 shapes cannot be multiplied ({rows}x{m} and {n}x{b[-1]})"


def outside(items: Sequence[Any], shape: tuple[int, ...]) -> str | None:
    """Of an index, an item for each axis: what is wrong with it."""
    if not shape:
        return "invalid index of a 0-dim tensor"
    if len(items) > len(shape):
        return f"too many indices for tensor of dimension {len(shape)}"
    for axis, (item, n) in enumerate(zip(items, shape, strict=False)):
        places = () if item.__class__ is slice or item.__class__ is bool else numeric.numpy().asarray(item)
        if len(places := numeric.numpy().ravel(places)) and places.dtype.kind == "i":
            wrong = places[(places < -n) | (places >= n)]
            if len(wrong):
                return f"index {wrong[0]} is out of bounds for dimension {axis} with size {n}"
    return None
