"""What a command prints besides JSON: two aligned columns, comma- or tab-separated lines, bare values."""

from __future__ import annotations

from autodiff.render.number import inline, is_array, nested, number, rows
from autodiff.render.terminal import by_sign, pad, paint, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Field = tuple[str, Any]


class Report:
    """One answer, ready for every format.

    `fields` are the labelled values of text, csv and tsv in order, `document` is the JSON object,
    `asked` are the values of `--format value`: what was asked for and nothing else.
    """

    __slots__ = ("asked", "document", "fields")

    def __init__(self, fields: Sequence[Field], document: Mapping[str, Any], asked: Sequence[Any]) -> None:
        self.fields = fields
        self.document = document
        self.asked = asked


def render(report: Report, format: str, digits: int | None = None, colour: bool = False) -> str:
    """The answer as text (in colour where a terminal shows it), json, csv, tsv or value, without a final newline."""
    if format == "json":
        from autodiff.render.document import dumps

        return dumps(dict(report.document))
    if format == "value":
        return values(report.asked, digits)
    if format in SEPARATORS:
        separator = SEPARATORS[format]
        return header(report.fields, separator) + "\n" + line(report.fields, separator, digits)
    return text(report.fields, digits, colour)


def text(fields: Sequence[Field], digits: int | None = None, colour: bool = False) -> str:
    """Two aligned columns; the rows of a matrix stand below each other, its columns aligned.

    In colour the labels are those of inputs, and numbers show their sign.
    """
    labels = [printable(label) for label, _ in fields]
    columns = 2 + max((len(label) for label in labels), default=0)
    lines: list[str] = []
    for label, (_, value) in zip(labels, fields, strict=True):
        first, *others = _block(value, digits)
        gap = pad(label, columns)[len(label) :]
        lines.append((paint(label, "input", colour) + gap + paint(first, by_sign(value), colour)).rstrip())
        lines += [" " * columns + other for other in others]
    return "\n".join(lines)


def values(asked: Iterable[Any], digits: int | None = None) -> str:
    """Bare numbers, one a line; arrays one row a line, blanks between."""
    return "\n".join([line for value in asked for line in rows(value, digits)])


SEPARATORS = {"csv": ",", "tsv": "\t"}


def header(fields: Sequence[Field], separator: str = ",") -> str:
    """The header line. An array takes one column per entry: `d/dv[0]`, `d/dA[0,1]`, in row-major order."""
    names: list[str] = []
    for label, value in fields:
        names += [label + index for index in _indices(value)]
    return separator.join([quoted(name, separator) for name in names])


def line(fields: Sequence[Field], separator: str = ",", digits: int | None = None) -> str:
    """The data line below `header`."""
    cells: list[str] = []
    for _, value in fields:
        cells += [number(entry, digits) for entry in _entries(nested(value))]
    return separator.join([quoted(entry, separator) for entry in cells])


def quoted(entry: str, separator: str = ",") -> str:
    """A cell as RFC 4180 wants it: in quotes where it would not come back otherwise."""
    if entry.strip() == entry and not any(char in entry for char in (separator, '"', "\n", "\r")):
        return entry
    return '"' + entry.replace('"', '""') + '"'


def _indices(value: Any) -> list[str]:
    if not is_array(value):
        return [""]
    paths = [""]
    for length in _shape(value):
        paths = [f"{path},{at}" if path else str(at) for path in paths for at in range(length)]
    return [f"[{path}]" for path in paths]


def _shape(value: Any) -> tuple[int, ...]:
    if hasattr(value, "shape"):
        return tuple(value.shape)
    shape: list[int] = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _entries(value: Any) -> list[Any]:
    while isinstance(value, (list, tuple)):
        if not value or not isinstance(value[0], (list, tuple)):
            return list(value)
        value = [entry for part in value for entry in part]
    return [value]


def _block(value: Any, digits: int | None) -> list[str]:
    """The lines of a value: one, or for a matrix one a row, which the language reads again."""
    if isinstance(value, str):
        return [printable(value)]
    shape = _shape(value)
    if len(shape) < 2 or 0 in shape:
        return [inline(value, digits)]
    entries = [number(entry, digits) for entry in _entries(nested(value))]
    row = shape[-1]
    widths = [max(map(len, entries[column::row])) for column in range(row)]
    lines = []
    for start in range(0, len(entries), row):
        opened, closed = _brackets(start // row, shape[:-1])
        cells = [entry.rjust(width) for entry, width in zip(entries[start : start + row], widths, strict=True)]
        lines.append(opened + ", ".join(cells) + closed)
    return lines


def _brackets(row: int, shape: tuple[int, ...]) -> tuple[str, str]:
    """What opens before and closes after the row with this number, given the shape of the rows."""
    opens = closes = 0
    period = 1
    for length in reversed(shape):
        period *= length
        opens += row % period == 0
        closes += row % period == period - 1
    depth = len(shape) + 1
    comma = "" if closes == len(shape) else ","
    return " " * (depth - 1 - opens) + "[" * (opens + 1), "]" * (closes + 1) + comma
