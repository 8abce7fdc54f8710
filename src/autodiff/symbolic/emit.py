"""Formulas as code of other languages: a function of value and gradient that needs nothing of ours.

A language is a Target: how numbers, operators and conditionals are written, what its libraries call our
functions, and short definitions of those that they lack, of which a text gets what it uses.
"""

from __future__ import annotations

import keyword
import unicodedata
from importlib import import_module

from autodiff.errors import RequestError
from autodiff.operands.formula import Formula, Symbol, walk
from autodiff.ops import OPS
from autodiff.symbolic.convert import CONSTANTS
from autodiff.symbolic.parts import common
from autodiff.symbolic.text import CALL, PLUS, POWER, SIGN, TIMES, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autodiff.symbolic.derive import Derived

    Piece = tuple[Any, int] | str

ARITHMETIC = {"add": PLUS, "sub": PLUS, "mul": TIMES, "chain": TIMES, "gate": TIMES, "div": TIMES}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
COMPARING = 3


class Target:
    """How a language writes formulas."""

    name = ""
    calls: Mapping[str, str] = {}
    """What it calls a function of ours; a name that `helpers` has is defined in the text."""
    helpers: Mapping[str, str] = {}
    words: frozenset[str] = frozenset()
    """Names that a variable can't have."""
    total = True
    """Whether functions give nan outside their domain, rather than an exception."""

    def speakable(self, word: str) -> str:
        """A name of the language that is nearest to one of ours, which may have a small figure in it, as in x₁."""
        return word if word.isascii() else unicodedata.normalize("NFKC", word)

    def number(self, x: float) -> str:
        return spelled(x)

    def constant(self, name: str) -> str:
        raise NotImplementedError

    def power(self, x: Any, y: Any) -> list[Piece]:
        raise NotImplementedError

    def choice(self, c: Any, a: Any, b: Any) -> list[Piece]:
        raise NotImplementedError

    def logic(self, name: str, xs: Sequence[Any]) -> list[Piece]:
        raise NotImplementedError

    def binds(self, x: Any, names: Mapping[Any, str]) -> int:
        if not isinstance(x, Formula):
            return SIGN if x < 0 else CALL
        if x in names or x.op is None:
            return CALL
        if x.op.name in COMPARISONS:
            return COMPARING
        return POWER if x.op.name == "pow" else SIGN if x.op.name == "neg" else ARITHMETIC.get(x.op.name, CALL)

    def pieces(self, f: Formula) -> list[Piece]:
        assert f.op is not None
        name, xs = f.op.name, f.inputs
        if name in ARITHMETIC:
            order = ARITHMETIC[name]
            right = TIMES if order == PLUS else SIGN
            between = f" {f.op.symbol} " if order == PLUS else f.op.symbol
            return [(xs[0], order), between, (xs[1], right)]
        if name in COMPARISONS:
            return [(xs[0], PLUS), f" {COMPARISONS[name]} ", (xs[1], PLUS)]
        if name == "neg":
            return ["-", (xs[0], TIMES)]
        if name == "pow":
            return self.power(*xs)
        if name == "where":
            return self.choice(*xs)
        if name in ("and", "or", "not"):
            return self.logic(name, xs)
        if name in ("max", "min"):
            return self.nested(name, xs)
        return call(self.calls[name], xs)

    def nested(self, name: str, xs: Sequence[Any]) -> list[Piece]:
        """max and min of two operands at a time."""
        out: list[Piece] = [(xs[0], 0)]
        for x in xs[1:]:
            out = [self.calls[name] + "(", *out, ", ", (x, 0), ")"]
        return out

    def text(self, root: Any, names: Mapping[Any, str]) -> str:
        """The code of a formula; parts and symbols by their names."""
        out: list[str] = []
        stack: list[Any] = [(root, 0)]
        first = True
        while stack:
            piece = stack.pop()
            if piece.__class__ is str:
                out.append(piece)
                continue
            x, least = piece
            if not isinstance(x, Formula):
                written = self.number(x) if abs(x) < float("inf") else self.constant(special(x))
                out.append(written if self.binds(x, names) >= least else f"({written})")
                continue
            if x in names and (not first or x.op is None):
                out.append(names[x])
            elif x.op is None:
                out.append(self.constant(x.name))
            else:
                inner = self.pieces(x)
                whole = first or self.binds(x, names) >= least
                stack += reversed(inner if whole else ["(", *inner, ")"])
            first = False
        return "".join(out)

    def function(
        self,
        source: str,
        arguments: Sequence[str],
        parts: Sequence[tuple[str, str]],
        value: str,
        slopes: Sequence[tuple[str, str]],
    ) -> str:
        """The function's text: named parts, the value, a derivative for each name."""
        raise NotImplementedError

    def file(self, helpers: Sequence[str], body: str) -> str:
        """The whole text."""
        raise NotImplementedError


def special(x: float) -> str:
    return "nan!" if x != x else "inf!" if x > 0 else "-inf!"


def call(name: str, xs: Sequence[Any]) -> list[Piece]:
    """A call; in a name with `{}` the operands stand where the braces are."""
    if "{}" in name:
        out: list[Piece] = []
        for i, fixed in enumerate(name.split("{}")):
            if i:
                out.append((xs[i - 1], 0))
            out.append(fixed)
        return out
    out = [name + "("]
    for x in xs:
        out += [(x, 0), ", "]
    out[-1] = ")"
    return out


def emit(language: str, source: str, found: Derived, inputs: Sequence[str]) -> str:
    """The text of a function f of the inputs, with the value and a derivative for each name in `found`."""
    target: Target = import_module(f"autodiff.symbolic.languages.{language}").TARGET
    if any(f.op is OPS["list"] for f in walk([found.value])):
        raise RequestError("--emit gives a function of one value, and the result is an array")
    roots = [found.value, *found.derivatives.values()]
    arrays = [name for name, f in found.derivatives.items() if any(g.op is OPS["list"] for g in walk([f]))]
    if arrays:
        raise RequestError(
            f"--emit gives a function of numbers, and '{arrays[0]}' is an array",
            help=f"write its entries: [{arrays[0]}0, …]",
        )
    used = [f.name for f in walk(roots) if f.op is None and f.name not in CONSTANTS]
    arguments = [*inputs, *(name for name in used if name not in inputs)]
    taken = {*target.words, *target.helpers, "f", "value", "gradient"}
    spoken: dict[str, str] = {}
    for name in arguments:
        word = target.speakable(name)
        while word in taken or word in spoken.values() or keyword.iskeyword(word):
            word += "_"
        spoken[name] = word
    symbols: dict[Any, str] = {Symbol(name): word for name, word in spoken.items()}
    parts = common(roots, {*spoken.values(), *taken}, target.total)
    return render(target, source, found, [spoken[name] for name in arguments], symbols, parts)


def render(
    target: Target,
    source: str,
    found: Derived,
    arguments: Sequence[str],
    symbols: Mapping[Any, str],
    parts: Mapping[Any, str],
) -> str:
    """The whole text: helpers that are used, then the function."""
    names = {**symbols, **parts}
    lines = [(name, target.text(part, names)) for part, name in parts.items()]
    value = parts.get(found.value) or target.text(found.value, names)
    slopes = [(name, parts.get(f) or target.text(f, names)) for name, f in found.derivatives.items()]
    body = target.function(source, arguments, lines, value, slopes)
    written = "".join(text for _, text in lines) + value + "".join(text for _, text in slopes)
    return target.file(helpers(target, written), body)


def helpers(target: Target, text: str) -> list[str]:
    """Definitions that a text needs, and those that they need, in the order of the table."""
    needed: set[str] = set()
    waiting = [text]
    while waiting:
        body = waiting.pop()
        for name, definition in target.helpers.items():
            if name + "(" in body and name not in needed:
                needed.add(name)
                waiting.append(definition)
    return [definition for name, definition in target.helpers.items() if name in needed]
