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
def expand(root: Node, directions: Mapping[Node, Any], order: int) -> list[Any]:
    """Coefficients 0 … order of root(leaves + t·directions) for small t > 0; directions have the leaves' shapes."""
    if root in directions:
        return [root.value, directions[root], *([0.0] * (order - 1))][: order + 1]
    if all(leaf.index > root.index for leaf in directions):
        return [root.value] + [0.0 * root.value] * order
    spare = 3 if any(node.op is not None and node.op.kink is not None for node in root.tape.nodes) else 0
    field = Field(order + spare)  # a root at 0 uses up orders
    values: dict[Node, Any] = {leaf: field.series([leaf.value, d]) for leaf, d in directions.items()}
    work = needed(root, directions)
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
        values[node] = y
        for x in node.inputs:
            if isinstance(x, Node) and uses.get(x) == node.index and x not in directions:
                values.pop(x, None)
    y = values.get(root, root.value)
    return [coefficient(y, k) for k in range(order + 1)]


@numeric.quietly
def one_sided(root: Node, leaf: Node, place: tuple[int, ...], sign: float) -> Any:
    """The derivative of the root by one entry of a leaf, from the side `sign` (+1 right, -1 left)."""
    shape = numeric.shape(leaf.value)
    direction: Any = sign
    if shape:
        direction = numeric.numpy().zeros(shape)
        direction[place] = sign
    limit, rate = expand(root, {leaf: direction}, 1)
    jump = coefficient(limit, 0) - root.value
    if numeric.is_array(jump):
        np = numeric.numpy()
        far = np.abs(jump) > 1e-12 * (1.0 + np.abs(root.value))
        return np.where(far, jump * sign * np.inf, sign * np.asarray(rate) + 0.0 * root.value)
    if abs(jump) > 1e-12 * (1.0 + abs(root.value)):
        return jump * sign * numeric.inf
    return sign * rate + 0.0
