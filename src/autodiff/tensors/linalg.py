"""Functions of matrices and vectors: powers, products, determinants, norms, distances."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.tensors.compose import answer, axis_of, run, shape_of
from autodiff.tensors.diagonals import tril, triu
from autodiff.tensors.dtypes import KindError
from autodiff.tensors.shapes import flatten, kept, movedim, transpose, unsqueeze
from autodiff.tensors.tensor import Tensor, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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


Slogdet = answer("linalg_slogdet", "sign logabsdet")


def slogdet(a: Any) -> Any:
    """(sign, log of the absolute value) of the determinant.

    >>> slogdet(tensor([[1.0, 2.0], [3.0, 4.0]]))
    torch.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.6931))
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


def addr(m: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta*m + alpha*outer(a, b).

    >>> addr(tensor([[1.0]]), tensor([2.0]), tensor([3.0]))
    tensor([[7.]])
    """
    y = run("outer", a, b)
    return (m if beta == 1 else m * beta) + (y if alpha == 1 else y * alpha)


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
    if (
        p is not None
        and not isinstance(p, str)
        and dim is None
        and options.get("axis") is None
        and len(shape_of(x)) == 2
    ):
        if abs(float(p)) not in (1.0, math.inf):
            raise KindError(f"there is no norm of order {p} of matrices here", help="1, inf, 'fro' are")
        sums = run("sum", run("abs", x), axis=0 if abs(float(p)) == 1.0 else 1)
        return run("amax" if float(p) > 0 else "amin", sums)
    return norm(x, p, dim, keepdim, **options)


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


def solve_triangular(a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """x with a @ x = b, or x @ a = b if not `left`, for the upper or lower triangle of a (its diagonal 1 if asked).

    >>> solve_triangular(tensor([[2.0, 9.0], [1.0, 4.0]]), tensor([[2.0], [5.0]]), upper=False)
    tensor([[1.],
            [1.]])
    """
    a = (triu if upper else tril)(a, (1 if upper else -1) if unitriangular else 0)
    if unitriangular:
        a = a + numeric.numpy().eye(shape_of(a)[-1])
    if left:
        return run("solve", a, b)
    return transpose(run("solve", transpose(a, -2, -1), transpose(b, -2, -1)), -2, -1)


def cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Tensor:
    """x with a @ x = b, for the Cholesky factor of a.

    >>> cholesky_solve(tensor([[4.0]]), tensor([[2.0]]))
    tensor([[1.]])
    """
    lower = transpose(factor, -2, -1) if upper else factor
    half = solve_triangular(lower, b, upper=False)
    return solve_triangular(transpose(lower, -2, -1), half, upper=True)


def vecdot(a: Any, b: Any, dim: int = -1) -> Tensor:
    """The sums of products along an axis.

    >>> vecdot(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    y = run("mul", a, b)
    return run("sum", y, axis=axis_of(dim, len(shape_of(y)))) if shape_of(y) else y


def dist(a: Any, b: Any, p: float = 2) -> Tensor:
    """The p-norm of a - b.

    >>> dist(tensor([1.0, 2.0]), tensor([4.0, 6.0]))
    tensor(5.)
    """
    return norm(run("sub", a, b), p)


def cdist(a: Any, b: Any, p: float = 2.0) -> Tensor:
    """Distances of the rows of a from the rows of b.

    >>> cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    return norm(run("sub", unsqueeze(a, -2), unsqueeze(b, -3)), p, -1)
