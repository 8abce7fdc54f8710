"""What pictures and explanations are drawn from: one recorded run, its sweep, and on request the sweep's own record."""

from __future__ import annotations

from autodiff import numeric
from autodiff.job import Job, Outcome, Settings
from autodiff.ops import OPS
from autodiff.tape import Node, backward, contribution, local, value_of, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from autodiff.parse.program import Program

SEED = "seed"


class Picture:
    """A run and its sweep.

    `nodes` are in recording order, those from `forward` on recorded by the sweep. `gradients`, `local`
    (by operand) and `sent` (by operand) are by node; `cotangents` says whose gradient a node of the
    sweep holds; `derivatives` are the sweep's results and `second` their own gradients, by input.
    """

    __slots__ = (
        "cotangents",
        "derivatives",
        "forward",
        "gradients",
        "local",
        "names",
        "nodes",
        "outcome",
        "root",
        "second",
        "sent",
    )

    def __init__(self, outcome: Outcome, root: Node, names: dict[Node, str]) -> None:
        self.outcome = outcome
        self.root = root
        self.names = names
        self.nodes: Sequence[Node] = root.tape.nodes
        self.forward = len(self.nodes)
        self.gradients: dict[Node, Any] = {}
        self.local: dict[Node, tuple[Any, ...]] = {}
        self.sent: dict[Node, tuple[Any, ...]] = {}
        self.cotangents: dict[Node, Node] = {}
        self.derivatives: dict[str, Node] = {}
        self.second: dict[str, dict[Node, Any]] = {}


@numeric.quietly
def picture(
    program: Program,
    point: Mapping[str, Any],
    wrt: Sequence[str],
    settings: Settings | None = None,
    *,
    command: str = "graph",
    record: bool = False,
) -> Picture:
    """Run, sweep once, and keep everything; with `record` sweep again on the tape. The value must be one number."""
    job = Job(program, point, wrt, settings or Settings(), picture=True)
    job.scalar(command)
    root = job.root if isinstance(job.root, Node) else job.run.tape.constant(job.root)
    drawn = Picture(job.outcome(), root, job.run.names)
    sent: dict[Node, list[Any]] = {}

    def watch(node: Node, i: int, g: Any, c: Any) -> None:
        if node not in sent:
            sent[node] = [None] * len(node.inputs)
        sent[node][i] = value_of(c)

    cotangents = backward(root, 1.0, [], everything=True, watch=watch)
    nodes = root.tape.nodes[: len(cotangents)]
    drawn.gradients = {
        node: value_of(g) for node, g in zip(nodes, cotangents, strict=True) if g is not None and _tells(node, g)
    }
    drawn.sent = {node: tuple(terms) for node, terms in sent.items()}
    settled = job.settle(
        root, 1.0, {n: drawn.gradients.get(leaf, zeros_like(leaf.value)) for n, leaf in job.leaves.items()}
    )
    drawn.outcome.notes = job.outcome().notes
    for name, g in settled.items():
        drawn.gradients[job.leaves[name]] = g
    drawn.outcome.gradient = settled
    if record:
        _record(drawn, job.leaves)
    drawn.local = _locals(drawn.nodes)
    return drawn


def _tells(node: Node, g: Any) -> bool:
    """Nobody asked for the gradient of a constant: it is shown, but a nan (of the 2 in (-1)^2) is not."""
    return not node.constant or numeric.is_finite(value_of(g))


def _record(drawn: Picture, leaves: Mapping[str, Node]) -> None:
    """The sweep once more, on the tape, and the gradients of what it found."""
    root = drawn.root
    tape = root.tape
    drawn.forward = len(tape.nodes)
    seed = tape.constant(1.0)
    drawn.names[seed] = SEED
    targets = [node for node in tape.nodes[: drawn.forward] if not node.constant and node is not root]
    found = backward(root, seed, targets, record=True)
    results = {leaf: name for name, leaf in leaves.items()}
    for node, g in zip(targets, found, strict=True):
        name = results.get(node)
        if name is not None and (not isinstance(g, Node) or g is seed or g.index < drawn.forward):
            # The derivative is a number or a value of the forward pass: it gets a row of its own.
            tape.span = None
            g = OPS["pos"](g) if isinstance(g, Node) and g is not seed else tape.constant(_number(g, node))
        if name is not None:
            if g in drawn.cotangents:  # one value, two inputs: as in x + y
                g = OPS["pos"](g)
            drawn.derivatives[name] = g
        if isinstance(g, Node) and g.index >= drawn.forward and g is not seed and g not in drawn.cotangents:
            drawn.cotangents[g] = node
    for name, g in drawn.derivatives.items():
        if g.op is not None and not g.shape:
            again = backward(g, 1.0, [], everything=True)
            drawn.second[name] = {
                node: value_of(h)
                for node, h in zip(tape.nodes, again, strict=False)
                if h is not None and _tells(node, h)
            }


def _number(g: Any, node: Node) -> Any:
    return zeros_like(node.value) if g is None else value_of(g)


def _locals(nodes: Iterable[Node]) -> dict[Node, tuple[Any, ...]]:
    """The local derivatives by operand, None where there is no single one."""
    found: dict[Node, tuple[Any, ...]] = {}
    for node in nodes:
        if node.op is not None:
            rule = _elementwise if node.op.elementwise else _plain
            found[node] = tuple([rule(node, i) if isinstance(x, Node) else None for i, x in enumerate(node.inputs)])
    return found


def _elementwise(node: Node, i: int) -> Any:
    d = value_of(local(node, i))
    return d if _tells(node.inputs[i], d) else None


def _plain(node: Node, i: int) -> Any:
    """The local derivative of an op that is not elementwise, where it is one number."""
    if numeric.shape(node.value) or numeric.shape(value_of(node.inputs[i])):
        return None
    return value_of(contribution(node, i, 1.0))
