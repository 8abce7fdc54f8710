"""Numbers: exact, short, and readable by the language again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autodiff.render.number import inline, number, rows, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8.0, "8"),
        (-0.0, "-0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e22, "1e+22"),
        (5e-324, "5e-324"),
        (9007199254740993.0, "9007199254740992"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (True, "true"),
        (np.False_, "false"),
        (np.float64(0.5), "0.5"),
        (np.array(2.0), "2"),
        ("2*x", "2*x"),
    ],
)
def test_number(value: object, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2 / 3, 3, "0.667"),
        (8.0, 5, "8"),
        (1234567.0, 3, "1.23e+06"),
        (-0.0, 3, "-0"),
        (math.inf, 2, "inf"),
        (0.5, 10**9, "0.5"),
        (True, 3, "true"),
    ],
)
def test_digits(value: object, digits: int, text: str) -> None:
    assert number(value, digits) == text


@given(st.floats())
def test_reads_back(value: float) -> None:
    text = number(value)
    back = float(text)
    assert (math.isnan(value) and math.isnan(back)) or (
        back == value and math.copysign(1, back) == math.copysign(1, value)
    )
    assert number(value, 17) == text or float(number(value, 17)) == value


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=1)))
def test_rows_read_back(value: np.ndarray) -> None:
    numbers = [float(text) for line in rows(value) for text in line.split()]
    np.testing.assert_array_equal(numbers, value.ravel())


def test_rows() -> None:
    assert rows(2.0) == ["2"]
    assert rows(np.array([1.0, 2.5])) == ["1 2.5"]
    assert rows(np.array([[1.0, 2], [3, 4]])) == ["1 2", "3 4"]
    assert rows(np.arange(8.0).reshape(2, 2, 2)) == ["0 1", "2 3", "", "4 5", "6 7"]
    assert rows(np.arange(16.0).reshape(2, 2, 2, 2)).count("") == 3
    assert rows(np.zeros(0)) == [""]


def test_inline() -> None:
    assert inline(np.array([[1.0, -0.0], [math.nan, 4.5]])) == "[[1, -0], [nan, 4.5]]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"),
        (123456.0, "123456"),
        (20.7368123, "20.737"),
        (0.69314718, "0.6931"),
        (-28.0921, "-28.092"),
        (1234567.0, "1234567"),
        (1234567.25, "1234567.25"),
        (1234567.125, "1.2346e+06"),
        (math.nan, "nan"),
        (np.array([1.0, 0.333333333]), "[1, 0.3333]"),
        (np.arange(1.0, 101), "[1, 2, … 100] (100)"),
        (np.ones((10, 3)), "[1, 1, … 1] (10×3)"),
        (np.array([[1.0, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
    ],
)
def test_short(value: object, text: str) -> None:
    assert short(value) == text


def test_short_in_ascii_and_with_digits() -> None:
    assert short(np.ones((10, 3)), ascii=True) == "[1, 1, ... 1] (10x3)"
    assert short(2 / 3, 2) == "0.67"
