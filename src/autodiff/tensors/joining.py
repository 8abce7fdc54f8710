"""Functions of tensors that divide them into parts, and make one of several parts or copies."""

from __future__ import annotations

from itertools import combinations as choices
from itertools import combinations_with_replacement as repeated_choices
from itertools import pairwise
from math import prod

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.compose import axis_of, run, shape_of, whole
from autodiff.tensors.dtypes import KindError
from autodiff.tensors.indexing import index_select, narrow
from autodiff.tensors.shapes import atleast_1d, atleast_2d, flatten, reshape, transpose, unsqueeze
from autodiff.tensors.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def split(x: Any, size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a size along an axis, or of the sizes listed.

    >>> split(tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    axis = axis_of(dim, len(shape_of(x)))
    n = shape_of(x)[axis]
    if size == 0 and n:
        raise ShapeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
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


def tensor_split(x: Any, parts: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """So many parts along an axis, the first of them one longer if need be; or those between the places listed.

    >>> tensor_split(tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    n = shape_of(x)[axis_of(dim, len(shape_of(x)))]
    if isinstance(parts, int):
        return split(x, [n // parts + (k < n % parts) for k in range(parts)], dim)
    ends = [0, *(min(int(k), n) for k in parts), n]
    return split(x, [b - a for a, b in pairwise(ends)], dim)


def hsplit(x: Any, parts: Any) -> tuple[Tensor, ...]:
    """Parts side by side: along the second axis, of a vector along its only one.

    >>> hsplit(tensor([[1.0, 2.0]]), 2)
    (tensor([[1.]]), tensor([[2.]]))
    """
    return tensor_split(x, parts, min(1, len(shape_of(x)) - 1))


def concat(parts: Sequence[Any], dim: int = 0) -> Tensor:
    """Parts after each other along an axis.

    >>> concat([tensor([1.0]), tensor([2.0])])
    tensor([1., 2.])
    """
    return run("concat", *parts, axis=dim) if len(parts) > 1 else parts[0]


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


def dstack(parts: Sequence[Any]) -> Tensor:
    """Parts behind each other, along a third axis.

    >>> dstack([tensor([1.0]), tensor([2.0])])
    tensor([[[1., 2.]]])
    """
    return concat([unsqueeze(atleast_2d(x), 2) if len(shape_of(x)) < 3 else x for x in parts], 2)


def column_stack(parts: Sequence[Any]) -> Tensor:
    """Vectors as columns beside each other.

    >>> column_stack([tensor([1.0, 2.0]), tensor([3.0, 4.0])])
    tensor([[1., 3.],
            [2., 4.]])
    """
    return concat([unsqueeze(atleast_1d(x), 1) if len(shape_of(x)) < 2 else x for x in parts], 1)


def block_diag(*blocks: Any) -> Tensor:
    """A matrix with the blocks along its diagonal, 0 elsewhere.

    >>> block_diag(tensor([[1.0, 2.0]]), tensor([[3.0]]))
    tensor([[1., 2., 0.],
            [0., 0., 3.]])
    """
    parts = [atleast_2d(x) if shape_of(x) else reshape(x, 1, 1) for x in blocks]
    width, left, rows = sum(shape_of(x)[1] for x in parts), 0, []
    for x in parts:
        rows.append(pad(x, (left, width - left - shape_of(x)[1])))
        left += shape_of(x)[1]
    return concat(rows, 0)


PADDING = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}  # PyTorch's names and NumPy's


def pad(x: Any, pad: Sequence[int], mode: str = "constant", value: Any = 0.0) -> Tensor:
    """x with entries before and after it: a pair of counts for the last axis, for the one before, and so on.

    They are `value`, or by `mode` ("reflect", "replicate", "circular") those of x. Negative counts cut off.

    >>> pad(tensor([1.0, 2.0]), (1, 2))
    tensor([0., 1., 2., 0., 0.])
    """
    np = numeric.numpy()
    rank = len(shape_of(x))
    if len(pad) % 2 or len(pad) > 2 * rank:
        raise ShapeError(f"pad wants a pair of counts for each of up to {rank} axes, not {len(pad)} counts")
    if mode != "constant" and mode not in PADDING:
        raise KindError(f"there is no padding '{mode}' here", help="constant, reflect, replicate and circular are")
    pairs = {rank - 1 - k // 2: (int(pad[k]), int(pad[k + 1])) for k in range(0, len(pad), 2)}
    for axis, (before, after) in pairs.items():
        n = shape_of(x)[axis]
        x = narrow(x, axis, max(0, -before), n - max(0, -before) - max(0, -after)) if min(before, after) < 0 else x
        if mode != "constant":
            n = shape_of(x)[axis]
            places = np.pad(np.arange(n), (max(0, before), max(0, after)), mode=PADDING[mode])
            x = index_select(x, axis, places)
    if mode != "constant":
        return x  # type: ignore[no-any-return]
    sides = [tuple(max(0, n) for n in pairs.get(axis, (0, 0))) for axis in range(rank)]
    around = np.full([a + n + b for n, (a, b) in zip(shape_of(x), sides, strict=True)], 0.0 if value is None else value)
    return run("put", around, x, index=tuple(slice(a, a + n) for n, (a, _) in zip(shape_of(x), sides, strict=True)))


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


def cartesian_prod(*lines: Any) -> Tensor:
    """All tuples with an entry of each vector, a row each.

    >>> cartesian_prod(tensor([1.0, 2.0]), tensor([3.0]))
    tensor([[1., 3.],
            [2., 3.]])
    """
    if len(lines) == 1:
        return lines[0]  # type: ignore[no-any-return]
    return run("stack", *(flatten(part) for part in meshgrid(*lines)), axis=1)


def combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r entries of a vector in order, a row each.

    >>> combinations(tensor([1.0, 2.0, 3.0]))
    tensor([[1., 2.],
            [1., 3.],
            [2., 3.]])
    """
    chosen = list((repeated_choices if with_replacement else choices)(range(shape_of(x)[0]), r))
    return run("index", x, index=(numeric.numpy().array(chosen, dtype=int).reshape(-1, r),))
