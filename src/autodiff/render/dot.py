"""The recorded graph in Graphviz's language: the same rows, the same ids, the same bytes.

Only plain labels, never record or HTML ones: these would read the user's `|`, `{` and `<` as layout.
"""

from __future__ import annotations

from autodiff.render.number import short
from autodiff.render.terminal import cut, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autodiff.render.view import Row

# A short chain reads like the formula; a long one would leave the page.
MOST_SIDEWAYS = 15

LABEL = 40
MOST_SECOND = 4
TITLE_COLUMNS, TITLE_LINES = 100, 12

KINDS = {
    "operation": ("box", "#ffffff"),
    "input": ("ellipse", "#cfe8ff"),
    "constant": ("plaintext", "#eeeeee"),
    "fold": ("box3d", "#f3ecff"),
}
RESULT = "#ffe3b3"


def dot(rows: Sequence[Row], title: str = "", *, local: bool = True, digits: int | None = None) -> str:
    """A digraph, its edges in the direction of the forward pass; `local` labels them with the derivatives."""
    return "\n".join(_lines(rows, title, local, digits)) + "\n"


def _lines(rows: Sequence[Row], title: str, local: bool, digits: int | None) -> Iterator[str]:
    yield "digraph autodiff {"
    yield f"  rankdir={'LR' if len(rows) <= MOST_SIDEWAYS else 'TB'};"
    if title:
        yield f'  label="{_title(title)}"; labelloc=t; labeljust=l;'
    yield '  node [shape=box, style=filled, fontname="monospace"];'
    yield '  edge [fontname="monospace", fontsize=10];'
    for row in rows:
        shape, fill = KINDS[row.kind]
        attributes = f'shape={shape}, fillcolor="{RESULT if row.result else fill}"'
        if row.result:
            attributes += ", peripheries=2, penwidth=1.5"
        if row.backward:
            attributes += ', color="#b3541e"'
        if row.unused:
            attributes += ', style="filled,dashed"'
        yield f'  {row.id} [label="{_label(row, digits)}", {attributes}];'
    for row in rows:
        for source, derivative in row.inputs:
            shown = ""
            if local and derivative is not None:
                shown = f' [label="{escaped(short(derivative, digits))}"]'
            yield f"  {rows[source].id} -> {row.id}{shown};"
    yield "}"


def _label(row: Row, digits: int | None) -> str:
    return "\\n".join([escaped(line) for line in node_lines(row, digits)])


def node_lines(row: Row, digits: int | None) -> list[str]:
    """What a node says: label, value, gradient, gradients of derivatives, class."""
    lines = [cut(printable(row.label), LABEL)]
    value = short(row.value, digits)
    if value != row.label:
        lines.append(f"value {value}")
    if row.grad is not None:
        lines.append(f"grad {short(row.grad, digits)}")
    for name, second in list(row.second.items())[:MOST_SECOND]:
        lines.append(f"grad of d/d{cut(printable(name), LABEL // 2)} {short(second, digits)}")
    if row.op and row.grad_fn:
        lines.append(row.grad_fn)
    if row.unused:
        lines.append("unused")
    return lines


def _title(title: str) -> str:
    """The title, its lines kept and set flush left."""
    lines = [cut(printable(line), TITLE_COLUMNS) for line in title.splitlines()]
    if len(lines) > TITLE_LINES:
        lines[TITLE_LINES - 1 :] = ["…"]
    return "".join([escaped(line) + "\\l" for line in lines])


def escaped(text: str) -> str:
    """Printable text inside a quoted label: quotes, label escapes (`\\N`) and entities (`&lt;`)."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
