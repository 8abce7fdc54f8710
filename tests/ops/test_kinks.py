"""What is chosen where there is no derivative, or where a careless rule makes a nan: one table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from autodiff.differentiate import gradient, hessian, taylor
from autodiff.job import Settings
from autodiff.ops import OPS
from autodiff.parse import parse

INF, NAN = math.inf, math.nan

# text, point, gradient by input, whether a kink note is due
FIRST: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("abs(x)", {"x": 0.0}, {"x": 0.0}, True),
    ("sign(x)", {"x": 0.0}, {"x": 0.0}, True),
    ("relu(x)", {"x": 0.0}, {"x": 0.0}, True),
    ("relu(x) - relu(-x)", {"x": 0.0}, {"x": 1.0}, False),
    ("x*abs(x)", {"x": 0.0}, {"x": 0.0}, False),
    ("max(x, y)", {"x": 1.0, "y": 1.0}, {"x": 0.5, "y": 0.5}, True),
    ("min(x, y, z)", {"x": 1.0, "y": 1.0, "z": 1.0}, {"x": 1 / 3, "y": 1 / 3, "z": 1 / 3}, True),
    ("max(v)", {"v": [2.0, 1.0, 2.0]}, {"v": [0.5, 0.0, 0.5]}, True),
    ("max(v) + min(v)", {"v": [2.0, 2.0]}, {"v": [1.0, 1.0]}, False),
    ("clip(x, 0, 1)", {"x": 0.0}, {"x": 1.0}, True),
    ("clip(x, 0, 1)", {"x": 1.0}, {"x": 1.0}, True),
    ("clip(x, a, b)", {"x": 2.0, "a": 2.0, "b": 3.0}, {"x": 1.0, "a": 0.0, "b": 0.0}, True),
    ("clip(x, a, b)", {"x": 1.0, "a": 5.0, "b": 3.0}, {"x": 0.0, "a": 0.0, "b": 1.0}, False),
    ("clip(x, a, b)", {"x": 1.0, "a": 2.0, "b": 2.0}, {"x": 0.0, "a": 1.0, "b": 0.0}, True),
    ("clip(x, a, b)", {"x": 3.0, "a": 2.0, "b": 2.0}, {"x": 0.0, "a": 0.0, "b": 1.0}, False),
    ("sum(clip(v, a, b))", {"v": [1.0, 3.0], "a": 2.0, "b": 2.0}, {"v": [0.0, 0.0], "a": 1.0, "b": 1.0}, True),
    ("clip(x, 2, 2)", {"x": 1.0}, {"x": 0.0}, False),
    ("floor(x)", {"x": 2.0}, {"x": 0.0}, True),
    ("ceil(x)", {"x": 2.0}, {"x": 0.0}, True),
    ("round(x)", {"x": 2.5}, {"x": 0.0}, True),
    ("trunc(x)", {"x": 2.0}, {"x": 0.0}, True),
    ("trunc(x)", {"x": 0.0}, {"x": 0.0}, False),
    ("copysign(x, y)", {"x": 0.0, "y": 1.0}, {"x": 0.0, "y": 0.0}, True),
    ("norm(v)", {"v": [0.0, 0.0]}, {"v": [0.0, 0.0]}, True),
    ("norm(v, 1)", {"v": [0.0, 3.0]}, {"v": [0.0, 1.0]}, True),
    ("hypot(x, y)", {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, True),
    ("std(v)", {"v": [2.0, 2.0]}, {"v": [0.0, 0.0]}, True),
    ("leaky_relu(x, 0.25)", {"x": 0.0}, {"x": 0.25}, True),
    ("elu(x, 2)", {"x": 0.0}, {"x": 2.0}, True),
    ("elu(x)", {"x": 0.0}, {"x": 1.0}, False),
    ("selu(x)", {"x": 0.0}, {"x": 1.7580993408473766}, True),
    ("sqrt(x)", {"x": 0.0}, {"x": INF}, False),
    ("sqrt(x)", {"x": -0.0}, {"x": INF}, False),
    ("sqrt(v)[0]", {"v": [-0.0, 1.0]}, {"v": [INF, 0.0]}, False),
    ("acosh(x)", {"x": 1.0}, {"x": INF}, False),
    ("cbrt(x)", {"x": 0.0}, {"x": INF}, False),
    ("atan2(y, x)", {"x": 0.0, "y": 0.0}, {"y": NAN, "x": NAN}, False),
    ("logsumexp(v)", {"v": [-INF, -INF]}, {"v": [0.0, 0.0]}, False),
    ("logaddexp(x, y)", {"x": -INF, "y": -INF}, {"x": 0.0, "y": 0.0}, False),
    ("x^y", {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, True),
    ("x^x", {"x": 0.0}, {"x": 0.0}, True),
    ("x^0 + x^[0, 1, 2] @ [1, 1, 1]", {"x": 0.0}, {"x": 1.0}, False),
    ("x^y", {"x": 0.0, "y": 2.0}, {"x": 0.0, "y": 0.0}, False),
    ("x^2", {"x": 0.0}, {"x": 0.0}, False),
    ("x^0", {"x": 0.0}, {"x": 0.0}, False),
    ("xlogy(x, y)", {"x": 0.0, "y": 0.0}, {"x": -INF, "y": 0.0}, False),
    ("x % y", {"x": 7.5, "y": -2.0}, {"x": 1.0, "y": 4.0}, False),
    ("prod(v)", {"v": [0.0, 2.0, 3.0]}, {"v": [6.0, 0.0, 0.0]}, False),
    ("det(A)", {"A": [[0.0, 0.0], [0.0, 3.0]]}, {"A": [[3.0, 0.0], [0.0, 0.0]]}, False),
    # what does not reach the result sends nothing, not even a nan
    ("where(x > 0, log(x), x)", {"x": -1.0}, {"x": 1.0}, False),
    ("where(x > 1, sqrt(x - 1), 2*x)", {"x": 1.0}, {"x": 2.0}, False),
    ("max(x, log(y))", {"x": 1.0, "y": 0.0}, {"x": 1.0, "y": 0.0}, False),
    ("relu(-1/x)", {"x": 1e-320}, {"x": 0.0}, False),
    (
        "(A @ v)[0]",
        {"A": [[1.0, 2.0], [INF, INF]], "v": [3.0, 4.0]},
        {"A": [[3.0, 4.0], [0.0, 0.0]], "v": [1.0, 2.0]},
        False,
    ),
    ("dot(v, w)", {"v": [1.0, 2.0], "w": [3.0, 4.0]}, {"v": [3.0, 4.0], "w": [1.0, 2.0]}, False),
    ("outer(v, w)[0, 0]", {"v": [1.0, 2.0], "w": [3.0, NAN]}, {"v": [3.0, 0.0], "w": [1.0, 0.0]}, False),
    ("cross(v, w)[0]", {"v": [NAN, 2.0, 1.0], "w": [1.0, 2.0, 3.0]}, {"v": [0, 3, -2], "w": [0, -1, 2]}, False),
    ("where(x > 0, x, logdet(A))", {"x": 1.0, "A": [[1.0, 1.0], [1.0, 1.0]]}, {"x": 1.0, "A": [[0, 0], [0, 0]]}, False),
    ("where(x > 0, x, inv(A)[0, 0])", {"x": 1.0, "A": [[NAN, 2.0], [2.0, 4.0]]}, {"A": [[0, 0], [0, 0]]}, False),
    ("where(x > 0, x, solve(A, v)[0])", {"x": 1.0, "A": [[NAN, 2], [2, 4]], "v": [1, INF]}, {"v": [0, 0]}, False),
    # the whole float64 range
    ("abs(x)", {"x": -1e308}, {"x": -1.0}, False),
    ("abs(x)", {"x": 5e-324}, {"x": 1.0}, False),
    ("norm(v)", {"v": [3e-320, 0.0]}, {"v": [1.0, 0.0]}, False),
]

# text, point, Hessian by the first input
SECOND: list[tuple[str, dict[str, Any], Any]] = [
    ("x^2", {"x": 0.0}, 2.0),
    ("x^1", {"x": 0.0}, 0.0),
    ("x^0", {"x": 0.0}, 0.0),
    ("x^3", {"x": 0.0}, 0.0),
    ("sum(v*v)", {"v": [0.0, 0.0]}, [[2.0, 0.0], [0.0, 2.0]]),
    ("prod(v)", {"v": [0.0, 0.0, 3.0]}, [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ("sum(cumprod(v))", {"v": [0.0, 0.0, 3.0]}, [[0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ("det(reshape(v, 2, 2))", {"v": [0.0] * 4}, [[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]]),
    ("sqrt(x)", {"x": -0.0}, -INF),
    ("acosh(x)", {"x": 1.0}, -INF),
    ("norm(v)", {"v": [0.0, 0.0]}, [[0.0, 0.0], [0.0, 0.0]]),
    ("sum(eigvalsh(diag(v)))", {"v": [2.0, 2.0]}, [[0.0, 0.0], [0.0, 0.0]]),
    ("where(x > 0, sqrt(x), x^2)", {"x": 0.0}, 2.0),
]


def raw(point: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(x, float) if isinstance(x, list) else x for name, x in point.items()}


@pytest.mark.parametrize(("text", "point", "expected", "noted"), FIRST, ids=[f"{t}@{p}" for t, p, _, _ in FIRST])
def test_first_order(text: str, point: dict[str, Any], expected: dict[str, Any], noted: bool) -> None:
    out = gradient(parse(text), raw(point), list(expected))
    for name, g in expected.items():
        np.testing.assert_allclose(out.gradient[name], g, rtol=1e-15, atol=0)
    assert any(note.kind == "kink" for note in out.notes) == noted


@pytest.mark.parametrize(("text", "point", "expected"), SECOND, ids=[f"{t}@{p}" for t, p, _ in SECOND])
def test_second_order(text: str, point: dict[str, Any], expected: Any) -> None:
    (name,) = point
    out = hessian(parse(text), raw(point), [name])
    np.testing.assert_allclose(out.hessian[name][name], expected, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("text", ["sum(cholesky(A))", "eigvalsh(A)[0]", "eigvalsh(A)[1]^2"])
def test_gradients_of_symmetric_functions_are_symmetric(text: str) -> None:
    out = gradient(parse(text), {"A": np.array([[2.0, 1.0], [0.25, 3.0]])}, ["A"])
    assert out.gradient["A"][0, 1] == pytest.approx(out.gradient["A"][1, 0], rel=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e150])
def test_equal_eigenvalues_leave_no_noise(size: float) -> None:
    """The trace by eigenvalues is linear, though single eigenvalues have no second derivative here."""
    a = size * np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 2.0]])  # 1, 3, 3
    out = hessian(parse("sum(eigvalsh(A))"), {"A": a}, ["A"])
    assert np.abs(out.hessian["A"]["A"]).max() <= 1e-14 / size


@pytest.mark.parametrize(
    ("text", "value"),
    [("diff(abs(x), x)", 0.0), ("diff(relu(x), x)", 0.0), ("diff(max(x, 0), x)", 0.5), ("diff(x^2, x, 2)", 2.0)],
)
def test_diff_in_the_language_follows_the_same_table(text: str, value: float) -> None:
    assert gradient(parse(text), {"x": 0.0}, ["x"]).value == value


# text, point, what torch and jax answer (None: as ours); torch's are held against torch itself in test_torch
THEIRS: list[tuple[str, dict[str, Any], dict[str, Any] | None, dict[str, Any] | None]] = [
    ("abs(x)", {"x": 0.0}, None, {"x": 1.0}),
    ("relu(x) - relu(-x)", {"x": 0.0}, {"x": 0.0}, {"x": 0.0}),
    ("leaky_relu(x, 0.25)", {"x": 0.0}, None, {"x": 1.0}),
    ("copysign(x, y)", {"x": 0.0, "y": -1.0}, None, {"x": -1.0, "y": 0.0}),
    ("clip(x, a, b)", {"x": 2.0, "a": 2.0, "b": 3.0}, None, {"x": 0.5, "a": 0.5, "b": 0.0}),
    ("clip(x, a, b)", {"x": 2.0, "a": 2.0, "b": 2.0}, {"x": 1.0, "a": 0.0, "b": 0.0}, {"x": 0.25, "a": 0.25, "b": 0.5}),
    ("max(v)", {"v": [2.0, 2.0]}, None, None),
    ("max(v, axis=0)", {"v": [1.0, 2.0, 2.0]}, {"v": [0.0, 1.0, 0.0]}, {"v": [0.0, 0.5, 0.5]}),
    ("sum(min(A, axis=1))", {"A": [[2.0, 2.0], [1.0, 3.0]]}, {"A": [[1.0, 0.0], [1.0, 0.0]]}, None),
    ("hypot(x, y)", {"x": 0.0, "y": 0.0}, {"x": NAN, "y": NAN}, {"x": 0.5, "y": 0.5}),
    ("norm(v)", {"v": [0.0, 0.0]}, None, {"v": [NAN, NAN]}),
    ("std(v)", {"v": [2.0, 2.0]}, None, {"v": [NAN, NAN]}),
    ("atan2(y, x)", {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, None),
    ("logsumexp(v)", {"v": [-INF, -INF]}, {"v": [NAN, NAN]}, {"v": [NAN, NAN]}),
    ("logaddexp(x, y)", {"x": -INF, "y": -INF}, {"x": NAN, "y": NAN}, None),
    ("xlogy(x, y)", {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": NAN}, {"x": -INF, "y": NAN}),
    ("xlog1py(x, y)", {"x": 0.0, "y": -1.0}, {"x": 0.0, "y": NAN}, {"x": -INF, "y": NAN}),
]


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize(("text", "point", "torch", "jax"), THEIRS, ids=[f"{t}@{p}" for t, p, _, _ in THEIRS])
def test_conventions(text: str, point: dict[str, Any], torch: Any, jax: Any, library: str) -> None:
    ours = gradient(parse(text), raw(point), list(point)).gradient
    theirs = gradient(parse(text), raw(point), list(point), Settings(convention=library)).gradient
    expected = (torch if library == "torch" else jax) or ours
    for name in point:
        np.testing.assert_array_equal(theirs[name], expected[name])


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_conventions_are_ours_away_from_kinks(library: str) -> None:
    point = {"x": 0.75, "y": 1.25, "v": np.array([0.5, -2.0, 1.0])}
    seen = set()
    for text in [
        "abs(x) + leaky_relu(-x) + copysign(x, -y) + clip(x, 0, y) + hypot(x, y) + atan2(x, y)",
        "max(v, axis=0)*min(v, axis=0) + norm(v) + norm(v, 3) + std(v) + var(v) + logsumexp(v)",
        "logaddexp(x, y) + xlogy(x, y) + xlog1py(x, y)",
    ]:
        program = parse(text)
        names = [name for name in point if name in program.inputs]
        ours = gradient(program, point, names).gradient
        theirs = gradient(program, point, names, Settings(convention=library)).gradient
        for name in names:
            np.testing.assert_allclose(theirs[name], ours[name], rtol=1e-14)
        seen |= {row.name for row in OPS.values() if f"{row.name}(" in text} | {"amax", "amin"}
    assert {row.name for row in OPS.values() if row.conventions} <= seen


def test_both_sides_of_a_norm_at_0() -> None:
    """For any p: along a line through 0 the norm is |t| times that of the direction."""
    program = parse("norm([x, 2*x], 3)")
    (note,) = gradient(program, {"x": 0.0}, ["x"]).notes
    assert "-2.08008 from the left, 2.08008 from the right" in note.message  # 9^(1/3)
    found = gradient(parse("norm([x, y], 3) - abs(x)"), {"x": 0.0, "y": 0.0}, ["x"])
    assert found.gradient == {"x": 0.0} and not found.notes
    (note,) = gradient(parse("norm(relu(v), 3)"), {"v": np.zeros(2)}, ["v"]).notes  # nothing moves to the left
    assert "d/dv[0] is 0 from the left, 1 from the right" in note.message


def rotated(*eigenvalues: float) -> Any:
    """A symmetric matrix with these eigenvalues and no zeros."""
    v = np.arange(1.0, len(eigenvalues) + 1.0)
    q = np.eye(len(v)) - 2.0 / (v @ v) * np.outer(v, v)
    return q @ np.diag(eigenvalues) @ q.T


DEGENERATE = [np.eye(2), np.zeros((3, 3)), rotated(3.0, 1.0, 3.0), rotated(2.0, 5.0, 2.0, 5.0), rotated(1.0, 1.0, 1.0)]


@pytest.mark.parametrize("a", DEGENERATE, ids=lambda a: f"{len(a)} {np.round(a[0, 0], 2)}")
def test_symmetric_functions_of_equal_eigenvalues(a: Any) -> None:
    """Sums of powers of eigenvalues are traces of powers, which have no kink."""
    n, unit, s = len(a), np.eye(len(a)), (a + a.T) / 2
    pairs = np.einsum("ik,jl->ijkl", unit, unit)
    even = (pairs + pairs.transpose(0, 1, 3, 2)) / 2
    for text, first, second in [
        ("sum(eigvalsh(A))", unit, np.zeros((n, n, n, n))),
        ("sum(eigvalsh(A)^2)", 2 * s, 2 * even),
        ("sum(eigvalsh(A)^3)", 3 * s @ s, 3 * np.einsum("pqij,pr,rqkl->ijkl", even, s, even) * 2),
    ]:
        out = hessian(parse(text), {"A": a}, ["A"])
        np.testing.assert_allclose(out.gradient["A"], first, rtol=0, atol=1e-13)
        np.testing.assert_allclose(out.hessian["A"]["A"], second, rtol=0, atol=1e-13)
        assert not out.notes


def test_both_sides_of_equal_eigenvalues() -> None:
    out = gradient(parse("max(eigvalsh(A))"), {"A": np.eye(2)}, ["A"])
    assert "d/dA[0, 0] is 0 from the left, 1 from the right; 0.5 by convention" in out.notes[0].message
    out = gradient(parse("norm(eigvalsh(A))"), {"A": np.zeros((2, 2))}, ["A"])
    assert "d/dA[0, 0] is -1 from the left, 1 from the right; 0 by convention" in out.notes[0].message
    np.testing.assert_array_equal(out.gradient["A"], np.zeros((2, 2)))


def test_equal_eigenvalues_split_at_any_order() -> None:
    """The eigenvalues of [[0, t^3], [t^3, t^2]] are t^2/2 ± t^2·sqrt(1/4 + t^2)."""
    out = taylor(parse("eigvalsh([[0, t^3], [t^3, t^2]])"), {"t": 0.0}, "t", 6)
    np.testing.assert_allclose(
        out.derivatives, [[0, 0], [0, 0], [0, 1], [0, 0], [-1, 1], [0, 0], [1, -1]], rtol=0, atol=1e-13
    )
    assert not out.notes
    out = taylor(parse("sum(eigvalsh([[1, t], [t, 1 + t^2]])^3)"), {"t": 0.0}, "t", 5)
    np.testing.assert_allclose(out.derivatives, [2, 0, 9, 0, 6, 0], rtol=0, atol=1e-13)
    (note,) = taylor(parse("eigvalsh([[1, t], [t, 1 + t^2]])"), {"t": 0.0}, "t", 3).notes
    assert "d/dt is 1 from the left, -1 from the right" in note.message
