"""--precision N: value and gradient with N significant digits; numbers in the text and in --at are exact decimals."""

from __future__ import annotations

from autodiff import exact
from autodiff.commands.point import split
from autodiff.commands.request import Request
from autodiff.errors import Note, RequestError, ShapeError
from autodiff.evaluate import evaluate
from autodiff.job import Outcome
from autodiff.names import CONSTANTS, check_names
from autodiff.operands.extended import Extended, digits, lift, m
from autodiff.parse import parse
from autodiff.parse.program import Program
from autodiff.tape import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GUARD = 15  # digits more than asked for, which rounding and mild cancellation may take
MOST = 10_000


def decimal(program: Program) -> Program:
    """The program with every number read as the decimal that the text spells, not as the nearest float64."""

    def spelled(argument: float, span: tuple[int, int]) -> Any:
        text = program.source[slice(*span)].replace("_", "")
        try:
            return Extended(m.mpf(text)) if float(text) == argument else lift(argument)
        except ValueError:
            return lift(argument)  # a superscript, which is whole

    return exact.lifted(program, spelled)


def constants(program: Program, bound: dict[str, Any]) -> dict[str, Any]:
    """The constants that the program reads, to the precision at hand."""
    known = {"pi": m.pi, "π": m.pi, "e": m.e, "tau": 2 * m.pi, "τ": 2 * m.pi}
    return {
        name: Extended(+known[name]) if name in known else lift(CONSTANTS[name])
        for name in program.inputs
        if name not in bound and name in CONSTANTS
    }


def point(request: Request) -> dict[str, Any]:
    """The request's point; values spelled on the line are exact, those of files the float64 that they are."""
    found = {name: lift(value) for name, value in request.point.items()}
    for entry in request.entries:
        for piece in split(entry, ","):
            name, _, text = piece.partition("=")
            if text and not text.strip().startswith("@"):
                spelled = decimal(parse(text.strip()))
                found[name.strip()] = exact.value(spelled, constants(spelled, {}))
    return found


def answer(request: Request, gradient: bool) -> tuple[Outcome, list[tuple[str, Any]], dict[str, Any], list[Any]]:
    """Value, and gradient if wanted, as decimals of the digits asked for; one number each."""
    count = request.line.get("precision")
    if count > MOST:
        raise RequestError(f"--precision goes up to {MOST} digits, not {count}")
    if request.axes:
        raise RequestError("--precision and --sweep do not go together", help="give one point with --at")
    names = request.wrt() if gradient else []
    check_names(request.program, request.point)
    with digits(count + GUARD):
        program = decimal(request.program)
        at = point(request)
        bound = {**at, **constants(program, at)}
        raw = value_of(evaluate(program, bound, max_ops=request.settings.max_ops).value)
        result = Extended(raw) if raw.__class__ is bool else lift(raw)
        slopes = exact.gradient(program, bound, names, request.settings.max_ops) if names else {}
        for what, x in (("the result", result), *((f"d/d{name}", g) for name, g in slopes.items())):
            if x.shape:
                raise ShapeError(f"--precision answers with numbers, but {what} has shape {x.shape}")
        value, *found = (written(x, count) for x in (result, *slopes.values()))
    out = Outcome(request.program, value)
    out.notes = [Note("unused", f"nothing uses '{name}'", span) for name, span in request.program.unused]
    fields = [("value", value), *((f"d/d{name}", g) for name, g in zip(slopes, found, strict=True))]
    parts = {"value": value, **({"gradient": dict(zip(slopes, found, strict=True))} if gradient else {})}
    return out, fields, parts, found if gradient else [value]


def written(x: Extended, count: int) -> str:
    """A number with that many significant digits, without zeros that say nothing."""
    if x.value.__class__ is bool:
        return "true" if x.value else "false"
    text = str(m.nstr(m.mpf(x.value), count, strip_zeros=True, min_fixed=-5, max_fixed=count))
    return {"+inf": "inf"}.get(text, text.removesuffix(".0").replace(".0e", "e"))
