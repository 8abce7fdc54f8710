"""diff(expr, x[, n]): a value like others, by what the name is now, through all that was recorded."""

from __future__ import annotations

import math
from typing import Any

import pytest

sin, cos, exp = math.sin, math.cos, math.exp

VALUES = [
    ("diff(x^3, x)", 12), ("diff(x^3, x, 2)", 12), ("diff(x^3, x, 3)", 6), ("diff(x^3, x, 4)", 0),
    ("diff(x^3, x, 0)", 8),
    ("diff(x^9, x, 12)", 0), ("diff(y, x)", 0), ("diff(5, x)", 0), ("u = sin(x)*y; diff(diff(u, x), y)", cos(2)),
    ("u = sin(x); diff(diff(u, x), x) + u", 0), ("u = exp(x^2); diff(u, x, 2) - 2*u - 4*x^2*u", 0),
    ("y = x; for k in 1..3 { y = y*x }; diff(y, x)", 32), ("s = 0; for k in 1..3 { t = x^k; s += diff(t, x) }; s", 17),
    ("f(t) = t^3; diff(f(x), x)", 12), ("f(t) = diff(t^3, t); f(x)", 12), ("f(t) = diff(t^3, t); diff(f(x), x)", 12),
    ("f(t) { u = t^2; diff(u*u, u) }; f(x)", 8), ("x = x^2; diff(x^2, x)", 8), ("y = x^2; x = 5; diff(y, x)", 0),
    ("a = 2; b = a^3; diff(b, a)", 12), ("for k in 1..3 { z = diff(k^2, k) }; z", 6),
    ("y = 1; while y < 10 { y = y*x }; diff(y, x)", 32), ("diff(x if x > 0 else -x, x)", 1),
    ("diff([x, x^2], x)", [1, 4]), ("v = [x, 3]; diff(sum(v*v), v)", [4, 6]),
    ("v = [x, 3]; diff(v*v, v)", [[4, 0], [0, 6]]),
    ("v = [x, 3]; diff(sum(v^3), v, 2)", [[12, 0], [0, 18]]), ("v = [1, 2]; diff(x, v)", [0, 0]),
    ("f(n) = x if n == 0 else x*diff(f(n - 1), x); f(2)", 2),
    ("g(t) = t*sin(t); s = 0; for k in 1..2 { s += diff(g(x), x) }; s",
     2 * (sin(2) + 2 * cos(2))), ("diff(x^2, x) + diff(y^2, y)", 10), ("diff(x*diff(x*diff(x^3, x), x), x)", 27 * 4),
    ("diff(x^y, x, 2)", 6 * 2), ("d = diff(x^3, x); x = 7; d", 12), ("diff(exp(x), x, 30)", exp(2)),
]  # fmt: skip


@pytest.mark.parametrize("text,expected", VALUES)
def test_values(value: Any, text: str, expected: Any) -> None:
    found = value(text, x=2.0, y=3.0)
    if isinstance(expected, list):
        assert found == expected
    else:
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "text,expected",
    [
        ("diff(x^3, x)", {"x": 12}),
        ("u = sin(x); diff(diff(u, x), x) + u", {"x": 0}),
        ("g = diff(x^2*y, x); g^2", {"x": 144, "y": 96}),
        ("f(t) = diff(t^4, t); s = 0; for k in 1..3 { s += f(k*x) }; s", {"x": 12 * 4 * (1 + 8 + 27)}),
        ("if diff(x^2, x) > 3 { diff(x^3, x) } else { x }", {"x": 12}),
        ("v = [x, y]; sum(diff(sum(v^3), v))", {"x": 12, "y": 18}),
    ],
)
def test_it_can_be_differentiated_again(gradient: Any, text: str, expected: dict[str, float]) -> None:
    found = gradient(text, x=2.0, y=3.0)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_derivative_at_a_kink_inside_the_text_is_noted(notes: Any) -> None:
    assert "kink" in [note.kind for note in notes("diff(abs(x), x)", x=0.0)]
    assert notes("diff(x*abs(x), x)", x=1.0) == []
