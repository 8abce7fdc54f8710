"""Arrays that a freed graph had to itself, kept for the next graph of the same shapes.

Memory fresh from the system costs a page fault every 4 kB, at 10^5 entries more than the arithmetic; whoever
differentiates again and again needs the same arrays again and again.
"""

from __future__ import annotations

import sys

from autodiff.numeric import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

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
        if sys.getrefcount(x) == uses[key] + 2 and x.flags.c_contiguous and _held[0] + x.nbytes <= MOST:
            _free.setdefault(x.shape, []).append(x)
            _held[0] += x.nbytes


def result_of(ufunc: Any, *xs: Any) -> Any:
    """ufunc(*xs) of floats and float arrays, into a kept array where one fits."""
    shape: Any = None
    size = 0
    for x in xs:
        if x.__class__ is not float:
            if shape is None:
                shape, size = x.shape, x.size
            elif x.shape != shape:
                return ufunc(*xs)
    out = take(shape, size)
    return ufunc(*xs) if out is None else ufunc(*xs, out)


def ufunc_of(op: Any) -> Any:
    """The NumPy ufunc that is the row's array form, None if it is none."""
    np = numpy()
    found = getattr(np, getattr(op.array, "numpy_name", UFUNCS.get(op.name, "")), None)
    return found if isinstance(found, np.ufunc) else None


UFUNCS = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative"}
