"""Common parts of formulas: what is used more than once gets a name, so that a text does not explode."""

from __future__ import annotations

from itertools import count

from autodiff.operands.formula import Formula, walk
from autodiff.ops import OPS
from autodiff.symbolic.text import lengths, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

LONG = 400  # characters of a formula from which its common parts are named
WORTH = 8  # characters of a part that is worth a name
ENDLESS = 20_000


def always(roots: Sequence[Any]) -> list[Formula]:
    """What is computed whichever branches are taken, operands first."""
    where = OPS["where"]
    seen: set[Formula] = set()
    stack = [x for x in roots if isinstance(x, Formula)]
    while stack:
        f = stack.pop()
        if f not in seen:
            seen.add(f)
            inputs = f.inputs[:1] if f.op is where else f.inputs
            stack += [x for x in inputs if isinstance(x, Formula)]
    return [f for f in walk(roots) if f in seen]


def common(roots: Sequence[Any], taken: Collection[str], everywhere: bool = True) -> dict[Formula, str]:
    """Names for parts that occur more than once, in an order in which they can be computed.

    Parts within a branch of a conditional may not be defined where it is not taken: they have names only if
    `everywhere`, or if there is no end to the text without.
    """
    uses: dict[Formula, int] = {}
    for f in walk(roots):
        for x in f.inputs:
            if isinstance(x, Formula):
                uses[x] = uses.get(x, 0) + 1
    for root in roots:
        if isinstance(root, Formula):
            uses[root] = uses.get(root, 0) + 1
    known: dict[Any, int] = {}
    names: dict[Formula, str] = {}
    numbers = (n for n in count(1) if f"t{n}" not in taken)
    everywhere = everywhere or sum(lengths(root, known) for root in roots) > ENDLESS
    for f in walk(roots) if everywhere else always(roots):
        if f.op is not None and uses[f] > 1 and lengths(f, known) >= WORTH:
            names[f] = f"t{next(numbers)}"
    return names


def program(root: Any, taken: Collection[str] = ()) -> str:
    """The formula as a text of the language: an expression, or `t1 = …; t2 = …; result` where it is long."""
    if not isinstance(root, Formula) or lengths(root, {}) <= LONG:
        return text(root)
    names = common([root], taken)
    names.pop(root, None)
    lines = [f"{name} = {text(part, names)}" for part, name in names.items()]
    return "; ".join([*lines, text(root, names)])
