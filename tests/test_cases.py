"""Cases as data: a command line each, and what must come of it. One JSON object a line in tests/cases/*.jsonl."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autodiff.cli import run

CASES = [
    json.loads(line)
    for file in sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
    for line in file.read_text(encoding="utf-8").splitlines()
    if line.strip()
]
WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def agree(want: Any, got: Any, rtol: float, atol: float, zero: float, path: str = "$") -> None:
    """Assert that `got` holds what `want` asks for; objects may have more keys."""
    if isinstance(want, dict):
        assert isinstance(got, dict), path
        for key, value in want.items():
            assert key in got, f"{path}.{key} is missing"
            agree(value, got[key], rtol, atol, zero, f"{path}.{key}")
    elif isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want), f"{path}: {got}"
        for i, (w, g) in enumerate(zip(want, got, strict=True)):
            agree(w, g, rtol, atol, zero, f"{path}[{i}]")
    elif isinstance(want, str) or want is None:
        assert got == want, path
    else:
        assert isinstance(got, (int, float)), f"{path}: {got}"
        allowed = max(rtol * abs(want), atol, zero if want == 0 else 0.0)
        assert got == want or abs(got - want) <= allowed, f"{path}: {got} is not {want}"


def evaluates(case: dict[str, Any], formulas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assert that each formula is one of the language, and has at each point the value that is wanted."""
    want = case["expect"]
    for name in want["derive"]:
        names = set(re.findall(r"[^\W\d]\w*", formulas[name]))
        for point in want["points"]:
            at = [f"--at={key}={value!r}" for key, value in point["at"].items() if key in names]
            status, out, err = call(["eval", formulas[name], *at, "--json"], "", monkeypatch)
            assert status == 0, err
            agree(point["values"][name], json.loads(out)["value"], want.get("rtol", 1e-12), 0.0, 0.0, name)
        assert len(formulas[name]) <= 1.5 * want["chars"][name], formulas[name]


def number(text: str) -> float | str:
    return WORDS.get(text.strip()) or float(text)


def call(argv: list[str], stdin: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run a command line in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    for name, stream in zip(("stdout", "stderr", "stdin"), (*streams, source), strict=True):
        monkeypatch.setattr(sys, name, stream)
    status = run(argv)
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return status, out, err


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = case["expect"]
    for name, text in case.get("files", {}).items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)
    if "sh" in case:
        command = shlex.join([sys.executable, "-m", "autodiff"])
        done = subprocess.run(["bash", "-c", case["sh"].replace("{CMD}", command)], capture_output=True, check=False)
        status, out, err = done.returncode, done.stdout.decode(), done.stderr.decode()
    else:
        for line in [case["argv"], *case.get("alts", [])]:
            status, out, err = call(line, case.get("stdin", ""), monkeypatch)
            if status == want.get("exit", 0):
                break
    allowed = want.get("exit", 0)
    assert status in (allowed if isinstance(allowed, list) else [allowed]), err
    assert "Traceback" not in out + err
    rtol, atol, zero = want.get("rtol", 1e-12), want.get("atol", 0.0), want.get("zero", 0.0)
    if "json" in want:
        got = json.loads(out, parse_constant=lambda name: pytest.fail(f"a bare {name} is not JSON"))
        agree(want["json"], got, rtol, atol, zero)
        for key in want.get("json_nonempty", []):
            assert got.get(key)
        keys = want.get("json_keys", [])
        assert list(got)[: len(keys)] == keys
    if "derive" in want:
        evaluates(case, json.loads(out)["derivatives"], monkeypatch)
    if "numbers" in want:
        agree(want["numbers"], [number(line) for line in out.splitlines() if line.strip()], rtol, atol, zero)
    if "csv" in want:
        import csv

        rows = list(csv.DictReader(io.StringIO(out)))
        assert len(rows) == len(want["csv"])
        for wanted, got in zip(want["csv"], rows, strict=True):
            for key, value in wanted.items():
                agree(value, got[key] if isinstance(value, str) else number(got[key]), rtol, atol, zero)
    if "stdout" in want:
        assert out.rstrip("\n") == want["stdout"].rstrip("\n")
    for text in want.get("stdout_contains", []):
        assert text in out
    for text in want.get("stderr_contains", []):
        assert text.lower() in err.lower()
    for text in want.get("stderr_lacks", []):
        assert text.lower() not in err.lower()
    for name, text in want.get("file", {}).items():
        assert (tmp_path / name).read_text(encoding="utf-8").rstrip("\n") == text.rstrip("\n")
    for name in want.get("no_file", []):
        assert not os.path.exists(tmp_path / name)


def test_the_comparison_can_fail() -> None:
    with pytest.raises(AssertionError):
        agree({"x": [1.0]}, {"x": [1.0 + 1e-9]}, 1e-12, 0.0, 0.0)
    with pytest.raises(AssertionError):
        agree({"x": "NaN"}, {"x": math.nan}, 1e-12, 0.0, 0.0)
