"""--precision N: value and gradient with N significant digits; numbers in the text and in --at are exact decimals."""

from __future__ import annotations

from autodiff import differentiate, exact, numeric
from autodiff.commands.point import split
from autodiff.commands.request import Request
from autodiff.errors import AutodiffError, Note, RequestError, ShapeError
from autodiff.evaluate import evaluate
from autodiff.job import Outcome
from autodiff.names import CONSTANTS, check_names
from autodiff.onesided import at_kinks, one_sided
from autodiff.operands.extended import Extended, digits, lift, m
from autodiff.parse import parse
from autodiff.parse.program import Program
from autodiff.tape import Node, backward, value_of, zeros_like

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


@numeric.quietly
def answer(request: Request, gradient: bool) -> tuple[Outcome, list[tuple[str, Any]], dict[str, Any], list[Any]]:
    """Value, and gradient if wanted, as decimals of the digits asked for; one number each."""
    count = request.line.get("precision")
    if count > MOST:
        raise RequestError(f"--precision goes up to {MOST} digits, not {count}")
    if request.axes:
        raise RequestError("--precision and --sweep do not go together", help="give one point with --at")
    for option in ("sensitivity", "checkpoint"):
        if request.line.get(option):
            raise RequestError(f"--precision and --{option} do not go together", help="leave out one")
    names = request.wrt() if gradient else []
    check_names(request.program, request.point)
    settings = request.settings
    with digits(count + GUARD):
        program = decimal(request.program)
        bound = point(request)
        bound |= constants(program, bound)
        run = evaluate(program, bound, names, max_ops=settings.max_ops, convention=settings.convention)
        raw = value_of(run.value)
        found = {"value": Extended(raw) if raw.__class__ is bool else lift(raw)}
        if found["value"].shape:
            raise ShapeError(f"--precision answers with numbers, but the result has shape {found['value'].shape}")
        leaves = [run.leaves[name] for name in names]
        slopes = backward(run.value, lift(1.0), leaves) if isinstance(run.value, Node) else [None] * len(names)
        for name, g, leaf in zip(names, slopes, leaves, strict=True):
            slope = lift(zeros_like(leaf.value) if g is None else value_of(g))
            if slope.shape:
                raise ShapeError(f"--precision answers with numbers, but d/d{name} has shape {slope.shape}")
            found[f"d/d{name}"] = settled(run.value, leaf, slope, settings.convention)
        fields = [(label, written(x, count)) for label, x in found.items()]
        value, *parts = (described(x, text) for x, (_, text) in zip(found.values(), fields, strict=True))
        finite = all(m.isfinite(x.value) for x in found.values())
    if finite:
        request.at_notes = []  # of what is beyond float64 on the line
    out = Outcome(request.program, value)
    out.notes = notes(request, names, finite)
    shown = {"value": value, **({"gradient": dict(zip(names, parts, strict=True))} if gradient else {})}
    return out, fields, shown, [text for _, text in (fields[1:] if gradient else fields)]


def settled(root: Any, leaf: Node, slope: Extended, convention: str | None) -> Extended:
    """At a kink the derivative of both sides, where they are one."""
    if convention or not isinstance(root, Node) or leaf.index > root.index or not at_kinks(root, leaf):
        return slope
    left, right = (lift(one_sided(root, leaf, (), sign)) for sign in (-1.0, 1.0))
    size = abs(left.value) + abs(right.value)
    return right if m.isfinite(size) and abs(left.value - right.value) <= size * m.power(10, 5 - m.dps) else slope


def notes(request: Request, names: list[str], finite: bool) -> list[Note]:
    """What float64 has to say of the point: kinks, and where a nan or an infinity that is one here too came from."""
    try:
        found = differentiate.gradient(request.program, request.point, names, request.settings).notes
    except AutodiffError:  # a way through the text on which float64 fails
        found = []
    doubts = () if finite else ("nonfinite", "domain")
    kept = [note for note in found if note.kind in ("kink", "unused", *doubts)]
    if not finite and not any(note.kind in doubts for note in kept):
        kept.append(Note("nonfinite", "the answer is not finite", (0, len(request.source))))
    return kept


def written(x: Extended, count: int) -> str:
    """A number with that many significant digits, without zeros that say nothing."""
    if x.value.__class__ is bool:
        return "true" if x.value else "false"
    text = str(m.nstr(m.mpf(x.value), count, strip_zeros=True, min_fixed=-5, max_fixed=count))
    return {"+inf": "inf"}.get(text, text.removesuffix(".0").replace(".0e", "e"))


def described(x: Extended, text: str) -> Any:
    """A number as JSON has it: its digits, which a JSON number would lose, as a string."""
    if x.value.__class__ is bool:
        return x.value
    return text if m.isfinite(x.value) else float(x.value)
