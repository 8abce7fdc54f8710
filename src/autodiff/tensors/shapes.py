"""Functions of tensors that give the same entries another shape."""

from __future__ import annotations

import math
from math import prod

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.compose import axis_of, run, shape_of
from autodiff.tensors.size import Size
from autodiff.tensors.tensor import Tensor, plain, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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
        raise ShapeError(f"shape '{flat}' is invalid for input of size {total}")
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


def unflatten(x: Any, dim: int, sizes: Sequence[int]) -> Any:
    """One axis as several, of the sizes given (-1 for one that follows from the others).

    >>> unflatten(tensor([1.0, 2.0, 3.0, 4.0]), 0, (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    shape = shape_of(x)
    axis = axis_of(dim, len(shape))
    known = math.prod(n for n in sizes if n != -1)
    sizes = [shape[axis] // known if n == -1 and known else n for n in sizes]
    if math.prod(sizes) != shape[axis]:
        raise ShapeError(f"an axis of length {shape[axis]} can't be unflattened into {tuple(sizes)}")
    return reshape(x, *shape[:axis], *sizes, *shape[axis + 1 :])


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
    for k, (n, wanted) in enumerate(zip(shape, full[lead:], strict=True)):
        if n not in (1, wanted):
            raise ShapeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({n}) "
                f"at non-singleton dimension {k + lead}"
            )
    return run("broadcast", x, shape=full)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that arrays of these shapes have together; ShapeError if there is none.

    >>> broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    try:
        return Size(numeric.numpy().broadcast_shapes(*shapes))
    except ValueError:
        raise ShapeError(f"shapes {' and '.join(map(str, shapes))} do not fit together") from None


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """The tensors, each expanded to the shape that they have together.

    >>> broadcast_tensors(tensor([1.0, 2.0]), tensor([[3.0]]))
    (tensor([[1., 2.]]), tensor([[3., 3.]]))
    """
    shape = broadcast_shapes(*map(shape_of, tensors))
    return tuple(expand(x, *shape) for x in tensors)


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
