"""Operations of one's own: a forward and a backward in Python."""

from __future__ import annotations

from autodiff import numeric
from autodiff.ops.record import OPS, Op
from autodiff.tensors.graph import GradFn, GraphError, number
from autodiff.tensors.modes import enable_grad, mode, no_grad
from autodiff.tensors.tensor import Tensor, plain, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Context:
    """What `forward` leaves for `backward`: saved tensors, `needs_input_grad`, and any attributes."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self.needs_input_grad: tuple[bool, ...] = ()
        self._apart: tuple[Any, ...] = ()
        self._changed: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors until the graph is freed."""
        self._saved = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, in the same order."""
        return self._saved

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Outputs that no derivative flows through."""
        self._apart = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Inputs that forward changed in place."""
        self._changed = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Read for PyTorch's sake: a gradient that does not arrive is never passed."""


_OP = Op("function", "…", "an operation of one's own", hidden=True)
del OPS["function"]  # for the graph's eyes: no row


class CustomFn(GradFn):
    """The recorded call of a Function."""

    __slots__ = ("context", "function")
    context: Context
    function: type[Function]

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    def send(self, g: Any, wrapped: Callable[[Any], Tensor]) -> list[Any]:
        """What goes to each operand, from the function's own backward."""
        recording = g.__class__ is Tensor
        with enable_grad() if recording else no_grad():
            given = self.function.backward(self.context, g if recording else wrapped(g))
        found = list(given) if isinstance(given, tuple) else [given]
        inputs = self.inputs or ()
        count = len(inputs) // 2
        if len(found) < count or any(extra is not None for extra in found[count:]):
            raise GraphError(f"{self.name()} gave {len(found)} gradients for {count} inputs")
        sent = []
        for c, x in zip(found, inputs[1::2], strict=False):
            if c is not None:
                c = c if recording else plain(c)
                if numeric.shape(c) != x:
                    c = OPS["sum_to"](c, shape=x)
            sent.append(c)
        return sent


class Function:
    """Base of operations of one's own: static `forward(ctx, *args)` and `backward(ctx, grad_output)`; call `apply`.

    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x * x
    >>> x = tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **options: Any) -> Any:
        """The value, of tensors that record nothing."""
        raise NotImplementedError("a Function needs a forward")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """One gradient per argument of forward, None where there is none."""
        raise NotImplementedError("a Function needs a backward")

    @classmethod
    def apply(cls, *args: Any, **options: Any) -> Any:
        """Run forward and record the call."""
        context = Context()
        fns = [x._fn if x.__class__ is Tensor else None for x in args]
        context.needs_input_grad = tuple(fn is not None for fn in fns)
        with no_grad():
            outcome = cls.forward(context, *args, **options)
        if isinstance(outcome, tuple):
            return tuple(cls._made(context, args, fns, y, outcome, k) for k, y in enumerate(outcome))
        return cls._made(context, args, fns, outcome, (outcome,), 0)

    @classmethod
    def _made(cls, context: Context, args: Any, fns: list[Any], y: Any, outcome: tuple[Any, ...], place: int) -> Any:
        if y.__class__ is not Tensor:
            return y
        made = wrap(y._value)  # a tensor of its own, even where forward gave an argument back
        if not any(fn is not None for fn in fns) or not mode.recording or any(y is x for x in context._apart):
            made._fn = None
            return made
        fn = CustomFn()
        fn.op = _OP
        fn.function = cls if len(outcome) == 1 else _output(cls, place, outcome)
        fn.context = context
        fn.index = number()
        inputs: list[Any] = []
        for f, x in zip(fns, args, strict=True):
            inputs += [f, numeric.shape(x._value) if x.__class__ is Tensor else ()]
        fn.inputs = tuple(inputs)
        fn.y = numeric.shape(y._value)
        made._fn = fn
        return made


def _output(cls: type[Function], place: int, outcome: tuple[Any, ...]) -> Any:
    """The function as seen from one of several outputs: the others' gradients are zeros."""

    class Output(cls):  # type: ignore[misc, valid-type]
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return cls.backward(ctx, *(g if k == place else y.detach() * 0.0 for k, y in enumerate(outcome)))

    Output.__name__ = cls.__name__
    return Output
