"""Long and deep texts at the default recursion limit, in time that grows with their length only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest

from autodiff.errors import SyntaxProblem
from autodiff.parse import parse

N = 100_000
SHAPES: dict[str, Callable[[int], str]] = {
    "terms": lambda n: "+".join(["x*2"] * n),
    "brackets": lambda n: "(" * n + "x" + ")" * n,
    "right": lambda n: "(1+" * n + "x" + ")" * n,
    "minus": lambda n: "-" * n + "x",
    "not": lambda n: "not " * n + "x",
    "roots": lambda n: "√" * n + "x",
    "powers": lambda n: "^".join(["x"] * n),
    "calls": lambda n: "sin(" * n + "x" + ")" * n,
    "arguments": lambda n: "max(" + ",".join(["x"] * n) + ")",
    "lists": lambda n: "[" * n + "x" + "]" * n,
    "entries": lambda n: "[" + ",".join(["x"] * n) + "]",
    "indices": lambda n: "v" + "[0]" * n,
    "chain": lambda n: "<".join(["x"] * n),
    "and": lambda n: " and ".join(["x"] * n),
    "conditionals": lambda n: "1 if x else " * n + "2",
    "statements": lambda n: "x = x + 1\n" * n,
    "blank lines": lambda n: "x" + "\n" * n + " \n#\n" * n,
    "blanks": lambda n: "x" + " " * n,
}
TALL: dict[str, Callable[[int], str]] = {
    "blocks": lambda n: "if x {" * n + "y" + "}" * n,
    "else if": lambda n: "if x {1}" + "\nelse if x {1}" * n,
    "conditions": lambda n: "1 if (" * n + "x" + ") else 2" * n,
    "loops": lambda n: "while x {" * n + "}" * n,
    "for": lambda n: "for k in v {" * n + "}" * n,
    "functions": lambda n: "f(t) {" * n + "t" + "}f(1)" * n,
    "diff": lambda n: "diff(" * n + "x" + ", x)" * n,
}


"""Each of them is many tokens."""


@pytest.mark.parametrize(("shape", "n"), [*((shape, N) for shape in SHAPES), *((shape, N // 4) for shape in TALL)])
def test_deep_and_linear(shape: str, n: int) -> None:
    assert sys.getrecursionlimit() <= 1000
    times = []
    for count in (n // 8, n):
        text = (SHAPES | TALL)[shape](count)
        start = time.process_time()
        program = parse(text)
        times.append(time.process_time() - start)
        assert len(program.code) > 1
    assert times[1] < 40 * times[0] + 0.1  # eight times the text; sixty-four times would be quadratic


@pytest.mark.parametrize(
    "text",
    [
        "(" * N,
        "(" * N + "x",
        "-" * N,
        "[(" * N + "x",
        "x)" * N,
        "x " * N,
        "1 if " * N,
        "if x {" * N,
        "f(" * N + "]",
    ],
)
def test_deep_mistakes(text: str) -> None:
    start = time.process_time()
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert time.process_time() - start < 20
    assert len(caught.value.message) < 200
    assert len(caught.value.help or "") < 200
