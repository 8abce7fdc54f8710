"""How far rounding reaches: first-order bounds of the error in a value and its derivatives, and what makes it.

With adjoint a_i = ∂y/∂v_i of every recorded operation and e_i a bound of the error that operation i commits
itself, |error of y| ≤ Σ |a_i|·e_i to first order (Linnainmaa 1976; Higham, Accuracy and Stability, section 3).
A recorded gradient is a computation like any other, so the same sum over its tape bounds a derivative.
"""

from __future__ import annotations

from autodiff import numeric
from autodiff.tape import Node, backward, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

U = 2.0**-53  # rounding to nearest is off by at most this part
TINY = 5e-324  # and by at most this where the result underflows

EXACT = frozenset(
    """neg pos abs where list index max min relu clip sign floor ceil round trunc copysign frac fmod stop_gradient
    amax amin broadcast expand moveaxis reshape flatten transpose swap concat stack full flip diag""".split()
)
"""Operations that move, choose or change sign."""
ROUNDED = frozenset("add sub mul div square sqrt reciprocal chain gate leaky_relu outer kron scatter".split())
"""Operations that are the exact result, rounded once."""
SUMS = frozenset("sum mean sum_axes sum_to cumsum trace dot matmul".split())
"""Sums of entries or of products of entries: off by a part of the sum of absolute values."""
HARD = frozenset("gamma lgamma digamma polygamma factorial beta lbeta erfinv mills mills_excess log_ndtr dsinc".split())
"""Functions whose libraries are right to 8 ulp only."""


def committed(node: Node) -> Any:
    """A bound of the error that a node's operation commits itself, of the shape of its value."""
    op = node.op
    assert op is not None
    name = op.name
    y = abs(node.value)
    if name in EXACT:
        return 0.0 * y
    if name in ROUNDED:
        return U * y + TINY
    if op.elementwise:
        return (16.0 if name in HARD else 4.0) * U * y + TINY
    values = [numeric.real(value_of(x)) for x in node.inputs]
    n = float(max(_size(x) for x in values) or 1)
    if name in SUMS:
        return n * U * op.array(*map(abs, values), **node.params) + TINY
    np = numeric.numpy()
    top = n * max(float(np.max(np.abs(x), initial=0.0)) for x in values)
    if name in ("inv", "solve"):
        return 8.0 * n * U * float(np.linalg.cond(values[0])) * np.max(y, initial=0.0) + 0.0 * y
    if name in ("eigvalsh", "cholesky", "eigenvectors", "cross", "linspace", "arange"):
        return 8.0 * U * top + 0.0 * y
    if name in ("det", "cofactor"):
        return 8.0 * n * U * top ** float(values[0].shape[-1]) + 0.0 * y
    return (8.0 + n) * U * y + TINY


def _size(x: Any) -> int:
    return int(x.size) if numeric.is_array(x) else 1


class Bound:
    """The rounding error that may be in one number: the sum, and the part of each node."""

    __slots__ = ("parts", "root", "total")

    def __init__(self, root: Node, parts: dict[Node, float]) -> None:
        self.root = root
        self.parts = parts
        self.total = sum(parts.values())


@numeric.quietly
def bound(root: Node, seed: Any = 1.0) -> Bound:
    """The first-order bound of the rounding error in root (times a seed, where that is an array)."""
    cotangents = backward(root, seed, [], everything=True)
    nodes = root.tape.nodes
    parts: dict[Node, float] = {}
    for k, g in enumerate(cotangents):
        if g is None:
            continue
        node = nodes[k]
        if node.op is None:
            continue
        e = committed(node)
        part = weighted(value_of(g), e)
        if part > 0.0:
            parts[node] = part
    return Bound(root, parts)


def weighted(g: Any, e: Any) -> float:
    """Σ |g|·e, where an error of 0 counts for nothing even against an infinite cotangent."""
    if numeric.is_array(g) or numeric.is_array(e):
        np = numeric.numpy()
        return float(np.sum(np.where(np.asarray(e) == 0.0, 0.0, np.abs(g) * e)))
    return abs(g) * e if e else 0.0
