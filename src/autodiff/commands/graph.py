"""The command graph: the recorded computation as lanes, DOT, Mermaid, JSON, SVG, PNG, or a page to step through."""

from __future__ import annotations

from autodiff.commands.answers import strict
from autodiff.commands.line import Line
from autodiff.commands.output import Output
from autodiff.commands.request import Request
from autodiff.errors import ComputationError, Note, RequestError
from autodiff.parse.program import DEFINE
from autodiff.picture import Picture, picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from autodiff.errors import Span
    from autodiff.parse.program import Program
    from autodiff.render.view import Row

MOST_ROWS = 200
"""A longer picture is folded."""

ENDINGS = {
    "dot": "dot",
    "gv": "dot",
    "json": "json",
    "svg": "svg",
    "png": "png",
    "html": "html",
    "htm": "html",
    "mmd": "mermaid",
    "mermaid": "mermaid",
}


def graph(line: Line, out: Output) -> list[Note]:
    """Draw; the format is that of the file's name where none is given."""
    request = Request(line)
    format = line.get("format") or ENDINGS.get((out.name or "").rpartition(".")[2].lower(), "text")
    if format == "png" and out.terminal():
        raise RequestError("a terminal can't show png", help="write it to a file: -o graph.png")
    made = picture(request.program, request.point, request.wrt(), request.settings, record=bool(line.get("backward")))
    notes = request.notes() + made.outcome.notes
    strict(request, notes, [made.outcome.value])
    rows = frozen(request, made)
    if format != "json" and not line.get("full"):
        rows = folded(request, rows)
    out.write(drawn(request, rows, format, notes, out))
    return notes


def frozen(request: Request, made: Picture) -> list[Row]:
    """The rows that everything is drawn from."""
    from autodiff.render.view import freeze

    return freeze(
        made.nodes,
        made.root,
        source=request.source,
        names=made.names,
        gradients=made.gradients,
        local=made.local,
        reserved={*request.program.inputs, *request.program.bound},
        sent=made.sent,
        backward=made.nodes[made.forward :],
        cotangents=made.cotangents,
        derivatives=made.derivatives,
        second=made.second,
    )


def folded(request: Request, rows: list[Row], most: int = MOST_ROWS) -> list[Row]:
    """The rows, repetitions folded where there are more than so many."""
    if len(rows) <= most:
        return rows
    from autodiff.render.fold import fold

    return fold(rows, request.source, bodies(request.program))


def bodies(program: Program) -> dict[str, Span]:
    """Where the bodies of the user functions stand: a definition is followed by a jump over its code."""
    found = {}
    for at, (opcode, argument, _) in enumerate(program.code):
        if opcode == DEFINE:
            spans = [span for _, _, span in program.code[at + 2 : program.code[at + 1][1]]]
            found[argument[0]] = (min(start for start, _ in spans), max(end for _, end in spans))
    return found


def formulas(request: Request, rows: Sequence[Row]) -> dict[tuple[str, int], str]:
    """The local derivatives in terms of the operands, by id of the row and operand, where there is one to write."""
    from autodiff.render.view import CONSTANT, OPERATION
    from autodiff.symbolic.partials import written

    known: dict[Any, Any] = {}
    found = {}
    for row in rows:
        if row.kind == OPERATION and row.grad is not None and not row.backward:
            operands = [rows[source] for source, _ in row.inputs]
            numbers = [row.value if row.kind == CONSTANT and isinstance(row.value, float) else None for row in operands]
            values = [row.name if x is None else x for row, x in zip(operands, numbers, strict=True)]
            named = [
                row.name if x is None or row.name.isidentifier() else x
                for row, x in zip(operands, numbers, strict=True)
            ]
            for k, number in enumerate(numbers):
                if number is None:
                    for words in (named, values):
                        said = written(known, row.op, k, words, request.settings.convention)
                        if said:
                            found[row.id, k] = said
                            break
    return found


def drawn(request: Request, rows: Sequence[Row], format: str, notes: list[Note], out: Output) -> str | bytes:
    """The picture, with its final newline."""
    line, digits = request.line, request.digits
    if format == "json":
        from autodiff.render.document import document, dumps
        from autodiff.render.document import graph as graph_object

        return dumps(document("graph", graph_object(rows), notes)) + "\n"
    if format == "text":
        from autodiff.render.lanes import lanes

        plain = out.ascii or bool(line.get("ascii"))
        lines = lanes(rows, local=bool(line.get("local")), ascii=plain, digits=digits, colour=out.colour)
        return "\n".join(lines) + "\n"
    if format == "mermaid":
        from autodiff.render.mermaid import mermaid

        return mermaid(rows, digits=digits)
    if format == "svg":
        from autodiff.render.svg import svg

        return svg(rows, title(request), digits=digits)
    if format == "html":
        from autodiff.render.page import page

        return page(rows, request.source, point(request), digits=digits, formulas=formulas(request, rows))
    from autodiff.render.dot import dot

    text = dot(rows, title(request), digits=digits)
    return text if format == "dot" else graphviz(text, format)


def point(request: Request) -> str:
    """`x = 2, y = 3`."""
    from autodiff.render.number import short

    return ", ".join(f"{name} = {short(value)}" for name, value in request.bound().items())


def title(request: Request) -> str:
    """The expression and the point."""
    at = point(request)
    return f"{request.source}\nat {at}" if at else request.source


def graphviz(text: str, format: str) -> bytes:
    """The picture that Graphviz makes of DOT text."""
    import signal
    import subprocess

    # A dot that dies early must not take us with it.
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN) if hasattr(signal, "SIGPIPE") else None
    try:
        done = subprocess.run(["dot", f"-T{format}"], input=text.encode(), capture_output=True, check=False)
    except OSError:
        raise ComputationError(
            f"{format} needs Graphviz, and its program 'dot' is not on the PATH",
            help="install it (apt install graphviz, brew install graphviz), or draw without it: -o graph.svg",
        ) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGPIPE, before)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ComputationError(f"dot failed: {said[0] if said else f'exit status {done.returncode}'}")
    return done.stdout
