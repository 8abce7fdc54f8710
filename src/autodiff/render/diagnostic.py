"""Errors and notes as people read them (a line, the place, the fix) and as JSON objects.

error: unknown name 'sine' (line 1, column 5)
  3 + sine(x)
      ^^^^
help: did you mean 'sin'?
"""

from __future__ import annotations

from autodiff.render.document import dumps
from autodiff.render.terminal import cell, ellipsis, paint, printable, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autodiff.errors import AutodiffError, Note, Span

INDENT = "  "


def error_text(
    error: AutodiffError,
    source: str | None = None,
    *,
    colour: bool = False,
    ascii: bool = False,
    columns: int = 100,
) -> str:
    """The lines for standard error, without a final newline. `source` counts where the error has none."""
    text = error.source if error.source is not None else source
    return _lines("error", error.message, error.span, error.help, text, 1, colour, ascii, columns)


def note_text(note: Note, source: str | None, *, colour: bool = False, ascii: bool = False, columns: int = 100) -> str:
    return _lines("note", note.message, note.span, note.help, source, note.count, colour, ascii, columns)


def error_json(error: AutodiffError) -> str:
    """One line: {"error": {"kind", "message", "span", "help"}}."""
    body = {"kind": error.kind, "message": error.message, "span": error.span, "help": error.help}
    return dumps({"error": body})


def location(source: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, counted in characters."""
    return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)


def _lines(
    word: str,
    message: str,
    span: Span | None,
    help: str | None,
    source: str | None,
    count: int,
    colour: bool,
    ascii: bool,
    columns: int,
) -> str:
    if ascii:  # ours; in an excerpt of the text it is shown as the character that it is
        message, help = message.replace("…", "..."), help and help.replace("…", "...")
    head = paint(word + ":", word, colour) + " " + printable(message, ascii)
    body: list[str] = []
    if span is not None and source is not None:
        start, end = _visible(source, span)
        row, column = location(source, start)
        head += f" (line {row}, column {column})"
        body = _excerpt(source, start, end, ascii, columns)
    if count > 1:
        head += f" ({count} times)"
    lines = [head]
    if body:
        shown, blanks, carets = body
        lines += [INDENT + shown, INDENT + blanks + paint(carets, word, colour)]
    if help:
        lines.append(paint("help:", "help", colour) + " " + printable(help, ascii))
    return "\n".join(lines)


def _visible(source: str, span: Span) -> Span:
    """The span inside the text; the end of input after blank lines is the end of the last line with text."""
    start = max(0, min(span[0], len(source)))
    if not source[start:].strip() and not source[source.rfind("\n", 0, start) + 1 :].strip():
        start = len(source.rstrip())
    return start, max(start, min(span[1], len(source)))


def _excerpt(source: str, start: int, end: int, ascii: bool, columns: int) -> list[str]:
    """What to show of the source line, the blanks before the carets, the carets; nothing for a blank line."""
    first = source.rfind("\n", 0, start) + 1
    line = source[first : source.find("\n", first) % (len(source) + 1)].removesuffix("\r")
    if not line.strip():
        return []
    start = min(start - first, len(line))
    end = min(end - first, len(line))
    dots = ellipsis(ascii)
    room = max(20, columns - len(INDENT) - 1)  # one column for a caret after the last character
    low, high = _window([width(cell(char, ascii)) for char in line], start, room, len(dots))
    before = (dots if low else "") + printable(line[low:start], ascii)
    marked = printable(line[start : min(end, high)], ascii)
    after = printable(line[max(start, min(end, high)) : high], ascii) + (dots if high < len(line) else "")
    return [(before + marked + after).rstrip(), " " * width(before), "^" * max(1, width(marked))]


def _window(widths: list[int], place: int, room: int, dots: int) -> tuple[int, int]:
    """Bounds of the part of a line around a place that fits, with room for dots at both ends."""
    if sum(widths) <= room:
        return 0, len(widths)
    room -= 2 * dots
    low = high = place
    used = 0
    # A third of the room goes to what stands before; what the rest leaves is for it as well.
    for share in (room // 3, room):
        while low > 0 and used + widths[low - 1] <= share:
            low -= 1
            used += widths[low]
        while high < len(widths) and used + widths[high] <= room:
            used += widths[high]
            high += 1
    return low, high
