"""Derivatives from values alone: extrapolated differences in extended precision, held against the recorded ones.

The program is run again beside the point, so that no rule for derivatives has a part in it. A central
difference with steps h and h/2 is off by O(h⁴) (Richardson); the precision is raised until the answer is
settled. Where the differences of both sides do not meet there is a kink, a jump or an edge of the domain:
then the two sides are reported, and the derivative must lie between them.
"""

from __future__ import annotations

import math
from itertools import product

from autodiff import conditioning, differentiate, exact, numeric
from autodiff.errors import AutodiffError, Note
from autodiff.job import Settings
from autodiff.operands.extended import Extended, array, holding, m
from autodiff.parse.program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Place = tuple[str, tuple[int, ...]]
    Shift = Mapping[Place, Any]

LEVELS = ((60, 12), (120, 30), (400, 110), (1300, 400))
"""Digits, and the step as a power of ten below the scale of the input; the later ones only where needed."""
RELATIVE = 1e-11  # what a right derivative may be off by, besides rounding
MOST = 300_000  # operations times steps that bounds of rounding may cost


class Entry:
    """The verdict on one derivative: ours, theirs, and what may lie between."""

    __slots__ = ("left", "numeric", "ok", "ours", "right", "tolerance")

    def __init__(self, ours: float, theirs: float, tolerance: float, ok: bool) -> None:
        self.ours = ours
        self.numeric = theirs
        self.tolerance = tolerance
        self.ok = ok
        self.left: float | None = None
        self.right: float | None = None

    @property
    def error(self) -> float:
        """The difference: how far ours lies outside the two sides, where these differ."""
        if self.ours == self.numeric or (self.ours != self.ours and self.ok):
            return 0.0
        if self.left is not None and self.right is not None:
            if self.ok:
                return 0.0
            sides = [v for v in (self.left, self.right) if v == v]
            return max(min(sides) - self.ours, self.ours - max(sides)) if sides else math.nan
        return abs(self.ours - self.numeric)

    @property
    def compared(self) -> bool:
        """Whether there were differences of float64's range to hold ours against."""
        found = any(v is not None and v == v for v in (self.numeric, self.left, self.right))
        return self.ours == self.numeric or (found and self.tolerance < math.inf)


class Verdict:
    """The entries of one derivative, and their shape."""

    __slots__ = ("entries", "shape")

    def __init__(self, entries: list[Entry], shape: tuple[int, ...]) -> None:
        self.entries = entries
        self.shape = shape

    @property
    def ok(self) -> bool:
        return all(entry.ok for entry in self.entries)

    def field(self, name: str) -> Any:
        """One number of all entries: a float, or an array of the derivative's shape."""
        values = [getattr(entry, name) for entry in self.entries]
        if not self.shape:
            return values[0]
        return numeric.numpy().array([float("nan") if v is None else v for v in values]).reshape(self.shape)

    @property
    def kinked(self) -> bool:
        return any(entry.left is not None for entry in self.entries)


class Report:
    """What a check found: first derivatives by input, second ones by two inputs, and the notes of the run."""

    __slots__ = ("first", "notes", "second", "value")

    def __init__(self, value: Any, notes: list[Note]) -> None:
        self.value = value
        self.notes = notes
        self.first: dict[str, Verdict] = {}
        self.second: dict[str, dict[str, Verdict]] = {}

    @property
    def ok(self) -> bool:
        return all(v.ok for v in self.first.values()) and all(
            v.ok for row in self.second.values() for v in row.values()
        )


class Probe:
    """The program as a function of its inputs in extended precision, at the point and beside it."""

    def __init__(
        self, program: Program, point: Mapping[str, Any], value: Any, settings: Settings, kinked: bool = False
    ) -> None:
        self.program = program
        self.point = point
        self.values = list(numeric.entries(value))  # the float64 ones
        self.size = len(self.values)
        self.settings = settings
        self.passed: list[Any] = []
        self.kinked = kinked  # a convention had a part in our derivatives
        numbers = [x for v in point.values() for x in numeric.entries(v)]
        # extended numbers have no -0, beside which a value may be another one
        self.signed_zero = any(x == 0.0 and math.copysign(1.0, x) < 0.0 for x in numbers)
        largest = max((abs(x) for x in numbers if math.isfinite(x)), default=1.0)
        self.extra = 2 * math.ceil(math.log10(max(largest, 1.0)))  # digits that a step of 1 or less needs beside it

    def enter(self, count: int) -> None:
        """Numbers of `count` digits from here on; the run at the point itself fixes what is held constant."""
        m.dps = count + self.extra
        self.lifted = exact.lifted(self.program)
        self.at_point = exact.lifted_point(self.program, self.point)
        self.passed = []
        self.base = self({})

    def __call__(self, shift: Shift) -> list[Any]:
        """The numbers of the value where some entries of inputs are shifted; nan where there is none."""
        point = dict(self.at_point)
        for (name, place), h in shift.items():
            x = point[name]
            if place:
                moved = x.value.copy()
                moved[place] = moved[place] + h
                point[name] = Extended(moved)
            else:
                point[name] = Extended(x.value + h)
        try:
            with holding(self.passed):
                y = exact.value(self.lifted, point, self.settings.max_ops)
        except AutodiffError:
            return [m.nan] * self.size
        found = array(y).ravel().tolist()
        return found if len(found) == self.size else [m.nan] * self.size

    def entry(self, place: Place) -> Any:
        """One number of the point."""
        x = self.at_point[place[0]].value
        return x[place[1]] if place[1] else x

    def scale(self, place: Place) -> Any:
        """The size of an entry of an input, 1 at most: what a step is small against."""
        x = abs(self.entry(place))
        return min(x, m.one) if x and m.isfinite(x) else m.one


class Sides:
    """Differences of one number at one level: of both sides together, and of each."""

    __slots__ = ("central", "left", "noise", "right")

    def __init__(self, f: Sequence[Any], h: Any) -> None:
        back, back_half, here, ahead_half, ahead = f
        wide, narrow = (ahead - back) / (2 * h), (ahead_half - back_half) / h
        self.central = (4 * narrow - wide) / 3
        self.right = 4 * (ahead_half - here) / h - (ahead - here) / h
        self.left = 4 * (here - back_half) / h - (here - back) / h
        size = max(map(abs, f), default=m.zero)
        self.noise = size * m.power(10, 5 - m.dps) / h

    def smooth(self, tolerance: float) -> bool:
        """Whether both sides agree, rounding aside."""
        if not all(map(m.isfinite, (self.central, self.left, self.right))):
            return False
        return bool(abs(self.right - self.left) <= 1e-9 * max(abs(self.right), abs(self.left)) + tolerance + self.noise)


def differences(probe: Probe, place: Place, exponent: int, shift: Any = 0) -> list[Sides]:
    """Differences by one entry of an input, for every number of the value; at a point shifted along it if asked."""
    h = probe.scale(place) * m.power(10, -exponent)
    at = [probe({place: shift + k * h / 2}) if k or shift else probe.base for k in (-2, -1, 0, 1, 2)]
    return [Sides(f, h) for f in zip(*at, strict=True)]


def limit(sequence: Sequence[Any]) -> Any:
    """Where difference quotients go as the step goes to 0: a number, an infinity, or nan."""
    first, second = sequence[0], sequence[1]
    if not m.isfinite(second):
        return m.nan
    if not m.isfinite(first):
        return second
    if abs(second - first) <= 1e-6 * abs(second):
        return second
    if abs(second) <= abs(first) / 30:
        return m.zero
    last = sequence[2] if len(sequence) > 2 else second
    if abs(second) >= 1.5 * abs(first) and (abs(second) >= 30 * abs(first) or abs(last) >= 1.5 * abs(second)):
        return m.inf if second > 0 else -m.inf
    return last


@numeric.quietly
def check(
    program: Program, point: Mapping[str, Any], wrt: Sequence[str], settings: Settings | None = None, order: int = 1
) -> Report:
    """Hold the derivatives of a program against differences of its values.

    First derivatives of a value of any shape (per input an array of shape value + input); with order 2 the
    Hessian of one number too. Errors are those of the run at the point itself.
    """
    settings = settings or Settings()
    scalar = order > 1 or not numeric.is_array(differentiate.value(program, point, settings).value)
    outcome = (differentiate.gradient if scalar else differentiate.jacobian)(program, point, wrt, settings)
    report = Report(outcome.value, outcome.notes)
    ours = (outcome.gradient if scalar else outcome.jacobian) or {}
    limits = tolerances(program, point, wrt, settings)
    before = m.dps
    try:
        probe = Probe(program, point, outcome.value, settings, any(note.kind == "kink" for note in outcome.notes))
        report.first = first(probe, ours, limits)
        if order > 1:
            hessian = differentiate.hessian(program, point, wrt, settings)
            report.notes = hessian.notes
            report.second = second(probe, hessian.hessian or {}, second_tolerances(program, point, wrt, settings))
    finally:
        m.dps = before
    return report


def tolerances(
    program: Program, point: Mapping[str, Any], wrt: Sequence[str], settings: Settings
) -> dict[str, list[float]]:
    """What rounding may have done to each derivative; empty where that would cost too much."""
    found = conditioning.derivatives(program, point, wrt, settings.max_ops, settings.convention, most=MOST) or {}
    return {name: [b.total if math.isfinite(b.total) else 0.0 for b in bounds] for name, bounds in found.items()}


def second_tolerances(
    program: Program, point: Mapping[str, Any], wrt: Sequence[str], settings: Settings
) -> dict[tuple[str, int, str, int], float]:
    """The same for second derivatives, by both entries."""
    found = conditioning.second_derivatives(program, point, wrt, settings.max_ops, settings.convention, most=MOST)
    return {
        (name, k, other, j): b.total
        for (name, k), row in (found or {}).items()
        for other, bounds in row.items()
        for j, b in enumerate(bounds)
        if math.isfinite(b.total)
    }


def first(probe: Probe, ours: Mapping[str, Any], limits: Mapping[str, list[float]]) -> dict[str, Verdict]:
    """Verdicts on first derivatives."""
    np = numeric.numpy()
    verdicts = {}
    for name, found in ours.items():
        places = numeric.places(probe.point[name])
        columns = np.asarray(found, float).reshape(probe.size, len(places))
        rounding = np.array(limits.get(name) or [0.0] * columns.size).reshape(columns.shape)
        entries = [
            judged(probe, (name, place), columns[:, at].tolist(), rounding[:, at].tolist())
            for at, place in enumerate(places)
        ]
        flat = [entries[at][k] for k in range(probe.size) for at in range(len(places))]
        verdicts[name] = Verdict(flat, numeric.shape(found))
    return verdicts


def judged(probe: Probe, place: Place, ours: Sequence[float], rounding: Sequence[float]) -> list[Entry]:
    """Verdicts on the derivatives of every number of the value by one entry of an input."""
    entries: list[Entry | None] = [None] * len(ours)
    seen: list[list[Sides]] = [[] for _ in ours]
    rough = [0] * len(ours)  # at how many levels the two sides did not meet, or ran off
    for depth, (count, exponent) in enumerate(LEVELS):
        probe.enter(count)
        for k, sides in enumerate(differences(probe, place, exponent)):
            if entries[k] is not None:
                continue
            theirs = float(sides.central)
            tolerance = allowance(sides, rounding[k])
            before = seen[k][-1].central if seen[k] else m.nan
            runs_off = bool(m.isfinite(before)) and not 0.01 <= ratio(sides.central, before) <= 100.0
            seen[k].append(sides)
            smooth = sides.smooth(tolerance)
            if smooth and agree(ours[k], theirs, tolerance) and sides.noise <= tolerance:
                entries[k] = Entry(ours[k], theirs, tolerance, True)
            elif not smooth or (runs_off and sides.noise <= RELATIVE * abs(theirs)):
                rough[k] += 1
            else:
                rough[k] = 0
            if rough[k] == 2:
                entries[k] = at_kink(probe, place, k, ours[k], seen[k][-2:], rounding[k])
            if entries[k] is None and depth == 2 and confirmed(seen[k]):
                entries[k] = disputed(probe, place, k, ours[k], sides, rounding[k])
        if all(entry is not None for entry in entries):
            break
    for k, entry in enumerate(entries):
        if entry is None:
            entries[k] = disputed(probe, place, k, ours[k], seen[k][-1], rounding[k])
    return [entry for entry in entries if entry is not None]


def confirmed(seen: Sequence[Sides]) -> bool:
    """Whether more digits would tell nothing new: the last levels agree on a number that is not 0."""
    last, before = seen[-1].central, seen[-2].central
    return bool(m.isfinite(last) and abs(last - before) <= 1e-9 * abs(last) and last)


def allowance(sides: Sides, rounding: float) -> float:
    """What a right derivative may be off by: a part of it, and the bound of its rounding."""
    size = float(min(abs(sides.central), max(abs(sides.left), abs(sides.right))))
    return RELATIVE * (size if size < math.inf else 0.0) + 8.0 * rounding + 1e-322


def ratio(a: Any, b: Any) -> float:
    """|a/b|, 1 where both are 0."""
    return float(abs(a / b)) if b else float("inf") if a else 1.0


def agree(ours: float, theirs: float, tolerance: float) -> bool:
    if ours == theirs or (ours != ours and theirs != theirs):
        return True
    return abs(ours - theirs) <= tolerance


def between(ours: float, a: float, b: float, tolerance: float) -> bool:
    """Whether ours lies between two sides; a side that does not exist allows what the other one does."""
    if a != a or b != b:
        a, b = (b, b) if a != a else (a, a)
    if a != a:
        return True  # nothing to hold it against
    low, high = min(a, b), max(a, b)
    return low - tolerance <= ours <= high + tolerance or ours in (low, high)


def at_kink(probe: Probe, place: Place, k: int, ours: float, seen: Sequence[Sides], rounding: float) -> Entry:
    """Where the two sides do not meet: one-sided derivatives, and ours held against them."""
    far = list(seen)
    right, left = limit([s.right for s in far]), limit([s.left for s in far])
    if unsettled([s.right for s in far], right) or unsettled([s.left for s in far], left):
        count, step = LEVELS[min(len(far), len(LEVELS) - 1)]
        probe.enter(count)
        far.append(differences(probe, place, step)[k])
        right, left = limit([s.right for s in far]), limit([s.left for s in far])
    a, b = float(left), float(right)
    tolerance = 8.0 * rounding + RELATIVE * sum(abs(v) for v in (a, b) if math.isfinite(v)) + 1e-322
    ok = between(ours, a, b, tolerance)
    if ours != ours:
        # nan says that there is no derivative: wrong only where there is one
        ok = not (a == b and math.isfinite(a))
    elif not ok:
        # where the value itself jumps, the convention is the slope beside the jump
        slopes = beside(probe, place, k)
        ok = between(ours, slopes[0], slopes[1], tolerance)
        if not ok and probe.kinked and (a != a or b != b):
            ok, tolerance = True, math.inf  # a convention stands for two sides, and there are values on one
    if a == a or b == b:  # else there is nothing that has sides
        ok = ok and all(holds_beside(probe, place, k, sign) for sign in (-1.0, 1.0))
    entry = Entry(ours, a if a == b or b != b else b if a != a else math.nan, tolerance, ok)
    if not a == b == ours:
        entry.left, entry.right = a, b
    return entry


def unsettled(sequence: Sequence[Any], found: Any) -> bool:
    first, second = sequence[0], sequence[1]
    return bool(m.isfinite(found) and found != 0 and abs(second - first) > 1e-6 * abs(second))


def beside(probe: Probe, place: Place, k: int) -> tuple[float, float]:
    """The slopes just left and right of the point."""
    probe.enter(LEVELS[1][0])
    away = probe.scale(place) * m.power(10, -20)
    found = [differences(probe, place, LEVELS[1][1] + 5, sign * away)[k].central for sign in (-1, 1)]
    return float(found[0]), float(found[1])


def holds_beside(probe: Probe, place: Place, k: int, sign: float) -> bool:
    """Whether our derivative agrees a small step away from a kink, where it is no matter of convention."""
    name, spot = place
    point = dict(probe.point)
    x = point[name]
    step = sign * 2.0**-12 * (abs(float(x[spot] if spot else x)) or 1.0)
    if spot:
        point[name] = x = numeric.real(x).copy()
        x[spot] += step
    else:
        point[name] = x + step
    settings = Settings(probe.settings.max_ops, probe.settings.convention)
    try:
        outcome = differentiate.jacobian(probe.program, point, [name], settings)
    except AutodiffError:
        return True  # no value there
    values = list(numeric.entries(outcome.value))
    if len(values) != probe.size or not math.isfinite(values[k]):
        return True
    np = numeric.numpy()
    ours = np.asarray((outcome.jacobian or {})[name], float).reshape((probe.size, *numeric.shape(x)))
    mine = float(ours[(k, *spot)])
    other = Probe(probe.program, point, outcome.value, settings)
    for count, exponent in LEVELS[:3]:
        other.enter(count)
        sides = differences(other, place, exponent)[k]
        tolerance = 1e4 * allowance(sides, 0.0)
        if not sides.smooth(tolerance) or agree(mine, float(sides.central), tolerance):
            return True
    return False


def disputed(probe: Probe, place: Place, k: int, ours: float, sides: Sides, rounding: float) -> Entry:
    """The last word where ours differs from a smooth numerical derivative."""
    theirs = float(sides.central)
    if not math.isfinite(probe.values[k]) and not math.isfinite(ours):
        return Entry(ours, theirs, math.inf, True)  # beyond float64: the value says so, and its notes say where
    if probe.signed_zero and not math.isclose(probe.values[k], float(probe.base[k]), rel_tol=1e-6):
        return Entry(ours, theirs, math.inf, True)
    tolerance = allowance(sides, rounding)
    entry = Entry(ours, theirs, tolerance, agree(ours, theirs, tolerance + float(sides.noise)))
    if entry.ok:
        return entry
    probe.enter(LEVELS[0][0])
    # a branch or a kink may be decided by rounding: then the slopes some units in the last place away differ
    away = probe.scale(place) * 2.0**-48 * max(m.one, abs(probe.entry(place)))
    left, right = (float(differences(probe, place, 24, sign * away)[k].central) for sign in (-1, 1))
    if abs(left - right) > 1e-3 * (abs(left) + abs(right)) and between(ours, left, right, 1e-6 * abs(ours)):
        entry.left, entry.right = left, right
        entry.ok = True
    return entry


SECOND = ((80, 12), (160, 30), (500, 110), (1500, 380))
QUADRANTS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


class Corners:
    """Second differences of one number at one level: of all sides together, and of each quadrant."""

    __slots__ = ("central", "noise", "sides")

    def __init__(self, probe: Probe, a: Place, b: Place, exponent: int) -> None:
        step = m.power(10, -exponent)
        h, k = probe.scale(a) * step, probe.scale(b) * step
        known: dict[Any, Any] = {(0, 0): probe.base[0]}

        def f(s: Any, t: Any) -> Any:
            if (s, t) not in known:
                shift = {a: s * h + t * h} if a == b else {a: s * h, b: t * k}
                known[s, t] = probe({place: by for place, by in shift.items() if by})[0]
            return known[s, t]

        def quadrant(s: Any, t: Any) -> Any:
            return (f(s, t) - f(s, 0) - f(0, t) + f(0, 0)) / (s * t * h * k)

        half = m.mpf(0.5)
        wide, narrow = (
            sum(quadrant(s * r, t * r) for s, t in (((1, -1),) if a == b else QUADRANTS)) / (1 if a == b else 4)
            for r in (1, half)
        )
        self.central = (4 * narrow - wide) / 3
        pairs = ((1, 1), (-1, -1)) if a == b else QUADRANTS
        self.sides = [2 * quadrant(s * half, t * half) - quadrant(s, t) for s, t in pairs]
        self.noise = max(map(abs, known.values())) * m.power(10, 5 - m.dps) / (h * k)

    def smooth(self, tolerance: float) -> bool:
        if not all(map(m.isfinite, (self.central, *self.sides))):
            return False
        low, high = min(self.sides), max(self.sides)
        spread = max(high, self.central) - min(low, self.central)
        return bool(spread <= 1e-6 * max(abs(low), abs(high)) + tolerance + self.noise)


def second(
    probe: Probe, ours: Mapping[str, Mapping[str, Any]], limits: Mapping[tuple[str, int, str, int], float]
) -> dict[str, dict[str, Verdict]]:
    """Verdicts on the Hessian; each pair of entries is differenced once."""
    np = numeric.numpy()
    pairs: list[tuple[Place, Place]] = []
    spots = [(name, place) for name in ours for place in numeric.places(probe.point[name])]
    largest = max(
        (abs(v) for row in ours.values() for b in row.values() for v in numeric.entries(b) if abs(v) < math.inf),
        default=0.0,
    )
    for i, a in enumerate(spots):
        pairs += [(a, b) for b in spots[i:]]
    found: dict[tuple[Place, Place], Entry] = {}
    for a, b in pairs:
        values = [float(np.asarray(ours[p[0]][q[0]])[(*p[1], *q[1])]) for p, q in ((a, b), (b, a))]
        (one, i), (other, j) = ((p[0], numeric.places(probe.point[p[0]]).index(p[1])) for p in (a, b))
        rounding = max(limits.get((one, i, other, j), 0.0), limits.get((other, j, one, i), 0.0))
        found[a, b], found[b, a] = judged_pair(probe, a, b, values, 8.0 * rounding + 1e-15 * largest)
    return {
        one: {
            other: Verdict(
                [
                    found[(one, p), (other, q)]
                    for p, q in product(*map(numeric.places, (probe.point[one], probe.point[other])))
                ],
                numeric.shape(block),
            )
            for other, block in row.items()
        }
        for one, row in ours.items()
    }


def judged_pair(probe: Probe, a: Place, b: Place, ours: Sequence[float], rounding: float) -> list[Entry]:
    """Verdicts on the two second derivatives by a pair of entries, which are one number."""
    entries: list[Entry] = []
    rough: list[Corners] = []
    for count, exponent in SECOND:
        probe.enter(count)
        corners = Corners(probe, a, b, exponent)
        theirs = float(corners.central)
        size = min(abs(theirs), float(max(map(abs, corners.sides))))
        tolerance = 1e-9 * (size if size < math.inf else 0.0) + rounding + 1e-322
        entries = [Entry(v, theirs, tolerance, agree(v, theirs, tolerance)) for v in ours]
        smooth = corners.smooth(tolerance)
        if smooth and all(e.ok for e in entries):
            return entries
        if not smooth:
            rough.append(corners)
            if len(rough) == 2:
                return [torn(v, rough, tolerance) for v in ours]
    noise = float(corners.noise)
    for entry in entries:
        entry.ok = entry.ok or abs(entry.error) <= noise  # more digits would be needed than are worth it
    return entries


def torn(ours: float, seen: Sequence[Corners], tolerance: float) -> Entry:
    """Where second differences depend on the side: ours must lie between; where they run off there is none."""
    found = [*zip(*(c.sides for c in seen), strict=True)]
    sides = [float(limit(s)) for s in found]
    exist = [s for s in sides if s == s]
    low, high = (min(exist), max(exist)) if exist else (math.nan, math.nan)
    tolerance += 1e-9 * sum(abs(v) for v in (low, high) if math.isfinite(v))
    run_off = any(map(math.isinf, exist)) or any(unsettled(s, limit(s)) for s in found)
    ok = ours != ours or between(ours, low, high, tolerance)
    if run_off and not ok:
        ok, tolerance = True, math.inf  # there is no number to hold ours against
    entry = Entry(ours, low if low == high else math.nan, tolerance, ok)
    entry.left, entry.right = low, high
    return entry
