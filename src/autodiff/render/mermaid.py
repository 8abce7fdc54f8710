"""The recorded graph in Mermaid's language: the same rows and ids as in every other picture."""

from __future__ import annotations

import re

from autodiff.render.dot import MOST_SIDEWAYS, node_lines
from autodiff.render.number import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autodiff.render.view import Row

SHAPES = {"operation": ("[", "]"), "input": ("([", "])"), "constant": ("(", ")"), "fold": ("[[", "]]")}
RESULT = ("{{", "}}")

CLASSES = {
    "input": "fill:#cfe8ff,stroke:#2b6cb0,color:#111",
    "constant": "fill:#eeeeee,stroke:#999999,color:#111",
    "operation": "fill:#ffffff,stroke:#555555,color:#111",
    "fold": "fill:#f3ecff,stroke:#6b46c1,color:#111",
    "result": "fill:#ffe3b3,stroke:#b7791f,stroke-width:3px,color:#111",
}

# Letters, digits and what has no meaning inside quotes; `*`, `_` and backquotes would be Markdown.
_SPECIAL = re.compile(r"[^A-Za-z0-9 +=.,()/^\u00a1-\U0010ffff-]")


def mermaid(rows: Sequence[Row], *, local: bool = True, digits: int | None = None) -> str:
    """A flowchart, its edges in the direction of the forward pass; `local` labels them with the derivatives."""
    return "\n".join(_lines(rows, local, digits)) + "\n"


def _lines(rows: Sequence[Row], local: bool, digits: int | None) -> Iterator[str]:
    yield f"flowchart {'LR' if len(rows) <= MOST_SIDEWAYS else 'TB'}"
    for row in rows:
        before, after = RESULT if row.result else SHAPES[row.kind]
        label = "<br/>".join([escaped(line) for line in node_lines(row, digits)])
        yield f'  {row.id}{before}"{label}"{after}:::{"result" if row.result else row.kind}'
    for row in rows:
        for source, derivative in row.inputs:
            shown = f'|"{escaped(short(derivative, digits))}"|' if local and derivative is not None else ""
            yield f"  {rows[source].id} -->{shown} {row.id}"
    for name, style in CLASSES.items():
        yield f"  classDef {name} {style}"


def escaped(text: str) -> str:
    """Printable text inside a quoted label, what has a meaning there as `#code;`."""
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", text)
