"""How a value is written: scalars, arrays on one line, arrays as bare rows, and short forms for pictures.

Arrays are recognised by `.shape` and read with `.tolist()`, so that a scalar answer never imports numpy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A float64 has at most 767 significant decimal digits; more would only be zeros.
MOST_DIGITS = 767

SHORT_DIGITS = 5
SHORT_WIDTH = SHORT_DIGITS + 1
SHORT_ITEMS = 6


def number(value: Any, digits: int | None = None) -> str:
    """A scalar: by default the shortest text that reads back as the same float64.

    Whole numbers have no `.0`, comparisons are true and false. What is no float (a decimal of
    `--precision`, a formula) is printed as it prints itself.
    """
    if not isinstance(value, float):
        value = nested(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, float):
            return str(value)
    text = float.__repr__(value) if digits is None else format(value, f".{min(digits, MOST_DIGITS)}g")
    return text[:-2] if text.endswith(".0") else text


def is_array(value: Any) -> bool:
    if isinstance(value, float):
        return False
    return isinstance(value, (list, tuple)) or bool(getattr(value, "shape", ()))


def nested(value: Any) -> Any:
    """An array as nested lists, anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def inline(value: Any, digits: int | None = None) -> str:
    """A scalar or an array on one line: `[[1, 2], [3, 4]]`, which the language reads again."""
    value = nested(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([inline(item, digits) for item in value]) + "]"
    return number(value, digits)


def rows(value: Any, digits: int | None = None) -> list[str]:
    """Bare numbers, one row a line, blanks between; an empty line between the matrices of a block."""
    value = nested(value)
    if not isinstance(value, (list, tuple)):
        return [number(value, digits)]
    if not value or not isinstance(value[0], (list, tuple)):
        return [" ".join([number(item, digits) for item in value])]
    lines: list[str] = []
    for item in value:
        part = rows(item, digits)
        if lines and isinstance(item[0] if item else 0, (list, tuple)):
            lines.append("")
        lines += part
    return lines


def short(value: Any, digits: int | None = None, ascii: bool = False) -> str:
    """The form for pictures: about five digits, and of a large array the ends and the shape."""
    if not is_array(value):
        return _short_scalar(value, digits)
    if isinstance(value, (list, tuple)) or value.size <= SHORT_ITEMS:
        value = nested(value)
        return "[" + ", ".join([short(item, digits, ascii) for item in value]) + "]"
    first, second, last = [_short_scalar(value.item(at), digits) for at in (0, 1, value.size - 1)]
    shape = ("x" if ascii else "×").join([str(length) for length in value.shape])
    return f"[{first}, {second}, {'...' if ascii else '…'} {last}] ({shape})"


def _short_scalar(value: Any, digits: int | None) -> str:
    exact = number(value)
    if digits is not None:
        return number(value, digits)
    if len(exact) <= SHORT_WIDTH or not isinstance(value, float):
        return exact
    # The zero before the point takes the place of a digit, so that a column stays six wide.
    rounded = number(value, SHORT_DIGITS - (abs(value) < 1))
    return rounded if len(rounded) < len(exact) else exact
