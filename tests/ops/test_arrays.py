"""Rows of arrays against mpmath: reductions, linear algebra, building and rearranging; each output by each entry."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from autodiff.differentiate import gradient, hessian
from autodiff.errors import ComputationError
from autodiff.ops import OPS, linalg, reduction
from autodiff.ops.record import Op
from autodiff.parse import parse

from .checker import complaints
from .reference import ARRAYS

V = [1.5, -2.0, 0.75]
M = [[2.0, -1.0, 0.5], [0.25, 3.0, 1.0]]
SQUARE = [[2.0, 1.0], [-0.5, 3.0]]
GRAM = [[2.0, 1.0, 0.25], [0.5, 3.0, -1.0], [0.0, 0.5, 4.0]]  # its symmetric part is positive definite
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
FLAT = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 3.0]]
CUBE = [[[1.0, 2.0], [3.0, -1.0]], [[0.5, 0.25], [2.0, 1.0]]]


def over_axes(*more: Any) -> list[Any]:
    """A reduction of a vector, of a matrix, of either axis, and of extreme entries."""
    return [((V,), {}), ((M,), {}), ((M,), {"axis": 0}), ((M,), {"axis": -1}), *(((v,), {}) for v in more)]


def p_norm(v: list[float], p: float) -> float:
    return float(np.sum(np.abs(v) ** p) ** (1.0 / p))


def columns(a: list[list[float]], p: float) -> list[float]:
    return [p_norm(list(v), p) for v in zip(*a, strict=True)]


def lines(*more: Any) -> list[Any]:
    return [((V,), {}), ((M,), {"axis": 0}), ((M,), {"axis": -1}), *(((v,), {}) for v in more)]


CASES: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "sum": over_axes(),
    "mean": over_axes(),
    "var": [
        *over_axes([1e8, 1e8 + 1.0, 1e8 + 3.0], [1e-120, 2e-120]),
        ((V,), {"ddof": 1}),
        ((M,), {"axis": 1, "ddof": 1}),
    ],
    "std": [
        *over_axes([1e200, 2e200, -1e200], [1e-200, 2e-200]),
        ((V,), {"ddof": 1}),
        ((GRAM,), {"axis": 0, "ddof": 1}),
    ],
    "prod": over_axes([0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1e200, 1e-200, 1e100]),
    "amax": over_axes([1e300, -1e300]),
    "amin": over_axes([1e300, -1e300]),
    "logsumexp": over_axes([1000.0, 1000.5], [-1e4, 5.0, 5.0], [0.0, -40.0], [700.0, 0.0, -700.0]),
    "norm": [
        *(((x, 2.0), p) for x, p in [(V, {}), (M, {}), (M, {"axis": 0}), (M, {"axis": 1})]),
        *(((x, 2.0), {}) for x in ([3e200, 4e200], [3e-200, 4e-200], [1e8, 1.0], [0.0, 2.0])),
        *(((V, p), {}) for p in (1.0, 3.0, 1.5, -1.0, mp.inf)),
        ((M, 3.0), {"axis": 0}),
        *((([1.0, 1e-8], p), {}) for p in (3.0, 1.5, 0.5, -2.0)),
        (([1e-200, 3e-200], 10.0), {}),
        (([1e300, 1e-300], 1.5), {}),
    ],
    "dual": [((V, 3.0, p_norm(V, 3)), {}), ((V, 1.5, p_norm(V, 1.5)), {}), ((M, 3.0, columns(M, 3.0)), {"axis": 0})],
    "normalized": [((V,), {}), ((M,), {}), ((M,), {"axis": 1}), (([1e8, 1.0],), {})],
    "leave_out": [((V,), {}), ((M,), {}), (([0.0, 0.0, 2.0],), {})],
    "cumsum": lines(),
    "cumprod": lines([0.0, 2.0, 3.0], [2.0, 0.0, 0.0]),
    "softmax": lines([1000.0, 1000.5], [0.0, -700.0], [40.0, 0.0, -40.0]),
    "log_softmax": lines([1000.0, 1000.5], [0.0, -700.0], [40.0, 0.0, -40.0]),
    "flip": [((M,), {"axis": 0}), ((V,), {"axis": -1})],
    "matmul": [
        ((V, V), {}),
        ((M, V), {}),
        (([1.0, -2.0], M), {}),
        ((SQUARE, M), {}),
        ((CUBE, [1.0, 2.0]), {}),
        (([1.0, 2.0], CUBE), {}),
        ((CUBE, CUBE), {}),
        ((SQUARE, CUBE), {}),
        ((CUBE, SQUARE), {}),
    ],
    "dot": [
        ((V, V), {}),
        ((M, V), {}),
        ((SQUARE, M), {}),
        ((2.0, V), {}),
        ((V, -1.5), {}),
        ((2.0, 3.0), {}),
        ((V[:2], CUBE), {}),
        ((CUBE, CUBE), {}),
    ],
    "outer": [((V, [2.0, 3.0]), {}), ((SQUARE, V), {}), ((2.0, V), {})],
    "cross": [((V, [0.5, 1.0, -2.0]), {})],
    "trace": [((SQUARE,), {}), ((M,), {})],
    "det": [
        ((a,), {})
        for a in (SQUARE, GRAM, SINGULAR, FLAT, [[0.0] * 2] * 2, np.eye(4).tolist(), np.diag([1.0, 0, 0, 2]).tolist())
    ],
    "cofactor": [((SQUARE,), {}), ((GRAM,), {}), ((FLAT,), {})],
    "logdet": [((SQUARE,), {}), ((GRAM,), {})],
    "inv": [((SQUARE,), {}), ((GRAM,), {})],
    "triangular_inverse": [((SQUARE,), {}), ((GRAM,), {})],
    "solve": [((SQUARE, [1.0, 2.0]), {}), ((SQUARE, M), {}), ((GRAM, V), {})],
    "cholesky": [((SQUARE,), {}), ((GRAM,), {})],
    "eigvalsh": [((SQUARE,), {}), ((GRAM,), {})],
    "diag": [((V,), {}), ((SQUARE,), {}), ((M,), {})],
    "kron": [((SQUARE, [[1.0, 2.0]]), {}), ((V, [1.0, 2.0]), {}), ((SQUARE, V), {})],
    "list": [((1.0, 2.0), {}), ((V, V), {})],
    "index": [((V,), {"index": (-1,)}), ((M,), {"index": (slice(None), 0)}), ((V,), {"index": (np.array([0, 0, 2]),)})],
    "scatter": [
        (([1.0, 2.0],), {"index": (np.array([1, 1]),), "shape": (3,)}),
        ((V,), {"index": (0,), "shape": (2, 3)}),
    ],
    "put": [((V, 2.0), {"index": (1,)}), ((M, [1.0, 5.0]), {"index": (slice(None), 1)})],
    "broadcast": [((2.0,), {"shape": (2, 2)}), ((V,), {"shape": (2, 3)})],
    "sum_to": [((M,), {"shape": (3,)}), ((M,), {"shape": ()})],
    "expand": [((V,), {"axis": 0, "shape": (2, 3)}), ((2.0,), {"axis": None, "shape": (2, 2)})],
    "sum_axes": [((M,), {"axis": 0}), ((CUBE,), {"axis": (0, 2)})],
    "moveaxis": [((CUBE,), {"source": 0, "target": 2})],
    "reshape": [((M, 3.0, 2.0), {}), ((M, [6.0]), {}), ((M, -1.0), {})],
    "flatten": [((M,), {})],
    "transpose": [((M,), {}), ((CUBE,), {}), ((V,), {})],
    "swap": [((CUBE,), {})],
    "concat": [
        ((V, [1.0, 2.0]), {}),
        ((SQUARE, M), {"axis": 1}),
        ((SQUARE, M), {"axis": -1}),
        ((CUBE,), {}),
        ((CUBE,), {"axis": 1}),
        ((CUBE,), {"axis": -1}),
    ],
    "stack": [((V, V), {}), ((V, V), {"axis": 1}), ((M,), {}), ((M,), {"axis": 1}), ((CUBE,), {"axis": -1})],
    "full": [((2.0, 3.0), {}), ((2.0, 2.0, 0.5), {}), (([2.0, 2.0], 0.5), {})],
    "linspace": [((1.0, 2.0, 5.0), {}), ((1e300, -1e300, 3.0), {})],
    "arange": [((4.0,), {}), ((0.5, 4.0), {}), ((0.5, 4.25, 1.5), {})],
}
VARIED: dict[str, Any] = {
    "norm": [0],
    "dual": [0],
    "reshape": [0],
    "linspace": [0, 1],
    "full": lambda xs: [len(xs) - 1],
    "arange": lambda xs: [0, 2] if len(xs) == 3 else [0] if len(xs) == 2 else [],
}
"""The operands that a row has a derivative by, where those are not all."""
ORDER = {"leave_out": 1, "cofactor": 1, "normalized": 1, "dual": 1}
NORMWISE = {"inv", "triangular_inverse", "solve", "cholesky", "eigvalsh", "std"}
ROWS = [row for row in OPS.values() if row.vjps is not None and row.name != "eigenvectors"]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_row_on_arrays(row: Op) -> None:
    found = []
    samples = [(tuple(s) if isinstance(s, tuple) else (s,), {}) for s in row.samples]
    for xs, params in CASES[row.name] + samples:
        varied = VARIED.get(row.name, range(len(xs)))
        varied = varied(xs) if callable(varied) else varied
        xs = tuple(float(x) if isinstance(x, mp.mpf) else x for x in xs)
        found += complaints(
            row, ARRAYS[row.name], xs, varied, params, ORDER.get(row.name, 2), False, row.name in NORMWISE
        )
    assert not found, "\n".join(found[:40])


def test_every_row_of_arrays_is_looked_at() -> None:
    assert {row.name for row in ROWS} == set(CASES) == set(ARRAYS)
    # eigenvectors have no sign of their own: they are checked through eigvalsh, at order 2
    others = [row.name for row in OPS.values() if row.differentiable and row.partials is None and row not in ROWS]
    assert others == ["eigenvectors"]


@pytest.mark.parametrize("text", ["inv(a)", "det(a)/1e60", "sum(w*cholesky(a))"])
def test_large_matrices_answer_as_small_ones(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    a = random.uniform(0.0, 1.0, (40, 40)) + 40.0 * np.eye(40)
    program = parse(f"sum({text})")
    point = {"a": a, "w": random.normal(size=(40, 40))} if "w" in text else {"a": a}
    found = gradient(program, point, ["a"]).gradient
    monkeypatch.setattr(linalg, "LARGE", 41)
    expected = gradient(program, point, ["a"]).gradient
    assert found is not None and expected is not None
    np.testing.assert_allclose(found["a"], expected["a"], rtol=1e-12, atol=1e-15)


def test_a_large_singular_matrix_has_no_inverse() -> None:
    with pytest.raises(ComputationError, match="singular"):
        OPS["inv"](np.ones((40, 40)))


@pytest.mark.parametrize("entry", [0.1, 0.7, 3.3, 1e-3, 1e300])
def test_equal_entries_deviate_by_nothing(entry: float) -> None:
    """Although the mean of three times 0.1 is 0.10000000000000002."""
    for text in ("std(A)", "sum(std(A, axis=0))", "var(A)*1e-300", "sum(var(A, axis=1))"):
        found = gradient(parse(text), {"A": np.full((3, 3), entry)}, ["A"])
        assert found.value == 0.0
        assert not found.gradient["A"].any()


def test_close_entries_keep_their_deviation() -> None:
    found = gradient(parse("var(v)"), {"v": np.array([1e16, 1e16 + 2.0])}, ["v"])
    assert found.value == 1.0
    assert found.gradient["v"].tolist() == [-1.0, 1.0]
    assert gradient(parse("std(v)"), {"v": np.array([1e16, 1e16 + 2.0])}, ["v"]).value == 1.0


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 8e307])
def test_two_entries_deviate_by_half_their_difference(size: float) -> None:
    """Which has no second derivative; beyond half of float64's largest it overflows nowhere."""
    out = hessian(parse("std(v)"), {"v": size * np.array([-2.0, 1.0])}, ["v"])
    assert out.value == pytest.approx(1.5 * size, rel=1e-15)
    np.testing.assert_allclose(out.gradient["v"], [-0.5, 0.5], rtol=1e-15)
    np.testing.assert_array_equal(out.hessian["v"]["v"], np.zeros((2, 2)))


def test_a_variance_that_overflows_is_infinite() -> None:
    found = gradient(parse("var(v)"), {"v": np.array([-1e308, 1e308])}, ["v"])
    assert found.value == math.inf
    assert found.gradient["v"].tolist() == [-1e308, 1e308]


def test_zero_cotangents_make_nothing_of_infinities_in_matrices() -> None:
    """In the rules of inv and solve, whose products would make a nan of each."""
    a, far = np.diag([1.0, 2.0]), np.diag([1.0, np.inf])
    corner = np.diag([1.0, 0.0])
    np.testing.assert_array_equal(OPS["inv"].vjp(0)(corner, far, a), -corner)
    np.testing.assert_array_equal(OPS["solve"].vjp(0)(np.array([1.0, 0.0]), np.array([3.0, np.inf]), a, far[0])[1], 0.0)
    np.testing.assert_array_equal(OPS["solve"].vjp(0)(corner, far, a, far), -corner)


def test_norms_of_negative_powers_over_the_whole_range() -> None:
    x = np.array([1e300, 1e-300])
    assert OPS["norm"](x, -1.0) == 1e-300
    np.testing.assert_array_equal(OPS["norm"].vjp(0)(1.0, 1e-300, x, -1.0), [0.0, 1.0])
    assert OPS["norm"](np.array([0.0, 2.0]), -1.0) == 0.0
    assert OPS["norm"](np.array([math.inf, 2.0]), -1.0) == 2.0


@pytest.mark.parametrize(
    ("x", "p", "slope", "bend"),
    [
        ([1.0, 1e-8], 3.0, [1.0, 1e-16], [2e-24, 2e-8]),
        ([1e300, 1e-300], 1.5, [1.0, 1e-300], [0.0, 0.5]),
        ([1e300, 1e-300], 0.5, [1.0, 1e300], [0.0, -math.inf]),
        ([1e300, 1e-300], -1.0, [0.0, 1.0], [0.0, 0.0]),
        ([0.0, 2.0], 1.5, [0.0, 1.0], [math.inf, 0.0]),
    ],
)
def test_norms_of_entries_far_apart(x: list[float], p: float, slope: list[float], bend: list[float]) -> None:
    out = hessian(parse(f"norm(v, {p})"), {"v": np.array(x)}, ["v"])
    np.testing.assert_allclose(out.gradient["v"], slope, rtol=1e-14)
    np.testing.assert_allclose(np.diag(out.hessian["v"]["v"]), bend, rtol=1e-14)


@pytest.mark.parametrize("axis", [None, 0])
def test_norms_of_many_entries_bend_as_those_of_few(axis: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2.0, 7)
    program = parse("norm(v, 3)" if axis is None else "norm(v, 3, axis=0)")
    few = hessian(program, {"v": x}, ["v"]).hessian["v"]["v"]
    monkeypatch.setattr(reduction, "PAIRWISE", 0)
    np.testing.assert_allclose(hessian(program, {"v": x}, ["v"]).hessian["v"]["v"], few, rtol=1e-13)


def test_norms_by_their_power() -> None:
    """Second derivatives with p among what they are by, against mpmath."""

    def norm(x: Any, p: Any) -> Any:
        return ARRAYS["norm"](np.array([mp.mpf(x), mp.mpf(-2), mp.mpf(0.75)]), p)

    point = {"x": 1.5, "p": 2.5}
    mixed = float(mp.diff(norm, (1.5, 2.5), (1, 1)))
    for text, by in [("diff(norm([x, -2, 0.75], p), x)", "p"), ("diff(norm([x, -2, 0.75], p), p)", "x")]:
        assert gradient(parse(text), point, [by]).gradient[by] == pytest.approx(mixed, rel=1e-13)
    out = hessian(parse("norm([x, -2, 0.75], p)"), point, ["p"])
    assert out.hessian["p"]["p"] == pytest.approx(float(mp.diff(lambda p: norm(1.5, p), 2.5, 2)), rel=1e-13)
