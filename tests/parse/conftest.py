"""What several tests of the parser share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autodiff.parse import parse
from autodiff.parse.program import CALL, OPCODES

Code = list[tuple[str, Any]]


@pytest.fixture
def code() -> Callable[[str], Code]:
    """The instructions of a text, without spans."""

    def plain(text: str) -> Code:
        return [
            (OPCODES[opcode], argument[:3] if opcode == CALL else argument) for opcode, argument, _ in parse(text).code
        ]

    return plain


@pytest.fixture
def labels() -> Callable[[str], list[str]]:
    """Each instruction with the text that its span covers."""

    def covered(text: str) -> list[str]:
        return [f"{OPCODES[opcode]} {text[slice(*span)]}" for opcode, _, span in parse(text).code]

    return covered
