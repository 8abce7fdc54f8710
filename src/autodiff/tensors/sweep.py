"""The reverse sweep over the graph of tensors: the ordinary case by rules written out, all others by the rows' own."""

from __future__ import annotations

from heapq import heappop, heappush, heappushpop
from operator import attrgetter
from sys import modules

from autodiff import numeric
from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.rules import Compiled, compiled
from autodiff.tape import sent, slope
from autodiff.tensors.blocks import region, swept
from autodiff.tensors.buffers import SMALL, give, in_blocks, put_back
from autodiff.tensors.graph import Blank, GraphError, changed, check_unchanged, extras, freed, has_extra
from autodiff.tensors.hooks import passing, unpacked
from autodiff.tensors.modes import no_grad
from autodiff.tensors.naming import FORGET, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

_floats: dict[Op, tuple[Any, ...]] = {}  # what _rules gives, of ops with a fixed number of operands
_arrays: dict[Op, tuple[Any, ...]] = {}


def _rules(op: Op, inputs: tuple[Any, ...], arrays: bool) -> tuple[Any, ...]:
    """For each operand, of arrays: what is sent to it, as 1.0 or -1.0 times the cotangent or a function (g, y, *xs).

    Of floats: the local derivative, as a constant, the place of one of two operands, or a function (y, *xs).
    """
    if not op.differentiable:
        raise ArithmeticError("an operation of the user's own")  # whose backward the careful sweep calls
    count = len(inputs) >> 1
    exponent = inputs[3] if op.name == "pow" and inputs[2] is None and inputs[3].__class__ is float else None
    rules: list[Compiled] = [compiled(op, i, count, arrays, exponent) for i in range(count)]
    if arrays:
        found = tuple(r.sent if r.constant not in (1.0, -1.0) else r.constant for r in rules)
    else:
        found = tuple(
            r.constant if r.constant is not None else r.operand if count == 2 and r.operand is not None else r.rule
            for r in rules
        )
    if op.most is not None and op.name != "pow":
        (_arrays if arrays else _floats)[op] = found
    return found


class Plan:
    """What a sweep passes: operations, last recorded first; all nodes; those that lead to a target (None: all)."""

    __slots__ = ("needed", "order", "seen")

    def __init__(self, roots: Iterable[Any], targets: set[Any] | None) -> None:
        seen = self.seen = set(roots)
        order = [fn for fn in seen if fn.op is not None]
        add, push = seen.add, order.append
        for fn in order:
            inputs = fn.inputs
            if inputs is None:
                raise freed(fn)
            if len(inputs) == 4:
                a, _, b, _ = inputs
                if a is not None and a not in seen:
                    add(a)
                    if a.op is not None:
                        push(a)
                if b is not None and b not in seen:
                    add(b)
                    if b.op is not None:
                        push(b)
            else:
                for a in inputs[::2]:
                    if a is not None and a not in seen:
                        add(a)
                        if a.op is not None:
                            push(a)
        order.sort(key=attrgetter("index"), reverse=True)
        self.order = order
        self.needed: set[Any] | None = None
        if targets is not None:
            needed = self.needed = {fn for fn in targets if fn.op is None}
            for fn in reversed(order):
                if fn in targets or any(a in needed for a in fn.inputs[::2] if a is not None):
                    needed.add(fn)
            self.order = [fn for fn in order if fn in needed]

    @property
    def hooked(self) -> bool:
        """Whether any node has hooks or the like."""
        return extras[0] and any(map(has_extra, self.seen))


def sweep(
    roots: Sequence[Any], seeds: Sequence[Any], targets: set[Any] | None, keep: bool, wrap: Callable[[Any], Any]
) -> dict[Any, Any]:
    """Cotangents of the targets (of all leaves if None) as raw values, from seeds at the roots.

    Rules written out run first, on the ordinary case; where a nan or an infinity arrives, the sweep is done again
    by the rules themselves, which let nothing through where the cotangent is 0. `wrap` makes a tensor for hooks.
    """
    plan = Plan(roots, targets) if targets is not None or extras[0] else None
    found: dict[Any, Any] | None = None
    done: list[Any] = []
    if plan is None or not plan.hooked:
        np = modules.get("numpy")
        needed = plan.needed if plan is not None else None
        try:
            if np is None:
                found = _quick(roots, seeds, targets, needed, done)
            else:
                with np.errstate(all="ignore"):
                    found = _quick(roots, seeds, targets, needed, done)
        except (ArithmeticError, ValueError):
            found = None  # to be explained or done with care
    if found is None or not numeric.surely_finite(found.values()):
        plan = plan or Plan(roots, targets)
        for fn in plan.order:
            check_unchanged(fn)
        with no_grad():  # what hooks compute is not recorded
            found = careful(plan, roots, seeds, targets, wrap)
        done = plan.order
    if not keep:
        for fn in roots:
            if fn.op is not None and fn.op.name in FORGET:
                shown(fn)
        if any(g.size >= SMALL for g in found.values() if g.__class__ is not float):
            give(done)
        for fn in done:
            fn.inputs = fn.y = None
        done.clear()
    return found


def _quick(
    roots: Sequence[Any], seeds: Sequence[Any], targets: set[Any] | None, needed: set[Any] | None, done: list[Any]
) -> dict[Any, Any]:
    """The sweep by rules written out: floats, and arrays added up in place. `done` gathers the nodes passed.

    The node recorded last among those with a cotangent is next. They wait in a heap of their numbers; the one
    that will most likely be next stays outside it.
    """
    cotangents: dict[Any, Any] = {}
    owned: set[Any] = set()  # whose cotangent is an array of our own
    waiting: dict[int, Any] = {}
    heap: list[int] = []
    found: dict[Any, Any] = {}
    take = cotangents.pop
    get = cotangents.get
    put = cotangents.setdefault
    passed = done.append

    def wait(fn: Any) -> None:
        if fn.op is not None:
            waiting[fn.index] = fn
            heappush(heap, -fn.index)

    for fn, seed in zip(roots, seeds, strict=True):
        if fn in cotangents:
            cotangents[fn] = cotangents[fn] + seed
        else:
            cotangents[fn] = seed
            wait(fn)
    first: Any = None  # what will most likely be next, and what after it, stay outside the heap
    second: Any = None
    fn_targets = targets is not None and any(t.op is not None for t in targets)
    tried = False  # whether the rest was looked at as one region
    while True:
        if first is not None:
            fn = first
            first = None
            if second is not None and second.index > fn.index:
                fn, second = second, fn
        elif second is not None:
            fn = second
            second = None
        elif heap:
            fn = waiting.pop(-heappop(heap))
        else:
            break
        if heap and -heap[0] > fn.index:
            waiting[fn.index] = fn
            fn = waiting.pop(-heappushpop(heap, -fn.index))
        passed(fn)
        g = take(fn)
        op = fn.op
        inputs = fn.inputs
        if inputs is None:
            raise freed(fn)
        if changed:
            check_unchanged(fn)
        if targets is not None and fn in targets:
            found[fn] = g
        if g.__class__ is not float or not op.elementwise:
            if not tried and first is None and second is None and not heap and not found and not fn_targets:
                # all that is left depends on this node alone: perhaps one region of arrays of one shape
                top, shape = fn, None
                if g.__class__ is not float:
                    shape = g.shape if op.elementwise else None
                elif op.name == "sum" and not fn.params:
                    top, shape = inputs[0], getattr(inputs[1], "shape", inputs[1])
                if shape and top.op is not None and (needed is None or top in needed):
                    tried = True
                    nodes = region(top, shape, needed)
                    if nodes is not None:
                        done += nodes if top is not fn else nodes[1:]
                        if changed:
                            for node in nodes:
                                check_unchanged(node)
                        for a, c in swept(nodes, g, shape, needed).items():
                            s = get(a)
                            cotangents[a] = c if s is None else s + c
                            owned.add(a)
                        continue
            mine = fn in owned and fn not in found
            sent = _array_sent(fn, g, needed, mine)
            if mine and op.elementwise and all(c is not g and getattr(c, "base", None) is not g for _, c, _ in sent):
                put_back(g)
            for a, c, fresh in sent:
                s = get(a)
                if s is None:
                    cotangents[a] = c
                    wait(a)
                    if fresh:
                        owned.add(a)
                else:
                    _add(cotangents, owned, a, s, c, fresh)
            continue
        rules = _floats.get(op)
        if rules is None:
            rules = _rules(op, inputs, False)
        if len(inputs) == 4:
            a, u, b, v = inputs
            if a is not None and (needed is None or a in needed):
                d = rules[0]
                # c is a new object, so that one already there is told apart
                if d.__class__ is float:
                    c = g * d
                elif not g:
                    c = abs(g)
                elif d.__class__ is int:
                    c = g * (v if d else u)
                else:
                    c = g * d(fn.y, u, v)
                s = put(a, c)
                if s is not c:
                    cotangents[a] = s + c
                elif a.op is not None:
                    first = a
            if b is not None and (needed is None or b in needed):
                d = rules[1]
                if d.__class__ is float:
                    c = g * d
                elif not g:
                    c = abs(g)
                elif d.__class__ is int:
                    c = g * (v if d else u)
                else:
                    c = g * d(fn.y, u, v)
                s = put(b, c)
                if s is not c:
                    cotangents[b] = s + c
                elif b.op is not None:
                    if first is None:
                        first = b
                    else:
                        if a.index < b.index:
                            first = b
                        else:
                            a = b
                        if second is None:
                            second = a
                        else:
                            wait(a)
            continue
        xs = inputs[1::2]
        for a, d in zip(inputs[::2], rules, strict=True):
            if a is not None and (needed is None or a in needed):
                c = g * (d if d.__class__ is float else d(fn.y, *xs)) if g else 0.0
                s = get(a)
                if s is not None:
                    cotangents[a] = s + c
                else:
                    cotangents[a] = c
                    wait(a)
    if modules.get("numpy") is not None:
        for fn, g in cotangents.items():
            # what is left are leaves; each gets an array of its own
            if g.__class__ is not float and fn not in owned:
                cotangents[fn] = g.copy()
    if found:
        cotangents.update(found)
    return cotangents


def _array_sent(fn: Any, g: Any, needed: set[Any] | None, mine: bool) -> list[tuple[Any, Any, bool]]:
    """(operand's node, what is sent, whether that is an array of its own); `mine` if g may be passed on as such."""
    op = fn.op
    inputs = fn.inputs
    sent: list[tuple[Any, Any, bool]] = []
    if not op.elementwise:
        y, xs = operands_of(fn)
        for i, a in enumerate(inputs[::2]):
            vjp = None if a is None or (needed is not None and a not in needed) else op.vjp(i)
            c = None if vjp is None else vjp(g, y, *xs, **fn.params)
            if c is not None:
                shape = numeric.shape(xs[i])
                c = c if numeric.shape(c) == shape else numeric.sum_to(c, shape)
                fresh = c.__class__ is not float and c.base is None and not any(c is x for x in (g, y, *xs))
                sent.append((a, c, fresh))
        return sent
    xs = inputs[1::2]
    rules = _arrays.get(op)
    if rules is None:
        rules = _rules(op, inputs, True)
    for a, x, rule in zip(inputs[::2], xs, rules, strict=True):
        if a is None or (needed is not None and a not in needed):
            continue
        if rule.__class__ is not float:
            c = rule(g, fn.y, *xs) if g.size < SMALL else in_blocks(rule, g, fn.y, xs)
            fresh = True
        elif rule == 1.0:
            c = g
            fresh = mine and len(xs) == 1
        else:
            c = -g
            fresh = True
        shape = x if x.__class__ is tuple else () if x.__class__ is float or x is None else x.shape
        if c.shape != shape:
            c = numeric.sum_to(c, shape)
            fresh = False
        sent.append((a, c, fresh))
    return sent


def _add(cotangents: dict[Any, Any], owned: set[Any], fn: Any, s: Any, c: Any, fresh: bool) -> None:
    """Add c to the cotangent s, in place where one of the arrays is our own."""
    if s.__class__ is float:
        cotangents[fn] = s + c
    elif fn in owned:
        s += c
    else:
        if fresh:
            c += s
            cotangents[fn] = c
        else:
            cotangents[fn] = s + c
        owned.add(fn)


def operands_of(fn: Any) -> tuple[Any, list[Any]]:
    """The value and operands of a node as its rules take them: raw, or of known shape only."""
    xs = [Blank(x) if x.__class__ is tuple else 0.0 if x is None else x for x in fn.inputs[1::2]]
    return Blank(fn.y) if fn.y.__class__ is tuple else 0.0 if fn.y is None else fn.y, xs


def _in_turn(plan: Plan, roots: Sequence[Any]) -> Iterator[Any]:
    """The nodes as hooks see them: operations, last recorded first, and each leaf once all that reaches it has sent."""
    yield from dict.fromkeys(fn for fn in roots if fn.op is None)
    awaited: dict[Any, int] = {}
    for fn in plan.order:
        for a in fn.inputs[::2]:
            if a is not None and a.op is None:
                awaited[a] = awaited.get(a, 0) + 1
    for fn in plan.order:
        yield fn
        for a in fn.inputs[::2]:
            if a in awaited:
                awaited[a] -= 1
                if not awaited[a]:
                    yield a


@numeric.quietly
def careful(
    plan: Plan, roots: Sequence[Any], seeds: Sequence[Any], targets: set[Any] | None, wrap: Callable[[Any], Any]
) -> dict[Any, Any]:
    """The sweep by the rows' own rules, with hooks; recorded where the seeds are tensors."""
    from autodiff.tensors.tensor import Tensor, raw_of

    needed, hooked = plan.needed, plan.hooked
    cotangents: dict[Any, Any] = {}
    for fn, seed in zip(roots, seeds, strict=True):
        cotangents[fn] = OPS["add"](cotangents[fn], seed) if fn in cotangents else seed
    found: dict[Any, Any] = {}
    with passing.over(plan.seen if needed is None else needed):
        for fn in _in_turn(plan, roots):
            g = cotangents.pop(fn, None)
            if g is None:
                continue
            recording = g.__class__ is Tensor
            extra = fn.extra if hooked and has_extra(fn) else None
            back: Callable[[Any], Any] = wrap if recording else raw_of
            if extra is not None:
                for hook in list(extra.hooks.values()):
                    replaced = hook(wrap(g))
                    if replaced is not None:
                        if numeric.shape(raw_of(replaced)) != numeric.shape(raw_of(g)):
                            raise GraphError(
                                f"a hook of {fn.name()} gave a gradient of shape {numeric.shape(raw_of(replaced))} "
                                f"in the place of one of shape {numeric.shape(raw_of(g))}"
                            )
                        g = back(replaced)
                for hook in list(extra.before.values()):
                    replaced = hook((wrap(g),))
                    g = g if replaced is None else back(replaced[0])
                if extra.kept is not None and extra.kept() is not None:
                    extra.kept().grad = wrap(g)
            if fn.op is None or (targets is not None and fn in targets):
                found[fn] = g
                if fn.op is None:
                    continue
            parts = sent_by(fn, g, needed, wrap)
            if extra is not None:
                for hook in list(extra.after.values()):
                    replaced = hook(tuple(None if c is None else wrap(c) for c in parts), (wrap(g),))
                    if replaced is not None:
                        parts = [None if c is None else back(c) for c in replaced]
                if extra.where is not None:
                    for k, c in enumerate(parts):
                        if c is not None and numeric.is_nan(raw_of(c)):
                            raise GraphError(
                                f"Function '{fn.name()}' returned nan values in its {k}th output; "
                                f"it was called here:\n{extra.where}"
                            )
            for a, c in zip(fn.inputs[::2], parts, strict=True):
                if a is not None and c is not None and (needed is None or a in needed):
                    cotangents[a] = OPS["add"](cotangents[a], c) if a in cotangents else c
    return found


def sent_by(fn: Any, g: Any, needed: set[Any] | None, wrap: Callable[[Any], Any]) -> list[Any]:
    """What a node sends to its operands, None where nothing is wanted or flows; recorded where g is a tensor."""
    from autodiff.tensors.tensor import Tensor, handle

    if hasattr(fn, "send"):
        return fn.send(g, wrap)  # type: ignore[no-any-return]
    y, xs = operands_of(fn)
    if has_extra(fn):
        y, xs = unpacked(y), [*map(unpacked, reversed(xs))][::-1]
    if g.__class__ is Tensor:
        y = y if y.__class__ is Blank else handle(y, fn)
        xs = [x if a is None or x.__class__ is Blank else handle(x, a) for a, x in zip(fn.inputs[::2], xs, strict=True)]
    return [
        sent(fn.op, i, g, y, xs, fn.params, local=slope) if a is not None and (needed is None or a in needed) else None
        for i, a in enumerate(fn.inputs[::2])
    ]
