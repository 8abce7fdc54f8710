"""The two passes told as in a lecture: text, Markdown, tables for a terminal, JSON.

Each form is written from the same lines: what is computed forward, then which row sends what to
which operand, and where paths meet the sum.
"""

from __future__ import annotations

from autodiff.render.steps import Words, arrivals, is_literal, leaves, sweep
from autodiff.render.terminal import by_sign, pad, pad_left, printable, width
from autodiff.render.view import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from autodiff.render.steps import Backward

MOST_ROWS = 40
"""A longer lesson is summarised."""
ENDS = 12
"""Of a summary: so many steps at each end."""
WIDE = 60
"""The most characters to which a wide cell of a table pads those above and below."""


class Lesson:
    """The rows and the sweep, and which steps of each pass are told."""

    def __init__(
        self,
        rows: Sequence[Row],
        title: str,
        *,
        formulas: Mapping[tuple[str, int], str] | None = None,
        brief: bool = False,
        digits: int | None = None,
        ascii: bool = False,
    ) -> None:
        self.rows = rows
        self.title = title
        self.say = Words(rows, digits=digits, ascii=ascii)
        self.steps = sweep(rows, formulas)
        self.arrived = arrivals(self.steps, len(rows))
        self.brief = brief and len(rows) > MOST_ROWS
        self.arrow = "->" if ascii else "→"

    def forward(self) -> list[Row | int]:
        """The rows to tell of, a number for so many left out; constants stand in the operations."""
        told = [row for row in self.rows if not is_literal(row)]
        return _ends(told) if self.brief else [*told]

    def backward(self) -> list[Backward | int]:
        """The steps to tell of, a number for so many left out."""
        return _ends(self.steps) if self.brief else [*self.steps]

    def gap(self, count: int) -> str:
        return f"{'...' if self.say.ascii else '…'} {count} steps more: --full shows all"

    def seed(self) -> str:
        result = self.say.result
        if not self.steps:
            if any(row.result and row.kind == "input" for row in self.rows):
                return f"the result is the input {result} itself: d{result}/d{result} = 1"
            return "no path leads from the result to an input: nothing is sent"
        return f"start: d{result}/d{result} = 1; each operation sends local derivative times its own gradient"

    def gradient(self, at: int) -> str:
        """`dy/dx = 4 + 2 = 6`."""
        return f"{self.say.gradient(at)} = {self.say.total(at, self.arrived[at])}"

    def meeting(self, at: int) -> str:
        """Where a gradient came from, in words, if there is something to say."""
        arrived = self.arrived[at]
        if self.rows[at].result or not arrived:
            return ""
        paths = len(arrived)
        if paths == 1:
            return f"from {self.say.origins(arrived)}"
        count = {2: "two", 3: "three", 4: "four"}.get(paths, str(paths))
        return f"{count} paths meet, from {self.say.origins(arrived)}"

    def local(self, at: int, to: int, formula: str, local: Any) -> str:
        """`∂y/∂a = x = 2`."""
        if local is None:
            return ""
        said = f"{self.say.partial(at, to)} = "
        value = self.say.number(local)
        return said + (f"{printable(formula, self.say.ascii)} = " if formula and formula != value else "") + value

    def inputs(self) -> list[int]:
        """The inputs at which something arrived."""
        return [at for at in leaves(self.rows) if self.arrived[at]]

    def results(self) -> list[str]:
        """The value and what was asked for."""
        value = next((row.value for row in self.rows if row.result), None)
        lines = [f"{self.say.result} = {self.say.number(value)}"] if value is not None else []
        for at in leaves(self.rows):
            if self.rows[at].grad is None:
                lines.append(f"{self.say.gradient(at)} = 0")
            else:
                lines.append(self.gradient(at))
        return lines


def _ends(told: Sequence[Any]) -> list[Any]:
    left_out = len(told) - 2 * ENDS
    return [*told[:ENDS], left_out, *told[-ENDS:]] if left_out > 1 else [*told]


def text(lesson: Lesson) -> str:
    """Plain text, as wide as its longest line."""
    say = lesson.say
    lines = [*[printable(line, say.ascii) for line in lesson.title.splitlines()], "", "Forward pass"]
    table: list[tuple[str, ...] | str] = [("name", "operation", "with values", "value", "")]
    for told in lesson.forward():
        if isinstance(told, int):
            table.append(lesson.gap(told))
        else:
            table.append((_name(told, say), say.operation(told), say.filled(told), say.number(told.value), _made(told)))
    lines += _columns(table, right=(3,))
    lines += ["", "Backward pass", "  " + lesson.seed()]
    table = []
    for step in lesson.backward():
        if isinstance(step, int):
            table.append(lesson.gap(step))
            continue
        row = lesson.rows[step.row]
        table.append((printable(row.label, say.ascii), lesson.gradient(step.row), lesson.meeting(step.row)))
        for send in step.sends:
            local = lesson.local(step.row, send.to, send.formula, send.local)
            table.append((f"  {lesson.arrow} {say.name(send.to)}", local, say.product(row, send)))
    for at in lesson.inputs():
        table.append((say.name(at), lesson.gradient(at), lesson.meeting(at)))
    lines += _columns(table)
    lines += ["", "Result", *["  " + line for line in lesson.results()]]
    return "\n".join(lines) + "\n"


def _name(row: Row, say: Words) -> str:
    return printable(row.name, say.ascii)


def _made(row: Row) -> str:
    return row.grad_fn if row.op else ""


def _columns(table: Sequence[tuple[str, ...] | str], right: Iterable[int] = ()) -> list[str]:
    """Aligned columns, indented; a line that is no tuple stands across them, a very wide cell reaches over the next."""
    cells = [line for line in table if not isinstance(line, str)]
    widths = [min(WIDE, max(map(width, column))) for column in zip(*cells, strict=True)]
    lines = []
    for line in table:
        if isinstance(line, str):
            lines.append("  " + line)
            continue
        parts = [
            (pad_left if at in right else pad)(cell, wide)
            for at, (cell, wide) in enumerate(zip(line, widths, strict=True))
            if wide
        ]
        lines.append("  " + "  ".join(parts).rstrip())
    return lines


def markdown(lesson: Lesson) -> str:
    """Tables and code spans; the user's text is always inside code."""
    say = lesson.say
    first, *more = lesson.title.splitlines() or [""]
    lines = [f"## {_code(first)}", ""]
    for line in more:
        lines += [_code(line), ""]
    lines += ["### Forward pass", "", "| name | operation | with values | value | grad_fn |", "|---|---|---|---:|---|"]
    for told in lesson.forward():
        if isinstance(told, int):
            lines.append(f"| … | {lesson.gap(told)} | | | |")
        else:
            cells = (_name(told, say), say.operation(told), say.filled(told), say.number(told.value), _made(told))
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    lines += ["", "### Backward pass", "", "Start: " + lesson.seed().removeprefix("start: ") + "."]
    lines += ["", "| from | its gradient | to | local derivative | sends |", "|---|---|---|---|---|"]
    for step in lesson.backward():
        if isinstance(step, int):
            lines.append(f"| … | {lesson.gap(step)} | | | |")
            continue
        row = lesson.rows[step.row]
        left = (printable(row.label), lesson.gradient(step.row))
        for send in step.sends:
            local = lesson.local(step.row, send.to, send.formula, send.local)
            cells = (*left, say.name(send.to), local, say.product(row, send))
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
            left = ("", "")
    for at in lesson.inputs():
        sum_ = f"{_cell(say.name(at))} | {_cell(lesson.gradient(at))}"
        lines.append(f"| {sum_} |  |  | {_plain(lesson.meeting(at))} |")
    lines += ["", "### Result", ""]
    lines += [f"- {_code(line)}" for line in lesson.results()]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """A code span that survives backquotes inside."""
    text = printable(text)
    fence = "`"
    while fence in text:
        fence += "`"
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}" if text else ""


def _plain(text: str) -> str:
    """Words in a table that name the user's things: nothing in them is markup."""
    return "".join([f"\\{char}" if char in "\\`*_{}[]<>()#+-.!|~" else char for char in text])


def _cell(text: str) -> str:
    return _code(text).replace("|", "\\|")


def tables(lesson: Lesson, columns: int) -> str:
    """Coloured tables for a terminal."""
    from io import StringIO

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    say = lesson.say
    styles = {"input": "cyan", "constant": "dim", "fold": "magenta"}

    def shown(value: Any, text: str) -> Text:
        return Text(text, style=_style(value))

    forward = Table(box=SIMPLE_HEAD, title="Forward pass", title_justify="left", title_style="bold")
    for column in ("name", "operation", "with values", "value", "grad_fn"):
        forward.add_column(column, justify="right" if column == "value" else "left", overflow="fold")
    for told in lesson.forward():
        if isinstance(told, int):
            forward.add_row("", Text(lesson.gap(told), style="dim"))
            continue
        style = "bold green" if told.result else styles.get(told.kind, "")
        forward.add_row(
            Text(_name(told, say), style=style),
            Text(say.operation(told), style=styles.get(told.kind, "")),
            Text(say.filled(told)),
            shown(told.value, say.number(told.value)),
            Text(_made(told), style="dim"),
        )
    backward = Table(box=SIMPLE_HEAD, title="Backward pass", title_justify="left", title_style="bold")
    for column in ("from", "its gradient", "to", "local derivative", "sends"):
        backward.add_column(column, overflow="fold")
    for step in lesson.backward():
        if isinstance(step, int):
            backward.add_row("", Text(lesson.gap(step), style="dim"))
            continue
        row = lesson.rows[step.row]
        label, gradient = Text(printable(row.label, say.ascii), style="bold"), lesson.gradient(step.row)
        left = (label, shown(row.grad, gradient))
        for send in step.sends:
            local = lesson.local(step.row, send.to, send.formula, send.local)
            backward.add_row(
                *left, Text(say.name(send.to)), shown(send.local, local), shown(send.sent, say.product(row, send))
            )
            left = (Text(""), Text(""))
    for at in lesson.inputs():
        row = lesson.rows[at]
        name, sum_ = Text(say.name(at), style="cyan"), shown(row.grad, lesson.gradient(at))
        backward.add_row(name, sum_, "", "", Text(lesson.meeting(at), style="dim"))
    page = StringIO()
    console = Console(
        file=page, force_terminal=True, color_system="standard", width=columns, highlight=False, legacy_windows=False,
        safe_box=say.ascii,
    )  # fmt: skip
    for line in lesson.title.splitlines():
        console.print(Text(printable(line, say.ascii), style="bold"))
    console.print(forward)
    console.print(backward)
    for line in lesson.results():
        console.print(Text("  " + line, style="bold green"))
    return page.getvalue()


def _style(value: Any) -> str:
    """By sign, in the words of rich."""
    return {"note": "bold yellow", "negative": "red", "dim": "dim"}.get(by_sign(value), "")


def data(lesson: Lesson) -> dict[str, Any]:
    """The passes as data; ids are those of `graph`."""
    rows = lesson.rows
    return {
        "value": next((row.value for row in rows if row.result), None),
        "gradient": {rows[at].name: 0.0 if rows[at].grad is None else rows[at].grad for at in leaves(rows)},
        "forward": [
            {
                "id": row.id,
                "name": row.name,
                "operation": row.text if row.op else row.kind,
                "value": row.value,
                "grad_fn": row.grad_fn or None,
                "span": row.span,
            }
            for row in rows
        ],
        "backward": [
            {
                "id": rows[step.row].id,
                "name": rows[step.row].name,
                "grad": rows[step.row].grad,
                "sends": [
                    {"to": rows[send.to].id, "local": send.local, "formula": send.formula or None, "sent": send.sent}
                    for send in step.sends
                ],
            }
            for step in lesson.steps
        ],
        "sums": [
            {
                "id": rows[at].id,
                "name": rows[at].name,
                "terms": [{"from": rows[user].id, "sent": sent} for user, sent in arrived],
                "grad": rows[at].grad,
            }
            for at, arrived in enumerate(lesson.arrived)
            if len(arrived) > 1
        ],
    }
