"""The default note on lost digits: where it is due, which place it names, and where it must not come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autodiff.cli import run
from autodiff.commands.line import read
from autodiff.commands.request import Request
from autodiff.errors import Note

CASES = Path(__file__).parent.parent / "cases"


def noted(text: str, *at: str, command: str = "grad") -> list[Note]:
    request = Request(read([command, text, *(word for entry in at for word in ("--at", entry))]))
    out = request.at.value() if command == "eval" else request.at.grad(request.wrt())
    return [note for note in out.notes if note.kind == "cancellation"]


def place(text: str, note: Note) -> str:
    assert note.span is not None
    return text[slice(*note.span)]


@pytest.mark.parametrize(
    ("text", "at", "named", "message", "help"),
    [
        ("(1-cos(x))/x^2", "x=1e-8", "1-cos(x)", "no digit of the value and d/dx is right", "2*sin(x/2)^2"),
        ("exp(x) - 1", "x=3e-15", "exp(x) - 1", "about 1 digit of the value is right", "expm1(x)"),
        ("log(1 + x)", "x=1e-17", "log(1 + x)", "no digit of the value is right", "log1p(x)"),
        ("log(1 + exp(x))", "x=-40", "log(1 + exp(x))", "no digit of the value is right", "softplus(x)"),
        ("sqrt(x^2 + y^2)", "x=1e-200,y=1e-200", "sqrt(x^2 + y^2)", "no digit of the value is right", "hypot(x, y)"),
        ("sin(x)/x", "x=1e-7", "sin(x)/x", "about 2 digits of d/dx are right", "sinc(x/pi)"),
        ("1 - erf(x)", "x=10", "1 - erf(x)", "no digit of the value is right", "erfc(x)"),
        ("log(1 - x)", "x=1e-20", "log(1 - x)", "no digit of the value is right", "log1p(-x)"),
        ("sqrt(x+1) - sqrt(x)", "x=1e16", "sqrt(x+1) - sqrt(x)", "no digit of the value and d/dx is right", "5e-09"),
        ("sin(x)", "x=1", "", "", ""),
        ("1e16*sin(x + 1e16)", "x=1", "sin(x + 1e16)", "", ""),
        ("sum([x, 1e17, 1, -1e17])", "x=1", "sum([x, 1e17, 1, -1e17])", "no digit of the value is right", "value 2"),
        ("y = x + 1e16; z = y - 1e16; z*x", "x=1.5", "y - 1e16", "", ""),
    ],
)
def test_the_operation_is_named(text: str, at: str, named: str, message: str, help: str) -> None:
    found = noted(text, at)
    if not named:
        assert not found
        return
    (note,) = found
    assert note.kind == "cancellation"
    assert place(text, note) == named
    assert message in note.message
    assert help in (note.help or "")


def test_the_exact_answer_is_told() -> None:
    (note,) = noted("(1-cos(x))/x^2", "x=1e-8")
    assert "the value 0.5, d/dx -8.33333e-10" in (note.help or "")


@pytest.mark.parametrize(
    ("text", "at", "verb"),
    [
        ("x^2*1e200", "x=1e-200", "underflows"),
        ("log(1 + x)", "x=1e-17", "magnifies"),
        ("x + 1 - 1", "x=1e-17", "cancels"),
    ],
)
def test_what_happened_is_named(text: str, at: str, verb: str) -> None:
    """A function that is 0 at its operand does not underflow there."""
    (note,) = noted(text, at, command="eval")
    assert f"' {verb}" in note.message


def test_derivatives_alone_may_lose_digits() -> None:
    (note,) = noted("(exp(x)-exp(-x))/(exp(x)+exp(-x))", "x=20")
    assert note.message.startswith("the derivative of ")
    assert "no digit of d/dx is right" in note.message
    assert "write tanh(x)" in (note.help or "")


def test_eval_is_noted_too() -> None:
    (note,) = noted("(1-cos(1e-8))/1e-16", command="eval")
    assert "no digit of the value is right" in note.message


def test_twenty_operations_and_one_of_them_cancels() -> None:
    text = "a = sin(x)*exp(y) + x^2*y - 3*x; b = cos(x*y) + sqrt(x + 2); (a*b + x*y)*(sqrt(1 + z^2) - 1)/z^2 + a/b - b"
    assert not noted(text, "x=0.7,y=1.2,z=0.5")
    (note,) = noted(text, "x=0.7,y=1.2,z=1e-8")
    assert place(text, note) == "sqrt(1 + z^2) - 1"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("x - x", "x=3"),
        ("x^2 - 4", "x=2"),
        ("(x-1)*(x-2)*(x-3)", "x=2"),
        ("x^3 - 6*x^2 + 11*x - 6", "x=3"),
        ("sin(pi)*x", "x=1"),
        ("x - 1", "x=1.0000000000000002"),
        ("cos(x)", "x=1.5707963267948966"),
        ("log(x)", "x=1.0000000000000002"),
        ("exp(-x)", "x=800"),
        ("x*sin(x)^2 + x*cos(x)^2", "x=1"),
        ("(x - 1.1)^2", "x=1.1"),
        ("relu(x) - relu(-x)", "x=0"),
        ("tanh(x)", "x=30"),
        ("sum(softmax(v))", "v=[1,2,3]"),
        ("var(v)", "v=[5,5,5]"),
        ("det(A)", "A=[[1,2],[2,4]]"),
        ("x = 0.5*(x + 2/x); x = 0.5*(x + 2/x); x = 0.5*(x + 2/x); x = 0.5*(x + 2/x); x", "x=1.5"),
        ("floor(x) + (x % 1) - x", "x=2.75"),
    ],
)
def test_no_note_where_the_digits_are_right(text: str, at: str) -> None:
    assert not noted(text, at)


def test_no_note_on_any_case() -> None:
    for file in sorted(CASES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            case: dict[str, Any] = json.loads(line)
            words = case.get("argv") or [""]
            if words[0] not in ("grad", "hess", "eval") or case.get("files") or case["expect"].get("exit", 0) != 0:
                continue
            if "cancel" in json.dumps(case["expect"]):
                continue
            if "-" in words or "-f" in words or case["expect"].get("json", {}).get("notes"):
                continue
            request = Request(read(["grad", *words[1:2], *at_words(words)]))
            if request.axes or set(request.names) - set(request.point):
                continue
            if getattr(request.at.value().value, "shape", ()):
                continue
            found = request.at.grad(request.wrt()).notes
            assert "cancellation" not in [note.kind for note in found], case["id"]


def at_words(words: list[str]) -> list[str]:
    kept = []
    for option, value in zip(words, [*words[1:], ""], strict=True):
        kept += [option, value] if option == "--at" else []
    return kept


def test_strict_makes_it_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["grad", "(1-cos(x))/x^2", "--at", "x=1e-8", "--strict"]) == 1
    shown = capsys.readouterr()
    assert not shown.out
    assert "cancellation: '1-cos(x)' cancels" in shown.err
    assert run(["grad", "(1-cos(x))/x^2", "--at", "x=1", "--strict"]) == 0


def test_json_has_the_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["grad", "(1-cos(x))/x^2", "--at", "x=1e-8", "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note["kind"] == "cancellation"
    assert note["span"] == [1, 9]


def test_long_runs_are_not_looked_at() -> None:
    assert not noted("y = x; for k in 1..5000 { y = y + 1 - 1 }; (1-cos(y))/y^2", "x=1e-8")


@pytest.mark.parametrize(
    "words",
    [
        ["eval"],
        ["jac"],
        ["hess"],
        ["diff", "--order", "2"],
        ["taylor", "--order", "2"],
        ["jvp", "--dir", "x=1"],
        ["vjp", "--cotangent", "2"],
        ["hvp", "--dir", "x=1"],
    ],
    ids=lambda words: words[0],
)
def test_every_answer_comes_with_the_note(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    command, *options = words
    assert run([command, "(1-cos(x))/x^2", "--at", "x=1e-8", *options]) == 0
    assert "'1-cos(x)' cancels: no digit of the value" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("det(A)", "A=[[1e200, 2e200, 0], [3e200, 1e200, 1], [5, 1e200, 7e200]]"),
        ("det(stack(v, concat(w[:1], w[1:]), ones(3)))", "v=[0.1, 0.1, 0.1],w=[1e-321, -1.2e-320, 1.2e-320]"),
    ],
)
def test_bounds_of_arrays_hold_beyond_the_range(text: str, at: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("grad", "check"):
        assert run([command, text, "--at", at]) == 0
    assert "d/d" in capsys.readouterr().out
