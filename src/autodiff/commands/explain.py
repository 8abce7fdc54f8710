"""The command explain: both passes step by step, as in a lecture."""

from __future__ import annotations

from autodiff.commands.answers import strict
from autodiff.commands.graph import folded, formulas, frozen, title
from autodiff.commands.line import Line
from autodiff.commands.output import Output
from autodiff.commands.request import Request
from autodiff.errors import Note
from autodiff.picture import picture

ENDINGS = {"md": "markdown", "markdown": "markdown", "json": "json"}


def explain(line: Line, out: Output) -> list[Note]:
    """Tell; the format is that of the file's name where none is given."""
    from autodiff.render.lesson import MOST_ROWS, Lesson, data, markdown, tables, text

    request = Request(line)
    format = line.get("format") or ENDINGS.get((out.name or "").rpartition(".")[2].lower(), "text")
    made = picture(request.program, request.point, request.wrt(), request.settings, command="explain")
    said, first = made.outcome.notes, made.outcome.gradient or {}
    notes = request.notes() + said + request.at.doubts(made.outcome.value, first, said)
    strict(request, notes, [made.outcome.value])
    rows = frozen(request, made)
    brief = format != "json" and not line.get("full")
    if brief:
        rows = folded(request, rows, MOST_ROWS)
    plain = format == "text" and (out.ascii or bool(line.get("ascii")))
    lesson = Lesson(
        rows, title(request), formulas=formulas(request, rows), brief=brief, digits=request.digits, ascii=plain
    )
    if format == "json":
        from autodiff.render.document import document, dumps

        parts = {"expression": request.source, "at": request.bound(), **data(lesson)}
        out.write(dumps(document("explain", parts, notes)) + "\n")
    elif format == "markdown":
        out.write(markdown(lesson))
    elif out.colour:
        out.write(tables(lesson, columns(out)))
    else:
        out.write(text(lesson))
    return notes


def columns(out: Output) -> int:
    """How wide the terminal is."""
    import os

    try:
        wide = os.get_terminal_size(1).columns if out.terminal() else 0
        return max(60, wide) if wide else 100
    except OSError:
        return 100
