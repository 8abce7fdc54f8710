"""What the names of a program mean: constants, inputs, functions; all that can be said before it runs."""

from __future__ import annotations

import math

from autodiff.errors import NameProblem
from autodiff.ops import NAMES, OPS, Op
from autodiff.parse import program as code
from autodiff.parse.program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span

CONSTANTS: dict[str, float | bool] = {
    "pi": math.pi,
    "π": math.pi,
    "e": math.e,
    "tau": math.tau,
    "τ": math.tau,
    "inf": math.inf,
    "nan": math.nan,
    "true": True,
    "false": False,
}
REDUCES = {"max": "amax", "min": "amin"}  # of one operand these reduce


def suggestion(name: str, known: Sequence[str]) -> str | None:
    """A help line with the nearest known name."""
    import difflib

    near = difflib.get_close_matches(name, known, 1, 0.6)
    if not near:
        lowered = {k.lower(): k for k in known}
        near = [lowered[name.lower()]] if name.lower() in lowered else []
    return f"did you mean '{near[0]}'?" if near else None


def inputs_of(program: Program, bound: Mapping[str, Any]) -> list[str]:
    """The names that want a value: free in the text, and bound or no constant."""
    return [name for name in program.inputs if name in bound or name not in CONSTANTS]


def check_inputs(program: Program, point: Mapping[str, Any], wrt: Iterable[str]) -> None:
    """Raise NameProblem for a name to differentiate by that is no input."""
    names = inputs_of(program, point)
    for name in wrt:
        if name not in names:
            known = f"its inputs are {', '.join(names)}" if names else "it has no inputs"
            raise NameProblem(f"'{name}' is no input of the expression", help=suggestion(name, names) or known)


def check_names(program: Program, point: Mapping[str, Any]) -> None:
    """Raise NameProblem for calls of nothing, inputs without a value, and bindings of what may not be bound."""
    missing = []
    for name in program.inputs:
        if name in point or name in CONSTANTS:
            continue
        span = program.input_spans[name]
        if name in NAMES or name in program.functions:
            raise NameProblem(f"'{name}' is a function, not a value", span, f"call it: {name}(x)")
        missing.append(name)
    if missing:
        link(program)  # a call of nothing is told first: no value would help it
        unused = [name for name in point if name not in program.inputs]
        names = ", ".join(f"'{name}'" for name in missing)
        text = f"{'no value' if len(missing) == 1 else 'no values'} for {names}"
        if unused:
            text += f" (and nothing uses {', '.join(repr(name) for name in unused)})"
        hint = f"--at {','.join(f'{name}=…' for name in missing)}"
        known = next((text for text in (suggestion(name, missing) for name in unused) if text), None)
        if known is None and len(missing) == 1:
            known = suggestion(missing[0], [*CONSTANTS, *(name for name in program.bound if name != missing[0])])
        raise NameProblem(text, program.input_spans[missing[0]], f"give {hint}" + (f"; {known}" if known else ""))
    for opcode, argument, span in program.code:
        if opcode == code.STORE and argument not in point:
            if argument in CONSTANTS:
                raise NameProblem(f"'{argument}' is a constant and can't be assigned to", span, "use another name")
            if argument in NAMES:
                raise NameProblem(f"'{argument}' is a function and can't be assigned to", span, "use another name")


def link(program: Program) -> list[tuple[int, Any, Span]]:
    """The program's code with names of operations replaced by their rows; names and counts are checked here."""
    linked: list[tuple[int, Any, Span]] = []
    for opcode, argument, span in program.code:
        if opcode == code.APPLY or opcode == code.LINK:
            argument = (OPS[argument[0]], argument[1])
        elif opcode == code.CLOSE:
            argument = OPS[argument]
        elif opcode == code.DEFINE and (argument[0] in NAMES or argument[0] in CONSTANTS):
            what = "a built-in function" if argument[0] in NAMES else "a constant"
            raise NameProblem(f"'{argument[0]}' is {what} and can't be defined", span, "use another name")
        elif opcode == code.CALL:
            argument = _linked_call(program, argument, span)
        linked.append((opcode, argument, span))
    return linked


def _linked_call(program: Program, argument: Any, span: Span) -> Any:
    name, count, keywords, spans = argument
    if name in program.functions:
        wanted = len(program.functions[name][0])
        if keywords:
            raise NameProblem(f"'{name}' takes no keyword arguments", span)
        if count != wanted:
            raise NameProblem(f"'{name}' takes {wanted} argument{'s' * (wanted != 1)}, not {count}", span)
        return name, count, keywords, None
    op = NAMES.get(name)
    if op is None:
        if name in program.inputs or name in program.bound or name in CONSTANTS:
            raise NameProblem(f"'{name}' is a value, not a function", spans[0], f"a product is written {name}*(…)")
        near = suggestion(name, [*NAMES, *program.functions])
        raise NameProblem(f"unknown name '{name}'", spans[0], near or f"a product is written {name}*(…)")
    if op.name in REDUCES and (count == 1 or keywords):
        op = OPS[REDUCES[op.name]]
    places = [operand.partition("=")[0] for operand in op.operands]
    needed = sum("=" not in operand and operand != "…" for operand in op.operands)
    given = [*range(count)]
    static = []
    for keyword in keywords:
        if keyword in op.keywords:
            static.append(keyword)
        elif keyword in places and places.index(keyword) not in given:
            given.append(places.index(keyword))
        else:
            known = [*op.keywords, *(place for place in places if place != "…")]
            raise NameProblem(f"{name} takes no argument '{keyword}'", span, f"it knows {', '.join(known)}")
    if count > (op.most if op.most is not None else count) or any(i not in given for i in range(needed)):
        most = op.most
        needed = 1 if op.name in REDUCES else needed
        much = f"at least {needed}" if most is None else str(needed) if most == needed else f"{needed} to {most}"
        plural = "s" * (not much.endswith(" 1") and much != "1")
        raise NameProblem(
            f"{name} takes {much} argument{plural}, not {count + len(keywords) - len(static)}",
            span,
            f"{name}({', '.join(op.operands)})",
        )
    if not keywords and (count == op.most or op.most is None):
        return op, count, (), None
    order = [given.index(i) if i in given else places_default(op, i) for i in range(max(given, default=-1) + 1)]
    for i in range(len(order), op.most or 0):
        default = places_default(op, i)
        order.append(default)
    # where each operand is found: a position among the non-static values, or a default
    return op, count + len(keywords), keywords, (order, [k in op.keywords for k in keywords], count)


def places_default(op: Op, i: int) -> float:
    """The default of operand i, from the row's "name=value"."""
    return float(op.operands[i].partition("=")[2])
