"""Formulas to Polys and back: numbers become exact on the way in, and layout is decided on the way out."""

from __future__ import annotations

import math
from fractions import Fraction

from autodiff.operands.formula import Formula, Symbol, walk
from autodiff.ops import OPS
from autodiff.symbolic import algebra
from autodiff.symbolic.algebra import ONE, PI, Atom, E, Gen, Poly, add, atom, number, of_atom, power, symbol, term
from autodiff.symbolic.text import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from autodiff.symbolic.algebra import Exact, Mono

FLOATS = (Fraction(1, 10**305), 10**305)
SHORT = 14  # digits of a number that somebody may have typed
MANY = 120  # operations of a long computation
LEVEL = {
    *("lt", "le", "gt", "ge", "ne", "not", "and", "or", "floor", "ceil", "round", "trunc", "floordiv", "sign", "relu"),
    "clip",
}
PICKS = {"max", "min", "where"}  # of these, one that may pick a number
ADDS = {"add", "sub", "neg", "pos"}
MULS = {"mul", "chain", "gate", "div"}


# In.

SEED = Symbol("seed!")
"""Stands for the 1 that a backward pass starts from, so that it is no float that others are multiplied to."""


def _table() -> Iterator[tuple[float, Poly]]:
    """Numbers that rules and texts compute and that have a name."""
    pi = of_atom(PI)
    half = number(Fraction(1, 2))
    yield math.pi, pi
    yield math.pi**2, power(pi, number(2))
    yield 1 / math.pi, power(pi, number(-1))
    yield math.sqrt(math.pi), power(pi, half)
    yield 1 / math.sqrt(math.pi), power(pi, scaled(half, -1))
    yield math.sqrt(math.tau), power(scaled(pi, 2), half)
    yield 1 / math.sqrt(math.tau), power(scaled(pi, 2), scaled(half, -1))
    yield math.sqrt(2 / math.pi), power(scaled(power(pi, number(-1)), 2), half)
    for n in (2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 17, 19, 21):
        yield math.sqrt(n), power(number(n), half)
        yield math.log(n), algebra.function("log", number(n))
        yield 1 / math.log(n), power(algebra.function("log", number(n)), number(-1))
    for k in (Fraction(k, 2) for k in (-6, -4, -2, -1, 1, 2, 4, 6)):
        yield math.exp(k), algebra.exponential(number(algebra.exact(k)))
    for n in (1, 2, 3):
        for name in ("sin", "cos", "sinh", "cosh"):
            yield getattr(math, name)(n), algebra.function(name, number(n))
    yield math.cbrt(2), power(number(2), number(Fraction(1, 3)))
    yield math.log(2) * math.log(2), power(algebra.function("log", number(2)), number(2))


def scaled(p: Poly, c: Exact) -> Poly:
    return algebra.scale(p, c)


class Numbers:
    """What floats stand for: decimals as typed, small fractions, multiples of known constants."""

    def __init__(self) -> None:
        self.found: dict[float, Poly] = {}
        self.table: list[tuple[float, Poly]] = []

    def __call__(self, x: float) -> Poly:
        known = self.found.get(x)
        if known is None:
            known = self.found[x] = self.meant(x)
        return known

    def meant(self, x: float) -> Poly:
        if not math.isfinite(x):
            return of_atom(atom("nan!")) if x != x else scaled(of_atom(atom("inf!")), 1 if x > 0 else -1)
        text = repr(x)
        typed = Fraction(text)
        if len(text.partition("e")[0].strip("-0.").replace(".", "")) <= SHORT or x == int(x):
            return number(algebra.exact(typed))
        near: Exact = Fraction(x).limit_denominator(1000)
        if abs(float(near) - x) <= math.ulp(x):  # 1/3 - 1 is one off -2/3
            return number(near)
        if not self.table:
            self.table = list(_table())
        for value, meaning in self.table:
            ratio = x / value
            near = Fraction(ratio).limit_denominator(360)
            if abs(near.numerator) <= 1000 and near and abs(float(near) / ratio - 1) <= 5e-16:
                return scaled(meaning, algebra.exact(near))
        return number(typed)


def read(roots: Sequence[Any], given: Collection[Formula] | None = None) -> list[Poly]:
    """Polys of formulas.

    Rules guard single points by `where(eq(…), …)`. With `given`, the conditions of the text itself,
    those that are not among them are taken to be false.
    """
    numbers = Numbers()
    uses: dict[Formula, int] = {}
    sole: dict[Formula, Formula] = {}
    everything = walk(roots)
    for f in everything:
        for x in f.inputs:
            if isinstance(x, Formula):
                uses[x] = uses.get(x, 0) + 1
                sole[x] = f
    for root in roots:
        if isinstance(root, Formula):
            uses[root] = uses.get(root, 0) + 2
    absorbed = {
        f
        for f in everything
        if uses[f] == 1
        and f.op is not None
        and sole[f].op is not None
        and any(f.op.name in group and sole[f].op.name in group for group in (ADDS, MULS))  # type: ignore[union-attr]
    }
    level: set[Any] = set()  # what may be one number on a whole interval: a guard of it is no single point
    for f in everything:
        if f.op is not None:
            parts = f.inputs[1:] if f.op.name == "where" else f.inputs
            if f.op.name in LEVEL or any(x in level or (f.op.name in PICKS and x.__class__ is float) for x in parts):
                level.add(f)
    known: dict[Formula, Poly] = {}

    def of(x: Any) -> Poly:
        return known[x] if isinstance(x, Formula) else numbers(float(x))

    # a long computation stays what it is: a sum that is used in several places is copied into none
    flat = algebra.FLAT if len(everything) <= MANY else 3

    def kept(x: Any) -> Poly:
        p = of(x)
        return p if uses.get(x, 0) < 2 or algebra.short(p, flat) else of_atom(atom("+", p))

    for f in everything:
        if f in absorbed:
            continue
        if f.op is None:
            known[f] = number(1) if f is SEED else symbol(f.name)
        elif f.op.name in ADDS:
            known[f] = add(((c, kept(x)) for x, c in gathered(f, absorbed, _summands)), flat)
        elif f.op.name in MULS:
            factors = (kept(x) if up > 0 else algebra.inverse(of(x)) for x, up in gathered(f, absorbed, _factors))
            known[f] = algebra.multiply(factors, flat)
        elif f.op.name == "where" and given is not None and f.inputs[0] not in level and _is_guard(f.inputs[0], given):
            known[f] = of(f.inputs[2])
        else:
            known[f] = algebra.function(f.op.name, *map(of, f.inputs))
    return [of(root) for root in roots]


def _is_guard(x: Any, given: Collection[Formula]) -> bool:
    if not isinstance(x, Formula) or x.op is not OPS["eq"] or x in given:
        return False
    other = x.inputs[1]  # a tie of max or min is no guard
    return not (isinstance(other, Formula) and other.op is not None and other.op.name in ("max", "min"))


def gathered(f: Formula, absorbed: Collection[Formula], split: Any) -> Iterator[tuple[Any, int]]:
    """What a tree of sums, or of products and quotients, is made of, with signs."""
    stack: list[tuple[Any, int]] = [(f, 1)]
    first = True
    while stack:
        x, sign = stack.pop()
        if first or (isinstance(x, Formula) and x in absorbed):
            stack += [(y, sign * s) for y, s in reversed(split(x))]
            first = False
        else:
            yield x, sign


def _summands(f: Formula) -> list[tuple[Any, int]]:
    assert f.op is not None
    if f.op.name in ("neg", "pos"):
        return [(f.inputs[0], -1 if f.op.name == "neg" else 1)]
    return [(f.inputs[0], 1), (f.inputs[1], -1 if f.op.name == "sub" else 1)]


def _factors(f: Formula) -> list[tuple[Any, int]]:
    assert f.op is not None
    return [(f.inputs[0], 1), (f.inputs[1], -1 if f.op.name == "div" else 1)]


# Out.

CONSTANTS = {"pi!": math.pi, "e!": math.e, "inf!": math.inf, "nan!": math.nan}
"""The symbols that are constants; the mark keeps them apart from inputs of that name."""


def make(name: str, *xs: Any) -> Formula:
    return Formula.of(OPS[name], xs)


class Writer:
    """Polys as formulas laid out for reading; names in `reserved` stand for inputs, not for constants."""

    def __init__(self, reserved: Collection[str] = ()) -> None:
        self.reserved = reserved
        self.known: dict[Poly, Any] = {}

    def __call__(self, p: Poly) -> Any:
        """The formula of p, or the float that it is."""
        for q in algebra.order([p]):
            if q not in self.known:
                self.known[q] = self.sum(q)
        return self.known[p]

    def sum(self, p: Poly) -> Any:
        if not p.terms:
            return 0.0
        alone = len(p.terms) == 1
        items = [self.signed(m, c, alone) for m, c in sorted(p.terms.items(), key=_rank)]
        first = next((i for i, (negative, _) in enumerate(items) if not negative), 0)
        items.insert(0, items.pop(first))
        total: Any = None
        for negative, x in items:
            if total is None:
                total = (-x if x.__class__ is float else make("neg", x)) if negative else x
            else:
                total = make("sub" if negative else "add", total, x)
        return total

    def signed(self, m: Mono, c: Exact, alone: bool) -> tuple[bool, Any]:
        """A term without its sign, and whether it is negative."""
        if alone and c < 0:
            for g, e in m:
                if g.atom.name == "+" and not g.mono and e in (1, -1):
                    inner = g.atom.args[0]
                    if any(k < 0 for k in inner.terms.values()):
                        turned = gen_of(algebra.scale(inner, -1))
                        return self.signed(tuple((turned, x) if h is g else (h, x) for h, x in m), -c, alone)
        return c < 0, self.term(abs(c), m)

    def term(self, c: Exact, m: Mono) -> Any:
        """A product with a positive coefficient; of one that no float is the powers of ten come last, to the left."""
        if m and not FLOATS[0] < c < FLOATS[1] and decimal(c) is None:
            power = Fraction(10) ** (200 if c > 1 else -200)
            return make("mul", float(power), self.term(algebra.exact(c / power), m))
        bases: dict[Atom, dict[Mono, Exact]] = {}
        for g, e in m:
            bases.setdefault(g.atom, {})[g.mono] = e
        plain = {a: x[ONE] for a, x in bases.items() if len(x) == 1 and ONE in x and a is not E}
        up: list[tuple[Any, Any]] = []
        down: list[tuple[Any, Any]] = []
        c = self.roots(c, plain, up, down)
        self.ratios(plain, up, down)
        for a, e in plain.items():
            (up if e > 0 else down).append((self.rank(a), self.raised(self.base(a), abs(e))))
        for a, exponents in bases.items():
            if a is E:
                u = self.inner(algebra.poly(exponents))
                up.append(((1, "e"), self.constant(E)) if u == 1.0 else ((3, "exp"), make("exp", u)))
            elif not (len(exponents) == 1 and ONE in exponents):
                below = all(e < 0 for e in exponents.values())
                u = self.inner(algebra.poly({n: -e if below else e for n, e in exponents.items()}))
                first, name = self.rank(a)
                (down if below else up).append(((max(first, 2.5), name), make("pow", self.base(a), u)))
        halves = down and Fraction(c).denominator & (Fraction(c).denominator - 1) == 0
        top, bottom = coefficient(c, bool(up or halves))  # 0.3/x but 3/(4*x)
        numerator = [x for _, x in sorted(up, key=lambda item: item[0])]
        denominator = [x for _, x in sorted(down, key=lambda item: item[0])]
        if top != 1.0 or not numerator:
            numerator.insert(0, top)
        if bottom != 1.0:
            denominator.insert(0, bottom)
        value = chained(numerator)
        return make("div", value, chained(denominator)) if denominator else value

    def roots(self, c: Exact, plain: dict[Atom, Exact], up: list[Any], down: list[Any]) -> Exact:
        """Square roots of numbers below one sign: sqrt(2)/2 as 1/sqrt(2), sqrt(2)·sqrt(pi) as sqrt(2·pi)."""
        for half in (Fraction(1, 2), Fraction(-1, 2)):
            primes = [a for a, e in plain.items() if a.name == "#" and e == half]
            n: Exact = math.prod(a.args[0] for a in primes)
            if not primes:
                continue
            below = Fraction(c).denominator % n == 0 or plain.get(PI) == -half
            for a in primes:
                del plain[a]
            if below:
                c = c * n
            inside: Any = float(n)
            sign = -half if below else half
            if plain.get(PI) == sign:
                del plain[PI]
                inside = make("mul", inside, self.constant(PI))
            (down if sign < 0 else up).append(((0, ""), make("sqrt", inside)))
        return c

    def ratios(self, plain: dict[Atom, Exact], up: list[Any], down: list[Any]) -> None:
        """sin/cos as tan, sinh/cosh as tanh."""
        for name, other, ratio in (("sin", "cos", "tan"), ("sinh", "cosh", "tanh")):
            for a in [a for a in plain if a.name == name]:
                b = atom(other, *a.args)
                e, d = plain[a], plain.get(b, 0)
                if e * d >= 0 or Fraction(e).denominator > 1 or Fraction(d).denominator > 1:
                    continue
                k = min(abs(e), abs(d))
                above = e > 0
                for x, left in ((a, e - k if above else e + k), (b, d + k if above else d - k)):
                    if left:
                        plain[x] = left
                    else:
                        del plain[x]
                inverse = not above and ratio == "tan" and not up and all(v < 0 for v in plain.values())
                call = make("cot" if inverse else ratio, self.inner(a.args[0]))
                rank = (3, ratio)
                (up if above or inverse else down).append((rank, self.raised(call, k)))

    def inner(self, p: Poly) -> Any:
        return self.known[p] if p in self.known else self(p)

    def rank(self, a: Atom) -> tuple[float, str]:
        """Numbers, constants, names, functions, sums."""
        if a.name == "+":
            return (4, "")
        if a.args:
            return (0 if a.name == "#" else 3, a.name)
        return (1 if a.name in CONSTANTS else 2, a.name)

    def base(self, a: Atom) -> Any:
        if a.name == "#":
            return number_of(a.args[0])
        if a.name == "+":
            return self.inner(a.args[0])
        if not a.args:
            return self.constant(a) if a.name in CONSTANTS else Symbol(a.name)
        xs = [*map(self.inner, a.args)]
        return conditional(*xs) if a.name == "where" else make(a.name, *xs)

    def constant(self, a: Atom) -> Any:
        return CONSTANTS[a.name] if a.name.rstrip("!") in self.reserved else Symbol(a.name)

    def raised(self, x: Any, e: Exact) -> Any:
        if e == 1:
            return x
        if e == Fraction(1, 2):
            return make("sqrt", x)
        exponent = decimal(e)
        return make("pow", x, number_of(e) if exponent is None else exponent)


def conditional(c: Any, a: Any, b: Any) -> Any:
    """`a if c else b`; one of the same outcome within another is joined by `and`, `or`."""
    where = OPS["where"]
    if isinstance(a, Formula) and a.op is where and same(a.inputs[2], b):
        return conditional(make("and", c, a.inputs[0]), a.inputs[1], b)
    if isinstance(b, Formula) and b.op is where and same(b.inputs[1], a):
        return conditional(make("or", c, b.inputs[0]), a, b.inputs[2])
    return make("where", c, a, b)


def same(x: Any, y: Any) -> bool:
    return x is y or (x.__class__ is y.__class__ is float and x == y)


def gen_of(p: Poly) -> Gen:
    return algebra.gen(atom("+", p))


def chained(xs: Iterable[Any]) -> Any:
    total: Any = None
    for x in xs:
        total = x if total is None else make("mul", total, x)
    return total


def decimal(c: Exact) -> float | None:
    """The float whose shortest text is exactly c."""
    try:
        x = float(c)
    except OverflowError:
        return None
    return x if math.isfinite(x) and Fraction(repr(x)) == c else None


def nearest(c: Fraction) -> float:
    try:
        return c.numerator / c.denominator
    except OverflowError:
        return math.inf if c > 0 else -math.inf


def number_of(c: Exact) -> Any:
    """A rational as a float, or as a quotient of two."""
    top, bottom = coefficient(c, False)
    return top if bottom == 1.0 else make("div", top, bottom)


def coefficient(c: Exact, more: bool) -> tuple[float, float]:
    """Numerator and denominator of the shorter spelling; `more` factors stand beside it."""
    c = Fraction(c)
    x = decimal(c)
    if c.denominator == 1 and x is not None:
        return x, 1.0
    p, q = decimal(c.numerator), decimal(c.denominator)
    if p is None or q is None or max(p, q) >= 1e15:
        return (x if x is not None else nearest(c)), 1.0
    if x is not None:
        long = (0 if c.numerator == 1 and more else len(spelled(p)) + more) + len(spelled(q)) + 1
        if len(spelled(x)) <= long + (-2 if more else 1):
            return x, 1.0  # 0.3*x but x/2; on its own 0.25 rather than 1/4
    return p, q


def _rank(item: tuple[Mono, Exact]) -> Any:
    """High powers first, names before functions, constants last."""
    m, _ = item
    shape = tuple((bool(g.atom.args), g.atom.name, -e if not g.mono else 0, g.serial) for g, e in m)
    size = sum(e for g, e in m if not g.mono and not (g.atom.args or g.atom.name in CONSTANTS))
    return (m == ONE, -size, sorted(shape))


__all__ = ["Numbers", "Writer", "read", "term"]
