"""Every row against mpmath: value, first and second derivatives, on its samples and at the edges of its domain."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from autodiff.differentiate import derivatives
from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.parse import parse

from .checker import complaints
from .reference import SCALARS

SIZES = (1e-300, 1e-160, 1e-12, 1e-5, 0.5, 1.0, 3.0, 18.3, 36.8, 90.0, 700.0, 745.2, 1e8, 1e154, 1e200, 1e300)
REALS = [0.0, *SIZES, *(-x for x in SIZES)]
UNIT = [0.0, *(s * x for x in (1e-300, 1e-12, 1e-5, 0.3, 0.9, 1.0 - 1e-9, 1.0 - 2.0**-53) for s in (1.0, -1.0))]
FRACTION = [1e-300, 1e-12, 0.2, 0.25, 0.4999999, 0.5, 0.75, 0.9, 1.0 - 1e-9, 1.0 - 2.0**-53]
POLES = [1e-30, -1e-12, 1e-5, 0.5, 1.0, 1.4616321449683622, 3.0, 20.7, 150.0, -0.5, -1.0001, -3.7, -20.3]
MILD = [-1e-8, 0.7, -3.0, 40.0, 1e5]
FEW = [1e-120, -1e-8, 0.7, -3.0, 40.0, -1e170]

EDGES: dict[str, list[Any]] = {
    "all reals": REALS,
    "x not 0": REALS[1:],
    "x > 0": list(SIZES),
    "x >= 0": list(SIZES),
    "x >= 1": [1.0 + 1e-12, *SIZES[6:]],
    "x > -1": [0.0, *SIZES, -1e-300, -1e-12, -0.5, -1.0 + 1e-9, -1.0 + 2.0**-53],
    "-1 < x < 1": UNIT,
    "-1 <= x <= 1": UNIT,
    "0 < p < 1": FRACTION,
    "x not a multiple of pi": REALS[1:],
    "x not 0, -1, -2, …": POLES,
    "x not -1, -2, …": [x for x in POLES if x != -1.0],
    "b not 0": list(itertools.product([0.0, *FEW], FEW)),
    "y not 0": list(itertools.product(MILD, MILD)),
    "a, b > 0": [
        *((0.5, 0.5), (3.0, 20.0), (2.0, 2.0), (30.0, 0.7), (12.0, 1e5), (1e5, 12.0), (170.0, 171.0)),
        *((1e50, 0.5), (7.0, 9.99), (9.99, 10.0)),
    ],
    "y > 0, or x = 0": list(itertools.product([0.0, *FEW], [1e-200, 1e-8, 0.7, 1.0, 40.0, 1e170])),
    "y > -1, or x = 0": list(itertools.product([0.0, *FEW], [1e-200, -1e-8, -0.7, 0.0, 40.0, 1e170])),
    "x > 0, or y whole": [
        *itertools.product([1e-30, 0.7, 1.0, 1.5, 40.0], [-2.5, -1.0, 1e-10, 0.5, 1.0, 2.0, 7.3]),
        *((x, n) for x in (1e-100, 1e100) for n in (2.0, -2.0, 1.0, 0.5)),
    ],
}
PAIRS = [*itertools.product([0.0, *FEW], FEW)]
TINY = [0.0, 1e-200, -1e-200, 3e-200, 1e-310, -5e-324]
EXTRA: dict[str, list[Any]] = {
    "logaddexp": [*itertools.product([0.0, -3.0, 36.8, 700.0, -745.2, 1e8], [0.0, 2.5, -40.0, 745.2])],
    "lerp": [(1e200, 3.0, 0.25), (1.0, 1.0, 0.75), (1e-200, -2.0, 0.6)],
    "clip": [(1e300, -1e300, 1e-300), (-0.5, 0.0, 1.0), (2.0, 0.0, 1.0)],
    "polygamma": [(n, x) for n in (1.0, 2.0, 5.0) for x in (1e-5, 0.5, 1.0, 20.7, 1e8, -0.5, -3.7, -2.9999, -41.25)],
    "lbeta": [
        *((12.0, 1e5), (1e5, 12.0), (1e-5, 0.25), (1e-12, 3.0), (1e15, 1e-8), (9.99, 10.0), (0.7, 0.7)),
        *((1e-60, 1e-70), (1e50, 1e50)),
    ],
    "polygamma_difference": [
        *((n, x, h) for n in (0.0, 1.0) for x in (1e-5, 20.7) for h in (1e-12, 0.3, 1e6)),
        *((0.0, 3.0, -2.5), (0.0, -1.5, 3.0)),
    ],
    "dsinc": [(x, n) for n in (1.0, 2.0) for x in (1e-60, 1e-5, 0.4, -0.7, 1.0, 2.4, 7.0)],
    "where": [],
    "mod": [*itertools.product(MILD, MILD)],
    "leaky_relu": [*itertools.product(FEW, [0.01, 2.0])],
    "elu": [*itertools.product([*FEW, -36.8, -745.2], [1.0, 1.6])],
    "max": [(1.0, 2.0, 3.0), (1e300, -1e300)],
    "min": [(1.0, 2.0, 3.0), (1e300, -1e300)],
    "hypot": [*PAIRS, *((x, y) for x, y in itertools.product(TINY, TINY) if x or y)],
    "unit": [*PAIRS, *((x, y) for x, y in itertools.product([*TINY[:4], 1e-155], TINY[:4]) if x or y)],
    "inversion": PAIRS,
    "atan2": [(y, x) for y, x in [*PAIRS, *itertools.product(TINY[1:], TINY)] if y or x > 0.0],
    **{key: [x for x in REALS if not 600.0 < abs(x) < 800.0] for key in ["erfc", "ndtr", "log_ndtr", "mills", "gelu"]},
    "excess_derivative": [(x, n) for n in (1.0, 2.0, 3.0) for x in (-1e8, -745.2, -40.0, -3.0, 0.7, 36.8)],
    "mills_excess": [x for x in REALS if abs(x) < 1e170],
    "copysign": PAIRS[len(FEW) :],
    # far out the tails of mpmath itself are slow, and those of the function are 0
    "erfinv": UNIT[:11],
}
SLOW = {"gamma", "lgamma", "digamma", "polygamma", "factorial", "polygamma_difference", "beta", "lbeta", "erfinv"}
"""mpmath takes its time for these at many digits, and they have no exponential tails."""
HELD = {"where": [0], "dsinc": [1], "excess_derivative": [1], "polygamma": [0], "polygamma_difference": [0]}
"""Operands that a row has no derivative by, though it depends on them."""


STEEP = [("cbrt", (0.0,))]
"""Points where the derivative is infinite, by convention too."""


def point(sample: Any) -> tuple[Any, ...]:
    return sample if isinstance(sample, tuple) else (sample,)


def points(row: Op) -> list[tuple[Any, ...]]:
    """Samples and edges, but for kinks: those have conventions, which have a table of their own."""
    edges = EXTRA.get(row.name, EDGES.get(row.domain, []))
    wanted = [point(p) for p in [*row.samples, *edges]]
    fits = [p for p in wanted if len(p) == len(row.operands) or row.most is None]
    if not any(len(p) > 1 for p in map(point, row.samples)) and len(row.operands) == 2:
        fits = []
    if len(row.operands) == 2 and row.domain == "all reals" and row.name not in EXTRA:
        fits += PAIRS
    smooth = [p for p in dict.fromkeys(fits) if row.kink is None or not row.kink(row(*p), *p)]
    return [p for p in smooth if (row.name, p) not in STEEP]


ROWS = [row for row in OPS.values() if row.partials is not None]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_row_on_numbers(row: Op) -> None:
    held = HELD.get(row.name, [])
    found = []
    for p in points(row):
        varied = [i for i in range(len(p)) if i not in held]
        found += complaints(row, SCALARS[row.name], p, varied, exponential=row.name not in SLOW)
    assert not found, "\n".join(found[:40])


def test_every_row_with_a_derivative_is_looked_at() -> None:
    assert {row.name for row in ROWS} <= set(SCALARS)
    for row in ROWS:
        assert len(points(row)) >= 2, row.name


# by their leading terms, which are all there is
ENDS: list[tuple[str, tuple[float, ...], Any]] = [
    ("lbeta", (1e-310, 2.0), -mp.log(1e-310)),
    ("lbeta", (5e-324, 5e-324), mp.log(2) - mp.log(5e-324)),
    ("lbeta", (1e308, 1e308), -2 * mp.mpf(1e308) * mp.log(2)),
    ("lbeta", (1e300, 1.0), -mp.log(1e300)),
    ("lbeta", (2.0, math.inf), -mp.inf),
    ("beta", (1e-300, 1e300), 1 / mp.mpf(1e-300)),
    ("beta", (1e-310, 5.0), mp.inf),
    ("beta", (math.inf, 5.0), mp.mpf(0)),
    ("gamma", (-1e-310,), -mp.inf),
    ("gamma", (200.0,), mp.inf),
    ("polygamma_difference", (0.0, 1e-200, 1e-300), mp.mpf(1e-300) / mp.mpf(1e-200) ** 2),
    ("polygamma_difference", (1.0, 1e-200, 1e-300), -2 * mp.mpf(1e-300) / mp.mpf(1e-200) ** 3),
    ("polygamma_difference", (0.0, 5e-324, 2.0), mp.inf),
    ("polygamma_difference", (0.0, 2.0, 5e-324), mp.mpf(5e-324)),
    ("polygamma", (2.0, -1e6 - 0.5), mp.psi(2, mp.mpf(1e6) + 1.5)),
    ("polygamma", (1.0, 1e300), mp.mpf(1e-300)),
    ("polygamma", (1.0, -math.inf), mp.nan),
    ("polygamma", (300.0, -0.4), mp.inf),
    ("polygamma", (1.5, 2.0), mp.nan),
    ("dsinc", (0.3, math.inf), mp.nan),
    ("dsinc", (0.0, 150.0), -(mp.pi**150) / 151),
    ("dsinc", (math.inf, 2.0), mp.mpf(0)),
    ("polygamma", (1.0, math.nan), mp.nan),
    ("polygamma", (1.0, math.inf), mp.mpf(0)),
]


@pytest.mark.parametrize(("name", "xs", "exact"), ENDS, ids=[f"{name}{xs}" for name, xs, _ in ENDS])
def test_ends_of_the_range(name: str, xs: tuple[float, ...], exact: Any) -> None:
    for found in (OPS[name](*xs), OPS[name](*(np.array([x, x]) for x in xs))[1]):
        np.testing.assert_allclose(found, float(exact), rtol=2e-15, atol=5e-324)


def test_high_orders_of_log_ndtr_in_the_tail() -> None:
    """Of Mills' ratio m the derivatives by m' = -m(m + x), far from its own size."""
    for x in (-4e4, -300.0, -40.0, -2.5, 0.3):
        found = derivatives(parse("log_ndtr(x)"), {"x": x}, "x", 6).derivatives
        with mp.workdps(60):
            exact = [SCALARS["excess_derivative"](mp.mpf(x), k) for k in range(2, 6)]
        np.testing.assert_allclose(found[2:], [float(y) for y in exact], rtol=1e-11)
