"""Exact algebra: sums of rational multiples of products of powers, in one canonical form each.

A Poly is Σ c·m with rational c. A product m is a sorted tuple of (Gen, exponent), the exponent rational; a Gen is
an atom to the power of a product, so that x^(2·y + 1) is Gen(x, y)^2 · Gen(x, 1)^1 and exp(-k·t) is
Gen(e, k·t)^-1: whatever is multiplied, exponents only add. An atom is a name, a prime, a function of Polys, or a
sum that is raised to a power or multiplied. All are interned: equal ones are one object.

Only what holds wherever the original is defined is rewritten.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from weakref import WeakValueDictionary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Exact = Any  # int or Fraction, whose common type is `object` to a type checker
    Mono = tuple[tuple["Gen", Exact], ...]

ONE: Mono = ()
FLAT = 40  # sums longer than that are not copied into other sums
_serial = count()
_atoms: WeakValueDictionary[Any, Atom] = WeakValueDictionary()
_gens: WeakValueDictionary[Any, Gen] = WeakValueDictionary()
_polys: WeakValueDictionary[Any, Poly] = WeakValueDictionary()


class Atom:
    """A symbol (no args), a prime "#" (its number), a sum "+" (its Poly), or a function of Polys."""

    __slots__ = ("__weakref__", "args", "leaves", "name", "serial")
    name: str
    args: tuple[Any, ...]
    serial: int
    leaves: int
    """Of a conditional: how many outcomes it has, those of conditionals within counted; else 0."""

    def __repr__(self) -> str:
        return f"{self.name}{self.args}" if self.args else self.name


class Gen:
    """An atom to the power of a product."""

    __slots__ = ("__weakref__", "atom", "mono", "serial")
    atom: Atom
    mono: Mono
    serial: int

    def __repr__(self) -> str:
        return f"{self.atom}^{self.mono}" if self.mono else repr(self.atom)


class Poly:
    """A sum: product to rational coefficient; the empty product is the constant term."""

    __slots__ = ("__weakref__", "inner", "lead", "terms")
    terms: dict[Mono, Exact]
    inner: tuple[Poly, ...] | None  # its `parts`, once they were asked for
    lead: Mono | None

    def __repr__(self) -> str:
        return " + ".join(f"{c}*{m}" for m, c in self.terms.items()) or "0"

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def value(self) -> Exact | None:
        """The number that this is, None if it is none."""
        if not self.terms:
            return 0
        return self.terms.get(ONE) if len(self.terms) == 1 else None


def atom(name: str, *args: Any) -> Atom:
    key = (name, args)
    found = _atoms.get(key)
    if found is None:
        found = Atom.__new__(Atom)
        found.name, found.args, found.serial, found.leaves = name, args, next(_serial), 0
        if name == "where":
            found.leaves = sum(max(1, sum(g.atom.leaves for m in p.terms for g, _ in m)) for p in args[1:])
        _atoms[key] = found
    return found


def gen(base: Atom, mono: Mono = ONE) -> Gen:
    key = (base, mono)
    found = _gens.get(key)
    if found is None:
        found = Gen.__new__(Gen)
        found.atom, found.mono, found.serial = base, mono, next(_serial)
        _gens[key] = found
    return found


def poly(terms: Mapping[Mono, Exact]) -> Poly:
    clean = {m: c for m, c in terms.items() if c != 0}
    key = frozenset(clean.items())
    found = _polys.get(key)
    if found is None:
        found = Poly.__new__(Poly)
        found.terms, found.inner, found.lead = clean, None, None
        _polys[key] = found
    return found


def number(c: Exact) -> Poly:
    return poly({ONE: c})


def term(c: Exact, mono: Mono) -> Poly:
    return poly({mono: c})


def of_atom(base: Atom) -> Poly:
    return poly({((gen(base), 1),): 1})


def symbol(name: str) -> Poly:
    return of_atom(atom(name))


E = atom("e!")  # no name that a text can bind
PI = atom("pi!")


MODEST = 10**60
DIGITS = 45  # of longer numbers: enough that sums in which floats cancel keep all digits of what is left
HUGE = 10**150
TINY = Fraction(1, HUGE)


def exact(x: Exact) -> Exact:
    """The rational, a whole number as int; one of a great many digits rounded."""
    if abs(x.numerator) < MODEST and x.denominator < MODEST:
        return x.numerator if x.denominator == 1 else x
    if not TINY < abs(x) < HUGE:
        return x
    unit = Fraction(10) ** (math.floor((x.numerator.bit_length() - x.denominator.bit_length()) * 0.30103) - DIGITS)
    near = round(x / unit) * unit
    return near.numerator if near.denominator == 1 else near


def degree(mono: Mono) -> Exact:
    """The sum of the exponents of plain powers."""
    return sum(e for g, e in mono if not g.mono)


def leading(p: Poly) -> Mono:
    """A term that does not depend on the order of construction of the sum."""
    if p.lead is None:
        p.lead = max(p.terms, key=lambda m: (degree(m), tuple((-g.serial, e) for g, e in m)))
    return p.lead


def build(powers: Mapping[Gen, Exact]) -> tuple[Exact, Mono]:
    """The product of powers, with a number that came out of it."""
    c: Exact = 1
    items = []
    for g, e in powers.items():
        if e == 0:
            continue
        if g.atom.name == "#" and g.mono == ONE:  # a prime keeps an exponent between 0 and 1
            n = math.floor(e)
            c = exact(c * Fraction(g.atom.args[0]) ** n)
            e = e - n
            if e == 0:
                continue
        items.append((g, exact(e)))
    items.sort(key=lambda item: item[0].serial)
    return c, tuple(items)


def merged(powers: dict[Gen, Exact]) -> tuple[Exact, Mono]:
    """The product of powers, with a number that came out of it; sums that differ by their sign become one."""
    sign = 1
    sums = [g for g in powers if g.atom.name == "+" and not g.mono]
    if len(sums) > 1:
        for g in sums:
            other = gen(atom("+", scale(g.atom.args[0], -1)))
            if other in powers and g in powers and Fraction(powers[g]).denominator == 1:
                if powers[g] % 2:
                    sign = -sign
                powers[other] += powers.pop(g)
    c, mono = build(powers)
    return c * sign, mono


def times(a: Mono, b: Mono, power: Exact = 1) -> tuple[Exact, Mono]:
    """a·b^power."""
    powers = dict(a)
    for g, e in b:
        powers[g] = powers.get(g, 0) + e * power
    return merged(powers)


def scale(p: Poly, c: Exact) -> Poly:
    if c == 1:
        return p
    return poly({m: exact(k * c) for m, k in p.terms.items()})


GREATEST = 10**1000
LEAST = Fraction(1, GREATEST)


def modest(c: Exact) -> bool:
    """Whether a number is of a size that products of floats have: others are kept apart, within a sum."""
    return bool((LEAST if c.__class__ is not int else 0) < abs(c) < GREATEST)


SMALL = 10**6  # a divisor that is taken out of a sum


def content(p: Poly) -> Exact:
    """The positive rational that leaves whole coefficients without a common divisor."""
    top, bottom, most = 0, 1, 0
    for c in p.terms.values():
        top = math.gcd(top, c.numerator)
        bottom = math.lcm(bottom, c.denominator)
        most = max(most, abs(c))
    small = bottom < SMALL and (0 < top < SMALL or most * bottom < top * SMALL)
    return exact(Fraction(top, bottom)) if small and top else 1


def factor_of(p: Poly, signed: bool = True) -> tuple[Exact, Mono]:
    """p as a number times a product; a sum becomes one atom, its leading coefficient positive if `signed`."""
    if len(p.terms) == 1:
        ((m, c),) = p.terms.items()
        return (c, m) if modest(c) else (1, ((gen(atom("+", p)), 1),))
    if not p.terms:
        return 0, ONE
    c = content(p)
    if signed and p.terms[leading(p)] < 0:
        c = -c
    return c, ((gen(atom("+", scale(p, Fraction(1) / c))), 1),)


def lone_sum(mono: Mono) -> Poly | None:
    """The sum that a product is, if it is nothing else."""
    if len(mono) == 1 and mono[0][1] == 1 and mono[0][0].atom.name == "+" and not mono[0][0].mono:
        found: Poly = mono[0][0].atom.args[0]
        return found
    return None


def short(p: Poly, flat: int) -> bool:
    """Whether a sum may be copied into others: where that is limited, neither many terms nor long ones."""
    return len(p.terms) <= flat and (flat == FLAT or sum(map(len, p.terms)) <= flat)


def add(parts: Iterable[tuple[Exact, Poly]], flat: int = FLAT) -> Poly:
    """Σ c·p; sums of more than `flat` terms that are one atom stay one."""
    total: dict[Mono, Exact] = {}
    for c, p in parts:
        for m, k in p.terms.items():
            inner = lone_sum(m)
            if inner is not None and short(inner, flat):
                for n, j in inner.terms.items():
                    total[n] = total.get(n, 0) + c * k * j
            else:
                total[m] = total.get(m, 0) + c * k
    return joined(poly({m: exact(k) for m, k in total.items()}))


def plus(*ps: Poly) -> Poly:
    return add((1, p) for p in ps)


def minus(a: Poly, b: Poly) -> Poly:
    return add([(1, a), (-1, b)])


def multiply(ps: Iterable[Poly], flat: int = FLAT) -> Poly:
    """The product; a number times a sum of at most `flat` terms is multiplied out.

    Conditionals are multiplied branch by branch, so that what is not chosen is not touched.
    """
    c: Exact = 1
    powers: dict[Gen, Exact] = {}
    sums: list[Poly] = []
    chosen: list[Atom] = []
    for p in ps:
        if not p.terms:
            return p
        ((m, k), *more) = p.terms.items()
        if more or not (modest(k) and modest(c)):
            sums.append(p)
            continue
        c = exact(c * k)
        choice = conditional(p)
        if choice is not None:
            chosen.append(choice)
            continue
        for g, e in m:
            powers[g] = powers.get(g, 0) + e
    if chosen:
        rest = multiply([term(exact(c), build(powers)[1]), number(build(powers)[0]), *sums])
        for choice in reversed(chosen):  # the first stays outermost
            where, a, b = choice.args
            rest = choose(where, multiply([a, rest]), multiply([b, rest]))
        return rest
    if len(sums) == 1 and not powers:
        return scale(sums[0], exact(c))
    for p in sums:
        k, m = factor_of(p)
        c = c * k
        for g, e in m:
            powers[g] = powers.get(g, 0) + e
    k, mono = merged(powers)
    inner = lone_sum(mono)
    if inner is not None and short(inner, flat):
        return scale(inner, exact(c * k))
    return term(exact(c * k), mono)


def product(*ps: Poly) -> Poly:
    return multiply(ps)


OUTCOMES = 24  # of a conditional; one that has more is left as it is


def conditional(p: Poly) -> Atom | None:
    """The conditional that a single term consists of."""
    if len(p.terms) == 1:
        (m,) = p.terms
        return m[0][0].atom if chosen_by(m) else None
    return None


def chosen_by(m: Mono) -> bool:
    """Whether a product is one conditional, and not too large a one."""
    return len(m) == 1 and m[0][1] == 1 and m[0][0].atom.name == "where" and m[0][0].atom.leaves <= OUTCOMES


def joined(p: Poly) -> Poly:
    """Conditionals on the same condition become one; so do those of a sum that is small."""
    found: dict[Poly, list[tuple[Mono, Exact]]] = {}
    for m, c in p.terms.items():
        if chosen_by(m):
            found.setdefault(m[0][0].atom.args[0], []).append((m, c))
    if not found or (len(found) == 1 and len(next(iter(found.values()))) == 1 and len(p.terms) == 1):
        return p
    rest = {m: c for m, c in p.terms.items() if not chosen_by(m)}
    everything = list(found)
    if len(everything) > 3:
        # many conditions: one conditional for each, side by side
        for where, items in found.items():
            if len(items) > 1:
                a = add((c, m[0][0].atom.args[1]) for m, c in items)
                b = add((c, m[0][0].atom.args[2]) for m, c in items)
                new = choose(where, a, b)
                for m, c in new.terms.items():
                    rest[m] = rest.get(m, 0) + c
            else:
                ((m, c),) = items
                rest[m] = rest.get(m, 0) + c
        return poly(rest)
    where, items = everything[0], found[everything[0]]
    others = dict(rest)
    for key in everything[1:]:
        others.update(found[key])
    base = poly(others)
    a = add([(1, base), *((c, m[0][0].atom.args[1]) for m, c in items)])
    b = add([(1, base), *((c, m[0][0].atom.args[2]) for m, c in items)])
    return choose(where, a, b)


TRUE, FALSE = number(1), number(0)
OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def choose(where: Poly, a: Poly, b: Poly) -> Poly:
    """`a if where else b`."""
    where = truth(where)
    known = where.value
    if known is not None:
        return a if known else b
    a, b = assume(a, where, True), assume(b, where, False)
    if a is b or point_between(where, a, b):
        return a
    test = atom_of(where)
    if test is not None and test.name == "not":
        return choose(test.args[0], b, a)
    return of_atom(atom("where", where, a, b))


def unit(p: Poly) -> bool:
    return bool(next(iter(p.terms.values())) == 1)


def atom_of(p: Poly) -> Atom | None:
    """The atom that p is, if it is one."""
    if len(p.terms) == 1:
        ((m, c),) = p.terms.items()
        if c == 1 and len(m) == 1 and m[0][1] == 1 and not m[0][0].mono:
            return m[0][0].atom
    return None


def assume(p: Poly, where: Poly, truth: bool) -> Poly:
    """p where a condition is known to hold, or not to; a very large p as it is."""
    inside = order([p], WIDE)
    if len(inside) > WIDE:
        return p
    known = {where: number(int(truth))}
    test = atom_of(where)
    if test is not None:
        if truth and test.name == "and":
            for part in test.args:
                known[part] = TRUE
        if not truth and test.name == "or":
            for part in test.args:
                known[part] = FALSE
        if test.name in OPPOSITE:
            known[of_atom(atom(OPPOSITE[test.name], *test.args))] = number(int(not truth))
            here = interval(test, truth)
            for one in {g.atom: None for q in inside for m in q.terms for g, _ in m} if here is not None else ():
                found = implied(test, truth, one) if one.name in OPPOSITE else None
                if found is not None:
                    known[of_atom(one)] = number(int(found))
                elif one.name in SIGNED and here is not None:
                    signed(one, test.args[0], here, known)
    return substitute(p, known)


WIDE = 200  # Polys within one that is still searched for what a condition says of it
SIGNED = ("abs", "sign", "relu")


def signed(one: Atom, known_of: Poly, here: tuple[Exact, Exact, Exact, Exact], known: dict[Poly, Poly]) -> None:
    """abs, sign and relu of something whose sign an interval tells."""
    u = one.args[0]
    low, low_open, high, high_open = here
    shift = minus(u, known_of).value
    if shift is None:
        shift = plus(u, known_of).value
        low, low_open, high, high_open = -high, high_open, -low, low_open
    if shift is None:
        return
    above, below = low + shift, high + shift
    if above > 0 or (above == 0 and (low_open or one.name != "sign")):
        known[of_atom(one)] = TRUE if one.name == "sign" else u
    elif below < 0 or (below == 0 and (high_open or one.name != "sign")):
        known[of_atom(one)] = number(-1) if one.name == "sign" else FALSE if one.name == "relu" else scale(u, -1)


def interval(test: Atom, truth: bool) -> tuple[Exact, Exact, Exact, Exact] | None:
    """Where a comparison with a number holds: bounds, each with 1 where it is left out, as (low, open, high, open)."""
    n = test.args[1].value
    name = test.name if truth else OPPOSITE[test.name]
    if n is None:
        return None
    bounds = {
        "lt": (-INFINITE, 0, n, 1),
        "le": (-INFINITE, 0, n, 0),
        "gt": (n, 1, INFINITE, 0),
        "ge": (n, 0, INFINITE, 0),
    }
    return bounds.get(name, (n, 0, n, 0) if name == "eq" else None)


INFINITE = math.inf


def implied(test: Atom, truth: bool, other: Atom) -> bool | None:
    """What one comparison of something with a number says of another."""
    if test is other or test.args[0] is not other.args[0]:
        return None
    here = interval(test, truth)
    for answer in (True, False):
        there = interval(other, answer)
        if here is None or there is None:
            continue
        (low, low_open, high, high_open), (a, a_open, b, b_open) = here, there
        if (low, low_open) >= (a, a_open) and (high, -high_open) <= (b, -b_open):
            return answer
    return None


def point_between(where: Poly, a: Poly, b: Poly) -> bool:
    """Whether `b` is `a` but for one point, as in `a if x > 0 else (a if x < 0 else c)`."""
    inner = conditional(b)
    if inner is None or not unit(b) or inner.args[1] is not a:
        return False
    one, two = atom_of(where), atom_of(inner.args[0])
    return (
        one is not None
        and two is not None
        and {one.name, two.name} == {"lt", "gt"}
        and one.args == two.args
        and one.args[1].value is not None
    )


def parts(p: Poly) -> tuple[Poly, ...]:
    """The Polys that the atoms and exponents of p are made of."""
    if p.inner is None:
        found: list[Poly] = []
        for m in p.terms:
            for g, _ in m:
                if g.atom.name != "#":
                    found += g.atom.args
                if g.mono:
                    found.append(term(1, g.mono))
        p.inner = tuple(found)
    return p.inner


def order(roots: Iterable[Poly], most: float = math.inf) -> list[Poly]:
    """All Polys within the roots, each once, inner ones first; some that are more than `most` if there are."""
    found: list[Poly] = []
    seen: set[Poly] = set()
    stack = [(root, False) for root in roots]
    while stack:
        p, done = stack.pop()
        if len(seen) > most:
            return [*seen]
        if done:
            found.append(p)
        elif p not in seen:
            seen.add(p)
            stack.append((p, True))
            stack += [(q, False) for q in parts(p) if q not in seen]
    return found


def substitute(p: Poly, known: Mapping[Poly, Poly]) -> Poly:
    """p with Polys replaced wherever they stand as a whole."""
    new: dict[Poly, Poly] = dict(known)
    stack = [(p, False)]
    changed: set[Poly] = set(known)
    atoms = {one for one in map(atom_of, known) if one is not None}
    while stack:
        q, done = stack.pop()
        if q in new:
            continue
        inner = parts(q)
        if not done:
            stack.append((q, True))
            stack += [(r, False) for r in inner if r not in new]
            continue
        if any(r in changed for r in inner) or any(g.atom in atoms for m in q.terms for g, _ in m):
            new[q] = rebuilt(q, new)
            if new[q] is not q:
                changed.add(q)
        else:
            new[q] = q
    return new[p]


def rebuilt(p: Poly, new: Mapping[Poly, Poly]) -> Poly:
    """p made again from replaced parts."""
    total = []
    for m, c in p.terms.items():
        factors = []
        for g, e in m:
            own = of_atom(g.atom)
            if own in new and new[own] is not own:
                base = new[own]
            elif g.atom.args and g.atom.name != "#":
                args = [new.get(a, a) for a in g.atom.args]
                base = args[0] if g.atom.name == "+" else function(g.atom.name, *args)
            else:
                base = own
            exponent = scale(new.get(term(1, g.mono), term(1, g.mono)), e) if g.mono else number(e)
            factors.append(power(base, exponent))
        total.append((c, multiply(factors)))
    return add(total)


# Powers.

POSITIVE = {"e!", "pi!", "cosh", "exp2", "sigmoid", "erfc", "ndtr", "softplus", "#"}
NONNEGATIVE = POSITIVE | {"abs", "relu", "square", "sqrt", "hypot"}


def nonnegative(g: Gen, e: Exact) -> bool:
    """Whether the power g^e is never negative where it is defined."""
    if g.atom.name in NONNEGATIVE or (g.mono and g.atom is E):
        return True
    if g.mono:
        return False
    if Fraction(e).denominator > 1 or e % 2 == 0:
        return True
    return g.atom.name == "+" and clearly_nonnegative(g.atom.args[0])


def clearly_nonnegative(p: Poly) -> bool:
    return all(c > 0 and all(nonnegative(g, e) for g, e in m) for m, c in p.terms.items())


def power(p: Poly, e: Poly) -> Poly:
    """p^e."""
    n = e.value
    if n == 1:
        return p
    if n == 0:
        return TRUE
    choice = conditional(p)
    if choice is not None and unit(p):
        where, a, b = choice.args
        return choose(where, power(a, e), power(b, e))
    if n is None:
        return symbolic_power(p, e)
    if not p.terms:
        return p if n > 0 else of_atom(atom("inf!"))
    if Fraction(n).denominator == 1:
        c, m = factor_of(p)
        if c not in (1, -1) and not (abs(n) < 5000 and modest(c) and modest(Fraction(c) ** int(n))):
            return term(1, ((gen(atom("+", p)), n),))
        k, m = times(ONE, m, n)
        return term(exact(Fraction(c) ** int(n) * k), m)
    return root_power(p, n)


def root_power(p: Poly, n: Exact) -> Poly:
    """p^n for a broken n: what is never negative comes out, even powers as those of abs."""
    c, m = factor_of(p, signed=False)
    out = [number_power(abs(c), n)]
    if len(p.terms) > 1 and out[0].value is None:  # sqrt(2·x + 2) as it is
        return term(1, ((gen(atom("+", p)), exact(n)),))
    inside: list[tuple[Gen, Exact]] = []
    for g, e in m:
        if not g.mono and g.atom.name not in NONNEGATIVE and e % 2 == 0 and g.atom.name != "+":
            out.append(power(function("abs", of_atom(g.atom)), number(e * n)))
        elif not g.mono and g.atom.name == "+" and e % 2 == 0:
            base = g.atom.args[0]
            out.append(power(base if clearly_nonnegative(base) else function("abs", base), number(exact(e * n))))
        elif nonnegative(g, e):
            k, mono = build({g: e * n})
            out.append(term(k, mono))
        else:
            inside.append((g, e))
    sign = 1 if c > 0 else -1
    if inside:
        if len(inside) == 1 and sign > 0 and not inside[0][0].mono:
            g, e = inside[0]
            out.append(term(1, ((g, exact(e * n)),)))
        else:
            rest = term(sign, tuple(inside))
            inner = lone_sum(tuple(inside))
            if inner is not None:
                rest = scale(inner, sign)
            out.append(term(1, ((gen(atom("+", rest)), exact(n)),)))
    elif sign < 0:
        out.append(term(1, ((gen(atom("+", number(-1))), exact(n)),)))
    return multiply(out)


def number_power(c: Exact, n: Exact) -> Poly:
    """c^n for a positive rational c."""
    if c == 1:
        return TRUE
    powers: dict[Gen, Exact] = {}
    for part, sign in ((c.numerator, 1), (c.denominator, -1)):
        for prime, times_ in factorised(part).items():
            g = gen(atom("#", prime))
            powers[g] = powers.get(g, 0) + sign * times_ * n
    k, mono = build(powers)
    return term(k, mono)


def factorised(n: int) -> dict[int, int]:
    """Prime factors up to a thousand; what is left counts as prime."""
    found: dict[int, int] = {}
    d = 2
    while d * d <= n and d < 1000:
        while n % d == 0:
            found[d] = found.get(d, 0) + 1
            n //= d
        d += 1
    if n > 1:
        root = math.isqrt(n)
        if root * root == n:
            found[root] = found.get(root, 0) + 2
        else:
            found[n] = found.get(n, 0) + 1
    return found


def symbolic_power(p: Poly, e: Poly) -> Poly:
    """p^e where e is no number."""
    c = p.value
    if c is not None:
        if c == 1:
            return TRUE
        if c > 0:
            return raised(atom("#", exact(c)), e)
        return raised(atom("+", p), e)
    single = atom_of(p)
    if single is not None:
        if single is E:
            return exponential(e)
        return raised(single, e)
    if len(p.terms) == 1:
        ((m, k),) = p.terms.items()
        if k == 1 and all(g.atom.name in POSITIVE for g, _ in m):
            return multiply(power(of_atom(g.atom), product(term(x, g.mono), e)) for g, x in m)
    inner = lone_sum(next(iter(p.terms))) if len(p.terms) == 1 and unit(p) else None
    return raised(atom("+", p if inner is None else inner), e)


def raised(base: Atom, e: Poly) -> Poly:
    """An atom to the power of a sum: a factor for each term."""
    c: Exact = 1
    powers: dict[Gen, Exact] = {}
    for m, k in e.terms.items():
        if m == ONE and base.name == "#":
            extra = number_power(base.args[0], k)
            ((mono, k2),) = extra.terms.items()
            c = c * k2
            for g, x in mono:
                powers[g] = powers.get(g, 0) + x
        else:
            g = gen(base, m)
            powers[g] = powers.get(g, 0) + k
    k, mono = build(powers)
    return term(exact(c * k), mono)


def exponential(u: Poly) -> Poly:
    """exp(u); of multiples of logarithms it gives powers."""
    out = []
    rest: dict[Mono, Exact] = {}
    for m, c in u.terms.items():
        logs = [g for g, e in m if g.atom.name == "log" and e == 1 and not g.mono]
        if len(logs) == 1:
            others = tuple(item for item in m if item[0] is not logs[0])
            if not any(g.atom.name == "log" for g, _ in others):
                out.append(power(logs[0].atom.args[0], term(c, others)))
                continue
        rest[m] = c
    out.append(raised(E, poly(rest)))
    return multiply(out)


# Functions.

ODD = {
    "sin", "sinh", "asin", "atan", "asinh", "atanh", "erf", "erfinv", "cbrt", "sign", "softsign", "trunc", "frac",
    "round",
}  # fmt: skip
EVEN = {"cos", "cosh", "abs", "sinc"}
AT_ZERO = {
    "sin": 0, "cos": 1, "asin": 0, "atan": 0, "sinh": 0, "cosh": 1, "asinh": 0, "atanh": 0, "erf": 0, "erfc": 1,
    "erfinv": 0, "cbrt": 0, "abs": 0, "sign": 0, "sinc": 1, "log1p": 0, "expm1": 0, "gelu": 0, "silu": 0, "mish": 0,
    "relu": 0, "softsign": 0, "floor": 0, "ceil": 0, "round": 0, "trunc": 0, "frac": 0, "factorial": 1,
}  # fmt: skip


def negative(p: Poly) -> bool:
    return bool(p.terms) and p.terms[leading(p)] < 0


def function(name: str, *args: Poly) -> Poly:
    """A function of Polys, rewritten where a rule holds everywhere."""
    rule = RULES.get(name)
    if rule is not None:
        found = rule(*args)
        if found is not None:
            return found
    if len(args) == 1:
        (u,) = args
        if not u.terms and name in AT_ZERO:
            return number(AT_ZERO[name])
        if negative(u):
            if name in ODD:
                return scale(function(name, scale(u, -1)), -1)
            if name in EVEN:
                return function(name, scale(u, -1))
    return of_atom(atom(name, *args))


HALF = number(Fraction(1, 2))
TWO, MINUS_ONE = number(2), number(-1)


def _abs(u: Poly) -> Poly | None:
    if len(u.terms) == 1:
        ((m, c),) = u.terms.items()
        outside = [(g, e) for g, e in m if nonnegative(g, e)]
        inside = tuple((g, e) for g, e in m if not nonnegative(g, e))
        if not inside:
            return term(abs(c), m)
        if outside or abs(c) != 1 or len(inside) > 1 or inside[0][1] != 1:
            k, out = build(dict(outside))
            return multiply([term(abs(c) * k, out), *(_abs_power(g, e) for g, e in inside)])
        return None
    if clearly_nonnegative(u):
        return u
    k = content(u)
    if k != 1:
        return product(number(k), function("abs", scale(u, Fraction(1) / k)))
    return None


def _abs_power(g: Gen, e: Exact) -> Poly:
    if g.mono:
        return of_atom(atom("abs", term(1, ((g, e),))))
    base = g.atom.args[0] if g.atom.name == "+" else of_atom(g.atom)
    return power(function("abs", base), number(e))


def _sign(u: Poly) -> Poly | None:
    n = u.value
    if n is not None:
        return number((n > 0) - (n < 0))
    if len(u.terms) == 1:
        ((m, c),) = u.terms.items()
        inside = tuple((g, 1) for g, e in m if not nonnegative(g, e))
        if not inside:
            return None
        if abs(c) != 1 or inside != m:
            inner = lone_sum(inside)
            return scale(function("sign", inner if inner is not None else term(1, inside)), 1 if c > 0 else -1)
        return None
    k = content(u)
    return None if k == 1 else function("sign", scale(u, Fraction(1) / k))


def _log(u: Poly) -> Poly | None:
    n = u.value
    if n == 1:
        return FALSE
    if len(u.terms) == 1:
        ((m, c),) = u.terms.items()
        if c == 1 and m and all(g.atom is E for g, _ in m):
            return poly({g.mono: e for g, e in m})
        if c == 1 and len(m) == 1 and not m[0][0].mono:
            g, e = m[0]
            base = g.atom.args[0] if g.atom.name == "+" else of_atom(g.atom)
            if e != 1 and g.atom.name != "#" and (Fraction(e).denominator > 1 or e % 2 or g.atom.name in POSITIVE):
                return scale(function("log", base), e)
    return None


def _cbrt(u: Poly) -> Poly | None:
    n = u.value
    if n is not None and n != 0:
        for sign in (1, -1):
            if n * sign > 0:
                return scale(number_power(abs(n), Fraction(1, 3)), sign)
    return None


def _compare(name: str, flipped: str, holds: Callable[[Exact, Exact], bool]) -> Callable[[Poly, Poly], Poly | None]:
    def rule(a: Poly, b: Poly) -> Poly | None:
        m, n = a.value, b.value
        if m is not None and n is not None:
            return number(int(holds(m, n)))
        if m is not None:
            return function(flipped, b, a)
        if n is None:
            difference = minus(a, b)  # x > -x as x > 0
            shorter = len(difference.terms) < len(a.terms) + len(b.terms)
            return function(name, difference, FALSE) if shorter else None
        fixed = a.terms.get(ONE, 0)  # x - 2 > 0 as x > 2, -x > 0 as x < 0
        rest = minus(a, number(fixed))
        c = content(rest) * (-1 if negative(rest) else 1)
        if c not in (1, -1) and n != fixed:
            c = -1 if c < 0 else 1
        if fixed == 0 and c == 1:
            return None
        new = number(exact(Fraction(n - fixed) / c))
        return of_atom(atom(name if c > 0 else flipped, scale(rest, Fraction(1) / c), new))

    return rule


_same = _compare("eq", "eq", lambda a, b: bool(a == b))


def _equal(a: Poly, b: Poly) -> Poly | None:
    """a == max(a, b) as a >= b."""
    extreme = atom_of(b)
    if extreme is not None and extreme.name in ("max", "min") and a in extreme.args:
        name = "ge" if extreme.name == "max" else "le"
        found = TRUE
        for other in extreme.args:
            if other is not a:
                found = function("and", found, function(name, a, other))
        return found
    return TRUE if a is b else _same(a, b)


TRUTHS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))


def truth(p: Poly) -> Poly:
    """p as true or false, which are 1 and 0: a number is true where it is not 0."""
    n = p.value
    if n is not None:
        return number(int(n != 0))
    test = atom_of(p)
    return p if test is not None and test.name in TRUTHS else function("ne", p, FALSE)


def _of_truths(name: str, a: Poly, b: Poly) -> Poly:
    return of_atom(atom(name, truth(a), truth(b)))


def _and(a: Poly, b: Poly) -> Poly | None:
    for x, y in ((a, b), (b, a)):
        n = x.value
        if n is not None:
            return truth(y) if n else FALSE
    return truth(a) if a is b else _of_truths("and", a, b)


def _or(a: Poly, b: Poly) -> Poly | None:
    for x, y in ((a, b), (b, a)):
        n = x.value
        if n is not None:
            return TRUE if n else truth(y)
    return truth(a) if a is b else _of_truths("or", a, b)


def _not(a: Poly) -> Poly | None:
    n = a.value
    if n is not None:
        return number(int(not n))
    test = atom_of(a)
    return truth(test.args[0]) if test is not None and test.name == "not" else None


def _extreme(pick: Callable[..., Exact]) -> Callable[..., Poly | None]:
    def rule(*args: Poly) -> Poly | None:
        distinct = list(dict.fromkeys(args))
        if len(distinct) == 1:
            return distinct[0]
        numbers = [p.value for p in distinct]
        if all(n is not None for n in numbers):
            return number(pick(numbers))
        return None

    return rule


def inverse(p: Poly) -> Poly:
    return power(p, MINUS_ONE)


def quotient(a: Poly, b: Poly) -> Poly:
    return product(a, inverse(b))


def root(p: Poly) -> Poly:
    return power(p, HALF)


def square(p: Poly) -> Poly:
    return power(p, TWO)


def _of_inverse(table: dict[str, Callable[[Poly], Poly]]) -> Callable[[Poly], Poly | None]:
    """A function that undoes its inverse, or has an algebraic form of a related one."""

    def rule(u: Poly) -> Poly | None:
        test = atom_of(u)
        change = table.get(test.name) if test is not None else None
        return change(test.args[0]) if change is not None and test is not None else None

    return rule


def _below(u: Poly) -> Poly:
    return root(minus(TRUE, square(u)))


def _above(u: Poly) -> Poly:
    return root(plus(TRUE, square(u)))


def hypotenuse(x: Poly, y: Poly) -> Poly:
    return root(plus(square(x), square(y)))


def _polygamma(n: Poly, x: Poly) -> Poly:
    return function("polygamma", n, x) if n != FALSE else function("digamma", x)


def _excess_derivative(x: Poly, n: Poly) -> Poly:
    """By m' = -m*e, of the product of Mills' ratio m and its excess e = m + x."""
    m, e = [function("mills", x)], [function("mills_excess", x)]
    for k in range(int(n.value or 0)):
        m.append(plus(*(scale(product(m[i], e[k - i]), -math.comb(k, i)) for i in range(k + 1))))
        e.append(plus(m[-1], TRUE) if k == 0 else m[-1])
    return e[-1]


def _unit(x: Poly, y: Poly) -> Poly:
    return quotient(x, hypotenuse(x, y))


RULES: dict[str, Callable[..., Poly | None]] = {
    "add": plus,
    "sub": minus,
    "neg": lambda x: scale(x, -1),
    "pos": lambda x: x,
    "mul": product,
    "chain": product,
    "gate": product,
    "div": quotient,
    "pow": power,
    "square": square,
    "reciprocal": inverse,
    "sqrt": root,
    "exp": exponential,
    "exp2": lambda x: power(TWO, x),
    "hypot": hypotenuse,
    "unit": _unit,
    "excess_derivative": _excess_derivative,
    "polygamma_difference": lambda n, x, h: minus(_polygamma(n, plus(x, h)), _polygamma(n, x)),
    "inversion": lambda x, y: quotient(x, plus(square(x), square(y))),
    "tan": lambda x: quotient(function("sin", x), function("cos", x)),
    "cot": lambda x: quotient(function("cos", x), function("sin", x)),
    "sec": lambda x: inverse(function("cos", x)),
    "csc": lambda x: inverse(function("sin", x)),
    "tanh": lambda x: quotient(function("sinh", x), function("cosh", x)),
    "sech": lambda x: inverse(function("cosh", x)),
    "sin": _of_inverse({"asin": lambda u: u, "acos": _below, "atan": lambda u: quotient(u, _above(u))}),
    "cos": _of_inverse({"acos": lambda u: u, "asin": _below, "atan": lambda u: inverse(_above(u))}),
    "sinh": _of_inverse(
        {
            "asinh": lambda u: u,
            "acosh": lambda u: root(minus(square(u), TRUE)),
            "atanh": lambda u: quotient(u, _below(u)),
        }
    ),
    "cosh": _of_inverse({"acosh": lambda u: u, "asinh": _above, "atanh": lambda u: inverse(_below(u))}),
    "erf": _of_inverse({"erfinv": lambda u: u}),
    "deg2rad": lambda x: product(x, of_atom(PI), number(Fraction(1, 180))),
    "rad2deg": lambda x: product(x, number(180), inverse(of_atom(PI))),
    "where": choose,
    "abs": _abs,
    "sign": _sign,
    "log": _log,
    "cbrt": _cbrt,
    "lt": _compare("lt", "gt", lambda a, b: a < b),
    "le": _compare("le", "ge", lambda a, b: a <= b),
    "gt": _compare("gt", "lt", lambda a, b: a > b),
    "ge": _compare("ge", "le", lambda a, b: a >= b),
    "eq": _equal,
    "ne": _compare("ne", "ne", lambda a, b: a != b),
    "and": _and,
    "or": _or,
    "not": _not,
    "max": _extreme(max),
    "min": _extreme(min),
}
