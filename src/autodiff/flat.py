"""The flat tape of generated code, for numbers: local derivatives alone, and the sweep over them.

One entry an edge of the graph: the operand's number and the local derivative. Values are numbered from 1, the inputs
first; 0 is no value. An operation's first edge has its operand's number, the others minus that, so that the sweep
knows where the next operation begins.
"""

from __future__ import annotations

from array import array
from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

STRETCH = 2_000_000  # operations whose entries stay in lists


class TooMany(Exception):
    """More operations than allowed; the argument is the place of the loop or function."""


class Entries:
    """The tape: its newest entries in lists, quick but up to 72 bytes each, those before in arrays, 12 bytes each."""

    __slots__ = ("derivatives", "newest", "operands", "slopes", "spare")

    def __init__(self, left: int) -> None:
        self.operands, self.derivatives = array("i"), array("d")
        self.newest: list[int] = []
        self.slopes: list[float] = []
        self.spare = left  # operations that are allowed beyond the present stretch

    def more(self, left: int, place: Any) -> int:
        """A stretch has ended: how many operations the next may have. TooMany where none are left."""
        left += self.spare
        if left < 0:
            raise TooMany(place)
        self.operands.fromlist(self.newest)
        self.derivatives.fromlist(self.slopes)
        self.newest.clear()
        self.slopes.clear()
        self.spare = max(left - STRETCH, 0)
        return left - self.spare

    def backwards(self) -> Iterator[tuple[int, float]]:
        """All entries, the last first."""
        newest = zip(reversed(self.newest), reversed(self.slopes), strict=True)
        return chain(newest, zip(reversed(self.operands), reversed(self.derivatives), strict=True))


def sweep(root: int, n: int, tape: Entries) -> list[float]:
    """The reverse sweep over a tape of n values: the cotangents of the inputs, from place 1 on."""
    cotangents = [0.0] * (n + 1)
    cotangents[root] = 1.0
    pop = cotangents.pop
    g = pop()
    for i, d in tape.backwards():
        if i > 0:
            if g:
                cotangents[i] += g * d
            g = pop()
        elif g:
            cotangents[-i] += g * d
    cotangents.append(g)
    return cotangents


__all__ = ["Entries", "TooMany", "sweep"]
