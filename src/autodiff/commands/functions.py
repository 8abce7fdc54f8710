"""The command functions: the rows of the language, as a table or one in detail."""

from __future__ import annotations

from autodiff.commands.line import Line, near
from autodiff.commands.output import Output
from autodiff.errors import NameProblem, Note, RequestError
from autodiff.ops import NAMES, OPS, Op
from autodiff.render.document import dumps
from autodiff.render.table import SEPARATORS, header, line, text


def call(op: Op) -> str:
    """How the function is called."""
    return f"{op.name}({', '.join([*op.operands, *(f'{k}=' for k in op.keywords)])})"


def detail(op: Op) -> dict[str, object]:
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


def functions(request: Line, out: Output) -> list[Note]:
    """The table of all functions, or what there is to say of one."""
    if len(request.operands) > 1:
        raise RequestError(f"functions takes one name, not '{' '.join(request.operands)}'")
    format = request.get("format", "text")
    if request.operands:
        shown = [named(request.operands[0])]
    else:
        shown = [op for op in OPS.values() if NAMES.get(op.name) is op]
    entries = [detail(op) for op in shown]
    if format == "json":
        out.write(dumps(entries[0] if request.operands else entries) + "\n")
    elif format == "value":
        out.write("".join(f"{op.name}\n" for op in shown))
    elif format in SEPARATORS:
        separator = SEPARATORS[format]
        rows = [[(key, _words(entry)) for key, entry in row.items()] for row in entries]
        out.write(
            "".join(f"{each}\n" for each in [header(rows[0], separator), *(line(row, separator) for row in rows)])
        )
    elif request.operands:
        out.write(text([(key, _words(entry)) for key, entry in entries[0].items() if entry]) + "\n")
    else:
        also = [f" (also {', '.join(op.aliases)})" if op.aliases else "" for op in shown]
        out.write(text([(call(op), op.doc + more) for op, more in zip(shown, also, strict=True)]) + "\n")
    return []


def named(name: str) -> Op:
    """The row of a name or alias; `sin(x)` and `SIN` are understood."""
    word = name.partition("(")[0].strip()
    op = NAMES.get(word) or NAMES.get(word.lower())
    if op is None:
        guess = near(word.lower(), NAMES)
        raise NameProblem(
            f"unknown function '{name}'",
            help=f"did you mean '{guess}'?" if guess else "autodiff functions lists them all",
        )
    return op


def _words(entry: object) -> str:
    return " ".join(map(str, entry)) if isinstance(entry, list) else str(entry or "")
