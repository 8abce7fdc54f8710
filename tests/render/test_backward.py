"""The recorded backward pass: second derivatives by sight, and the same numbers as the Hessian."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from autodiff import cli, differentiate
from autodiff.parse import parse


@pytest.fixture
def draw(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> str:
        assert cli.run(["graph", *words, "--backward"]) == 0
        return capsys.readouterr().out

    return run


def test_lanes(draw: Any) -> None:
    assert draw("(x+2)*x", "x=2").splitlines() == [
        "                        value  grad  grad of d/dx",
        "●        x                  2     6             2",
        "│ ●      2                  2     2             1",
        "├─●      a = x + 2          4     2             1  AddBackward0",
        "├─┼─●    y = a * x          8     1                MulBackward0",
        "│ │ │ ●  seed = 1           1                   6",
        "●─│─│─┤  dy/da = seed * x   2                   1  ChainBackward0",
        "│ ●─│─┘  c = seed * a       4                   1  ChainBackward0",
        "●─┘ │    dy/dx = c + dy/da  6                   1  AddBackward0",
    ]


@pytest.mark.parametrize(
    "text",
    ["exp(sin(x*y) + x^2)*y/log(y) - x*y", "s = 0; for k in 1..4 { s = s + x^k/y }; s", "3*x + y", "x*y", "x + y",
     "f(a) = tanh(a)*a; f(x*y) + f(y)", "x^2 if x > 0 else y"],
)  # fmt: skip
def test_second_derivatives_are_those_of_hess(draw: Any, text: str) -> None:
    made = json.loads(draw(text, "x=1.5,y=0.7", "--json"))
    ours = differentiate.hessian(parse(text), {"x": 1.5, "y": 0.7}, ["x", "y"])
    assert ours.gradient is not None and ours.hessian is not None
    named = {node["label"].split(" = ")[0]: node for node in made["nodes"]}
    for a in "xy":
        assert named[a]["grad"] == pytest.approx(ours.gradient[a], rel=1e-12)
        (derivative,) = [node for label, node in named.items() if re.fullmatch(rf"d\w+/d{a}", label)]
        assert derivative["value"] == pytest.approx(ours.gradient[a], rel=1e-12) and derivative["backward"]
        for b in "xy":
            assert named[a].get("second", {}).get(b, 0) == pytest.approx(ours.hessian[a][b], rel=1e-12, abs=1e-15)


def test_without_the_option_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["graph", "x*x", "x=2", "--json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert len(nodes) == 2 and not any({"backward", "second"} & set(node) for node in nodes)


@pytest.mark.parametrize("format", ["dot", "mermaid", "svg", "html"])
def test_every_format_shows_it(draw: Any, format: str) -> None:
    said = draw("(x+2)*x", "x=2", "-F", format)
    assert "dy/dx" in said and "grad of d/dx 2" in said.replace("#47;", "/")


def test_arrays_have_first_derivatives_only(draw: Any) -> None:
    assert "dy/dv" in draw("sum(v^3)", "--at", "v=[1,2]")


def test_a_long_one_folds(draw: Any) -> None:
    said = draw("y = x; for k in 1..200 { y = sin(y)*1.5 }; y", "x=1")
    assert len(said.splitlines()) < 40 and said.count("× ") >= 2
