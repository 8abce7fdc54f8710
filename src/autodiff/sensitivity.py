"""How an answer depends on its inputs and on rounding: relative condition numbers, and bounds of the error at hand.

The bounds are the first-order sums of `conditioning`, with the error that each operation committed at this
point, measured against the exact result of its operands, in place of the most that it might commit.
"""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.cancellation import culprit, place_of
from autodiff.conditioning import Bound, bound, committed, entry_bounds, traced
from autodiff.errors import Note
from autodiff.ops import OPS
from autodiff.tape import Node, backward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from autodiff.parse.program import Program

MEASURED = 20_000  # operations up to which errors are measured; beyond, the most that may be is taken
DIGITS = 60
SATURATES = frozenset(
    (
        *("tanh", "erf", "erfc", "ndtr", "log_ndtr", "sigmoid", "log_sigmoid", "softplus", "logaddexp", "expm1"),
        *("softmax", "log_softmax", "logsumexp", "silu", "gelu", "mish", "elu", "selu", "hypot", "norm", "atan"),
    )
)
"""Functions that come nearer to a float64 than the digits of the measurement show."""


class Sensitivity:
    """What was found: by input the relative condition numbers and the bounds of the derivatives; of the value one."""

    __slots__ = ("condition", "gradient", "notes", "value")

    def __init__(self) -> None:
        self.condition: dict[str, Any] = {}
        self.value = 0.0
        self.gradient: dict[str, Any] = {}
        self.notes: list[Note] = []


def sensitivity(
    program: Program,
    point: Mapping[str, Any],
    value: float,
    gradient: Mapping[str, Any],
    max_ops: int,
    convention: str | None = None,
) -> Sensitivity:
    """Condition numbers x·f'/f (of the shapes of the inputs), and bounds of the rounding error in f and in f'."""
    found = Sensitivity()
    for name, slope in gradient.items():
        found.condition[name] = relative(numeric.real(point[name]), slope, value)
    run = traced(program, point, list(gradient), max_ops, convention)
    root = run.value
    if not isinstance(root, Node):
        found.value = 0.0 * value
        found.gradient = {name: 0.0 * slope for name, slope in gradient.items()}
        return found
    leaves = [run.leaves[name] for name in gradient]
    recorded = backward(root, 1.0, leaves, record=True)
    errors = measured if len(run.tape.nodes) <= MEASURED else committed
    known: dict[Node, Any] = {}

    def error(node: Node) -> Any:
        if node not in known:
            known[node] = errors(node)
        return known[node]

    of_value = bound(root, error=error)
    found.value = of_value.total if math.isfinite(value) else math.nan
    for name, g, leaf in zip(gradient, recorded, leaves, strict=True):
        totals = [b.total for b in entry_bounds(g, leaf, error)]
        totals = [
            total if math.isfinite(slope) else math.nan
            for total, slope in zip(totals, numeric.entries(gradient[name]), strict=True)
        ]
        found.gradient[name] = numeric.numpy().array(totals).reshape(leaf.shape) if leaf.shape else totals[0]
    found.notes = named(program, root, of_value) if math.isfinite(value) else []
    return found


@numeric.quietly
def relative(x: Any, slope: Any, value: float) -> Any:
    """x·f'/f: by how many parts f moves when x moves by one."""
    if numeric.is_array(slope):
        return x * slope / value if value else numeric.numpy().where(x * slope == 0.0, 0.0, math.inf)
    product = x * slope
    return product / value if value else 0.0 if product == 0.0 else math.inf


@numeric.quietly
def measured(node: Node) -> Any:
    """The error that a node's operation committed: its value against the exact result of the same operands."""
    from autodiff.operands.extended import digits, lift, lower

    assert node.op is not None
    if not numeric.is_finite(node.value):
        return 0.0 * abs(numeric.real(node.value))
    with digits(DIGITS):
        exact = node.op(*(lift(x.value) if isinstance(x, Node) else x for x in node.inputs), **node.params)
        off = abs(lower(OPS["sub"](lift(exact), lift(node.value))))
    return off + 10.0 ** (5 - DIGITS) * abs(node.value) if node.op.name in SATURATES else off


def named(program: Program, root: Node, of_value: Bound) -> list[Note]:
    """A note that names the operation from which most of the error in the value comes."""
    if not of_value.parts:
        return []
    node, _ = culprit(of_value)
    source = max(of_value.parts, key=lambda n: of_value.parts[n])
    share = of_value.parts[source] / of_value.total
    how = "is made by" if node is source else "is magnified by"
    span = place_of(node, root)
    assert node.op is not None
    text = program.source[slice(*span)] if span else node.op.name
    text = f"'{text}'" if len(text) <= 60 else node.op.name
    text = f"{node.op.symbol} in {text}" if node.op.symbol else text
    return [Note("rounding", f"{share:.0%} of the rounding error in the value {how} {text}", span)]
