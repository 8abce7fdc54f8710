"""Functions of samples: differences, integrals, covariances."""

from __future__ import annotations

from autodiff.tensors.compose import axis_of, run, shape_of
from autodiff.tensors.indexing import narrow
from autodiff.tensors.joining import concat
from autodiff.tensors.shapes import kept
from autodiff.tensors.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis, n times, of x between two others if they are given.

    >>> diff(tensor([1.0, 4.0, 9.0]), prepend=tensor([0.0]))
    tensor([1., 3., 5.])
    """
    axis = axis_of(dim, len(shape_of(x)))
    x = concat([part for part in (prepend, x, append) if part is not None], axis)
    for _ in range(n):
        length = shape_of(x)[axis] - 1
        x = narrow(x, axis, 1, length) - narrow(x, axis, 0, length)
    return x  # type: ignore[no-any-return]


def gradient(x: Any, *, spacing: Any = 1.0, dim: Any = None) -> tuple[Any, ...]:
    """Numerical derivatives along each axis: central differences, one-sided at both ends.

    >>> gradient(tensor([1.0, 4.0, 9.0]))
    (tensor([3., 4., 5.]),)
    """
    dims = range(len(shape_of(x))) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    found = []
    for axis in (axis_of(k, len(shape_of(x))) for k in dims):
        n = shape_of(x)[axis]
        step = diff(x, 1, axis)
        middle = (narrow(x, axis, 2, n - 2) - narrow(x, axis, 0, n - 2)) / 2.0
        found.append(concat([narrow(step, axis, 0, 1), middle, narrow(step, axis, n - 2, 1)], axis) / spacing)
    return tuple(found)


def trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral along an axis by trapezoids.

    >>> trapezoid(tensor([0.0, 1.0, 2.0]))
    tensor(2.)
    """
    axis = axis_of(dim, len(shape_of(y)))
    n = shape_of(y)[axis] - 1
    middle = (narrow(y, axis, 0, n) + narrow(y, axis, 1, n)) * 0.5
    return run("sum", middle * (dx if x is None else diff(x, 1, -1 if len(shape_of(x)) == 1 else axis)), axis=axis)


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral so far along an axis by trapezoids.

    >>> cumulative_trapezoid(tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    axis = axis_of(dim, len(shape_of(y)))
    n = shape_of(y)[axis] - 1
    middle = (narrow(y, axis, 0, n) + narrow(y, axis, 1, n)) * 0.5
    width = dx if x is None else diff(x, 1, -1 if len(shape_of(x)) == 1 else axis)
    return run("cumsum", middle * width, axis=axis)


def cov(x: Any, *, correction: int = 1) -> Any:
    """The covariances of variables, each a row of observations.

    >>> cov(tensor([[1.0, 3.0], [2.0, 6.0]]))
    tensor([[2., 4.],
            [4., 8.]])
    """
    apart = x - kept(run("mean", x, axis=1), x, 1)
    return run("matmul", apart, run("transpose", apart)) / float(shape_of(x)[1] - correction)


def corrcoef(x: Any) -> Any:
    """The correlations of variables, each a row of observations.

    >>> corrcoef(tensor([[1.0, 3.0], [6.0, 2.0]]))
    tensor([[ 1.0000, -1.0000],
            [-1.0000,  1.0000]])
    """
    c = cov(x)
    spread = run("sqrt", run("diag", c))
    return c / run("outer", spread, spread)
