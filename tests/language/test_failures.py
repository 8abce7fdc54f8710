"""Mistakes that only running finds: what is said, and where. The part between « » is what the span covers."""

from __future__ import annotations

from typing import Any

import pytest

MISTAKES = [
    # Names.
    ("3 + «sine»(2)", "unknown name 'sine'", "did you mean 'sin'", 2),
    ("«sin»", "'sin' is a function", "sin(x)", 2),
    ("f(t) = t; «f»", "'f' is a function", "f(x)", 2),
    ("f = 3; «f»(2)", "'f' is a value", "f*(", 2),
    ("«g»(2)", "unknown name 'g'", None, 2),
    ("«pi» = 3; pi", "'pi' is a constant", None, 2),
    ("«sin» = 3; sin", "'sin' is a function", None, 2),
    ("«e» += 1; e", "'e' is a constant", None, 2),
    ("«sin»(t) = t; sin(1)", "built-in function", None, 2),
    ("«pi»(t) = t; pi(1)", "'pi' is a constant", None, 2),
    ("1 + «a»", "no value for 'a'", "--at a=", 2),
    ("«a» + b*a", "no values for 'a', 'b'", "--at a=…,b=…", 2),
    ("«y» += 1", "no value for 'y'", None, 2),
    ("f(t) { u = t; u }; f(2) + «u»", "no value for 'u'", None, 2),
    ("if false { y = 1 }; «y»", "'y'", None, 1),
    ("for k in 5..1 { }; «k»", "'k'", None, 1),
    ("«f(1)»; f(t) = t", "before", None, 1),
    ("3 + «sine»(x)", "unknown name 'sine'", "did you mean 'sin'", 2),  # no value for x would help
    # Calls.
    ("«sin()»", "sin takes 1 argument, not 0", "sin(x)", 2),
    ("«sin(1, 2)»", "sin takes 1 argument, not 2", None, 2),
    ("«max()»", "max takes at least 1 argument, not 0", "max(a, b", 2),
    ("«atan2(1)»", "atan2 takes 2 arguments, not 1", None, 2),
    ("«where(1, 2)»", "takes 3 arguments, not 2", None, 2),
    ("«sum([1], foo=3)»", "no argument 'foo'", "axis", 2),
    ("f(t) = t; «f(1, 2)»", "'f' takes 1 argument, not 2", None, 2),
    ("f(t) = t; «f(t=1)»", "'f' takes no keyword", None, 2),
    # Shapes.
    ("1 + «[1, 2] * [1, 2, 3]»", "shapes (2,) and (3,)", None, 1),
    ("«[[1, 2], [3, 4]] @ [1, 2, 3]»", "shapes (2, 2) and (3,)", None, 1),
    ("«dot([1, 2], [1, 2, 3])»", "shapes (2,) and (3,)", None, 1),
    ("«hypot([1, 2], [1, 2, 3])»", "shapes (2,) and (3,)", None, 1),
    ("«where([1, 0], [1, 2, 3], 0)»", "shapes (2,) and (3,)", None, 1),
    ("«[1, 2] < [1, 2, 3]»", "shapes (2,) and (3,)", None, 1),
    ("«[1, 2] and [1, 2, 3]»", "shapes (2,) and (3,)", None, 1),
    ("«[[1, 2], [3]]»", "shapes (2,) and (1,)", None, 1),
    ("«[1, [2]]»", "shapes () and (1,)", None, 1),
    ("«reshape([1, 2, 3], 2, 2)»", "(3,)", None, 1),
    ("«stack([1], [1, 2])»", "(1,) and (2,)", None, 1),
    ("«concat([1], [[1]])»", "(1,) and (1, 1)", None, 1),
    ("«sum([1, 2], axis=1)»", "axis 1", None, 1),
    ("«sum([1, 2], axis=0.5)»", "axis must be a whole number, not 0.5", None, 1),
    ("«det([[1, 2, 3], [4, 5, 6]])»", "(2, 3)", None, 1),
    ("«inv([[1, 2], [2, 4]])»", "ingular", None, 1),
    ("«solve([[1, 0], [0, 1]], [1, 2, 3])»", "(2, 2) and (3,)", None, 1),
    ("«solve([1, 2], [1, 2])»", "square matrix", None, 1),
    ("«det([1])»", "square matrix", None, 1),
    ("«max([])»", "max of no entries", None, 1),
    ("«min(zeros(2, 0), axis=1)»", "min of no entries", None, 1),
    ("«cross([1, 2], [3, 4])»", "(2,)", None, 1),
    # Indices.
    ("«[1, 2][2]»", "index 2 is out of range: axis 0 has length 2", None, 1),
    ("«[1, 2][-3]»", "index -3", None, 1),
    ("«[[1, 2]][0, 2]»", "axis 1 has length 2", None, 1),
    ("«[1, 2][0, 0]»", "2 indices for an array of shape (2,)", None, 1),
    ("«[1, 2][0.5]»", "whole number, not 0.5", None, 1),
    ("«[1, 2][nan]»", "whole number, not nan", None, 1),
    ("«[1, 2][1e300]»", "index 1e+300", None, 1),
    ("«[1, 2][[0, 2]]»", "index 2", None, 1),
    ("«5[0]»", "no entries", None, 1),
    ("«[1, 2][::0]»", "step", None, 1),
    # Conditions and ranges.
    ("if «[1, 2]» { 1 }", "shape (2,)", "where", 1),
    ("1 if «[1, 2]» else 2", "shape (2,)", "where", 1),
    ("while «[1, 2]» { }; 1", "shape (2,)", "where", 1),
    ("for v in «3» { }; 1", "wants an array or a range", None, 1),
    ("for k in «[1]..3» { }; 1", "shape (1,)", None, 1),
    ("for k in «1..inf» { }; 1", "inf has no end", None, 1),
    ("for k in «1..nan» { }; 1", "nan has no end", None, 1),
    ("for k in «1..3 by 0» { }; 1", "step 0", None, 1),
    # Sizes.
    ("«zeros(1e12)»", "GiB", None, 1),
    ("«arange(0, 1, 1e-12)»", "GiB", None, 1),
    ("«zeros(-1)»", "negative", None, 1),
    ("«zeros(2.5)»", "whole number, not 2.5", None, 1),
    ("«" + "[" * 65 + "1" + "]" * 65 + "»", "64 dimensions", None, 1),
    # Derivatives.
    ("a = 1; «diff(a, a, -1)»", "negative", None, 1),
    ("a = 1; «diff(a, a, 1.5)»", "whole number, not 1.5", None, 1),
]  # fmt: skip


@pytest.mark.parametrize("marked,said,help,status", MISTAKES)
def test_message_span_help_and_status(error: Any, marked: str, said: str, help: str | None, status: int) -> None:
    found = error(marked)
    assert said in found.message and found.status == status
    assert help is None or help in (found.help or "")
    assert "\n" not in found.message and len(found.message) < 200


def test_extra_names_are_told_together_with_missing_ones(error: Any) -> None:
    found = error("2*«x»*y", X=1.0)
    assert all(name in found.message for name in ("'x'", "'y'", "'X'"))
    assert "--at x=…,y=…" in found.help and "did you mean 'x'?" in found.help


@pytest.mark.parametrize(
    "text",
    [
        "while true { }", "y = 0; while true { y = y + 1 }; y", "y = 0; for k in 1..1e300 { y = k }; y",
        "y = 0; for k in 1..2^53 by 1e-300 { y = k }; y", "for k in -1e308..1e308 { }; 1",
        "f(t) = f(t + 1); f(1)", "f(t) = g(t); g(t) = f(t); f(1)", "y = 0; while true { for k in 1..3 { y += k } }; y",
        "f(n) = f(n - 1) + f(n - 1); f(0)", "a = 1; diff(exp(a), a, 1e9)", "while true { continue }; 1",
        "y = 1; while y > 0 { if true { y = 2 } else { break } }; y",
    ],
)  # fmt: skip
def test_what_does_not_end_is_stopped(error: Any, text: str) -> None:
    found = error(text)
    assert found.status == 1 and found.kind == "limit" and found.span is not None
    assert "100000 operations" in found.message or "without end" in found.message


def test_runaway_recursion_ends_without_a_bound_on_operations(error: Any) -> None:
    found = error("f(t) = «f(t + 1)»; f(1)", max_ops=50_000_000)
    assert found.status == 1 and "'f' calls itself without end" in found.message


@pytest.mark.parametrize("text", ["mean([])", "var([])", "std(zeros(0))", "log(-ones(2))[0]", "var([1], ddof=1)"])
def test_a_nan_of_arrays_that_functions_made_is_noted(text: str, notes: Any) -> None:
    (note,) = notes(text)
    assert note.kind == "domain" and text[slice(*note.span)] == text.removesuffix("[0]")
