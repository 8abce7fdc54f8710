"""The driver and its tables against Lark itself, and how the tables come and go."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from lark import Lark, Token, Tree

from autodiff.parse import compile as compiler
from autodiff.parse import parser

ROOT = Path(__file__).parents[2]
GRAMMAR = ROOT / "grammars" / "expression.lark"
CORPUS = (Path(__file__).parent / "corpus.txt").read_text("utf-8").splitlines()
PROGRAMS = [
    "a = 3   # first\n\n# only a comment\nb = a^2 ; b + 1  # end",
    "f(\n1,\n\n [2,\n3] # c\n)\n",
    "if x { 1 }\n\n # between\n else { 2 }\r\nelsewhere = 3\ry",
    "\n\n{}".format("\n".join(CORPUS)),
    "f(t) {\n  u = t\n  u * u\n}\nf(2)",
    "\ufeffx\u00a0+\u3000y\t\u200b* 2",
]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generator", ROOT / "grammars" / "tables.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class SkipNewlines:
    """Lark's view of the rule that newlines within brackets are blanks."""

    always_accept = ("_NEWLINE",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for token in stream:
            depth += (token in ("(", "[")) - (token in (")", "]"))
            if token.type != "_NEWLINE" or not depth:
                yield token


@pytest.fixture(scope="module")
def lark() -> Lark:
    return Lark(
        GRAMMAR.read_text("utf-8"),
        parser="lalr",
        lexer="contextual",
        postlex=SkipNewlines(),
        maybe_placeholders=True,
    )


def bare(tree: Any) -> Any:
    """Our tuples or Lark's tree as names and texts."""
    if isinstance(tree, Tree):
        return [str(tree.data), *map(bare, tree.children)]
    if isinstance(tree, Token):
        return [tree.type, str(tree)]
    if isinstance(tree, tuple):
        return [tree[0], *(child if isinstance(child, str) else bare(child) for child in tree[3:])]
    return tree


@pytest.mark.parametrize("text", [*CORPUS, *PROGRAMS])
def test_same_tree_as_lark(text: str, lark: Lark) -> None:
    assert bare(parser.tree(text)) == bare(lark.parse(text))


def test_corpus_uses_every_rule(generator: ModuleType) -> None:
    seen = set()

    def visit(tree: Any) -> None:
        if isinstance(tree, list):
            seen.add(tree[0])
            for child in tree[1:]:
                visit(child)

    for text in CORPUS:
        visit(bare(parser.tree(text)))
    nodes = {row[3] for row in parser._tables.RULES if row[2] not in (generator.PASS, generator.LIST)}
    assert nodes <= seen


def test_every_node_is_compiled(generator: ModuleType) -> None:
    nodes = {row[3] for row in parser._tables.RULES if row[2] not in (generator.PASS, generator.LIST)}
    tokens = {name for name in parser._tables.TOKENS if name} - {"NAME", "NUMBER", "ROOT"}
    parts = {
        "start",
        "block",
        "range",
        "slice",
        "keyword",
        "change",
        "link",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
    }
    known = {*compiler.BINARY, *compiler.UNARY, *compiler.HANDLERS, *compiler.STATEMENTS}
    assert nodes | tokens <= known | parts


def test_tables_are_fresh(generator: ModuleType) -> None:
    written = (ROOT / "src/autodiff/parse/tables.py").read_text("ascii")
    assert generator.generate(GRAMMAR.read_bytes()) == written


@pytest.mark.parametrize("seed", ["1", "2"])
def test_tables_do_not_depend_on_hashes(seed: str, generator: ModuleType) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'grammars')!r}); import tables;"
        f"print(tables.generate(open({str(GRAMMAR)!r}, 'rb').read()), end='')"
    )
    made = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == generator.generate(GRAMMAR.read_bytes())


def test_conflicts_are_refused(generator: ModuleType) -> None:
    with pytest.raises(ValueError, match="conflict"):
        generator.load('start: a\n?a: a "+" a | NAME\nNAME: /x+/\n')


def run(checkout: Path, text: str) -> str:
    """What the checkout's parser makes of the text, and whether it needed Lark."""
    script = (
        "import sys; from autodiff.parse import parse; from autodiff.errors import SyntaxProblem\n"
        f"try: print([argument for _, argument, _ in parse({text!r}).code])\n"
        "except SyntaxProblem as problem: print(problem.message)\n"
        "print('lark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(checkout / "src")},
        capture_output=True,
        encoding="utf-8",
    )
    assert not done.stderr
    return done.stdout


def test_edited_grammar_takes_effect(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "grammars", tmp_path / "grammars")
    shutil.copytree(ROOT / "src", tmp_path / "src")
    grammar = tmp_path / "grammars" / "expression.lark"
    assert run(tmp_path, "a plus b").endswith("False\n")
    grammar.write_text(grammar.read_text("utf-8").replace('sum "+" product', '("plus" | "+") product', 1), "utf-8")
    grammar.write_text(grammar.read_text("utf-8").replace('| ("plus" | "+")', '| sum ("plus" | "+")', 1), "utf-8")
    assert run(tmp_path, "a plus b") == "['a', 'b', ('add', 2), None, None]\nTrue\n"
    assert run(tmp_path, "a plus b") == "['a', 'b', ('add', 2), None, None]\nFalse\n"
    (tmp_path / "src/autodiff/parse/tables.py").unlink()
    assert run(tmp_path, "a + b") == "['a', 'b', ('add', 2), None, None]\nTrue\n"
    assert sorted(path.name for path in (tmp_path / "src/autodiff/parse").glob("tables*")) == ["tables.py"]


def test_installed_package_needs_no_grammar(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    assert run(tmp_path, "a + b") == "['a', 'b', ('add', 2), None, None]\nFalse\n"
