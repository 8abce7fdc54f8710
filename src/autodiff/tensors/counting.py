"""Functions of tensors that sort entries into groups and places, and running extremes."""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.compose import ALONG, answer, axis_of, run, shape_of, whole
from autodiff.tensors.indexing import index_select, take_along, unbind
from autodiff.tensors.shapes import flatten
from autodiff.tensors.tensor import Tensor, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Histogram = answer("histogram", "hist bin_edges")
"""Counts, and where the bins begin and end."""


def _array(x: Any) -> Any:
    return numeric.numpy().asarray(raw_of(x))


def unique(
    x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The different entries in ascending order; if asked, where each entry is among them, and how often each occurs.

    >>> unique(tensor([3.0, 1.0, 3.0]), return_counts=True)
    (tensor([1., 3.]), tensor([1, 2]))
    """
    _, first, inverse, counts = numeric.numpy().unique(_array(x), True, True, True, axis=dim)
    inverse = inverse.reshape(shape_of(x) if dim is None else -1)
    return _chosen(x, dim, first, inverse if return_inverse else None, counts if return_counts else None)


def _chosen(x: Any, dim: Any, places: Any, *more: Any) -> Any:
    """The entries at places along an axis (of the flat array if none is given), alone or before what else is given."""
    found = index_select(flatten(x) if dim is None else x, dim or 0, places)
    rest = tuple(wrap(part) for part in more if part is not None)
    return (found, *rest) if rest else found


def unique_consecutive(x: Any, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The entries in order, of each run of equal ones the first; if asked, the run of each entry, and runs' lengths.

    >>> unique_consecutive(tensor([1.0, 1.0, 2.0, 1.0]))
    tensor([1., 2., 1.])
    """
    np = numeric.numpy()
    line = _array(x).ravel()
    starts = np.flatnonzero(np.append(True, line[1:] != line[:-1])[: line.size])
    inverse = np.repeat(np.arange(starts.size), np.diff(np.append(starts, line.size))).reshape(shape_of(x))
    counts = np.diff(np.append(starts, line.size))
    return _chosen(x, None, starts, inverse if return_inverse else None, counts if return_counts else None)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each whole number 0, 1, … occurs, or the sum of the weights where it does.

    >>> bincount(tensor([0, 1, 1]))
    tensor([1, 2])
    """
    places = whole(x)
    if places.ndim != 1 or (places.size and places.min() < 0):
        raise ShapeError("bincount wants a vector of whole numbers, none of them negative")
    if weights is None:
        return wrap(numeric.numpy().bincount(places, minlength=minlength))
    n = max(int(places.max(initial=-1)) + 1, minlength)
    return run("scatter", weights, index=(places,), shape=(n,))


def histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many entries are in each of so many bins of equal width from min to max (of x, if both are 0).

    >>> histc(tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    return wrap(histogram(x, bins, (min, max) if (min, max) != (0, 0) else None).hist._value)


def histogram(x: Any, bins: int, range: Any = None) -> Any:
    """(hist, bin_edges): how many entries are in each of so many bins of equal width.

    >>> histogram(tensor([1.0, 2.0, 1.0]), 2, range=(0.0, 3.0))
    torch.return_types.histogram(
    hist=tensor([2., 1.]),
    bin_edges=tensor([0.0000, 1.5000, 3.0000]))
    """
    counts, edges = numeric.numpy().histogram(_array(x), bins, range)
    return Histogram(wrap(counts.astype(float)), wrap(edges))


def searchsorted(sorted_sequence: Any, values: Any, *, right: bool = False, side: Any = None) -> Tensor:
    """Where each value would go among numbers in ascending order, before equal ones or to the right of them.

    >>> searchsorted(tensor([1.0, 3.0, 5.0]), tensor([3.0, 4.0]))
    tensor([1, 2])
    """
    np = numeric.numpy()
    lines, wanted = _array(sorted_sequence), _array(values)
    side = side or ("right" if right else "left")
    if lines.ndim == 1:
        return wrap(np.asarray(np.searchsorted(lines, wanted, side)))
    if lines.shape[:-1] != wanted.shape[:-1]:
        raise ShapeError(f"searchsorted: rows of shape {lines.shape} for values of shape {wanted.shape}")
    flat = zip(lines.reshape(-1, lines.shape[-1]), wanted.reshape(-1, wanted.shape[-1]), strict=True)
    return wrap(np.array([np.searchsorted(line, row, side) for line, row in flat]).reshape(wanted.shape))


def bucketize(x: Any, boundaries: Any, *, right: bool = False) -> Tensor:
    """The number of the bin, between boundaries in ascending order, that each entry is in.

    >>> bucketize(tensor([1.0, 4.0]), tensor([1.0, 3.0]))
    tensor([0, 2])
    """
    return searchsorted(boundaries, x, right=right)


def mode(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the entries that occur most often along an axis, the smallest of several; the last places.

    >>> mode(tensor([1.0, 2.0, 2.0]))
    torch.return_types.mode(
    values=tensor(2.),
    indices=tensor(2))
    """
    np = numeric.numpy()
    axis = axis_of(dim, len(shape_of(x)))

    def place(line: Any) -> Any:
        found, counts = np.unique(line, return_counts=True)
        return np.flatnonzero(line == found[counts.argmax()])[-1]

    places = np.expand_dims(np.apply_along_axis(place, axis, _array(x)), axis)
    values = take_along(x, places, axis)
    if keepdim:
        return ALONG["mode"](values, wrap(places))
    return ALONG["mode"](unbind(values, axis)[0], wrap(places.squeeze(axis)))


def isin(x: Any, others: Any) -> Tensor:
    """Where entries are among others.

    >>> isin(tensor([1.0, 2.0, 3.0]), tensor([2.0, 3.0]))
    tensor([False,  True,  True])
    """
    return wrap(numeric.raw(numeric.numpy().isin(_array(x), _array(others))))


def _running(name: str, x: Any, dim: int, sign: float) -> Any:
    np = numeric.numpy()
    axis = axis_of(dim, len(shape_of(x)))
    value = sign * _array(x)
    if not value.ndim:
        return ALONG[name](x, wrap(np.asarray(0)))
    here = (value == np.maximum.accumulate(value, axis)) | np.isnan(value)
    at = np.arange(value.shape[axis]).reshape([-1 if k == axis else 1 for k in range(value.ndim)])
    places = np.maximum.accumulate(np.where(here, at, 0), axis)
    return ALONG[name](take_along(x, places, axis), wrap(places))


def cummax(x: Any, dim: int) -> Any:
    """(values, indices) of the largest entry so far along an axis, of equal ones the last.

    >>> cummax(tensor([1.0, 3.0, 2.0]), 0)
    torch.return_types.cummax(
    values=tensor([1., 3., 3.]),
    indices=tensor([0, 1, 1]))
    """
    return _running("cummax", x, dim, 1.0)


def cummin(x: Any, dim: int) -> Any:
    """(values, indices) of the smallest entry so far along an axis, of equal ones the last.

    >>> cummin(tensor([3.0, 1.0, 2.0]), 0)
    torch.return_types.cummin(
    values=tensor([3., 1., 1.]),
    indices=tensor([0, 1, 1]))
    """
    return _running("cummin", x, dim, -1.0)


def logcumsumexp(x: Any, dim: int) -> Tensor:
    """The log of the sum so far of exponentials along an axis.

    >>> logcumsumexp(tensor([0.0, 0.0]), 0)
    tensor([0.0000, 0.6931])
    """
    axis = axis_of(dim, len(shape_of(x)))
    if not shape_of(x):
        return x  # type: ignore[no-any-return]
    parts = list(unbind(x, axis))
    for k in range(1, len(parts)):
        parts[k] = run("logaddexp", parts[k - 1], parts[k])
    return run("stack", *parts, axis=axis) if len(parts) > 1 else x


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


def argwhere(x: Any) -> Tensor:
    """The indices of the entries that are not 0, a row each.

    >>> argwhere(tensor([0.0, 2.0]))
    tensor([[1]])
    """
    return wrap(numeric.numpy().argwhere(_array(x)))


def nanmean(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The mean of the entries that are not nan.

    >>> nanmean(tensor([1.0, float("nan"), 3.0]))
    tensor(2.)
    """
    from autodiff.tensors.namespace import reduction

    missing = numeric.numpy().isnan(raw_of(x))
    there = wrap(numeric.raw(1.0 - missing))
    total = reduction("sum")
    return total(run("where", missing, 0.0, x), dim, keepdim) / total(there, dim, keepdim)


__all__ = ["bincount", "cummax", "cummin", "unique"]
