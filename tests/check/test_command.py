"""The command check: its table, JSON and exit status."""

from __future__ import annotations

import json

import pytest

from autodiff.cli import run
from autodiff.ops import OPS


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "x*y", "--at", "x=2,y=3"]) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["autodiff", "numeric", "error", "tolerance", "verdict"]
    assert first.split()[:3] == ["d/dx", "3", "3"]
    assert second.split()[-1] == "ok"


def test_sides_of_a_kink(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "abs(x)", "--at", "x=0"]) == 0
    assert "ok; -1 from the left, 1 from the right" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "sum(x*v)", "--at", "x=2,v=[1,3]", "--json", "--order", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found)[:4] == ["expression", "at", "ok", "inputs"]
    assert list(found["inputs"]["x"]) == ["autodiff", "numeric", "error", "tolerance", "ok"]
    assert found["inputs"]["v"]["autodiff"] == [2, 2]
    assert found["hessian"]["x"]["v"]["numeric"] == [1, 1]


def test_csv_and_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "v*v", "--at", "v=[1,2]", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "derivative,autodiff,numeric,error,tolerance,ok,left,right"
    assert [line.split(",")[0] for line in lines[1:]] == ['"d/dv[0', '"d/dv[0', '"d/dv[1', '"d/dv[1']
    assert run(["check", "x", "--at", "x=1", "--format", "value"]) == 0
    assert capsys.readouterr().out == "true\n"


def test_a_mismatch_is_shown_and_fails(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPS["sin"], "partials", [lambda y, x: y])
    assert run(["check", "sin(x) + y", "--at", "x=1,y=2"]) == 1
    shown = capsys.readouterr()
    assert "wrong" in shown.out and shown.out.count("ok") == 1
    assert "d/dx: not what differences of the value give" in shown.err


def test_orders_beyond_two_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "x", "--at", "x=1", "--order", "3"]) == 2
    assert "orders 1 and 2" in capsys.readouterr().err
