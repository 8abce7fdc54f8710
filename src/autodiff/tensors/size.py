"""Shapes as PyTorch shows them."""

from __future__ import annotations

from math import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Size(tuple[int, ...]):
    """The lengths along the axes: a tuple that prints as PyTorch's.

    >>> Size([2, 3]), Size([2, 3]).numel(), Size([2, 3]) == (2, 3)
    (torch.Size([2, 3]), 6, True)
    """

    __slots__ = ()

    def numel(self) -> int:
        """How many entries an array of this shape has.

        >>> Size([2, 3]).numel()
        6
        """
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, place: Any) -> Any:
        found = tuple.__getitem__(self, place)
        return Size(found) if found.__class__ is tuple else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))


EMPTY = Size()

__all__ = ["EMPTY", "Size"]
