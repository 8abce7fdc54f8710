"""The reverse sweep over a tape in the ordinary case: finite numbers, rules written out, nothing recorded."""

from __future__ import annotations

from autodiff import numeric
from autodiff.rules import Compiled, compiled
from autodiff.tape import Node
from autodiff.tape import backward as careful

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from autodiff.ops.record import Op

_rules: dict[tuple[Op, int, bool, float | None], list[Compiled]] = {}


def backward(root: Node, seed: Any, targets: Sequence[Node]) -> list[Any]:
    """The cotangent of each target from a seed of the root's shape, None where none arrives: as tape.backward gives."""
    return finite(root, seed, targets) or careful(root, seed, targets)


def finite(root: Node, seed: Any, targets: Sequence[Node]) -> list[Any] | None:
    """The same where all of them are finite, else None.

    Where a nan or an infinity arrives, the rules themselves answer, for they let nothing through where the
    cotangent is 0; where the value is nan, `tape.partial` does. Writing rules out pays on long tapes and arrays.
    """
    if root.tape.convention is not None or numeric.is_nan(root.value):
        return None
    low = min((t.index for t in targets), default=root.index)
    try:
        found = _quick(root, seed, targets, low)
    except (ArithmeticError, ValueError):
        return None
    return found if numeric.surely_finite([g for g in found if g is not None]) else None


def _rules_of(op: Op, count: int, arrays: bool, exponent: float | None) -> list[Compiled]:
    key = (op, count, arrays, exponent)
    found = _rules.get(key)
    if found is None:
        found = _rules[key] = [compiled(op, i, count, arrays, exponent) for i in range(count)]
    return found


@numeric.quietly
def _quick(root: Node, seed: Any, targets: Sequence[Node], low: int) -> list[Any]:
    nodes = root.tape.nodes
    wanted = {t.index for t in targets}
    cotangents: list[Any] = [None] * (root.index + 1)
    cotangents[root.index] = seed
    owned = bytearray(root.index + 1)  # whose cotangent is an array of our own
    for k in range(root.index, low - 1, -1):
        g = cotangents[k]
        if g is None:
            continue
        node = nodes[k]
        op = node.op
        if op is None:
            continue
        if k not in wanted:
            cotangents[k] = None
        inputs = node.inputs
        y = node.value
        xs = [x.value if isinstance(x, Node) else x for x in inputs]
        if not op.elementwise:
            if op.blind:
                xs = []
            for i, x in enumerate(inputs):
                if isinstance(x, Node) and x.index >= low and not x.constant:
                    vjp = op.vjp(i)
                    c = None if vjp is None else vjp(g, y, *xs, **node.params)
                    if c is not None:
                        _add(cotangents, owned, x, numeric.sum_to(c, numeric.shape(x.value)), False)
            continue
        arrays = g.__class__ is not float
        exponent = xs[1] if op.name == "pow" and not isinstance(inputs[1], Node) and xs[1].__class__ is float else None
        rules = _rules_of(op, len(xs), arrays, exponent)
        for i, x in enumerate(inputs):
            if not isinstance(x, Node) or x.index < low or x.constant:
                continue
            rule = rules[i]
            d = rule.constant
            fresh = True
            if arrays:
                if d == 1.0:
                    c, fresh = g, False
                else:
                    c = -g if d == -1.0 else rule.sent(g, y, *xs)
                if c.shape != numeric.shape(x.value):
                    c, fresh = numeric.sum_to(c, numeric.shape(x.value)), False
            elif g == 0.0:
                c = 0.0
            else:
                c = g * (rule.rule(y, *xs) if d is None else d)
            _add(cotangents, owned, x, c, fresh)
    return [cotangents[t.index] if t.index <= root.index else None for t in targets]


def _add(cotangents: list[Any], owned: bytearray, x: Node, c: Any, fresh: bool) -> None:
    """Add to the cotangent of x, in place where an array is our own."""
    j = x.index
    s = cotangents[j]
    if s is None:
        cotangents[j] = c
        owned[j] = fresh and c.__class__ is not float
    elif owned[j] and s.shape == numeric.shape(c):
        s += c
    else:
        cotangents[j] = s + c
        owned[j] = cotangents[j].__class__ is not float
