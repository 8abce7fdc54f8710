"""The shortest of several equal forms: rewritings that hold everywhere, tried one after another.

Each rewriting takes a Poly to an equal one. The search keeps the few shortest forms found so far and
rewrites those again, until nothing gets shorter.
"""

from __future__ import annotations

import math
from fractions import Fraction

from autodiff.symbolic.algebra import (
    FALSE,
    ONE,
    E,
    Poly,
    add,
    atom,
    build,
    choose,
    conditional,
    content,
    exact,
    factor_of,
    function,
    gen,
    lone_sum,
    multiply,
    number,
    poly,
    power,
    scale,
    term,
    times,
)
from autodiff.symbolic.text import lengths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from autodiff.symbolic.algebra import Exact, Gen, Mono
    from autodiff.symbolic.convert import Writer

LARGE = 300  # terms to which a product may expand
LONG = 4000  # characters beyond which nothing is tried
MOST = 24  # factors that are looked for
KEPT = 4  # forms that are rewritten again
ROUNDS = 5


def simplify(p: Poly, writer: Writer) -> Poly:
    """A form of p that is as short as any that was found."""
    known: dict[Any, int] = {}

    def length(q: Poly) -> int:
        return lengths(writer(q), known)

    if length(p) > LONG:
        return p
    return search(p, length)


def search(p: Poly, length: Callable[[Poly], int]) -> Poly:
    """Depth is that of conditionals within conditionals."""
    choice = conditional(p)
    if choice is not None:
        c = next(iter(p.terms.values()))
        where, a, b = choice.args
        return choose(where, search(scale(a, c), length), search(scale(b, c), length))
    p = magnitudes(p)
    found: dict[Poly, int] = {p: length(p)}
    tried: set[Poly] = set()
    for _ in range(ROUNDS):
        before = min(found.values())
        best = sorted((q for q in found), key=lambda q: found[q])[:KEPT]
        fresh = [q for q in best if q not in tried]
        if not fresh:
            break
        for q in fresh:
            tried.add(q)
            for rewrite in REWRITES:
                for new in rewrite(q):
                    new = magnitudes(new)
                    if new not in found:
                        found[new] = length(new)
        if min(found.values()) >= before and len(tried) > KEPT:
            break
    return min(found, key=lambda q: found[q])


# Polynomials in the gens.


def distributed(a: Poly, b: Poly) -> Poly | None:
    """a·b term by term; None where that is too long."""
    if len(a.terms) * len(b.terms) > LARGE * 4:
        return None
    total: dict[Mono, Exact] = {}
    for m, c in a.terms.items():
        for n, k in b.terms.items():
            j, mono = times(m, n)
            total[mono] = total.get(mono, 0) + c * k * j
    return poly({m: exact(c) for m, c in total.items()})


def expanded(p: Poly) -> Poly:
    """Whole powers of sums multiplied out, as far as the result stays of a sensible size."""
    for _ in range(8):
        total: list[tuple[Exact, Poly]] = []
        again = False
        for m, c in p.terms.items():
            open_ = [
                (g, e) for g, e in m if g.atom.name == "+" and not g.mono and e > 0 and Fraction(e).denominator == 1
            ]
            value: Poly | None = term(c, tuple(item for item in m if item not in open_))
            for g, e in open_:
                for _ in range(int(e) if e < 40 else LARGE):
                    value = value and distributed(value, g.atom.args[0])
                    if value is None or len(value.terms) > LARGE:
                        value = None
                        break
            if value is None:
                total.append((1, term(c, m)))
            else:
                again = again or bool(open_)
                total.append((1, value))
        if not again:
            return p
        p = add(total)
    return p


def common(p: Poly) -> tuple[Exact, Mono, Poly]:
    """p as number · product · rest: the least power of everything, and nothing in a denominator of the rest."""
    least: dict[Gen, Exact] = {}
    terms = list(p.terms)
    for m in terms:
        for g, e in m:
            least[g] = min(e, least.get(g, e))
    for m in terms:
        own = dict(m)
        for g, e in least.items():
            if g not in own:
                least[g] = 0 if e > 0 or g.mono or g.atom is E else e
    _, shared = build(least)
    c = content(p)
    if p.terms and all(k < 0 for k in p.terms.values()):
        c = -c
    rest: dict[Mono, Exact] = {}
    for m, k in p.terms.items():
        j, mono = times(m, shared, -1)
        rest[mono] = exact(rest.get(mono, 0) + k * j * Fraction(1) / c)
    return c, shared, add([(1, poly(rest))])


def divided(p: Poly, d: Poly) -> Poly | None:
    """p/d where that leaves nothing over."""
    gens = sorted({g for q in (p, d) for m in q.terms for g, _ in m}, key=lambda g: g.serial)
    place = {g: i for i, g in enumerate(gens)}

    def degrees(m: Mono) -> tuple[Exact, ...]:
        found: list[Exact] = [0] * len(gens)
        for g, e in m:
            found[place[g]] = e
        return tuple(found)

    lead = max(d.terms, key=degrees)
    rest = dict(p.terms)
    result: dict[Mono, Exact] = {}
    for _ in range(LARGE):
        if not rest:
            return poly(result)
        top = max(rest, key=degrees)
        if any(a < b for a, b in zip(degrees(top), degrees(lead), strict=True)):
            return None
        k, mono = times(top, lead, -1)
        if k != 1:
            return None
        c = exact(Fraction(rest[top]) / d.terms[lead])
        result[mono] = c
        for m, j in d.terms.items():
            k, n = times(mono, m)
            left = exact(rest.get(n, 0) - c * j * k)
            if left == 0:
                rest.pop(n, None)
            else:
                rest[n] = left
        if len(rest) > LARGE:
            return None
    return None


def sums_in(p: Poly) -> list[Poly]:
    """The sums that are raised to powers or multiplied in p."""
    found: dict[Poly, None] = {}
    for m in p.terms:
        for g, _ in m:
            if g.atom.name == "+":
                found[g.atom.args[0]] = None
    return list(found)


def factorised(p: Poly, divisors: Iterable[Poly] = ()) -> Poly:
    """p as a product: common factors, sums that it is known to be a multiple of, rational roots."""
    c, shared, rest = common(p)
    factors = [term(c, shared)]
    for d in divisors:
        if len(d.terms) < 2:
            continue
        for _ in range(MOST):
            q = divided(rest, d) if len(rest.terms) > 1 else None
            if q is None:
                break
            factors.append(d)
            rest = q
    for _ in range(MOST):
        for d in linear_factors(rest):
            q = divided(rest, d)
            if q is not None:
                factors.append(d)
                rest = q
                break
        else:
            break
    return multiply([*factors, rest])


def linear_factors(p: Poly) -> list[Poly]:
    """Linear divisors of a polynomial in one gen, by its rational roots; a ± b for one homogeneous in two."""
    gens = {g for m in p.terms for g, _ in m}
    if any(Fraction(e).denominator > 1 or e < 0 or e > 12 for m in p.terms for _, e in m):
        return []
    if len(gens) == 2:
        a, b = sorted(gens, key=lambda g: g.serial)
        one, two = term(1, ((a, 1),)), term(1, ((b, 1),))
        return [add([(1, one), (-1, two)]), add([(1, one), (1, two)])]
    if len(gens) != 1:
        return []
    (g,) = gens
    by = {(m[0][1] if m else 0): Fraction(c) for m, c in p.terms.items()}
    top = max(by)
    if top < 2 or 0 not in by:
        return []
    scale_ = math.lcm(*(c.denominator for c in by.values()))
    first, last = abs(int(by[top] * scale_)), abs(int(by[0] * scale_))
    if max(first, last) > 10**4:
        return []
    found = []
    for q in (d for d in range(1, first + 1) if first % d == 0):
        for n in (d for d in range(1, last + 1) if last % d == 0):
            for sign in (1, -1):
                x = Fraction(sign * n, q)
                if math.gcd(n, q) == 1 and sum(c * x**e for e, c in by.items()) == 0:
                    found.append(poly({((g, 1),): q, ONE: -sign * n}))
    return found


# Rewritings.


def together(p: Poly) -> Iterable[Poly]:
    """Over one denominator, multiplied out and factorised again."""
    c, shared, rest = common(p)
    divisors = [*sums_in(p)]
    front = term(c, shared)
    flat = expanded(rest)
    if flat is not rest:
        yield multiply([front, flat])
    yield multiply([front, rest])
    yield multiply([front, factorised(flat, divisors)])


def flat(p: Poly) -> Iterable[Poly]:
    yield expanded(p)


def bases(p: Poly) -> Iterable[Poly]:
    """Sums below powers in other forms."""
    for way in (_over_one, expanded, *_pythagorean):
        new = {}
        for q in sums_in(p):
            changed = way(q)
            if changed is not q:
                new[q] = changed
        if new:
            yield rebased(p, new)


def _over_one(q: Poly) -> Poly:
    c, shared, rest = common(q)
    return multiply([term(c, shared), expanded(rest)])


def rebased(p: Poly, new: dict[Poly, Poly]) -> Poly:
    """p with sums replaced by equal ones."""
    total = []
    for m, c in p.terms.items():
        factors = [number(c)]
        for g, e in m:
            if g.atom.name == "+" and g.atom.args[0] in new:
                exponent = term(e, g.mono)
                factors.append(power(new[g.atom.args[0]], exponent))
            else:
                factors.append(term(1, ((g, e),)))
        total.append((1, multiply(factors)))
    return add(total)


def each_term(p: Poly, change: Callable[[dict[Gen, Exact]], list[Poly]]) -> Poly:
    """p with each product changed: `change` takes powers out of it and gives what stands for them."""
    total = []
    for m, c in p.terms.items():
        powers = dict(m)
        made = change(powers)
        k, mono = build(powers)
        total.append((1, multiply([term(c * k, mono), *made]) if made else term(c * k, mono)))
    return add(total)


def roots(p: Poly) -> Iterable[Poly]:
    """sqrt(a)·sqrt(b) as sqrt(a·b)."""
    changed = False

    def change(powers: dict[Gen, Exact]) -> list[Poly]:
        nonlocal changed
        made = []
        for half in (Fraction(1, 2), Fraction(-1, 2)):
            below = [g for g, e in powers.items() if e == half and not g.mono and g.atom.name != "#"]
            if len(below) > 1 and any(g.atom.name == "+" for g in below):
                changed = True
                inside: Poly | None = number(1)
                for g in below:
                    del powers[g]
                    inside = inside and distributed(
                        inside, g.atom.args[0] if g.atom.name == "+" else term(1, ((g, 1),))
                    )
                assert inside is not None
                made.append(power(expanded(inside), number(half)))
        return made

    new = each_term(p, change)
    if changed:
        yield new


def denominators(p: Poly) -> Iterable[Poly]:
    """1/((1 - x)·(1 + x)) as 1/(1 - x²)."""
    changed = False

    def change(powers: dict[Gen, Exact]) -> list[Poly]:
        nonlocal changed
        below = [g for g, e in powers.items() if e == -1 and g.atom.name == "+" and not g.mono]
        if len(below) < 2:
            return []
        changed = True
        inside = number(1)
        for g in below:
            del powers[g]
            inside = multiply([inside, g.atom.args[0]])
        return [power(expanded(inside), number(-1))]

    new = each_term(p, change)
    if changed:
        yield new


def magnitudes(p: Poly) -> Poly:
    """x, abs(x) and sign(x) within one product, brought together."""
    if not any(g.atom.name in ("abs", "sign") for m in p.terms for g, _ in m):
        return p

    def change(powers: dict[Gen, Exact]) -> list[Poly]:
        made = []
        for inner in [g.atom.args[0] for g in powers if g.atom.name in ("abs", "sign") and not g.mono]:
            _, own = factor_of(inner)
            plain = own[0][0] if len(own) == 1 and own[0][1] == 1 else None
            a = powers.pop(plain, 0) if plain is not None else 0
            b = powers.pop(gen(atom("abs", inner)), 0)
            c = powers.pop(gen(atom("sign", inner)), 0)
            if Fraction(a).denominator > 1 or Fraction(c).denominator > 1:
                size, odd = a + b, False  # defined for positive ones alone
                made.append(power(inner, number(exact(size))))
                continue
            size, odd = exact(a + b), bool((a + c) % 2)
            magnitude = function("abs", inner)
            if Fraction(size).denominator > 1:
                made += [power(magnitude, number(size)), function("sign", inner) if odd else number(1)]
            elif odd == bool(size % 2):
                made.append(power(inner, number(size)))
            elif not odd:
                made.append(power(magnitude, number(size)))
            elif size == 0:
                made.append(function("sign", inner))
            else:
                step = 1 if size > 0 else -1
                made += [power(inner, number(size - step)), power(magnitude, number(step))]
        return made

    return each_term(p, change)


def squared(p: Poly, name: str, other: str, sign: int) -> Poly:
    """p with the square of one function in terms of the other: f² = sign·(1 - g²), cosh² = 1 + sinh²."""
    one, two = (1, -1) if sign > 0 else (-1, 1) if name == "sinh" else (1, 1)

    def change(powers: dict[Gen, Exact]) -> list[Poly]:
        made = []
        for g in [g for g, e in powers.items() if g.atom.name == name and not g.mono and e >= 2]:
            half = int(powers[g] // 2)
            powers[g] -= 2 * half
            square = term(two, ((gen(atom(other, *g.atom.args)), 2),))
            made.append(power(add([(1, square), (one, number(1))]), number(half)))
        return made

    return expanded(each_term(p, change))


def _squaring(name: str, other: str, sign: int) -> Callable[[Poly], Poly]:
    def way(q: Poly) -> Poly:
        if not any(g.atom.name == name and not g.mono and e >= 2 for m in q.terms for g, e in m):
            return q
        return squared(q, name, other, sign)

    return way


PAIRS = (("sin", "cos", 1), ("sinh", "cosh", -1))
_pythagorean = [_squaring(name, other, sign) for odd, even, sign in PAIRS for name, other in ((odd, even), (even, odd))]


def squares(p: Poly) -> Iterable[Poly]:
    """sin² + cos² = 1 and cosh² - sinh² = 1, one way and the other."""
    for way in _pythagorean:
        new = way(p)
        if new is not p:
            yield new
            yield from together(new)


def doubled(p: Poly) -> Iterable[Poly]:
    """sin(u)·cos(u) = sin(2u)/2, in products and below fractions."""
    changed = False

    def change(powers: dict[Gen, Exact]) -> list[Poly]:
        nonlocal changed
        made = []
        for odd, even, _ in PAIRS:
            for g in [g for g in powers if g.atom.name == odd and not g.mono]:
                h = gen(atom(even, *g.atom.args))
                a, b = powers[g], powers.get(h, 0)
                if a * b > 0 and Fraction(a).denominator == 1 == Fraction(b).denominator:
                    changed = True
                    k = min(abs(a), abs(b)) * (1 if a > 0 else -1)
                    powers[g], powers[h] = a - k, b - k
                    twice = function(odd, scale(g.atom.args[0], 2))
                    made.append(power(scale(twice, Fraction(1, 2)), number(k)))
        return made

    new = each_term(p, change)
    if changed:
        yield new


def linear(p: Poly) -> Iterable[Poly]:
    """Products of sines and cosines as sums of them, to the fourth degree."""
    for odd, even, sign in PAIRS:
        if not any(_trig(m, odd, even) > 1 for m in p.terms):
            continue
        if any(_trig(m, odd, even) > 4 for m in p.terms) or len(p.terms) > 40:
            continue
        total = []
        for m, c in p.terms.items():
            total.append((1, _linearised(m, c, odd, even, sign)))
        new = add(total)
        yield new
        yield from together(new)


def _trig(m: Mono, odd: str, even: str) -> Exact:
    """The degree of a product in a pair of functions; too high where it has a fraction of them."""
    total: Exact = 0
    for g, e in m:
        if g.atom.name in (odd, even):
            if g.mono or e < 0 or Fraction(e).denominator > 1:
                return 99
            total += e
    return total


def _linearised(m: Mono, c: Exact, odd: str, even: str, sign: int) -> Poly:
    rest = tuple(item for item in m if item[0].atom.name not in (odd, even))
    # a sum of (coefficient, function, argument), the function None for 1
    waves: list[tuple[Exact, str, Poly]] = [(c, even, FALSE)]
    for g, e in m:
        if g.atom.name not in (odd, even):
            continue
        u = g.atom.args[0]
        for _ in range(int(e)):
            new: list[tuple[Exact, str, Poly]] = []
            for k, f, v in waves:
                k = Fraction(k) / 2
                both, apart = add([(1, v), (1, u)]), add([(1, v), (-1, u)])
                if f == even and g.atom.name == even:
                    new += [(k, even, both), (k, even, apart)]
                elif f == odd and g.atom.name == odd:
                    new += [(-k * sign, even, both), (k * sign, even, apart)]
                elif f == odd:
                    new += [(k, odd, both), (k, odd, apart)]
                else:
                    new += [(k, odd, both), (-k, odd, apart)]
            waves = new
    total = add((exact(k), function(f, v)) for k, f, v in waves)
    return multiply([term(1, rest), total]) if rest else total


def grouped(p: Poly) -> Iterable[Poly]:
    """Some of the terms as a product with what they share."""
    if not 2 < len(p.terms) <= 24:
        return
    shares: dict[tuple[Gen, bool], list[Mono]] = {}
    for m in p.terms:
        for g, e in m:
            shares.setdefault((g, e > 0), []).append(m)
    for key, monos in shares.items():
        if 1 < len(monos) < len(p.terms) and key[0].atom.name != "#":
            some = poly({m: p.terms[m] for m in monos})
            others = poly({m: c for m, c in p.terms.items() if m not in monos})
            c, shared, rest = common(some)
            product = multiply([term(c, shared), rest])
            if len(product.terms) == 1 and lone_sum(next(iter(product.terms))) is None:
                yield add([(1, others), (1, product)])


def exponentials(p: Poly) -> Iterable[Poly]:
    """exp(-u)/(1 + exp(-u))² as exp(u)/(1 + exp(u))², and the like."""
    gens = {g for m in p.terms for g, e in m if g.atom is E and g.mono}
    gens |= {g for q in sums_in(p) for m in q.terms for g, e in m if g.atom is E and g.mono}
    for g in gens:
        new = {}
        for q in sums_in(p):
            low = min((dict(m).get(g, 0) for m in q.terms), default=0)
            if low < 0:
                shift = term(1, ((g, -low),))
                flat_ = distributed(q, shift)
                if flat_ is not None:
                    new[q] = multiply([term(1, ((g, low),)), flat_])
        if new:
            yield rebased(p, new)


def hyperbolic(p: Poly) -> Iterable[Poly]:
    """exp(u) ± exp(-u) as cosh and sinh, and exp(u)/(1 + exp(u))² as 1/(4·cosh(u/2)²), which does not overflow."""
    terms = dict(p.terms)
    made: list[tuple[Exact, Poly]] = []
    for m, c in p.terms.items():
        for g, e in m:
            if g.atom is not E or not g.mono or m not in terms:
                continue
            other = tuple((h, -x if h is g else x) for h, x in m)
            k = terms.get(other, 0)
            if other != m and abs(k) == abs(c):
                del terms[m], terms[other]
                name = "cosh" if k == c else "sinh"
                rest = tuple(item for item in m if item[0] is not g)
                made.append((2 * c, multiply([term(1, rest), function(name, term(e, g.mono))])))
    if made:
        yield add([(1, poly(terms)), *made])
    changed = False

    def change(powers: dict[Gen, Exact]) -> list[Poly]:
        nonlocal changed
        found = []
        for h in [h for h in powers if h.atom.name == "+" and not h.mono]:
            q, inside = powers[h], h.atom.args[0]
            grows = [m for m in inside.terms if len(m) == 1 and m[0][0].atom is E and m[0][0].mono]
            if len(inside.terms) != 2 or len(grows) != 1 or inside.terms.get(ONE) not in (1, -1):
                continue
            (g, e), c = grows[0][0], inside.terms[grows[0]]
            if c != 1 or powers.get(g, 0) * 2 != -q * e or Fraction(q).denominator > 1:
                continue
            changed = True
            del powers[h], powers[g]
            name = "cosh" if inside.terms[ONE] == 1 else "sinh"
            found.append(power(scale(function(name, term(Fraction(e) / 2, g.mono)), 2), number(q)))
        return found

    new = each_term(p, change)
    if changed:
        yield new


def inner(p: Poly) -> Iterable[Poly]:
    """Conditionals that stand beside other terms, simplified within."""
    if len(p.terms) < 2 or not any(g.atom.name == "where" for m in p.terms for g, _ in m):
        return
    total = []
    for m, c in p.terms.items():
        choice = conditional(term(1, m))
        if choice is None:
            total.append((c, term(1, m)))
        else:
            where, a, b = choice.args
            total.append((c, choose(where, expanded(a), expanded(b))))
    yield add(total)


REWRITES: tuple[Callable[[Poly], Iterable[Poly]], ...] = (
    together,
    flat,
    bases,
    roots,
    denominators,
    squares,
    doubled,
    linear,
    grouped,
    exponentials,
    hyperbolic,
    inner,
)
