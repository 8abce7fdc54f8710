"""A whole line in this process, and what it leaves."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from autodiff.cli import run


class Done(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def do(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(*words: str, stdin: bytes | None = None) -> Done:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = run(list(words))
        return Done(status, *capfd.readouterr())

    return call
