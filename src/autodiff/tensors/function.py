"""Operations of one's own: a forward and a backward in Python."""

from __future__ import annotations

from functools import wraps

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.ops.record import OPS, Op
from autodiff.tensors.graph import GradFn, GraphError, freed, number
from autodiff.tensors.modes import enable_grad, mode, no_grad
from autodiff.tensors.tensor import Tensor, handle, plain, wrap

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
        self._materialize = True
        self._node: Any = None
        """The call, while its backward runs."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors until the graph is freed."""
        self._saved = tuple((x, x._version) if x.__class__ is Tensor else (x, 0) for x in tensors)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, in the same order; GraphError if it was changed in place since."""
        found = []
        for x, version in self._saved:
            if x.__class__ is Own:
                found.append(x.tensor(self._node))
                continue
            if x.__class__ is Tensor and x._version != version:
                raise GraphError(
                    "a tensor that a Function saved for its backward was changed in place since",
                    help="save a clone(), or use the operation that makes a new tensor",
                )
            found.append(x)
        return tuple(found)

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Outputs that no derivative flows through."""
        self._apart = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Inputs that forward changed in place."""
        self._changed = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros for an output that nothing came back from, or None."""
        self._materialize = value


_OP = Op("function", "…", "an operation of one's own", hidden=True)
del OPS["function"]  # for the graph's eyes: no row


def _zeros(shape: tuple[int, ...] | None) -> Any:
    return numeric.numpy().zeros(shape) if shape else 0.0


class CustomFn(GradFn):
    """The recorded call of a Function."""

    __slots__ = ("arrived", "context", "function", "shapes")
    context: Context
    shapes: tuple[Any, ...]
    arrived: dict[int, Any] | None
    """Gradients of the outputs by place, between their nodes and this one."""
    function: type[Function]

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward saved for backward; GraphError once freed."""
        if self.inputs is None:
            raise freed(self)
        return self.context.saved_tensors

    def send(self, g: Any, wrapped: Callable[[Any], Tensor]) -> list[Any]:
        """What goes to each operand, from the function's own backward."""
        recording = g.__class__ is Tensor
        grads: list[Any] = [g]
        if self.arrived is not None:
            arrived, self.arrived = self.arrived, None
            grads = [arrived.get(k) for k in range(len(self.shapes))]
        if self.context._materialize:
            grads = [_zeros(shape) if c is None else c for c, shape in zip(grads, self.shapes, strict=True)]
        self.context._node = self
        with enable_grad() if recording else no_grad():
            given = self.function.backward(self.context, *(c if c is None else wrapped(c) for c in grads))
        self.context._node = None
        found = list(given) if isinstance(given, tuple) else [given]
        inputs = self.inputs or ()
        count = len(inputs) // 2
        if len(found) < count or any(extra is not None for extra in found[count:]):
            raise GraphError(
                f"function {self.name()} returned an incorrect number of gradients (expected {count}, got {len(found)})"
            )
        sent = []
        for k, (c, x) in enumerate(zip(found, inputs[1::2], strict=False)):
            if c is not None:
                c = c if recording else plain(c)
                shape = numeric.shape(c)
                if shape != x:
                    try:
                        c = OPS["sum_to"](c, shape=x)
                    except ShapeError:
                        raise ShapeError(
                            f"Function {self.name()} returned an invalid gradient at index {k} - got {list(shape)} "
                            f"but expected shape compatible with {list(x)}"
                        ) from None
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
        raise NotImplementedError("You must implement the backward method of a Function to differentiate it")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """What to keep, where forward takes no ctx: called with its arguments and its value."""
        raise NotImplementedError("forward takes ctx, or there is a setup_context")

    @classmethod
    def apply(cls, *args: Any, **options: Any) -> Any:
        """Run forward and record the call."""
        context = Context()
        fns = [x._fn if x.__class__ is Tensor else None for x in args]
        context.needs_input_grad = tuple(fn is not None for fn in fns)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                outcome = cls.forward(context, *args, **options)
            else:
                outcome = cls.forward(*args, **options)
                cls.setup_context(context, args, outcome)
        several = isinstance(outcome, tuple)
        outputs = outcome if several else (outcome,)
        if not mode.recording or all(fn is None for fn in fns):
            made = tuple(wrap(y._value) if y.__class__ is Tensor else y for y in outputs)
            return made if several else made[0]
        fn = CustomFn()
        fn.op = _OP
        fn.function = cls
        fn.context = context
        fn.index = number()
        inputs: list[Any] = []
        for f, x in zip(fns, args, strict=True):
            inputs += [f, numeric.shape(x._value) if x.__class__ is Tensor else ()]
        fn.inputs = tuple(inputs)
        fn.y = numeric.shape(outputs[0]._value) if outputs[0].__class__ is Tensor else ()
        fn.shapes = tuple(numeric.shape(y._value) if y.__class__ is Tensor else None for y in outputs)
        fn.arrived = None
        for k, y in enumerate(outputs):
            own = Own(k if several else None, y)
            context._saved = tuple((own, 0) if x is y else (x, version) for x, version in context._saved)
        found = tuple(cls._output(fn, y, k, several) for k, y in enumerate(outputs))
        return found if several else found[0]

    @staticmethod
    def _output(fn: CustomFn, y: Any, place: int, several: bool) -> Any:
        """A tensor of its own, even where forward gave an argument back."""
        if y.__class__ is not Tensor:
            return y
        made = wrap(y._value)
        if any(y is x for x in fn.context._changed):
            if y._fn is not None and y._fn.op is None:
                raise GraphError(
                    "a leaf Variable that requires grad is being used in an in-place operation of a Function",
                    help="clone() it first",
                )
            made = y
        if any(y is x for x in fn.context._apart):
            return made
        if several:
            made._fn = OutputFn.of(fn, place, y._value)
        else:
            made._fn = fn
        return made


class _Once(Function):
    """Gradients that were computed without being recorded."""

    @staticmethod
    def forward(ctx: Any, *parts: Any) -> Any:
        return parts[:1]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise GraphError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Marks the backward of a Function as not recorded: to differentiate it again is an error.

    >>> class Exp(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.y = x.exp()
    ...         return ctx.y
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, g):
    ...         return g * ctx.y.detach()
    >>> x = tensor(0.0, requires_grad=True)
    >>> Exp.apply(x).backward()
    >>> x.grad
    tensor(1.)
    """

    @wraps(backward)
    def call(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            given = backward(ctx, *grads)
        marks = [x for x in (*grads, *ctx.saved_tensors) if x.__class__ is Tensor and x.requires_grad]
        if not marks or not mode.recording:
            return given
        found = list(given) if isinstance(given, tuple) else [given]
        for k, c in enumerate(found):
            if c.__class__ is Tensor:
                found[k] = _Once.apply(c, marks[0])[0]
        return tuple(found)

    return call


class Own:
    """An output that was saved: the call's tensor while its backward runs, so that neither holds the other."""

    __slots__ = ("place", "value")

    def __init__(self, place: int | None, y: Any) -> None:
        self.place = place
        self.value = y._value if y.__class__ is Tensor else y

    def tensor(self, fn: Any) -> Tensor:
        """The output, recorded as the call's."""
        return handle(self.value, fn if fn is None or self.place is None else OutputFn.of(fn, self.place, self.value))


class OutputFn(GradFn):
    """One of several outputs of a Function: leaves its gradient with the call, whose backward runs once for all."""

    __slots__ = ("called", "place")
    called: str
    place: int

    @classmethod
    def of(cls, fn: CustomFn, place: int, value: Any) -> OutputFn:
        """The node of one output of a call."""
        out = cls()
        out.op = _OP
        out.index = number()
        out.place = place
        out.called = fn.name()
        out.inputs = (fn, ())
        out.y = numeric.shape(value)
        return out

    def name(self) -> str:
        return self.called

    @property
    def call(self) -> CustomFn:
        """The call that made it."""
        if self.inputs is None:
            raise freed(self)
        fn: CustomFn = self.inputs[0]
        return fn

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that made the call's operands."""
        return self.call.next_functions if self.inputs is not None else ()

    def send(self, g: Any, wrapped: Callable[[Any], Tensor]) -> list[Any]:
        """Nothing is added up: the call finds the gradient by its place."""
        fn = self.call
        if fn.arrived is None:
            fn.arrived = {}
        before = fn.arrived.get(self.place)
        fn.arrived[self.place] = g if before is None else OPS["add"](before, g)
        return [wrapped(0.0) if g.__class__ is Tensor else 0.0]
