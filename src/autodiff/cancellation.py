"""Lost digits: whether rounding spoiled a value or its derivatives, which operation let it, and what to write instead.

Three stages, so that an ordinary run pays for a glance only: a screen over the recorded operations for
one that magnifies relative errors; the first-order bounds of `conditioning` where it finds one; and, where
these leave fewer than three digits, the exact answer, which has the last word.
"""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.conditioning import EXACT, SUMS, Bound, bound, entry_bounds, traced
from autodiff.errors import AutodiffError, Note
from autodiff.tape import Node, backward, contribution, local, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span
    from autodiff.parse.program import Program

LONGEST = 3_000  # operations of a run that is looked at unasked
ENTRIES = 50  # derivatives of a run that are looked at unasked
MAGNIFIED = 2.0**14  # what a relative error grows by before the bounds are worth computing
FEW = 1e-3  # a relative error that leaves fewer than three digits
DIGITS = 400  # of the exact answer
DETERMINED = frozenset(("det", "cofactor", "logdet", "inv", "solve", "cholesky", "eigvalsh"))
ADDS = ("add", "sub")
SMALLEST = 2.2250738585072014e-308  # below it float64 has fewer digits


def cancellation(
    program: Program,
    point: Mapping[str, Any],
    value: Any,
    gradient: Mapping[str, Any],
    convention: str | None = None,
    kinked: bool = False,
) -> list[Note]:
    """Notes on a value, one number, and its derivatives (empty: none asked for) that have few right digits.

    At a kink (`kinked`) the derivatives are a matter of convention and are not looked at.
    """
    if numeric.is_array(value) or not math.isfinite(value) or len(program.code) > 4 * LONGEST:
        return []
    try:
        run = traced(program, point, list(gradient), LONGEST, convention)
    except AutodiffError:
        return []  # too long
    root = run.value
    if not isinstance(root, Node):
        return []
    leaves = {name: run.leaves[name] for name in gradient} if not kinked else {}
    if not (magnifies(root) or (leaves and meets(root, list(leaves.values())))):
        return []
    doubtful: list[Doubt] = []
    of_value = bound(root)
    if of_value.total > FEW * abs(value):
        doubtful.append(("the value", value, (), of_value))
    doubtful += doubtful_derivatives(root, leaves, gradient)
    return notes(program, point, root, doubtful, leaves)


# ---- the screen


@numeric.quietly
def magnifies(root: Node) -> bool:
    """Whether some operation magnifies the relative error of an operand that is not exact, or underflows."""
    for node in root.tape.nodes[: root.index + 1]:
        op = node.op
        if op is None:
            continue
        y = node.value
        if op.elementwise:
            if op.name not in EXACT and _any(abs(y) < SMALLEST) and underflows(node):
                return True
            for i, x in enumerate(node.inputs):
                if isinstance(x, Node) and x.op is not None:
                    spread = abs(local(node, i) * numeric.real(x.value))
                    if _any(spread > MAGNIFIED * abs(y)):
                        return True
        elif op.name in DETERMINED:
            return True
        elif op.name in SUMS:
            total = op.array(*(abs(numeric.real(value_of(x))) for x in node.inputs), **node.params)
            if _any(total > MAGNIFIED * abs(y)):
                return True
    return False


def underflows(node: Node) -> bool:
    """Whether a value is below the range of float64 although no operand is 0, and it is not where a function is 0."""
    if node.op is None or node.op.name in ADDS:
        return False
    small = abs(node.value) < SMALLEST
    for x in node.inputs:
        there = value_of(x) != 0.0
        small = small & (there if node.op.elementwise else numeric.numpy().all(there))
    if _any(small) and node.op.elementwise:
        for i, x in enumerate(node.inputs):
            if isinstance(x, Node):
                small = small & (abs(local(node, i) * numeric.real(x.value)) < SMALLEST)
    return _any(small)


def _any(x: Any) -> bool:
    return bool(x.any()) if numeric.is_array(x) else bool(x)


@numeric.quietly
def meets(root: Node, leaves: Sequence[Node]) -> bool:
    """Whether contributions to a gradient cancel where several meet."""
    sizes: dict[Node, Any] = {}

    def watch(node: Node, i: int, g: Any, c: Any) -> None:
        if c is not None:
            x = node.inputs[i]
            sizes[x] = sizes.get(x, 0.0) + abs(value_of(c))

    cotangents = backward(root, 1.0, leaves, watch=watch, everything=True)
    return any(_any(size > MAGNIFIED * abs(cotangents[x.index])) for x, size in sizes.items())


# ---- the bounds


Doubt = tuple[str, float, tuple[int, ...], Bound]


def doubtful_derivatives(root: Node, leaves: Mapping[str, Node], gradient: Mapping[str, Any]) -> list[Doubt]:
    """The derivatives that rounding may have spoiled: label, value, place in the input, bound."""
    if sum(_size(leaf.value) for leaf in leaves.values()) > ENTRIES:
        return []
    found: list[Doubt] = []
    recorded = backward(root, 1.0, list(leaves.values()), record=True)
    for (name, leaf), g in zip(leaves.items(), recorded, strict=True):
        values = list(numeric.entries(gradient[name]))
        for place, v, b in zip(numeric.places(leaf.value), values, entry_bounds(g, leaf), strict=True):
            if b.total > FEW * abs(v) and math.isfinite(v):
                found.append((f"d/d{name}{list(place) if place else ''}", v, place, b))
    return found


def _size(x: Any) -> int:
    return int(x.size) if numeric.is_array(x) else 1


# ---- the exact answer, and the words


def notes(
    program: Program, point: Mapping[str, Any], root: Node, doubtful: Sequence[Doubt], leaves: Mapping[str, Node]
) -> list[Note]:
    """A note for each operation that spoiled something."""
    if not doubtful:
        return []
    exact = exactly(program, point, [*leaves])
    found: dict[Span | None, list[tuple[str, float, float | None]]] = {}
    culprits: dict[Span | None, tuple[Node, list[Node]]] = {}
    for label, got, place, b in doubtful:
        true = None if exact is None else exact[label.partition("[")[0]]
        if true is not None:
            true = true[place] if place else true
            size = abs(true)
            if abs(got - true) <= FEW * size or abs(got - true) < SMALLEST:
                continue
        node, path = culprit(b)
        span = place_of(node, root)
        culprits.setdefault(span, (node, path))
        found.setdefault(span, []).append((label, got, true))
    return [said(program.source, span, *culprits[span], root, spoiled) for span, spoiled in found.items()]


def exactly(program: Program, point: Mapping[str, Any], wrt: Sequence[str]) -> dict[str, Any] | None:
    """Value and derivatives to float64 in exact arithmetic, by label; None where that fails."""
    from autodiff import exact
    from autodiff.operands.extended import digits, lower

    try:
        with digits(DIGITS):
            lifted, at = exact.lifted(program), exact.lifted_point(program, point)
            found = {"the value": lower(exact.value(lifted, at, 2 * LONGEST))}
            if wrt:
                gradient = exact.gradient(lifted, at, wrt, 2 * LONGEST)
                found |= {f"d/d{name}": lower(g) for name, g in gradient.items()}
    except AutodiffError:
        return None
    return found


@numeric.quietly
def culprit(b: Bound) -> tuple[Node, list[Node]]:
    """The operation that magnifies the largest part of the error most, and all that this part passes from there."""
    assert b.root is not None
    node = max(b.parts, key=lambda n: b.parts[n])
    nodes = b.root.tape.nodes
    users: dict[Node, list[tuple[Node, int]]] = {}
    for user in nodes[: b.root.index + 1]:
        if b.cotangents[user.index] is not None:
            for i, x in enumerate(user.inputs):
                if isinstance(x, Node):
                    users.setdefault(x, []).append((user, i))
    worst, most = node, 16.0
    path = [node]
    while node in users and node is not b.root:
        step: tuple[float, float, Node] | None = None
        for user, i in users[node]:
            g = value_of(b.cotangents[user.index])
            c = contribution(user, i, g)
            if c is None:
                continue
            sent = _total(abs(value_of(c)) * abs(numeric.real(node.value)))
            had = _total(abs(g) * abs(numeric.real(user.value)))
            growth = sent / had if had else math.inf if sent else 0.0
            if step is None or sent > step[0]:
                step = (sent, growth, user)
        if step is None:
            break
        node = step[2]
        path.append(node)
        if step[1] > most:
            most, worst = step[1], node
    return worst, path[path.index(worst) :]


def _total(x: Any) -> float:
    return float(x.sum()) if numeric.is_array(x) else float(x)


def place_of(node: Node, root: Node) -> Span | None:
    """The text of an operation; of one of the backward pass the smallest text that holds all that meets there."""
    if node.index <= root.index:
        return node.span
    parts = [n.span for n in (node, *node.inputs) if isinstance(n, Node) and n.index > root.index and n.span]
    if not parts:
        return root.span
    start, end = min(p[0] for p in parts), max(p[1] for p in parts)
    around = [
        n.span
        for n in root.tape.nodes[: root.index + 1]
        if n.op is not None and n.span and n.span[0] <= start and end <= n.span[1]
    ]
    return min(around, key=lambda span: span[1] - span[0], default=root.span)


def said(
    source: str,
    span: Span | None,
    node: Node,
    path: Sequence[Node],
    root: Node,
    spoiled: Sequence[tuple[str, float, float | None]],
) -> Note:
    """The note on one operation."""
    assert node.op is not None
    text = source[slice(*span)] if span else node.op.name
    text = f"'{text}'" if len(text) <= 60 else node.op.name
    if node.index > root.index:
        text = f"the derivative of {text}"
    verb = (
        "cancels"
        if node.op.name in (*ADDS, *SUMS)
        else "underflows"
        if underflows(node)
        else "magnifies rounding errors"
    )
    told: dict[str, list[str]] = {}
    for label, got, true in spoiled:
        told.setdefault(right_digits(got, true), []).append(label)
    results = "; ".join(how.format(_and(labels)) for how, labels in told.items())
    exact = ", ".join(f"{label} {true:.6g}" for label, _, true in spoiled[:4] if true is not None)
    better = rewrite(source, path, root)
    help = "; ".join(part for part in (better and f"write {better}", exact and f"in exact arithmetic: {exact}") if part)
    return Note("cancellation", f"{text} {verb}: {results}", span, 1, help or None)


def _and(labels: Sequence[str]) -> str:
    if len(labels) > 4:
        labels = [*labels[:3], f"{len(labels) - 3} more"]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def right_digits(got: float, true: float | None) -> str:
    """How many digits are right, in words with a place for what has them."""
    if true is None:
        return "few digits of {} are right"
    error = abs(got - true) / abs(true) if true else math.inf
    count = int(-math.log10(error)) if 0.0 < error < 1.0 else 0
    return (
        f"about {count} digit{'s' * (count > 1)} of {{}} {'is' if count == 1 else 'are'} right"
        if count
        else "no digit of {} is right"
    )


# ---- what to write instead


def rewrite(source: str, path: Sequence[Node], root: Node) -> str | None:
    """The stable spelling of the operation that lost the digits, or of one that they pass, if the language has one."""
    backward_pass = path[0].index > root.index
    for candidate in root.tape.nodes[: root.index + 1] if backward_pass else path:
        for found in _spellings(source, candidate):
            return found
    return None


def _spellings(source: str, node: Node) -> Iterator[str]:
    """Stable spellings of one operation."""

    def named(x: Any, name: str) -> bool:
        return isinstance(x, Node) and x.op is not None and x.op.name == name

    def is_one(x: Any) -> bool:
        return isinstance(x, Node) and x.op is None and not x.shape and x.value == 1.0

    def text(x: Any) -> str:
        return source[slice(*x.span)].strip() if isinstance(x, Node) and x.span else "…"

    def tight(x: Any) -> str:
        return text(x) if not isinstance(x, Node) or x.op is None or not x.op.symbol else f"({text(x)})"

    name = node.op.name if node.op else ""
    xs = node.inputs
    if name == "sub" and is_one(xs[1]) and named(xs[0], "exp"):
        yield f"expm1({text(xs[0].inputs[0])})"
    if name == "sub" and is_one(xs[0]) and named(xs[1], "exp"):
        yield f"-expm1({text(xs[1].inputs[0])})"
    if name == "sub" and is_one(xs[0]) and named(xs[1], "cos"):
        yield f"2*sin({tight(xs[1].inputs[0])}/2)^2"
    if name == "sub" and is_one(xs[0]) and named(xs[1], "erf"):
        yield f"erfc({text(xs[1].inputs[0])})"
    if name == "sub" and is_one(xs[0]) and named(xs[1], "sigmoid"):
        yield f"sigmoid(-{tight(xs[1].inputs[0])})"
    if name == "log" and named(xs[0], "add"):
        for one, other in (xs[0].inputs, xs[0].inputs[::-1]):
            if is_one(one):
                yield f"softplus({text(other.inputs[0])})" if named(other, "exp") else f"log1p({text(other)})"
    if name == "log" and named(xs[0], "sub") and is_one(xs[0].inputs[0]):
        yield f"log1p(-{tight(xs[0].inputs[1])})"
    if name == "log" and named(xs[0], "sigmoid"):
        yield f"log_sigmoid({text(xs[0].inputs[0])})"
    if name == "sqrt" and named(xs[0], "add"):
        squares = [_squared(x) for x in xs[0].inputs]
        if all(squares):
            yield f"hypot({text(squares[0])}, {text(squares[1])})"
    if name == "div" and named(xs[0], "sub") and named(xs[1], "add"):
        first, last = xs[0].inputs
        if named(first, "exp") and named(last, "exp") and [text(x) for x in xs[1].inputs] == [text(first), text(last)]:
            yield f"tanh({text(first.inputs[0])})"
    if name == "div" and named(xs[0], "sin") and text(xs[0].inputs[0]) == text(xs[1]):
        yield f"sinc({tight(xs[1])}/pi)"


def _squared(x: Any) -> Any:
    """What a node is the square of."""
    if not isinstance(x, Node) or x.op is None:
        return None
    name, xs = x.op.name, x.inputs
    if name == "square" or (name == "pow" and value_of(xs[1]) == 2.0) or (name == "mul" and xs[0] is xs[1]):
        return xs[0]
    return None
