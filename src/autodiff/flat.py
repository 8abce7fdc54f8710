"""The flat tape of generated code, for numbers: local derivatives alone, and the sweep over them.

The tape is two arrays, one entry an edge of the graph: the operand's number and the local derivative, 12 bytes.
Values are numbered from 1, the inputs first; 0 is no value. An operation's first edge has its operand's number,
the others minus that, so that the sweep knows where the next operation begins.
"""

from __future__ import annotations

from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STRETCH = 4_000  # operations between two looks at the tape


class TooMany(Exception):
    """More operations than allowed; the argument is the place of the loop or function."""


class Entries:
    """The tape while it grows: its newest entries in lists, to which appending costs half, the others in arrays."""

    __slots__ = ("derivatives", "newest", "operands", "slopes", "spare")

    def __init__(self, left: int) -> None:
        self.operands, self.derivatives = array("i"), array("d")
        self.newest: list[int] = []
        self.slopes: list[float] = []
        self.spare = left  # operations that are allowed beyond the present stretch

    def more(self, left: int, place: Any) -> int:
        """A stretch has ended: how many operations the next may have. TooMany where none are left."""
        self.whole()
        left += self.spare
        if left < 0:
            raise TooMany(place)
        self.spare = max(left - STRETCH, 0)
        return left - self.spare

    def whole(self) -> tuple[array[int], array[float]]:
        """All entries."""
        self.operands.fromlist(self.newest)
        self.derivatives.fromlist(self.slopes)
        self.newest.clear()
        self.slopes.clear()
        return self.operands, self.derivatives


def sweep(root: int, n: int, operands: array[int], derivatives: array[float]) -> list[float]:
    """The reverse sweep over a flat tape: the cotangents of the inputs, from place 1 on."""
    cotangents = [0.0] * (n + 1)
    cotangents[root] = 1.0
    pop = cotangents.pop
    g = pop()
    for i, d in zip(reversed(operands), reversed(derivatives), strict=True):
        if i > 0:
            if g:
                cotangents[i] += g * d
            g = pop()
        elif g:
            cotangents[-i] += g * d
    cotangents.append(g)
    return cotangents
