"""The README's examples are run and their output compared; its table of functions is made from the op rows.

`python tests/test_readme.py` writes both anew.
"""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff.commands.functions import call
from autodiff.ops import NAMES, OPS

README = Path(__file__).parent.parent / "README.md"
EXAMPLE = re.compile(r"^    \$ (autodiff .*)\n((?:    (?!\$).*\n|\n(?=    (?!\$)))*)", re.MULTILINE)
TABLE = re.compile(r"(<!-- functions -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LIBRARY = re.compile(r"(<!-- library -->\n)(.*?)(<!-- end -->)", re.DOTALL)
TORCH = re.compile(r"(<!-- torch -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def output(line: str) -> str:
    """What a terminal would show: standard output, then standard error."""
    words = [sys.executable, "-m", "autodiff", *shlex.split(line)[1:]]
    done = subprocess.run(words, capture_output=True, check=False, encoding="utf-8", env={"PYTHONIOENCODING": "utf-8"})
    text = done.stdout + done.stderr
    return "".join(f"    {row}".rstrip() + "\n" for row in text.splitlines())


def table() -> str:
    """The functions, a row each."""
    rows = ["| function | what it is | domain | at kinks |", "| --- | --- | --- | --- |"]
    for op in OPS.values():
        if NAMES.get(op.name) is op:
            names = ", ".join([f"`{call(op)}`", *(f"`{alias}`" for alias in op.aliases)])
            cells = [text.replace("|", "\\|") for text in (names, op.doc, op.domain, op.kinks)]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def differences(test: str = "test_torch.py") -> str:
    """Where torch answers differently, from the test that holds us against it."""
    spec = importlib.util.spec_from_file_location("differences", Path(__file__).parent / test)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.differences()) + "\n"


TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("line,shown", EXAMPLE.findall(TEXT), ids=lambda text: text.splitlines()[0][:60])
def test_example(line: str, shown: str) -> None:
    assert shown == output(line)


def test_there_are_examples() -> None:
    assert len(EXAMPLE.findall(TEXT)) > 15


def test_the_table_is_fresh() -> None:
    found = TABLE.search(TEXT)
    assert found is not None and found[2] == table()


def test_the_differences_from_torch_are_listed() -> None:
    found = TORCH.search(TEXT)
    assert found is not None and found[2] == differences()
    found = LIBRARY.search(TEXT)
    assert found is not None and found[2] == differences("tensors/test_differences.py")


def test_the_library_answers_as_shown() -> None:
    test = doctest.DocTestParser().get_doctest(TEXT, {}, "README", str(README), 0)
    assert len(test.examples) > 20
    shown: list[str] = []
    assert doctest.DocTestRunner().run(test, out=shown.append).failed == 0, "".join(shown)


if __name__ == "__main__":
    text = EXAMPLE.sub(lambda match: f"    $ {match[1]}\n{output(match[1])}", TEXT)
    text = TORCH.sub(lambda match: match[1] + differences() + match[3], text)
    text = LIBRARY.sub(lambda match: match[1] + differences("tensors/test_differences.py") + match[3], text)
    README.write_text(TABLE.sub(lambda match: match[1] + table() + match[3], text), encoding="utf-8")
