"""The local derivative of one operation in terms of its operands, as a lecturer would write it: of a * x by a, x."""

from __future__ import annotations

from autodiff.errors import AutodiffError
from autodiff.operands.formula import Formula, Symbol
from autodiff.ops import OPS
from autodiff.symbolic.convert import Writer, read
from autodiff.symbolic.simplify import simplify
from autodiff.symbolic.text import text
from autodiff.tape import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Known = dict[Any, tuple[Any, list[Formula]]]
    """Derivatives by operation, operand and what the operands are: their formula, and their symbols."""

LONGEST = 40


def written(known: Known, op_name: str, i: int, operands: Sequence[str | float], convention: str | None = None) -> str:
    """The derivative by operand i; an operand is a name, or a number. Empty where there is nothing short to say.

    Operations of one kind share the work through `known`.
    """
    op = OPS[op_name]
    if not op.elementwise or len(operands) != op.most:
        return ""
    same = tuple([x if x.__class__ is float else operands.index(x) for x in operands])
    key = (op_name, i, same)
    if key not in known:
        known[key] = _derived(op_name, i, same, convention)
    formula, symbols = known[key]
    if formula is None:
        return ""
    names = {symbols[at]: str(operands[at]) for at in same if isinstance(at, int)}
    said = names[formula] if formula in names else text(formula, names)
    # Conditions guard special points; they are what the derivative says only where the operation selects.
    return said if len(said) <= LONGEST and (op.selects or " if " not in said) else ""


def _derived(
    op_name: str, i: int, operands: Sequence[float | int], convention: str | None
) -> tuple[Formula | None, list[Formula]]:
    symbols = [Symbol(f"x{at}") for at in range(len(operands))]
    xs: list[Any] = [symbols[x] if isinstance(x, int) else x for x in operands]
    try:
        d = partial(OPS[op_name], i, OPS[op_name](*xs), xs, convention)
        if not isinstance(d, Formula):
            return None, symbols
        writer = Writer([symbol.name for symbol in symbols])
        (p,) = read([d])
        d = writer(simplify(p, writer))
    except AutodiffError:
        return None, symbols
    return (d if isinstance(d, Formula) else None), symbols
