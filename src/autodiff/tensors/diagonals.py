"""Functions of matrices' diagonals and triangles."""

from __future__ import annotations

from autodiff import numeric
from autodiff.tensors.compose import run, shape_of
from autodiff.tensors.indexing import pick
from autodiff.tensors.shapes import reshape
from autodiff.tensors.tensor import Tensor, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def diagflat(x: Any, offset: int = 0) -> Any:
    """The entries in order as a diagonal of a matrix.

    >>> diagflat(tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    return diag_embed(reshape(x, -1), offset)


def fill_diagonal(x: Any, value: Any) -> Tensor:
    """x with a value on its diagonal.

    >>> fill_diagonal(tensor([[1.0, 2.0]]), 0.0)
    tensor([[0., 2.]])
    """
    places = numeric.numpy().arange(min(shape_of(x)))
    return run("put", x, value, index=(places,) * len(shape_of(x)))


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
