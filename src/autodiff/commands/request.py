"""What a line asks for: the program, the point, and how to answer."""

from __future__ import annotations

import sys

from autodiff.commands.line import Line
from autodiff.commands.point import Point, decoded, is_binding, read_file
from autodiff.errors import Note, RequestError
from autodiff.evaluate import MAX_OPS
from autodiff.expression import At
from autodiff.job import Settings
from autodiff.names import inputs_of, suggestion
from autodiff.parse import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def text_of(line: Line) -> tuple[str, list[str]]:
    """The expression's text from its one source, and the words after it."""
    words = line.operands
    name = line.get("file")
    if name is not None:
        if words and not is_binding(words[0]):
            raise RequestError(
                f"two expressions: '{words[0]}' on the line and one in the file '{name}'",
                help="give one of them",
            )
        return _stdin() if name == "-" else read_file(name).rstrip(), words
    if not words:
        raise RequestError("no expression", help=f"for example: autodiff {line.command.name} {line.command.example}")
    return _stdin() if words[0] == "-" else words[0], words[1:]


def _stdin() -> str:
    if sys.stdin is None:
        raise RequestError("can't read standard input: it is closed")
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        raise RequestError(f"can't read standard input: {error.strerror}") from None
    return decoded(data, "standard input").rstrip()


class Request:
    """A line, understood."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.format: str = line.get("format", "text")
        self.digits: int | None = line.get("digits")
        self.settings = Settings(line.get("max_ops", MAX_OPS), line.get("convention"), line.get("checkpoint"))
        line.source, words = text_of(line)
        self.source = line.source
        self.program = parse(line.source)
        for at, word in enumerate(words):
            if not is_binding(word):
                what, part = ("value", words[at - 1 :]) if at else ("expression", line.operands)
                raise RequestError(
                    f"'{word}' after the expression is not NAME=VALUE",
                    help=f"quote the whole {what}: {_quoted(' '.join(part))}",
                )
        given = Point("--at", self.settings)
        self.entries = (*line.many("at"), *words)
        for entry in self.entries:
            given.add(entry, self.program.inputs)
        self.at_notes = given.notes
        self.point = given.values
        swept = Point("--sweep", self.settings)
        swept.values = given.values
        self.axes = [axis for entry in line.many("sweep") for axis in swept.sweep(entry)]
        self.at_notes += swept.notes
        self.named = [(name, "--at") for name in given.named] + [(name, "--sweep") for name in swept.named]
        self.names = inputs_of(self.program, self.point)
        self.at = At(self.program, self.point, self.settings)

    def wrt(self) -> list[str]:
        """The names to differentiate by."""
        names = [name.strip() for entry in self.line.many("wrt") for name in entry.split(",")]
        for name in names:
            if not name:
                raise RequestError("--wrt wants names with commas between", help="for example --wrt x,y")
            if names.count(name) > 1:
                raise RequestError(f"--wrt names '{name}' twice")
        return names or self.names

    def one_wrt(self) -> str:
        """The single name to differentiate by."""
        names = self.wrt()
        if len(names) != 1:
            raise RequestError(
                f"{self.line.command.name} is by one input"
                + (f", and the expression has {', '.join(names)}" if names else ", and the expression has none"),
                help=f"say which: --wrt {names[0] if names else 'x'}",
            )
        return names[0]

    def values(self, option: str) -> dict[str, Any]:
        """NAME=VALUE entries of another option than --at."""
        found = Point("--" + option, self.settings)
        for entry in self.line.many(option):
            found.add(entry, self.names)
        return found.values

    def constant(self, option: str) -> Any:
        """The value of an option that is a constant expression."""
        return Point("--" + option, self.settings).constant(self.line.get(option))

    def notes(self) -> list[Note]:
        """What there is to say of the line: values beyond float64, names that nothing uses."""
        return self.at_notes + [
            Note(
                "unused",
                f"nothing uses '{name}', which {option} binds",
                help=suggestion(name, [other for other in self.names if other not in self.point]),
            )
            for name, option in self.named
            if name not in self.names
        ]

    def bound(self) -> dict[str, Any]:
        """The point as JSON shows it: the inputs that have a value, in the order given."""
        return {name: value for name, value in self.point.items() if name in self.names}


def _quoted(text: str) -> str:
    return f"'{text}'" if "'" not in text else f'"{text}"'
