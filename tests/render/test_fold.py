"""Long pictures: loops and functions fold to one row with a count, and nothing is lost in between."""

from __future__ import annotations

import json
from typing import Any

import pytest

from autodiff import cli
from autodiff.commands.graph import bodies
from autodiff.parse import parse
from autodiff.picture import picture
from autodiff.render.fold import fold
from autodiff.render.view import Row, freeze


def rows_of(text: str, **at: float) -> tuple[list[Row], dict[str, tuple[int, int]]]:
    program = parse(text)
    made = picture(program, at, list(at))
    rows = freeze(
        made.nodes, made.root, source=text, names=made.names, gradients=made.gradients, local=made.local, sent=made.sent
    )
    return rows, bodies(program)


def folded(text: str, **at: float) -> list[Row]:
    rows, functions = rows_of(text, **at)
    made = fold(rows, text, functions)
    # What holds of every fold: all rows are in it, inputs stand before their users, the result is the result.
    assert sum(row.size for row in made) == len(rows)
    for at_, row in enumerate(made):
        assert all(source < at_ for source, _ in row.inputs)
        assert len(row.sent) == len(row.inputs) or not row.sent
    assert [(row.value, row.grad) for row in made if row.result] == [(r.value, r.grad) for r in rows if r.result]
    assert {row.id for row in made} <= {row.id for row in rows} and len({row.id for row in made}) == len(made)
    # and an input gets the same from the folded rows as from all
    for name, value in at.items():
        assert value == next(row.value for row in made if row.name == name)
        for some in (made, rows):
            place = next(at_ for at_, row in enumerate(some) if row.name == name)
            sent = [term for row in some for (to, _), term in zip(row.inputs, row.sent, strict=False) if to == place]
            assert sum(sent) == pytest.approx(next(row.grad for row in rows if row.name == name), rel=1e-9)
    return made


def labels(rows: list[Row]) -> list[str]:
    return [row.text for row in rows if row.op]


def test_a_loop() -> None:
    made = folded("y = x; for k in 1..100 { y = y*1.01 + 0.5 }; y*x", x=2.0)
    assert labels(made) == ["[y*1.01 + 0.5] × 100", "y_100*x"] or labels(made) == [
        "[y*1.01 + 0.5] × 100", "y_100 * x"]  # fmt: skip
    assert made[1].kind == "fold" and made[1].rounds == 100 and made[1].grad_fn == "200 operations"


def test_loops_in_loops() -> None:
    made = folded("y = x; for i in 1..10 { for k in 1..20 { y = sin(y)*x }; y = y + 1 }; y", x=0.5)
    (box,) = [row for row in made if row.op]
    assert box.rounds == 10 and box.grad_fn == "410 operations"


def test_a_loop_of_two_ways_folds_where_the_way_repeats() -> None:
    made = folded("y = x; for k in 1..60 { y = y + 1; if y > 40 { y = y/2 } }; y", x=0.0)
    boxes = [row for row in made if row.kind == "fold"]
    assert boxes and len(made) < 30


def test_functions() -> None:
    made = folded("f(a) = sin(a)*a + 1; f(x) + f(x*2)*3", x=0.5)
    assert [text for text in labels(made) if "f(" in text] == ["f(…)", "f(…)"]


def test_recursion_counts_calls() -> None:
    made = folded("f(a, n) = a if n <= 0 else f(sin(a)*a, n - 1); f(x, 30)", x=0.5)
    (box,) = [row for row in made if row.kind == "fold"]
    assert box.text.startswith("[f(…)] × ") and box.rounds >= 29


def test_an_input_first_used_inside_a_loop_stands_before_it() -> None:
    made = folded("y = x; for k in 1..50 { y = y*z }; y", x=1.0, z=1.01)
    assert [row.name for row in made][:2] == ["x", "z"] and len(made) == 3


def test_what_does_not_repeat_stays() -> None:
    text = " + ".join(f"sin({k}*x)" for k in range(1, 40))
    rows, _ = rows_of(text, x=1.0)
    assert fold(rows, text) == rows


def test_many_rows() -> None:
    made = folded("y = x; for k in 1..5000 { y = y*0.999 + sin(y); if y > 3 { y = y/2 } }; y", x=2.0)
    assert len(made) < 500


@pytest.fixture
def draw(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> str:
        assert cli.run(["graph", *words]) == 0
        return capsys.readouterr().out

    return run


LOOP = "y = x; for k in 1..150 { y = y*1.01 + 0.5 }; y*x"


@pytest.mark.parametrize("format", ["text", "dot", "mermaid", "svg", "html"])
def test_pictures_fold_and_full_unfolds(draw: Any, format: str) -> None:
    brief, full = draw(LOOP, "x=2", "-F", format), draw(LOOP, "x=2", "-F", format, "--full")
    assert "150" in brief and len(brief) * 3 < len(full)
    assert full.count("AddBackward0") >= 150 > brief.count("AddBackward0")


def test_json_is_whole_and_short_pictures_stay(draw: Any) -> None:
    assert len(json.loads(draw(LOOP, "x=2", "--json"))["nodes"]) > 300
    assert "×" not in draw("y = x; for k in 1..5 { y = y*1.01 + 0.5 }; y*x", "x=2")


def test_ascii(draw: Any) -> None:
    said = draw(LOOP, "x=2", "--ascii")
    assert said.isascii() and "] x 150" in said
