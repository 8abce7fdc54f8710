"""The command functions: the rows of the language, as a table or one in detail."""

from __future__ import annotations

from autodiff.commands.line import Line, near
from autodiff.errors import NameProblem, RequestError
from autodiff.ops import NAMES, OPS, Op
from autodiff.render.document import dumps
from autodiff.render.table import quoted


def call(op: Op) -> str:
    """How the function is called."""
    return f"{op.name}({', '.join([*op.operands, *(f'{k}=' for k in op.keywords)])})"


def row(op: Op) -> dict[str, object]:
    """What there is to say of a function."""
    return {
        "name": op.name,
        "call": call(op),
        "aliases": op.aliases,
        "help": op.doc,
        "domain": op.domain,
        "kinks": op.kinks or None,
        "grad_fn": op.grad_fn if op.differentiable else None,
    }


def functions(line: Line) -> str:
    """The table of all functions, or what there is to say of one."""
    format = "json" if line.flag("json") else line.one("format") or "text"
    if len(line.operands) > 1:
        raise RequestError("functions takes one name at most")
    shown = [op for op in OPS.values() if NAMES.get(op.name) is op]
    if line.operands:
        name = line.operands[0]
        op = NAMES.get(name)
        if op is None:
            guess = near(name, list(NAMES))
            raise NameProblem(f"unknown function '{name}'", help=f"did you mean '{guess}'?" if guess else None)
        if format == "json":
            return dumps(row(op))
        entries = [(key, value) for key, value in row(op).items() if value]
        return "\n".join(
            f"{key:8} {', '.join(value) if isinstance(value, list) else value}" for key, value in entries
        )
    if format == "json":
        return dumps({"functions": [row(op) for op in shown]})
    if format in ("csv", "tsv"):
        separator = "," if format == "csv" else "\t"
        lines = [["name", "aliases", "domain", "help"]]
        lines += [[op.name, " ".join(op.aliases), op.domain, op.doc] for op in shown]
        return "\n".join(separator.join(quoted(cell, separator) for cell in cells) for cells in lines)
    if format == "value":
        return "\n".join(op.name for op in shown)
    names = [call(op) for op in shown]
    width = max(map(len, names))
    return "\n".join(
        f"{name:{width}}  {op.doc}{' (also ' + ', '.join(op.aliases) + ')' if op.aliases else ''}"
        for name, op in zip(names, shown, strict=True)
    )
