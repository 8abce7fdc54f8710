"""Arrays: literals, indexing, broadcasting, emptiness, truth; NumPy is the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

A = np.arange(12.0).reshape(3, 4)
V = np.array([3.0, -1.0, 2.0])

INDICES = [
    "0", "-1", "1:", ":2", "::2", "::-1", "-2:", ":", "1:1", "5:9", "2:0:-1", "0, 1", "-1, -1", ":, 0", "0, :",
    "1:, 1:3",
    ":, ::-1", "[0, 0, 2]", "[2, 0], 1", ":, [3, 0]", "[]", "::3, 0",
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_indexing_is_that_of_numpy(value: Any, gradient: Any, index: str) -> None:
    places = eval(f"np.s_[{index}]", {"np": np})
    places = tuple(
        np.array(p, int) if isinstance(p, list) else p for p in (places if isinstance(places, tuple) else (places,))
    )
    assert value(f"A[{index}]", A=A) == A[places].tolist()
    weights = np.zeros_like(A)
    np.add.at(weights, places, 2 * A[places])
    assert gradient(f"sum(A[{index}]^2)", A=A) == {"A": weights.tolist()}


@pytest.mark.parametrize("left", ["5", "v", "[[1], [2]]", "A", "[7]", "A[:, :0]", "[[5]]"])
@pytest.mark.parametrize("right", ["2", "u", "[[1, 2, 3, 4]]", "A", "[9]", "[]", "[[[1]]]"])
@pytest.mark.parametrize("sign", ["+", "*", "<", "=="])
def test_broadcasting_is_that_of_numpy(value: Any, error: Any, left: str, right: str, sign: str) -> None:
    at = {"v": V, "A": A, "u": np.arange(4.0)}
    world = {**at, "np": np}
    a, b = (np.asarray(eval(text, world), float) for text in (left, right))
    try:
        wanted = eval(f"a {sign} b", {"a": a, "b": b})
    except ValueError:
        found = error(f"({left}) {sign} ({right})", **at)
        assert str(a.shape) in found.message and str(b.shape) in found.message and found.kind == "shape"
        return
    assert value(f"({left}) {sign} ({right})", **at) == wanted.tolist()


@pytest.mark.parametrize(
    "text,expected",
    [
        ("[]", []), ("[[]]", [[]]), ("[1,]", [1]), ("[true, false]", [1, 0]), ("[[1, 2], [3, 4]][1]", [3, 4]),
        ("sum([])", 0), ("prod([])", 1), ("norm(zeros(0))", 0), ("sum(zeros(0, 3), axis=0)", [0, 0, 0]),
        ("sum(zeros(3, 0), axis=1)", [0, 0, 0]), ("shape(zeros(2, 0))", [2, 0]), ("size([])", 0), ("shape(5)", []),
        ("size(5)", 1), ("any([])", 0), ("all([])", 1), ("[] + 1", []), ("concat([], [1])", [1]), ("[1, 2][[]]", []),
        ("[5] + 3", [8]), ("sum(5)", 5), ("max(5)", 5), ("[2, 1] @ [3, 4]", 10), ("reshape([5], [])", 5),
        ("v = [1, 2]; v += 1; v", [2, 3]), ("v = [1, 2]; w = v; v = 2*v; w", [1, 2]), ("-[1, 2]", [-1, -2]),
        ("[1, 2]^2", [1, 4]), ("2^[1, 2]", [2, 4]), ("[7, -7] // 2", [3, -4]), ("[7, -7] % 4", [3, 1]),
        ("v = [1, 5, 3]; v[v > 2]", [5, 3]), ("v = [[1, 5], [3, 4]]; v[1][0]", 3),
    ],
)  # fmt: skip
def test_values(value: Any, text: str, expected: Any) -> None:
    assert value(text) == expected


LOGIC = [
    ("1 < 2 < 3", True), ("3 > 2 > 2", False), ("1 < 3 > 2", True), ("1 == 1 != 2", True), ("1 < 0 < 1/0", False),
    ("not 3", False), ("not not 2", True), ("3 and 0", False), ("0 or 5", True), ("0 and 1/0", False),
    ("1 or 1/0", True),
    ("not 1 < 2", False), ("not 0 and 0", False), ("1 or 0 and 0", True), ("nan == nan", False), ("nan != nan", True),
    ("true + true", 2), ("-true", -1), ("(1 < 2)*3", 3), ("1 <= 1 >= 1", True), ("2 ≤ 3", True), ("2 ≥ 3", False),
    ("2 ≠ 3", True),
    ("1 < [0, 2, 3] < 3", [False, True, False]), ("[1, 0] and [1, 1]", [True, False]), ("not [1, 0]", [False, True]),
    ("[1, 0] or 0", [True, False]), ("[0, 2] == [0, 1]", [True, False]), ("0 < [1, 2] < [2, 2] < 3", [True, False]),
    ("0 and [1, 2]", False), ("1 and [1, 0]", [True, False]), ("[1, 0] and 1 and [1, 1]", [True, False]),
    ("any([0, 1])", True), ("all([0, 1])", False), ("any([[0, 1], [0, 0]], axis=1)", [True, False]),
]  # fmt: skip


@pytest.mark.parametrize("text,expected", LOGIC)
def test_logic(value: Any, text: str, expected: Any) -> None:
    found = value(text)
    assert found == expected
    if isinstance(expected, bool):
        assert type(found) is bool


def test_64_dimensions(value: Any, gradient: Any) -> None:
    text = "[" * 64 + "x" + "]" * 64
    assert np.shape(value(text, x=2.0)) == (1,) * 64
    assert gradient(f"sum({text})", x=2.0) == {"x": 1}


def test_max_of_many_operands_is_that_of_few(value: Any, gradient: Any) -> None:
    many = ["x*y", "y", "z"] * 7
    assert value(f"max({', '.join(many)})", x=1.0, y=2.0, z=0.5) == 2.0
    found = gradient(f"max({', '.join(many)})", x=1.0, y=2.0, z=0.5)
    assert found == pytest.approx({"x": 1.0, "y": 1.0, "z": 0.0})  # ties share evenly
    assert gradient(f"min({', '.join(many)}, v[0])", x=1.0, y=2.0, z=0.5, v=V)["z"] == pytest.approx(1.0)
    assert value(f"max({', '.join(many)}, v)", x=1.0, y=2.0, z=0.5, v=V) == [3.0, 2.0, 2.0]
