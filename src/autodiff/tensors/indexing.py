"""Functions of tensors that pick entries by their places, or put others there."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.compose import axis_of, run, shape_of, whole
from autodiff.tensors.dtypes import KindError, dtype_of
from autodiff.tensors.misfits import RangeError, outside
from autodiff.tensors.shapes import flatten, movedim, reshape, transpose
from autodiff.tensors.tensor import Tensor, plain, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def _axes(item: Any) -> int:
    """How many axes an item of an index takes: a mask all that it has."""
    return int(item.ndim) if numeric.is_array(item) and item.dtype.kind == "b" else 1


def pick(x: Any, index: tuple[Any, ...]) -> Any:
    """x[index], where the index may hold None (a new axis) and `...` (all axes not named).

    >>> pick(tensor([[1.0, 2.0], [3.0, 4.0]]), (..., 0))
    tensor([1., 3.])
    """
    items = list(index)
    named = sum(_axes(i) for i in items if i is not None and i is not ...)
    spots = [k for k, i in enumerate(items) if i is ...]
    if len(spots) > 1:
        raise RangeError("an index holds '...' at most once")
    rank = len(shape_of(x))
    if spots:
        items[spots[0] : spots[0] + 1] = [slice(None)] * (rank - named)
    if any(i is None for i in items):
        shape = list(shape_of(x))
        at = 0
        for k, i in enumerate(items):
            if i is None:
                shape.insert(at, 1)
                items[k] = slice(None)
            at += _axes(i)
        x = reshape(x, *shape)
    if not items:
        return x
    try:
        return run("index", x, index=tuple(items))
    except RangeError:
        raise
    except ShapeError as error:
        raise RangeError(outside(items, shape_of(x)) or error.message, help=error.help) from None


def take_along(x: Any, places: Any, dim: int) -> Tensor:
    """The entries at given places along an axis, by an array of places of the same rank.

    >>> take_along(tensor([1.0, 2.0, 3.0]), whole([2, 0]), 0)
    tensor([3., 1.])
    """
    np = numeric.numpy()
    if not shape_of(x):
        return x if x.__class__ is Tensor else wrap(plain(x))
    index: list[Any] = list(np.ogrid[tuple(slice(n) for n in places.shape)])
    index[dim] = places
    return run("index", x, index=tuple(index))


def take(x: Any, index: Any) -> Tensor:
    """The entries at places in row-major order.

    >>> take(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([0, 3]))
    tensor([1., 4.])
    """
    return run("index", flatten(x), index=(whole(index),))


def narrow(x: Any, dim: int, start: int, length: int) -> Tensor:
    """`length` entries along an axis from `start` on.

    >>> narrow(tensor([1.0, 2.0, 3.0]), 0, 1, 2)
    tensor([2., 3.])
    """
    return run("index", x, index=(slice(None),) * axis_of(dim, len(shape_of(x))) + (slice(start, start + length),))


def select(x: Any, dim: int, index: int) -> Tensor:
    """One place along an axis.

    >>> select(tensor([[1.0, 2.0], [3.0, 4.0]]), 0, 1)
    tensor([3., 4.])
    """
    return run("index", x, index=(slice(None),) * axis_of(dim, len(shape_of(x))) + (int(index),))


def unbind(x: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis, without it.

    >>> unbind(tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    return tuple(select(x, dim, k) for k in range(shape_of(x)[axis_of(dim, len(shape_of(x)))]))


def index_select(x: Any, dim: int, index: Any) -> Tensor:
    """The places of a list along an axis.

    >>> index_select(tensor([1.0, 2.0, 3.0]), 0, [0, 2])
    tensor([1., 3.])
    """
    return pick(x, (slice(None),) * axis_of(dim, len(shape_of(x))) + (whole(index),))  # type: ignore[no-any-return]


def gather(x: Any, dim: int, index: Any) -> Tensor:
    """out[i, j] = x[index[i, j], j] for dim 0, and so on for the others.

    >>> gather(tensor([[1.0, 2.0], [3.0, 4.0]]), 1, tensor([[0], [1]]))
    tensor([[1.],
            [4.]])
    """
    places = whole(index)
    if places.ndim != len(shape_of(x)):
        raise ShapeError(f"gather wants indices of {len(shape_of(x))} axes, not {places.ndim}")
    return take_along(x, places, axis_of(dim, places.ndim))


def masked_select(x: Any, mask: Any) -> Tensor:
    """The entries where the mask is true, in one row.

    >>> masked_select(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]) > 1)
    tensor([2., 3.])
    """
    return run("index", x, index=(numeric.numpy().asarray(raw_of(mask)) != 0,))


def unfold(x: Any, dimension: int, size: int, step: int = 1) -> Tensor:
    """All stretches of a size along an axis, as one more axis at the end.

    >>> unfold(tensor([1.0, 2.0, 3.0]), 0, 2)
    tensor([[1., 2.],
            [2., 3.]])
    """
    axis = axis_of(dimension, len(shape_of(x)))
    np = numeric.numpy()
    starts = np.arange(0, shape_of(x)[axis] - size + 1, step)
    made = run("index", x, index=(slice(None),) * axis + (starts[:, None] + np.arange(size),))
    return movedim(made, axis + 1, len(shape_of(made)) - 1)


def as_strided(x: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0) -> Tensor:
    """Entries of x in their order, a given number of steps apart along each axis of the result.

    >>> as_strided(tensor([1.0, 2.0, 3.0, 4.0]), (2, 2), (1, 2))
    tensor([[1., 3.],
            [2., 4.]])
    """
    np = numeric.numpy()
    places = np.full(tuple(size), storage_offset)
    for axis, (n, step) in enumerate(zip(size, stride, strict=True)):
        places += (np.arange(n) * step).reshape(-1, *(1,) * (len(size) - axis - 1))
    return run("index", reshape(x, -1), index=(places,))


def flip(x: Any, *axes: Any, dims: Any = None) -> Tensor:
    """x backwards along axes.

    >>> flip(tensor([1.0, 2.0, 3.0]), 0)
    tensor([3., 2., 1.])
    """
    dims = axes if dims is None else (dims,)
    flat = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    turned = {axis_of(k, len(shape_of(x))) for k in flat}
    back = tuple(slice(None, None, -1) if k in turned else slice(None) for k in range(len(shape_of(x))))
    return run("index", x, index=back)


def roll(x: Any, shifts: Any, dims: Any = None) -> Tensor:
    """x turned round along axes (along the flat array if none are given).

    >>> roll(tensor([1.0, 2.0, 3.0]), 1)
    tensor([3., 1., 2.])
    """
    if dims is None:
        return reshape(roll(flatten(x), shifts, 0), *shape_of(x))
    pairs = zip(shifts, dims, strict=True) if isinstance(dims, (tuple, list)) else ((shifts, dims),)
    np = numeric.numpy()
    for shift, dim in pairs:
        x = index_select(x, dim, np.roll(np.arange(shape_of(x)[dim]), shift))
    return x  # type: ignore[no-any-return]


def rot90(x: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """x turned by k quarters from the first of two axes towards the second.

    >>> rot90(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [1., 3.]])
    """
    a, b = dims
    for _ in range(k % 4):
        x = transpose(flip(x, b), a, b)
    return x


def _spots(places: Any, dim: int) -> tuple[Any, ...]:
    index: list[Any] = list(numeric.numpy().ogrid[tuple(slice(n) for n in places.shape)])
    index[dim] = places
    return tuple(index)


def scatter(x: Any, dim: int, index: Any, src: Any) -> Tensor:
    """x with out[index[i, j], j] = src[i, j] for dim 0, and so on for the others.

    >>> scatter(tensor([0.0, 0.0]), 0, tensor([1]), 5.0)
    tensor([0., 5.])
    """
    places = whole(index)
    src = src if not shape_of(src) else pick(src, tuple(slice(n) for n in places.shape))
    return run("put", x, src, index=_spots(places, axis_of(dim, places.ndim)))


def scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    """x with src added where scatter would put it.

    >>> scatter_add(tensor([0.0, 0.0]), 0, tensor([1, 1]), tensor([2.0, 3.0]))
    tensor([0., 5.])
    """
    places = whole(index)
    src = pick(src, tuple(slice(n) for n in places.shape))
    return x + run("scatter", src, index=_spots(places, axis_of(dim, places.ndim)), shape=shape_of(x))


NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}


def scatter_reduce(x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """x with what scatter would put there reduced by "sum", "prod", "mean", "amax" or "amin".

    Without `include_self` the entries of x that something is put into do not count.

    >>> scatter_reduce(tensor([1.0, 5.0]), 0, tensor([0, 0, 1]), tensor([2.0, 3.0, 4.0]), "amax")
    tensor([3., 5.])
    """
    if reduce not in NEUTRAL:
        raise KindError(f"reduce is one of {', '.join(NEUTRAL)}, not '{reduce}'")
    np = numeric.numpy()
    places, axis = whole(index), axis_of(dim, len(shape_of(x)))
    neutral = NEUTRAL[reduce]
    counts = np.full(shape_of(x), float(include_self))
    np.add.at(counts, _spots(places, axis), 1.0)
    if not include_self:
        x = run("put", x, neutral, index=_spots(places, axis))
    name = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}[reduce]
    for k in range(places.shape[axis]):  # a slice puts into each place once
        at = tuple(slice(k, k + 1) if j == axis else slice(n) for j, n in enumerate(places.shape))
        spread = run("put", np.full(shape_of(x), neutral), pick(src, at), index=_spots(places[at], axis))
        x = run(name, x, spread)
    return x / np.where(counts, counts, 1.0) if reduce == "mean" else x


def index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
    """x with parts of source added at the places of a list along an axis.

    >>> index_add(tensor([0.0, 0.0]), 0, [1, 1], tensor([2.0, 3.0]))
    tensor([0., 5.])
    """
    at = (slice(None),) * axis_of(dim, len(shape_of(x))) + (whole(index),)
    return x + run("scatter", source if alpha == 1 else source * alpha, index=at, shape=shape_of(x))


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Tensor:
    """x with a value at the places of a list along an axis.

    >>> index_fill(tensor([1.0, 2.0, 3.0]), 0, [0, 2], 7.0)
    tensor([7., 2., 7.])
    """
    return run("put", x, value, index=(slice(None),) * axis_of(dim, len(shape_of(x))) + (whole(index),))


def index_copy(x: Any, dim: int, index: Any, source: Any) -> Tensor:
    """x with the slices of another tensor at the places of a list along an axis.

    >>> index_copy(tensor([1.0, 2.0, 3.0]), 0, [2, 0], tensor([7.0, 8.0]))
    tensor([8., 2., 7.])
    """
    return index_fill(x, dim, index, source)


def index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """x with values at indices (an array for each axis), or added there.

    >>> index_put(tensor([0.0, 0.0]), (tensor([1]),), 5.0)
    tensor([0., 5.])
    """
    places = tuple(raw_of(k) if dtype_of(raw_of(k)).kind == "b" else whole(k) for k in indices)
    if not accumulate:
        return run("put", x, values, index=places)
    spread = run("broadcast", values, shape=numeric.numpy().zeros(shape_of(x))[places].shape)
    return x + run("scatter", spread, index=places, shape=shape_of(x))


def masked_fill(x: Any, mask: Any, value: Any) -> Tensor:
    """x with a value where the mask is true.

    >>> masked_fill(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]) > 1, 0.0)
    tensor([1., 0., 0.])
    """
    return run("where", mask, value, x)


def masked_scatter(x: Any, mask: Any, source: Any) -> Tensor:
    """x with the first entries of another tensor where the mask is true; ShapeError if there are too few.

    >>> masked_scatter(tensor([1.0, 2.0, 3.0]), tensor([True, False, True]), tensor([7.0, 8.0, 9.0]))
    tensor([7., 2., 8.])
    """
    np = numeric.numpy()
    places = np.nonzero(np.broadcast_to(np.asarray(raw_of(mask)) != 0, shape_of(x)))
    wanted, there = len(places[0]), math.prod(shape_of(source))
    if there < wanted:
        raise ShapeError(f"the mask is true at {wanted} places, but the source has {there} entries")
    return run("put", x, reshape(source, -1)[:wanted], index=places)
