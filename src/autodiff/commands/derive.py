"""The command derive: the derivative as a formula, as LaTeX, or as code of another language."""

from __future__ import annotations

from autodiff.commands.answers import strict
from autodiff.commands.line import Line
from autodiff.commands.output import Output
from autodiff.commands.request import Request
from autodiff.errors import Note, RequestError
from autodiff.render.document import document
from autodiff.render.table import Report, render
from autodiff.symbolic.derive import derive as derived

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autodiff.symbolic.derive import Derived


def derive(line: Line, out: Output) -> list[Note]:
    """Print a formula for each name."""
    request = Request(line)
    wrt = request.wrt()
    order = line.get("order", 1)
    if line.get("emit"):
        if order > 1:
            raise RequestError("--emit gives value and gradient", help="leave out --order")
        for option in ("latex", "format"):
            if line.get(option):
                raise RequestError(f"--emit gives a text of its own, and --{option} another", help="leave out one")
    found = derived(request.program, wrt, order, request.point, request.settings.max_ops)
    notes = request.notes() + found.notes
    strict(request, notes, [])
    if line.get("emit"):
        from autodiff.symbolic.emit import emit

        out.write(emit(line.get("emit"), request.source, found, request.names))
        return notes
    written = spelled(request, found)
    fields = [(label(name, order), formula) for name, formula in written.items()]
    parts = document("derive", {"expression": request.source, "derivatives": written}, notes)
    report = Report(fields, parts, [*written.values()])
    text = render(report, request.format, request.digits, out.colour)
    out.write(text + "\n" if text else "")
    return notes


def label(name: str, order: int) -> str:
    return f"d/d{name}" if order == 1 else f"d{order}/d{name}{order}"


def spelled(request: Request, found: Derived) -> dict[str, str]:
    """The formulas as text."""
    if request.line.get("latex"):
        from autodiff.symbolic.latex import latex

        return {name: latex(formula) for name, formula in found.derivatives.items()}
    from autodiff.symbolic.parts import program

    taken = {*request.program.inputs, *request.program.bound}
    return {name: program(formula, taken) for name, formula in found.derivatives.items()}
