"""How far rounding reaches: first-order bounds of the error in a value and its derivatives, and what makes it.

With adjoint a_i = ∂y/∂v_i of every recorded operation and e_i a bound of the error that operation i commits
itself, |error of y| ≤ Σ |a_i|·e_i to first order (Linnainmaa 1976; Higham, Accuracy and Stability, section 3).
A recorded gradient is a computation like any other, so the same sum over its tape bounds a derivative.
"""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.evaluate import Run, evaluate
from autodiff.tape import Node, backward, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from autodiff.parse.program import Program

U = 2.0**-53  # rounding to nearest is off by at most this part
TINY = 5e-324  # and by at most this where the result underflows


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


EXACT = _set(
    """neg pos abs where list index max min relu clip sign floor ceil round trunc copysign frac fmod stop_gradient
    amax amin broadcast expand moveaxis reshape flatten transpose swap concat stack full flip diag put"""
)
"""Operations that move, choose or change sign."""
ROUNDED = _set("add sub mul div square sqrt reciprocal chain gate leaky_relu outer kron scatter")
"""Operations that are the exact result, rounded once."""
SUMS = _set("sum mean sum_axes sum_to cumsum trace dot matmul")
"""Sums of entries or of products of entries: off by a part of the sum of absolute values."""
HARD = _set("gamma lgamma digamma polygamma factorial beta lbeta erfinv mills mills_excess log_ndtr dsinc")
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
        return 8.0 * n * U * float(np.float64(top) ** values[0].shape[-1]) + 0.0 * y
    return (8.0 + n) * U * y + TINY


def _size(x: Any) -> int:
    return int(x.size) if numeric.is_array(x) else 1


class Bound:
    """The rounding error that may be in one number: the sum, and the part of each node."""

    __slots__ = ("cotangents", "parts", "root", "total")

    def __init__(self, root: Node | None, parts: dict[Node, float], cotangents: Sequence[Any] = ()) -> None:
        self.root = root
        self.cotangents = cotangents  # of all nodes, by index
        self.parts = parts
        self.total = sum(parts.values())


@numeric.quietly
def bound(root: Node, seed: Any = 1.0, error: Callable[[Node], Any] = committed) -> Bound:
    """The first-order bound of the rounding error in root (times a seed, where that is an array).

    `error` gives a bound of what an operation commits itself.
    """
    unit = scale(root.value * seed)  # adjoints of a tiny or a huge value would leave float64
    lost: list[Node] = []
    cotangents = backward(root, seed * unit, [], everything=True, watch=lambda *sent: vanished(lost, *sent))
    nodes = root.tape.nodes
    parts: dict[Node, float] = {}
    for k, g in enumerate(cotangents):
        if g is None:
            continue
        node = nodes[k]
        if node.op is None:
            continue
        part = weighted(value_of(g), error(node)) / unit
        if part > 0.0:
            parts[node] = part
    if lost and not root.shape:
        # what an adjoint below float64 carries is less than rounding of the result
        parts[lost[0]] = parts.get(lost[0], 0.0) + 4.0 * U * abs(root.value)
    return Bound(root, parts, cotangents)


def vanished(lost: list[Node], node: Node, i: int, g: Any, c: Any) -> None:
    """Keep the nodes whose local derivative underflowed."""
    if c.__class__ is not float or c != 0.0 or g.__class__ is not float or g == 0.0:
        return
    x = node.inputs[i]
    if not isinstance(x, Node) or x.op is None:
        return  # an input or a number: it carries no error
    values = [node.value, *map(value_of, node.inputs)]
    assert node.op is not None
    if node.op.name not in EXACT and not any(map(numeric.is_array, values)) and all(values):
        lost.append(node)


def scale(y: Any) -> float:
    """A power of two near 1/|y|, for the largest entry."""
    size = float(abs(y).max()) if numeric.is_array(y) else abs(float(y))
    return math.ldexp(1.0, -max(-1000, min(1000, math.frexp(size)[1]))) if 0.0 < size < math.inf else 1.0


def weighted(g: Any, e: Any) -> float:
    """Σ |g|·e, where an error of 0 counts for nothing even against an infinite cotangent."""
    if numeric.is_array(g) or numeric.is_array(e):
        np = numeric.numpy()
        return float(np.sum(np.where(np.asarray(e) == 0.0, 0.0, np.abs(g) * e)))
    return abs(g) * e if e else 0.0


def traced(
    program: Program, point: Mapping[str, Any], wrt: Sequence[str], max_ops: int, convention: str | None = None
) -> Run:
    """A run that records every operation, those of numbers alone too: these are rounded as well."""
    return evaluate(program, point, wrt, max_ops=max_ops, convention=convention, trace=True)


def operands(run: Run) -> int:
    """What a sweep over a run passes: of the literal of an array every entry."""
    return sum(len(node.inputs) or 1 for node in run.tape.nodes)


def derivatives(
    program: Program,
    point: Mapping[str, Any],
    wrt: Sequence[str],
    max_ops: int,
    convention: str | None = None,
    *,
    most: float = math.inf,
) -> dict[str, list[Bound]] | None:
    """Bounds of the derivatives by each input: of every number of the value by every entry, in row-major order.

    None where operands of operations times derivatives are more than `most`.
    """
    run = traced(program, point, wrt, max_ops, convention)
    leaves = [run.leaves[name] for name in wrt]
    root = run.value
    of = numeric.shape(value_of(root))
    entries = sum(_size(leaf.value) for leaf in leaves)
    if not isinstance(root, Node) or operands(run) * entries * math.prod(of) > most:
        return None
    bounds: dict[str, list[Bound]] = {name: [] for name in wrt}
    for _, seed in numeric.units(of):
        found = backward(root, seed, leaves, record=True)
        for name, g, leaf in zip(wrt, found, leaves, strict=True):
            bounds[name] += entry_bounds(g, leaf)
    return bounds


def second_derivatives(
    program: Program,
    point: Mapping[str, Any],
    wrt: Sequence[str],
    max_ops: int,
    convention: str | None = None,
    *,
    most: float = math.inf,
) -> dict[tuple[str, int], dict[str, list[Bound]]] | None:
    """Bounds of the Hessian of one number: by an entry of an input, then by each input's entries.

    None where operands of operations times pairs of entries are more than `most`.
    """
    run = traced(program, point, wrt, max_ops, convention)
    leaves = [run.leaves[name] for name in wrt]
    root = run.value
    entries = sum(_size(leaf.value) for leaf in leaves)
    if not isinstance(root, Node) or operands(run) * entries * entries > most:
        return None
    found: dict[tuple[str, int], dict[str, list[Bound]]] = {}
    for name, g, leaf in zip(wrt, backward(root, 1.0, leaves, record=True), leaves, strict=True):
        for k, (_, seed) in enumerate(numeric.units(leaf.shape)):
            rows = backward(g, seed, leaves, record=True) if isinstance(g, Node) else [None] * len(leaves)
            found[name, k] = {other: entry_bounds(row, by) for other, row, by in zip(wrt, rows, leaves, strict=True)}
    return found


def entry_bounds(g: Any, leaf: Node, error: Callable[[Node], Any] = committed) -> list[Bound]:
    """The bound of each entry of a recorded derivative by a leaf."""
    if not isinstance(g, Node):
        return [Bound(None, {}) for _ in range(_size(leaf.value))]
    return [bound(g, seed, error) for _, seed in numeric.units(leaf.shape)]
