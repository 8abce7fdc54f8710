"""Functions of tensors by the order of their entries: sorted, the largest, the middle one."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.compose import ALONG, answer, axis_of, run, shape_of, whole
from autodiff.tensors.indexing import select, take_along
from autodiff.tensors.misfits import RangeError
from autodiff.tensors.shapes import flatten, squeeze, unsqueeze
from autodiff.tensors.tensor import Tensor, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _sorted(x: Any, dim: int, descending: bool) -> Any:
    value = numeric.numpy().asarray(raw_of(x))
    return (-value if descending else value).argsort(axis=dim, kind="stable") if value.ndim else whole(0.0)


def sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """(values, indices) in ascending order along an axis; the gradient goes where each entry came from.

    >>> sort(tensor([2.0, 1.0]))
    torch.return_types.sort(
    values=tensor([1., 2.]),
    indices=tensor([1, 0]))
    """
    axis = axis_of(dim, len(shape_of(x)))
    order = _sorted(x, axis, descending)
    return ALONG["sort"](take_along(x, order, axis), wrap(order))


def argsort(x: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of the entries in ascending order along an axis.

    >>> argsort(tensor([2.0, 1.0]))
    tensor([1, 0])
    """
    return wrap(_sorted(x, axis_of(dim, len(shape_of(x))), descending))


def _within(k: int, least: int, x: Any, axis: int) -> None:
    """ShapeError unless there are k entries along the axis."""
    if not least <= k <= (shape_of(x) or (1,))[axis]:
        raise ShapeError("selected index k out of range")


def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the k largest along an axis.

    >>> topk(tensor([1.0, 2.0, 3.0]), 2)
    torch.return_types.topk(
    values=tensor([3., 2.]),
    indices=tensor([2, 1]))
    """
    axis = axis_of(dim, len(shape_of(x)))
    _within(k, 0, x, axis)
    order = _sorted(x, axis, largest)[(slice(None),) * axis + (slice(k),)]
    return ALONG["topk"](take_along(x, order, axis), wrap(order))


def kthvalue(x: Any, k: int, dim: int = -1) -> Any:
    """(value, index) of the k-th smallest along an axis, counted from 1.

    >>> kthvalue(tensor([1.0, 2.0, 3.0]), 2)
    torch.return_types.kthvalue(
    values=tensor(2.),
    indices=tensor(1))
    """
    axis = axis_of(dim, len(shape_of(x)))
    _within(k, 1, x, axis)
    order = _sorted(x, axis, False)[(slice(None),) * axis + (slice(k - 1, k),)]
    return ALONG["kthvalue"](squeeze(take_along(x, order, axis), axis), wrap(order.squeeze(axis)))


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
    return ALONG["median"](*(unsqueeze(part, axis) if keepdim else part for part in found))


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
    elif not value.size:
        raise RangeError(f"{name}() of no entries")
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
    if keepdim:
        return ALONG[name](unsqueeze(values, axis), wrap(numeric.numpy().expand_dims(indices._value, axis)))
    return ALONG[name](values, indices)


Extent = answer("aminmax", "min max")


def aminmax(x: Any, *, dim: Any = None) -> Any:
    """(min, max) of all entries, or along an axis.

    >>> aminmax(tensor([1.0, 2.0, 3.0]))
    torch.return_types.aminmax(
    min=tensor(1.),
    max=tensor(3.))
    """
    params = {} if dim is None else {"axis": dim}
    return Extent(run("amin", x, **params), run("amax", x, **params))
