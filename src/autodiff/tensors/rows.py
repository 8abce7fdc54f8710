"""Many sweeps as one: all rows of a Jacobian together, cotangents with an axis for the rows in front."""

from __future__ import annotations

from autodiff import numeric
from autodiff.rules import compiled
from autodiff.tensors.sweep import Plan, operands_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@numeric.quietly
def jacobian(root: Any, leaf: Any, shape: tuple[int, ...], of: tuple[int, ...]) -> Any:
    """The Jacobian of a node's value (of shape `shape`) by a leaf (of shape `of`): an array of shape + of.

    None where it takes single sweeps: hooks, operations of the user's own, a nan or an infinity.
    """
    np = numeric.numpy()
    plan = Plan([root], {leaf})
    if plan.hooked or any(not fn.op.differentiable for fn in plan.order):
        return None
    count = int(np.prod(shape))
    cotangents: dict[Any, Any] = {root: np.eye(count).reshape(count, *shape)}
    needed = plan.needed or set()
    for fn in plan.order:
        g = cotangents.pop(fn, None)
        if g is None:
            continue
        y, xs = operands_of(fn)
        for i, a in enumerate(fn.inputs[::2]):
            if a in needed:
                c = _sent(np, fn, i, g, y, xs)
                if c is not None:
                    cotangents[a] = cotangents[a] + c if a in cotangents else c
    found = cotangents.get(leaf)
    if found is None:
        return np.zeros(shape + of)
    return found.reshape(shape + of) if np.isfinite(found).all() else None


def _sent(np: Any, fn: Any, i: int, g: Any, y: Any, xs: list[Any]) -> Any:
    """What goes to operand i in all rows; None where nothing flows."""
    op = fn.op
    shape = numeric.shape(xs[i])
    rows = len(g)
    if op.elementwise:
        exponent = xs[1] if op.name == "pow" and fn.inputs[2] is None and xs[1].__class__ is float else None
        rule = compiled(op, i, len(xs), True, exponent)
        whole = g.shape[1:]
        if all(numeric.shape(x) in ((), whole) for x in (y, *xs)):
            c = g if rule.constant == 1.0 else rule.sent(g, y, *xs) if whole else g * rule.rule(y, *xs)
            return c if shape == whole else c.reshape(rows, -1).sum(-1)
        return np.stack([numeric.sum_to(rule.sent(row, y, *xs), shape) for row in g])
    if op.name == "index":
        c = np.zeros((rows, *shape))
        place = (slice(None), *fn.params["index"])
        if all(k.__class__ is int or isinstance(k, slice) for k in place):
            c[place] = g
        else:
            np.add.at(c, place, g)
        return c
    if op.name == "scatter":
        return g[(slice(None), *fn.params["index"])]
    if op.name == "sum" and not fn.params:
        return np.broadcast_to(g.reshape(rows, *(1,) * len(shape)), (rows, *shape))
    vjp = op.vjp(i)
    sent = [None if vjp is None else vjp(row if row.ndim else float(row), y, *xs, **fn.params) for row in g]
    if any(c is None for c in sent):
        return None
    return np.stack([numeric.sum_to(c, shape) if numeric.shape(c) != shape else c for c in sent])
