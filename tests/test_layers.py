"""Imports point downwards: read from the source, held against the list of layers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "autodiff"

# From the bottom up; a room may import itself and what stands before it.
LAYERS = [
    "errors", "numeric", "ops", "tape", "operands", "rules", "sweep", "parse", "names", "evaluate", "flat",
    "generate", "straight", "roads", "onesided", "notes", "segments", "exact", "conditioning", "cancellation",
    "sensitivity", "job", "differentiate", "picture", "check", "tensors", "func", "autograd", "nn", "linalg",
    "special", "symbolic", "expression", "render", "commands", "cli", "__main__",
]  # fmt: skip
ALLOWED = {
    # numbers are printed by what reads nothing but plain data
    "parse": {"errors"},
    "render": {"errors"},
    "numeric": {"errors"},
    "ops": {"errors", "numeric"},
}
UPWARD = {("commands/pages.py", "cli")}  # Typer's commands hand the words on to the reader of every run


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "autodiff":
            if node.module == "autodiff":
                found |= {alias.name for alias in node.names if (SOURCE / f"{alias.name}.py").exists()}
            else:
                found.add(room(node.module))
        elif isinstance(node, ast.Import):
            found |= {room(alias.name) for alias in node.names if alias.name.startswith("autodiff.")}
    return found


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "tables.py")


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(SOURCE)) for path in FILES])
def test_imports_point_downwards(path: Path) -> None:
    relative = path.relative_to(SOURCE)
    here = relative.parts[0].removesuffix(".py")
    if here == "__init__":
        return
    assert here in LAYERS, f"{here} is in no layer"
    below = ALLOWED.get(here, set(LAYERS[: LAYERS.index(here)])) | {here}
    for other in imports(path):
        assert other in below or (str(relative), other) in UPWARD, f"{relative} imports {other}"


def test_only_the_error_tree_imports_nothing() -> None:
    assert imports(SOURCE / "errors.py") == set()
