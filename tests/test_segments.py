"""Gradients by segments: the same answers as in one piece, in less memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from autodiff import differentiate
from autodiff.errors import AutodiffError
from autodiff.job import Settings
from autodiff.parse import parse

POINT: dict[str, Any] = {"x": 0.7, "y": 1.3, "v": np.array([0.5, -1.0, 2.0])}
PROGRAMS = [
    "y = x; for k in 1..50 { y = sin(y)*1.1 + 0.1*k*x }; y",
    "f(t) { s = 0; for k in 1..5 { s += t^k/k }; s }; z = 0; for j in 1..8 { z += f(x*j/10) + f(y)*x }; z",
    "w = v; for k in 1..20 { w = w*0.9 + sin(v)*x }; sum(w*w)",
    "s = 0; for a in v*x { for b in v { s += a*b^2 + y } }; s",
    "y = y; n = 0; while y < 40 { y = y*1.2 + x; n += 1; if n > 30 { break } }; y*n",
    "x = x*2; for k in 1..3 { x = x*x }; x + y",
    "f(t) = f(t-1)*x if t > 0 else y; s = 0; for k in 1..4 { s += f(k) }; s",
    "x*y",
    "c = 3; for k in 1..5 { c = c + 1 }; c",
]


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("length", [1, 7, 100_000])
def test_the_same_answers(text: str, length: int) -> None:
    program = parse(text)
    point = {name: POINT[name] for name in program.inputs}
    whole = differentiate.gradient(program, point, list(point))
    parts = differentiate.gradient(program, point, list(point), Settings(checkpoint=length))
    assert parts.value == whole.value
    for name, g in (whole.gradient or {}).items():
        assert np.allclose((parts.gradient or {})[name], g, rtol=1e-12, atol=1e-13), name


def peak(settings: Settings) -> tuple[Any, int]:
    program = parse("w = v; for k in 1..400 { w = sin(w)*0.9 + v*0.1 }; sum(w)")
    tracemalloc.start()
    found = differentiate.gradient(program, {"v": np.linspace(0.0, 1.0, 2000)}, ["v"], settings)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (found.gradient or {})["v"], used


def test_memory_is_traded_for_time() -> None:
    whole, all_of_it = peak(Settings())
    parts, some_of_it = peak(Settings(checkpoint=80))
    assert np.allclose(whole, parts, rtol=1e-12)
    assert some_of_it < all_of_it / 5


def test_errors_and_kinks_are_told() -> None:
    program = parse("s = 0; for k in 1..9 { s += abs(x - 3)*k }; s")
    found = differentiate.gradient(program, {"x": 3.0}, ["x"], Settings(checkpoint=3))
    assert [(note.kind, note.count) for note in found.notes] == [("kink", 9)]
    assert found.gradient == {"x": 0.0}
    with pytest.raises(AutodiffError) as caught:
        differentiate.gradient(parse("for k in 1..5 { v = v[k] }; v"), POINT, ["v"], Settings(checkpoint=2))
    assert caught.value.span is not None
