"""Long pictures made short: rounds of a loop and calls of a function become one row with a count.

A round is known by its places in the text: rows whose spans repeat as a sequence are rounds of a
loop. Inner loops fold first, so that the rounds of the outer one look alike.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import zip_longest

from autodiff.render.terminal import cut, printable, width
from autodiff.render.view import FOLD, INPUT, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span

    Known = dict[Any, int]
    """Numbers for what is equal, so that comparing two folds costs what comparing two rows does."""

LONGEST_ROUND = 4_096
MOST, LEAST = 40, 8  # columns of a label; of the quotation in it


class Block:
    """Consecutive rows that are drawn as one: rows by number, the token that compares it, a count of rounds."""

    __slots__ = ("count", "first", "name", "rows", "token")

    def __init__(self, rows: list[int], token: int, count: int = 1, name: str = "") -> None:
        self.rows = rows
        self.token = token
        self.first = token
        self.count = count
        self.name = name


def fold(rows: Sequence[Row], source: str, functions: Mapping[str, Span] | None = None) -> list[Row]:
    """The rows with their repetitions folded. `functions` are the places of the bodies of user functions, by name."""
    known: Known = {}
    blocks = [
        Block([at], _token(known, row.op, row.kind, row.span, row.backward))
        for at, row in enumerate(rows)
        if row.kind != INPUT
    ]
    blocks = _calls(blocks, rows, functions or {}, known)
    inside = {at for block in blocks if block.name for at in block.rows}
    longest = 1
    while longest <= LONGEST_ROUND:
        folded = _rounds(blocks, known, longest)
        if len(folded) == len(blocks):
            longest *= 2  # short rounds first: they are the inner loops
        blocks = folded
    return _merged(blocks, rows, source, inside)


def _token(known: Known, *key: Any) -> int:
    return known.setdefault(key, len(known))


def _calls(blocks: list[Block], rows: Sequence[Row], functions: Mapping[str, Span], known: Known) -> list[Block]:
    """Runs of operations inside the text of one function, with the number of calls."""
    spans = sorted((start, end, name) for name, (start, end) in functions.items())
    starts = [start for start, _, _ in spans]
    folded: list[Block] = []
    for block in blocks:
        row = rows[block.rows[0]]
        name = ""
        if row.span is not None and not row.backward:
            at = bisect_right(starts, row.span[0]) - 1
            if at >= 0 and row.span[1] <= spans[at][1]:
                name = spans[at][2]
        if name and folded and folded[-1].name == name:
            last = folded[-1]
            last.rows += block.rows
            last.count += block.token == last.first
        elif name:
            call = Block(block.rows, _token(known, name), 1, name)
            call.first = block.token
            folded.append(call)
        else:
            folded.append(block)
    return folded


def _rounds(blocks: list[Block], known: Known, longest: int) -> list[Block]:
    """One pass over the blocks that folds the repetitions of at most `longest` blocks."""
    tokens = [block.token for block in blocks]
    ahead: dict[int, int] = {}
    again = [0] * len(tokens)
    for at in range(len(tokens) - 1, -1, -1):
        again[at] = ahead.get(tokens[at], 0)
        ahead[tokens[at]] = at
    folded: list[Block] = []
    at = 0
    while at < len(blocks):
        period = again[at] - at
        count = 1
        if 0 < period <= longest:
            end = at
            while end + period < len(tokens) and tokens[end] == tokens[end + period]:
                end += 1
            count += (end - at) // period
        if count == 1:
            folded.append(blocks[at])
            at += 1
            continue
        parts = blocks[at : at + count * period]
        name = parts[0].name if period == 1 else ""
        rounds = sum(part.count for part in parts) if name else count
        members = [row for part in parts for row in part.rows]
        folded.append(Block(members, _token(known, *tokens[at : at + period]), rounds, name))
        at += count * period
    return folded


def _merged(blocks: list[Block], rows: Sequence[Row], source: str, inside: Collection[int]) -> list[Row]:
    """The rows that remain; an input used inside a fold stands before it."""
    ends = [block.rows[-1] for block in blocks]
    inputs: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        if row.kind == INPUT:
            # before the first block that ends behind it
            inputs.setdefault(bisect_right(ends, at), []).append(at)
    number: dict[int, int] = {}
    made: list[Row] = []
    for at, block in enumerate(blocks):
        for leaf in inputs.get(at, ()):
            number[leaf] = len(made)
            made.append(rows[leaf])
        place = len(made)
        number.update(dict.fromkeys(block.rows, place))
        if len(block.rows) == 1:
            row = rows[block.rows[0]]
            made.append(row._replace(inputs=tuple([(number[at], local) for at, local in row.inputs])))
        else:
            made.append(_folded(block, rows, number, place, source, inside))
    made += [rows[leaf] for leaf in inputs.get(len(blocks), ())]
    return made


def _folded(
    block: Block, rows: Sequence[Row], number: Mapping[int, int], place: int, source: str, inside: Collection[int]
) -> Row:
    members = [rows[at] for at in block.rows]
    last = next((row for row in reversed(members) if row.result), members[-1])
    # A loop is quoted without the functions that it calls: their text stands elsewhere.
    places = [rows[at].span for at in block.rows if block.name or at not in inside] or [row.span for row in members]
    spans = [span for span in places if span is not None]
    span = (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
    sent: dict[int, Any] = {}
    for row in members:
        for (at, _), term in zip_longest(row.inputs, row.sent):
            if number[at] != place:
                before = sent.setdefault(number[at])
                if term is not None:
                    sent[number[at]] = term if before is None else before + term
    what = f"{block.name}(…)" if block.name else " ".join(source[slice(*span)].split()) if span else ""
    rounds = f"] × {block.count}"
    room = max(LEAST, MOST - width(last.name) - len(rounds) - len(" = ["))
    text = cut(printable(what), room)
    if block.count > 1:
        text = f"[{text}{rounds}"
    return Row(
        id=members[0].id,
        kind=FOLD,
        op=FOLD,
        grad_fn=f"{sum(bool(row.op) for row in members)} operations",
        name=last.name,
        text=text,
        label=f"{last.name} = {text}",
        value=last.value,
        grad=last.grad,
        span=span,
        inputs=tuple([(at, None) for at in sent]),
        result=last.result,
        unused=all(row.unused for row in members),
        sent=tuple(sent.values()),
        backward=last.backward,
        second=last.second,
        rounds=block.count,
        size=len(members),
    )
