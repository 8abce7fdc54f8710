"""The two passes as steps in words: what a lecture says of the rows, for text, Markdown, JSON and the page."""

from __future__ import annotations

import re

from autodiff.render.number import is_array, nested, short
from autodiff.render.terminal import printable
from autodiff.render.view import CONSTANT, FOLD, INPUT, OPERATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, NamedTuple

    from autodiff.render.view import Row

    class Send(NamedTuple):
        """What the sweep sends along one edge: to which row, the local derivative (None: no single one), the product.

        `formula` is the local derivative in terms of the operands, where it is not just a number.
        """

        to: int
        local: Any
        sent: Any
        formula: str

    class Backward(NamedTuple):
        """One step of the sweep: a row whose gradient is complete, and what it sends."""

        row: int
        sends: tuple[Send, ...]

else:
    from collections import namedtuple

    Send = namedtuple("Send", "to local sent formula")
    Backward = namedtuple("Backward", "row sends")

_NAME = re.compile(r"[^\W\d]\w*(?!\w*\s*[(=])")
_SIGNED = re.compile(r"(^|(?<=\w)\()\((-[^()]*)\)($|\)|(?= ))")
MOST_TERMS = 6


def sweep(rows: Sequence[Row], formulas: Mapping[tuple[str, int], str] | None = None) -> list[Backward]:
    """The steps of the backward pass, from the result down; constants are sent nothing.

    `formulas` are local derivatives in words, by id of the row and operand.
    """
    formulas = formulas or {}
    steps = []
    for at in range(len(rows) - 1, -1, -1):
        row = rows[at]
        if row.grad is None or row.backward or not row.sent:
            continue
        sends = [
            Send(source, local, sent, formulas.get((row.id, k), ""))
            for k, ((source, local), sent) in enumerate(zip(row.inputs, row.sent, strict=True))
            if sent is not None and rows[source].kind != CONSTANT
        ]
        if sends:
            steps.append(Backward(at, tuple(sends)))
    return steps


def arrivals(steps: Sequence[Backward], count: int) -> list[list[tuple[int, Any]]]:
    """By row: what arrived and from which row, in the order of the sweep."""
    found: list[list[tuple[int, Any]]] = [[] for _ in range(count)]
    for step in steps:
        for send in step.sends:
            found[send.to].append((step.row, send.sent))
    return found


def is_literal(row: Row) -> bool:
    """Whether the row is a number that stands in the operations as it is, and needs no line of its own."""
    return row.kind == CONSTANT and row.text == row.name and not row.name.isidentifier() and not row.result


class Words:
    """How the steps are said: digits and characters."""

    def __init__(self, rows: Sequence[Row], *, digits: int | None = None, ascii: bool = False) -> None:
        self.rows = rows
        self.digits = digits
        self.ascii = ascii
        self.dot = " * " if ascii else " · "
        self.round = "d" if ascii else "∂"
        # A result that is a constant has no name of its own.
        result = next((at for at, row in enumerate(rows) if row.result and row.kind != CONSTANT), None)
        self.result = "y" if result is None else self.name(result)

    def name(self, at: int) -> str:
        return printable(self.rows[at].name, self.ascii)

    def number(self, value: Any) -> str:
        return short(value, self.digits, self.ascii)

    def factor(self, value: Any) -> str:
        """A number inside a product or a sum."""
        text = self.number(value)
        return f"({text})" if text.startswith("-") else text

    def operation(self, row: Row) -> str:
        """`x + 2`, or what kind of leaf it is."""
        if row.kind == INPUT or (row.kind == CONSTANT and row.text == row.name):
            return row.kind
        text = row.text
        if self.ascii and row.kind == FOLD:
            text = text.replace("×", "x").replace("…", "...")
        return printable(text, self.ascii)

    def filled(self, row: Row) -> str:
        """`2 + 2`: the operation with the operands' values, where all are single numbers."""
        if row.kind != OPERATION:
            return ""
        known = {self.rows[source].name: self.rows[source].value for source, _ in row.inputs}
        if not known or any(is_array(value) for value in known.values()):
            return ""
        text = row.text
        for name, value in known.items():
            if not name.isidentifier():  # a constant part of the source: x * (k^2)
                text = text.replace(f"({name})", self.factor(value))
        text = _NAME.sub(lambda match: self.factor(known[match[0]]) if match[0] in known else match[0], text)
        # a sign needs no parentheses at the front, nor right inside those of a call
        text = _SIGNED.sub(r"\1\2\3", printable(text, self.ascii))
        return "" if text == self.operation(row) or text == self.number(row.value) else text

    def gradient(self, at: int) -> str:
        """`dy/da`."""
        return f"d{self.result}/d{self.name(at)}"

    def partial(self, at: int, to: int) -> str:
        """`∂y/∂a`, the local derivative."""
        return f"{'local ' if self.ascii else ''}{self.round}{self.name(at)}/{self.round}{self.name(to)}"

    def product(self, row: Row, send: Send) -> str:
        """`2 · 1 = 2`: local derivative, incoming gradient, what is sent."""
        sent = self.number(send.sent)
        if send.local is None:
            return sent
        return f"{self.factor(send.local)}{self.dot}{self.factor(row.grad)} = {sent}"

    def total(self, at: int, arrived: Sequence[tuple[int, Any]]) -> str:
        """`4 + 2 = 6`: how a gradient adds up; where the sum is not what counts, that is said."""
        row = self.rows[at]
        grad = self.number(row.grad)
        if row.result:
            return grad
        if not arrived:
            return grad
        terms = [self.number(term) for _, term in arrived[:MOST_TERMS]]
        if len(arrived) > MOST_TERMS:
            terms.append(f"{'...' if self.ascii else '…'} ({len(arrived) - MOST_TERMS} more)")
        added = " + ".join(terms).replace("+ -", "- ")
        if self.settled(at, arrived):
            return f"{added} by the rules; both sides agree on {grad}"
        return f"{added} = {grad}" if len(arrived) > 1 else grad

    def settled(self, at: int, arrived: Sequence[tuple[int, Any]]) -> bool:
        """Whether the gradient is not the sum of what arrived: at a kink the two sides decide."""
        row = self.rows[at]
        if row.kind != INPUT or row.grad is None or is_array(row.grad) or not arrived:
            return False
        total = arrived[0][1]
        for _, term in arrived[1:]:
            total = total + term
        size = max(abs(nested(term)) for _, term in arrived)
        return bool(abs(total - row.grad) > 1e-9 * size)

    def origins(self, arrived: Sequence[tuple[int, Any]]) -> str:
        """`a and y`: where it came from."""
        names = list(dict.fromkeys([self.name(at) for at, _ in arrived]))
        if len(names) > MOST_TERMS:
            return ", ".join(names[:MOST_TERMS]) + f" and {len(names) - MOST_TERMS} more"
        return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]]) if names else ""


def leaves(rows: Sequence[Row]) -> Iterator[int]:
    """The inputs that are differentiated by."""
    for at, row in enumerate(rows):
        if row.kind == INPUT:
            yield at
