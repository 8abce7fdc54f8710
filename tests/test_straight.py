"""Generated functions of arrays answer as the machine does, or leave the answer to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff as ad
from autodiff import differentiate, straight
from autodiff.expression import Expression

SERVED = [
    "sum(x*y)", "sum(abs(x) + relu(y))", "sum(max(x, y)^2)", "s*sum(x*s) + sum(y/(s + 3))", "sum(+x)",
    "sum(exp(-x*x)*y)^2 + sum(y)", "sum(x^3 - y^s) + s^2", "sum(A@x + b)^2", "sum(tanh(A@x)*b)", "dot(x, y)",
    "sum(clip(x, -1, 1))", "sum(where(x, y, s))", "sum(sigmoid(x)*s)", "sum(x + s)", "sum(A + x)", "sum(B*x)",
    "log(sum(exp(x)))", "y = sin(x); sum(y*y)", "sum(erf(x) + gamma(y^2 + 1))", "sum(atan2(x, y))", "sum(x - x)",
    "sum(min(x, y, s))", "sum(s*A*b)", "sum(x)*sum(y) - sum(x*y)/s", "sum(hypot(x, y))", "sum(2 + 0*x)",
]  # fmt: skip
LEFT = ["sum(x)", "sum(detach(x)*y)", "sum(A, axis=0)@x", "sum(x if s > 0 else y)", "sum(sqrt(x - 9))", "x[0]*s"]


def point(expression: Expression) -> dict[str, Any]:
    random = np.random.default_rng(0)
    everything = {
        "x": random.normal(size=5), "y": random.uniform(0.5, 2.0, size=5), "s": 0.7, "A": random.normal(size=(5, 5)),
        "b": random.normal(size=5), "B": random.normal(size=(3, 1)),
    }  # fmt: skip
    return {name: everything[name] for name in expression.inputs}


@pytest.mark.parametrize("text", SERVED + LEFT)
def test_generated_functions_answer_as_the_machine(text: str) -> None:
    expression = Expression(text)
    at = point(expression)
    value, gradient = expression.value_and_grad(**at)
    expected = differentiate.gradient(expression.program, at, expression.inputs)
    assert expected.gradient is not None
    assert value.__class__ is float
    np.testing.assert_allclose(value, expected.value, rtol=1e-14)
    for name, g in gradient.items():
        np.testing.assert_allclose(g, expected.gradient[name], rtol=1e-13, atol=1e-15)
        assert np.shape(g) == np.shape(at[name])
        if isinstance(g, np.ndarray):
            assert g.dtype == float and g.flags.writeable
            others = [*at.values(), *(h for other, h in gradient.items() if other != name)]
            assert not any(np.may_share_memory(g, other) for other in others if np.ndim(other))
    assert any(expression.roads.arrays.values()) is (text in SERVED or "sqrt" in text)


@pytest.mark.parametrize("text", ["sum(exp(x)*y)", "sum(relu(x)*y - y)"])
def test_long_arrays_go_in_blocks(text: str) -> None:
    random = np.random.default_rng(0)
    at = {"x": random.normal(size=(250, 201)), "y": random.normal(size=(250, 201))}
    assert at["x"].size > straight.LONG
    expression = Expression(text)
    value, gradient = expression.value_and_grad(**at)
    expected = differentiate.gradient(expression.program, at, ["x", "y"])
    assert any(expression.roads.arrays.values()) and expected.gradient is not None
    assert value == expected.value
    for name in at:
        np.testing.assert_allclose(gradient[name], expected.gradient[name], rtol=1e-15)


def test_at_a_kink_both_sides_are_looked_at() -> None:
    f = ad.compile("sum(relu(x) - relu(-x))")
    assert f.grad(np.array([1.0, -1.0]))["x"].tolist() == [1.0, 1.0]
    assert f.grad(np.array([0.0, 2.0]))["x"].tolist() == [1.0, 1.0]


def test_each_shape_has_a_function_of_its_own() -> None:
    f = ad.compile("sum(x*w)*w")
    for x in (2.0, np.ones(3), np.ones((2, 2)), np.ones(3)):
        assert np.all(f.grad(x, 3.0)["x"] == 9.0)


def test_equal_parts_are_computed_once() -> None:
    expression = Expression("sum(exp(x*x) + 1/exp(x*x))")
    expression.grad(np.ones(3))
    (found,) = expression.roads.arrays.values()
    assert found is not None
    assert found.source.count("_np_exp") == 1
