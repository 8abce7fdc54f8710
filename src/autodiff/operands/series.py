"""Truncated power series c0 + c1·t + c2·t² + …, for derivatives of high order and one-sided ones.

With y = f(x1, …), y' = Σ ∂f/∂xi · xi'. The partials are the rows' own, applied to series, so that
coefficient k of y needs coefficients below k of the partials alone: they are computed on demand and
kept, and an op asked twice for the same operands is the same series (sin wants cos, which wants sin).
Order n costs n² products an op (Griewank and Walther, Evaluating Derivatives, 2nd ed., section 13.2).

t is positive and infinitesimal: comparisons, floor and the like look at the first coefficient that
decides, so that a series is the expansion of one side (its germ). In a field that is not `sided` they look
at the point alone: then derivatives at kinks are those of the conventions, as sweeps over sweeps have them.
"""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.ops.arithmetic import add, div, mul, sub
from autodiff.ops.record import OPS, Op, chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Step = Callable[[int], Any]


class Field:
    """What series of one computation share: the order at which they end, and what was asked before."""

    __slots__ = ("convention", "known", "order", "rounded", "sided")

    def __init__(self, order: int, *, sided: bool = True, convention: str | None = None) -> None:
        self.order = order
        self.sided = sided
        self.convention = convention
        self.rounded = False  # series of numbers that an iteration found: sums of them that should be 0 are noise
        self.known: dict[Any, Any] = {}

    def series(self, coefficients: list[Any]) -> Series:
        """The series with these coefficients, and zeros after them."""
        zero = 0.0 * coefficients[0] if numeric.shape(coefficients[0]) else 0.0
        return Series(self, coefficients, lambda k: zero)


class Series:
    """One series: coefficients known so far, and how to get the next."""

    __slots__ = ("coefficients", "field", "step")
    op_rank = 1.2  # coefficients may be extended numbers
    __array_ufunc__ = None

    def __init__(self, field: Field, coefficients: list[Any], step: Step) -> None:
        self.field = field
        self.coefficients = coefficients
        self.step = step

    def __getitem__(self, k: int) -> Any:
        found = self.coefficients
        while len(found) <= k:
            c = self.step(len(found))
            shape = numeric.shape(found[0])
            # a number that was broadcast into an array stands for all its entries
            found.append(c if numeric.shape(c) == shape else numeric.numpy().broadcast_to(c, shape))
        return found[k]

    @property
    def shape(self) -> tuple[int, ...]:
        return numeric.shape(self.coefficients[0])

    def upto(self, order: int) -> list[Any]:
        """Coefficients 0 … order."""
        return [self[k] for k in range(order + 1)]

    @staticmethod
    def apply_op(op: Op, xs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The op of operands that are series or raw values."""
        field = next(x.field for x in xs if isinstance(x, Series))
        key = (op.name, *(id(x) if isinstance(x, Series) or numeric.is_array(x) else x for x in xs), repr(params))
        known = field.known.get(key)
        if known is None:
            # the operands are kept as well: an id is theirs only as long as they live
            known = field.known[key] = (apply(field, op, xs, params), xs)
        return known[0]


def coefficient(x: Any, k: int) -> Any:
    """Coefficient k of a series or of a raw value."""
    return x[k] if isinstance(x, Series) else x if k == 0 else 0.0


def difference(a: Any, b: Any, order: int) -> Any:
    """The first coefficient in which two operands differ, 0 where none does."""
    d = sub(coefficient(a, 0), coefficient(b, 0))
    for k in range(1, order + 1):
        if not numeric.is_array(d):
            if d != 0.0:
                return d
            d = sub(coefficient(a, k), coefficient(b, k))
        elif (d == 0.0).any():
            d = numeric.numpy().where(d == 0.0, sub(coefficient(a, k), coefficient(b, k)), d)
        else:
            return d
    return d


def settled(field: Field, c: Any, size: Callable[[], Any]) -> Any:
    """A coefficient that is a sum; of rounded numbers exactly 0 where it is no more than terms of that size leave.

    Else the two sides of a kink would differ in noise.
    """
    return OPS["where"](abs(c) <= 2.0**-44 * abs(size()), 0.0, c) if field.rounded else c


def magnitude(x: Any, k: int) -> Any:
    return abs(coefficient(x, k))


COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
ITERATED = ("eigvalsh", "eigenvectors")
REDUCTIONS = {"max": 1.0, "min": -1.0, "amax": 1.0, "amin": -1.0}


def apply(field: Field, op: Op, xs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """A new series, or a raw value for ops without a derivative."""
    if op.name in COMPARISONS:
        a, b = xs
        first, second = coefficient(a, 0), coefficient(b, 0)
        if not field.sided or numeric.is_nan(first) or numeric.is_nan(second):
            return op(first, second)
        return op(difference(a, b, field.order), 0.0)
    if not op.differentiable:
        return op(*(coefficient(x, 0) for x in xs), **params)
    if field.sided and op.name in REDUCTIONS:
        return greatest(field, op, xs, params)
    if field.sided and op.jump and op.germ is None:
        return beyond(field, op, xs)
    values = [coefficient(x, 0) for x in xs]
    y0 = op(*values, **params)
    if field.sided and op.germ is not None:
        if op.kink is not None and numpy_any(op.kink(y0, *values, **params)):
            field.rounded = field.rounded or op.name in ITERATED
            return op.germ(*xs, **params)
        if op.name == "norm" and abs(xs[1]) == math.inf:
            return op.germ(*xs, **params)  # chooses among its entries
    if op.name == "sqrt" and numpy_any(values[0] == 0.0):
        return root(field, xs[0])
    if op.name in ("add", "sub"):
        a, b = xs
        return Series(
            field,
            [y0],
            lambda k: settled(
                field, op(coefficient(a, k), coefficient(b, k)), lambda: add(magnitude(a, k), magnitude(b, k))
            ),
        )
    if op.name in ("mul", "chain", "gate"):
        return Series(field, [y0], lambda k: product(xs[0], xs[1], k))
    if op.name == "where":
        c, a, b = xs
        return Series(field, [y0], lambda k: op(coefficient(c, 0), coefficient(a, k), coefficient(b, k)))
    if op.linear:
        return linear(field, op, xs, params, y0)
    return integrated(field, op, xs, params, y0)


def numpy_any(x: Any) -> bool:
    return bool(x.any()) if numeric.is_array(x) else bool(x)


def product(a: Any, b: Any, k: int) -> Any:
    """Coefficient k of a·b; what is exactly 0 on the side of the first operand stays 0."""
    if not isinstance(a, Series):
        return chain(a, b[k])
    if not isinstance(b, Series):
        return chain(a[k], b)
    total = 0.0
    for j in range(k + 1):
        total = add(total, chain(a[j], b[k - j]))
    return total


def linear(field: Field, op: Op, xs: tuple[Any, ...], params: dict[str, Any], y0: Any) -> Series:
    """An op linear in each of its series operands."""
    places = [i for i, x in enumerate(xs) if isinstance(x, Series)]
    if op.name in ("list", "concat", "stack", "put"):

        def joint(k: int) -> Any:
            return op(*(coefficient(x, k) if isinstance(x, Series) else zero(x) for x in xs), **params)

        return Series(field, [y0], joint)
    if len(places) == 1:
        (place,) = places

        def single(k: int) -> Any:
            found = op(*xs[:place], xs[place][k], *xs[place + 1 :], **params)
            sizes = (abs(x) if numeric.is_array(x) else x for x in (*xs[:place], xs[place][k], *xs[place + 1 :]))
            return settled(field, found, lambda: op(*sizes, **params))

        return Series(field, [y0], single)
    first, second = places

    def bilinear(k: int, of: Callable[[Any, int], Any] = coefficient) -> Any:
        total: Any = 0.0
        for j in range(k + 1):
            operands = list(xs)
            operands[first], operands[second] = of(xs[first], j), of(xs[second], k - j)
            total = add(total, op(*operands, **params))
        return total

    return Series(field, [y0], lambda k: settled(field, bilinear(k), lambda: bilinear(k, magnitude)))


def zero(x: Any) -> Any:
    return 0.0 * x if numeric.shape(x) else 0.0


def integrated(field: Field, op: Op, xs: tuple[Any, ...], params: dict[str, Any], y0: Any) -> Series:
    """y from y' = Σ ∂f/∂xi · xi', coefficient by coefficient."""
    rate: list[Any] = []

    def step(k: int) -> Any:
        if not rate:
            rate.append(tangent(field, op, y, xs, params))
        return div(coefficient(rate[0], k - 1), float(k))

    y = Series(field, [y0], step)
    return y


def slope(x: Series) -> Series:
    """The derivative x' of a series."""
    return Series(x.field, [x[1]], lambda k: mul(float(k + 1), x[k + 1]))


def tangent(field: Field, op: Op, y: Any, xs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """y' as a series."""
    total: Any = None
    for i, x in enumerate(xs):
        if not isinstance(x, Series):
            continue
        if op.elementwise:
            rule = op.conventions[field.convention][i] if field.convention in op.conventions else op.partial(i)
            d = rule(y, *xs) if callable(rule) else rule
            part = mul(slope(x), d) if not isinstance(d, float) else chain(slope(x), d)
        else:
            part = pushforward(field, op, y, xs, i, slope(x), params)
        total = part if total is None else add(total, part)
    return total


def pushforward(field: Field, op: Op, y: Any, xs: tuple[Any, ...], i: int, t: Any, params: dict[str, Any]) -> Any:
    """The jvp of operand i from its vjp: that is linear in the cotangent, so its own vjp is the jvp."""
    from autodiff.tape import Node, Tape, backward

    rule = op.conventions[field.convention][i] if field.convention in op.conventions else op.vjp(i)
    shape = numeric.shape(coefficient(y, 0))
    zeros = numeric.numpy().zeros(shape) if shape else 0.0
    if rule is None:
        return zeros
    g = Tape().leaf(zeros)
    c = rule(g, y, *xs, **params)
    if not isinstance(c, Node):
        return zeros
    (found,) = backward(c, t, [g])
    return zeros if found is None else found


def greatest(field: Field, op: Op, xs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """max and min: ties at one order are broken by the next."""
    np = numeric.numpy()
    sign = REDUCTIONS[op.name]
    reduces = op.name in ("amax", "amin")
    axis: Any = params.get("axis") if reduces else 0

    def stacked(k: int) -> Any:
        if reduces:
            return sign * np.asarray(coefficient(xs[0], k), float)
        parts = np.broadcast_arrays(*(np.asarray(coefficient(x, 0), float) for x in xs))
        if k:
            parts = [np.broadcast_to(np.asarray(coefficient(x, k), float), parts[0].shape) for x in xs]
        return sign * np.stack(parts)

    alive: list[Any] = []

    def step(k: int) -> Any:
        c = stacked(k)
        candidates = np.where(alive[-1], c, -np.inf) if alive else c
        best = candidates.max(axis=axis, keepdims=True)
        alive.append((candidates == best) & (alive[-1] if alive else True))
        return numeric.raw(sign * (best.reshape(()) if axis is None else np.squeeze(best, axis)))

    return Series(field, [step(0)], step)


def beyond(field: Field, op: Op, xs: tuple[Any, ...]) -> Any:
    """floor and its kin: the value just beside the point, on the side where the series goes."""
    values = []
    for x in xs:
        if not isinstance(x, Series):
            values.append(x)
            continue
        d = difference(x, x[0], field.order)
        if numeric.is_array(x[0]):
            np = numeric.numpy()
            towards = np.where(d > 0, np.inf, -np.inf)
            values.append(np.where(d == 0.0, x[0], np.nextafter(x[0], towards)))
        else:
            values.append(x[0] if d == 0.0 or d != d else math.nextafter(x[0], math.copysign(math.inf, d)))
    at = op(*(coefficient(x, 0) for x in xs))
    kink = op.kink(at, *(coefficient(x, 0) for x in xs)) if op.kink is not None else False
    y0 = OPS["where"](kink, op(*values), at)
    if all(not callable(op.partial(i)) and op.partial(i) == 0.0 for i in range(len(xs))):
        return field.series([y0])
    return integrated(field, op, xs, {}, y0)


def root(field: Field, x: Series) -> Any:
    """sqrt where the series starts at 0: t^2m·(a + …) has the root t^m·sqrt(a + …)."""
    if numeric.shape(x[0]):
        np = numeric.numpy()
        parts = [
            root_or_sqrt(field, Series(field, [float(v) for v in c], lambda k: 0.0))
            for c in np.stack([np.broadcast_to(x[k], x.shape) for k in range(field.order + 1)], -1).reshape(
                -1, field.order + 1
            )
        ]
        return Series(
            field,
            [np.array([p[0] for p in parts]).reshape(x.shape)],
            lambda k: np.array([p[k] for p in parts]).reshape(x.shape),
        )
    lead = next((k for k in range(field.order + 1) if x[k] != 0.0), None)
    if lead is None:
        return field.series([0.0] if field.sided else [0.0, *([math.nan] * field.order)])  # 0 times infinity
    if lead % 2:  # t^(m + 1/2): orders above m are infinite, with changing signs
        if not x[lead] > 0.0:
            return field.series([0.0, *([math.nan] * field.order)])
        ends = [math.inf if k % 2 else -math.inf for k in range(1, field.order + 1 - lead // 2)]
        return field.series([0.0] * (1 + lead // 2) + ends)
    inner = OPS["sqrt"](field.series([x[k] for k in range(lead, field.order + 1)]))
    return Series(field, [0.0], lambda k: 0.0 if k < lead // 2 else inner[k - lead // 2])


def root_or_sqrt(field: Field, x: Series) -> Any:
    return OPS["sqrt"](x)


def _operators() -> None:
    for name, method in {"add": "add", "sub": "sub", "mul": "mul", "matmul": "matmul"}.items():
        if name in OPS:
            setattr(Series, f"__{method}__", lambda self, other, op=OPS[name]: op(self, other))
            setattr(Series, f"__r{method}__", lambda self, other, op=OPS[name]: op(other, self))
    setattr(Series, "__neg__", lambda self: OPS["neg"](self))  # noqa: B010


_operators()
