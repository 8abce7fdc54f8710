"""The recorded graph of tensors: what each operation saved, and when it was recorded.

A node holds its operands as one flat tuple (node, value, node, value, …): the node that made the operand, None
where no derivative is wanted of it, and the operand's value where some rule reads it, else its shape.
Nodes are numbered as they are recorded, so sorting by number is a topological order.
"""

from __future__ import annotations

import gc
import sys
from itertools import count
from weakref import ref as reference

from autodiff.errors import ComputationError
from autodiff.ops.record import Op
from autodiff.rules import compiled
from autodiff.tensors.naming import name_of, operands, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

GROWTH = 100  # nodes since the collector's last look from which a graph is taken to be growing
LONG = 1 << 20  # so often, in nodes,
WINDOW = 40_000  # for so many nodes the collector goes its usual way,
LIVELY = 500_000  # unless more objects than this are set aside: then they must be the graph


class GraphError(ComputationError, RuntimeError):
    """The recorded graph can't do what is asked: it was freed, changed, or does not reach.

    >>> tensor(1.0).backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    autodiff.tensors.graph.GraphError: element 0 of tensors does not require grad and does not have a grad_fn ...
    """

    kind = "graph"


number = count(1).__next__
"""The next node's number: ever larger, in every thread."""


class _Collector:
    """Keeps a growing graph out of the garbage collector's sight.

    It is no garbage, and looking through it again and again doubles the cost at a million nodes. Called before
    each look of the collector; what it finds there is set aside (`gc.freeze`) until the next sweep is over.
    """

    def __init__(self) -> None:
        self.last = 0
        self.frozen = False

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase != "start":
            return
        here = number()
        grown, self.last = here - self.last, here
        if grown < GROWTH or (not self.frozen and gc.get_freeze_count()):
            return  # nobody records, or somebody else has set objects aside
        if here % LONG < WINDOW and gc.get_freeze_count() < LIVELY:
            self.release()  # whoever records for long without a sweep may have made garbage of his own
            return
        gc.freeze()
        self.frozen = True

    def release(self) -> None:
        """After a sweep: everything may be collected again."""
        if self.frozen:
            self.frozen = False
            gc.unfreeze()


_collector = _Collector()
gc.callbacks.append(_collector)
release = _collector.release


class Blank:
    """An operand of which only the shape was kept."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


class Extra:
    """What only few nodes have: hooks, a tensor whose gradient is kept, where the operation was called."""

    __slots__ = ("after", "before", "hooks", "kept", "where")

    def __init__(self) -> None:
        self.hooks: dict[int, Callable[..., Any]] = {}  # of the tensor: (gradient) -> gradient or None
        self.before: dict[int, Callable[..., Any]] = {}  # of the node: (grad_outputs)
        self.after: dict[int, Callable[..., Any]] = {}  # of the node: (grad_inputs, grad_outputs)
        self.kept: Any = None
        self.where: str | None = None


class GradFn:
    """A recorded operation: `grad_fn` of the tensor it made."""

    __slots__ = ("extra", "index", "inputs", "op", "y")
    params: dict[str, Any] = {}  # noqa: RUF012  (of ops without parameters; never written)

    op: Op
    index: int
    inputs: tuple[Any, ...] | None
    """None once the graph was freed."""
    y: Any
    """The value, or its shape where no rule reads the value."""
    extra: Extra

    def name(self) -> str:
        """The name PyTorch would print, such as AddBackward0."""
        return name_of(self)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that made the operands, None for constants; AccumulateGrad for leaves.

        >>> x = tensor(2.0, requires_grad=True)
        >>> (2 * x.sin()).grad_fn.next_functions[0][0].name()  # as in PyTorch, the constant comes last
        'SinBackward0'
        """
        if self.inputs is None:
            return ()
        return tuple((fn if fn is None else shown(fn), 0) for fn in operands(self))

    @property
    def saved_values(self) -> dict[str, Any]:
        """What the derivative rules kept, by operand name and `result`; GraphError once freed."""
        if self.inputs is None:
            raise freed(self)
        names = [operand.partition("=")[0] for operand in self.op.operands]
        found = {}
        from autodiff.tensors.hooks import unpacked

        for k, value in enumerate(map(unpacked, self.inputs[1::2])):
            if value is not None and value.__class__ is not tuple:
                found[names[k] if k < len(names) and names[k] != "…" else f"x{k}"] = value
        if self.y is not None and self.y.__class__ is not tuple:
            found["result"] = unpacked(self.y)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            saved = self.saved_values
            names = [operand.partition("=")[0] for operand in self.op.operands]
            wanted = {"self": names[0], "other": names[-1], "exponent": names[-1]}.get(name[7:], name[7:])
            if wanted in saved:
                return self._saved(saved[wanted], names.index(wanted) if wanted in names else -1)
        raise AttributeError(f"{self.__class__.__name__} has no attribute '{name}'")

    def _saved(self, value: Any, k: int) -> Any:
        """A saved operand as the tensor it was, the result for k = -1; a number as itself."""
        from autodiff.tensors.tensor import handle

        fn = self if k < 0 else self.inputs[2 * k]  # type: ignore[index]
        leaf = fn.variable if fn.__class__ is AccumulateGrad else None
        if leaf is not None and leaf._value is value:
            return leaf
        if fn is None and value.__class__ is float:
            return int(value) if value.is_integer() else value
        return handle(value, fn)

    def __call__(self, grad: Any) -> Any:
        """What the rules send to the operands for a gradient of the value: a tensor, or a tuple of them.

        >>> x = tensor(3.0, requires_grad=True)
        >>> (x * x).grad_fn(tensor(1.0))
        (tensor(3.), tensor(3.))
        """
        from autodiff.tensors.sweep import sent_by
        from autodiff.tensors.tensor import raw_of, wrap

        if self.inputs is None:
            raise freed(self)
        found = tuple(None if c is None else wrap(c) for c in sent_by(self, raw_of(grad), None, wrap))
        return found[0] if len(found) == 1 else found

    def more(self) -> Extra:
        """The node's extras, made at the first use."""
        return _extra_of(self)

    def register_hook(self, hook: Callable[..., Any]) -> Handle:
        """hook(grad_inputs, grad_outputs) after the node's contributions are known; may give new grad_inputs."""
        return Handle(self.more().after, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Handle:
        """hook(grad_outputs) before the node's rules run; may give new grad_outputs."""
        return Handle(self.more().before, hook)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class ParamFn(GradFn):
    """A recorded operation with parameters, such as an axis."""

    __slots__ = ("params",)


class AccumulateGrad(reference):  # type: ignore[type-arg]
    """Where the gradient of a leaf arrives and is added up: a weak reference to the leaf, which holds it."""

    __slots__ = ("extra", "grad", "index")
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    inputs = ()
    op = None

    index: int
    grad: Any
    extra: Extra
    next_functions = ()

    def more(self) -> Extra:
        """The node's extras, made at the first use."""
        return _extra_of(self)

    def name(self) -> str:
        return "AccumulateGrad"

    @property
    def variable(self) -> Any:
        """The leaf, None if it is gone."""
        return self()

    def register_hook(self, hook: Callable[..., Any]) -> Handle:
        """hook(grad_inputs, grad_outputs) once the gradient has been added."""
        return Handle(self.more().after, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Handle:
        """hook(grad_outputs) before the gradient is added."""
        return Handle(self.more().before, hook)

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self):#x}>"


extras = [False]
"""Whether any node ever got an Extra: while not, the sweep need not look."""


def has_extra(fn: Any) -> bool:
    """Whether the node has hooks or the like."""
    try:
        return fn.extra is not None
    except AttributeError:
        return False


def _extra_of(fn: Any) -> Extra:
    if not has_extra(fn):
        fn.extra = Extra()
        extras[0] = True
    return fn.extra  # type: ignore[no-any-return]


class Handle:
    """What `register_hook` gives: `remove()` takes the hook away again; also a context manager."""

    _next = 0

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        Handle._next += 1
        self.id = Handle._next
        self.hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        self.hooks.pop(self.id, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def freed(fn: Any) -> GraphError:
    return GraphError(
        f"Trying to backward through the graph a second time: what {fn.name()} had saved was freed",
        help="Specify retain_graph=True at the first",
    )


# What was changed in place while a node had it saved: id of the value to (value, name of the operation, when).
changed: dict[int, tuple[Any, str, int]] = {}


def note_change(value: Any, name: str, when: int) -> None:
    """A tensor's value was replaced in place; remember it if anyone else holds it, for they saved it before."""
    if sys.getrefcount(value) > _ALONE[0]:
        changed[id(value)] = (value, name, when)
        if len(changed) % 1000 == 0:
            for key in [key for key, entry in changed.items() if sys.getrefcount(entry[0]) <= 2]:
                del changed[key]


def _alone() -> int:
    """References to a value that only its caller holds, as note_change counts them."""
    value = object()
    return (lambda value: sys.getrefcount(value))(value)


_ALONE = [_alone()]


def check_unchanged(fn: Any) -> None:
    keep, keep_y = plan_of(fn.op, fn.inputs[::2])
    for value, kept in zip((*fn.inputs[1::2], fn.y), (*keep, keep_y), strict=True):
        entry = changed.get(id(value)) if kept else None
        if entry is not None and entry[0] is value and entry[2] > fn.index:
            raise GraphError(
                f"one of the variables needed for gradient computation, saved by {fn.name()}, "
                f"has been modified by an inplace operation: {entry[1]}",
                help="use the operation that makes a new tensor, or clone() before changing",
            )


# Which values a node must keep: by op, number of operands and which of them want a derivative.
_plans: dict[tuple[Any, ...], tuple[tuple[bool, ...], bool]] = {}


def plan_of(op: Op, fns: Sequence[Any]) -> tuple[tuple[bool, ...], bool]:
    key = (op.name, *[fn is not None for fn in fns])
    plan = _plans.get(key)
    if plan is None:
        count = len(fns)
        if not op.differentiable:
            plan = (False,) * count, False  # an operation of the user's own, which saves for itself
        elif op.elementwise:
            reads: set[int] = set()
            for k, fn in enumerate(fns):
                if fn is not None:
                    reads |= compiled(op, k, count).reads
            plan = tuple(k in reads for k in range(count)), -1 in reads
        elif op.name == "put":
            plan = (False,) * count, False  # no product: its rules read shapes
        else:
            # the rule of an op that is linear in all its arrays at once reads their shapes alone
            alone = op.linear and (count == 1 or op.most is None or op.most > count)
            plan = tuple(not alone or fn is None for fn in fns), not op.linear
        _plans[key] = plan
    return plan


def record(op: Op, fns: Sequence[Any], values: Sequence[Any], y: Any, params: dict[str, Any]) -> GradFn:
    """The node of y = op(*values), with what its rules will read; `fns` are the operands' nodes."""
    fn: GradFn
    if params:
        fn = ParamFn()
        fn.params = params
    else:
        fn = GradFn()
    keep, keep_y = plan_of(op, fns)
    inputs: list[Any] = []
    for node, value, kept in zip(fns, values, keep, strict=True):
        inputs.append(node)
        if value.__class__ is bool:
            value = float(value)
        inputs.append(value if kept else getattr(value, "shape", None))
    fn.op = op
    fn.index = number()
    fn.inputs = tuple(inputs)
    fn.y = y if keep_y else getattr(y, "shape", None)
    return fn
