"""Text, csv, tsv and bare values of one answer."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autodiff.render import table

GRAD = [("value", 6.909297426825682), ("d/dx", 2.5838531634528574), ("d/dy", 2.0)]
MATRIX = np.array([[1.0, 20.5], [-3.0, 4.0]])


def test_text() -> None:
    assert table.text(GRAD) == "value  6.909297426825682\nd/dx   2.5838531634528574\nd/dy   2"
    assert table.text(GRAD, 3) == "value  6.91\nd/dx   2.58\nd/dy   2"


def test_text_of_arrays() -> None:
    fields = [("value", np.array([1.0, 2.5])), ("d/dlong", MATRIX)]
    assert table.text(fields) == "value    [1, 2.5]\nd/dlong  [[ 1, 20.5],\n          [-3,    4]]"
    assert table.text([("T", np.arange(8.0).reshape(2, 2, 2))]) == (
        "T  [[[0, 1],\n     [2, 3]],\n    [[4, 5],\n     [6, 7]]]"
    )
    assert table.text([("e", np.zeros((2, 0)))]) == "e  [[], []]"


def test_text_escapes() -> None:
    assert table.text([("d/dx", "x\x1b[31m")]) == "d/dx  x\\x1b[31m"
    assert table.text([("漢", 1.0), ("ab", 2.0)]) == "漢  1\nab  2"


def test_csv() -> None:
    assert table.header(GRAD) == "value,d/dx,d/dy"
    assert table.line(GRAD) == "6.909297426825682,2.5838531634528574,2"
    fields = [("value", True), ("d/dv", np.array([1.0, 2.0])), ("d/dA", MATRIX)]
    assert next(csv.reader([table.header(fields)])) == [
        "value", "d/dv[0]", "d/dv[1]", "d/dA[0,0]", "d/dA[0,1]", "d/dA[1,0]", "d/dA[1,1]",
    ]  # fmt: skip
    assert table.line(fields) == "true,1,2,1,20.5,-3,4"
    assert table.header(fields[2:], "\t") == "d/dA[0,0]\td/dA[0,1]\td/dA[1,0]\td/dA[1,1]"


@given(st.lists(st.text(), min_size=2), st.sampled_from(",\t;"))
def test_cells_come_back(cells: list[str], separator: str) -> None:
    text = separator.join(table.quoted(cell, separator) for cell in cells) + "\n"
    assert next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)) == cells


def test_values() -> None:
    assert table.values([9.0, MATRIX, np.array([1.0, 2.0]), True]) == "9\n1 20.5\n-3 4\n1 2\ntrue"


def test_report() -> None:
    report = table.Report(GRAD, {"value": 1.0}, [2.0, 3.0])
    assert table.render(report, "text") == table.text(GRAD)
    assert table.render(report, "value") == "2\n3"
    assert table.render(report, "json") == '{"value": 1}'
    assert table.render(report, "csv", 2) == "value,d/dx,d/dy\n6.9,2.6,2"
    assert table.render(report, "tsv", 2) == "value\td/dx\td/dy\n6.9\t2.6\t2"
