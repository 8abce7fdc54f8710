"""Errors and notes: the words, the place, and nothing that a terminal would obey."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff.errors import NameProblem, Note, RequestError, SyntaxProblem
from autodiff.render.diagnostic import error_json, error_text, note_text
from autodiff.render.terminal import width


def shown(source: str, start: int, end: int, **options: int) -> list[str]:
    return error_text(SyntaxProblem("bad", (start, end)), source, **options).split("\n")


def test_error() -> None:
    error = NameProblem("unknown name 'sine'", (4, 8), "did you mean 'sin'?", source="3 + sine(x)")
    assert error_text(error) == (
        "error: unknown name 'sine' (line 1, column 5)\n  3 + sine(x)\n      ^^^^\nhelp: did you mean 'sin'?"
    )


def test_without_a_place() -> None:
    assert error_text(RequestError("no such file: 'a'")) == "error: no such file: 'a'"
    assert error_text(RequestError("m", (0, 1))) == "error: m"


def test_note_with_count() -> None:
    note = Note("kink", "abs has a kink at 0", (0, 6), 3)
    assert note_text(note, "abs(x)") == ("note: abs has a kink at 0 (line 1, column 1) (3 times)\n  abs(x)\n  ^^^^^^")


@pytest.mark.parametrize(
    ("source", "span", "lines"),
    [
        ("a\nb + (\nc", (6, 7), ["error: bad (line 2, column 5)", "  b + (", "      ^"]),
        ("a\nb + (\nc", (6, 9), ["error: bad (line 2, column 5)", "  b + (", "      ^"]),
        ("x +", (3, 3), ["error: bad (line 1, column 4)", "  x +", "     ^"]),
        ("x +\n\n ", (6, 6), ["error: bad (line 1, column 4)", "  x +", "     ^"]),
        ("x + \r\ny", (2, 9), ["error: bad (line 1, column 3)", "  x +", "    ^^"]),
        ("x", (5, 9), ["error: bad (line 1, column 2)", "  x", "   ^"]),
        ("", (0, 0), ["error: bad (line 1, column 1)"]),
        ("1 +\t@", (4, 5), ["error: bad (line 1, column 5)", "  1 +    @", "         ^"]),
        ("漢 + 字字", (4, 6), ["error: bad (line 1, column 5)", "  漢 + 字字", "       ^^^^"]),
        ("e\u0301 + z", (5, 6), ["error: bad (line 1, column 6)", "  e\u0301 + z", "      ^"]),
        ("1 \xa0+", (3, 4), ["error: bad (line 1, column 4)", "  1  +", "     ^"]),
        ("1\x1b[31m+", (6, 7), ["error: bad (line 1, column 7)", "  1\\x1b[31m+", "           ^"]),
        ("\u202ex", (1, 2), ["error: bad (line 1, column 2)", "  \\u202ex", "        ^"]),
    ],
)
def test_place(source: str, span: tuple[int, int], lines: list[str]) -> None:
    assert shown(source, *span) == lines


def test_markup_is_literal() -> None:
    assert error_text(RequestError("error in [x, y]*2 [/a]")) == "error: error in [x, y]*2 [/a]"


def test_message_stays_on_its_line() -> None:
    assert error_text(RequestError("a\nb\x07", help="c\r\n")) == "error: a\\nb\\x07\nhelp: c\\r\\n"


@pytest.mark.parametrize("place", [0, 5, 150, 295, 300])
def test_long_lines_are_cut(place: int) -> None:
    source = "".join(chr(ord("a") + at % 26) for at in range(300))
    _, line, carets = shown(source, place, place + 1)
    assert max(len(line), len(carets)) <= 100
    assert line[carets.index("^") :][:1] == source[place : place + 1]
    assert line.startswith("  …") == (place > 5) and line.endswith("…") == (place < 295)


def test_long_line_in_ascii() -> None:
    lines = error_text(SyntaxProblem("π", (200, 201)), "π" * 400, ascii=True).split("\n")
    assert lines[0] == "error: \\u03c0 (line 1, column 201)"
    assert all(line.isascii() for line in lines) and "..." in lines[1]
    assert lines[1][lines[2].index("^") :].startswith("\\u03c0") and lines[2].count("^") == 6


def test_a_very_long_line_takes_no_time() -> None:
    start = time.process_time()
    shown("+".join("x" * 500_000), 500_000, 500_001)
    assert time.process_time() - start < 5


def test_colour() -> None:
    coloured = error_text(SyntaxProblem("bad", (0, 1), "fix"), "x", colour=True)
    assert coloured == (
        "\x1b[1;31merror:\x1b[0m bad (line 1, column 1)\n  x\n  \x1b[1;31m^\x1b[0m\n\x1b[1;36mhelp:\x1b[0m fix"
    )


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 20), st.booleans())
def test_any_text(source: str, start: int, length: int, ascii: bool) -> None:
    lines = error_text(SyntaxProblem(source, (start, start + length)), source, ascii=ascii).split("\n")
    assert len(lines) in (1, 3)
    assert all(line.isprintable() for line in lines)
    if len(lines) == 3:
        assert width(lines[1]) <= 100 and len(lines[2]) <= 110
        assert set(lines[2]) <= {" ", "^"} and "^" in lines[2]
    if ascii:
        assert all(line.isascii() for line in lines)


def test_json() -> None:
    error = NameProblem("unknown 'ü\x1b'", (4, 8))
    assert error_json(error) == (
        '{"error": {"kind": "name", "message": "unknown \'\\u00fc\\u001b\'", "span": [4, 8], "help": null}}'
    )
    assert json.loads(error_json(error))["error"]["message"] == "unknown 'ü\x1b'"
