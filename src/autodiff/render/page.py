"""One self-contained page in which one steps through both passes: the drawing, the steps, and what moves them."""

from __future__ import annotations

from autodiff.render.document import dumps
from autodiff.render.steps import Words, arrivals, is_literal, sweep
from autodiff.render.svg import DARK, STYLE, draw, escaped
from autodiff.render.terminal import printable
from autodiff.render.view import CONSTANT, INPUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from autodiff.render.steps import Backward
    from autodiff.render.view import Row

# Nothing is fetched, whatever the text contains.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)

HELP = (
    ("→ ←", "step"),
    ("Home End", "ends"),
    ("b", "backward pass"),
    ("p", "play"),
    ("+ − 0", "zoom"),
    ("Tab", "through the boxes"),
)


def page(
    rows: Sequence[Row],
    source: str,
    point: str,
    *,
    digits: int | None = None,
    formulas: Mapping[tuple[str, int], str] | None = None,
) -> str:
    """The page of a recorded graph."""
    say = Words(rows, digits=digits)
    steps = sweep(rows, formulas)
    drawing = draw(rows, digits=digits)
    told = [*_forward(rows, say), *_backward(rows, steps, say)]
    data = dumps({"steps": told, "edges": _edges(steps, say)}).replace("<", "\\u003c")
    name = escaped(" ".join(printable(source).split())[:120])
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{name}</title>",
            f"<style>\n{STYLE}\n{_file('page.css')}\n@media (prefers-color-scheme:dark){{{DARK}}}\n</style></head>",
            "<body>",
            "<header>",
            f"<h1><code>{escaped(_lines(source))}</code></h1>",
            f"<p>at <code>{escaped(printable(point))}</code></p>" if point else "",
            "</header>",
            '<div class="bar" role="toolbar" aria-label="Steps" aria-controls="picture">',
            *_buttons(),
            f'<input id="at" type="range" min="0" max="{len(told) - 1}" value="0" aria-label="Step">',
            f'<output id="count" for="at">1 / {len(told)}</output>',
            "</div>",
            '<p id="say" role="status" aria-live="polite" aria-atomic="true"></p>',
            "<main>",
            '<div id="picture" tabindex="0" role="region" aria-label="The recorded graph">',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width:.0f}" height="{drawing.height:.0f}" '
            f'viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" role="group" '
            f'aria-label="Boxes are values, arrows run from operand to result">',
            *drawing.body,
            "</svg></div>",
            "<aside><table><caption>Values and gradients</caption>",
            '<thead><tr><th scope="col">name</th><th scope="col">value</th><th scope="col">gradient</th></tr></thead>',
            "<tbody>",
            *_table(rows, say),
            "</tbody></table></aside>",
            "</main>",
            '<div id="tip" role="tooltip" hidden></div>',
            "<footer><p>",
            " · ".join(f"<kbd>{keys}</kbd> {what}" for keys, what in HELP),
            "</p></footer>",
            f'<script type="application/json" id="data">{data}</script>',
            f"<script>\n{_file('page.js')}</script>",
            "</body></html>",
            "",
        ]
    )


def _file(name: str) -> str:
    from importlib.resources import files

    return (files("autodiff.render") / name).read_text(encoding="utf-8")


def _lines(source: str) -> str:
    return "\n".join(map(printable, source.splitlines()))


def _buttons() -> Iterator[str]:
    for key, text, label in (
        ("first", "|◀", "First step"),
        ("back", "◀", "Step back"),
        ("next", "▶", "Step forward"),
        ("last", "▶|", "Last step"),
        ("play", "Play", "Play or pause"),
        ("turn", "Backward pass", "To the start of the backward pass"),
    ):
        yield f'<button type="button" id="{key}" aria-label="{label}" title="{label}">{text}</button>'


def _table(rows: Sequence[Row], say: Words) -> Iterator[str]:
    for at, row in enumerate(rows):
        if is_literal(row):
            continue
        grad = "" if row.grad is None or row.kind == CONSTANT else say.number(row.grad)
        kind = " class=result" if row.result else f" class={row.kind}"
        yield (
            f'<tr data-r="{row.id}"{kind}><th scope="row">{escaped(say.name(at))}</th>'
            f"<td>{escaped(say.number(row.value))}</td><td>{escaped(grad)}</td></tr>"
        )


def _forward(rows: Sequence[Row], say: Words) -> Iterator[dict[str, Any]]:
    """One step per value: its id, what is said, the operands."""
    operations = sum(bool(row.op) for row in rows)
    yield {
        "say": f"{_many(operations, 'operation')} recorded. Step forward to see each value appear, "
        "then each gradient, from the result back to the inputs."
    }
    for row in rows:
        if is_literal(row):
            continue
        value = say.number(row.value)
        if row.kind == INPUT:
            said = f"Input: {printable(row.name)} = {value}"
        else:
            filled = say.filled(row)
            said = f"{printable(row.label)}" + (f" = {filled}" if filled else "") + f" = {value}"
        yield {
            "say": ("Sweep, recorded: " if row.backward else "") + said,
            "now": row.id,
            "from": [rows[source].id for source, _ in row.inputs],
        }


def _backward(rows: Sequence[Row], steps: Sequence[Backward], say: Words) -> Iterator[dict[str, Any]]:
    """One step per row of the sweep: the gradients that it adds to, with the sums so far."""
    result = next(at for at, row in enumerate(rows) if row.result)
    yield {
        "say": f"Backward pass. {say.gradient(result)} = 1: the result changes as much as itself.",
        "now": rows[result].id,
        "back": True,
        "grad": [[rows[result].id, say.number(1.0)]],
    }
    sofar: dict[int, Any] = {}
    for step in steps:
        row = rows[step.row]
        said = []
        grads = []
        for send in step.sends:
            before = sofar.get(send.to)
            sofar[send.to] = send.sent if before is None else before + send.sent
            now = say.number(sofar[send.to])
            name = say.name(send.to)
            text = f"to {name}: {say.product(row, send)}"
            if before is not None:
                text += f", together {say.number(before)} + {say.factor(send.sent)} = {now}"
            said.append(text)
            grads.append([rows[send.to].id, now])
        yield {
            "say": f"{printable(row.label)} has gradient {say.number(row.grad)} and sends {'; '.join(said)}",
            "now": row.id,
            "back": True,
            "from": [rows[send.to].id for send in step.sends],
            "grad": grads,
        }
    arrived = arrivals(steps, len(rows))
    inputs = [at for at, row in enumerate(rows) if row.kind == INPUT]
    said = []
    for at in inputs:
        total = say.total(at, arrived[at]) if rows[at].grad is not None else "0"
        said.append(f"{say.gradient(at)} = {total}")
    yield {
        "say": "Done. " + ("; ".join(said[:12]) or "There are no inputs"),
        "back": True,
        "done": True,
        "grad": [[rows[at].id, say.number(rows[at].grad)] for at in inputs if rows[at].grad is not None],
    }


def _edges(steps: Sequence[Backward], say: Words) -> dict[str, list[str]]:
    """What hovering says, by `from-to`: the local derivative and what the sweep sends."""
    found: dict[str, list[str]] = {}
    for step in steps:
        row = say.rows[step.row]
        for send in step.sends:
            local = "" if send.local is None else f"{say.partial(step.row, send.to)} = "
            if local and send.formula:
                local += f"{printable(send.formula)} = "
            local += "" if send.local is None else f"{say.number(send.local)}; "
            found.setdefault(f"{say.rows[send.to].id}-{row.id}", []).append(f"{local}sends {say.product(row, send)}")
    return found


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")
