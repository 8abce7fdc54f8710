"""Running a text: its value by every road there is, its gradient, its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff import differentiate
from autodiff.errors import AutodiffError, Note
from autodiff.evaluate import evaluate
from autodiff.job import Settings
from autodiff.names import inputs_of
from autodiff.parse import parse
from autodiff.tape import value_of


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.fixture
def value() -> Callable[..., Any]:
    """The value, as numbers and lists; recorded or not, by generated code or by the machine, it is the same."""

    def found(text: str, **at: Any) -> Any:
        program = parse(text)
        names = inputs_of(program, at)
        roads = [
            differentiate.value(program, at).value,
            value_of(evaluate(program, at).value),
            value_of(evaluate(program, at, names, picture=True).value),
            differentiate.jacobian(program, at, names).value,
        ]
        first = plain(roads[0])
        for other in roads[1:]:
            np.testing.assert_allclose(np.asarray(plain(other), float), np.asarray(first, float), rtol=1e-15)
            assert np.shape(other) == np.shape(roads[0])
        return first

    return found


@pytest.fixture
def gradient() -> Callable[..., dict[str, Any]]:
    def found(text: str, **at: Any) -> dict[str, Any]:
        program = parse(text)
        out = differentiate.gradient(program, at, inputs_of(program, at))
        assert out.gradient is not None
        return {name: plain(g) for name, g in out.gradient.items()}

    return found


@pytest.fixture
def notes() -> Callable[..., list[Note]]:
    def found(text: str, **at: Any) -> list[Note]:
        program = parse(text)
        return differentiate.gradient(program, at, inputs_of(program, at)).notes

    return found


@pytest.fixture
def error() -> Callable[..., AutodiffError]:
    """The error of a text that marks with « » what its span covers; recorded or not, it is the same."""

    def found(marked: str, max_ops: int = 100_000, **at: Any) -> AutodiffError:
        text = marked.replace("«", "").replace("»", "")
        caught = []
        for wrt in (False, True):
            with pytest.raises(AutodiffError) as raised:
                program = parse(text)
                if wrt:
                    differentiate.jacobian(program, at, inputs_of(program, at), Settings(max_ops))
                else:
                    differentiate.value(program, at, Settings(max_ops))
            caught.append(raised.value)
        first, second = caught
        assert (first.message, first.span, first.help) == (second.message, second.span, second.help)
        if marked != text:
            assert first.span is not None
            start, end = first.span
            assert f"{text[:start]}«{text[start:end]}»{text[end:]}" == marked
        return first

    return found
