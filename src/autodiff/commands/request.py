"""What a line asks for: the program, the point, and how to answer."""

from __future__ import annotations

import re
import sys

from autodiff import numeric
from autodiff.commands.line import Line, whole
from autodiff.differentiate import Settings
from autodiff.errors import AutodiffError, Note, RequestError
from autodiff.evaluate import MAX_OPS, evaluate, inputs_of
from autodiff.parse import Program, parse
from autodiff.tape import value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
BINDING = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", re.DOTALL)


def text_of(line: Line) -> tuple[str, list[str]]:
    """The expression's text, and the words that follow it."""
    name = line.one("file")
    operands = list(line.operands)
    if name is not None:
        if operands and not BINDING.fullmatch(operands[0]):
            raise RequestError("two expressions: one on the line, one by --file")
        return read_file(name), operands
    if not operands:
        raise RequestError(
            "no expression", help=f"for example: autodiff {line.command.name} '(x+2)*x' --at x=2"
        )
    first = operands.pop(0)
    if first == "-":
        return decoded(sys.stdin.buffer.read(), "standard input"), operands
    return first, operands


def decoded(data: bytes, name: str) -> str:
    """Bytes as UTF-8 text, without a byte order mark."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise RequestError(f"{name} is not UTF-8 text: byte {error.start} can't be read") from None


def read_file(name: str) -> str:
    """The text of a file; RequestError if it can't be read."""
    try:
        with open(name, "rb") as file:
            return decoded(file.read(), name)
    except (OSError, ValueError) as error:
        raise RequestError(f"can't read '{name}': {getattr(error, 'strerror', None) or error}") from None


def pieces(text: str) -> list[str]:
    """The parts between commas that no bracket encloses."""
    found, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth <= 0:
            found.append(text[start:i])
            start = i + 1
    found.append(text[start:])
    return found


def constant(text: str, what: str) -> Any:
    """The value of a constant expression."""
    if NUMBER.fullmatch(text):
        return float(text)
    try:
        return value_of(evaluate(parse(text), {}, max_ops=1_000_000).value)
    except AutodiffError as error:
        raise RequestError(f"{what}: {error.message}", help=error.help) from None


def bindings(entries: list[str], option: str, point: dict[str, Any]) -> dict[str, Any]:
    """NAME=VALUE entries, several with commas, into `point`; @file.json gives names that may go unused."""
    for entry in entries:
        for piece in pieces(entry):
            if piece.strip().startswith("@"):
                for name, value in whole_point(piece.strip()[1:]).items():
                    point.setdefault(name, value)
                continue
            match = BINDING.fullmatch(piece)
            if match is None or not match[2].strip():
                raise RequestError(
                    f"{option} wants NAME=VALUE, not '{piece}'", help="for example: --at x=2,y=pi/4 or --at 'v=[1, 2]'"
                )
            name, value = match[1], match[2].strip()
            if name in point:
                raise RequestError(f"'{name}' is bound twice")
            point[name] = from_file(value[1:]) if value.startswith("@") else constant(value, f"{option} {name}={value}")
    return point


def _json(name: str) -> Any:
    import json  # noqa: PLC0415

    try:
        return json.loads(read_file(name))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"'{name}' is not JSON: {error}") from None


def _value(found: Any, name: str) -> Any:
    words = {"NaN": numeric.nan, "Infinity": numeric.inf, "-Infinity": -numeric.inf}
    if isinstance(found, bool | int | float):
        return float(found)
    if isinstance(found, str) and found in words:
        return words[found]
    try:
        return numeric.raw(numeric.numpy().array(found, dtype=float))
    except (ValueError, TypeError):
        raise RequestError(f"'{name}' holds no number or array of numbers") from None


def whole_point(name: str) -> dict[str, Any]:
    """A point from a JSON object of names and values."""
    found = _json(name)
    if not isinstance(found, dict):
        raise RequestError(f"'{name}' holds no JSON object of names and values")
    return {key: _value(value, f"{name}: {key}") for key, value in found.items()}


def from_file(name: str) -> Any:
    """An array from a .npy, .csv, .tsv or .json file; a csv of one row or column is a vector."""
    kind = name.rpartition(".")[2].lower()
    if kind == "json":
        return _value(_json(name), name)
    np = numeric.numpy()
    if kind == "npy":
        try:
            return numeric.raw(np.asarray(np.load(name, allow_pickle=False), dtype=float))
        except (OSError, ValueError, TypeError) as error:
            raise RequestError(f"can't read '{name}': {getattr(error, 'strerror', None) or error}") from None
    if kind in ("csv", "tsv", "txt"):
        import csv  # noqa: PLC0415

        lines = [row for row in csv.reader(read_file(name).splitlines(), delimiter="\t" if kind == "tsv" else ",") if row]
        try:
            table = [[float(cell) for cell in row] for row in lines]
        except ValueError as error:
            raise RequestError(f"'{name}' holds a cell that is no number: {error}") from None
        if any(len(row) != len(table[0]) for row in table):
            raise RequestError(f"'{name}' has rows of different lengths")
        array = np.array(table, dtype=float)
        return array.ravel() if 1 in array.shape or not array.size else array
    raise RequestError(f"'{name}' is no .npy, .csv, .tsv or .json file")


class Request:
    """A line, understood."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.format = "json" if line.flag("json") else line.one("format") or "text"
        if line.flag("json") and line.one("format") not in (None, "json"):
            raise RequestError("--json and --format do not agree")
        self.digits = whole(line, "digits", None, 1)
        self.settings = Settings(whole(line, "max_ops", MAX_OPS, 1) or MAX_OPS, line.one("convention"))
        self.source, rest = text_of(line)
        try:
            self.program: Program = parse(self.source)
        except AutodiffError as error:
            error.source = self.source
            raise
        for word in rest:
            if not BINDING.fullmatch(word):
                raise RequestError(
                    f"a second expression '{word}'", help="quote the whole expression: '…'; statements are joined by ;"
                )
        given = [entry for entry in line.many("at") if not entry.strip().startswith("@")]
        self.point = bindings([*given, *rest], "--at", {})
        self.named = list(self.point)
        bindings([entry for entry in line.many("at") if entry.strip().startswith("@")], "--at", self.point)
        self.sweep = [self.swept(entry) for entry in line.many("sweep")]

    def inputs(self) -> list[str]:
        return inputs_of(self.program, self.point)

    def wrt(self) -> list[str]:
        """The names to differentiate by."""
        text = self.line.one("wrt")
        if text is None:
            return self.inputs()
        names = [name.strip() for name in text.split(",")]
        for name in names:
            if not name:
                raise RequestError(f"--wrt wants names with commas between, not '{text}'")
            if names.count(name) > 1:
                raise RequestError(f"--wrt names '{name}' twice")
        return names

    def one_wrt(self) -> str:
        """The single name to differentiate by."""
        names = self.wrt()
        if len(names) != 1:
            raise RequestError(
                f"{self.line.command.name} is by one input", help=f"say which: --wrt {names[0] if names else 'x'}"
            )
        return names[0]

    def swept(self, entry: str) -> tuple[str, list[float]]:
        """A --sweep NAME=START:STOP:COUNT as name and values."""
        match = BINDING.fullmatch(entry)
        parts = match[2].split(":") if match else []
        if match is None or len(parts) != 3 or not all(part.strip() for part in parts):
            raise RequestError(f"--sweep wants NAME=START:STOP:COUNT, not '{entry}'")
        start, stop, count = (constant(part.strip(), f"--sweep {entry}") for part in parts)
        if any(numeric.is_array(v) for v in (start, stop, count)) or count != count or count < 1 or count != int(count):
            raise RequestError(f"--sweep {entry}: the count must be a whole number from 1")
        if count > 10_000_000:
            raise RequestError(f"--sweep {entry}: more than 10 million points")
        if match[1] in self.point:
            raise RequestError(f"'{match[1]}' is bound twice")
        n = int(count)
        self.point[match[1]] = float(start)
        step = (stop - start) / max(n - 1, 1)
        return match[1], [float(stop) if k == n - 1 and n > 1 else start + k * step for k in range(n)]

    def unused(self) -> list[Note]:
        """A note for each name that the line binds and nothing uses."""
        names = self.inputs()
        return [Note("unused", f"nothing uses '{name}', which --at binds") for name in self.named if name not in names]

    def at(self) -> dict[str, Any]:
        """The point as JSON shows it: what the line gave and the text uses."""
        names = self.inputs()
        return {name: value for name, value in self.point.items() if name in names or name in self.named}
