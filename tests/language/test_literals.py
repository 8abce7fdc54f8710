"""Numbers, constants, and the spellings of paper and telephone."""

from __future__ import annotations

import math
from typing import Any

import pytest

VALUES = [
    ("1", 1), ("1.5", 1.5), (".5", 0.5), ("2.", 2), ("1e-3", 1e-3), ("1E+3", 1000), ("1_000", 1000),
    ("1_0.2_5e1_0", 10.25e10),
    ("2.e3", 2000), ("0.1", 0.1), ("9007199254740993", 9007199254740992), ("5e-324", 5e-324), ("1e999", math.inf),
    ("1.7976931348623157e308", 1.7976931348623157e308), ("00012", 12),
    ("2^3^2", 512), ("-2^2", -4), ("2^-1", 0.5), ("2**-2**2", 2**-4), ("(-2)^2", 4), ("-2*-3", 6), ("2--3", 5),
    ("2-+-3", 5),
    ("7//2", 3), ("-7//2", -4), ("-7 % 3", 2), ("7 % -3", -2), ("2*3 % 4", 2), ("10/2/5", 1),
    ("1 if 0 else 2 if 0 else 3", 3),
    ("not 1 == 2", True), ("1 + 2 < 4", True), ("-x²", -9), ("x²", 9), ("x⁻¹", 1 / 3), ("2²³", 2**23), ("x²^2", 81),
    ("2^x²", 512),
    ("√x²", 3), ("√4*x", 6), ("√(x+1)", 2), ("-√4", -2), ("√√16", 2), ("2^√4", 4), ("6÷3×2·5⋅2", 40), ("5−3", 2),
    ("−x", -3),
    ("π - pi", 0), ("τ/π", 2), ("tau - 2*pi", 0), ("true", True), ("inf > 1e308", True), ("x³", 27), ("x⁺²", 9),
    ("(x)²", 9),
    ("f(t) = t²; f(x)²", 81), ("([x, 2]²)[0]", 9), ("λ = 2; λ*x", 6), ("наме = 4; наме", 4), ("変数 = 5; 変数", 5),
    ("_a1 = 6; _a1", 6), ("x2 = 7; x2", 7),
]  # fmt: skip


@pytest.mark.parametrize("text,expected", VALUES)
def test_values(value: Any, text: str, expected: float) -> None:
    found = value(text, x=3.0)
    assert found == pytest.approx(expected, rel=1e-15)
    assert isinstance(expected, bool) == isinstance(found, bool)


def test_nan_is_not_equal_to_itself(value: Any) -> None:
    assert math.isnan(value("nan"))


@pytest.mark.parametrize(
    "marked,said",
    [
        ("«1_»", "'1_'"), ("«1__0»", "'1__0'"), ("«0x10»", "'0x10'"), ("«1.2.3»", "'1.2.3'"), ("1«..»5", "range"),
        ("«2x»", "2*x"), ("«2(»x+1)", "2*(x+1)"), ("«x y»", "x*y"), ("«2 3»", "operator"), ("«2π»", "2*π"),
    ("«3sin»(x)", "3*sin(x)"),
        ("x«'»", "prime"), ("变 + «你 好»", "你*好"), ("x «\x00»", "U+0000"), ("«\u202e»x", "U+202E"), ("x «+»",
    "ends after '+'"),
        ("a = x «+»\n1", "the line ends after '+'"), ("sin(2)*(1«,» 2)", "comma"),
    ],
)  # fmt: skip
def test_what_is_no_number_or_product_shows_the_fix(error: Any, marked: str, said: str) -> None:
    found = error(marked, x=1.0)
    assert said in f"{found.message} {found.help}" and found.kind == "syntax" and found.status == 2


@pytest.mark.parametrize("text", ["", " ", "\n\n", "# comment", ";;", "\ufeff", "{}", "\x00"])
def test_texts_without_a_statement(error: Any, text: str) -> None:
    assert error(text).kind == "syntax"


def test_a_number_beyond_float64_is_noted(notes: Any) -> None:
    first, *_ = notes("x*0 + 1e999", x=1.0)
    assert (first.kind, first.span) == ("nonfinite", (6, 11))
