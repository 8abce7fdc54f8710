"""Arrays that a freed graph had to itself, kept for the next graph of the same shapes.

Memory fresh from the system costs a page fault every 4 kB, at 10^5 entries more than the arithmetic; whoever
differentiates again and again needs the same arrays again and again.
"""

from __future__ import annotations

import math
import sys

from autodiff.numeric import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

BLOCK = 8192  # entries: 64 kB an array, some ten of them at once
SMALL = 1 << 14  # entries; below this the allocator keeps memory itself
LARGE = 1 << 21  # above this the system hands out large pages
MOST = 1 << 27  # bytes kept in all

_free: dict[tuple[int, ...], list[Any]] = {}
_held = [0]


def take(shape: tuple[int, ...], size: int) -> Any:
    """An array of the shape to be overwritten, None if there is none."""
    if not _held[0] or not SMALL <= size <= LARGE:
        return None
    kept = _free.get(shape)
    if not kept:
        return None
    found = kept.pop()
    _held[0] -= found.nbytes
    return found


def put_back(x: Any) -> None:
    """Keep an array that nobody will read again."""
    if SMALL <= x.size <= LARGE and x.base is None and x.flags.c_contiguous and _held[0] + x.nbytes <= MOST:
        _free.setdefault(x.shape, []).append(x)
        _held[0] += x.nbytes


class Owner:
    """What a tensor of a large array holds beside it: when the tensor goes, an array nobody else has is kept."""

    __slots__ = ("array",)
    array: Any

    def __del__(self) -> None:
        try:
            if sys.getrefcount(self.array) == alone[0]:
                put_back(self.array)
        except (AttributeError, TypeError):
            pass  # the interpreter is going down


alone = [0]
"""References to an array that only a dying tensor and its owner have, as Owner counts them."""


def owner_of(array: Any) -> Owner:
    """The owner for a tensor's large array."""
    made = Owner()
    made.array = array
    if not alone[0]:
        # what Owner will see: itself, the tensor, and its own call, which is one less or none by Python's version
        probe = Owner()
        probe.array = [object()]
        alone[0] = sys.getrefcount(probe.array) + 1
        del probe.array
    return made


def give(nodes: Iterable[Any]) -> None:
    """Keep those of the arrays saved by nodes about to be freed that nobody else holds."""
    uses: dict[int, int] = {}
    arrays: dict[int, Any] = {}
    for fn in nodes:
        for x in (*fn.inputs[1::2], fn.y):
            if hasattr(x, "dtype") and SMALL <= x.size <= LARGE and x.base is None and x.dtype.kind == "f":
                key = id(x)
                uses[key] = uses.get(key, 0) + 1
                arrays[key] = x
    for key in uses:
        x = arrays.pop(key)
        # besides the nodes' references, `x` and the call's own
        if sys.getrefcount(x) == uses[key] + 2:
            put_back(x)


def result_of(ufunc: Any, *xs: Any) -> Any:
    """ufunc(*xs) of floats and float arrays, into a kept array where one fits."""
    shape: Any = None
    if ufunc is numpy().matmul:
        a, b = xs
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            return ufunc(a, b)
        xs, shape = (a, b), (a.shape[0], b.shape[1])
    for x in xs if shape is None else ():
        if x.__class__ is not float:
            if shape is None:
                shape = x.shape
            elif x.shape != shape:
                try:
                    shape = numpy().broadcast_shapes(shape, x.shape)
                except ValueError:
                    return ufunc(*xs)  # which says what does not fit
    out = take(shape, math.prod(shape))
    return ufunc(*xs) if out is None else ufunc(*xs, out)


def in_blocks(rule: Any, g: Any, y: Any, xs: Sequence[Any]) -> Any:
    """rule(g, y, *xs) of one large shape, block by block: what it computes in between stays in the cache."""
    shape = g.shape
    flat = []
    for x in (g, y, *xs):
        whole = x.__class__ is not float and x.__class__ is not tuple and x is not None
        if whole and x.shape != shape:
            return rule(g, y, *xs)
        flat.append(x.ravel() if whole and any(x.strides) else x.flat[0] if whole else x)
    out = take(shape, g.size)
    if out is None:
        out = numpy().empty(shape)
    line = out.ravel()
    for low in range(0, g.size, BLOCK):
        high = low + BLOCK
        line[low:high] = rule(*(x[low:high] if getattr(x, "ndim", 0) else x for x in flat))
    return out


def ufunc_of(op: Any) -> Any:
    """The NumPy ufunc that is the row's array form, None if it is none."""
    np = numpy()
    found = getattr(np, getattr(op.array, "numpy_name", UFUNCS.get(op.name, "")), None)
    return found if isinstance(found, np.ufunc) else None


UFUNCS = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "matmul": "matmul"}
