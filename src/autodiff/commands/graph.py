"""The command graph: the recorded computation as lanes, DOT, JSON, or by Graphviz as SVG and PNG."""

from __future__ import annotations

from autodiff import differentiate
from autodiff.commands.answers import strict
from autodiff.commands.line import Line
from autodiff.commands.output import Output
from autodiff.commands.request import Request
from autodiff.errors import ComputationError, Note, RequestError

ENDINGS = {"dot": "dot", "gv": "dot", "json": "json", "svg": "svg", "png": "png"}


def graph(line: Line, out: Output) -> list[Note]:
    """Draw; the format is that of the file's name where none is given."""
    request = Request(line)
    format = line.get("format") or ENDINGS.get((out.name or "").rpartition(".")[2].lower(), "text")
    if format == "png" and out.terminal():
        raise RequestError("a terminal can't show png", help="write it to a file: -o graph.png")
    outcome = differentiate.graph(request.program, request.point, request.wrt(), request.settings)
    notes = request.notes() + outcome.notes
    strict(request, notes, [outcome.value])
    out.write(drawn(request, outcome, format, notes, out))
    return notes


def drawn(request: Request, outcome: differentiate.Outcome, format: str, notes: list[Note], out: Output) -> str | bytes:
    """The picture, with its final newline."""
    from autodiff.render.view import freeze

    nodes, root, names, gradients, local = outcome.rows or []
    rows = freeze(
        nodes,
        root,
        source=request.source,
        names=names,
        gradients=gradients,
        local=local,
        reserved={*request.program.inputs, *request.program.bound},
    )
    if format == "json":
        from autodiff.render.document import document, dumps
        from autodiff.render.document import graph as graph_object

        return dumps(document("graph", graph_object(rows), notes)) + "\n"
    line = request.line
    if format == "text":
        from autodiff.render.lanes import lanes

        plain = out.ascii or bool(line.get("ascii"))
        lines = lanes(rows, local=bool(line.get("local")), ascii=plain, digits=request.digits, colour=out.colour)
        return "\n".join(lines) + "\n"
    from autodiff.render.dot import dot
    from autodiff.render.number import short

    at = ", ".join(f"{name} = {short(value)}" for name, value in request.at().items())
    text = dot(rows, f"{request.source}\nat {at}" if at else request.source, digits=request.digits)
    return text if format == "dot" else graphviz(text, format)


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
            help="install it (apt install graphviz, brew install graphviz), or use --format dot",
        ) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGPIPE, before)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ComputationError(f"dot failed: {said[0] if said else f'exit status {done.returncode}'}")
    return done.stdout
