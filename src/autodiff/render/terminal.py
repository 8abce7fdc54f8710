"""Text that a terminal shows as meant: escapes for what it would obey, display widths, cuts, colours."""

from __future__ import annotations

import re

TAB = "    "

# Beyond Latin and Greek letters and the marks of our own pictures a character may be wide or combining.
_UNUSUAL = re.compile("[^\x00-\u02ff\u0370-\u03ff\u2026\u2212\u2500-\u257f\u25cf]")

STYLES = {
    "error": "1;31",
    "note": "1;33",
    "help": "1;36",
    "strong": "1;32",
    "input": "36",
    "dim": "2",
    "negative": "31",
}


def ellipsis(ascii: bool) -> str:
    return "..." if ascii else "…"


def cell(char: str, ascii: bool = False) -> str:
    """What stands for one character: itself, blanks, or an escape such as `\\x1b`."""
    if " " <= char <= "~":
        return char
    if char == "\t":
        return TAB
    if char > "\x7f" and not ascii:
        if char.isprintable():
            return char
        # Of the Unicode blanks the line separators (and NEL) would break the line.
        if char.isspace() and char not in "\x85\u2028\u2029":
            return " "
    code = ord(char)
    if code < 0x100:
        return {"\n": "\\n", "\r": "\\r"}.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str, ascii: bool = False) -> str:
    """One line, in which control characters, escape sequences and direction marks are only shown."""
    if text.isascii() and text.isprintable():
        return text
    return "".join([cell(char, ascii) for char in text])


def width(text: str) -> int:
    """Columns that printable text takes: wide characters two, combining ones none."""
    if not _UNUSUAL.search(text):
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(2 if east_asian_width(char) in "WF" else 0 if category(char) in ("Mn", "Me") else 1 for char in text)


def cut(text: str, columns: int, ascii: bool = False) -> str:
    """At most so many columns of printable text, with an ellipsis where something is missing."""
    if len(text) <= columns and width(text) <= columns:
        return text
    end = ellipsis(ascii)
    kept: list[str] = []
    used = len(end)
    for char in text:
        used += width(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept).rstrip() + end


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def pad_left(text: str, columns: int) -> str:
    return " " * (columns - width(text)) + text


def paint(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if colour and text and style else text


def by_sign(value: object) -> str:
    """The style of a number: negative, zero, or not finite; of anything else none."""
    if not isinstance(value, float):
        return ""
    if value - value != 0.0:
        return "note"
    return "negative" if value < 0.0 else "dim" if value == 0.0 else ""
