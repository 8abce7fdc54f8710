"""Where a nan or an infinity was first made, and where no derivative exists: notes with their places."""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import Note
from autodiff.tape import Node, backward, local, ones_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from autodiff.errors import Span


def gather(notes: Iterable[Note]) -> list[Note]:
    """One note a place and kind, with a count."""
    found: dict[tuple[str, Span | None], Note] = {}
    for note in notes:
        key = (note.kind, note.span)
        if key in found:
            first = found[key]
            found[key] = first._replace(count=first[3] + note[3])
        else:
            found[key] = note
    return list(found.values())


def brief(value: Any) -> str:
    """A value in a message."""
    if numeric.is_array(value):
        return str(value.tolist()) if value.size <= 6 else f"an array of shape {value.shape}"
    return f"{value:.6g}" if value.__class__ is float else str(value).lower()


def excerpt(node: Node, source: str) -> str:
    """The text that an operation comes from, its name where that is long."""
    assert node.op is not None
    text = source[slice(*node.span)] if node.span else node.op.name
    return text if len(text) <= 60 else node.op.name


def _feeds(node: Node, i: int) -> bool:
    """Whether operand i can reach the value: not an operand that the op did not select."""
    if node.op is None or not node.op.selects or not node.op.elementwise:
        return True
    d = local(node, i)
    return bool(d.any()) if numeric.is_array(d) else bool(d != 0.0)


def nonfinite(root: Node, source: str) -> list[Note]:
    """The operations that first made a nan or infinity out of finite operands, among those that reach the root."""
    nodes = root.tape.nodes
    reached = bytearray(root.index + 1)
    reached[root.index] = 1
    finite: list[Note] = []
    others: list[Note] = []
    for k in range(root.index, -1, -1):
        node = nodes[k]
        if not reached[k] or node.op is None or numeric.is_finite(node.value):
            continue
        bad = False
        broken = False
        for i, x in enumerate(node.inputs):
            value = x.value if isinstance(x, Node) else x
            if not numeric.is_finite(value) and _feeds(node, i):
                bad = True
                broken = broken or numeric.is_nan(value)
                if isinstance(x, Node):
                    reached[x.index] = 1
        if not bad:
            finite.append(_made(node, source))
        elif numeric.is_nan(node.value) and not broken:
            others.append(_made(node, source))
    return gather(reversed(finite or others))


def _made(node: Node, source: str) -> Note:
    assert node.op is not None
    nan = numeric.is_nan(node.value)
    values = ", ".join(brief(x.value if isinstance(x, Node) else x) for x in node.inputs)
    what = "nan" if nan else brief(node.value) if not numeric.is_array(node.value) else "inf"
    kind = "domain" if nan and len(node.inputs) == 1 else "nonfinite"
    help = f"{node.op.name} wants {node.op.domain}" if kind == "domain" and node.op.domain != "all reals" else None
    return Note(
        kind, f"'{excerpt(node, source)}' is {what}: {node.op.symbol or node.op.name} of {values}", node.span, 1, help
    )


def steep(root: Node, seed: Any, targets: list[Node], source: str, first: int) -> list[Note]:
    """The operations whose derivative first turned a finite cotangent into a nan or infinity.

    Nodes after `first`, the value's own, are recorded derivatives.
    """
    found: list[Note] = []

    def watch(node: Node, i: int, g: Any, c: Any) -> None:
        if c is None or numeric.is_finite(c) or not numeric.is_finite(g) or not numeric.is_finite(node.value):
            return
        of = "the derivative" if node.index <= first else "the second derivative"
        d = "nan" if numeric.is_nan(c) else "infinite"
        at = brief(node.inputs[i].value)
        found.append(Note("nonfinite", f"{of} of '{excerpt(node, source)}' is {d} at {at}", node.span))

    backward(root, seed, targets, watch=watch)
    return gather(found)


def steep_note(node: Node, source: str, order: int) -> Note:
    """Of an operation that first makes a derivative of some order nan or infinite."""
    of = {1: "the derivative", 2: "the second derivative"}.get(order, f"the derivative of order {order}")
    at = ", ".join(brief(x.value if isinstance(x, Node) else x) for x in node.inputs)
    return Note("nonfinite", f"{of} of '{excerpt(node, source)}' is not finite at {at}", node.span)


@numeric.quietly
def kinks(root: Node, seed: Any, targets: list[Node]) -> dict[Node, bool]:
    """The recorded operations at a kink that a nonzero cotangent reaches, and at a jump that any reaches.

    True stands for a nonzero one: a jump times 0 is a kink or nothing (`x*sign(x)`, `0*sign(x)`).
    """
    places: dict[Node, Any] = {}
    for node in root.tape.nodes[: root.index + 1]:
        op = node.op
        if op is not None and op.kink is not None:
            at = op.kink(node.value, *(x.value if isinstance(x, Node) else x for x in node.inputs), **node.params)
            if at.any() if numeric.is_array(at) else at:
                places[node] = at
    found: dict[Node, bool] = {}

    def watch(node: Node, i: int, g: Any, c: Any) -> None:
        at = places.get(node)
        if at is None or node in found:
            return
        assert node.op is not None
        if numeric.is_array(at) or numeric.is_array(g):
            np = numeric.numpy()
            try:
                hit = bool(np.any(np.asarray(at) & (np.asarray(g) != 0.0)))
            except ValueError:
                hit = bool(np.any(at)) and bool(np.any(g))
        else:
            hit = g != 0.0
        if hit or node.op.jump:
            found[node] = bool(hit)

    if places:
        backward(root, seed, targets, watch=watch)
    return found


__all__ = ["gather", "kinks", "nonfinite", "ones_like", "steep"]
