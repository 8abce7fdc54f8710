"""The command derive: what it prints in each format, and what it refuses."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from autodiff.cli import run


def call(*words: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    status = run(["derive", *words])
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return status, out, err


PRINTED = {
    ("(x+2)*x", "--wrt", "x"): "d/dx  2*x + 2\n",
    ("x*y + sin(x)",): "d/dx  y + cos(x)\nd/dy  x\n",
    ("x*y + sin(x)", "--wrt", "y,x"): "d/dy  x\nd/dx  y + cos(x)\n",
    ("x^3", "--order", "2"): "d2/dx2  6*x\n",
    ("x^2*y", "-F", "value"): "2*x*y\nx^2\n",
    ("-x^2",): "d/dx  -2*x\n",
    ("gamma*x^2", "--wrt", "x"): "d/dx  2*gamma*x\n",
    ("sum(a*x^2)", "--wrt", "x", "--at", "a=[1, 2]"): "d/dx  6*x\n",
    ("[x^2, x*y]", "--wrt", "x"): "d/dx  [2*x, y]\n",
    ("x/3", "--latex"): "d/dx  \\frac{1}{3}\n",
    ("2*alpha*x_1^2", "--wrt", "x_1", "--latex"): "d/dx_1  4 \\, \\alpha \\, x_{1}\n",
    ("x^2 if 0 < x <= 1 else -x", "--latex"): (
        "d/dx  \\begin{cases} 2 \\, x & \\text{if } 0 < x \\le 1 \\\\ -1 & \\text{otherwise} \\end{cases}\n"
    ),
    ("exp(x)^2*sqrt(y)", "--wrt", "x", "--latex"): "d/dx  2 \\, \\sqrt{y} \\, e^{2 \\, x}\n",
    ("(x + 1)^y", "--wrt", "x", "--latex"): "d/dx  y \\, \\left(x + 1\\right)^{y - 1}\n",
}


@pytest.mark.parametrize("words", PRINTED, ids=" ".join)
def test_printed(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(*words, monkeypatch=monkeypatch) == (0, PRINTED[words], "")


def test_json(monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = call("x*y", "--json", monkeypatch=monkeypatch)
    assert (status, err) == (0, "")
    assert list(json.loads(out).items()) == [("expression", "x*y"), ("derivatives", {"x": "y", "y": "x"})]


def test_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "y = x; while y < 100 { y = y*y }; y"
    status, out, err = call(loop, monkeypatch=monkeypatch)
    assert (status, out) == (2, "")
    assert "--at x=…" in err
    status, out, err = call(loop, "--at", "x=3", "--json", monkeypatch=monkeypatch)
    found = json.loads(out)
    assert status == 0
    assert found["derivatives"] == {"x": "8*x^7"}
    assert [note["kind"] for note in found["notes"]] == ["path"]
    assert "path taken at x=3" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("x*z", "--wrt", "y"), "'y' is no input"),
        (("sine(x)",), "unknown name 'sine'"),
        (("x +",), "error"),
        (("x^2", "--order", "2", "--emit", "c"), "--order"),
        (("[x, y]", "--emit", "c"), "array"),
        (("x", "--emit", "cobol"), "python"),
        (("sum(v)", "--at", "v=[1, 2]", "--order", "2"), "'v' is an array"),
        (("sum(v)", "--at", "v=[1, 2]", "--emit", "c"), "'v' is an array"),
        (("sum(v)", "--at", "v=[]"), "1 to 64 entries"),
        (("x", "--latex", "--emit", "c"), "--latex"),
        (("x", "--json", "--emit", "c"), "--format"),
    ],
)
def test_refused(words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = call(*words, monkeypatch=monkeypatch)
    assert (status, out) == (2, "")
    assert said in err


def test_emitted_python_runs_alone() -> None:
    words = [sys.executable, "-m", "autodiff", "derive", "(x+2)*x", "--emit", "python"]
    code = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    done = subprocess.run(
        [sys.executable, "-I", "-c", code + "\nprint(*f(2.0))"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "8.0 [6.0]\n"


def test_other_commands_do_not_load_this() -> None:
    code = (
        "import sys; sys.argv = ['autodiff', 'grad', '(x+2)*x', '--at', 'x=2']; from autodiff.cli import run; "
        "run(sys.argv[1:]); print([m for m in sys.modules if 'symbolic' in m or m == 'fractions'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("x*y if y else x",), {"x": "y if y != 0 else 1", "y": "x if y != 0 else 0"}),  # y is not 1 where it holds
        (("x + (x or y)",), {"x": "1", "y": "0"}),
        (("stop_gradient(x)*x",), {"x": "x"}),
        (("stop_gradient(x)*x", "--order", "2"), {"x": "0"}),
        (("sum(v^2)*a", "--at", "v=[1, 2]"), {"v": "[2*a*v[0], 2*a*v[1]]", "a": "v[0]^2 + v[1]^2"}),
        (("v*a", "--at", "v=[1, 2]", "--wrt", "a"), {"a": "[1, 2]"}),
        (("det(A)", "--at", "A=[[1, 2], [3, 4]]"), {"A": "[[A[1, 1], -A[1, 0]], [-A[0, 1], A[0, 0]]]"}),
    ],
)
def test_formulas(words: tuple[str, ...], written: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = call(*words, "--json", monkeypatch=monkeypatch)
    assert (status, json.loads(out)["derivatives"]) == (0, written)


def test_entries_as_latex(monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = call("v[0]*A[1, 0]*x", "--at", "v=[1],A=[[1], [2]]", "--latex", monkeypatch=monkeypatch)
    assert out.splitlines()[-1] == "d/dx  A_{1,0} \\, v_{0}"


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("(x*1e200)^2*1e-300", "2e100*x"),
        ("(x*1e200)^2", "1e200*(2e200*x)"),
        ("x*5e-324", "5e-324"),
        ("max(x, 0)^z + x - x", "z*x^(z - 1) if x > 0 else 0"),
        ("hypot(relu(x), relu(y))", "x/sqrt(x^2 + relu(y)^2) if x > 0 else 0"),  # and no 0/0
        ("x*y if z > 2 and y else x", "y if z > 2 and y != 0 else 1"),
    ],
)
def test_formulas_that_stay_in_range(source: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = call(source, "--wrt", "x", "-F", "value", monkeypatch=monkeypatch)
    assert (status, out) == (0, written + "\n")
