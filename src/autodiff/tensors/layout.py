"""Functions of tensors that lay entries out anew: padding, blocks, products of sets, parts put in."""

from __future__ import annotations

import math
from itertools import combinations as choices
from itertools import combinations_with_replacement as repeated_choices
from itertools import pairwise
from string import ascii_letters

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors import compose
from autodiff.tensors.compose import axis_of, concat, narrow, reshape, run, shape_of, unsqueeze, whole
from autodiff.tensors.dtypes import KindError, dtype_of
from autodiff.tensors.size import Size
from autodiff.tensors.tensor import Tensor, raw_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

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
            x = compose.index_select(x, axis, places)
    if mode != "constant":
        return x  # type: ignore[no-any-return]
    sides = [tuple(max(0, n) for n in pairs.get(axis, (0, 0))) for axis in range(rank)]
    around = np.full([a + n + b for n, (a, b) in zip(shape_of(x), sides, strict=True)], 0.0 if value is None else value)
    return run("put", around, x, index=tuple(slice(a, a + n) for n, (a, _) in zip(shape_of(x), sides, strict=True)))


def block_diag(*blocks: Any) -> Tensor:
    """A matrix with the blocks along its diagonal, 0 elsewhere.

    >>> block_diag(tensor([[1.0, 2.0]]), tensor([[3.0]]))
    tensor([[1., 2., 0.],
            [0., 0., 3.]])
    """
    parts = [compose.atleast_2d(x) if shape_of(x) else reshape(x, 1, 1) for x in blocks]
    width, left, rows = sum(shape_of(x)[1] for x in parts), 0, []
    for x in parts:
        rows.append(pad(x, (left, width - left - shape_of(x)[1])))
        left += shape_of(x)[1]
    return concat(rows, 0)


def cartesian_prod(*lines: Any) -> Tensor:
    """All tuples with an entry of each vector, a row each.

    >>> cartesian_prod(tensor([1.0, 2.0]), tensor([3.0]))
    tensor([[1., 3.],
            [2., 3.]])
    """
    if len(lines) == 1:
        return lines[0]  # type: ignore[no-any-return]
    return run("stack", *(compose.flatten(part) for part in compose.meshgrid(*lines)), axis=1)


def combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r entries of a vector in order, a row each.

    >>> combinations(tensor([1.0, 2.0, 3.0]))
    tensor([[1., 2.],
            [1., 3.],
            [2., 3.]])
    """
    chosen = list((repeated_choices if with_replacement else choices)(range(shape_of(x)[0]), r))
    return run("index", x, index=(numeric.numpy().array(chosen, dtype=int).reshape(-1, r),))


def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    """The powers of each entry of a vector, a row each.

    >>> vander(tensor([2.0, 3.0]), 3)
    tensor([[4., 2., 1.],
            [9., 3., 1.]])
    """
    powers = numeric.numpy().arange(float(shape_of(x)[0] if N is None else N))
    return run("pow", unsqueeze(x, 1), powers if increasing else powers[::-1].copy())


def diag_embed(x: Any, offset: int = 0) -> Tensor:
    """A matrix for each vector along the last axis, with it on a diagonal.

    >>> diag_embed(tensor([[1.0, 2.0]]))
    tensor([[[1., 0.],
             [0., 2.]]])
    """
    np = numeric.numpy()
    *lead, n = shape_of(x)
    places = np.arange(n)
    size = n + abs(offset)
    spots = (Ellipsis, places - min(offset, 0), places + max(offset, 0))
    return run("put", np.zeros((*lead, size, size)), x, index=spots)


def diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis, n times, of x between two others if they are given.

    >>> diff(tensor([1.0, 4.0, 9.0]), prepend=tensor([0.0]))
    tensor([1., 3., 5.])
    """
    parts = [part for part in (prepend, x, append) if part is not None]
    return compose.diff(concat(parts, axis_of(dim, len(shape_of(x)))), n, dim)


def rot90(x: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """x turned by k quarters from the first of two axes towards the second.

    >>> rot90(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [1., 3.]])
    """
    a, b = dims
    for _ in range(k % 4):
        x = compose.transpose(compose.flip(x, b), a, b)
    return x


def dstack(parts: Sequence[Any]) -> Tensor:
    """Parts behind each other, along a third axis.

    >>> dstack([tensor([1.0]), tensor([2.0])])
    tensor([[[1., 2.]]])
    """
    return concat([unsqueeze(compose.atleast_2d(x), 2) if len(shape_of(x)) < 3 else x for x in parts], 2)


def tensor_split(x: Any, parts: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """So many parts along an axis, the first of them one longer if need be; or those between the places listed.

    >>> tensor_split(tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    n = shape_of(x)[axis_of(dim, len(shape_of(x)))]
    if isinstance(parts, int):
        return compose.split(x, [n // parts + (k < n % parts) for k in range(parts)], dim)
    ends = [0, *(min(int(k), n) for k in parts), n]
    return compose.split(x, [b - a for a, b in pairwise(ends)], dim)


def hsplit(x: Any, parts: Any) -> tuple[Tensor, ...]:
    """Parts side by side: along the second axis, of a vector along its only one.

    >>> hsplit(tensor([[1.0, 2.0]]), 2)
    (tensor([[1.]]), tensor([[2.]]))
    """
    return tensor_split(x, parts, min(1, len(shape_of(x)) - 1))


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Tensor:
    """x with a value at the places of a list along an axis.

    >>> index_fill(tensor([1.0, 2.0, 3.0]), 0, [0, 2], 7.0)
    tensor([7., 2., 7.])
    """
    return run("put", x, value, index=(slice(None),) * axis_of(dim, len(shape_of(x))) + (whole(index),))


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
    return tuple(compose.expand(x, *shape) for x in tensors)


def diagflat(x: Any, offset: int = 0) -> Any:
    """The entries in order as a diagonal of a matrix.

    >>> diagflat(tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    return diag_embed(reshape(x, -1), offset)


def index_copy(x: Any, dim: int, index: Any, source: Any) -> Tensor:
    """x with the slices of another tensor at the places of a list along an axis.

    >>> index_copy(tensor([1.0, 2.0, 3.0]), 0, [2, 0], tensor([7.0, 8.0]))
    tensor([8., 2., 7.])
    """
    return index_fill(x, dim, index, source)


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


def take(x: Any, index: Any) -> Tensor:
    """The entries at places in row-major order.

    >>> take(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([0, 3]))
    tensor([1., 4.])
    """
    return run("index", compose.flatten(x), index=(whole(index),))


def fill_diagonal(x: Any, value: Any) -> Tensor:
    """x with a value on its diagonal.

    >>> fill_diagonal(tensor([[1.0, 2.0]]), 0.0)
    tensor([[0., 2.]])
    """
    places = numeric.numpy().arange(min(shape_of(x)))
    return run("put", x, value, index=(places,) * len(shape_of(x)))


def addr(m: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta*m + alpha*outer(a, b).

    >>> addr(tensor([[1.0]]), tensor([2.0]), tensor([3.0]))
    tensor([[7.]])
    """
    y = run("outer", a, b)
    return (m if beta == 1 else m * beta) + (y if alpha == 1 else y * alpha)


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral so far along an axis by trapezoids.

    >>> cumulative_trapezoid(tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    axis = axis_of(dim, len(shape_of(y)))
    n = shape_of(y)[axis] - 1
    middle = (narrow(y, axis, 0, n) + narrow(y, axis, 1, n)) * 0.5
    width = dx if x is None else compose.diff(x, 1, -1 if len(shape_of(x)) == 1 else axis)
    return run("cumsum", middle * width, axis=axis)


def corrcoef(x: Any) -> Any:
    """The correlations of variables, each a row of observations.

    >>> corrcoef(tensor([[1.0, 3.0], [6.0, 2.0]]))
    tensor([[ 1.0000, -1.0000],
            [-1.0000,  1.0000]])
    """
    c = compose.cov(x)
    spread = run("sqrt", run("diag", c))
    return c / run("outer", spread, spread)


def gradient(x: Any, *, spacing: Any = 1.0, dim: Any = None) -> tuple[Any, ...]:
    """Numerical derivatives along each axis: central differences, one-sided at both ends.

    >>> gradient(tensor([1.0, 4.0, 9.0]))
    (tensor([3., 4., 5.]),)
    """
    dims = range(len(shape_of(x))) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    found = []
    for axis in (axis_of(k, len(shape_of(x))) for k in dims):
        n = shape_of(x)[axis]
        step = compose.diff(x, 1, axis)
        middle = (narrow(x, axis, 2, n - 2) - narrow(x, axis, 0, n - 2)) / 2.0
        found.append(concat([narrow(step, axis, 0, 1), middle, narrow(step, axis, n - 2, 1)], axis) / spacing)
    return tuple(found)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products by Einstein's convention; `...` stands for axes that broadcast.

    >>> einsum("...ij,jk->...ik", tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if "..." not in equation:
        return compose.einsum(equation, *operands)
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ShapeError(f"einsum: {len(terms)} terms for {len(operands)} operands")
    counts = [
        len(shape_of(x)) - len(t.replace("...", "")) if "..." in t else 0 for t, x in zip(terms, operands, strict=True)
    ]
    names = "".join([c for c in ascii_letters if c not in equation][: max(counts)])
    if min(counts) < 0 or len(names) < max(counts):
        raise ShapeError(f"einsum: '{equation}' does not fit the operands' axes")
    if not arrow:
        joined = left.replace("...", "")
        out = "..." + "".join(sorted(c for c in set(joined) if c != "," and joined.count(c) == 1))
    longest: dict[str, int] = {}
    for term, x, count in zip(terms, operands, counts, strict=True):
        at = term.find("...")
        for name, n in zip(names[len(names) - count :], shape_of(x)[at : at + count] if count else (), strict=True):
            longest[name] = max(longest.get(name, 1), n)
    whole_ones, texts = [], []
    for term, x, count in zip(terms, operands, counts, strict=True):
        own = names[len(names) - count :] if count else ""
        at = term.find("...")
        sizes = list(shape_of(x))
        sizes[at : at + count] = [longest[name] for name in own] if count else sizes[at : at + count]
        whole_ones.append(run("broadcast", x, shape=tuple(sizes)) if tuple(sizes) != shape_of(x) else x)
        texts.append(term.replace("...", own))
    return compose.einsum(f"{','.join(texts)}->{out.replace('...', names)}", *whole_ones)


__all__ = ["einsum", "pad"]
