"""Formulas as text of the language: no superfluous parentheses, shared parts named where that is shorter."""

from __future__ import annotations

from autodiff.operands.formula import Formula, walk
from autodiff.ops import OPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CHOICE, CALL = -1, 9  # how tightly a conditional and a call bind
PLUS, TIMES, SIGN, POWER = 4, 5, 6, 7
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def words(text: str) -> list[str]:
    """A table of names, as it is written down."""
    return text.split()


def spelled(x: float) -> str:
    """The shortest text that reads back as the same float."""
    text = repr(x)
    if text.endswith(".0"):
        text = text[:-2]
        zeros = len(text) - len(text.rstrip("0"))
        if zeros > 4:
            text = f"{text[:-zeros]}e{zeros}"
    return text.replace("e+", "e").replace("e-0", "e-")


def binds(x: Any, names: Mapping[Any, str]) -> int:
    """How tightly the text of an operand holds together."""
    if not isinstance(x, Formula):
        return SIGN if x < 0 or (x == 0 and str(x)[0] == "-") else CALL
    if x in names or x.op is None or not x.op.symbol:
        return CHOICE if x not in names and x.op is OPS["where"] else CALL
    if x.op.name == "and" and chain(x):
        return OPS["lt"].order
    return x.op.order


def chain(f: Formula) -> tuple[Any, str, Any, str, Any] | None:
    """a < x < b, of two comparisons of the same x."""
    left, right = f.inputs
    for one, two in ((left, right), (right, left)):
        if not (isinstance(one, Formula) and isinstance(two, Formula) and one.op and two.op):
            continue
        if one.op.name in ("gt", "ge") and two.op.name in ("lt", "le") and one.inputs[0] is two.inputs[0]:
            return one.inputs[1], one.op.symbol.replace(">", "<"), one.inputs[0], two.op.symbol, two.inputs[1]
    return None


def remainder_first(x: Any) -> bool:
    """Whether a sign before the product x would be read as that of the first operand of % or //."""
    while isinstance(x, Formula) and x.op is not None and x.op.symbol and x.op.order == TIMES:
        if x.op.name not in ("mul", "div", "chain", "gate"):
            return True
        x = x.inputs[0]
    return False


def layout(f: Formula) -> list[tuple[Any, int] | str]:
    """Pieces of text and operands, each with how tightly it must bind to stand without parentheses."""
    op = f.op
    assert op is not None
    xs = f.inputs
    if op.name == "where":
        c, a, b = xs
        return [(a, 0), " if ", (c, 0), " else ", (b, CHOICE)]
    if op.name == "and":
        linked = chain(f)
        if linked is not None:
            a, first, x, second, b = linked
            return [(a, 4), f" {first} ", (x, 4), f" {second} ", (b, 4)]
    if op.symbol and len(xs) == 2:
        left = right = op.order
        between = f" {op.symbol} "
        if op.name == "pow":
            left, right, between = POWER + 1, SIGN, "^"
        elif op.order == TIMES:
            between = op.symbol if op.symbol in "*/" else between
            right = SIGN
        elif op.name in COMPARISONS:
            left = right = op.order + 1
        elif op.name in ("add", "sub"):
            right = TIMES
        return [(xs[0], left), between, (xs[1], right)]
    if op.symbol and len(xs) == 1:
        least = op.order if op.name == "not" else SIGN if remainder_first(xs[0]) else TIMES
        return [op.symbol + (" " if op.symbol.isalpha() else ""), (xs[0], least)]
    before, after = ("[", "]") if op.name == "list" else (op.name + "(", ")")
    pieces: list[tuple[Any, int] | str] = [before]
    for x in xs:
        pieces += [(x, CHOICE), ", "]
    return [*pieces[: len(pieces) - 1 if xs else 1], after]


def text(root: Any, names: Mapping[Any, str] | None = None) -> str:
    """The root in the language; parts that have a name are written by it, the root excepted."""
    names = names or {}
    out: list[str] = []
    stack: list[Any] = [(root, CHOICE)]
    first = True
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
            continue
        x, least = piece
        if not isinstance(x, Formula):
            written = spelled(x)
            out.append(written if binds(x, names) >= least else f"({written})")
            continue
        if x in names and not first:
            out.append(names[x])
            continue
        if x.op is None:
            first = False
            out.append(x.name.rstrip("!"))
            continue
        pieces = layout(x)
        if not first and binds(x, names) < least:
            pieces = ["(", *pieces, ")"]
        first = False
        stack += reversed(pieces)
    return "".join(out)


def lengths(root: Any, known: dict[Any, int]) -> int:
    """How long the text of a formula is, without writing it."""
    none: dict[Any, str] = {}
    for f in walk([root], known):
        if f.op is None:
            known[f] = len(f.name.rstrip("!"))
            continue
        total = 0
        for piece in layout(f):
            if isinstance(piece, str):
                total += len(piece)
            else:
                x, least = piece
                total += known[x] if isinstance(x, Formula) else len(spelled(x))
                total += 2 * (binds(x, none) < least)
        known[f] = total
    return known[root] if isinstance(root, Formula) else len(spelled(root))
