"""What binds tighter: each text means the same as the one with all brackets written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SAME = [
    ("a + b * c", "a + (b * c)"),
    ("a * b + c", "(a * b) + c"),
    ("a - b - c", "(a - b) - c"),
    ("a / b / c", "(a / b) / c"),
    ("a - b + c", "(a - b) + c"),
    ("6/2*(1+2)", "(6/2)*(1+2)"),
    ("a // b * c % d @ e", "(((a // b) * c) % d) @ e"),
    ("-7 // 2", "(-7) // 2"),
    ("-a * b", "(-a) * b"),
    ("a * -b", "a * (-b)"),
    ("-a - -b", "(-a) - (-b)"),
    ("--a", "-(-a)"),
    ("+-a", "+(-a)"),
    ("-x^2", "-(x^2)"),
    ("-x**2", "-(x^2)"),
    ("2^-1", "2^(-1)"),
    ("2^-x^2", "2^(-(x^2))"),
    ("2^3^2", "2^(3^2)"),
    ("2**3**2", "2^(3^2)"),
    ("-2^-3^2", "-(2^(-(3^2)))"),
    ("a^b[0]", "a^(b[0])"),
    ("-v[0]", "-(v[0])"),
    ("−x²", "-(x^2)"),
    ("2x²".replace("2x", "2*x"), "2*(x^2)"),
    ("2^x²", "2^(x^2)"),
    ("x²^3", "(x^2)^3"),
    ("x¹⁰", "x^10"),
    ("x⁺²", "x^2"),
    ("√x²", "sqrt(x^2)"),
    ("√4*x", "sqrt(4)*x"),
    ("√4+x", "sqrt(4)+x"),
    ("√x^y", "sqrt(x^y)"),
    ("√√x", "sqrt(sqrt(x))"),
    ("-√x", "-(sqrt(x))"),
    ("2^√x", "2^(sqrt(x))"),
    ("√f(x)[0]", "sqrt((f(x))[0])"),
    ("a × b · c ⋅ d ÷ e − f", "a * b * c * d / e - f"),
    ("a ≤ b", "a <= b"),
    ("a ≥ b", "a >= b"),
    ("a ≠ b", "a != b"),
    ("a + b < c * d", "(a + b) < (c * d)"),
    ("not a == b", "not (a == b)"),
    ("not a and b", "(not a) and b"),
    ("not not a", "not (not a)"),
    ("a and b or c and d", "(a and b) or (c and d)"),
    ("a or b or c", "(a or b) or c"),
    ("a or b if c or d else e or f", "(a or b) if (c or d) else (e or f)"),
    ("a if b else c if d else e", "a if b else (c if d else e)"),
    ("1 if not 1 == 2 else 0", "1 if (not (1 == 2)) else 0"),
    ("y = a if b else c", "y = (a if b else c)"),
    ("(((x)))", "x"),
    ("1_000", "1000"),
    ("1e3", "1000.0"),
    (".5", "0.5"),
    ("2.", "2"),
]


@pytest.mark.parametrize(("text", "brackets"), SAME)
def test_same_program(text: str, brackets: str, code: Callable[[str], Any]) -> None:
    assert code(text) == code(brackets)


def test_brackets_break_a_chain(code: Callable[[str], Any]) -> None:
    assert code("a < b < c") != code("(a < b) < c")
    assert code("(a < b) < c") == [
        ("LOAD", "a"),
        ("LOAD", "b"),
        ("APPLY", ("lt", 2)),
        ("LOAD", "c"),
        ("APPLY", ("lt", 2)),
        ("KEEP", None),
        ("END", None),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        ("1e999", float("inf")),
        ("1_0.2_5e1_0", 10.25e10),
        ("1e-3", 1e-3),
        ("1E+3", 1e3),
        ("5e-324", 5e-324),
    ],
)
def test_numbers_are_exact(text: str, value: float, code: Callable[[str], Any]) -> None:
    assert code(text)[0] == ("CONST", value)
