"""Checkpoints: a part of the graph that is not kept but recorded anew when the backward pass comes to it."""

from __future__ import annotations

from autodiff.tensors.backward import grad
from autodiff.tensors.function import Function
from autodiff.tensors.graph import number
from autodiff.tensors.modes import enable_grad, is_grad_enabled
from autodiff.tensors.tensor import Tensor, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, **options: Any) -> Any:
    """function(*args), of which only the arguments are kept: backward runs it once more.

    The function must give one tensor and do the same each time. Leaves that it reads without taking them as arguments
    get their gradients too; if it reads other recorded tensors so, it is recorded as usual, which keeps its values.

    >>> x = tensor(2.0, requires_grad=True)
    >>> checkpoint(lambda x: x * x * x, x).backward()
    >>> x.grad
    tensor(12.)
    """
    if not is_grad_enabled():
        return function(*args, **options)
    start = number()
    inner = [x.detach().requires_grad_() if x.__class__ is Tensor and x.requires_grad else x for x in args]
    y = function(*inner, **options)
    captured = _captured(y, start)
    if captured is None:
        return function(*args, **options)
    leaves: list[Tensor] = captured

    def again(g: Any) -> list[Any]:
        recording = is_grad_enabled()
        with enable_grad():
            given = []
            for x in args:
                wanted = x.__class__ is Tensor and x.requires_grad
                given.append((x.clone() if recording else x.detach().requires_grad_()) if wanted else x)
            y = function(*given, **options)
            by = [x for x, was in zip(given, args, strict=True) if was.__class__ is Tensor and was.requires_grad]
            found = list(grad(y, [*by, *leaves], g, create_graph=recording, allow_unused=True))
        ours = [found.pop(0) if x.__class__ is Tensor and x.requires_grad else None for x in args]
        return ours + found

    return Again.apply(*args, *leaves, again=again, value=y._value)


def checkpoint_sequential(functions: Any, segments: int, x: Any, **options: Any) -> Any:
    """The functions one after another, in so many parts, each but the last a checkpoint.

    >>> x = tensor(0.5, requires_grad=True)
    >>> checkpoint_sequential([lambda x: x * x, lambda x: 3 * x], 2, x).backward()
    >>> x.grad
    tensor(3.)
    """
    steps = list(functions)
    size = max(1, len(steps) // segments)

    def part(first: int, end: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in steps[first:end]:
                x = step(x)
            return x

        return run

    last = size * (segments - 1)
    for first in range(0, last, size):
        x = checkpoint(part(first, first + size), x, **options)
    return part(last, len(steps))(x)


class Again(Function):
    """A value, and the function that computes it once more for the gradients of the other arguments."""

    @staticmethod
    def forward(ctx: Any, *xs: Any, again: Any, value: Any) -> Any:
        ctx.again = again
        return wrap(value)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return tuple(ctx.again(g))


def _captured(y: Any, start: int) -> list[Tensor] | None:
    """The leaves from before `start` that a value reaches; None if it reaches other nodes, or is no tensor."""
    if y.__class__ is not Tensor or y._fn is None:
        return None
    seen = {y._fn}
    todo = [y._fn]
    found = []
    for fn in todo:
        if fn.index < start:
            leaf = fn.variable if fn.op is None else None
            if leaf is None:
                return None
            found.append(leaf)
        for a in (fn.inputs or ())[::2]:
            if a is not None and a not in seen:
                seen.add(a)
                todo.append(a)
    return found


__all__ = ["checkpoint", "checkpoint_sequential"]
