"""The commands that answer with numbers: eval, grad, jac, hess, jvp, vjp, hvp, diff, taylor."""

from __future__ import annotations

from itertools import product

from autodiff import numeric
from autodiff.commands.line import Line
from autodiff.commands.output import Output
from autodiff.commands.request import Request
from autodiff.errors import AutodiffError, ComputationError, Note, RequestError
from autodiff.render.document import document
from autodiff.render.number import inline
from autodiff.render.table import SEPARATORS, Report, header, line, render
from autodiff.render.terminal import pad_left, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from autodiff.job import Outcome

    Fields = list[tuple[str, Any]]
    Parts = tuple[Outcome, Fields, dict[str, Any], list[Any]]
    """The outcome; labelled values for text and csv; parts of the JSON object; values for --format value."""

STRICT = ("kink", "nonfinite", "domain", "cancellation")


def answering(rule: Callable[[Request], Parts]) -> Callable[[Line, Output], list[Note]]:
    """The command that prints what the rule answers, once or for each point; it returns the notes."""

    def command(line: Line, out: Output) -> list[Note]:
        request = Request(line)
        if request.axes:
            return sweep(request, rule, out)
        outcome, fields, parts, asked = rule(request)
        notes = request.notes() + outcome.notes
        strict(request, notes, asked)
        report = Report(fields, described(request, parts, notes), asked)
        out.write(render(report, request.format, request.digits, out.colour) + "\n")
        return notes

    return command


def described(request: Request, parts: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """The JSON object, where one is wanted."""
    if request.format != "json":
        return {}
    return document(request.line.command.name, {"expression": request.source, "at": request.bound(), **parts}, notes)


def strict(request: Request, notes: Iterable[Note], asked: Iterable[Any]) -> None:
    """With --strict what casts doubt on the answer is an error."""
    if not request.line.get("strict"):
        return
    for note in notes:
        if note.kind in STRICT:
            error = ComputationError(f"{note.kind}: {note.message}", note.span, "--strict makes this note an error")
            error.kind = note.kind
            raise error
    for found in asked:
        if (numeric.is_array(found) or isinstance(found, float)) and numeric.is_nan(found):
            raise ComputationError("the answer is nan", help="--strict makes this an error")


@answering
def eval(request: Request) -> Parts:
    if request.line.get("precision"):
        from autodiff.commands.precise import answer

        return answer(request, False)
    out = request.at.value()
    return out, [("value", out.value)], {"value": out.value}, [out.value]


def _by(prefix: str, found: dict[str, Any]) -> Fields:
    return [(f"{prefix}{name}", entry) for name, entry in found.items()]


@answering
def grad(request: Request) -> Parts:
    if request.line.get("precision"):
        from autodiff.commands.precise import answer

        return answer(request, True)
    out = request.at.grad(request.wrt())
    found = out.gradient or {}
    fields = [("value", out.value), *_by("d/d", found)]
    parts = {"value": out.value, "gradient": found}
    if request.line.get("sensitivity"):
        more, described = sensitivities(request, out)
        fields, parts = fields + more, parts | described
    return out, fields, parts, [*found.values()]


def sensitivities(request: Request, out: Outcome) -> tuple[Fields, dict[str, Any]]:
    """What --sensitivity adds: fields, and keys of the JSON object; a note names the operation behind it."""
    from autodiff.sensitivity import sensitivity

    settings = request.settings
    found = sensitivity(
        request.program, request.point, out.value, out.gradient or {}, settings.max_ops, settings.convention
    )
    noted = {note.span for note in out.notes if note.kind == "cancellation"}
    out.notes += [note for note in found.notes if note.span not in noted]
    fields = [*_by("condition ", found.condition), ("rounding", found.value), *_by("rounding d/d", found.gradient)]
    rounding = {"value": found.value, "gradient": found.gradient}
    return fields, {"condition": found.condition, "rounding": rounding}


@answering
def jac(request: Request) -> Parts:
    out = request.at.jac(request.wrt())
    found = out.jacobian or {}
    parts = {"value": out.value, "jacobian": found}
    return out, [("value", out.value), *_by("d/d", found)], parts, [*found.values()]


@answering
def hess(request: Request) -> Parts:
    out = request.at.hess(request.wrt())
    gradient, hessian = out.gradient or {}, out.hessian or {}
    blocks = [
        (f"d2/d{a}2" if a == b else f"d2/d{a}d{b}", block) for a, row in hessian.items() for b, block in row.items()
    ]
    asked = [block for _, block in blocks]
    if not any(map(numeric.is_array, asked)):
        asked = [[list(row.values()) for row in hessian.values()]] if hessian else []
    parts = {"value": out.value, "gradient": gradient, "hessian": hessian}
    return out, [("value", out.value), *_by("d/d", gradient), *blocks], parts, asked


def _direction(request: Request) -> dict[str, Any]:
    direction = request.values("dir")
    if not direction:
        raise RequestError(f"{request.line.command.name} wants --dir NAME=VALUE", help="for example --dir x=1,y=0")
    return direction


@answering
def jvp(request: Request) -> Parts:
    out = request.at.jvp(_direction(request))
    return out, [("value", out.value), ("jvp", out.jvp)], {"value": out.value, "jvp": out.jvp}, [out.jvp]


@answering
def vjp(request: Request) -> Parts:
    if request.line.get("cotangent") is None:
        raise RequestError(
            "vjp wants --cotangent VALUE, of the result's shape", help="for example --cotangent '[1, 0]'"
        )
    cotangent = request.constant("cotangent")
    out = request.at.vjp(cotangent, request.wrt())
    found = out.vjp or {}
    return (
        out,
        [("value", out.value), *_by("vjp ", found)],
        {"value": out.value, "vjp": found},
        [*found.values()],
    )


@answering
def hvp(request: Request) -> Parts:
    out = request.at.hvp(_direction(request), request.wrt())
    gradient, found = out.gradient or {}, out.hvp or {}
    parts = {"value": out.value, "gradient": gradient, "hvp": found}
    return out, [("value", out.value), *_by("d/d", gradient), *_by("hvp ", found)], parts, [*found.values()]


@answering
def diff(request: Request) -> Parts:
    name = request.one_wrt()
    out = request.at.diff(name, request.line.get("order", 1))
    found = out.derivatives or []
    labels = [f"d{k}/d{name}{k}" if k > 1 else f"d/d{name}" for k in range(1, len(found) + 1)]
    parts = {"value": out.value, "derivatives": found}
    return out, [("value", out.value), *zip(labels, found, strict=True)], parts, found


@answering
def taylor(request: Request) -> Parts:
    name = request.one_wrt()
    out = request.at.taylor(name, request.line.get("order", 5))
    found = out.derivatives or []
    return out, [(f"c{k}", c) for k, c in enumerate(found)], {"coefficients": found}, found


def sweep(request: Request, rule: Callable[[Request], Parts], out: Output) -> list[Note]:
    """One answer a point, the last axis running fastest; a line each, or a table once all are there.

    The notes come once a place, with a count; with json each also stands in the object of its point.
    """
    from autodiff.notes import gather

    as_json = request.format == "json"
    of_line = request.notes()
    notes = list(of_line)
    table: list[Fields] = []
    head = ""
    separator = SEPARATORS.get(request.format, "")
    for place, (outcome, fields, parts, asked) in _points(request, rule):
        found = of_line + outcome.notes if as_json else outcome.notes
        of_line = []
        fields = [*place, *fields]
        if outcome.notes:
            notes = gather([*notes, *outcome.notes])
        if as_json or request.format == "value":
            report = Report(fields, described(request, parts, found), asked)
            out.write(render(report, request.format, request.digits) + "\n")
            continue
        if not head or any(numeric.is_array(entry) for _, entry in fields):
            columns = header(fields, separator or ",")
            if head and columns != head:
                raise ComputationError(
                    "the shape of the answer changes from point to point",
                    help="--format json has room for that",
                )
            if separator and not head:
                out.write(columns + "\n")
            head = columns
        if separator:
            out.write(line(fields, separator, request.digits) + "\n")
        else:
            table.append(fields)
    if table:
        out.write(aligned(table, request.digits))
    return notes


def _points(request: Request, rule: Callable[[Request], Parts]) -> Iterator[tuple[Fields, Parts]]:
    names = [name for name, _ in request.axes]
    for values in product(*[values for _, values in request.axes]):
        place = list(zip(names, values, strict=True))
        request.point.update(place)
        try:
            answer = rule(request)
            strict(request, answer[0].notes, answer[3])
        except AutodiffError as error:
            if error.status == 1:
                where = ", ".join(f"{name} = {found:g}" for name, found in place)
                error.message = f"at {where}: {error.message}"
            raise
        yield place, answer


def aligned(table: Sequence[Fields], digits: int | None) -> str:
    """Points below each other: right-aligned columns under their names."""
    rows = [
        [label for label, _ in table[0]],
        *[[inline(entry, digits) for _, entry in fields] for fields in table],
    ]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join([pad_left(cell, most) for cell, most in zip(row, widths, strict=True)]) + "\n" for row in rows
    )
