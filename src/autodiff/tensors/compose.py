"""Functions of tensors made of several rows: selecting, sorting, joining, sums of products, statistics."""

from __future__ import annotations

import math
from collections import namedtuple
from math import prod

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.ops import OPS
from autodiff.tensors.dtypes import KindError
from autodiff.tensors.tensor import Tensor, kept_kind, plain, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Extremes = namedtuple("Extremes", "values indices")
"""Entries along an axis and where they were."""
Extent = namedtuple("Extent", "min max")


class RangeError(ShapeError, IndexError):
    """An axis or an index that is not there."""


def run(name: str, *xs: Any, **params: Any) -> Tensor:
    """A row, by name, on tensors.

    >>> run("sin", tensor(0.0))
    tensor(0.)
    """
    made = Tensor.apply_op(OPS[name], xs, params)
    kind = kept_kind(name, raw_of(xs[0]))
    if kind is not None:
        made._value = kind(made._value)
    return made


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a tensor or of what can be one.

    >>> shape_of(tensor([1.0, 2.0, 3.0]))
    (3,)
    """
    return numeric.shape(raw_of(x))


def axis_of(dim: Any, rank: int) -> int:
    """An axis counted from the front; RangeError where there is none of that number.

    >>> axis_of(-1, 3)
    2
    """
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise RangeError(f"axis {dim} is out of range: the array has {rank}")
    return int(dim % max(rank, 1))


def whole(x: Any) -> Any:
    """Indices as an array of whole numbers.

    >>> whole(tensor([1.0]))
    array([1])
    """
    return numeric.numpy().asarray(raw_of(x)).astype("int64")


def take(x: Any, places: Any, dim: int) -> Tensor:
    """The entries at given places along an axis, by an array of places of the same rank.

    >>> take(tensor([1.0, 2.0, 3.0]), whole([2, 0]), 0)
    tensor([3., 1.])
    """
    np = numeric.numpy()
    if not shape_of(x):
        return x if x.__class__ is Tensor else wrap(plain(x))
    index: list[Any] = list(np.ogrid[tuple(slice(n) for n in places.shape)])
    index[dim] = places
    return run("index", x, index=tuple(index))


# Shapes.


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
        raise RangeError(error.message, help=error.help) from None


def reshape(x: Any, *sizes: Any) -> Tensor:
    """The entries in another shape; -1 stands for what is left.

    >>> reshape(tensor([1.0, 2.0, 3.0]), 3, 1)
    tensor([[1.],
            [2.],
            [3.]])
    """
    flat = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else [*sizes]
    total = prod(shape_of(x))
    known = prod(n for n in flat if n != -1)
    if flat.count(-1) > 1 or (-1 in flat and (not known or total % known)) or (-1 not in flat and known != total):
        raise ShapeError(f"{total} entries do not fill the shape ({', '.join(map(str, flat))})")
    if not flat:
        return run("index", x, index=(0,) * len(shape_of(x))) if shape_of(x) else x
    if not shape_of(x):
        return run("broadcast", x, shape=(1,) * len(flat))
    return run("reshape", x, *(float(n if n != -1 else total // known) for n in flat))


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Axes from start_dim to end_dim as one.

    >>> flatten(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 2., 3., 4.])
    """
    shape = shape_of(x) or (1,)
    a, b = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    return reshape(x, *shape[:a], prod(shape[a : b + 1]), *shape[b + 1 :])


def unsqueeze(x: Any, dim: int) -> Tensor:
    """x with a new axis of length 1.

    >>> unsqueeze(tensor([1.0, 2.0, 3.0]), 0)
    tensor([[1., 2., 3.]])
    """
    shape = list(shape_of(x))
    shape.insert(axis_of(dim, len(shape) + 1), 1)
    return reshape(x, *shape)


def squeeze(x: Any, dim: Any = None) -> Tensor:
    """x without axes of length 1, or without those given.

    >>> squeeze(tensor([[1.0, 2.0]]))
    tensor([1., 2.])
    """
    shape = shape_of(x)
    dims = range(len(shape)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    gone = {axis_of(k, len(shape)) for k in dims}
    return reshape(x, *(n for k, n in enumerate(shape) if not (k in gone and n == 1)))


def transpose(x: Any, *dims: Any) -> Tensor:
    """Axes in reverse order, or two of them exchanged.

    >>> transpose(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    if not dims or dims == (None,):
        return run("transpose", x)
    order = list(range(len(shape_of(x))))
    a, b = (axis_of(k, len(order)) for k in dims)
    if not order:
        return x if x.__class__ is Tensor else wrap(plain(x))
    order[a], order[b] = order[b], order[a]
    return permute(x, *order)


def permute(x: Any, *dims: Any) -> Tensor:
    """The axes in the order given.

    >>> permute(tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0)
    tensor([[1., 3.],
            [2., 4.]])
    """
    order = list(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else list(dims)
    rank = len(shape_of(x))
    order = [axis_of(axis, rank) for axis in order]
    if sorted(order) != list(range(rank)):
        raise ShapeError(f"permute wants each of {rank} axes once, not {order}")
    made: Any = x
    here = list(range(rank))
    for k, axis in enumerate(order):
        at = here.index(axis)
        if at != k:
            made = run("moveaxis", made, source=at, target=k)
            here.insert(k, here.pop(at))
    return made if made.__class__ is Tensor else wrap(plain(made))


def movedim(x: Any, source: int, destination: int) -> Tensor:
    """One axis moved to another place.

    >>> movedim(tensor([[1.0, 2.0], [3.0, 4.0]]), 0, 1)
    tensor([[1., 3.],
            [2., 4.]])
    """
    rank = len(shape_of(x))
    order = [k for k in range(rank) if k != axis_of(source, rank)]
    order.insert(axis_of(destination, rank), axis_of(source, rank))
    return permute(x, *order)


def expand(x: Any, *sizes: Any) -> Tensor:
    """x repeated to a shape, -1 where it stays.

    >>> expand(tensor([1.0, 2.0]), 2, 2)
    tensor([[1., 2.],
            [1., 2.]])
    """
    flat = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else [*sizes]
    shape = shape_of(x)
    lead = len(flat) - len(shape)
    if lead < 0:
        raise ShapeError(f"{len(flat)} sizes for an array of {len(shape)} axes")
    full = tuple(shape[k - lead] if n == -1 and k >= lead else n for k, n in enumerate(flat))
    return run("broadcast", x, shape=full)


def repeat(x: Any, *times: Any) -> Tensor:
    """Copies of x side by side, so many along each axis.

    >>> repeat(tensor([1.0, 2.0]), 2)
    tensor([1., 2., 1., 2.])
    """
    flat = list(times[0]) if len(times) == 1 and isinstance(times[0], (tuple, list)) else [*times]
    shape = (1,) * (len(flat) - len(shape_of(x))) + shape_of(x)
    flat = [1] * (len(shape) - len(flat)) + flat
    apart = reshape(x, *(m for n in shape for m in (1, n)))
    wide = run("broadcast", apart, shape=tuple(m for r, n in zip(flat, shape, strict=True) for m in (r, n)))
    return reshape(wide, *(r * n for r, n in zip(flat, shape, strict=True)))


def repeat_interleave(x: Any, repeats: Any, dim: Any = None) -> Tensor:
    """Each entry along an axis (of the flat array if none is given) so many times.

    >>> repeat_interleave(tensor([1.0, 2.0]), 2)
    tensor([1., 1., 2., 2.])
    """
    x = x if dim is not None else flatten(x)
    axis = axis_of(0 if dim is None else dim, len(shape_of(x)))
    np = numeric.numpy()
    return index_select(x, axis, np.repeat(np.arange(shape_of(x)[axis]), whole(repeats)))


def split(x: Any, size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a size along an axis, or of the sizes listed.

    >>> split(tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    axis = axis_of(dim, len(shape_of(x)))
    n = shape_of(x)[axis]
    sizes = list(size) if isinstance(size, (tuple, list)) else [size] * (n // size) + [n % size] * (n % size > 0)
    if sum(sizes) != n:
        raise ShapeError(f"parts of {sizes} do not make up the length {n}")
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    return tuple(narrow(x, axis, end - size, size) for end, size in zip(ends, sizes, strict=True))


def chunk(x: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """That many parts along an axis.

    >>> chunk(tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    return split(x, -(-shape_of(x)[axis_of(dim, len(shape_of(x)))] // chunks), dim)


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
    return take(x, places, axis_of(dim, places.ndim))


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


def index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
    """x with parts of source added at the places of a list along an axis.

    >>> index_add(tensor([0.0, 0.0]), 0, [1, 1], tensor([2.0, 3.0]))
    tensor([0., 5.])
    """
    at = (slice(None),) * axis_of(dim, len(shape_of(x))) + (whole(index),)
    return x + run("scatter", source if alpha == 1 else source * alpha, index=at, shape=shape_of(x))


def trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral along an axis by trapezoids.

    >>> trapezoid(tensor([0.0, 1.0, 2.0]))
    tensor(2.)
    """
    axis = axis_of(dim, len(shape_of(y)))
    n = shape_of(y)[axis] - 1
    middle = (narrow(y, axis, 0, n) + narrow(y, axis, 1, n)) * 0.5
    return run("sum", middle * (dx if x is None else diff(x, 1, -1 if len(shape_of(x)) == 1 else axis)), axis=axis)


def cdist(a: Any, b: Any, p: float = 2.0) -> Tensor:
    """Distances of the rows of a from the rows of b.

    >>> cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    return norm(run("sub", unsqueeze(a, -2), unsqueeze(b, -3)), p, -1)


def cov(x: Any, *, correction: int = 1) -> Any:
    """The covariances of variables, each a row of observations.

    >>> cov(tensor([[1.0, 3.0], [2.0, 6.0]]))
    tensor([[2., 4.],
            [4., 8.]])
    """
    apart = x - kept(run("mean", x, axis=1), x, 1)
    return run("matmul", apart, run("transpose", apart)) / float(shape_of(x)[1] - correction)


def column_stack(parts: Sequence[Any]) -> Tensor:
    """Vectors as columns beside each other.

    >>> column_stack([tensor([1.0, 2.0]), tensor([3.0, 4.0])])
    tensor([[1., 3.],
            [2., 4.]])
    """
    return concat([unsqueeze(atleast_1d(x), 1) if len(shape_of(x)) < 2 else x for x in parts], 1)


def masked_select(x: Any, mask: Any) -> Tensor:
    """The entries where the mask is true, in one row.

    >>> masked_select(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]) > 1)
    tensor([2., 3.])
    """
    return run("index", x, index=(numeric.numpy().asarray(raw_of(mask)) != 0,))


def masked_fill(x: Any, mask: Any, value: Any) -> Tensor:
    """x with a value where the mask is true.

    >>> masked_fill(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]) > 1, 0.0)
    tensor([1., 0., 0.])
    """
    return run("where", mask, value, x)


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


def tril(x: Any, diagonal: int = 0) -> Tensor:
    """The entries on and below a diagonal, others 0.

    >>> tril(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    return run("where", numeric.numpy().tri(*shape_of(x)[-2:], k=diagonal, dtype=bool), x, 0.0)


def triu(x: Any, diagonal: int = 0) -> Tensor:
    """The entries on and above a diagonal, others 0.

    >>> triu(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [0., 4.]])
    """
    return run("where", numeric.numpy().tri(*shape_of(x)[-2:], k=diagonal - 1, dtype=bool), 0.0, x)


def triangle(name: str) -> Any:
    """The function that gives the row and column numbers of a triangle of a matrix (tril_indices, triu_indices)."""

    def call(rows: int, columns: int, offset: int = 0) -> Tensor:
        np = numeric.numpy()
        lower = np.tri(rows, columns, k=offset - (name == "triu"), dtype=bool)
        return wrap(np.stack(np.nonzero(~lower if name == "triu" else lower)))

    return call


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


def diagonal(x: Any, offset: int = 0) -> Tensor:
    """The entries of a matrix on a diagonal.

    >>> diagonal(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    rows, columns = shape_of(x)[-2:]
    places = numeric.numpy().arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))))
    found: Tensor = pick(x, (..., places - min(offset, 0), places + max(offset, 0)))
    return found


def diag(x: Any, diagonal_: int = 0, **options: Any) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix.

    >>> diag(tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    offset = options.get("diagonal", options.get("k", diagonal_))
    if not offset:
        return run("diag", x)
    if len(shape_of(x)) == 2:
        return diagonal(x, offset)
    n = shape_of(x)[0] + abs(offset)
    places = numeric.numpy().arange(shape_of(x)[0])
    return run("put", numeric.numpy().zeros((n, n)), x, index=(places - min(offset, 0), places + max(offset, 0)))


def atleast_1d(x: Any) -> Tensor:
    """x with one axis at least.

    >>> atleast_1d(tensor(1.0))
    tensor([1.])
    """
    return reshape(x, 1) if not shape_of(x) else x


def atleast_2d(x: Any) -> Tensor:
    """x with two axes at least.

    >>> atleast_2d(tensor([1.0, 2.0, 3.0]))
    tensor([[1., 2., 3.]])
    """
    return reshape(x, 1, -1) if len(shape_of(x)) < 2 else x


def hstack(parts: Sequence[Any]) -> Tensor:
    """Parts side by side: along the second axis, vectors along their only one.

    >>> hstack([tensor([1.0]), tensor([2.0])])
    tensor([1., 2.])
    """
    parts = [atleast_1d(x) for x in parts]
    return concat(parts, min(1, len(shape_of(parts[0])) - 1))


def vstack(parts: Sequence[Any]) -> Tensor:
    """Parts below each other, vectors as rows.

    >>> vstack([tensor([1.0]), tensor([2.0])])
    tensor([[1.],
            [2.]])
    """
    return concat([atleast_2d(x) for x in parts], 0)


def concat(parts: Sequence[Any], dim: int = 0) -> Tensor:
    """Parts after each other along an axis.

    >>> concat([tensor([1.0]), tensor([2.0])])
    tensor([1., 2.])
    """
    return run("concat", *parts, axis=dim) if len(parts) > 1 else parts[0]


def meshgrid(*axes: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid, an array for each axis.

    >>> meshgrid(tensor([1.0, 2.0]), tensor([3.0]))
    (tensor([[1.],
            [2.]]), tensor([[3.],
            [3.]]))
    """
    axes = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    sizes = [prod(shape_of(x)) for x in axes]
    made = []
    for k, x in enumerate(axes):
        line = reshape(x, *(n if j == k else 1 for j, n in enumerate(sizes)))
        made.append(run("broadcast", line, shape=tuple(sizes)))
    return tuple(transpose(x, 0, 1) for x in made) if indexing == "xy" and len(axes) > 1 else tuple(made)


# Order.


def _sorted(x: Any, dim: int, descending: bool) -> Any:
    value = numeric.numpy().asarray(raw_of(x))
    return (-value if descending else value).argsort(axis=dim, kind="stable") if value.ndim else whole(0.0)


def sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """(values, indices) in ascending order along an axis; the gradient goes where each entry came from.

    >>> sort(tensor([2.0, 1.0]))
    Extremes(values=tensor([1., 2.]), indices=tensor([1, 0]))
    """
    axis = axis_of(dim, len(shape_of(x)))
    order = _sorted(x, axis, descending)
    return Extremes(take(x, order, axis), wrap(order))


def argsort(x: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of the entries in ascending order along an axis.

    >>> argsort(tensor([2.0, 1.0]))
    tensor([1, 0])
    """
    return wrap(_sorted(x, axis_of(dim, len(shape_of(x))), descending))


def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the k largest along an axis.

    >>> topk(tensor([1.0, 2.0, 3.0]), 2)
    Extremes(values=tensor([3., 2.]), indices=tensor([2, 1]))
    """
    axis = axis_of(dim, len(shape_of(x)))
    order = _sorted(x, axis, largest)[(slice(None),) * axis + (slice(k),)]
    return Extremes(take(x, order, axis), wrap(order))


def kthvalue(x: Any, k: int, dim: int = -1) -> Any:
    """(value, index) of the k-th smallest along an axis, counted from 1.

    >>> kthvalue(tensor([1.0, 2.0, 3.0]), 2)
    Extremes(values=tensor(2.), indices=tensor(1))
    """
    axis = axis_of(dim, len(shape_of(x)))
    order = _sorted(x, axis, False)[(slice(None),) * axis + (slice(k - 1, k),)]
    return Extremes(squeeze(take(x, order, axis), axis), wrap(order.squeeze(axis)))


def median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The middle entry, the lower of two; with dim (values, indices) along it.

    >>> median(tensor([1.0, 2.0, 3.0]))
    tensor(2.)
    """
    if dim is None:
        x = flatten(x)
        return kthvalue(x, (shape_of(x)[0] + 1) // 2, 0).values
    axis = axis_of(dim, len(shape_of(x)))
    found = kthvalue(x, (shape_of(x)[axis] + 1) // 2, axis)
    return Extremes(*(unsqueeze(part, axis) for part in found)) if keepdim else found


def quantile(x: Any, q: float, dim: Any = None) -> Tensor:
    """The q-quantile, between entries by a straight line.

    >>> quantile(tensor([1.0, 2.0, 3.0]), 0.25)
    tensor(1.5000)
    """
    line = flatten(x) if dim is None else x
    axis = axis_of(0 if dim is None else dim, len(shape_of(line)))
    ordered = sort(line, axis).values
    at = float(raw_of(q)) * (shape_of(line)[axis] - 1)
    low = select(ordered, axis, math.floor(at))
    return low + (select(ordered, axis, math.ceil(at)) - low) * (at - math.floor(at))


def _place(name: str, x: Any, dim: Any, keepdim: bool) -> Tensor:
    value = numeric.numpy().asarray(raw_of(x))
    if dim is not None:
        dim = axis_of(dim, value.ndim)
    found = getattr(value, name)(axis=dim) if value.ndim else whole(0.0)
    found = numeric.numpy().asarray(found)
    if keepdim:
        found = found.reshape([1 if dim in (None, k) else n for k, n in enumerate(value.shape)])
    return wrap(found)


def argmax(x: Any, dim: Any = None, keepdim: bool = False, axis: Any = None) -> Tensor:
    """Where the largest entry is: in row-major order, or along an axis.

    >>> argmax(tensor([1.0, 2.0, 3.0]))
    tensor(2)
    """
    return _place("argmax", x, dim if axis is None else axis, keepdim)


def argmin(x: Any, dim: Any = None, keepdim: bool = False, axis: Any = None) -> Tensor:
    """Where the smallest entry is: in row-major order, or along an axis.

    >>> argmin(tensor([1.0, 2.0, 3.0]))
    tensor(0)
    """
    return _place("argmin", x, dim if axis is None else axis, keepdim)


def extremes(name: str, x: Any, dim: int, keepdim: bool) -> Any:
    """(values, indices) of the largest or smallest entries along an axis; ties share the gradient."""
    axis = axis_of(dim, len(shape_of(x)))
    values = run("a" + name, x, axis=axis) if shape_of(x) else x
    indices = _place("arg" + name, x, axis, False)
    return (
        Extremes(unsqueeze(values, axis), wrap(numeric.numpy().expand_dims(indices._value, axis)))
        if keepdim
        else (Extremes(values, indices))
    )


def aminmax(x: Any, *, dim: Any = None) -> Any:
    """(min, max) of all entries, or along an axis.

    >>> aminmax(tensor([1.0, 2.0, 3.0]))
    Extent(min=tensor(1.), max=tensor(3.))
    """
    params = {} if dim is None else {"axis": dim}
    return Extent(run("amin", x, **params), run("amax", x, **params))


def nonzero(x: Any) -> Tensor:
    """The indices of the entries that are not 0, a row each.

    >>> nonzero(tensor([0.0, 2.0]))
    tensor([[1]])
    """
    return wrap(numeric.numpy().argwhere(numeric.numpy().asarray(raw_of(x))))


def count_nonzero(x: Any, dim: Any = None) -> Tensor:
    """How many entries are not 0.

    >>> count_nonzero(tensor([0.0, 2.0]))
    tensor(1.)
    """
    return run("sum", run("ne", x, 0.0), **({} if dim is None else {"axis": dim}))


def diff(x: Any, n: int = 1, dim: int = -1) -> Tensor:
    """Differences of neighbours along an axis, n times.

    >>> diff(tensor([1.0, 2.0, 3.0]))
    tensor([1., 1.])
    """
    axis = axis_of(dim, len(shape_of(x)))
    for _ in range(n):
        length = shape_of(x)[axis] - 1
        x = narrow(x, axis, 1, length) - narrow(x, axis, 0, length)
    return x  # type: ignore[no-any-return]


# Products.


def _letters(text: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    parts, arrow, out = text.replace(" ", "").partition("->")
    terms = parts.split(",")
    if "." in text:
        raise ShapeError("einsum takes no '...' here", help="name every axis")
    if len(terms) != len(operands):
        raise ShapeError(f"einsum: {len(terms)} terms for {len(operands)} operands")
    for term, x in zip(terms, operands, strict=True):
        if len(term) != len(shape_of(x)):
            raise ShapeError(f"einsum: '{term}' for an array of {len(shape_of(x))} axes")
    if not arrow:
        joined = "".join(terms)
        out = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    if any(c not in parts for c in out) or len(set(out)) < len(out):
        raise ShapeError(f"einsum: '{out}' is no result of '{parts}'")
    return terms, out


def _single(x: Any, term: str, wanted: str) -> tuple[Any, str]:
    """Axes of one letter as one, and those summed that nothing else has."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            a = term.index(c)
            b = term.index(c, a + 1)
            x = movedim(movedim(x, a, 0), b, 1)
            x = run("index", x, index=(numeric.numpy().arange(shape_of(x)[0]),) * 2)
            term = c + "".join(letter for k, letter in enumerate(term) if k not in (a, b))
    gone = tuple(k for k, c in enumerate(term) if c not in wanted)
    if gone:
        x = run("sum", x, axis=gone)
    return x, "".join(c for c in term if c in wanted)


def _pair(x: Any, s: str, y: Any, t: str, wanted: str) -> tuple[Any, str]:
    """The product of two, summed over what they share and nobody wants, by one matrix product."""
    batch = [c for c in s if c in t and c in wanted]
    inner = [c for c in s if c in t and c not in wanted]
    left, right = [c for c in s if c not in t], [c for c in t if c not in s]
    size = {**dict(zip(s, shape_of(x), strict=True)), **dict(zip(t, shape_of(y), strict=True))}
    for c, n in zip(s, shape_of(x), strict=True):
        if size[c] != n:
            raise ShapeError(f"einsum: '{c}' is {n} and {size[c]} long")

    def long(letters: list[str]) -> int:
        return prod(size[c] for c in letters)

    a = reshape(permute(x, *(s.index(c) for c in batch + left + inner)), long(batch), long(left), long(inner))
    b = reshape(permute(y, *(t.index(c) for c in batch + inner + right)), long(batch), long(inner), long(right))
    out = batch + left + right
    return reshape(run("matmul", a, b), *(size[c] for c in out)), "".join(out)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products by Einstein's convention, such as "ij,jk->ik", pair by pair by matrix products.

    >>> einsum("ij,j->i", tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    terms, out = _letters(equation, operands)
    x, s = operands[0], terms[0]
    for k in range(1, len(terms) + 1):
        rest = set(out).union(*terms[k:])
        x, s = _single(x, s, "".join(rest))
        if k < len(terms):
            later = "".join(set(out).union(*terms[k + 1 :]))
            y, t = _single(operands[k], terms[k], later + s)
            x, s = _pair(x, s, y, t, later)
    return permute(x, *(s.index(c) for c in out))


def tensordot(a: Any, b: Any, dims: Any = 2) -> Tensor:
    """Sum over the last axes of a and the first of b, or over two lists of axes.

    >>> tensordot(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]), 1)
    tensor(14.)
    """
    m, n = len(shape_of(a)), len(shape_of(b))
    if isinstance(dims, int):
        dims = (range(m - dims, m), range(dims))
    left = [chr(97 + k) for k in range(m)]
    right = [chr(65 + k) for k in range(n)]
    for i, j in zip(*dims, strict=True):
        right[j] = left[i]
    out = [c for c in left if c not in right] + [c for c in right if c not in left]
    return einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", a, b)


def matrix_power(a: Any, n: int) -> Tensor:
    """The product of n copies of a matrix, of its inverse if n is negative.

    >>> matrix_power(tensor([[1.0, 2.0], [3.0, 4.0]]), 2)
    tensor([[ 7., 10.],
            [15., 22.]])
    """
    if n < 0:
        a, n = run("inv", a), -n
    made: Any = wrap(numeric.numpy().eye(shape_of(a)[-1])) if not n else None
    while n:
        if n & 1:
            made = a if made is None else run("matmul", made, a)
        n >>= 1
        a = run("matmul", a, a) if n else a
    return made  # type: ignore[no-any-return]


def multi_dot(parts: Sequence[Any]) -> Tensor:
    """The product of several matrices.

    >>> multi_dot([tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0])])
    tensor([3., 7.])
    """
    made = parts[0]
    for part in parts[1:]:
        made = run("matmul", made, part)
    return made  # type: ignore[no-any-return]


Slogdet = namedtuple("Slogdet", "sign logabsdet")


def slogdet(a: Any) -> Any:
    """(sign, log of the absolute value) of the determinant.

    >>> slogdet(tensor([[1.0, 2.0], [3.0, 4.0]]))
    Slogdet(sign=tensor(-1.), logabsdet=tensor(0.6931))
    """
    np = numeric.numpy()
    sign = float(np.linalg.slogdet(raw_of(a))[0])
    turned = np.ones(shape_of(a)[-1])
    turned[0] = sign or 1.0
    return Slogdet(wrap(sign), run("logdet", run("mul", turned, a)))


def addmm(m: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta*m + alpha*(a @ b).

    >>> addmm(tensor(1.0), tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]))
    tensor(15.)
    """
    y = run("matmul", a, b)
    return (m if beta == 1 else m * beta) + (y if alpha == 1 else y * alpha)


def addcmul(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    """a + value*b*c.

    >>> addcmul(tensor(1.0), tensor(2.0), tensor(3.0))
    tensor(7.)
    """
    return a + value * (b * c)


def addcdiv(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    """a + value*b/c.

    >>> addcdiv(tensor(1.0), tensor(6.0), tensor(3.0))
    tensor(3.)
    """
    return a + value * (b / c)


# Distances and other small forms.


def norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, **options: Any) -> Tensor:
    """The p-norm of all entries ("fro" is 2), or along an axis.

    >>> norm(tensor([3.0, 4.0]))
    tensor(5.)
    """
    p = options.get("ord", p)
    dim = options.get("axis", dim)
    p = 2 if p in (None, "fro") else p
    if isinstance(p, str):
        raise KindError(f"there is no norm '{p}' here", help="p is a number or 'fro'")
    if isinstance(dim, (tuple, list)) and len(dim) == 1:
        dim = dim[0]
    axes = tuple(dim) if isinstance(dim, (tuple, list)) else dim
    if abs(float(p)) == math.inf:
        name = "amax" if p > 0 else "amin"
        made = run(name, run("abs", x), **({} if axes is None else {"axis": axes}))
    else:
        line = flatten(x) if axes is None and float(p) != 2.0 and len(shape_of(x)) > 1 else x
        made = run("norm", line, float(p), **({} if axes is None else {"axis": axes}))
    return kept(made, x, axes) if keepdim or options.get("keepdims") else made


def matrix_norm(x: Any, p: Any = None, dim: Any = None, keepdim: bool = False, **options: Any) -> Tensor:
    """numpy.linalg.norm's and torch.linalg.norm's: of a matrix with an order 1 or infinity, by its columns or rows.

    >>> matrix_norm(tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor(6.)
    """
    p = options.pop("ord", p)
    if p is not None and p != "fro" and dim is None and options.get("axis") is None and len(shape_of(x)) == 2:
        if abs(float(p)) not in (1.0, math.inf):
            raise KindError(f"there is no norm of order {p} of matrices here", help="1, inf, 'fro' are")
        sums = run("sum", run("abs", x), axis=0 if abs(float(p)) == 1.0 else 1)
        return run("amax" if float(p) > 0 else "amin", sums)
    return norm(x, p, dim, keepdim, **options)


def kept(made: Any, x: Any, dim: Any) -> Tensor:
    """A reduction whose axes stay, with length 1.

    >>> kept(tensor(6.0), tensor([1.0, 2.0, 3.0]), 0)
    tensor([6.])
    """
    shape = list(shape_of(x))
    for k in range(len(shape)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,):
        if shape:
            shape[k] = 1
    return reshape(made, *shape)


def cross(a: Any, b: Any, dim: int = -1, **options: Any) -> Tensor:
    """The vector product of 3-vectors, along the last axis.

    >>> cross(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    axis = axis_of(options.get("axis", dim), len(shape_of(a)))
    last = len(shape_of(a)) - 1
    if axis == last:
        return run("cross", a, b)
    return movedim(run("cross", movedim(a, axis, last), movedim(b, axis, last)), last, axis)


def dist(a: Any, b: Any, p: float = 2) -> Tensor:
    """The p-norm of a - b.

    >>> dist(tensor([1.0, 2.0]), tensor([4.0, 6.0]))
    tensor(5.)
    """
    return norm(run("sub", a, b), p)


def clamp(x: Any, min: Any = None, max: Any = None, **options: Any) -> Tensor:
    """x brought between min and max, either of which may be missing.

    >>> clamp(tensor([1.0, 2.0, 3.0]), max=2.0)
    tensor([1., 2., 2.])
    """
    min, max = options.get("a_min", min), options.get("a_max", max)
    return run("clip", x, -math.inf if min is None else min, math.inf if max is None else max)


def heaviside(x: Any, values: Any) -> Tensor:
    """0 below 0, 1 above it, and values at it.

    >>> heaviside(tensor([-1.0, 0.0, 2.0]), 0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """
    return run("where", run("eq", x, 0.0), values, run("gt", x, 0.0))


def nan_to_num(x: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x with other numbers for nan and the infinities (the largest there are), which get no gradient.

    >>> nan_to_num(tensor([float("nan"), float("inf")]), posinf=9.0)
    tensor([0., 9.])
    """
    np = numeric.numpy()
    value, big = np.asarray(numeric.real(raw_of(x))), float(np.finfo(float).max)
    y: Any = run("where", np.isnan(value), 0.0 if nan is None else nan, x)
    for infinity, given, largest in ((np.inf, posinf, big), (-np.inf, neginf, -big)):
        if (value == infinity).any():
            y = run("where", value == infinity, largest if given is None else given, y)
    return y  # type: ignore[no-any-return]


def round_(x: Any, decimals: int = 0) -> Tensor:
    """To whole numbers, halves to even; or to decimals.

    >>> round_(tensor(2.345), 2)
    tensor(2.3500)
    """
    if not decimals:
        return run("round", x)
    return run("div", run("round", run("mul", x, 10.0**decimals)), 10.0**decimals)


__all__ = ["Extent", "Extremes", "RangeError"]
