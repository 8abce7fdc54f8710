"""Long and deep texts at the default recursion limit: every stage and every output, without recursion."""

from __future__ import annotations

import sys

import pytest

from autodiff import differentiate
from autodiff.parse import parse
from autodiff.picture import picture
from autodiff.render.dot import dot
from autodiff.render.lanes import lanes
from autodiff.render.view import freeze

N = 100_000
TEXTS = {
    "terms": "+".join(["x*sin(x)", "x^2", "3.5*x", "x/2"] * (N // 4)),
    "parentheses": "(" * N + "x" + ")" * N,
    "signs": "-" * N + "x",
    "nested sums": "(x+" * N + "x" + ")" * N,
    "nested calls": "sin(" * (N // 10) + "x" + ")" * (N // 10),
    "conditionals": "x if x > 2 else " * N + "x",
    "powers": "x^" * N + "x",
    "statements": "y = x\n" + "y = y + 1\n" * N + "y",
    "array": "sum([" + ",".join(["x*2"] * (N // 5)) + "])",
    "operands": "max(" + ",".join(["x*2", "x"] * (N // 10)) + ")",
    "blocks": "y = x; " + "if x > 0 { " * (N // 10) + "y = 2*x" + " }" * (N // 10) + "; y",
}


@pytest.mark.parametrize("name", TEXTS)
def test_deep(name: str) -> None:
    assert sys.getrecursionlimit() <= 1000
    program = parse(TEXTS[name])
    out = differentiate.gradient(program, {"x": 1.0}, ["x"])
    assert out.gradient is not None
    assert abs(out.gradient["x"]) < float("inf")


@pytest.mark.parametrize("name", ["nested sums", "nested calls"])
def test_pictures(name: str) -> None:
    text = TEXTS[name]
    made = picture(parse(text), {"x": 1.0}, ["x"])
    rows = freeze(made.nodes, made.root, source=text, names=made.names, gradients=made.gradients, local=made.local)
    assert len(lanes(rows)) == len(rows) + 1
    assert dot(rows, text).startswith("digraph")


def test_recursion_of_functions() -> None:
    program = parse("f(n) = 0 if n <= 0 else 1 + f(n - 1); f(20000)*x")
    out = differentiate.gradient(program, {"x": 2.0}, ["x"])
    assert out.gradient == {"x": 20000.0}
