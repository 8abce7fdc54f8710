"""Bounds of rounding errors hold against exact arithmetic, and are not far above the errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff import conditioning, differentiate, exact
from autodiff.cli import run
from autodiff.commands.line import read
from autodiff.commands.request import Request
from autodiff.job import Outcome
from autodiff.operands.extended import digits, lift, lower
from autodiff.ops import OPS
from autodiff.sensitivity import Sensitivity, sensitivity

CASES = Path(__file__).parent.parent / "cases"
LOOSE = 100.0


def sampled() -> dict[str, list[str]]:
    """The cases of the kinds random and stability that have one number for a value."""
    found = {}
    for file in sorted(CASES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            case: dict[str, Any] = json.loads(line)
            words = case.get("argv") or [""]
            if case["kind"] in ("random", "stability") and words[0] in ("grad", "hess", "eval"):
                kept = [words[1]]
                for option, value in zip(words, [*words[1:], ""], strict=True):
                    kept += [option, value] if option == "--at" else []
                found[case["id"]] = kept
    return found


SAMPLED = sampled()


def errors(request: Request, out: Outcome) -> dict[str, np.ndarray[Any, Any]]:
    """How far the value and each derivative are from the exact ones."""
    gradient = out.gradient or {}
    with digits(400):
        program, at = exact.lifted(request.program), exact.lifted_point(request.program, request.point)
        true = {"": exact.value(program, at), **exact.gradient(program, at, [*gradient])}
        ours = {"": out.value, **gradient}
        return {name: np.ravel(np.abs(lower(OPS["sub"](true[name], lift(ours[name]))))) for name in ours}


def holds(error: float, bound: float, value: float) -> None:
    unit = 2.0**-53 * abs(value)
    assert error <= bound * (1 + 1e-6) + 5e-324, f"off by {error / unit if unit else math.inf:.3g} units, bound {bound}"
    assert bound <= LOOSE * max(error, unit) + 5e-324, f"bound {bound}, error {error}"


@pytest.mark.parametrize("words", SAMPLED.values(), ids=SAMPLED)
def test_measured_bounds_hold_and_are_tight(words: list[str]) -> None:
    request = Request(read(["grad", *words]))
    value = differentiate.value(request.program, request.point, request.settings).value
    if np.ndim(value):
        return
    out = differentiate.gradient(request.program, request.point, request.wrt(), request.settings)
    found = sensitivity(request.program, request.point, out.value, out.gradient or {}, 10**6)
    off = errors(request, out)
    if math.isfinite(out.value):
        holds(off[""][0], found.value, out.value)
    for name, slope in (out.gradient or {}).items():
        for e, b, v in zip(off[name], np.ravel(found.gradient[name]), np.ravel(slope), strict=True):
            if math.isfinite(v):
                holds(e, b, v)


@pytest.mark.parametrize("words", SAMPLED.values(), ids=SAMPLED)
def test_bounds_from_the_rows_alone_hold(words: list[str]) -> None:
    request = Request(read(["grad", *words]))
    value = differentiate.value(request.program, request.point, request.settings).value
    if np.ndim(value):
        return
    out = differentiate.gradient(request.program, request.point, request.wrt(), request.settings)
    found = conditioning.derivatives(request.program, request.point, request.wrt(), 10**6) or {}
    off = errors(request, out)
    for name, bounds in found.items():
        for e, b, v in zip(off[name], bounds, np.ravel((out.gradient or {})[name]), strict=True):
            assert not math.isfinite(v) or e <= b.total * (1 + 1e-6) + 5e-324


def of(text: str, **point: float) -> Sensitivity:
    from autodiff.parse import parse

    program = parse(text)
    out = differentiate.gradient(program, point, [*point])
    return sensitivity(program, point, out.value, out.gradient or {}, 10**6)


def test_condition_numbers() -> None:
    assert of("x^3*y", x=2.0, y=5.0).condition == {"x": 3.0, "y": 1.0}
    assert of("x - 1", x=1.0).condition == {"x": math.inf}
    assert of("x", x=0.0).condition == {"x": 0.0}


def test_what_is_exact_has_no_error() -> None:
    found = of("x^2 - 4*x + 1", x=2.0)
    assert found.value == 0.0
    assert found.gradient == {"x": 0.0}
    assert not found.notes


def test_the_subtraction_is_named() -> None:
    (note,) = of("(1-cos(x))/x^2", x=1e-8).notes
    assert note.span == (1, 9)


def test_a_bound_that_is_too_small_would_be_seen() -> None:
    with pytest.raises(AssertionError):
        holds(2e-16, 1e-16, 1.0)
    with pytest.raises(AssertionError):
        holds(1e-17, 1e-13, 1.0)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["grad", "x*y", "--at", "x=2,y=3", "--sensitivity"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["condition", "x", "1"] in lines
    assert ["rounding", "0"] in lines
    assert run(["grad", "sum(x*v)", "--at", "x=2,v=[0.1,3]", "--sensitivity", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found)[:6] == ["expression", "at", "value", "gradient", "condition", "rounding"]
    assert len(found["condition"]["v"]) == len(found["rounding"]["gradient"]["v"]) == 2
    assert run(["grad", "x*y", "--at", "x=2,y=3", "--sensitivity", "--format", "csv"]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert head == "value,d/dx,d/dy,condition x,condition y,rounding,rounding d/dx,rounding d/dy"
