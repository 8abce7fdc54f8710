"""Emitted code is compiled and run, and agrees with the tape."""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff import differentiate
from autodiff.names import inputs_of
from autodiff.ops import NAMES
from autodiff.parse import parse
from autodiff.symbolic.derive import derive
from autodiff.symbolic.emit import emit
from autodiff.symbolic.languages import c, numpy, python

Answer = tuple[float, list[float]]

NOT_ALONE = {"not", "and", "or", "where", "lt", "le", "gt", "ge", "eq", "ne", "stop_gradient"}
SCALAR = [op for name, op in NAMES.items() if op.name == name and op.partials is not None and name not in NOT_ALONE]


def written() -> list[str]:
    """An expression for each function, with operands in its domain for x in 0.2 … 0.8 and y in 1.2 … 1.8."""
    texts = []
    for op in SCALAR:
        names = [operand.partition("=")[0] for operand in op.operands if operand != "…"]
        operands = ["x", "y", "x*y"][: len(names)]
        if op.name in ("acosh",):
            operands = ["y"]
        elif op.name == "clip":
            operands = ["x", "0.1", "y"]
        elif op.name == "dsinc":
            operands = ["x", "2"]
        elif op.name == "polygamma":
            operands = ["2", "y"]
        texts.append(f"{op.name}({', '.join(operands)})")
    return texts


FUNCTIONS = written()
TEXTS = [
    "(x+2)*x",
    "x^2*y - 3*x/y + 0.1",
    "exp(-x^2)*sin(x*y)/(1 + x^2)^1.5",
    "x^y + 2^x + x^3 + (1/3)*x",
    "x^2 if x > 0.5 and y > 1 else sin(x) if not (x > 0.3) else x*y",
    "x*(x > 0.5) + y*(x <= 0.5 or y == 1)",
    "max(x, y, x*y) - min(x, 0.5)",
    "pi*x + e^y",
    "sin(sin(sin(x)*y)*y)*cos(sin(sin(x)*y)*y)",
    "f(t) = t^2 + 1; f(x)*f(y)",
    "7 % (x + y) + (3*y // x)*x",
    "mills(x - 4) + mills_excess(x - 4) + log_ndtr(x - 25) + dsinc(5*x, 3) + polygamma(1, -x)",
    "beta(x - 2.2, y) + beta(0.1 - y, -x)*beta(-x, y - 4)",
    "3",
]
POINTS = [(0.25, 1.75), (0.7, 1.3)]


def code(language: str, text: str) -> str:
    program = parse(text)
    names = inputs_of(program, {})
    return emit(language, text, derive(program, names), names)


def reference(text: str, x: float, y: float) -> Answer:
    program = parse(text)
    names = inputs_of(program, {})
    point = {"x": x, "y": y}
    out = differentiate.gradient(program, point, names)
    return float(out.value), [float(v) for v in (out.gradient or {}).values()]


def agree(text: str, call: Callable[..., Any]) -> None:
    names = inputs_of(parse(text), {})
    for x, y in POINTS:
        value, gradient = call(*({"x": x, "y": y}[name] for name in names))
        want, slopes = reference(text, x, y)
        assert math.isclose(value, want, rel_tol=1e-11, abs_tol=1e-13), text
        assert np.allclose(gradient, slopes, rtol=1e-10, atol=1e-13), text


def loaded(source: str) -> Callable[..., Any]:
    room: dict[str, Any] = {}
    exec(compile(source, "emitted", "exec"), room)
    return room["f"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", TEXTS + FUNCTIONS)
@pytest.mark.parametrize("language", ["python", "numpy"])
def test_python_and_numpy(language: str, text: str) -> None:
    source = code(language, text)
    assert "autodiff" not in source
    agree(text, loaded(source))


def test_numpy_takes_arrays() -> None:
    f = loaded(code("numpy", "where(x > 0.5, x^2*y, y) + digamma(x)*3"))
    xs, ys = np.array([p[0] for p in POINTS]), np.array([p[1] for p in POINTS])
    value, (dx, dy) = f(xs, ys)
    assert value.shape == dx.shape == dy.shape == (2,)
    for i, (x, y) in enumerate(POINTS):
        want, slopes = reference("where(x > 0.5, x^2*y, y) + digamma(x)*3", x, y)
        assert np.allclose([value[i], dx[i], dy[i]], [want, *slopes], rtol=1e-11)


def test_c(tmp_path: Path) -> None:
    """All texts in one library: each in a file of its own, since each stands alone."""
    files = []
    for i, text in enumerate(TEXTS + FUNCTIONS):
        file = tmp_path / f"f{i}.c"
        file.write_text(code("c", text).replace("double f(", f"double f{i}("), encoding="utf-8")
        files.append(str(file))
    library = tmp_path / "all.so"
    done = subprocess.run(
        ["gcc", "-std=c99", "-O0", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC", *files,
         "-lm", "-o", library],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
    functions = ctypes.CDLL(str(library))
    for i, text in enumerate(TEXTS + FUNCTIONS):
        names = inputs_of(parse(text), {})
        f = getattr(functions, f"f{i}")
        f.restype = ctypes.c_double
        f.argtypes = [ctypes.c_double] * len(names) + [ctypes.POINTER(ctypes.c_double)]

        def call(*xs: float, f: Any = f, count: int = len(names)) -> Answer:
            gradient = (ctypes.c_double * max(1, count))()
            return f(*xs, gradient), list(gradient)[:count]

        agree(text, call)


@pytest.mark.parametrize("text", ["lambda1*double + math*t1", "max(x, 1)*gradient + f2*value", "np*x + _sign*abs(x)"])
def test_names_of_the_language_are_not_taken(text: str, tmp_path: Path) -> None:
    names = inputs_of(parse(text), {})
    point = dict(zip(names, (0.5, 0.75, 2.0, 3.0), strict=False))
    out = differentiate.gradient(parse(text), point, names)
    for language in ("python", "numpy"):
        value, gradient = loaded(code(language, text))(*point.values())
        assert value == out.value and list(gradient) == list((out.gradient or {}).values())
    (tmp_path / "f.c").write_text(code("c", text), encoding="utf-8")
    subprocess.run(["gcc", "-std=c99", "-Werror", "-c", "f.c"], cwd=tmp_path, check=True)


def test_every_function_is_there() -> None:
    for target in (python.TARGET, numpy.TARGET, c.TARGET):
        known = {*target.calls, "pow", "square", "reciprocal"}
        simplified = {"exp2", "unit", "sec", "csc", "tan", "tanh", "sech", "deg2rad", "rad2deg", "hypot", "sqrt"}
        missing = {op.name for op in SCALAR} - known - simplified - {"add", "sub", "mul", "div", "neg", "pos"}
        assert not missing
    assert {"tan", "tanh", "sin"} <= {*python.CALLS}
