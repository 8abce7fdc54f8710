"""The tape: nodes in the order in which their operations ran, and the reverse sweep over them.

Recording order is a topological order, so the backward pass is one reversed loop. Rules are made of
ops, so a sweep may itself be recorded (`record=True`) and differentiated again.
"""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.ops.arithmetic import add, where
from autodiff.ops.record import OPS, Op, chain, gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from autodiff.errors import Span

    Watch = Callable[["Node", int, Any, Any], None]
    """Is told of each contribution: (node, operand, cotangent of the node, what is sent to the operand)."""

NONE: dict[str, Any] = {}


class Node:
    """A recorded value: the op that made it, the operands (nodes or raw values), and its place in the text."""

    __slots__ = ("index", "inputs", "op", "params", "span", "tape", "value")
    op_rank = 2
    constant = False
    __array_ufunc__ = None  # array op node is left to the node

    def __init__(self, tape: Tape, op: Op | None, inputs: tuple[Any, ...], params: dict[str, Any], value: Any) -> None:
        self.tape = tape
        self.op = op
        self.inputs = inputs
        self.params = params
        self.value = value
        self.span = tape.span
        nodes = tape.nodes
        self.index = len(nodes)
        nodes.append(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return numeric.shape(self.value)

    def __repr__(self) -> str:
        return f"<node {self.index} {self.op.name if self.op else 'leaf'} {self.value!r}>"

    @staticmethod
    def apply_op(op: Op, xs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run the op on the operands' values; record it if it has a derivative and an operand that wants one."""
        values = []
        tape: Any = None
        wanted = False
        for x in xs:
            if isinstance(x, Node):
                values.append(x.value)
                tape = x.tape
                wanted = wanted or not x.constant
            else:
                values.append(x)
        y = op(*values, **params)
        if not op.differentiable:
            return y
        if not wanted:
            return Constant(tape, None, (), NONE, y)
        return Node(tape, op, xs, params or NONE, y)


class Constant(Node):
    """A value that no derivative is wanted of, kept for a picture."""

    __slots__ = ()
    constant = True


class Tape:
    """The nodes of one run, in recording order."""

    __slots__ = ("convention", "nodes", "span")

    def __init__(self, convention: str | None = None) -> None:
        self.convention = convention  # whose answers to give at kinks: None (ours), "torch", "jax"
        self.nodes: list[Node] = []
        self.span: Span | None = None  # the place in the text that runs now

    def leaf(self, value: Any) -> Node:
        """A new input."""
        return Node(self, None, (), NONE, value)

    def constant(self, value: Any) -> Node:
        """A value for a picture; no gradient flows through it."""
        return Constant(self, None, (), NONE, value)


def value_of(x: Any) -> Any:
    """The raw value of a node or of a raw value."""
    while isinstance(x, Node):
        x = x.value
    return x


def ones_like(x: Any) -> Any:
    """The seed of a sweep: ones of the value's shape."""
    shape = numeric.shape(x)
    return numeric.numpy().ones(shape) if shape else 1.0


def generic_like(x: Any) -> Any:
    """A cotangent of the value's shape of which nothing cancels: what it does not reach, none does."""
    shape = numeric.shape(x)
    if not shape:
        return 1.0
    np = numeric.numpy()
    return np.cos(np.arange(1.0, 1.0 + math.prod(shape))).reshape(shape)


def zeros_like(x: Any) -> Any:
    """Zeros of the value's shape."""
    shape = numeric.shape(x)
    return numeric.numpy().zeros(shape) if shape else 0.0


def slope(op: Op, i: int, y: Any, xs: Sequence[Any], convention: str | None = None) -> Any:
    """The rule of the row for the partial derivative by operand i, applied."""
    rule = op.conventions[convention][i] if convention in op.conventions else op.partial(i)
    return rule(y, *xs) if callable(rule) else rule


def partial(op: Op, i: int, y: Any, xs: Sequence[Any], convention: str | None = None) -> Any:
    """The partial derivative by operand i of an elementwise op whose value is y, on operands of any kind.

    It is nan where the value is nan, unless that is a nan handed on by a choice that did not look at it: the
    value itself stands for it, so that derivatives of higher order are nan as well.
    """
    d = slope(op, i, y, xs, convention)
    if not op.selects or op.kink is not None:
        value = value_of(y)
        if value.__class__ is float:
            if value != value:
                return y
        elif hasattr(value, "dtype") and numeric.is_nan(value):
            return where(numeric.numpy().isnan(value), y, d)
    return d


def sent(
    op: Op,
    i: int,
    g: Any,
    y: Any,
    xs: Sequence[Any],
    params: dict[str, Any],
    convention: str | None = None,
    local: Callable[..., Any] = partial,
) -> Any:
    """What an op whose value y has the cotangent g sends to its operand i; None where nothing flows."""
    if op.elementwise:
        d = local(op, i, y, xs, convention)
        c = g if d.__class__ is float and d == 1.0 else (gate if op.selects else chain)(g, d)
    else:
        rule = op.conventions[convention][i] if convention in op.conventions else op.vjp(i)
        if rule is None:
            return None
        c = rule(g, y, *xs, **params)
        if c is None:
            return None
    shape = numeric.shape(xs[i])
    if numeric.shape(c) != shape:
        c = OPS["sum_to"](c, shape=shape)
    return c


@numeric.quietly
def local(node: Node, i: int, *, record: bool = False) -> Any:
    """The partial derivative of an elementwise node by its operand i (nan where the value is nan)."""
    assert node.op is not None
    if record:
        return partial(node.op, i, node, node.inputs, node.tape.convention)
    return partial(node.op, i, node.value, [_plain(x) for x in node.inputs], node.tape.convention)


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, Node) else x


def _is_zero(g: Any) -> bool:
    return bool(g == 0.0) if g.__class__ is float else hasattr(g, "dtype") and not g.any()


@numeric.quietly
def contribution(node: Node, i: int, g: Any, *, record: bool = False) -> Any:
    """What a node whose cotangent is g sends to its operand i; None where nothing flows."""
    op = node.op
    assert op is not None
    if not isinstance(g, Node) and _is_zero(g):
        return zeros_like(node.inputs[i].value)
    if op.blind:
        return op.vjp(i)(g, node if record else node.value)  # type: ignore[misc]
    if record:
        xs = node.inputs
        if not op.elementwise:
            # to what nothing flows (a size, the p of a norm) rules are promised a plain number
            xs = tuple([x.value if isinstance(x, Node) and op.vjp(j) is None else x for j, x in enumerate(xs)])
        return sent(op, i, g, node, xs, node.params, node.tape.convention)
    return sent(op, i, g, node.value, [_plain(x) for x in node.inputs], node.params, node.tape.convention)


@numeric.quietly
def backward(
    root: Node,
    seed: Any,
    targets: Iterable[Node],
    *,
    record: bool = False,
    watch: Watch | None = None,
    everything: bool = False,
) -> list[Any]:
    """One reverse sweep from `root` with cotangent `seed` (the shape of its value).

    Gives the cotangent of each target, None where none arrives; with `everything` those of all nodes from
    the first target to the root, by index (constants and inputs too). With `record` the sweep is
    recorded on the tape. Cotangents are dropped as the sweep passes.
    """
    nodes = root.tape.nodes
    wanted = {t.index for t in targets}
    low = 0 if everything else min(wanted, default=root.index)
    cotangents: list[Any] = [None] * (root.index + 1)
    cotangents[root.index] = seed
    tape = root.tape
    here = tape.span
    for k in range(root.index, low - 1, -1):
        g = cotangents[k]
        if g is None:
            continue
        node = nodes[k]
        if node.op is None:
            continue
        if not everything and k not in wanted:
            cotangents[k] = None
        tape.span = node.span
        for i, x in enumerate(node.inputs):
            if x.__class__ is float or not isinstance(x, Node) or x.index < low or (x.constant and not everything):
                continue
            c = contribution(node, i, g, record=record)
            if watch is not None:
                watch(node, i, g, c)
            if c is None:
                continue
            j = x.index
            sofar = cotangents[j]
            cotangents[j] = c if sofar is None else add(sofar, c)
    tape.span = here
    if everything:
        return cotangents
    return [cotangents[t.index] if t.index <= root.index else None for t in targets]


def _operators() -> None:
    """Give nodes the operators that the rows name."""
    names = {
        "add": "add",
        "sub": "sub",
        "mul": "mul",
        "div": "truediv",
        "floordiv": "floordiv",
        "mod": "mod",
        "pow": "pow",
        "matmul": "matmul",
    }
    for name, method in names.items():
        if name in OPS:
            op = OPS[name]
            setattr(Node, f"__{method}__", lambda self, other, op=op: op(self, other))
            setattr(Node, f"__r{method}__", lambda self, other, op=op: op(other, self))
    for name, method in {"neg": "neg", "pos": "pos"}.items():
        setattr(Node, f"__{method}__", lambda self, op=OPS[name]: op(self))
    # comparisons look at values alone and give raw truth values
    for name in ("lt", "le", "gt", "ge"):
        setattr(Node, f"__{name}__", lambda self, other, op=OPS[name]: op(self, other))


_operators()
