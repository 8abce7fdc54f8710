"""Bindings, blocks, branches, loops, functions: what they mean, for the value and for the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

VALUES = [
    # The result: the last expression statement, or the name that the last statement binds.
    ("1; 2", 2), ("a = 3", 3), ("a = 3;", 3), ("1\n\n2\n", 2), ("a = 2; a; b = 5", 5), ("a = 2; a += 3", 5),
    ("if true { 7 }", 7), ("if false { 7 } else { 8 }", 8), ("if false { 1 } else if true { 2 } else { 3 }", 2),
    ("if true { a = 4 }", 4), ("if true { 1; 2 }", 2), ("5; for k in 1..2 { k }", 5),
    # Separators.
    ("a = 1; ; ;; b = 2; a + b", 3), ("if true { 1 } 2", 2), ("if true { 1 }; 2", 2), ("if true { 1 }\n2", 2),
    ("if false { 1 }\nelse { 2 }", 2), ("if false {\n1\n}\n\nelse {\n2\n}", 2), ("a = 1 # b = 2", 1),
    ("a = (1\n+\n2)\na", 3), ("a = [1,\n2][\n1\n]\na", 2), ("max(1,\n2,\n)", 2), ("a = 1\r\nb = 2\r\na + b", 3),
    ("a = 1\rb = 2\ra + b", 3), ("f(t) {\n# c\nt\n}\nf(2)", 2), ("\ufeff1", 1), ("\t1\u00a0+\u00a01\t", 2),
    # Compound assignment.
    ("a = 7; a += 2; a", 9), ("a = 7; a -= 2; a", 5), ("a = 7; a *= 2; a", 14), ("a = 7; a /= 2; a", 3.5),
    ("a = 7; a //= 2; a", 3), ("a = -7; a %= 3; a", 2), ("a = 7; a ^= 2; a", 49), ("a = 7; a **= 2; a", 49),
    ("a = 2; a *= 3 + 4; a", 14), ("a = 7; a −= 2; a", 5), ("a = 7; a ×= 2; a", 14), ("a = 7; a ÷= 2; a", 3.5),
    # Loops.
    ("y = 0; for k in 1..4 { y = 10*y + k }; y", 1234), ("y = 0; for k in 5..1 { y = 1 }; y", 0),
    ("y = 0; for k in 10..1 by -3 { y = 100*y + k }; y", 10070401), ("y = 0; for k in 1..1 { y += k }; y", 1),
    ("y = 0; for k in 0..1 by 0.1 { y += 1 }; y", 11), ("y = 0; for k in 0.5..2.9 { y += k }; y", 0.5 + 1.5 + 2.5),
    ("y = 0; for k in 1..3 { k = 10*k; y += k }; y", 60), ("for k in 1..3 { }; k", 3),
    ("y = 0; for v in [3, 1, 2] { y = 10*y + v }; y", 312), ("y = 0; for r in [[1, 2], [3, 4]] { y += r[1] }; y", 6),
    ("y = 0; for v in [] { y = 1 }; y", 0), ("n = 3; y = 0; for k in 1..n { n = 9; y += 1 }; y", 3),
    ("y = 0; for k in 1..9 { if k == 3 { continue }; if k > 5 { break }; y = 10*y + k }; y", 1245),
    ("y = 0; for i in 1..3 { for j in 1..3 { if j > i { break }; y += 1 } }; y", 6),
    ("y = 1; while y < 100 { y = 3*y }; y", 243), ("y = 0; while true { y += 1; if y == 7 { break } }; y", 7),
    ("y = 0; while y < 5 { y += 1; continue; y = 100 }; y", 5), ("y = 3; while false { y = 4 }; y", 3),
    ("y = 0; by = 2; in = 3; for k in in..9 by by { y = 10*y + k }; y", 3579),
    # Functions.
    ("f(t) = t^2 + 1; f(3)", 10), ("f(t) { u = t + 1; u * u }; f(2)", 9), ("f() = 4; f()", 4),
    ("f(a, b,) = a - b; f(5, 3)", 2), ("f(n) = 1 if n <= 1 else n*f(n - 1); f(10)", 3628800),
    ("f(n) = n if n < 2 else f(n - 1) + f(n - 2); f(12)", 144),
    ("even(n) = 1 if n == 0 else odd(n - 1)\nodd(n) = 0 if n == 0 else even(n - 1)\neven(11)", 0),
    ("a = 1; f(t) = a + t; a = 10; f(1)", 11), ("a = 1; f(t) { a = t; a }; f(5) + a", 6),
    ("f(t) { if t > 0 { t } else { -t } }; f(-3) + f(4)", 7), ("f(t) { t = 2*t; t }; t = 5; f(1) + t", 7),
    ("f(t) { for k in 1..3 { t = 2*t }; t }; f(1)", 8), ("f(t) = 2*t; f(t) = 3*t; f(1)", 3),
    ("f(sin) = sin + 1; f(2)", 3), ("f(pi) = 2*pi; f(3)", 6), ("y = 0; for e in 1..3 { y += e }; y", 6),
    ("f(n) = 0 if n == 0 else f(n - 1); f(30000)", 0), ("f(v) = v[0]; f([7, 8])", 7),
]  # fmt: skip


@pytest.mark.parametrize("text,expected", VALUES)
def test_values(value: Any, text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "text,at,expected",
    [
        ("x = x*x; x = x*x; x", {"x": 2.0}, {"x": 32}),  # the gradient goes to the original input
        ("x += 1; x*y", {"x": 2.0, "y": 5.0}, {"x": 5, "y": 3}),
        ("y = x; while y < 100 { y = y*y }; y", {"x": 3.0}, {"x": 8 * 3.0**7}),
        ("y = x; while y < 100 { y = y*y }; y", {"x": 11.0}, {"x": 22}),
        ("y = 1; for k in 1..5 { y = y*x/k }; y", {"x": 2.0}, {"x": 16 / 24}),
        ("f(n) = x if n == 0 else x*f(n - 1); f(4)", {"x": 2.0}, {"x": 80}),
        ("x if x > 0 else sqrt(x)", {"x": 3.0}, {"x": 1}),
        ("if x > 0 { y = x^2 } else { y = log(-1) }; y", {"x": 3.0}, {"x": 6}),
        ("f(t) { x = t; x }; f(5) + x", {"x": 1.0}, {"x": 1}),
        ("s = 0; for v in [x, 2*x, x^2] { s += v^2 }; s", {"x": 1.0}, {"x": 2 + 8 + 4}),
        ("s = 0; for r in A { s += r[0]*r[1] }; s", {"A": np.array([[1.0, 2], [3, 4]])}, {"A": [[2, 1], [4, 3]]}),
        ("a = x; b = 3; b", {"x": 1.0}, {"x": 0}),
    ],
)
def test_gradients(gradient: Any, text: str, at: dict[str, Any], expected: dict[str, Any]) -> None:
    found = gradient(text, **at)
    assert list(found) == list(expected)
    for name, g in expected.items():
        assert found[name] == pytest.approx(g) if not isinstance(g, list) else found[name] == g


def test_inputs_are_free_names_in_order(gradient: Any) -> None:
    assert list(gradient("b + a*c; a + b", a=1.0, b=1.0, c=1.0)) == ["b", "a", "c"]
    assert list(gradient("f(t) = t + k; z + f(y)", k=1.0, z=1.0, y=1.0)) == ["k", "z", "y"]


def test_a_bound_name_wins_over_a_constant(value: Any, gradient: Any) -> None:
    assert value("2*pi", pi=3.0) == 6
    assert value("gamma*x + beta", gamma=1.0, beta=2.0, x=5.0) == 7
    assert value("sin(sin)", sin=0.0) == 0
    assert gradient("e = e + 1; e^2", e=1.0) == {"e": 4}


UNUSED = [
    ("y = x\n+ 1", ["y"]), ("y = x; y", []), ("y = x", []), ("a = 1; b = 2; x", ["a", "b"]), ("_ = x; x", ["_"]),
    ("for k in 1..3 { y = x }; x", ["y"]), ("for k in 1..3 { }; x", []), ("y = x; for k in 1..2 { y = 2*y }; y", []),
    ("f(t) { u = t; t }; f(x)", ["u"]), ("y = x; f(t) = y + t; f(x)", []), ("if x > 0 { y = 1 }; x", ["y"]),
    ("y = x; y = 3*y; x", ["y"]),
]  # fmt: skip


@pytest.mark.parametrize("text,names", UNUSED)
def test_bindings_that_nothing_uses_are_noted(notes: Any, text: str, names: list[str]) -> None:
    found = [note for note in notes(text, x=1.0) if note.kind == "unused"]
    assert [text[slice(*note.span)] for note in found] == names
