"""Mermaid: the same rows and ids; whatever a label holds, it cannot leave its quotes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from autodiff import cli
from autodiff.render.mermaid import escaped


@pytest.fixture
def draw(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> str:
        assert cli.run(["graph", *words, "-F", "mermaid"]) == 0
        return capsys.readouterr().out

    return run


def test_the_flowchart(draw: Any) -> None:
    assert draw("(x+2)*x", "x=2").splitlines()[:9] == [
        "flowchart LR",
        '  n0(["x<br/>value 2<br/>grad 6"]):::input',
        '  n1("2<br/>grad 2"):::constant',
        '  n2["a = x + 2<br/>value 4<br/>grad 2<br/>AddBackward0"]:::operation',
        '  n3{{"y = a #42; x<br/>value 8<br/>grad 1<br/>MulBackward0"}}:::result',
        '  n0 -->|"1"| n2',
        '  n1 -->|"1"| n2',
        '  n2 -->|"2"| n3',
        '  n0 -->|"4"| n3',
    ]


LINE = re.compile(
    r'  n\d+(\[|\(\[|\(|\[\[|\{\{)"[^"]*"(\]|\]\)|\)|\]\]|\}\}):::\w+|  n\d+ -->(\|"[^"]*"\|)? n\d+|  classDef \w+ \S+'
)


@pytest.mark.parametrize(
    "text", ["x_1 <= 2 and x_1 > 0", "v[0]*x_1 % 3", "[x_1, 2][1]", '-x_1 # "] --> \\n %%{init}%%']
)
def test_every_line_is_one_of_three(draw: Any, text: str) -> None:
    first, *lines = draw(text, "--at", "x_1=1", *(["--at", "v=[1,2]"] if "v" in text else []))[:-1].split("\n")
    assert first == "flowchart LR" and all(map(LINE.fullmatch, lines))


def test_escapes() -> None:
    assert escaped('a"b;#<&|`_*\\') == "a#34;b#59;#35;#60;#38;#124;#96;#95;#42;#92;"
    assert escaped("x = a^2 - (b + 1.5)/漢") == "x = a^2 - (b + 1.5)/漢"
