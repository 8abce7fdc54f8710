"""The command check: our derivatives beside independent ones, a verdict each."""

from __future__ import annotations

import math

from autodiff.check import Report, Verdict
from autodiff.commands.answers import strict
from autodiff.commands.line import Line
from autodiff.commands.output import Output
from autodiff.commands.request import Request
from autodiff.errors import ComputationError, Note, RequestError
from autodiff.render.document import document, dumps
from autodiff.render.number import number
from autodiff.render.table import SEPARATORS, quoted
from autodiff.render.terminal import pad, paint, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from autodiff.check import Entry

HEAD = ["", "autodiff", "numeric", "error", "tolerance", "verdict"]
WORDS = {True: "ok", False: "wrong"}
NOT_COMPARED = "nothing to compare with"


class CheckFailed(ComputationError):
    """A derivative does not agree with the numerical one."""

    kind = "check"


def check(line: Line, out: Output) -> list[Note]:
    """Print the comparison; an error afterwards where a check does not hold."""
    request = Request(line)
    order = line.get("order", 1)
    if order > 2:
        raise RequestError(f"check knows orders 1 and 2, not {order}")
    report = request.at.check(request.wrt(), order)
    notes = request.notes() + report.notes
    strict(request, notes, [])
    out.write(shown(request, report, notes, out.colour))
    wrong = [label for label, verdict in verdicts(report) if not verdict.ok]
    if wrong:
        out.close()
        raise CheckFailed(f"{', '.join(wrong)}: not what differences of the value give", (0, len(request.source)))
    return notes


def verdicts(report: Report) -> Iterator[tuple[str, Verdict]]:
    """All verdicts under their labels."""
    for name, verdict in report.first.items():
        yield f"d/d{name}", verdict
    for one, row in report.second.items():
        for other, verdict in row.items():
            yield (f"d2/d{one}2" if one == other else f"d2/d{one}d{other}"), verdict


def shown(request: Request, report: Report, notes: list[Note], colour: bool) -> str:
    """The report in the format that was asked for."""
    format, digits = request.format, request.digits
    if format == "json":
        parts: dict[str, Any] = {
            "expression": request.source,
            "at": request.bound(),
            "ok": report.ok,
            "inputs": {name: described(verdict) for name, verdict in report.first.items()},
        }
        if report.second:
            parts["hessian"] = {
                one: {other: described(verdict) for other, verdict in row.items()} for one, row in report.second.items()
            }
        return dumps(document("check", parts, notes)) + "\n"
    if format == "value":
        return f"{'true' if report.ok else 'false'}\n"
    rows = [cells(label, entry, digits) for verdict in verdicts(report) for label, entry in labelled(*verdict)]
    if format in SEPARATORS:
        separator = SEPARATORS[format]
        head = ["derivative", *HEAD[1:-1], "ok", "left", "right"]
        lines = [head, *([*row[:5], str(row[5] != WORDS[False]).lower(), *row[6:]] for row in rows)]
        return "".join(separator.join(quoted(cell, separator) for cell in cells) + "\n" for cells in lines)
    if not rows:
        return "nothing to check: the expression has no inputs, or they have no entries\n"
    table = [HEAD, *(row[:6] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    text = ""
    for row, (*_, left, right) in zip(table, [HEAD, *rows], strict=True):
        told = row is not HEAD and left and row[-1] != NOT_COMPARED
        sides = f"; {left} from the left, {right} from the right" if told else ""
        verdict = paint(row[-1], {WORDS[True]: "strong", WORDS[False]: "error"}.get(row[-1], ""), colour)
        text += "  ".join([*(pad(cell, most) for cell, most in zip(row[:-1], widths[:-1], strict=True)), verdict])
        text += sides + "\n"
    return text


def described(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON shows it; the sides of a kink follow."""
    parts: dict[str, Any] = {
        "autodiff": verdict.field("ours"),
        "numeric": verdict.field("numeric"),
        "error": verdict.field("error"),
        "tolerance": verdict.field("tolerance"),
        "ok": verdict.ok,
    }
    if verdict.kinked:
        parts["left"], parts["right"] = verdict.field("left"), verdict.field("right")
    return parts


def labelled(label: str, verdict: Verdict) -> Iterator[tuple[str, Entry]]:
    """The entries of a verdict, with their places."""
    if not verdict.shape:
        yield label, verdict.entries[0]
        return
    for at, entry in enumerate(verdict.entries):
        place = []
        for length in reversed(verdict.shape):
            at, k = divmod(at, length)
            place.append(str(k))
        yield f"{label}[{','.join(reversed(place))}]", entry


def cells(label: str, entry: Entry, digits: int | None) -> list[str]:
    """A row of the table, the two sides last (empty where they agree)."""
    sides = ["" if v is None else "none" if math.isnan(v) else number(v, digits) for v in (entry.left, entry.right)]
    short = [f"{v:.2g}" if math.isfinite(v) else number(v) for v in (entry.error, entry.tolerance)]
    numbers = ["none" if math.isnan(v) else number(v, digits) for v in (entry.ours, entry.numeric)]
    verdict = WORDS[entry.ok] if entry.compared or not entry.ok else NOT_COMPARED
    return [label, *numbers, *short, verdict, *sides]
