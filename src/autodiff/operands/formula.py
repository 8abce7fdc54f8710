"""Formulas: operands that stand for what would be computed, so that rules and programs give expressions.

Equal formulas are one object (hash-consing), so that a shared part is held, walked and printed once.
Numbers stay raw floats among the inputs. Nothing is simplified here, and nothing recurses.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from math import copysign
from weakref import WeakValueDictionary

from autodiff.ops.record import OPS, Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

NONE: dict[str, Any] = {}
_known: WeakValueDictionary[Any, Formula] = WeakValueDictionary()
_judge: ContextVar[Callable[[Formula], float] | None] = ContextVar("judge", default=None)


class Formula:
    """An op of operands: formulas and floats. Equality is identity; `eq` is the op that compares."""

    __slots__ = ("__weakref__", "inputs", "name", "op", "params")
    op_rank = 1
    __array_ufunc__ = None

    op: Op | None
    """None for a symbol."""
    inputs: tuple[Any, ...]
    params: Mapping[str, Any]
    name: str
    """Of a symbol, else empty."""

    @staticmethod
    def apply_op(op: Op, xs: tuple[Any, ...], params: Mapping[str, Any] = NONE) -> Any:
        """The formula op(*xs), the same object for the same operands; an array of formulas for ops of arrays."""
        from autodiff.operands.entries import FORMS, Entries

        if op.name in FORMS or not op.elementwise or any(hasattr(x, "dtype") for x in xs):
            return Entries.apply_op(op, xs, params)
        return Formula.of(op, xs, params)

    @staticmethod
    def of(op: Op, xs: tuple[Any, ...], params: Mapping[str, Any] = NONE) -> Formula:
        """The one object that is op(*xs)."""
        inputs = tuple([x if x.__class__ is float or isinstance(x, Formula) else float(x) for x in xs])
        key = (op.name, tuple([_key(x) for x in inputs]), repr(params) if params else "")
        found = _known.get(key)
        if found is None:
            found = Formula.__new__(Formula)
            found.op, found.inputs, found.params, found.name = op, inputs, params or NONE, ""
            _known[key] = found
        return found

    def __repr__(self) -> str:
        if self.op is None:
            return self.name
        parts = [repr(x) if not isinstance(x, Formula) else f"<{x.op.name}>" if x.op else x.name for x in self.inputs]
        return f"{self.op.name}({', '.join(parts)})"

    def __float__(self) -> float:
        """The value where somebody decides by it (see `judged`)."""
        judge = _judge.get()
        if judge is None:
            raise TypeError("a formula has no value")
        return judge(self)

    def __bool__(self) -> bool:
        return float(self) != 0.0


def _key(x: Any) -> Any:
    return x if x.__class__ is not float or x != 0.0 else ("0", copysign(1.0, x))


def Symbol(name: str) -> Formula:
    """The formula that is a name; the same object for the same name."""
    found = _known.get(name)
    if found is None:
        found = Formula.__new__(Formula)
        found.op, found.inputs, found.params, found.name = None, (), NONE, name
        _known[name] = found
    return found


@contextmanager
def judged(judge: Callable[[Formula], float]) -> Iterator[None]:
    """Within, `judge(formula)` gives the value of a formula on which control flow depends."""
    token = _judge.set(judge)
    try:
        yield
    finally:
        _judge.reset(token)


def walk(roots: Iterable[Any], known: Any = ()) -> list[Formula]:
    """All formulas that the roots are made of, each once, operands first; what is in `known` is left out."""
    order: list[Formula] = []
    seen: set[Formula] = set()
    stack: list[tuple[Any, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        x, done = stack.pop()
        if done:
            order.append(x)
        elif isinstance(x, Formula) and x not in seen and x not in known:
            seen.add(x)
            stack.append((x, True))
            stack += [(y, False) for y in reversed(x.inputs)]
    return order


def replay(roots: Sequence[Any], values: dict[Formula, Any]) -> list[Any]:
    """The roots computed on operands of any kind: `values` has what the symbols are, and gathers all results."""
    for formula in walk(roots, values):
        if formula.op is None:
            raise KeyError(formula.name)
        operands = [values[x] if isinstance(x, Formula) else x for x in formula.inputs]
        values[formula] = formula.op(*operands, **formula.params)
    return [values[root] if isinstance(root, Formula) else root for root in roots]


def evaluate(roots: Sequence[Any], point: Mapping[str, Any]) -> list[Any]:
    """The values of formulas where the symbols have the values of `point`, by name; KeyError names one without."""
    return replay(roots, {Symbol(name): value for name, value in point.items()})


def _operators() -> None:
    """Give formulas the operators that the rows name; comparisons give formulas too."""
    binary = {
        "add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "floordiv": "floordiv", "mod": "mod",
        "pow": "pow", "matmul": "matmul", "and": "and", "or": "or",
    }  # fmt: skip
    for name, method in binary.items():
        if name in OPS:
            setattr(Formula, f"__{method}__", lambda self, other, op=OPS[name]: op(self, other))
            setattr(Formula, f"__r{method}__", lambda self, other, op=OPS[name]: op(other, self))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Formula, f"__{name}__", lambda self, other, op=OPS[name]: op(self, other))
    for name in ("neg", "pos", "abs"):
        setattr(Formula, f"__{name}__", lambda self, op=OPS[name]: op(self))


_operators()
