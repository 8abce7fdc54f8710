"""Both roads agree: generated code and the machine give the same value and gradient, or only the machine answers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from autodiff import differentiate
from autodiff.errors import AutodiffError, LimitError
from autodiff.flat import TooMany, sweep
from autodiff.generate import Quick, Unsuited
from autodiff.job import Settings
from autodiff.names import inputs_of
from autodiff.ops import OPS
from autodiff.parse import parse

CASES = Path(__file__).parent / "cases"

PROGRAMS = [
    "y = x; while y < 100 { y = y * y }; y",
    "f(t) = t^2 + 1; f(x)*f(y)",
    "f(t) { if t < 1 { 1 } else { t*f(t-1) } }; f(x)",
    "y = 0; for k in 1..10 { if k == 3 { continue }; if k > 7 { break }; y += x^k if k % 2 == 0 else sin(k*x) }; y",
    "a = 1 < x < 3; b = x > 1 and y > 2 or x == 0; a + b*x",
    "(x if 0 < x < 1 < y else y)*(2 if x else 3)",
    "max(x,y)*clip(x, 0, 9) + hypot(x,y)+where(x>y,x,y)",
    "s = 0; for i in 1..3 { for j in i..3 { s += x^i*y^j; if s > 1e3 { break } } }; s",
    "s = 0; for i in 10..1 by -3 { s += x/i }; for i in 0..1 by 0.25 { s += y*i }; for i in 5..1 { s = 0 }; s",
    "x if (x>1)==true else y",
    "if x > 0 { y = x } else if x < -1 { y = 0 } else { y = -x }; y*x",
    "relu(x)*sigmoid(y)+lerp(x,y,0.3)+leaky_relu(-x) + elu(y, 2)",
    "max(x,y,3)*x + min(y, x, 1, x*y)",
    "f(t)=t>1; f(x)+f(y)+true*x",
    "n=0; while true { n = n + 1; if n > 5 { break } }; n*x",
    "2*pi*x+e",
    "true",
    "x>1",
    "c = 2; f(t) = c*t; c = 3; f(x) + y",
    "f(t) { u = t + 1; u * u }; u = x; f(u) - u",
    "while (x if x < 1 else y) > 2 and not y < 1 { y = y - 1 }; y*x",
    "stop_gradient(x)*y + erf(x)*atan2(y, x) - log1p(y)/sqrt(x)",
    "for k in 1..3 { x = x*k }; x",
    "s = 0; for k in 1..3 { s = s*x + y }; s",
    "f(t, c) = t*c; f(x, 2) + f(3, y)",
    "for k in 1..3 { k = k*x; y = y + k; k = 2; y = k*y }; y",
    "f(t) { if t < 1 { 2 } else { t = 3*x; u = 5; u*f(0)*t } }; f(y)",
]
POINT = {"x": 2.0, "y": 3.5}


def roads(text: str, point: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Answers of the quick road (None where it does not serve) and of the machine."""
    program = parse(text)
    names = [name for name in inputs_of(program, point) if name in point]
    point = {name: point[name] for name in names}
    with monkeypatch.context() as patch:
        patch.setattr(differentiate, "_quick", lambda *_: None)
        machine = differentiate.gradient(program, point, names)
    try:
        return Quick(program, names, names).value_and_gradient(point, 10**6), machine
    except Unsuited:
        return None, machine


def agree(quick: Any, machine: Any) -> None:
    value, gradient = quick
    assert value.__class__ is machine.value.__class__
    assert value == machine.value
    for ours, theirs in zip(gradient, machine.gradient.values(), strict=True):
        assert math.isclose(ours, theirs, rel_tol=1e-13, abs_tol=0.0)


@pytest.mark.parametrize("text", PROGRAMS)
def test_both_roads_agree(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, machine = roads(text, POINT, monkeypatch)
    assert quick is not None
    agree(quick, machine)


def test_both_roads_agree_on_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    served = 0
    for line in (CASES / "oracle.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        argv = case["argv"]
        if argv[0] != "grad" or "--at" not in argv or case["expect"].get("exit"):
            continue
        try:
            at = dict(pair.split("=") for pair in argv[argv.index("--at") + 1].split(","))
            point = {name: float(value) for name, value in at.items()}
            quick, machine = roads(argv[1], point, monkeypatch)
        except (ValueError, AutodiffError):
            continue
        if quick is not None:
            agree(quick, machine)
            served += 1
    assert served > 150


@pytest.mark.parametrize(
    "text",
    ["1/(x-2)", "log(x-2)", "abs(x-2)", "exp(exp(x^5))", "[x]", "diff(x^2, x)", "sqrt(x-2)", "z = z0; z", "1e999*x"],
)
def test_what_needs_a_word_is_left_to_the_machine(text: str) -> None:
    with pytest.raises((Unsuited, KeyError)):
        Quick(parse(text), ["x"], ["x"]).value_and_gradient({"x": 2.0}, 100)


def test_deep_recursion_is_left_to_the_machine() -> None:
    program = parse("f(t) { if t < 1 { x } else { f(t-1) + x } }; f(5000)")
    with pytest.raises(Unsuited):
        Quick(program, ["x"], ["x"]).value_and_gradient({"x": 2.0}, 10**6)
    assert differentiate.gradient(program, {"x": 2.0}, ["x"]).gradient == {"x": 5001.0}


def test_the_limit_holds_on_both_roads() -> None:
    program = parse("y = x; while true { y = y + 1 }; y")
    with pytest.raises(TooMany):
        Quick(program, ["x"], ["x"]).value_and_gradient({"x": 2.0}, 1000)
    for limit in (1000, 2_000_000):
        with pytest.raises(LimitError) as caught:
            differentiate.gradient(program, {"x": 2.0}, ["x"], Settings(limit))
        assert f"stopped after {limit} operations" in str(caught.value)
        assert caught.value.span is not None


def test_the_sweep_adds_what_several_paths_bring() -> None:
    quick = Quick(parse("(x+2)*x"), ["x"], ["x"])
    value, root, n, tape = quick.run([2.0], 10)
    assert (value, root, n) == (8.0, 3, 3)
    assert list(tape.backwards()) == [(-1, 4.0), (2, 2.0), (1, 1.0)]
    assert sweep(root, n, tape)[1] == 6.0


def test_a_long_tape_goes_to_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodiff.flat.STRETCH", 10)
    quick = Quick(parse("y = x; for k in 1..20 { y = y*x }; y*x"), ["x"], ["x"])
    *_, tape = quick.run([1.0], 1000)
    assert len(tape.operands) > 20 > len(tape.newest) > 0
    assert len(list(tape.backwards())) == 42
    assert quick.value_and_gradient({"x": 1.0}, 1000) == (1.0, [22.0])


def test_every_elementwise_row_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine gives a finite answer away from kinks, so does generated code."""
    names = ("x", "y", "z")
    for op in OPS.values():
        if (
            not (op.elementwise and op.scalar and op.differentiable and op.samples)
            or op.symbol
            or not op.name.isidentifier()
        ):
            continue
        for sample in op.samples:
            xs = sample if isinstance(sample, tuple) else (sample,)
            given = ", ".join(names[: len(xs)])
            point = dict(zip(names, map(float, xs), strict=False))
            try:
                quick, machine = roads(f"{op.name}({given})", point, monkeypatch)
            except AutodiffError:
                continue  # a row that texts can't call
            plain = not machine.notes and all(map(math.isfinite, (machine.value, *machine.gradient.values())))
            assert (quick is not None) or not plain, (op.name, xs)
            if quick is not None:
                agree(quick, machine)
