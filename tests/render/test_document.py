"""JSON: strict, exact, keys in the promised order."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autodiff.errors import Note
from autodiff.render.document import KEYS, document, dumps

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def forbidden(name: str) -> None:
    raise AssertionError(name)


@given(
    st.recursive(
        st.none() | st.booleans() | FINITE | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_round_trip(value: object) -> None:
    text = dumps(value)
    assert text.isascii() and "\n" not in text
    assert json.loads(text, parse_constant=forbidden) == value


def test_numbers() -> None:
    assert dumps([8.0, 0.1, 1e22, 5e-324, True, None]) == "[8, 0.1, 1e+22, 5e-324, true, null]"
    assert dumps([math.nan, math.inf, -math.inf]) == '["NaN", "Infinity", "-Infinity"]'
    assert math.copysign(1, json.loads(dumps(-0.0))) == -1
    assert dumps({"A": np.array([[1.0, np.inf]]), "f": np.float64(2), "e": {}, "l": []}) == (
        '{"A": [[1, "Infinity"]], "f": 2, "e": {}, "l": []}'
    )


def test_lone_surrogates_are_escaped() -> None:
    assert dumps("\udc80\U0001f600") == '"\\udc80\\ud83d\\ude00"'


def test_key_order() -> None:
    parts = {"gradient": {"y": 1.0, "x": 2.0}, "value": 3.0, "at": {"x": 1.0}, "expression": "x*y"}
    made = document("grad", parts)
    assert list(made) == ["expression", "at", "value", "gradient"]
    assert list(made["gradient"]) == ["y", "x"]
    assert list(KEYS) == [
        "eval", "grad", "jac", "hess", "jvp", "vjp", "hvp", "diff", "taylor",
        "derive", "check", "propagate", "graph", "explain",
    ]  # fmt: skip


def test_notes() -> None:
    notes = [Note("kink", "abs", (0, 3)), Note("path", "p", None, 2, "write q")]
    made = document("eval", {"expression": "x", "at": {}, "value": 1.0}, notes)
    assert dumps(made) == (
        '{"expression": "x", "at": {}, "value": 1, "notes": '
        '[{"kind": "kink", "message": "abs", "span": [0, 3]}, '
        '{"kind": "path", "message": "p", "span": null, "count": 2, "help": "write q"}]}'
    )
