"""The recorded computation again, on series: derivatives of high order and of one side, exactly."""

from __future__ import annotations

from autodiff import numeric
from autodiff.operands.series import Field, Series, coefficient
from autodiff.tape import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def needed(root: Node, leaves: Mapping[Node, Any]) -> list[Node]:
    """The operations between the leaves and the root, in recording order."""
    nodes = root.tape.nodes
    low = min(leaf.index for leaf in leaves)
    above = bytearray(root.index + 1)  # the root depends on it
    above[root.index] = 1
    for k in range(root.index, low - 1, -1):
        if above[k]:
            for x in nodes[k].inputs:
                if isinstance(x, Node):
                    above[x.index] = 1
    below = bytearray(root.index + 1)  # it depends on a leaf
    for leaf in leaves:
        if leaf.index <= root.index:
            below[leaf.index] = 1
    found = []
    for k in range(low, root.index + 1):
        node = nodes[k]
        if node not in leaves and any(isinstance(x, Node) and below[x.index] for x in node.inputs):
            below[k] = 1
            if above[k]:
                found.append(node)
    return found


@numeric.quietly
def expand(
    root: Node,
    directions: Mapping[Node, Any],
    order: int,
    *,
    sided: bool = True,
    broken: list[tuple[Node, int]] | None = None,
) -> list[Any]:
    """Coefficients 0 … order of root(leaves + t·directions) for small t > 0; directions have the leaves' shapes.

    Where not `sided`, kinks are passed by the conventions (the tape's). `broken` gathers the operations whose
    series first ceases to be finite, with the order at which it does.
    """
    if root in directions:
        return [root.value, directions[root], *([0.0] * (order - 1))][: order + 1]
    if all(leaf.index > root.index for leaf in directions):
        return [root.value] + [0.0 * root.value] * order
    work = needed(root, directions)
    # roots at 0 use up orders, as many again at most
    spare = max(3, order) if any(map(is_root_of_zero, work)) else 3 if sided and any(map(_is_kinked, work)) else 0
    field = Field(order + spare, sided=sided, convention=None if sided else root.tape.convention)
    values: dict[Node, Any] = {leaf: field.series([leaf.value, d]) for leaf, d in directions.items()}
    uses: dict[Node, int] = {}
    for node in work:
        for x in node.inputs:
            if isinstance(x, Node):
                uses[x] = node.index
    for node in work:
        field.known.clear()
        assert node.op is not None
        y = node.op(*(values.get(x, x.value) if isinstance(x, Node) else x for x in node.inputs), **node.params)
        if isinstance(y, Series):
            # everything now, so that nothing is asked through the whole computation later
            y = Series(field, y.upto(field.order), y.step)
            y.step = lambda k: 0.0
            if broken is not None:
                xs = [values.get(x) for x in node.inputs if isinstance(x, Node)]
                bad = _breaks(y, order)
                if bad <= order and all(_breaks(x, bad) > bad for x in xs if x is not None):
                    broken.append((node, bad))
        values[node] = y
        for x in node.inputs:
            if isinstance(x, Node) and uses.get(x) == node.index and x not in directions:
                values.pop(x, None)
    y = values.get(root, root.value)
    return [coefficient(y, k) for k in range(order + 1)]


def _breaks(y: Any, order: int) -> int:
    """The first order at which a series is not finite; beyond `order` if it is up to there."""
    return next((k for k in range(order + 1) if not numeric.is_finite(coefficient(y, k))), order + 1)


def _along(leaf: Node, place: tuple[int, ...], sign: float) -> Any:
    """The direction that moves one entry of a leaf."""
    if not numeric.shape(leaf.value):
        return sign
    direction = numeric.numpy().zeros(numeric.shape(leaf.value))
    direction[place] = sign
    return direction


@numeric.quietly
def at_kinks(root: Node, leaf: Node) -> list[Node]:
    """The recorded operations at a kink between a leaf and the root, whatever cotangent reaches them."""
    return [node for node in needed(root, {leaf: 1.0}) if _is_kinked(node)]


def _is_kinked(node: Node) -> bool:
    if node.op is None or node.op.kink is None:
        return False
    at = node.op.kink(node.value, *(x.value if isinstance(x, Node) else x for x in node.inputs), **node.params)
    return bool(at.any() if numeric.is_array(at) else at)


def is_root_of_zero(node: Node) -> bool:
    """Whether it is a square root of 0, on both sides of which there may be values (`sqrt(x^2)`)."""
    return node.op is not None and node.op.name == "sqrt" and not numeric.numpy().all(node.value)


@numeric.quietly
def one_sided(root: Node, leaf: Node, place: tuple[int, ...], sign: float) -> Any:
    """The derivative of the root by one entry of a leaf, from the side `sign` (+1 right, -1 left)."""
    limit, rate = expand(root, {leaf: _along(leaf, place, sign)}, 1)
    limit = coefficient(limit, 0)
    jump = limit - root.value
    # only below a jump may a small difference be one, and not what rounding left of a large number
    jumps = any(node.op is not None and node.op.jump for node in root.tape.nodes[: root.index + 1])
    room = 1e-12 * (abs(root.value) + (abs(limit) if jumps else 1.0))
    if numeric.is_array(jump):
        np = numeric.numpy()
        far = np.abs(jump) > room
        return np.where(far, jump * sign * np.inf, sign * np.asarray(rate) + 0.0 * jump)
    if abs(jump) > room:
        return jump * sign * numeric.inf
    return sign * rate + 0.0 * jump  # nan where that side has no values


def second_one_sided(root: Node, leaf: Node, place: tuple[int, ...], sign: float) -> float:
    """The second derivative of the root, one number, by one entry of a leaf, from one side."""
    return float(2.0 * expand(root, {leaf: _along(leaf, place, sign)}, 2)[2])
