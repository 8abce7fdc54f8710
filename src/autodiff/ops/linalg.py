"""Rows: linear algebra."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

from autodiff.errors import ShapeError
from autodiff.numeric import entries, is_array, is_finite, known, numpy, shape
from autodiff.ops.arithmetic import div, mul, neg, sub, where
from autodiff.ops.record import Op, chain
from autodiff.ops.reduction import sum_
from autodiff.ops.shape import expand, index, moveaxis, reshape, scatter, sizes_of, sum_axes, swap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


EPS = 2.0**-52
LARGE = 32  # the side from which LAPACK's own routines pay for SciPy's import


def _rank(x: Any) -> int:
    return len(shape(x))


def _plain(x: Any) -> bool:
    """No entry is inf or nan, as far as values are known."""
    values = known(x)
    return not is_array(values) or is_finite(values)


def _through(g: Any, b: Any) -> Any:
    """The matrix product g @ b, where a zero of the cotangent g makes nothing of an inf or nan of b."""
    if _plain(b):
        return matmul(g, b)
    m, k, n = shape(g)[-2], shape(g)[-1], shape(b)[-1]
    rows = expand(g, axis=-1, shape=(*shape(g)[:-2], m, k, n))
    lines = expand(b, axis=-3, shape=(*shape(b)[:-2], m, k, n))
    return sum_axes(chain(rows, lines), axis=-2)


def _as_matrices(g: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """A cotangent and the operands of matmul, a vector a as a row, a vector b as a column."""
    if _rank(a) == 1:
        a = expand(a, axis=0, shape=(1, *shape(a)))
        g = expand(g, axis=-1 if _rank(b) == 1 else -2, shape=_with_row(g, b))
    if _rank(b) == 1:
        b = expand(b, axis=1, shape=(*shape(b), 1))
        g = expand(g, axis=-1, shape=(*shape(g), 1))
    return g, a, b


def _with_row(g: Any, b: Any) -> tuple[int, ...]:
    found = shape(g)
    return (*found, 1) if _rank(b) == 1 else (*found[:-1], 1, found[-1])


def _matmul_left(g: Any, y: Any, a: Any, b: Any) -> Any:
    if _rank(b) == 1 and _rank(a) <= 2:
        return chain(g if _rank(a) == 1 else expand(g, axis=-1, shape=shape(a)), b)
    if _rank(a) == 1 and _rank(b) == 2 and _plain(b):
        return matmul(b, g)
    g, _, b = _as_matrices(g, a, b)
    return _through(g, swap(b))


def _matmul_right(g: Any, y: Any, a: Any, b: Any) -> Any:
    if _rank(a) == _rank(b) == 1:
        return chain(g, a)
    if _rank(a) == 2 and _rank(b) == 1 and _plain(a):
        return matmul(g, a)
    column = _rank(b) == 1
    g, a, b = _as_matrices(g, a, b)
    back = swap(_through(swap(g), a))
    return sum_axes(back, axis=-1) if column else back


matmul: Op = Op(
    "matmul",
    "a b",
    "matrix product",
    None,
    lambda a, b: numpy().matmul(a, b),
    None,
    [_matmul_left, _matmul_right],
    symbol="@",
    order=5,
    linear=True,
    samples=[([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0])],
)


def _dot(a: Any, b: Any) -> Any:
    return numpy().dot(a, b)


def _dot_left(g: Any, y: Any, a: Any, b: Any) -> Any:
    if not _rank(a) or not _rank(b):
        return chain(g, b) if _rank(a) or not _rank(b) else sum_(chain(g, b))
    if _rank(b) <= 2:
        return _matmul_left(g, y, a, b)
    n = float(shape(a)[-1])
    lines = reshape(moveaxis(b, source=-2, target=-1), -1.0, n)
    return _like(_through(reshape(g, -1.0, float(shape(lines)[0])), lines), a)


def _dot_right(g: Any, y: Any, a: Any, b: Any) -> Any:
    if not _rank(a) or not _rank(b):
        return chain(g, a) if _rank(b) or not _rank(a) else sum_(chain(g, a))
    if _rank(b) <= 2:
        return _matmul_right(g, y, a, b)
    n = shape(a)[-1]
    rows = reshape(a, -1.0, float(n))
    rest = shape(b)[:-2] + shape(b)[-1:]
    back = _through(swap(reshape(g, float(shape(rows)[0]), -1.0)), rows)
    return moveaxis(reshape(back, *map(float, rest), float(n)), source=-1, target=-2)


dot: Op = Op(
    "dot",
    "a b",
    "inner product of vectors, product of matrices",
    None,
    _dot,
    None,
    [_dot_left, _dot_right],
    linear=True,
    samples=[([1.0, 2.0], [3.0, 4.0])],
)


def _flat(x: Any) -> Any:
    return reshape(x, float(math.prod(shape(x)) if shape(x) else 1))


outer: Op = Op(
    "outer",
    "a b",
    "all products of an entry of a and one of b",
    None,
    lambda a, b: numpy().outer(a, b),
    None,
    [lambda g, y, a, b: _like(_onto(g, b), a), lambda g, y, a, b: _like(_onto(swap(g), a), b)],
    linear=True,
    samples=[([1.0, 2.0], [3.0, 4.0, 5.0])],
)


def _onto(g: Any, v: Any) -> Any:
    return sum_axes(_through(g, reshape(v, -1.0, 1.0)), axis=-1)


def _like(x: Any, other: Any) -> Any:
    return reshape(x, numpy().array(sizes_of(other))) if shape(other) else sum_(x)


def _cross(a: Any, b: Any) -> Any:
    np = numpy()
    a, b = np.asarray(a), np.asarray(b)
    if a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        raise ShapeError(f"cross wants vectors of length 3, not shapes {a.shape} and {b.shape}")
    return np.cross(a, b)


cross: Op = Op(
    "cross",
    "a b",
    "vector product in three dimensions",
    None,
    _cross,
    None,
    [lambda g, y, a, b: _turned(g, b), lambda g, y, a, b: neg(_turned(g, a))],
    linear=True,
    samples=[([1.0, 2.0, 3.0], [0.5, -1.0, 2.0])],
)


def _turned(g: Any, b: Any) -> Any:
    """cross(b, g), where a zero of the cotangent g makes nothing of an inf or nan of b."""
    if _plain(b):
        return cross(b, g)

    def of(x: Any, *entries: int) -> Any:
        return index(x, index=(*[slice(None)] * (_rank(x) - 1), numpy().array(entries)))

    return sub(chain(of(g, 2, 0, 1), of(b, 1, 2, 0)), chain(of(g, 1, 2, 0), of(b, 2, 0, 1)))


def _square(a: Any) -> Any:
    a = numpy().asarray(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ShapeError(f"a square matrix is wanted, not shape {a.shape}")
    return a


def _identity(a: Any) -> Any:
    return numpy().eye(shape(a)[-1])


def _trace(a: Any) -> Any:
    a = numpy().asarray(a)
    if a.ndim != 2:
        raise ShapeError(f"a matrix is wanted, not shape {a.shape}")
    return numpy().trace(a)


trace: Op = Op(
    "trace",
    "a",
    "sum of the diagonal",
    None,
    _trace,
    None,
    [lambda g, y, a: mul(g, numpy().eye(*shape(a)))],
    linear=True,
    samples=[([[1.0, 2.0], [3.0, 4.0]],)],
)


def _det(a: Any) -> Any:
    np = numpy()
    if a.ndim <= 2:
        _square(a)
    n = a.shape[-1]
    if n == 0:
        return np.ones(a.shape[:-2])
    if n == 1:
        return a[..., 0, 0]
    if n == 2:
        return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
    if n == 3:
        return sum(
            a[..., 0, i]
            * (a[..., 1, (i + 1) % 3] * a[..., 2, (i + 2) % 3] - a[..., 1, (i + 2) % 3] * a[..., 2, (i + 1) % 3])
            for i in range(3)
        )
    return np.linalg.det(a)


def _minor_index(n: int) -> tuple[Any, Any]:
    """Rows and columns of all minors of an n × n matrix: arrays of shape (n, n, n-1, n-1)."""
    np = numpy()
    kept = np.array([[k for k in range(n) if k != i] for i in range(n)], dtype=int).reshape(n, n - 1)
    rows = np.broadcast_to(kept[:, None, :, None], (n, n, n - 1, n - 1))
    columns = np.broadcast_to(kept[None, :, None, :], (n, n, n - 1, n - 1))
    return rows, columns


def _signs(n: int) -> Any:
    np = numpy()
    return (-1.0) ** (np.arange(n)[:, None] + np.arange(n)[None, :])


def _inverse(a: Any) -> Any:
    return numpy().linalg.inv(a) if a.ndim > 2 or len(a) < LARGE else _inverse_and_det(a)[0]


def _inverse_and_det(a: Any) -> tuple[Any, Any]:
    """Both from one factorization where that pays; LinAlgError of a singular matrix."""
    np = numpy()
    if a.ndim > 2 or len(a) < LARGE:
        return np.linalg.inv(a), np.linalg.det(a)
    from scipy.linalg.lapack import dgetrf, dgetri

    factors, pivots, zero = dgetrf(a.T)  # its matrices go by columns
    if zero:
        raise np.linalg.LinAlgError("Singular matrix")
    scale = factors.diagonal()
    swaps = (pivots != np.arange(len(a))).sum()
    sign = np.sign(scale).prod() * (-1.0) ** swaps
    return dgetri(factors, pivots)[0].T, sign * np.exp(np.log(np.abs(scale)).sum())


def _or_nan(function: Any, a: Any, *others: Any) -> Any:
    """The function of a matrix, which nan makes nan, though LAPACK may take it for singular."""
    np = numpy()
    try:
        return function(a, *others)
    except np.linalg.LinAlgError:
        if not np.isnan(a).any():
            raise
        return np.full(shape((a, *others)[-1]), math.nan)


def _cofactor(a: Any) -> Any:
    np = numpy()
    n = a.shape[-1]
    if n == 1:
        return np.ones(a.shape)
    if n <= 8:
        rows, columns = _minor_index(n)
        return _signs(n) * _det(a[..., rows, columns])
    try:
        back, value = _inverse_and_det(a)
        size = np.abs(a).sum(-1).max(-1) * np.abs(back).sum(-1).max(-1)  # the condition number
        if (size < 1e4).all():
            return np.asarray(value)[..., None, None] * np.swapaxes(back, -1, -2)
    except np.linalg.LinAlgError:
        pass  # singular: by singular values, as whatever comes near it
    u, s, vt = np.linalg.svd(a)
    from autodiff.ops.reduction import leave_out_value

    turn = np.linalg.det(u) * np.linalg.det(vt)
    return turn[..., None, None] * (u * leave_out_value(s)[..., None, :]) @ vt


def _cofactor_vjp(g: Any, y: Any, a: Any) -> Any:
    n = shape(a)[-1]
    if n == 1:
        return None
    rows, columns = _minor_index(n)
    lead = (slice(None),) * (_rank(a) - 2)
    where_ = (*lead, rows, columns)
    minors = cofactor(index(a, index=where_))
    signed = mul(g, _signs(n))
    wide = expand(expand(signed, axis=-1, shape=(*shape(signed), n - 1)), axis=-1, shape=(*shape(signed), n - 1, n - 1))
    return scatter(chain(wide, minors), index=where_, shape=shape(a))


det: Op = Op(
    "det",
    "a",
    "determinant",
    None,
    _det,
    None,
    [lambda g, y, a: chain(_over(g, a), cofactor(a))],
    samples=[([[1.0, 2.0], [3.0, 4.0]],), ([[0.0, 0.0], [0.0, 3.0]],)],
)
cofactor: Op = Op("cofactor", "a", "signed minors", None, _cofactor, None, [_cofactor_vjp], hidden=True)


def _over(g: Any, a: Any) -> Any:
    if not shape(g):
        return g
    return expand(expand(g, axis=-1, shape=shape(a)[:-1]), axis=-1, shape=shape(a))


def _logdet(a: Any) -> Any:
    sign, value = numpy().linalg.slogdet(_square(a))
    return value if sign > 0 or value == -math.inf else math.nan


logdet: Op = Op(
    "logdet",
    "a",
    "log of the determinant, nan where that is negative",
    None,
    _logdet,
    None,
    [lambda g, y, a: chain(g, swap(inv(a)) if is_finite(known(y)) else numpy().full(shape(a), math.nan))],
    domain="det > 0",
    samples=[([[2.0, 1.0], [1.0, 3.0]],)],
)
inv: Op = Op(
    "inv",
    "a",
    "inverse matrix",
    None,
    lambda a: _or_nan(_inverse, _square(a)),
    None,
    [lambda g, y, a: neg(swap(_through(swap(_through(g, swap(y))), y)))],
    domain="not singular",
    samples=[([[2.0, 1.0], [1.0, 3.0]],)],
)


def _solve(a: Any, b: Any) -> Any:
    return _or_nan(numpy().linalg.solve, _square(a), b)


def _solve_left(g: Any, y: Any, a: Any, b: Any) -> Any:
    back = solve(swap(a), g)
    return neg(_through(reshape(back, -1.0, 1.0), reshape(y, 1.0, -1.0)) if _rank(b) == 1 else _through(back, swap(y)))


solve: Op = Op(
    "solve",
    "a b",
    "x with a @ x = b",
    None,
    _solve,
    None,
    [_solve_left, lambda g, y, a, b: solve(swap(a), g)],
    domain="a not singular",
    samples=[([[2.0, 1.0], [1.0, 3.0]], [1.0, 2.0])],
)


def _symmetric(a: Any) -> Any:
    a = _square(a)
    return (a + a.T) / 2.0


def _even(a: Any) -> Any:
    return mul(0.5, a + swap(a))


def _cholesky_vjp(g: Any, y: Any, a: Any) -> Any:
    # Murray, Differentiation of the Cholesky decomposition, 2016
    p = mul(_lower_half(shape(a)[0]), matmul(swap(y), g))
    v = triangular_inverse(y)
    s = matmul(matmul(swap(v), p), v)
    return s + swap(s)


@cache
def _lower_half(n: int) -> Any:
    """What takes half the lower triangle of a matrix, and a quarter of its diagonal."""
    return 0.5 * numpy().tri(n) - 0.25 * numpy().eye(n)


def _triangular_inverse(y: Any) -> Any:
    if len(y) < LARGE:
        return numpy().linalg.inv(numpy().tril(y))
    from scipy.linalg.lapack import dtrtri

    return dtrtri(y.T)[0].T


triangular_inverse: Op = Op(
    "triangular_inverse",
    "l",
    "inverse of a lower triangular matrix",
    None,
    _triangular_inverse,
    None,
    [lambda g, v, y: mul(-numpy().tri(shape(y)[0]), matmul(swap(v), matmul(g, swap(v))))],
    hidden=True,
)
cholesky: Op = Op(
    "cholesky",
    "a",
    "lower triangular factor of the symmetric part",
    None,
    lambda a: numpy().linalg.cholesky(_symmetric(a)),
    None,
    [_cholesky_vjp],
    domain="positive definite",
    samples=[([[2.0, 1.0], [1.0, 3.0]],)],
)


def _eigvalsh_vjp(g: Any, y: Any, a: Any) -> Any:
    v = eigenvectors(a)
    return _even(matmul(mul(v, g), swap(v)))


def _indistinct(w: Any) -> float:
    """The gap up to which eigenvalues are equal as far as the solver can tell."""
    return 4.0 * len(w) * EPS * max(map(abs, entries(w)), default=0.0)


def _shared(w: Any) -> Any:
    """Which eigenvalues, in ascending order, have an equal beside them."""
    np = numpy()
    close = np.diff(w) <= _indistinct(w)
    return np.append(close, False) | np.insert(close, 0, False)


def _branches(m: list[Any], sizes: list[float], orders: int) -> tuple[list[Any], list[Any]]:
    """Eigenvalues and eigenvectors of the symmetric m0 + m1·t + …, for small t > 0: coefficients of both.

    Equal eigenvalues of m0 are split by the higher coefficients: in a basis that depends on t, the matrix falls
    into blocks w·I + t·(…), one for each eigenvalue w of m0, and what is in the brackets is treated likewise (the
    reduction process of Kato, Perturbation Theory for Linear Operators, 2nd ed., section II.2.3). What `sizes`,
    those of the terms that each coefficient is a sum of, leave to rounding splits nothing. Orders of eigenvectors
    that depend on coefficients beyond those given are nan; where nothing splits, the vectors stay as they are.
    """
    np = numpy()
    n = len(m[0]) if m else 1
    values = []
    while m:
        w, v = np.linalg.eigh(m[0])
        ends = [0, *(np.flatnonzero(np.diff(w) > 4.0 * n * EPS * sizes[0]) + 1).tolist(), n]
        if len(ends) > 2:
            break
        values.append(np.full(n, m[0].trace() / n))
        m, sizes = m[1:], sizes[1:]
    if not m:
        return values, [np.eye(n), *(np.zeros((n, n)) for _ in range(orders - 1))]
    blocks = [slice(*pair) for pair in pairwise(ends)]
    for c in blocks:
        w[c] = np.mean(w[c])
    within = np.zeros((n, n), bool)
    for c in blocks:
        within[c, c] = True
    gap = np.where(within, 1.0, w[None, :] - w[:, None])
    m = [v.T @ x @ v for x in m]
    q, b, terms = [np.eye(n)], [np.diag(w)], [sizes[0]]
    for k in range(1, len(m)):  # m·q = q·b, q orthogonal, b in blocks
        rest = m[k] + sum((m[j] @ q[k - j] - q[k - j] @ b[j] for j in range(1, k)), np.zeros((n, n)))
        bent = sum((q[j].T @ q[k - j] for j in range(1, k)), np.zeros((n, n)))
        q.append(np.where(within, -0.5 * bent, rest / gap))
        b.append(np.where(within, 0.5 * (rest + rest.T), 0.0))
        spread = [abs(q[k - j]).max() * (sizes[j] + abs(b[j]).max()) for j in range(1, k)]
        terms.append(max([sizes[k], *map(float, spread)]))
    inner = [np.diag(x).copy() for x in b]
    u = [np.eye(n), *(np.zeros((n, n)) for _ in m[1:])]
    for c in blocks:
        if c.stop - c.start > 1 and len(m) > 1:
            found, turns = _branches([x[c, c] for x in b[1:]], terms[1:], len(m))
            for k in range(len(m)):
                u[k][c, c] = turns[k]
                if k:
                    inner[k][c] = found[k - 1]
    vectors = [v @ sum(q[j] @ u[k - j] for j in range(k + 1)) for k in range(len(m))]
    return values + inner, vectors + [np.full((n, n), math.nan)] * (orders - len(m))


def _eigen_germ(a: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of a series."""
    m = [_symmetric(a[k]) for k in range(a.field.order + 1)]
    w, v = _branches(m, [float(abs(x).max()) for x in m], len(m))
    return a.field.series(w), a.field.series(v)


eigvalsh: Op = Op(
    "eigvalsh",
    "a",
    "eigenvalues of the symmetric part, ascending",
    None,
    lambda a: numpy().linalg.eigvalsh(_symmetric(a)),
    None,
    [_eigvalsh_vjp],
    samples=[([[2.0, 1.0], [1.0, 3.0]],)],
    kink=lambda y, a: _shared(y),
    kinks="by the eigenvectors found, where eigenvalues are equal",
    germ=lambda a: _eigen_germ(a)[0],
)


def _eigenvectors_vjp(g: Any, v: Any, a: Any) -> Any:
    n = shape(a)[0]
    w = eigvalsh(a)
    values = known(w)
    # equal eigenvalues turn into each other at no cost: that turn is left out
    close = abs(values[None, :] - values[:, None]) <= _indistinct(values)
    gap = sub(expand(w, axis=0, shape=(n, n)), expand(w, axis=1, shape=(n, n)))
    f = where(close, 0.0, div(1.0, where(close, 1.0, gap)))
    turn = matmul(swap(v), g)
    return _even(matmul(v, matmul(mul(f, mul(0.5, sub(turn, swap(turn)))), swap(v))))


eigenvectors: Op = Op(
    "eigenvectors",
    "a",
    "eigenvectors of the symmetric part",
    None,
    lambda a: numpy().linalg.eigh(_symmetric(a))[1],
    None,
    [_eigenvectors_vjp],
    kink=lambda y, a: _shared(numpy().linalg.eigvalsh(_symmetric(a))),
    kinks="those found, where eigenvalues are equal",
    germ=lambda a: _eigen_germ(a)[1],
    hidden=True,
)


def _diag(a: Any) -> Any:
    np = numpy()
    a = np.atleast_1d(a)
    if a.ndim > 2:
        raise ShapeError(f"diag wants a vector or a matrix, not shape {a.shape}")
    return np.diag(a)


diag: Op = Op(
    "diag",
    "a",
    "matrix with this diagonal, or the diagonal of a matrix",
    None,
    _diag,
    None,
    [
        lambda g, y, a: (
            diag(g)
            if shape(g) == () or _rank(a) == 1 or shape(a)[0] == shape(a)[1]
            else scatter(g, index=(numpy().arange(shape(g)[0]), numpy().arange(shape(g)[0])), shape=shape(a))
        )
    ],
    linear=True,
    samples=[([1.0, 2.0],), ([[1.0, 2.0], [3.0, 4.0]],)],
)


def _kron_blocks(g: Any, a: Any, b: Any) -> Any:
    """g of a Kronecker product as an array (rows of a, rows of b, columns of a, columns of b)."""
    (m, n), (p, q) = _two(a), _two(b)
    return reshape(g, float(m), float(p), float(n), float(q))


def _two(x: Any) -> tuple[int, int]:
    found = shape(x)
    return (1, 1) if not found else (1, found[0]) if len(found) == 1 else (found[0], found[1])


def _spread(x: Any, axes: tuple[int, int], blocks: Any) -> Any:
    return expand(reshape(x, *map(float, _two(x))), axis=axes, shape=shape(blocks))


kron: Op = Op(
    "kron",
    "a b",
    "Kronecker product",
    None,
    lambda a, b: numpy().kron(a, b),
    None,
    [lambda g, y, a, b: _kron_vjp(g, a, b, 0), lambda g, y, a, b: _kron_vjp(g, a, b, 1)],
    linear=True,
    samples=[([[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0]])],
)


def _kron_vjp(g: Any, a: Any, b: Any, which: int) -> Any:
    blocks = _kron_blocks(g, a, b)
    if which == 0:
        return _like(sum_axes(chain(blocks, _spread(b, (0, 2), blocks)), axis=(1, 3)), a)
    return _like(sum_axes(chain(blocks, _spread(a, (1, 3), blocks)), axis=(0, 2)), b)


__all__ = ["moveaxis"]
