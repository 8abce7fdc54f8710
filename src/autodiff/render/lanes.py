"""The picture in text: one line per recorded operation, one vertical lane per live value.

    │ ●  2          2     2  = 1·2         from a
    ├─●  a = x + 2  4     2  = 2·1         from y       AddBackward0

Beyond twenty live values a `from` column takes the place of the lanes. Numbers are rounded to about
five digits unless `digits` asks for others; JSON has the exact ones.
"""

from __future__ import annotations

from heapq import heappop, heappush

from autodiff.render.number import SHORT_WIDTH, is_array, short
from autodiff.render.terminal import by_sign, cut, ellipsis, pad, pad_left, paint, printable, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from autodiff.render.view import Row

MOST_LANES = 20
LABEL = 40
TERMS = 4
MOST_SECOND = 4

BOX = {
    "made": "●",
    "live": "│",
    "over": "─",
    "first": "├",
    "middle": "┼",
    "last": "┤",
    "first end": "└",
    "middle end": "┴",
    "last end": "┘",
}
ASCII = {
    "made": "o",
    "live": "|",
    "over": "-",
    "first": "+",
    "middle": "+",
    "last": "+",
    "first end": "'",
    "middle end": "'",
    "last end": "'",
}


def lanes(
    rows: Sequence[Row],
    *,
    local: bool = False,
    ascii: bool = False,
    digits: int | None = None,
    colour: bool = False,
) -> list[str]:
    """The picture's lines, a header first. `local` adds how each gradient came about."""
    places = _place(rows)
    if places is None:
        left = _aligned(_from_column(rows, ascii))
    else:
        left = _draw(rows, places, ASCII if ascii else BOX)
        left.insert(0, " " * len(left[0]))
    labels = ["", *[cut(_label(row, ascii), LABEL, ascii) for row in rows]]
    values = ["value", *[short(row.value, digits, ascii) for row in rows]]
    # The first header may reach into the labels, which have none. Numbers that fill their six
    # columns take one of the two blanks before them.
    widest = max(map(width, values[1:]), default=0)
    gap = 2 if widest < SHORT_WIDTH else 1
    stem = max(map(width, labels)) + gap + widest
    columns = [
        left,
        [
            pad(label, stem - width(value)) + value if label else pad_left(value, stem)
            for label, value in zip(labels, values, strict=True)
        ],
    ]
    gaps = ["  ", "  "]
    if any(row.grad is not None for row in rows):
        grads = ["grad", *["" if row.grad is None else short(row.grad, digits, ascii) for row in rows]]
        columns.append(_aligned(grads, right=True))
        gaps.append("  ")
        if local:
            terms, origins = _origins(rows, grads[1:], digits, ascii)
            columns += [_aligned(["", *terms]), _aligned(["", *origins])]
            gaps += ["   ", "    "]
    for name in list(dict.fromkeys(name for row in rows for name in row.second))[:MOST_SECOND]:
        seconds = ["" if name not in row.second else short(row.second[name], digits, ascii) for row in rows]
        columns.append(_aligned([f"grad of d/d{printable(name, ascii)}", *seconds], right=True))
        gaps.append("  ")
    columns.append(_aligned(["", *[row.grad_fn if row.op else "" for row in rows]]))
    gaps.append("  ")
    columns.append(["", *["unused" if row.unused else "" for row in rows]])
    if colour:
        _paint(rows, columns, values[1:])
    lines = []
    for line in zip(*columns, strict=True):
        text = line[0]
        for before, part in zip(gaps, line[1:], strict=True):
            text += before + part
        lines.append(text.rstrip())
    return lines


def _label(row: Row, ascii: bool) -> str:
    return printable(row.label.replace("×", "x").replace("…", "...") if ascii and row.size > 1 else row.label, ascii)


def _aligned(cells: list[str], right: bool = False) -> list[str]:
    widest = max(map(width, cells))
    # A column without a single entry would still leave a gap; rstrip takes it at the end of the line.
    return [pad_left(cell, widest) if right else pad(cell, widest) for cell in cells]


def _last_uses(rows: Sequence[Row]) -> list[int]:
    """The row that uses each value last: itself if none does, beyond all rows for the result."""
    last = list(range(len(rows)))
    for at, row in enumerate(rows):
        for source, _ in row.inputs:
            last[source] = at
    for at, row in enumerate(rows):
        if row.result:
            last[at] = len(rows)
    return last


def _place(rows: Sequence[Row]) -> list[int] | None:
    """The lane of each row, or None when more than twenty would be needed.

    The result takes over the leftmost lane of an operand that ends here, else the leftmost free lane.
    """
    last = _last_uses(rows)
    free: list[int] = []
    opened = 0
    lane_of: list[int] = []
    for at, row in enumerate(rows):
        ended = {lane_of[source] for source, _ in row.inputs if last[source] == at}
        for lane in ended:
            heappush(free, lane)
        if ended:
            lane = min(ended)
            free.remove(lane)
            free.sort()  # a sorted list is a heap
        elif free:
            lane = heappop(free)
        else:
            lane = opened
            opened += 1
            if opened > MOST_LANES:
                return None
        lane_of.append(lane)
        if last[at] == at:
            heappush(free, lane)
    return lane_of


def _draw(rows: Sequence[Row], lane_of: list[int], glyph: dict[str, str]) -> list[str]:
    last = _last_uses(rows)
    live = [False] * (max(lane_of, default=0) + 1)
    lines: list[str] = []
    for at, row in enumerate(rows):
        made = lane_of[at]
        ends = {lane_of[source]: last[source] == at for source, _ in row.inputs}
        touched = [*ends, made]
        low, high = min(touched), max(touched)
        parts: list[str] = []
        for lane, occupied in enumerate(live):
            if lane == made:
                part = "made"
            elif lane in ends:
                part = "first" if lane == low else "last" if lane == high else "middle"
                part += " end" if ends[lane] else ""
            else:
                part = "live" if occupied else "over" if low < lane < high else ""
            parts.append(glyph.get(part, " "))
            parts.append(glyph["over"] if low <= lane < high else " ")
        lines.append("".join(parts[:-1]))
        for lane, ended in ends.items():
            live[lane] = not ended
        live[made] = last[at] != at
    return lines


def _from_column(rows: Sequence[Row], ascii: bool) -> list[str]:
    """`n3  n0, n2`: the operands by number, in the place of the lanes."""
    ids = pad("id", len(rows[-1].id))
    sources = []
    for row in rows:
        shown = [rows[source].id for source, _ in row.inputs[:TERMS]]
        sources.append(", ".join(shown if len(row.inputs) <= TERMS else [*shown, ellipsis(ascii)]))
    return [
        f"{ids}  from",
        *[f"{pad(row.id, len(ids))}  {source}" for row, source in zip(rows, sources, strict=True)],
    ]


def _origins(rows: Sequence[Row], grads: list[str], digits: int | None, ascii: bool) -> tuple[list[str], list[str]]:
    """How each gradient came about: the terms local · gradient, and the rows they came from."""
    reached: list[list[tuple[int, object]]] = [[] for _ in rows]
    for at, row in enumerate(rows):
        if row.grad is not None:
            for source, derivative in row.inputs:
                reached[source].append((at, derivative))
    terms: list[str] = []
    origins: list[str] = []
    dots = ellipsis(ascii)
    dot = "*" if ascii else "·"
    for row, uses in zip(rows, reached, strict=True):
        shown = uses[:TERMS]
        rest = len(uses) - len(shown)
        text = ""
        if row.grad is not None and row.result:
            text = "= seed"
        elif row.grad is not None and shown:
            products = []
            for user, derivative in shown:
                if derivative is None or is_array(derivative) or is_array(rows[user].grad):
                    break
                factor = f"({grads[user]})" if grads[user].startswith("-") else grads[user]
                products.append(short(derivative, digits, ascii) + dot + factor)
            if len(products) == len(shown):
                text = "= " + " + ".join(products).replace("+ -", "- ")
                text += f" + {dots} ({rest} more)" if rest else ""
        terms.append(text)
        names = dict.fromkeys([cut(printable(rows[user].name, ascii), LABEL // 2, ascii) for user, _ in shown])
        origin = "from " + ", ".join(names) if names and row.grad is not None else ""
        origins.append(origin + (f", {dots}" if rest and origin else ""))
    return terms, origins


def _paint(rows: Sequence[Row], columns: list[list[str]], values: list[str]) -> None:
    """Result, inputs and constants in their colours, numbers by sign, class names in the background."""
    graded = any(row.grad is not None for row in rows)
    for at, row in enumerate(rows, start=1):
        style = "strong" if row.result else {"input": "input", "constant": "dim"}.get(row.kind)
        value = values[at - 1]
        label = columns[1][at][: -len(value)] if value else columns[1][at]
        columns[1][at] = paint(label, style, True) if style else label
        columns[1][at] += paint(value, by_sign(row.value), True)
        if graded:
            columns[2][at] = paint(columns[2][at], by_sign(row.grad), True)
        # Trailing blanks would be kept by the escape that ends the colour.
        name = columns[-2][at].rstrip()
        columns[-2][at] = paint(name, "dim", True) + " " * (len(columns[-2][at]) - len(name))
