"""The lecture: what it says, in every format, and that its numbers are those of the sweep."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from autodiff import cli, differentiate
from autodiff.parse import parse


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> str:
        assert cli.run(["explain", *words]) == 0
        return capsys.readouterr().out

    return run


LECTURE = """\
(x+2)*x
at x = 2

Forward pass
  name  operation  with values  value
  x     input                       2
  a     x + 2      2 + 2            4  AddBackward0
  y     a * x      4 * 2            8  MulBackward0

Backward pass
  start: dy/dy = 1; each operation sends local derivative times its own gradient
  y = a * x  dy/dy = 1
    → a      ∂y/∂a = x = 2      2 · 1 = 2
    → x      ∂y/∂x = a = 4      4 · 1 = 4
  a = x + 2  dy/da = 2          from y
    → x      ∂a/∂x = 1          1 · 2 = 2
  x          dy/dx = 4 + 2 = 6  two paths meet, from y and a

Result
  y = 8
  dy/dx = 4 + 2 = 6
"""


def test_the_lecture(tell: Any) -> None:
    assert tell("(x+2)*x", "--at", "x=2") == LECTURE


def test_ascii(tell: Any) -> None:
    said = tell("(x+2)*x", "x=2", "--ascii")
    assert said.isascii() and "-> x" in said and "4 * 1 = 4" in said


def test_markdown(tell: Any) -> None:
    said = tell("(x+2)*x", "x=2", "--format", "markdown").splitlines()
    assert said[0] == "## `(x+2)*x`"
    assert "| `a` | `x + 2` | `2 + 2` | `4` | `AddBackward0` |" in said
    assert "| `a = x + 2` | `dy/da = 2` | `x` | `∂a/∂x = 1` | `1 · 2 = 2` |" in said
    assert "| `x` | `dy/dx = 4 + 2 = 6` |  |  | two paths meet, from y and a |" in said
    assert said[-1] == "- `dy/dx = 4 + 2 = 6`"
    for line in said:  # every row of a table has five cells
        assert not line.startswith("|") or line.count("|") == 6


def test_markdown_holds_what_the_user_wrote(tell: Any) -> None:
    said = tell("x # `|<b>*\n+ 1", "x=2", "-F", "markdown")
    assert said.startswith("## ``x # `|<b>*``")


def test_json(tell: Any) -> None:
    made = json.loads(tell("(x+2)*x", "x=2", "--json"))
    assert list(made) == ["expression", "at", "value", "gradient", "forward", "backward", "sums"]
    assert made["value"] == 8 and made["gradient"] == {"x": 6}
    assert [row["name"] for row in made["forward"]] == ["x", "2", "a", "y"]
    assert made["backward"][0]["sends"] == [
        {"to": "n2", "local": 2, "formula": "x", "sent": 2},
        {"to": "n0", "local": 4, "formula": "a", "sent": 4},
    ]
    assert made["sums"] == [
        {"id": "n0", "name": "x", "terms": [{"from": "n3", "sent": 4}, {"from": "n2", "sent": 2}], "grad": 6}
    ]


EXPRESSIONS = [
    "exp(sin(x*y)+x^2)*y/log(y) - x*y",
    "f(a) = sin(a)*a + 1; f(x)*f(y)",
    "s = 0; for k in 1..4 { s = s + x^k/y }; s",
    "max(x, y)*relu(x - 1) + where(x > y, x, y*y) + atan2(x, y)",
    "x if x > 0 else y",
    "diff(x^3*y, x) + x",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_numbers_are_those_of_the_sweep(tell: Any, text: str) -> None:
    at = {"x": 1.5, "y": 0.7}
    made = json.loads(tell(text, "x=1.5,y=0.7", "--json"))
    ours = differentiate.gradient(parse(text), at, ["x", "y"])
    assert made["value"] == ours.value and ours.gradient is not None
    assert made["gradient"] == pytest.approx(ours.gradient, rel=1e-14)
    arrived: dict[str, float] = {}
    for step in made["backward"]:
        for send in step["sends"]:
            if send["local"] is not None:
                assert send["sent"] == pytest.approx(send["local"] * step["grad"], rel=1e-14)
            arrived[send["to"]] = arrived.get(send["to"], 0.0) + send["sent"]
    for step in made["backward"][1:]:
        assert step["grad"] == pytest.approx(arrived[step["id"]], rel=1e-12)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_local_formulas_have_the_local_values(tell: Any, text: str) -> None:
    made = json.loads(tell(text, "x=1.5,y=0.7", "--json"))
    values = {row["name"]: row["value"] for row in made["forward"]}
    formulas = [send for step in made["backward"] for send in step["sends"] if send["formula"]]
    for send in formulas:
        program = parse(send["formula"])
        found = differentiate.value(program, {name: values[name] for name in program.inputs}).value
        assert found == pytest.approx(send["local"], rel=1e-12)
    assert formulas or text.startswith("x if")


def test_where_the_sum_is_not_what_counts_it_says_so(tell: Any) -> None:
    said = tell("relu(x) - relu(-x)", "x=0")
    assert "0 + 0 by the rules; both sides agree on 1" in said


def test_arrays(tell: Any) -> None:
    said = tell("sum(v*v)", "--at", "v=[1,2]")
    assert "dy/dv = [1, 2] + [1, 2] = [2, 4]" in said


def test_negative_values_stand_in_parentheses(tell: Any) -> None:
    said = tell("x*y - relu(x)", "x=-2,y=-3")
    assert "-2 * (-3)" in said and "relu(-2)" in said and "(-3) · 1 = -3" in said


def test_inputs_that_stay_put_are_told(tell: Any) -> None:
    said = tell("x*y - x*(y^2)", "x=3,y=2", "--wrt", "x")
    assert "∂a/∂x = y = 2" in said and "3 * 4" in said
    assert re.search(r"^  y +constant +2$", said, re.M) and "dc/dy" not in said


def test_an_unused_input_and_no_input(tell: Any) -> None:
    assert "dy/dz = 0" in tell("t = z; x^2", "x=1,z=3")
    said = tell("1 + 2")
    assert said.endswith("y = 3\n") and "nothing is sent" in said


def test_a_long_lesson_is_summarised(tell: Any) -> None:
    text = " + ".join(f"sin({k}*x)" for k in range(1, 60))
    brief, full = tell(text, "x=1"), tell(text, "x=1", "--full")
    assert "steps more: --full shows all" in brief and "--full" not in full
    assert len(brief.splitlines()) < 100 < len(full.splitlines())
    assert brief.splitlines()[-1] == full.splitlines()[-1]


def test_a_loop_is_one_step(tell: Any) -> None:
    said = tell("y = x; for k in 1..1000 { y = y*1.0001 + 0.5 }; y*x", "x=2")
    assert "[y*1.0001 + 0.5] × 1000" in said and "2000 operations" in said
    assert len(said.splitlines()) < 30
    sums = re.findall(r"= (\S+) \+ (\S+) = (\S+)$", said, re.M)
    assert sums and float(sums[-1][0]) + float(sums[-1][1]) == pytest.approx(float(sums[-1][2]), rel=1e-4)


def test_tens_of_thousands_of_lines(tell: Any) -> None:
    said = tell("y = x; for k in 1..5000 { y = y*0.9999 + sin(y) }; y", "x=2", "--full")
    assert said.count("\n") > 25_000
    assert math.isfinite(float(re.findall(r"= (\S+)$", said)[-1]))


def test_a_wide_cell_does_not_widen_all(tell: Any) -> None:
    shown = tell(f"sum([{', '.join(['x'] * 1000)}])", "--at", "x=2")
    assert len(shown) < 200_000
    assert "dy/dx" in shown and "[x, x, x" in shown


def test_tables_only_where_colour_is_wanted(tell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = tell("(x-2)*x", "x=1", "--color", "always")
    assert "\x1b[31m" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert "∂y/∂a = x = 1" in plain and "dy/dx = -1 + 1 = 0" in plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in tell("(x-2)*x", "x=1")


def test_markup_in_names_is_text(tell: Any) -> None:
    coloured = tell("x^2 # [bold]a[/bold]", "x=1", "--color", "always")
    assert "x^2 # [bold]a[/bold]" in re.sub(r"\x1b\[[0-9;]*m", "", coloured)


def test_the_format_is_that_of_the_file(tell: Any, tmp_path: Any) -> None:
    tell("x^2", "x=1", "-o", str(tmp_path / "lesson.md"))
    assert (tmp_path / "lesson.md").read_text(encoding="utf-8").startswith("## `x^2`")


def test_it_wants_one_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", "[x, x]", "x=1"]) == 1
    assert "explain wants one number" in capsys.readouterr().err
