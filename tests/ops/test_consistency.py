"""Rows against themselves: float as array entry, symmetric Hessians, jvp and vjp, broadcasting and slices."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from autodiff import differentiate
from autodiff.onesided import expand
from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.parse import parse
from autodiff.tape import Node, Tape, backward, value_of

from .checker import derivatives
from .test_arrays import CASES, VARIED
from .test_arrays import ROWS as ARRAY_ROWS
from .test_rows import HELD, point
from .test_rows import ROWS as SCALAR_ROWS

IDS = [row.name for row in SCALAR_ROWS]


def samples(row: Op) -> list[tuple[float, ...]]:
    return [point(s) for s in row.samples] or [(2.0, 3.0)]


def swept(row: Op, xs: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """Value and gradient of the sum."""
    tape = Tape()
    leaves = [tape.leaf(x) for x in xs]
    y = row(*leaves)
    seed = np.ones(np.shape(value_of(y))) if np.ndim(value_of(y)) else 1.0
    found = backward(y, seed, leaves) if isinstance(y, Node) else [None] * len(xs)
    return value_of(y), [0.0 if g is None else g for g in found]


def ulps(a: Any, b: Any) -> float:
    a, b = float(a), float(b)
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    return abs(a - b) / math.ulp(max(abs(a), abs(b)))


@pytest.mark.parametrize("row", SCALAR_ROWS, ids=IDS)
def test_a_float_is_an_entry_of_an_array(row: Op) -> None:
    """Value and gradient of a point alone and of the same point as an entry of an array, of a slice, broadcast."""
    for xs in samples(row):
        y, gradient = swept(row, xs)
        strided = [np.array([[x, 7.0]] * 3)[:, 0] for x in xs]
        spread = [np.array(x).reshape((1,) * i + (1,) + (1,) * (len(xs) - 1 - i)) for i, x in enumerate(xs)]
        for arrays, copies in ((strided, 1.0), (spread, 1.0)):
            many, slopes = swept(row, tuple(arrays))
            for entry in np.ravel(many):
                assert ulps(entry, y) <= 4.0 * (row.scalar is not row.array), (row.name, xs)
            for g, slope in zip(gradient, slopes, strict=True):
                for entry in np.ravel(slope):
                    assert ulps(entry, copies * g) <= 32.0, (row.name, xs)


@pytest.mark.parametrize("row", SCALAR_ROWS, ids=IDS)
def test_infinities_and_signed_zeros_alone_and_in_arrays(row: Op) -> None:
    operands = len(point(row.samples[0])) if row.samples else 2
    if operands > 2:
        return
    values = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -2.5]
    for xs in itertools.product(values, repeat=operands):
        with np.errstate(all="ignore"):
            y, gradient = swept(row, xs)
            many, slopes = swept(row, tuple(np.array([x, 1.5]) for x in xs))
        assert ulps(np.ravel(many)[0], y) <= 4.0, (row.name, xs)
        for g, slope in zip(gradient, slopes, strict=True):
            assert ulps(np.ravel(slope)[0], g) <= 4.0, (row.name, xs)


@pytest.mark.parametrize("row", SCALAR_ROWS, ids=IDS)
def test_a_broadcast_operand_gets_the_sum(row: Op) -> None:
    for xs in samples(row):
        _, gradient = swept(row, xs)
        for i in range(len(xs)):
            arrays = tuple(np.full(4, x) if j != i else x for j, x in enumerate(xs))
            if len(xs) > 1:
                _, slopes = swept(row, arrays)
                assert np.shape(slopes[i]) == ()
                assert slopes[i] == pytest.approx(4.0 * gradient[i], rel=1e-14, nan_ok=True)


@pytest.mark.parametrize("row", SCALAR_ROWS, ids=IDS)
def test_hessian_symmetric(row: Op) -> None:
    for xs in samples(row):
        varied = [i for i in range(len(xs)) if i not in HELD.get(row.name, [])]
        _, _, (h,) = derivatives(row, xs, varied, {})
        scale = max((abs(v) for line in h for v in line), default=0.0)
        for i in range(len(h)):
            for j in range(i):
                assert h[i][j] == pytest.approx(h[j][i], rel=1e-13, abs=1e-15 * scale), (row.name, xs)


@pytest.mark.parametrize("row", [*SCALAR_ROWS, *ARRAY_ROWS], ids=[row.name for row in [*SCALAR_ROWS, *ARRAY_ROWS]])
def test_forward_is_backward(row: Op) -> None:
    """jvp·w = v·vjp for random v and w; the jvp comes from the series, the vjp from a sweep."""
    random = np.random.default_rng(5)
    cases = [(xs, {}) for xs in samples(row)] if row in SCALAR_ROWS else CASES[row.name]
    for xs, params in cases:
        varied = VARIED.get(row.name, [i for i in range(len(xs)) if i not in HELD.get(row.name, [])])
        varied = varied(xs) if callable(varied) else varied
        tape = Tape()
        operands: list[Any] = [np.array(x, float) if isinstance(x, list) else float(x) for x in xs]
        leaves = {i: tape.leaf(operands[i]) for i in varied}
        y = row(*(leaves.get(i, x) for i, x in enumerate(operands)), **params)
        if not isinstance(y, Node):
            continue

        def like(x: Any) -> Any:
            return random.uniform(0.5, 1.5, np.shape(x)) if np.ndim(x) else float(random.uniform(0.5, 1.5))

        v = {leaf: like(leaf.value) for leaf in leaves.values()}
        w = like(y.value)
        rate = expand(y, v, 1)[1]
        back = backward(y, w, list(v))
        left = float(np.sum(rate * w))
        parts = [np.asarray(g * d) for g, d in zip(back, v.values(), strict=True) if g is not None]
        right = float(sum(np.sum(p) for p in parts))
        scale = float(sum(np.sum(np.abs(p)) for p in parts))
        assert left == pytest.approx(right, rel=1e-12, abs=1e-13 * scale), (row.name, xs, params)


def test_rows_are_reached() -> None:
    assert len(SCALAR_ROWS) > 60
    assert len(ARRAY_ROWS) > 40


@pytest.mark.parametrize(
    "text", ["sum(v + max(s, s))", "sum(v + s*s)", "sum(relu(s)*v - s)", "sum(where(v > 1, s, v))"]
)
def test_a_number_broadcast_into_an_array_counts_for_every_entry(text: str) -> None:
    """In sweeps, in directional derivatives, and where both sides of a kink are looked at."""
    program = parse(text)
    point = {"v": np.array([1.0, 2.0, 3.0]), "s": 0.7}
    h = 1e-6
    up, down = ({**point, "s": 0.7 + d} for d in (h, -h))
    want = (differentiate.value(program, up).value - differentiate.value(program, down).value) / (2.0 * h)
    assert (differentiate.gradient(program, point, ["s"]).gradient or {})["s"] == pytest.approx(want)
    assert differentiate.jvp(program, point, {"s": 1.0}).jvp == pytest.approx(want)


def test_powers_of_arrays_are_the_same_beside_a_base_of_zero() -> None:
    """Without one, and without tiny exponents, the rules go a shorter way."""
    bases, exponents = np.array([0.3, -2.0, 5.0, 1e-200]), np.array([1.7, 3.0, -2.5, 2.0])
    program = parse("sum(x^y)")

    def found(x: Any, y: Any) -> list[Any]:
        outcome = differentiate.hessian(program, {"x": x, "y": y}, ["x", "y"])
        diagonals = [np.diag(block) for row in outcome.hessian.values() for block in row.values()]
        return [*outcome.gradient.values(), *diagonals]

    for base, exponent in ((0.0, 3.0), (0.5, 1e-3)):
        longer = found(np.append(bases, base), np.append(exponents, exponent))
        for ours, beside in zip(found(bases, exponents), longer, strict=True):
            np.testing.assert_array_equal(ours, beside[:4])


def test_slopes_of_unit_vectors_beside_far_ones() -> None:
    """Alone and in one array with others the slopes agree, though all together they go the longer way."""
    xs, ys = np.array([3.0, 1e8, 1e-200, 1e200, -2.0]), np.array([4.0, 1.0, 3e-200, -1e190, 1e-9])
    tape = Tape()
    x, y = tape.leaf(xs), tape.leaf(ys)
    together = backward(OPS["unit"](x, y), np.ones(5), [x, y])
    for k in range(5):
        _, alone = swept(OPS["unit"], (float(xs[k]), float(ys[k])))
        assert [ulps(many[k], one) for many, one in zip(together, alone, strict=True)] <= [4.0, 4.0]
    origin = swept(OPS["unit"], (np.array([0.0, 3.0]), np.array([0.0, 4.0])))[1]
    np.testing.assert_allclose(origin, [[0.0, 0.128], [0.0, -0.096]], rtol=1e-15)
