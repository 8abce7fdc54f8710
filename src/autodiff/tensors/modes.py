"""Whether operations are recorded: grad mode and anomaly mode, each thread's own."""

from __future__ import annotations

import threading
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Mode(threading.local):
    """The modes of one thread."""

    def __init__(self) -> None:
        self.recording = True
        self.anomaly = False
        self.packing: Any = None
        """What `saved_tensors_hooks` gave: (pack, unpack)."""


mode = Mode()
GENERATOR = 0x20  # the flag of a generator function's code
special = [0]
"""How many threads are in any mode but the usual one: while it is 0, operators need not look."""
_lock = threading.Lock()


def _switch(recording: bool, anomaly: bool) -> None:
    before = _usual()
    mode.recording, mode.anomaly = recording, anomaly
    _counted(before)


def repack(hooks: Any) -> None:
    """Hand what is saved from now on to other hooks; to none if None."""
    before = _usual()
    mode.packing = hooks
    _counted(before)


def _usual() -> bool:
    return mode.recording and not mode.anomaly and mode.packing is None


def _counted(before: bool) -> None:
    if before != _usual():
        with _lock:
            special[0] += 1 if before else -1


def is_grad_enabled() -> bool:
    """Whether this thread records operations.

    >>> is_grad_enabled()
    True
    """
    return mode.recording


def is_anomaly_enabled() -> bool:
    """Whether this thread's operations remember where they were called.

    >>> is_anomaly_enabled()
    False
    """
    return mode.anomaly


class _Scope:
    """A mode as a context manager and as a decorator."""

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool]] = []

    def _enter(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> _Scope:
        self._before.append((mode.recording, mode.anomaly))
        self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        _switch(*self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if getattr(getattr(function, "__code__", None), "co_flags", 0) & GENERATOR:
            return self._steps(function)

        @wraps(function)
        def within(*args: Any, **options: Any) -> Any:
            with self.__class__(*self._arguments()):
                return function(*args, **options)

        return within

    def _steps(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A generator function each of whose steps runs in the mode, while what stands between them does not."""

        @wraps(function)
        def within(*args: Any, **options: Any) -> Any:
            steps = function(*args, **options)
            given: Any = None
            try:
                while True:
                    with self.__class__(*self._arguments()):
                        found = steps.send(given)
                    given = yield found
            except StopIteration as end:
                return end.value
            finally:
                steps.close()

        return within

    def _arguments(self) -> tuple[Any, ...]:
        return ()


class no_grad(_Scope):
    """Nothing is recorded within: `with no_grad():`, or `@no_grad()`.

    >>> x = tensor(2.0, requires_grad=True)
    >>> with no_grad():
    ...     (x * x).requires_grad
    False
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)  # `@no_grad` without parentheses

    def __init__(self, function: None = None) -> None:
        super().__init__()

    def _enter(self) -> None:
        _switch(False, mode.anomaly)


class enable_grad(_Scope):
    """Operations are recorded within, also inside `no_grad`.

    >>> with no_grad(), enable_grad():
    ...     (tensor(2.0, requires_grad=True) * 2).requires_grad
    True
    """

    def _enter(self) -> None:
        _switch(True, mode.anomaly)


class set_grad_enabled(_Scope):
    """Switches recording on or off: at once, and back at the end of the block if used as a context manager.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode_: bool) -> None:
        super().__init__()
        self._wanted = bool(mode_)
        self._outside = (mode.recording, mode.anomaly)
        _switch(self._wanted, mode.anomaly)

    def __enter__(self) -> _Scope:
        self._before.append(self._outside)
        _switch(self._wanted, mode.anomaly)
        return self

    def _enter(self) -> None:
        _switch(self._wanted, mode.anomaly)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _switch(*self._outside)
        return super().__call__(function)

    def _arguments(self) -> tuple[Any, ...]:
        return (self._wanted,)


class detect_anomaly(_Scope):
    """Within, each operation remembers where it was called; a nan in a backward pass is an error that says so.

    >>> x = tensor(0.0, requires_grad=True)
    >>> with detect_anomaly():
    ...     (x / x).backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    autodiff.tensors.graph.GraphError: Function 'DivBackward0' returned nan values in its 1th output; it ...
    ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check = check_nan

    def _enter(self) -> None:
        _switch(mode.recording, self._check)

    def _arguments(self) -> tuple[Any, ...]:
        return (self._check,)


class set_detect_anomaly(detect_anomaly):
    """Switches anomaly mode on or off: at once, and back at the end of the block if used as a context manager.

    >>> with set_detect_anomaly(False):
    ...     tensor(1.0) / 2
    tensor(0.5000)
    """

    def __init__(self, mode_: bool, check_nan: bool = True) -> None:
        super().__init__(mode_ and check_nan)
        self._outside = (mode.recording, mode.anomaly)
        self._enter()

    def __enter__(self) -> _Scope:
        self._before.append(self._outside)
        self._enter()
        return self


inference_mode = no_grad
