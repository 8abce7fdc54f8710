"""Every elementwise row's rules run on formulas, and say there what they say on floats."""

from __future__ import annotations

import math
from typing import Any

import pytest

from autodiff.operands.formula import Formula, Symbol, evaluate, replay, walk
from autodiff.ops import OPS
from autodiff.ops.record import Op

ROWS = [op for op in OPS.values() if op.partials is not None and op.samples]


def same(a: Any, b: Any) -> bool:
    a, b = float(a), float(b)
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("op", ROWS, ids=[op.name for op in ROWS])
def test_partials_on_formulas(op: Op) -> None:
    for sample in op.samples:
        xs = sample if isinstance(sample, tuple) else (sample,)
        symbols = [Symbol(f"x{i}") for i in range(len(xs))]
        point = {f"x{i}": x for i, x in enumerate(xs)} | {"y": op(*xs)}
        assert same(evaluate([op(*symbols)], point)[0], point["y"])
        for i in range(len(xs)):
            rule = op.partial(i)
            if not callable(rule):
                continue
            formula = rule(Symbol("y"), *symbols)
            assert isinstance(formula, (Formula, float))
            assert same(evaluate([formula], point)[0], rule(point["y"], *xs)), (op.name, i, xs)


def test_every_elementwise_row_is_looked_at() -> None:
    unseen = {op.name for op in OPS.values() if op.partials is not None} - {op.name for op in ROWS}
    assert unseen == {"chain", "gate"}


def test_equal_formulas_are_one_object() -> None:
    x, y = Symbol("x"), Symbol("y")
    assert (x + 2.0) * y is (x + 2.0) * y
    assert x + 0.0 is not x + -0.0
    assert OPS["add"](x, 2) is x + 2.0
    assert x * y is not y * x


def test_comparisons_are_formulas() -> None:
    x = Symbol("x")
    assert [f.op.name for f in (x < 1.0, x <= 1.0, x > 1.0, x >= 1.0)] == ["lt", "le", "gt", "ge"]
    assert evaluate([(x > 1.0) & (x < 3.0)], {"x": 2.0}) == [True]
    with pytest.raises(TypeError):
        bool(x > 1.0)


def test_shared_parts_are_walked_once_and_deep_ones_without_recursion() -> None:
    x = Symbol("x")
    f = x
    for _ in range(100):
        f = f + f
    assert len(walk([f])) == 101
    assert evaluate([f], {"x": 1.0}) == [2.0**100]
    deep = x
    for _ in range(50_000):
        deep = OPS["sin"](deep) + 1.0
    assert len(walk([deep])) == 100_001
    assert replay([deep], {x: 0.5})[0] == evaluate([deep], {"x": 0.5})[0]
    assert repr(deep) == "add(<sin>, 1.0)"
