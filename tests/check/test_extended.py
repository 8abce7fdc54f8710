"""Extended operands: a value for every row, which agrees with the row's own and goes far beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff import exact, numeric
from autodiff.operands import extended
from autodiff.operands.extended import Extended, digits, lift, lower
from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.parse import parse

SAMPLES = [(op, sample) for op in OPS.values() for sample in op.samples]


def operands(sample: Any) -> list[Any]:
    xs = sample if isinstance(sample, tuple) else (sample,)
    return [np.array(x, float) if isinstance(x, list) else x for x in xs]


def test_every_row_has_a_value() -> None:
    known = {*extended.RAW, *extended.ENTRIES, *extended.WHOLE}
    assert known == set(OPS)


@pytest.mark.parametrize(("op", "sample"), SAMPLES, ids=[f"{op.name}-{k}" for k, (op, _) in enumerate(SAMPLES)])
def test_values_agree_with_the_rows(op: Op, sample: Any) -> None:
    xs = operands(sample)
    got = lower(op(*map(lift, xs)))
    np.testing.assert_allclose(got, op(*xs), rtol=2e-13, atol=0)


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.elementwise and op.samples], ids=lambda op: op.name)
def test_arrays_are_taken_entry_by_entry(op: Op) -> None:
    xs = operands(op.samples[0])
    one = op(*map(lift, xs))
    many = op(*[lift(np.array([x, x])) for x in xs])
    assert numeric.shape(many) == (2,)
    assert lower(many).tolist() == [lower(one)] * 2


@pytest.mark.parametrize(
    ("text", "point", "wanted"),
    [
        ("1 - cos(x)", {"x": 1e-100}, 5e-201),
        ("(1-cos(x))/x^2", {"x": 1e-8}, 0.5),
        ("0.1 + 0.2 - 0.3", {}, 2.0**-55),
        ("y = x; for k in 1..3 { y = y*y }; y - x^8", {"x": 1.1}, 0.0),
        ("det([[x, 2], [3, 4]])", {"x": 1.5}, 0.0),
        ("sum(eigvalsh([[x, 1], [1, 2]])) - x - 2", {"x": 3.0}, 0.0),
        ("sum(inv(A)@A)", {"A": [[1.0, 2.0], [3.0, 5.0]]}, 2.0),
        ("u = cholesky([[x, 1], [1, 2]]); sum(u@transpose(u))", {"x": 3.0}, 7.0),
        ("v = linspace(0, x, 5); v[1] + sum(arange(x))", {"x": 3.0}, 3.75),
        ("norm([3, x]) + var([x, 2]) + logsumexp([x, x]) - log(2)", {"x": 4.0}, 10.0),
    ],
)
def test_programs_run_in_extended_precision(text: str, point: dict[str, Any], wanted: float) -> None:
    program = parse(text)
    with digits(400):
        found = exact.value(
            exact.lifted(program),
            exact.lifted_point(program, {k: numeric.raw(np.asarray(v)) for k, v in point.items()}),
        )
        off = abs(found - lift(wanted))
        assert lower(off) <= 1e-16 * abs(wanted) + 1e-300


def test_rules_run_on_extended_operands() -> None:
    program = parse("(1-cos(x))/x^2 + sum(softmax([x, 2*x]))")
    with digits(60):
        found = exact.gradient(exact.lifted(program), exact.lifted_point(program, {"x": 1e-8}), ["x"])
    assert lower(found["x"]) == pytest.approx(-1e-8 / 12, rel=1e-12)
    program = parse("u = cholesky([[x, 1], [1, 2]]); u[0, 0]")  # the square root of x
    with digits(60):
        found = exact.gradient(exact.lifted(program), exact.lifted_point(program, {"x": 4.0}), ["x"])
    assert lower(found["x"]) == 0.25


def test_branches_follow_the_extended_value() -> None:
    program = exact.lifted(parse("1 if x + 1e-30 > 1 else 2"))
    with digits(50):
        assert float(exact.value(program, {"x": lift(1.0)})) == 1.0
    with digits(20):
        assert float(exact.value(program, {"x": lift(1.0)})) == 2.0


def test_outside_a_domain_is_nan_and_poles_are_those_of_the_row() -> None:
    assert lower(OPS["sqrt"](lift(-1.0))) != lower(OPS["sqrt"](lift(-1.0)))
    assert lower(OPS["log"](lift(0.0))) == -np.inf
    assert lower(OPS["div"](lift(1.0), 0.0)) == np.inf
    assert lower(OPS["max"](lift(1.0), -np.inf)) == 1.0


def test_a_number_is_taken_exactly() -> None:
    assert isinstance(lift(0.1), Extended)
    assert lower(lift(0.1)) == 0.1
    with digits(60):
        assert str(lift(0.1).value).startswith("0.1000000000000000055511151231257827")


def test_towers_of_exponentials_end() -> None:
    program = exact.lifted(parse("1/exp(exp(exp(exp(x)))) + sin(exp(exp(exp(x))))*0 + log(exp(exp(x)))"))
    found = exact.value(program, {"x": lift(10.0)})
    assert lower(found) != lower(found)  # the sine of what is taken for infinite
    assert lower(exact.value(exact.lifted(parse("log(exp(exp(x)))/exp(x)")), {"x": lift(10.0)})) == 1.0
