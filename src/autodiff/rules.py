"""Local derivatives as Python code: a row's rule, traced once on formulas, written for floats or for arrays.

A rule dispatches on every op it applies; written out it costs a tenth. The text is the same for both kinds
of operand but for the functions it names: `math` and its kin for floats, NumPy for arrays.
"""

from __future__ import annotations

from math import inf, nan

from autodiff.numeric import numpy
from autodiff.operands.formula import Formula, Symbol, walk
from autodiff.ops.record import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

LONGEST = 60  # operations of a local derivative that is written out
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_known: dict[tuple[Any, ...], Compiled] = {}


_symbols: dict[str, Formula] = {}


def symbol(name: str) -> Formula:
    """The one symbol of this name here, whatever other threads make meanwhile."""
    found = _symbols.get(name)
    return _symbols.setdefault(name, Symbol(name)) if found is None else found


def written(op: Op, xs: Sequence[str], names: dict[str, Any], arrays: bool = False) -> str:
    """The op applied to operands that are Python text; the functions this names are put into `names`.

    Of floats, what is outside an op's domain may raise ArithmeticError or ValueError.
    """
    if op.name in INFIX:
        return f"({xs[0]} {INFIX[op.name]} {xs[1]})"
    if op.name == "neg":
        return f"(-{xs[0]})"
    if op.name == "where" and not arrays:
        return f"({xs[1]} if {xs[0]} else {xs[2]})"
    name = f"_np_{op.name}" if arrays else f"_{op.name}"
    if arrays:
        names[name] = getattr(numpy(), getattr(op.array, "numpy_name", ""), op.array)
    else:
        names[name] = getattr(op.scalar, "raising", op.scalar)
    return f"{name}({', '.join(xs)})"


def number(x: float) -> str:
    """A float as Python text; `inf` and `nan` are names there."""
    text = repr(x)
    return f"({text})" if text[0] == "-" else text


def traced(op: Op, i: int, xs: Sequence[str], arrays: bool = False) -> Formula | float | None:
    """The partial derivative by operand i as a formula of y, x0, x1 …; None if it can't be written out.

    Operands whose text is a number are that number: rules may look at constants.
    """
    rule = op.partial(i)
    if not callable(rule):
        return float(rule)
    operands = [_operand(k, x) for k, x in enumerate(xs)]
    if arrays and op.looks and not any(x.__class__ is float for x in operands):
        return None
    try:
        found = rule(symbol("y"), *operands)
    except (TypeError, ValueError, AttributeError):
        return None  # the rule looks at its operands
    return found if not isinstance(found, Formula) or _length(found) <= LONGEST else None


def _operand(k: int, text: str) -> Any:
    try:
        return float(text.strip("()"))
    except ValueError:
        return symbol(f"x{k}")


def _length(root: Formula) -> int:
    lengths: dict[Any, int] = {}
    for formula in walk([root]):
        lengths[formula] = 1 + sum(lengths.get(x, 1) for x in formula.inputs)
        if lengths[formula] > LONGEST:
            break
    return max(lengths.values())


def partial_text(
    op: Op,
    i: int,
    y: str,
    xs: Sequence[str],
    names: dict[str, Any],
    arrays: bool = False,
    named: Callable[[str], str] | None = None,
) -> str:
    """The local derivative by operand i as Python text over the texts of the value and the operands.

    With `named`, which puts the value of a text into a variable, each part of it goes through that.
    """
    found = traced(op, i, xs, arrays)
    if found is None:
        name = f"_d{i}_{op.name}"
        names[name] = op.partial(i)
        return f"{name}({', '.join((y, *xs))})"
    if not isinstance(found, Formula):
        return number(float(found))
    texts: dict[Any, str] = {symbol("y"): y, **{symbol(f"x{k}"): x for k, x in enumerate(xs)}}
    text = _text(found, texts, set() if named else _shared(found, arrays), names, arrays, named)
    return named(f"({text} * 1.0)") if named and _is_truth(found) else text


def _shared(root: Formula, arrays: bool) -> set[Formula]:
    """Parts that occur more than once; none where a condition of floats could pass over the first of them."""
    uses: dict[Formula, int] = {}
    order = walk([root])
    if not arrays and any(formula.op is not None and formula.op.name == "where" for formula in order):
        return set()
    for formula in order:
        for x in formula.inputs * (2 if formula.op is not None and formula.op.name == "square" else 1):
            if isinstance(x, Formula) and x.op is not None:
                uses[x] = uses.get(x, 0) + 1
    return {formula for formula, count in uses.items() if count > 1}


def _compares(x: Any) -> bool:
    return isinstance(x, Formula) and x.op is not None and x.op.name in ("lt", "le", "gt", "ge", "eq", "ne")


def _is_truth(x: Any) -> bool:
    """Whether a part is a condition as 1 or 0, or a sum or product of such."""
    if not isinstance(x, Formula) or x.op is None:
        return False
    if x.op.name == "where":
        return _compares(x.inputs[0]) and x.inputs[1:] == (1.0, 0.0)
    return x.op.name in ("add", "mul") and all(map(_is_truth, x.inputs))


def _truth(condition: Any) -> Any:
    """A condition as bytes of 1 and 0: they multiply in half the time of floats, and cost nothing to make."""
    return condition.view("b") if hasattr(condition, "strides") else float(condition)


def _text(
    x: Any,
    texts: dict[Any, str],
    shared: set[Formula],
    names: dict[str, Any],
    arrays: bool,
    named: Callable[[str], str] | None = None,
) -> str:
    """A part as Python text; a shared one is named where it first stands. Rules are short: this may recurse."""
    if not isinstance(x, Formula):
        return number(x)
    if x in texts:
        return texts[x]
    assert x.op is not None
    operands = [_text(operand, texts, shared, names, arrays, named) for operand in x.inputs]
    if arrays and x.op.name not in ("add", "mul"):  # no other op takes bytes for numbers
        operands = [f"({t} * 1.0)" if _is_truth(of) else t for t, of in zip(operands, x.inputs, strict=True)]
    if x.op.name == "square":
        operands.append(_text(x.inputs[0], texts, shared, names, arrays, named))
        text = f"({operands[0]} * {operands[1]})"
    elif x.op.name == "pow" and operands[1] == "1.0":
        text = operands[0]
    elif arrays and x.op.name == "where" and _compares(x.inputs[0]) and x.inputs[1:] in ((1.0, 0.0), (0.5, 0.0)):
        names["_truth"] = _truth
        text = f"_truth({operands[0]})" if operands[1] == "1.0" else f"(_truth({operands[0]}) * 0.5)"
    else:
        text = written(x.op, operands, names, arrays)
    if x in shared:
        name = f"w{len(texts)}"
        texts[x] = name
        return f"({name} := {text})"
    return named(text) if named else text


class Compiled:
    """A local derivative: a number where it is constant, else a function of (y, *xs); and what that reads."""

    __slots__ = ("constant", "operand", "reads", "rule", "sent")

    def __init__(self, op: Op, i: int, count: int, arrays: bool, exponent: float | None) -> None:
        names_of = [f"x{k}" for k in range(count)]
        xs = names_of if exponent is None else [names_of[0], number(exponent)]
        found = traced(op, i, xs, arrays)
        self.constant = float(found) if found is not None and not isinstance(found, Formula) else None
        is_operand = isinstance(found, Formula) and found.op is None and found.name != "y"
        self.operand = int(found.name[1:]) if is_operand and isinstance(found, Formula) else None
        """The place of the operand that it is, if it is one as it stands."""
        if isinstance(found, Formula):
            read = {formula.name for formula in walk([found]) if formula.op is None}
        else:
            read = set() if found is not None else {"y", *names_of}
        self.reads: frozenset[int] = frozenset(-1 if name == "y" else int(name[1:]) for name in read)
        """Positions of the operands that the rule reads; -1 is the value."""
        names: dict[str, Any] = {"inf": inf, "nan": nan}
        text = partial_text(op, i, "y", xs, names, arrays)
        self.rule: Callable[..., Any] = eval(f"lambda {', '.join(('y', *names_of))}: {text}", names)
        self.sent: Callable[..., Any] = eval(f"lambda {', '.join(('g', 'y', *names_of))}: g * {text}", names)
        """The same times a cotangent."""


def compiled(op: Op, i: int, count: int, arrays: bool = False, exponent: float | None = None) -> Compiled:
    """The local derivative by operand i of an elementwise op with `count` operands, for floats or arrays.

    A constant exponent of a power may be given: its rule is simpler then.
    """
    key = (op.name, i, count, arrays, exponent)
    found = _known.get(key)
    if found is None:
        if len(_known) > 2000:
            _known.clear()
        found = _known[key] = Compiled(op, i, count, arrays, exponent)
    return found
