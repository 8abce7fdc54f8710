"""Hooks of graphs as a whole: of the values that nodes save, and of the gradients of several tensors."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import count

from autodiff.tensors.graph import GradFn as Node
from autodiff.tensors.graph import GraphError, plan_of
from autodiff.tensors.modes import _Scope, mode, repack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


class Packed:
    """A saved value as `pack` gave it, and how to have it back."""

    __slots__ = ("content", "shape", "unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self.content = content
        self.unpack = unpack
        self.shape = shape


class saved_tensors_hooks(_Scope):
    """Within, each tensor that a node saves is handed to `pack`; backward reads `unpack` of what it gave.

    >>> kept = []
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: kept.append(t) or len(kept) - 1, lambda k: kept[k] * 10):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> kept, x.grad
    ([tensor([1., 2.], requires_grad=True), tensor([1., 2.], requires_grad=True)], tensor([20., 40.]))
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__()
        self._hooks = (pack_hook, unpack_hook)
        self._outer: list[Any] = []

    def _enter(self) -> None:
        self._outer.append(mode.packing)
        repack(self._hooks)

    def __exit__(self, *error: object) -> None:
        repack(self._outer.pop())
        self._before.pop()

    def _arguments(self) -> tuple[Any, ...]:
        return self._hooks


def pack(fn: Any, xs: Sequence[Any], made: Any) -> None:
    """Put what a node saved of these operands, and of its value, into the hands of the mode's hooks."""
    from autodiff.tensors.tensor import Tensor

    hooks = given, unpack = mode.packing
    repack(None)  # what the hooks compute is not handed to them
    try:
        keep, keep_y = plan_of(fn.op, fn.inputs[::2])
        inputs = list(fn.inputs)
        for k in reversed(range(len(xs))):  # as PyTorch: the second operand first
            x = xs[k]
            if keep[k] and x.__class__ is Tensor:
                inputs[2 * k + 1] = Packed(given(x), unpack, x.shape)
        fn.inputs = tuple(inputs)
        if keep_y:
            fn.y = Packed(given(made), unpack, made.shape)
    finally:
        repack(hooks)
    fn.more()  # so that sweeps go the careful way, which unpacks


def unpacked(value: Any) -> Any:
    """A saved value as it was, or as the hooks give it back."""
    from autodiff.tensors.tensor import raw_of

    return raw_of(value.unpack(value.content)) if value.__class__ is Packed else value


class _Passing(threading.local):
    """The sweep going on in this thread: which it is, and the nodes that it passes."""

    number = 0
    nodes: Any = frozenset()

    @contextmanager
    def over(self, nodes: Any) -> Iterator[None]:
        """While a sweep passes these nodes."""
        before = self.number, self.nodes
        self.number, self.nodes = _sweeps(), nodes
        try:
            yield
        finally:
            self.number, self.nodes = before


_sweeps = count(1).__next__
passing = _Passing()


class Handles:
    """The handles of several hooks as one."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self._handles = handles

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> Handles:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[[Any], Any], *, mode: str = "all") -> Handles:
    """fn(gradients) once a backward pass knows those of all the tensors, None for what it does not reach.

    With mode "any" fn(gradient) for the first that is known.

    >>> x, y = tensor(2.0, requires_grad=True), tensor(3.0, requires_grad=True)
    >>> handle = register_multi_grad_hook((x, y), print)
    >>> (x * y).backward()
    [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise GraphError(f"a hook of several gradients waits for 'all' or 'any' of them, not '{mode}'")
    found: dict[int, Any] = {}
    last = [-1]

    def hook_of(k: int) -> Callable[[Any], None]:
        def hook(g: Any) -> None:
            if passing.number != last[0]:
                last[0] = passing.number
                found.clear()
                if mode == "any":
                    fn(g)
            if mode == "any":
                return
            found[k] = g
            if len(found) == sum(x._fn in passing.nodes for x in tensors):
                fn([found.get(i) for i in range(len(tensors))])

        return hook

    return Handles([x.register_hook(hook_of(k)) for k, x in enumerate(tensors)])


__all__ = ["Node", "register_multi_grad_hook", "saved_tensors_hooks"]
