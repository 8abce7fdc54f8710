"""Values given on the line or in files: --at, NAME=VALUE words, --dir, --sweep."""

from __future__ import annotations

import re

from autodiff import numeric
from autodiff.differentiate import value
from autodiff.errors import AutodiffError, Note, RequestError
from autodiff.job import Settings
from autodiff.names import CONSTANTS, suggestion
from autodiff.ops import NAMES
from autodiff.parse import parse
from autodiff.parse.program import STORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
BINDING = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", re.DOTALL)
AFTER_BLANK = re.compile(r"(?<=[^\s,(])\s+[^\W\d]\w*\s*=(?!=)")  # as in 1 y=2
MOST_POINTS = 10_000_000


def is_binding(word: str) -> bool:
    """Whether a word after the expression binds an input: `x=2`, `@point.json`."""
    return word.startswith("@") or BINDING.fullmatch(word) is not None


def split(text: str, separator: str) -> list[str]:
    """The parts between separators that no bracket encloses."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == separator and depth <= 0:
            found.append(text[start:at])
            start = at + 1
    found.append(text[start:])
    return found


class Point:
    """Names and values. `named` are the names that the line itself spells, not those of a point's file."""

    __slots__ = ("named", "notes", "option", "settings", "values")

    def __init__(self, option: str, settings: Settings) -> None:
        self.option = option
        self.settings = settings
        self.values: dict[str, Any] = {}
        self.named: list[str] = []
        self.notes: list[Note] = []

    def add(self, entry: str, used: Container[str]) -> None:
        """NAME=VALUE entries with commas between; of a whole point in a file only the names `used` count."""
        for piece in split(entry, ","):
            if piece.strip().startswith("@"):
                name = piece.strip()[1:]
                for key, found in _whole_point(name).items():
                    if key in used:
                        self.bind(key, _from_json(found, f"{name}: {key}"))
                continue
            match = BINDING.fullmatch(piece)
            if match is None:
                cut = not piece.strip() and entry.strip().endswith(",")
                raise RequestError(
                    f"{self.option} {entry}: nothing follows the comma"
                    if cut
                    else f"{self.option} {entry}: '{piece}' is not NAME=VALUE",
                    help=f"without blanks, or in quotes: {self.option} 'x=1, y=2'" if cut else self.example(),
                )
            name, text = match[1], match[2].strip()
            if not text:
                raise RequestError(f"{self.option} {entry}: no value for '{name}'", help=self.example())
            self.bind(name, load(text[1:]) if text.startswith("@") else self.constant(text, name))
            self.named.append(name)

    def example(self) -> str:
        return f"for example {self.option} x=2,y=pi/4 or {self.option} 'v=[1, 2]'"

    def bind(self, name: str, found: Any) -> None:
        if name in self.values:
            raise RequestError(f"'{name}' is bound twice", help="give one value")
        self.values[name] = found

    def constant(self, text: str, name: str = "") -> Any:
        """The value of a constant expression; what it notes is noted."""
        if NUMBER.fullmatch(text):
            number = float(text)
            if numeric.is_finite(number):
                return number
        what = f"{self.option} {name}={text}" if name else f"{self.option} {text}"
        blank = AFTER_BLANK.search(text)
        if name and blank:
            raise RequestError(
                f"{what}: a second binding without a comma before it",
                help=f"commas go between: {self.option} {name}={text[: blank.start()]},{text[blank.start() :].strip()}",
            )
        try:
            program = parse(text)
            for free in program.inputs:
                if free not in CONSTANTS and free not in NAMES:
                    raise RequestError(
                        f"'{free}' is no constant",
                        help=suggestion(free, list(CONSTANTS)) or "a value is a constant expression",
                    )
            if ";" in text or "\n" in text or any(code[0] == STORE for code in program.code):
                raise RequestError("is not one expression", help=f"commas go between: {self.option} x=1,y=2")
            out = value(program, {}, self.settings)
        except AutodiffError as error:
            raise RequestError(f"{what}: {error.message}", help=error.help) from None
        self.notes += [Note(note.kind, f"{what}: {note.message}", None, note.count, note.help) for note in out.notes]
        return out.value

    def sweep(self, entry: str) -> list[tuple[str, list[float]]]:
        """The axes of NAME=START:STOP:COUNT entries."""
        return [self._axis(piece) for piece in split(entry, ",")]

    def _axis(self, piece: str) -> tuple[str, list[float]]:
        match = BINDING.fullmatch(piece)
        parts = split(match[2], ":") if match else []
        if match is None or len(parts) != 3 or not all(part.strip() for part in parts):
            raise RequestError(
                f"{self.option} {piece}: not NAME=START:STOP:COUNT",
                help=f"for example {self.option} x=0:1:11",
            )
        start, stop, count = (self.constant(part.strip()) for part in parts)
        for part, found in zip(parts, (start, stop, count), strict=True):
            if numeric.is_array(found) or not numeric.is_finite(found):
                raise RequestError(f"{self.option} {piece}: {part.strip()} is no finite number")
        if count < 1 or count != int(count):
            raise RequestError(f"{self.option} {piece}: COUNT must be a whole number from 1")
        if count > MOST_POINTS:
            raise RequestError(f"{self.option} {piece}: more than {MOST_POINTS} values")
        self.bind(match[1], start)
        self.named.append(match[1])
        return match[1], spaced(float(start), float(stop), int(count))


def spaced(start: float, stop: float, count: int) -> list[float]:
    """Evenly spaced numbers, both ends as given; products before quotients, so that 0:1:11 has 0.3."""
    last = count - 1
    width = stop - start
    if not numeric.is_finite(width):
        return [start * (1.0 - k / last) + stop * (k / last) for k in range(count)]
    inner = [
        start + width * k / last if numeric.is_finite(width * k) else start + width * (k / last) for k in range(1, last)
    ]
    return [start, *inner, stop][:count]


def decoded(data: bytes, name: str) -> str:
    """Bytes as text: UTF-8, or UTF-16 where a byte order mark says so."""
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{name} is not UTF-8 text: byte {error.start + 1} can't be read",
            help="iconv -t UTF-8 converts it",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_file(name: str) -> str:
    """The text of a file."""
    try:
        with open(name, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None
    return decoded(data, f"'{name}'")


def _unreadable(name: str, error: Exception) -> RequestError:
    return RequestError(f"can't read '{name}': {getattr(error, 'strerror', None) or error}")


def load(name: str) -> Any:
    """An array of a .npy, .csv (.tsv, .txt) or .json file."""
    kind = name.rpartition(".")[2].lower()
    if kind == "json":
        return _from_json(_json(name), name)
    if kind == "npy":
        return _from_npy(name)
    if kind in ("csv", "tsv", "txt"):
        return _from_csv(name, read_file(name))
    raise RequestError(f"'{name}' is no .npy, .csv or .json file")


def _from_npy(name: str) -> Any:
    np = numeric.numpy()
    try:
        array = np.load(name, allow_pickle=False)
    except OSError as error:
        raise _unreadable(name, error) from None
    except Exception:  # a damaged header makes NumPy raise nearly anything
        raise RequestError(f"'{name}' holds no array that NumPy wrote") from None
    if not hasattr(array, "dtype") or array.dtype.kind not in "biuf":
        raise RequestError(f"'{name}' holds no array of numbers")
    return numeric.raw(array if array.dtype.kind == "b" else array.astype(float))


def _from_csv(name: str, text: str) -> Any:
    """A matrix; a vector where there is one row or one column. A first line of words alone is a header."""
    import csv

    if not text.strip():
        raise RequestError(f"'{name}' is empty")
    delimiter = next((mark for mark in ";\t," if mark in text), " ")
    table: list[list[float]] = []
    reader = csv.reader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if delimiter == " ":
                cells = [cell for cell in cells if cell]
            try:
                table.append([float(cell) for cell in cells])
            except ValueError:
                bad = [at for at, cell in enumerate(cells) if not _is_number(cell)]
                if not table and len(bad) == len(cells) and all(cell.strip() for cell in cells):
                    continue
                raise RequestError(
                    f"'{name}' line {reader.line_num}, column {bad[0] + 1}: '{cells[bad[0]]}' is no number"
                ) from None
            if len(table[-1]) != len(table[0]):
                found = f"{len(cells)} cell{'s' * (len(cells) > 1)}"
                raise RequestError(f"'{name}' line {reader.line_num} has {found}, not {len(table[0])}")
    except csv.Error as error:
        raise _unreadable(name, error) from None
    array = numeric.numpy().array(table, dtype=float)
    return array.ravel() if not array.size or 1 in array.shape else array


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _json(name: str) -> Any:
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise RequestError(f"'{name}' binds '{twice}' twice")
        return found

    try:
        return json.loads(read_file(name), parse_int=float, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"'{name}' is not JSON: {error}") from None


WORDS = {"NaN": numeric.nan, "Infinity": numeric.inf, "-Infinity": -numeric.inf}


def _from_json(found: Any, where: str) -> Any:
    """A number or nested lists of numbers; nan and the infinities may be strings, as we write them."""
    if isinstance(found, (bool, float)):
        return found
    try:
        if isinstance(found, list):
            return numeric.raw(numeric.numpy().array(_numbers(found), dtype=float))
        return float(_numbers(found))
    except (KeyError, TypeError, ValueError, RecursionError):
        raise RequestError(f"'{where}' holds no number or array of numbers") from None


def _numbers(found: Any) -> Any:
    if isinstance(found, list):
        return [_numbers(item) for item in found]
    return found if isinstance(found, (bool, float)) else WORDS[found]


def _whole_point(name: str) -> dict[str, Any]:
    found = _json(name) if name.lower().endswith(".json") else None
    if not isinstance(found, dict):
        raise RequestError(
            f"'@{name}': a whole point is a .json file of one object, names to values",
            help=f"one input from a file is NAME=@{name}",
        )
    return found
