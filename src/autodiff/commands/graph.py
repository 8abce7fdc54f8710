"""The command graph: the recorded computation as lanes, DOT, JSON, or by Graphviz as SVG and PNG."""

from __future__ import annotations

from autodiff import differentiate
from autodiff.commands.answers import strict
from autodiff.commands.request import Request
from autodiff.errors import ComputationError, Note
from autodiff.render.document import document, dumps
from autodiff.render.document import graph as graph_object
from autodiff.render.dot import dot
from autodiff.render.lanes import lanes
from autodiff.render.number import inline
from autodiff.render.view import freeze

ENDINGS = ("dot", "json", "svg", "png")


def graph(request: Request, *, ascii: bool, colour: bool) -> tuple[str | bytes, list[Note]]:
    """The picture and the notes; bytes for png."""
    line = request.line
    format = request.format
    output = line.one("output") or ""
    if format == "text" and line.one("format") is None and output.rpartition(".")[2].lower() in ENDINGS:
        format = output.rpartition(".")[2].lower()
    out = differentiate.graph(request.program, request.point, request.wrt(), request.settings)
    notes = request.unused() + out.notes
    strict(request, notes)
    nodes, root, names, gradients, local = out.rows or []
    rows = freeze(nodes, root, source=request.source, names=names, gradients=gradients, local=local,
                  reserved=request.inputs())  # fmt: skip
    if format == "json":
        return dumps(document("graph", graph_object(rows), notes)), notes
    if format == "text":
        pictured = lanes(
            rows, local=line.flag("local"), ascii=ascii or line.flag("ascii"), digits=request.digits, colour=colour
        )
        return "\n".join(pictured), notes
    at = ", ".join(f"{name} = {inline(value)}" for name, value in request.at().items())
    text = dot(rows, f"{request.source}   at {at}" if at else request.source, digits=request.digits)
    return (text.rstrip("\n") if format == "dot" else graphviz(text, format)), notes


def graphviz(text: str, format: str) -> str | bytes:
    """The picture that Graphviz makes of DOT text."""
    import subprocess  # noqa: PLC0415

    try:
        done = subprocess.run(["dot", f"-T{format}"], input=text.encode(), capture_output=True, check=False)
    except OSError:
        raise ComputationError(
            f"{format} needs Graphviz, whose program 'dot' is not on the PATH",
            help="install it (apt install graphviz, brew install graphviz), or use --format dot",
        ) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ComputationError(f"dot failed: {said[0] if said else f'exit status {done.returncode}'}")
    return done.stdout.decode().rstrip("\n") if format == "svg" else done.stdout
