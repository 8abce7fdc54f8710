"""The recorded graph as SVG, drawn by our own layout: light and dark, readable by a screen reader."""

from __future__ import annotations

from autodiff.render.dot import LABEL, MOST_SECOND, MOST_SIDEWAYS, TITLE_COLUMNS, TITLE_LINES
from autodiff.render.layout import layout
from autodiff.render.number import short
from autodiff.render.terminal import cut, printable, width
from autodiff.render.view import CONSTANT, INPUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autodiff.render.layout import Line, Point
    from autodiff.render.view import Row

EM = 7.9  # a column of the 13 px monospace font, with a margin for fonts that run wide
LINE = 18.0
PAD = 12.0
MARGIN = 20.0
SIDEWAYS_GAP, DOWN_GAP = 44.0, 56.0

FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
STYLE = (
    f"text{{font:13px {FONT};fill:#1d2330}}"
    """
.t{font-weight:600}.n{font-weight:600}.k{fill:#5d6678}.g{fill:#a8430f}.f{fill:#7a8294;font-size:11px}
.b rect{fill:#fff;stroke:#8b94a7;stroke-width:1.2}
.input rect{fill:#e3efff;stroke:#3b73c4}.constant rect{fill:#f0f1f4;stroke:#c3c8d2}
.fold rect{fill:#f1eafd;stroke:#7d55c7;stroke-width:2.4}
.back rect{fill:#fdeee4;stroke:#c8692f}
.result rect{fill:#fff0cf;stroke:#b9861a;stroke-width:1.6}.unused rect{stroke-dasharray:4 3}
path{fill:none;stroke:#97a0b3;stroke-width:1.3}.a{fill:#97a0b3;stroke:none}
.l{font-size:11px;fill:#3b4558;stroke:#fff;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}
.page{fill:#fff}"""
)
DARK = """text{fill:#e4e8f1}.k{fill:#a3acbf}.g{fill:#ffab7a}.f{fill:#8d97ab}
.b rect{fill:#232936;stroke:#6d788f}.input rect{fill:#1d3150;stroke:#6fa3ee}.constant rect{fill:#1e222c;stroke:#454d5e}
.fold rect{fill:#32264d;stroke:#a98be6}.back rect{fill:#42281a;stroke:#e08d57}
.result rect{fill:#473816;stroke:#e2b54b}path{stroke:#76819a}.a{fill:#76819a;stroke:none}
.l{fill:#c5cddd;stroke:#161a22}.page{fill:#161a22}"""


class Drawing:
    """The placed picture: `body` lines of SVG, the width and height they need."""

    __slots__ = ("body", "height", "width")

    def __init__(self, body: list[str], width: float, height: float) -> None:
        self.body = body
        self.width = width
        self.height = height


def svg(rows: Sequence[Row], title: str = "", *, digits: int | None = None) -> str:
    """A whole file."""
    lines = [cut(printable(line), TITLE_COLUMNS) for line in title.splitlines()]
    if len(lines) > TITLE_LINES:
        lines[TITLE_LINES - 1 :] = ["…"]
    drawing = draw(rows, digits=digits)
    top = LINE * len(lines) + (MARGIN if lines else 0.0)
    wide = max([drawing.width, *[2 * MARGIN + EM * width(line) for line in lines]])
    high = drawing.height + top
    name = escaped(" ".join(lines)) or "recorded graph"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(wide)}" height="{_n(high)}" '
        f'viewBox="0 0 {_n(wide)} {_n(high)}" role="img" aria-labelledby="t d">',
        f'<title id="t">{name}</title>',
        f'<desc id="d">{escaped(_description(rows))}</desc>',
        f"<style>{STYLE}\n@media (prefers-color-scheme:dark){{{DARK}}}</style>",
        f'<rect class="page" width="{_n(wide)}" height="{_n(high)}"/>',
    ]
    for at, line in enumerate(lines):
        style = "t" if at == 0 else "k"
        out.append(f'<text class="{style}" xml:space="preserve" x="{_n(MARGIN)}" y="{_n(MARGIN + LINE * at + 8)}">')
        out[-1] += f"{escaped(line)}</text>"
    out += [f'<g transform="translate(0 {_n(top)})">', *drawing.body, "</g>", "</svg>"]
    return "\n".join(out) + "\n"


def _description(rows: Sequence[Row]) -> str:
    result = next((row for row in rows if row.result), None)
    operations = sum(row.size for row in rows if row.op)
    of = f"; the result {printable(result.name)} is {short(result.value)}" if result else ""
    return f"{operations} operations{of}"


def draw(rows: Sequence[Row], *, digits: int | None = None) -> Drawing:
    """Boxes and lines. Ids of boxes are the rows' ids; lines say which rows they join (data-f, data-t).

    A trunk, which all later uses of a value share, has no data-t.
    """
    sideways = len(rows) <= MOST_SIDEWAYS
    texts = [_texts(row, digits) for row in rows]
    sizes = [
        (max(width(text) * (EM if style != "f" else EM * 0.86) for style, text in lines) + 2 * PAD, _height(len(lines)))
        for lines in texts
    ]
    edges = [(source, at) for at, row in enumerate(rows) for source, _ in row.inputs]
    locals_ = [local for row in rows for _, local in row.inputs]
    labelled = max([len(short(local, digits)) for local in locals_ if local is not None], default=0)
    gap = SIDEWAYS_GAP + EM * labelled if sideways else DOWN_GAP
    placed = layout(
        [(high, wide) if sideways else (wide, high) for wide, high in sizes],
        edges,
        between=20.0 if sideways else 28.0,
        layers=gap,
    )

    def at(point: Point) -> Point:
        return (point[1] + MARGIN, point[0] + MARGIN) if sideways else (point[0] + MARGIN, point[1] + MARGIN)

    body = ['<g class="lines">']
    for line in placed.trunks:
        body.append(f'<path data-f="{rows[line.source].id}" d="{_path(line, at, sideways)}"/>')
    labels = []
    for (source, target), local, line in zip(edges, locals_, placed.edges, strict=True):
        tip = at(line.points[-1])
        joined = f'data-f="{rows[source].id}" data-t="{rows[target].id}"'
        body.append(f'<path {joined} d="{_path(line, at, sideways)}"/>')
        body.append(f'<path class="a" {joined} d="{_arrow(tip, sideways)}"/>')
        if local is not None:
            off = line.points[-1][0] - placed.centres[target][0]
            side = (off > 0.5) - (off < -0.5)
            labels.append(_edge_label(short(local, digits), joined, tip, side, sideways))
    body += ["</g>", '<g class="labels">', *labels, "</g>", '<g class="boxes">']
    for row, lines, size, centre in zip(rows, texts, sizes, placed.centres, strict=True):
        body += _box(row, lines, size, at(centre))
    body.append("</g>")
    across, along = placed.cross + 2 * MARGIN, placed.main + 2 * MARGIN
    return Drawing(body, along if sideways else across, across if sideways else along)


def _height(lines: int) -> float:
    return lines * LINE + 2 * PAD - 8


def _texts(row: Row, digits: int | None) -> list[tuple[str, str]]:
    """The lines of a box with their classes: name, value, gradient, what made it."""
    lines = [("n", cut(printable(row.label), LABEL))]
    value = short(row.value, digits)
    if value != row.label:
        lines.append(("k", f"value {value}"))
    if row.grad is not None and row.kind != CONSTANT:
        lines.append(("g", f"grad {short(row.grad, digits)}"))
    for name, second in list(row.second.items())[:MOST_SECOND]:
        if row.kind != CONSTANT:
            lines.append(("g", f"grad of d/d{cut(printable(name), LABEL // 2)} {short(second, digits)}"))
    if row.op:
        lines.append(("f", row.grad_fn))
    if row.unused:
        lines.append(("f", "unused"))
    return lines


def _box(row: Row, lines: Sequence[tuple[str, str]], size: Point, centre: Point) -> Iterator[str]:
    wide, high = size
    left, top = centre[0] - wide / 2, centre[1] - high / 2
    kinds = ["b", row.kind, *(["result"] if row.result else []), *(["back"] if row.backward and row.op else [])]
    if row.unused:
        kinds.append("unused")
    round_ = high / 2 if row.kind == INPUT else 4 if row.kind == CONSTANT else 7
    said = escaped(", ".join(text for _, text in lines))
    yield f'<g id="{row.id}" class="{" ".join(kinds)}" role="img" aria-label="{said}">'
    yield _rect(left, top, wide, high, min(round_, 18))
    if row.result:  # marked twice, by shape and by colour
        yield _rect(left - 4, top - 4, wide + 8, high + 8, 10, ' style="fill:none"')
    for number, (style, text) in enumerate(lines):
        y = top + PAD + LINE * number + 9
        yield (
            f'<text class="{style}" xml:space="preserve" text-anchor="middle" x="{_n(centre[0])}" y="{_n(y)}">'
            f"{escaped(text)}</text>"
        )
    yield "</g>"


def _rect(left: float, top: float, wide: float, high: float, radius: float, more: str = "") -> str:
    place = f'x="{_n(left)}" y="{_n(top)}" width="{_n(wide)}" height="{_n(high)}" rx="{_n(radius)}"'
    return f"<rect {place}{more}/>"


def _path(line: Line, at: object, sideways: bool) -> str:
    assert callable(at)
    points = [at(point) for point in line.points]
    x, y = points[0]
    parts = [f"M{_n(x)} {_n(y)}"]
    for number, (u, v) in enumerate(points[1:], 2):
        beyond = points[number] if number < len(points) else (None, None)
        if (y == v == beyond[1]) if sideways else (x == u == beyond[0]):
            continue  # straight on: one piece is enough
        if x == u or y == v:
            parts.append(f"L{_n(u)} {_n(v)}")
        elif sideways:
            half = (x + u) / 2
            parts.append(f"C{_n(half)} {_n(y)} {_n(half)} {_n(v)} {_n(u)} {_n(v)}")
        else:
            half = (y + v) / 2
            parts.append(f"C{_n(x)} {_n(half)} {_n(u)} {_n(half)} {_n(u)} {_n(v)}")
        x, y = u, v
    return "".join(parts)


def _arrow(tip: Point, sideways: bool) -> str:
    x, y = tip
    if sideways:
        return f"M{_n(x)} {_n(y)}l-8 -3.5v7z"
    return f"M{_n(x)} {_n(y)}l-3.5 -8h7z"


def _edge_label(text: str, joined: str, tip: Point, side: int, sideways: bool) -> str:
    """The local derivative beside the arrow's head, at the operation that it belongs to.

    `side` says on which side of its box's middle the arrow comes in: -1, 0, 1.
    """
    x, y = tip
    if sideways:
        anchor, x, y = "end", x - 11, y + (14 if side > 0 else -5)
    else:
        anchor, x, y = ("end", x - 6, y - 5) if side < 0 else ("start", x + 6, y - 5)
    place = f'text-anchor="{anchor}" x="{_n(x)}" y="{_n(y)}"'
    shown = escaped(text)
    return f'<text class="l" {joined} {place}>{shown}</text>'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def escaped(text: str) -> str:
    """Printable text inside an element or a quoted attribute."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
