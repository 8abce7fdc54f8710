"""Scripts as people write them for PyTorch, run with `import autodiff as torch`: what they print is what torch prints.

`python tests/tensors/test_scripts.py`, where torch is installed, writes anew what torch prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).with_name("scripts.txt")
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf\b|nan\b)")


def scripts(text: str) -> list[tuple[str, str, str]]:
    """(title, source, what torch prints) of each script of the file."""
    found = []
    for part in text.split("### ")[1:]:
        title, _, rest = part.partition("\n")
        source, _, prints = rest.partition("\n--- prints\n")
        found.append((title.strip(), source.strip() + "\n", prints.strip() + "\n"))
    return found


def printed(source: str) -> str:
    """What a script prints; the next one finds the default dtype as it was."""
    torch = import_module("torch")
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(source, "<script>", "exec"), {"__name__": "script"})
    finally:
        torch.set_default_dtype(torch.float32)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def words(text: str) -> tuple[list[float], str]:
    """The numbers of an output and what stands between them, without what says how values are kept."""
    text = re.sub(r",\s*dtype=torch\.\w+|torch\.return_types\.|torch::autograd::|values=|indices=", "", text)
    text = re.sub(
        r"\b(?:Extremes|Extent|Moments|max|min|var_mean|std_mean|aminmax|sort|cummax|cummin|mode|topk|kthvalue|median)\(",
        "tuple(",
        text,
    )
    text = re.sub(r"\b(?:values|indices|min|max)=", "", text)
    text = re.sub(r"grad_fn=<\w*>", "grad_fn", text)
    text = re.sub(r"torch\.Size\(\[([^\]]*)\]\)", r"(\1)", text)
    text = re.sub(r",\)", ")", re.sub(r"\s+", "", re.sub(r"(?<=[\d\])])\n?\s+(?=[-\d\[(])", "|", text)))
    return [float(n) for n in NUMBER.findall(text)], NUMBER.sub("#", text)


def torchlike() -> dict[str, ModuleType]:
    """The modules under which a script finds this library."""
    import autodiff as ad

    return {
        "torch": ad,
        "torch.autograd": ad.autograd,
        "torch.autograd.function": ad.autograd.function,
        "torch.autograd.functional": ad.autograd.functional,
        "torch.func": ad.func,
        "torch.nn": ad.nn,
        "torch.nn.functional": ad.nn.functional,
        "torch.utils": ad.utils,
        "torch.utils.checkpoint": ad.utils.checkpoint,
    }  # type: ignore[dict-item]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, module in torchlike().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield


CASES = scripts(SCRIPTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("title,source,prints", CASES, ids=[case[0] for case in CASES])
def test_prints_what_torch_prints(here: Any, title: str, source: str, prints: str) -> None:
    got = printed(source)
    ours, theirs = words(got), words(prints)
    assert ours[1] == theirs[1], got
    for place, (a, b) in enumerate(zip(ours[0], theirs[0], strict=True)):
        assert a == pytest.approx(b, rel=2e-4, abs=1.1e-4, nan_ok=True), f"number {place}: {a}, torch {b}\n{got}"


def test_long_tensors_are_laid_out_as_there(here: Any) -> None:
    ((_, source, prints),) = [case for case in CASES if case[0] == "long tensors"]
    assert printed(source) == prints


def test_there_are_scripts() -> None:
    assert len(CASES) >= 40
    assert all(len(prints) > 5 for _, _, prints in CASES)


if __name__ == "__main__":
    SCRIPTS.write_text(
        "\n".join(f"### {title}\n{source}--- prints\n{printed(source)}" for title, source, _ in CASES), encoding="utf-8"
    )
