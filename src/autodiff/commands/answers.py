"""The commands that answer with numbers: eval, grad, jac, hess, jvp, vjp, hvp, diff, taylor."""

from __future__ import annotations

from autodiff import differentiate
from autodiff.commands.line import whole
from autodiff.commands.request import Request, bindings, constant
from autodiff.errors import AutodiffError, ComputationError, Note, RequestError
from autodiff.render.document import document, dumps
from autodiff.render.table import Report, header, line, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from autodiff.differentiate import Outcome

    Parts = tuple[Outcome, list[tuple[str, Any]], dict[str, Any], list[Any]]

STRICT = ("kink", "nonfinite", "domain", "cancellation")


def value(request: Request) -> Parts:
    out = differentiate.value(request.program, request.point, request.settings)
    return out, [("value", out.value)], {"value": out.value}, [out.value]


def _by(prefix: str, found: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(f"{prefix}{name}", entry) for name, entry in found.items()]


def grad(request: Request) -> Parts:
    out = differentiate.gradient(request.program, request.point, request.wrt(), request.settings)
    found = out.gradient or {}
    return out, [("value", out.value), *_by("d/d", found)], {"value": out.value, "gradient": found}, [*found.values()]


def jac(request: Request) -> Parts:
    out = differentiate.jacobian(request.program, request.point, request.wrt(), request.settings)
    found = out.jacobian or {}
    return out, [("value", out.value), *_by("d/d", found)], {"value": out.value, "jacobian": found}, [*found.values()]


def hess(request: Request) -> Parts:
    out = differentiate.hessian(request.program, request.point, request.wrt(), request.settings)
    gradient, hessian = out.gradient or {}, out.hessian or {}
    blocks = [(f"d2/d{a}d{b}", block) for a, row in hessian.items() for b, block in row.items()]
    parts = {"value": out.value, "gradient": gradient, "hessian": hessian}
    return out, [("value", out.value), *_by("d/d", gradient), *blocks], parts, [block for _, block in blocks]


def _direction(request: Request) -> dict[str, Any]:
    entries = request.line.many("dir")
    if not entries:
        raise RequestError(f"{request.line.command.name} wants --dir NAME=VALUE", help="for example: --dir x=1,y=0")
    return bindings(entries, "--dir", {})


def jvp(request: Request) -> Parts:
    out = differentiate.jvp(request.program, request.point, _direction(request), request.settings)
    return out, [("value", out.value), ("jvp", out.jvp)], {"value": out.value, "jvp": out.jvp}, [out.jvp]


def vjp(request: Request) -> Parts:
    text = request.line.one("cotangent")
    if text is None:
        raise RequestError("vjp wants --cotangent VALUE, of the value's shape", help="for example: --cotangent '[1, 0]'")
    cotangent = constant(text, f"--cotangent {text}")
    out = differentiate.vjp(request.program, request.point, request.wrt(), cotangent, request.settings)
    found = out.vjp or {}
    return out, [("value", out.value), *_by("vjp ", found)], {"value": out.value, "vjp": found}, [*found.values()]


def hvp(request: Request) -> Parts:
    direction = _direction(request)
    out = differentiate.hvp(request.program, request.point, request.wrt(), direction, request.settings)
    gradient, found = out.gradient or {}, out.hvp or {}
    parts = {"value": out.value, "gradient": gradient, "hvp": found}
    return out, [("value", out.value), *_by("d/d", gradient), *_by("hvp ", found)], parts, [*found.values()]


def diff(request: Request) -> Parts:
    name = request.one_wrt()
    order = whole(request.line, "order", 1, 1) or 1
    out = differentiate.derivatives(request.program, request.point, name, order, request.settings)
    found = out.derivatives or []
    labels = [f"d{k}/d{name}{k}" if k > 1 else f"d/d{name}" for k in range(1, order + 1)]
    parts = {"value": out.value, "derivatives": found}
    return out, [("value", out.value), *zip(labels, found, strict=True)], parts, found


def taylor(request: Request) -> Parts:
    name = request.one_wrt()
    order = whole(request.line, "order", 5, 0)
    out = differentiate.taylor(request.program, request.point, name, 5 if order is None else order, request.settings)
    found = out.derivatives or []
    return out, [(f"c{k}", c) for k, c in enumerate(found)], {"coefficients": found}, found


def strict(request: Request, notes: list[Note]) -> None:
    """With --strict a note that casts doubt on the answer is an error."""
    if request.line.flag("strict"):
        for note in notes:
            if note.kind in STRICT:
                raise ComputationError(note.message, note.span, "--strict takes this note for an error", request.source)


def points(request: Request) -> Iterator[list[tuple[str, float]]]:
    """The points of the sweeps, the last one running fastest."""
    swept: list[list[tuple[str, float]]] = [[]]
    for name, values in request.sweep:
        swept = [[*before, (name, v)] for before in swept for v in values]
    yield from swept


def run(request: Request, command: Callable[[Request], Parts]) -> tuple[str, list[Note]]:
    """The text of the answer in the format asked for, and the notes."""
    name = request.line.command.name
    unused = request.unused()
    if not request.sweep:
        out, fields, parts, asked = command(request)
        notes = unused + out.notes
        strict(request, notes)
        whole_document = (
            document(name, {"expression": request.source, "at": request.at(), **parts}, notes)
            if request.format == "json" else {}
        )  # fmt: skip
        return render(Report(fields, whole_document, asked), request.format, request.digits), notes
    return sweep(request, command, unused)


def sweep(
    request: Request, command: Callable[[Request], Parts], notes: list[Note]
) -> tuple[str, list[Note]]:
    """One answer a point: lines of a table, of JSON objects, or of bare values."""
    from autodiff.trace import gather  # noqa: PLC0415

    separator = {"csv": ",", "tsv": "\t"}.get(request.format)
    lines: list[str] = []
    table: list[str] = []
    for place in points(request):
        request.point.update(place)
        try:
            out, fields, parts, asked = command(request)
        except AutodiffError as error:
            error.message += " (at " + ", ".join(f"{n}={v:g}" for n, v in place) + ")"
            raise
        strict(request, out.notes)
        notes = gather([*notes, *out.notes])
        everything = [*place, *fields]
        if request.format == "json":
            parts = {"expression": request.source, "at": request.at(), **parts}
            lines.append(dumps(document(request.line.command.name, parts, out.notes)))
        elif request.format == "value":
            lines.append(render(Report([], {}, asked), "value", request.digits))
        elif separator is not None:
            lines += ([] if lines else [header(everything, separator)]) + [line(everything, separator, request.digits)]
        else:
            table += ([] if table else [header(everything, "\t")]) + [line(everything, "\t", request.digits)]
    if table:
        cells = [row.split("\t") for row in table]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(lines), notes
