"""A program to the formula of its value, and formulas to formulas of their derivatives.

The machine runs on symbols. A condition on them is answered by exploring: the program is run once for
each way through, and the results are joined by conditionals. A loop has no end to explore: there the
values of a point decide, and the formula is that of the path taken. Derivatives are what the tape's
own sweep gives when the recorded values are formulas.
"""

from __future__ import annotations

from functools import cached_property

from autodiff import numeric
from autodiff.errors import ComputationError, NameProblem, Note, RequestError
from autodiff.evaluate import MAX_OPS, evaluate
from autodiff.names import inputs_of, suggestion
from autodiff.operands.entries import Entries, objects
from autodiff.operands.formula import Formula, Symbol, judged, replay, walk
from autodiff.ops import OPS
from autodiff.parse.program import NEXT, ROUND
from autodiff.symbolic.convert import SEED, Writer, read
from autodiff.symbolic.simplify import simplify
from autodiff.tape import Tape, backward, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span
    from autodiff.parse.program import Program

WAYS = 256  # ways through the conditions of a text that are explored
LONGEST = 1_000_000  # operations of a path, where --max-ops does not say
ENTRIES = 64  # of an array by which formulas are derived
CONDITIONS = 64  # decisions on one way


class Derived:
    """The value as a formula, made when it is asked for; a formula for each name; and notes."""

    def __init__(self, value: Callable[[], Any], derivatives: dict[str, Any], notes: list[Note]) -> None:
        self._value = value
        self.derivatives = derivatives
        self.notes = notes

    @cached_property
    def value(self) -> Any:
        return self._value()


def derive(
    program: Program,
    wrt: Sequence[str],
    order: int = 1,
    point: Mapping[str, Any] | None = None,
    max_ops: int = MAX_OPS,
) -> Derived:
    """Derivatives of the given order by each name.

    `point` decides where there are loops. An array in it that is in `wrt` stands for its entries `v[0]`, …; the
    derivative by it has the shape of the value and then its own. Other arrays are the numbers that they are.
    """
    point = point or {}
    names = inputs_of(program, point)
    by: dict[str, Any] = {}
    for name in wrt:
        if name not in names:
            raise NameProblem(
                f"'{name}' is no input of the expression",
                help=suggestion(name, names) or (f"its inputs are {', '.join(names)}" if names else "it has none"),
            )
        given = point.get(name)
        if numeric.is_array(given) and order > 1:
            raise RequestError(
                f"derive --order {order} is by numbers, and '{name}' is an array",
                help=f"write its entries: [{name}0, …], or use hess for the numbers",
            )
        by[name] = entries_of(name, given) if numeric.is_array(given) else Symbol(name)
    symbols = {name: by.get(name, point[name] if numeric.is_array(point.get(name)) else Symbol(name)) for name in names}
    value, notes = value_formula(program, symbols, point, max_ops)
    writer = Writer(names)
    shape = numeric.shape(value)
    entries = value.array.ravel().tolist() if shape else [value]
    # without == in the text the conditions on single points are guards of rules, in a diff(…)
    starts = read(entries, None if compares(program) else ())
    values = [writer(p) for p in starts]
    found = {}
    for name, symbol in by.items():
        one_by_one = symbol.array.ravel().tolist() if isinstance(symbol, Entries) else [symbol]
        slopes = [released(slope(f, x.name, order, writer), writer) for f in values for x in one_by_one]
        found[name] = nested(slopes, shape + numeric.shape(symbol))
    return Derived(lambda: nested([released(writer(simplify(p, writer)), writer) for p in starts], shape), found, notes)


def entries_of(name: str, given: Any) -> Entries:
    """The entries of an array input as symbols, named as the language writes them."""
    if not 0 < given.size <= ENTRIES:
        raise RequestError(
            f"derive by an array wants 1 to {ENTRIES} entries, and '{name}' has {given.size}",
            help="jac and grad give the numbers",
        )
    array = objects(given).copy()
    for place in numeric.numpy().ndindex(given.shape):
        array[place] = Symbol(f"{name}[{', '.join(map(str, place))}]")
    return Entries(array)


def compares(program: Program) -> bool:
    """Whether the text itself asks for equality."""
    return any("eq" in (argument if isinstance(argument, tuple) else (argument,)) for _, argument, _ in program.code)


def slope(f: Any, name: str, order: int, writer: Writer) -> Any:
    """The derivative of a formula by a name, simplified after each order."""
    for _ in range(order):
        f = lowered(f)
        given = {g for g in walk([f]) if g.op is OPS["eq"]}
        (p,) = read(gradient(f, [name]), given)
        f = writer(simplify(p, writer))
    return f


def released(f: Any, writer: Writer) -> Any:
    """A formula without stop_gradient, which has done its work once all derivatives are taken."""
    held = [g for g in walk([f]) if g.op is OPS["stop_gradient"]]
    if not held:
        return f
    values: dict[Formula, Any] = {g: g for g in walk([f]) if g.op is None}
    for g in held:
        values[g] = replay([g.inputs[0]], values)[0]
    (p,) = read(replay([f], values))
    return writer(simplify(p, writer))


def nested(entries: list[Any], shape: tuple[int, ...]) -> Any:
    """Entries in row-major order as the literal of an array, or the only entry."""
    for n in reversed(shape):
        entries = [Formula.of(OPS["list"], tuple(entries[i : i + n])) for i in range(0, len(entries), n)]
    return entries[0]


def gradient(f: Any, names: Sequence[str]) -> list[Any]:
    """The derivatives of a formula by names, as the rules give them."""
    tape = Tape()
    leaves = {name: tape.leaf(Symbol(name)) for name in names}
    values: dict[Formula, Any] = {g: g for g in walk([f]) if g.op is None}
    values.update({Symbol(name): leaf for name, leaf in leaves.items()})
    (root,) = replay([f], values)
    if root.__class__ is not leaves[names[0]].__class__:
        return [0.0] * len(names)
    slopes = backward(root, SEED, list(leaves.values()))
    return [0.0 if g is None else value_of(g) for g in slopes]


def lowered(f: Any) -> Any:
    """max and min as conditionals, whose derivatives are conditionals and not shares of ties."""
    new: dict[Formula, Any] = {}
    for g in walk([f]):
        if g.op is None:
            new[g] = g
            continue
        xs = [new[x] if isinstance(x, Formula) else x for x in g.inputs]
        if g.op.name in ("max", "min"):
            compare = OPS["gt" if g.op.name == "max" else "lt"]
            best, plain = xs[0], g.inputs[0]
            for i in range(1, len(xs)):
                best = Formula.of(OPS["where"], (compare(plain, g.inputs[i]), best, xs[i]))
                plain = Formula.of(g.op, g.inputs[: i + 1])
            new[g] = best
        else:
            new[g] = Formula.of(g.op, tuple(xs), g.params)
    return new[f] if isinstance(f, Formula) else f


def value_formula(
    program: Program, symbols: Mapping[str, Any], point: Mapping[str, Any], max_ops: int
) -> tuple[Any, list[Note]]:
    """The value of a program as a formula of symbols."""
    loop = next((span for opcode, _, span in program.code if opcode in (NEXT, ROUND)), None)
    if loop is None:
        try:
            return explored(program, symbols, max_ops), []
        except Endless:
            pass
        except ComputationError:  # on a way that a point need not take
            if not symbols or any(name not in point for name in symbols):
                raise
    return along(program, symbols, point, loop, max_ops)


def along(
    program: Program, symbols: Mapping[str, Any], point: Mapping[str, Any], loop: Span | None, max_ops: int
) -> tuple[Any, list[Note]]:
    """The formula of the path that the program takes at a point."""
    known: dict[Formula, Any] = {}
    for name, symbol in symbols.items():
        if isinstance(symbol, Entries):
            known.update(zip(symbol.array.ravel().tolist(), point[name].ravel().tolist(), strict=True))
        elif name in point and isinstance(symbol, Formula):
            known[symbol] = point[name]

    def judge(f: Formula) -> float:
        missing = [name for name in symbols if name not in point]
        try:
            return float(replay([f], known)[0])
        except KeyError:
            raise pointless(missing, loop) from None

    if symbols and not point:
        raise pointless(list(symbols), loop)
    with judged(judge):
        value = run(program, symbols, min(max_ops, LONGEST) if max_ops == MAX_OPS else max_ops)
    at = ", ".join(f"{name}={point[name]:g}" for name in symbols if isinstance(point.get(name), float))
    return value, [Note("path", f"the formula is that of the path taken{' at ' + at if at else ''}", loop)]


def pointless(missing: Sequence[str], loop: Span | None) -> RequestError:
    return RequestError(
        "there are too many ways through the conditions of the text to follow them all"
        if loop is None
        else "a loop has as many rounds as the values say, so its derivative needs a point",
        span=loop,
        help=f"give --at {','.join(f'{name}=…' for name in missing)}; the formula is that of the path taken there",
    )


def explored(program: Program, symbols: Mapping[str, Any], max_ops: int) -> Any:
    """The formula of all ways through the program, joined by conditionals."""
    path: list[tuple[Formula, bool]] = []
    whole: list[Any] = []  # the values of the ways on which the condition held
    for _ in range(WAYS):
        value = one_way(program, symbols, path, max_ops)
        while path and not path[-1][1]:
            condition, _held = path.pop()
            value = OPS["where"](condition, whole.pop(), value)
        if not path:
            return value
        whole.append(value)
        path[-1] = (path[-1][0], False)
    raise Endless


def one_way(program: Program, symbols: Mapping[str, Any], path: list[tuple[Formula, bool]], max_ops: int) -> Any:
    """Run along the path, which grows by conditions that are new, taken to hold."""
    decided = dict(path)

    def judge(condition: Formula) -> float:
        if condition not in decided:
            if len(path) >= CONDITIONS:
                raise Endless
            decided[condition] = True
            path.append((condition, True))
        return float(decided[condition])

    with judged(judge):
        return run(program, symbols, max_ops)


class Endless(Exception):
    """There are more ways through a program than are explored."""


def run(program: Program, symbols: Mapping[str, Any], max_ops: int) -> Any:
    value = value_of(evaluate(program, symbols, (), max_ops=max_ops).value)
    if isinstance(value, Formula) or not numeric.shape(value):
        return value
    if not isinstance(value, Entries):
        value = Entries(objects(value))
    return value
