"""Tensors in dictionaries, lists and tuples: all of them in a row, and a row of others in the same places."""

from __future__ import annotations

from autodiff.tensors.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def is_tree(x: Any) -> bool:
    """Whether x holds tensors; lists of numbers are arrays.

    >>> is_tree([tensor(1.0)]), is_tree([1.0])
    (True, False)
    """
    while isinstance(x, (list, tuple)) and x:
        x = x[0]
        if x.__class__ is Tensor:
            return True
    return isinstance(x, dict)


def opened(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """What is in a tree, and the function that puts as many others into a tree like it.

    >>> found, closed = opened({"a": tensor(1.0), "b": [tensor(2.0), tensor(3.0)]})
    >>> closed([10, 20, 30])
    {'a': 10, 'b': [20, 30]}
    """
    leaves: list[Any] = []
    plan: list[Any] = []  # in the order met: None for a leaf, else how to put together what follows, and how many
    waiting = [tree]
    while waiting:
        x = waiting.pop()
        if not is_tree(x):
            leaves.append(x)
            plan.append(None)
            continue
        parts = list(x.values()) if isinstance(x, dict) else list(x)
        plan.append((_dictionary(x) if isinstance(x, dict) else _sequence(x), len(parts)))
        waiting += reversed(parts)

    def closed(others: Sequence[Any]) -> Any:
        rest = list(others)
        done: list[Any] = []
        for step in reversed(plan):
            if step is None:
                done.append(rest.pop())
            else:
                make, count = step
                parts = [done.pop() for _ in range(count)]
                done.append(make(parts))
        return done[0]

    return leaves, closed


def _dictionary(like: dict[Any, Any]) -> Callable[[list[Any]], Any]:
    keys = list(like)
    return lambda parts: dict(zip(keys, parts, strict=True))


def _sequence(like: Any) -> Callable[[list[Any]], Any]:
    if hasattr(like, "_fields"):
        return lambda parts: like.__class__(*parts)
    return tuple if isinstance(like, tuple) else list


__all__ = ["is_tree", "opened"]
