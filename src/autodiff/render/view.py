"""The recorded graph as plain rows: what every picture (lanes, DOT, JSON) is drawn from.

Rows stand in the order in which the operations ran; an input or constant enters just before its
first use. A row that nothing needs is there too, marked `unused`; an unused constant is left out.

Names. What the user named keeps the name; the second value of the same name is `y_2`, the third
`y_3`, so that an operand always says which one is meant. Other operations are called a, b, … z,
a1, b1, … without those the user has, and the result is `y` if nothing else is.
"""

from __future__ import annotations

from autodiff.render.number import inline, number, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any, NamedTuple, Protocol

    from autodiff.errors import Span

    class Operation(Protocol):
        """What is read of an operation: `symbol` is its operator (`+`), if it has one."""

        @property
        def name(self) -> str: ...
        @property
        def symbol(self) -> str | None: ...
        @property
        def grad_fn(self) -> str: ...

    class Recorded(Protocol):
        """What is read of a node. A leaf has no `op`; it is a constant or an input."""

        @property
        def op(self) -> Operation | None: ...
        @property
        def inputs(self) -> Sequence[Any]: ...
        @property
        def value(self) -> Any: ...
        @property
        def span(self) -> Span | None: ...

        @property
        def constant(self) -> bool: ...
        @property
        def params(self) -> Mapping[str, Any] | None: ...

    class Row(NamedTuple):
        """One line of a picture.

        `label` is `name = text` for what has both. `inputs` are (row number, local derivative) in
        operand order, one entry per operand, `sent` what the sweep sent to each; a gradient is None
        where none reaches. A `backward` row was recorded by the sweep; `second` are the gradients of
        the derivatives, by input. A fold stands for `rounds` rounds, of `size` rows in all.
        """

        id: str
        kind: str
        op: str
        grad_fn: str
        name: str
        text: str
        label: str
        value: Any
        grad: Any
        span: Span | None
        inputs: tuple[tuple[int, Any], ...]
        result: bool
        unused: bool
        sent: tuple[Any, ...] = ()
        backward: bool = False
        second: Mapping[str, Any] = {}
        rounds: int = 1
        size: int = 1

else:
    from collections import namedtuple

    Row = namedtuple(
        "Row",
        "id kind op grad_fn name text label value grad span inputs result unused sent backward second rounds size",
        defaults=((), False, {}, 1, 1),
    )

INPUT, CONSTANT, OPERATION, FOLD = "input", "constant", "operation", "fold"

INDEX = "index"
"""The operation printed as `v[0]`; `params["index"]` holds numbers, slices and arrays."""
LIST = "list"
"""The operation printed as `[a, b]`."""

TIGHT = ("^", "**")
WORDS = ("and", "or", "not")
LITERAL = 40


def freeze(
    nodes: Sequence[Recorded],
    result: Recorded,
    *,
    source: str = "",
    names: Mapping[Any, str] | None = None,
    gradients: Mapping[Any, Any] | None = None,
    local: Mapping[Any, Sequence[Any]] | None = None,
    reserved: Collection[str] = (),
    sent: Mapping[Any, Sequence[Any]] | None = None,
    backward: Collection[Any] = (),
    cotangents: Mapping[Any, Any] | None = None,
    derivatives: Mapping[str, Any] | None = None,
    second: Mapping[str, Mapping[Any, Any]] | None = None,
) -> list[Row]:
    """Rows of the nodes (given in recording order).

    `names` are the statement names by node, `gradients` what reached each node, `local` the local
    derivatives by node in operand order (None where there is no single number), `reserved` names
    that must not be given to anything, `sent` what the sweep sent to the operands of each node.
    Of the nodes `backward`, which the sweep recorded, `cotangents` says whose gradient one holds;
    `derivatives` are the gradients of the inputs, `second` the gradients of these.
    """
    names = names or {}
    gradients = gradients or {}
    local = local or {}
    sent = sent or {}
    second = second or {}
    backward = frozenset(backward)
    results = {result, *(derivatives or {}).values()}
    ordered = _order(nodes, result, results)
    used = {operand for node in ordered for operand in _operands(node)}
    # A constant of the sweep carries the place of the operation whose derivative it belongs to.
    literals = {
        node: short(node.value) if node in backward else _literal(node, source)
        for node in ordered
        if node.op is None and node.constant
    }
    called = _names(ordered, result, names, literals, reserved)
    for node, of in (cotangents or {}).items():
        if node in called:
            called[node] = f"d{called[result]}/d{called[of]}"
    number_of = {node: at for at, node in enumerate(ordered)}
    rows: list[Row] = []
    for at, node in enumerate(ordered):
        name = called[node]
        op = node.op
        inputs: list[tuple[int, Any]] = []
        if op is not None:
            kind, text = OPERATION, _expression(node, op, called, literals)
            if node in names:
                text = _as_written(text, node.span, source)
            partials: Sequence[Any] = local.get(node) or (None,) * len(node.inputs)
            inputs = [
                (number_of[operand], derivative)
                for operand, derivative in zip(node.inputs, partials, strict=True)
                if _is_node(operand)
            ]
        elif node.constant:
            kind, text = CONSTANT, literals[node]
        else:
            kind, text = INPUT, name
        rows.append(
            Row(
                id=f"n{at}",
                kind=kind,
                op=op.name if op is not None else "",
                grad_fn=op.grad_fn if op is not None else "" if node.constant else "AccumulateGrad",
                name=name,
                text=text,
                label=text if text == name else f"{name} = {text}",
                value=node.value,
                grad=gradients.get(node),
                span=node.span,
                inputs=tuple(inputs),
                result=node in results,
                unused=node not in used and node not in results,
                sent=tuple(
                    [term for term, operand in zip(sent.get(node, ()), node.inputs, strict=False) if _is_node(operand)]
                ),
                backward=node in backward,
                second={name: found[node] for name, found in second.items() if node in found},
            )
        )
    return rows


def _is_node(operand: Any) -> bool:
    return hasattr(operand, "inputs")


def _operands(node: Recorded) -> Iterator[Any]:
    return filter(_is_node, node.inputs)


def _order(nodes: Sequence[Recorded], result: Recorded, results: Collection[Recorded]) -> list[Recorded]:
    """Recording order with the leaves moved down to their first use."""
    used = {operand for node in nodes for operand in _operands(node)}
    entered: dict[Recorded, None] = {}
    for node in nodes:
        if node.op is not None:
            for operand in _operands(node):
                entered.setdefault(operand)
        elif node not in results and (node in used or node.constant):
            continue
        entered.setdefault(node)
    entered.setdefault(result)
    return list(entered)


def _names(
    ordered: Iterable[Recorded],
    result: Recorded,
    names: Mapping[Any, str],
    literals: Mapping[Recorded, str],
    reserved: Collection[str],
) -> dict[Recorded, str]:
    """How each row is called where it is an operand; unnamed constants by their literal text."""
    given: dict[Recorded, str] = {}
    for node in ordered:
        name = names.get(node)
        if name:
            given[node] = name
    taken = {*reserved, *given.values(), *literals.values()}
    if result.op is not None and result not in given and "y" not in taken:
        given[result] = "y"
        taken.add("y")
    automatic = _letters(taken)
    uses: dict[str, int] = {}
    called: dict[Recorded, str] = {}
    for node in ordered:
        if node in given:
            called[node] = _unique(given[node], uses, taken)
        elif node in literals:
            called[node] = literals[node]
        else:
            called[node] = next(automatic)
    return called


def _letters(taken: Collection[str]) -> Iterator[str]:
    turn = 0
    while True:
        for letter in "abcdefghijklmnopqrstuvwxyz":
            name = f"{letter}{turn or ''}"
            if name not in taken:
                yield name
        turn += 1


def _unique(name: str, uses: dict[str, int], taken: Collection[str]) -> str:
    uses[name] = uses.get(name, 0) + 1
    if uses[name] == 1:
        return name
    while f"{name}_{uses[name]}" in taken:
        uses[name] += 1
    return f"{name}_{uses[name]}"


def _literal(node: Recorded, source: str) -> str:
    """A constant as the source spells it, if that is short and on one line, else its value."""
    if node.span is not None:
        start, end = node.span
        text = source[start:end] if end - start <= LITERAL else ""
        if text and text.isprintable():
            return text
    return short(node.value)


def _as_written(text: str, span: Span | None, source: str) -> str:
    """A named statement in the user's own spacing, where it is made of just these operands."""
    if span is None or span[1] - span[0] > 2 * len(text):
        return text
    written = source[span[0] : span[1]]
    same = written.isprintable() and written.replace(" ", "") == text.replace(" ", "")
    return written if same else text


def _expression(node: Recorded, op: Operation, called: Mapping[Recorded, str], literals: Mapping[Recorded, str]) -> str:
    """The right-hand side, operands by name: `x + 2`, `a^2`, `sin(b)`, `v[0]`, `sum(A, axis=0)`."""
    operands = [called[operand] if _is_node(operand) else short(operand) for operand in node.inputs]
    params = node.params or {}
    if op.name == LIST:
        return "[" + ", ".join(operands) + "]"
    if op.name == INDEX and operands:
        # An index that is itself a value stands among the operands.
        items = [_item(item) for item in _sequence(params.get("index", ()))] + operands[1:]
        return f"{operands[0]}[{', '.join(items)}]"
    symbol = op.symbol or ""
    if not symbol or (symbol.isidentifier() and symbol not in WORDS) or len(operands) > 2:
        settings = [f"{key}={_item(value)}" for key, value in params.items() if value is not None]
        return f"{op.name}({', '.join(operands + settings)})"
    bound = [
        f"({text})" if _is_node(operand) and text == literals.get(operand) and not _is_atom(text) else text
        for operand, text in zip(node.inputs, operands, strict=True)
    ]
    if len(bound) == 1:
        return symbol + (" " if symbol in WORDS else "") + bound[0]
    return (symbol if symbol in TIGHT else f" {symbol} ").join(bound)


def _is_atom(text: str) -> bool:
    """Whether an operator next to the text leaves it in one piece."""
    try:
        float(text.replace("_", ""))
    except ValueError:
        depth = 0
        for char in text:
            depth += (char in "([") - (char in ")]")
            if depth == 0 and not (char.isalnum() or char in "_.)]"):
                return False
        return True
    return text[0] not in "+-"


def _sequence(items: Any) -> Sequence[Any]:
    return items if isinstance(items, (list, tuple)) else (items,)


def _item(item: Any) -> str:
    """An index or a setting."""
    if isinstance(item, slice):
        bounds = ["" if bound is None else number(bound) for bound in (item.start, item.stop)]
        if item.step is not None:
            bounds.append(number(item.step))
        return ":".join(bounds)
    if isinstance(item, (list, tuple)):
        return inline(item)
    return short(item)
