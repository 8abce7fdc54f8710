"""What a row is: the Op class, the registry, and the dispatch of a call on the kinds of its operands.

An elementwise row gives one partial derivative per operand, `partial(y, *xs)`, written with
differentiable ops; the cotangent of operand i is then chain(g, partial_i), summed to its shape.
Any other row gives one vjp per operand, `vjp(g, y, *xs, **params)`. Both are looked up when the
derivative is wanted, so that the same row serves floats, arrays, recorded nodes, formulas and series:
an operand whose class has an `apply_op` decides itself what applying an op to it means; the highest
`op_rank` among the operands wins.
"""

from __future__ import annotations

from autodiff.errors import ComputationError, ShapeError
from autodiff.numeric import inf, is_array, nan, numpy, quiet, raw, real, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Rule = Callable[..., Any]

OPS: dict[str, Op] = {}
"""Every row by its name."""
NAMES: dict[str, Op] = {}
"""The rows that a text may call, by names and aliases."""


class Op:
    """One operation: its row."""

    __slots__ = (
        "aliases",
        "array",
        "blind",
        "conventions",
        "differentiable",
        "doc",
        "domain",
        "elementwise",
        "germ",
        "grad_fn",
        "jump",
        "keywords",
        "kink",
        "kinks",
        "linear",
        "looks",
        "most",
        "name",
        "operands",
        "order",
        "partials",
        "raw",
        "samples",
        "scalar",
        "selects",
        "symbol",
        "vjps",
        "where_nan",
    )

    def __init__(
        self,
        name: str,
        operands: str,
        doc: str,
        scalar: Rule | None = None,
        array: Rule | None = None,
        partials: Sequence[Rule | float] | Callable[[int], Rule | float] | None = None,
        vjps: Sequence[Rule | None] | Callable[[int], Rule | None] | None = None,
        *,
        aliases: str = "",
        keywords: str = "",
        symbol: str = "",
        order: int = 0,
        selects: bool = False,
        linear: bool = False,
        looks: bool = False,
        blind: bool = False,
        raw: bool = False,
        domain: str = "all reals",
        samples: Sequence[Any] = (),
        kink: Rule | None = None,
        jump: bool = False,
        kinks: str = "",
        germ: Rule | None = None,
        conventions: dict[str, Any] | None = None,
        hidden: bool = False,
    ) -> None:
        names = operands.split()
        self.name = name
        self.operands = names  # "x y" ; a default as in "slope=0.01"; "…" for any number more
        self.most = None if names and names[-1] == "…" else len(names)
        self.doc = doc
        self.aliases = aliases.split()
        self.keywords = keywords.split()
        self.scalar: Any = scalar  # value of floats
        self.array: Any = array or scalar  # value where an operand is an array; scalar None: always this one
        self.partials = partials
        self.vjps = vjps
        self.differentiable = partials is not None or vjps is not None
        self.elementwise = vjps is None
        self.symbol = symbol
        self.order = order  # how tightly the symbol binds, for printing
        self.selects = selects  # passes operands on: what it does not select gets exactly 0, even of inf and nan
        self.linear = linear  # in its array operands, all others fixed
        self.looks = looks  # its rules look at arrays for a cheaper way: they are called, not written out
        self.raw = raw  # its array form takes truth values as they are, where others get 1 and 0
        self.blind = blind  # its rules look at no operand: they take (g, y) alone
        self.domain = domain
        self.samples = samples  # points for tests: numbers, or tuples of operands
        self.kink = kink  # kink(y, *xs): where no derivative exists (bool, or array of them)
        self.jump = jump  # the value itself jumps there
        self.kinks = kinks  # in words, with the value chosen there
        self.germ = germ  # the op near its kink, in ops that a one-sided expansion goes through
        self.conventions = conventions or {}  # "torch", "jax": partials that differ from ours
        self.grad_fn = "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Backward0"
        OPS[name] = self
        if not hidden:
            for alias in (name, *self.aliases):
                NAMES[alias] = self

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def partial(self, i: int) -> Rule | float:
        """The partial derivative by operand i: a rule (y, *xs), or a number where it is constant."""
        rules: Any = self.partials
        return rules(i) if callable(rules) else rules[i]  # type: ignore[no-any-return]

    def vjp(self, i: int) -> Rule | None:
        """The vjp of operand i: a rule (g, y, *xs, **params), None where nothing flows back."""
        rules: Any = self.vjps
        return rules(i) if callable(rules) else rules[i] if i < len(rules) else None

    def __call__(self, *xs: Any, **params: Any) -> Any:
        """Apply to operands of any kind; raw values give a raw value and record nothing."""
        kind: Any = None
        rank = 0
        for x in xs:
            cls = x.__class__
            if cls is not float:
                r = getattr(cls, "op_rank", 0)
                if r > rank:
                    rank, kind = r, cls
        if kind is None:
            return self.value(xs, params)
        return kind.apply_op(self, xs, params)

    def value(self, xs: Sequence[Any], params: dict[str, Any]) -> Any:
        """The raw value of raw operands; ShapeError where NumPy refuses."""
        if self.scalar is not None:
            for x in xs:
                if is_array(x):
                    break
            else:
                return self.scalar(*[x if x.__class__ is float else real(x) for x in xs], **params)
        np = numpy()
        numbers = xs if self.raw else [real(x) for x in xs]
        try:
            if quiet.depth:
                return raw(self.array(*numbers, **params))
            with np.errstate(all="ignore"):
                return raw(self.array(*numbers, **params))
        except np.linalg.LinAlgError as error:  # a ValueError too
            raise ComputationError(f"{self.name}: {str(error).lower()}") from None
        except (ValueError, IndexError, np.exceptions.AxisError) as error:
            raise ShapeError(self.refusal(xs, error)) from None
        except MemoryError:
            raise ComputationError(f"{self.name}: not enough memory for the result") from None

    def refusal(self, xs: Sequence[Any], error: Exception) -> str:
        """Why arrays of these shapes do not go together."""
        shapes = [str(shape(x)) for x in xs if is_array(x)]
        of = f"shapes {' and '.join(shapes)}" if len(shapes) > 1 else f"shape {shapes[0]}" if shapes else "numbers"
        said = str(error)
        name = {"amax": "max", "amin": "min"}.get(self.name, self.name)
        if "zero-size" in said:
            return f"{name} of no entries"
        if any(word in said for word in ("broadcast", "matmul", "gufunc")):
            return f"{self.symbol or name}: {of} do not fit together"
        return f"{name} of {of}: {said}"


def chain_value(g: float, d: float) -> float:
    """g·d, and exactly 0 where g is 0: what no cotangent reaches is not touched, even by nan and inf."""
    return 0.0 if g == 0.0 else g * d


def gate_value(g: float, d: float) -> float:
    """g·d, and exactly 0 where either is 0: the part of an operand that was not selected gets nothing."""
    return 0.0 if g == 0.0 or d == 0.0 else g * d


def _strong(*strong: int) -> Rule:
    def over(g: Any, d: Any) -> Any:
        np = numpy()
        y = np.asarray(g * d)
        if np.isfinite(y).all():
            return y
        for i in strong:
            y = np.where((g, d)[i] == 0.0, 0.0, y)
        return y

    return over


chain: Op = Op(
    "chain",
    "g d",
    "product of the chain rule: 0 where g is 0",
    chain_value,
    _strong(0),
    [lambda y, g, d: d, lambda y, g, d: g],
    symbol="*",
    order=5,
    hidden=True,
)
gate: Op = Op(
    "gate",
    "g d",
    "product with a selection: 0 where either is 0",
    gate_value,
    _strong(0, 1),
    [lambda y, g, d: d, lambda y, g, d: g],
    symbol="*",
    order=5,
    hidden=True,
    selects=True,
)

__all__ = ["NAMES", "OPS", "Op", "chain", "gate", "inf", "nan"]
