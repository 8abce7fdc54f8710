"""What a scalar run must not load, read from sys.modules in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"numpy", "lark", "rich", "scipy", "typer", "click", "inspect", "logging", "dataclasses", "typing", "json"}


def loaded(*words: str) -> set[str]:
    program = f"import sys; from autodiff.cli import run; status = run({list(words)!r}); print(status, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, encoding="utf-8")
    status, *modules = done.stdout.splitlines()[-1].split()
    assert status == "0", done.stderr
    return set(modules) & HEAVY


def test_a_scalar_run_is_light() -> None:
    assert loaded("grad", "(x+2)*x", "--at", "x=2") == set()
    assert loaded("grad", "sin(x)*exp(x)/(1 + x^2)", "--at", "x=2", "--json") == set()
    assert loaded("graph", "(x+2)*x", "--at", "x=2", "--format", "dot") == set()


def test_the_test_can_fail() -> None:
    assert "numpy" in loaded("eval", "sum([1, 2])")
