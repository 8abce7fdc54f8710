"""Kinks and jumps, by every command that differentiates, first and higher orders."""

from __future__ import annotations

import json
from typing import Any

import pytest


def answer(do: Any, *words: str) -> tuple[Any, list[str]]:
    """The JSON answer and the messages of its notes."""
    done = do(*words, "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    return found, [note["message"] for note in found.get("notes", [])]


@pytest.mark.parametrize(
    ("text", "at", "slope", "sides"),
    [
        ("sign(x)*x", 0, 0, ("-1", "1")),
        ("floor(x)*(x-2)", 2, 2, ("1", "2")),
        ("frac(x)*floor(x)", 2, 2, ("-inf", "2")),
        ("sqrt(abs(x))", 0, "NaN", ("-inf", "inf")),
    ],
)
def test_a_jump_times_zero(do: Any, text: str, at: int, slope: Any, sides: tuple[str, str]) -> None:
    """It is a kink, though the jump itself gets the cotangent 0; all commands agree about it."""
    left, right = sides
    told = f"d/dx is {left} from the left, {right} from the right"
    for words, key in (
        (("grad", text), "gradient"),
        (("diff", text), "derivatives"),
        (("jac", f"[{text}, x, 1]"), "jacobian"),
        (("jvp", text, "--dir", "x=1"), "jvp"),
        (("hess", text), "gradient"),
    ):
        found, notes = answer(do, *words, f"x={at}")
        first = found[key]
        while isinstance(first, list | dict):
            first = first["x"] if isinstance(first, dict) else first[0]
        assert first == slope, words
        assert any(told in note for note in notes), (words, notes)


@pytest.mark.parametrize("text", ["0*sign(x) + x", "sign(x)*x^2 + x", "where(x > 1, sign(x), x)"])
def test_a_jump_that_does_not_show(do: Any, text: str) -> None:
    found, notes = answer(do, "grad", text, "x=0")
    assert (found["gradient"], notes) == ({"x": 1}, [])


@pytest.mark.parametrize("text", ["relu(x)", "max(x, 1)", "min(1, x)", "clip(x, 0, 1)", "clip(0, x, 1)"])
def test_nan_has_no_derivative(do: Any, text: str) -> None:
    found, notes = answer(do, "grad", text, "x=nan")
    assert (found["gradient"], notes) == ({"x": "NaN"}, [])


@pytest.mark.parametrize(
    ("text", "order", "derivatives", "told"),
    [
        ("x*abs(x)", 2, [0, 0], "'abs(x)' has a kink at 0: d2/dx2 is -2 from the left, 2 from the right; 0 by"),
        ("relu(x)^2 + x", 3, [1, 0, 0], "d2/dx2 is 0 from the left, 2 from the right; 0 by convention"),
        ("abs(x)^3", 3, [0, 0, 0], "d3/dx3 is -6 from the left, 6 from the right; 0 by convention"),
        ("relu(x) - relu(-x)", 3, [1, 0, 0], ""),
        ("[abs(x), x^2]", 2, [[0, 0], [0, 2]], "d/dx is -1 from the left, 1 from the right; 0 by convention"),
        ("elu(x, 2)", 3, [2, 2, 2], "d/dx is 2 from the left, 1 from the right; 2 by convention"),
    ],
)
def test_orders_at_kinks(do: Any, text: str, order: int, derivatives: list[Any], told: str) -> None:
    """The order that the two sides do not share is named; the lower ones are theirs."""
    found, notes = answer(do, "diff", text, "x=0", "--order", str(order))
    assert found["derivatives"] == derivatives
    assert (told in notes[0]) if told else not notes


def test_many_orders_at_a_kink(do: Any) -> None:
    """The work grows as the square of the order."""
    found, notes = answer(do, "diff", "abs(sin(x))*exp(x) + sin(x)", "x=0", "--order", "60")
    assert found["derivatives"][:5] == [1, 0, -1, 0, 1]
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("text", "hessian", "told"),
    [
        ("x*abs(x)", 0, "d2/dx2 is -2 from the left, 2 from the right; 0 by convention"),
        ("relu(x)^2", 0, "d2/dx2 is 0 from the left, 2 from the right; 0 by convention"),
        ("clip(x, 0, 1)*x", 2, "d2/dx2 is 0 from the left, 2 from the right; 2 by convention"),
        ("hypot(x, 0)^2", 0, "d2/dx2 is 2 from the left, 2 from the right; 0 by convention"),
        ("abs(x)", 0, "d/dx is -1 from the left, 1 from the right; 0 by convention"),
        ("relu(x)^3", 0, ""),
        ("x^1.5", "Infinity", "the second derivative of 'x^1.5' is infinite at 0"),
    ],
)
def test_second_derivatives_at_kinks(do: Any, text: str, hessian: Any, told: str) -> None:
    found, notes = answer(do, "hess", text, "x=0")
    assert found["hessian"] == {"x": {"x": hessian}}
    assert (told in notes[0]) if told else not notes


@pytest.mark.parametrize(
    ("text", "derivatives", "told"),
    [
        ("sqrt(x)", ["Infinity", "-Infinity", "Infinity"], "the derivative of 'sqrt(x)' is infinite at 0"),
        ("x^1.5", [0, "Infinity", "-Infinity"], "the second derivative of 'x^1.5' is not finite at 0, 1.5"),
        ("sqrt(x)^3", [0, "NaN", "NaN"], "the derivative of 'sqrt(x)' is not finite at 0"),
    ],
)
def test_infinite_orders(do: Any, text: str, derivatives: list[Any], told: str) -> None:
    """The first derivative is that of grad, and what is not finite is noted."""
    found, notes = answer(do, "diff", text, "x=0", "--order", "3")
    assert (found["derivatives"], notes) == (derivatives, [told])


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("text", ["abs(x)", "max(x, 2*x)", "relu(x) - relu(-x)", "norm([x, x])", "min(x, x^2)"])
def test_conventions_in_a_tall_jacobian(do: Any, text: str, library: str) -> None:
    slope = answer(do, "grad", text, "x=0", "--convention", library)[0]["gradient"]["x"]
    found, _ = answer(do, "jac", f"[{text}, x, 1]", "x=0", "--convention", library)
    assert found["jacobian"]["x"] == [slope, 1, 0]


def test_a_root_of_a_zero_of_high_order(do: Any) -> None:
    """x^2*sqrt(1 + x^2) and x^4*sqrt(1 + x^2): the root uses up as many orders as it starts at."""
    for text, wanted in (("sqrt(x^4 + x^6)", [0, 2, 0, 12, 0, -90]), ("sqrt(x^8 + x^10)", [0, 0, 0, 24, 0, 360])):
        found, _ = answer(do, "diff", text, "--order", "6", "x=0")
        assert found["derivatives"] == wanted, text


def test_a_side_without_values_has_no_derivative(do: Any) -> None:
    found, notes = answer(do, "grad", "x^x", "x=0")
    assert found["gradient"] == {"x": 0}
    assert ["d/dx is nan from the left, -inf from the right" in note for note in notes] == [True]


def test_a_kink_that_sums_do_not_show(do: Any) -> None:
    """The sum of softmax is 1 whatever happens: ones as the cotangent would not reach the kink."""
    for words in (("jac",), ("jvp", "--dir", "v=[1, 2]")):
        _, notes = answer(do, *words, "softmax(abs(v))", "--at", "v=[0, 0]")
        assert ["d/dv[0] is -0.25 from the left, 0.25 from the right" in note for note in notes] == [True]


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("mod(x+2, x)", "-1", "inf"),
        ("fmod(x+2, x)", "-1", "inf"),
        ("(x+2)//x", "0", "-inf"),
        ("mod(x, 2)", "-inf", "1"),
        ("1e-30*floor(x)", "inf", "0"),
    ],
)
def test_jumps_of_quotients(do: Any, text: str, left: str, right: str) -> None:
    """Both operands may move: what counts is where the quotient goes. A small jump is one too."""
    for command in ("grad", "diff"):
        _, notes = answer(do, command, text, "x=2")
        assert [f"d/dx is {left} from the left, {right} from the right" in note for note in notes] == [True]


def test_a_kink_of_second_order(do: Any) -> None:
    assert answer(do, "grad", "softsign(x)", "x=0")[1] == []
    for words in (("hess",), ("diff", "--order", "2")):
        found, notes = answer(do, *words, "softsign(x)", "x=0")
        assert found.get("derivatives", [1, 0]) == [1, 0] and abs(found.get("hessian", {"x": {"x": 0}})["x"]["x"]) == 0
        assert ["d2/dx2 is 2 from the left, -2 from the right" in note for note in notes] == [True]
