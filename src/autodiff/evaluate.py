"""The machine: a Program and a point to a value, eagerly, each operation recorded as it runs."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import AutodiffError, ComputationError, LimitError, Note, ShapeError
from autodiff.names import CONSTANTS, REDUCES, check_names, link
from autodiff.ops import OPS, Op
from autodiff.parse.program import Program
from autodiff.tape import Node, Tape, backward, value_of, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span

MAX_OPS = 50_000_000
MANY = 16  # operands
DEEPEST = 400_000  # calls within calls; a frame costs about 400 bytes


class Run:
    """What an evaluation leaves: the value, the leaves by name, and what the text called its values."""

    __slots__ = ("leaves", "names", "notes", "tape", "value")

    def __init__(self, tape: Tape, leaves: dict[str, Node]) -> None:
        self.tape = tape
        self.leaves = leaves
        self.value: Any = None
        self.names: dict[Node, str] = {}
        self.notes: list[Note] = []


def whole(value: Any, what: str) -> int:
    """A value as a whole number; ShapeError if it is none."""
    value = value_of(value)
    if hasattr(value, "op_rank"):
        value = float(value)
    if numeric.is_array(value) or value != value or abs(value) == math.inf or value != int(value):
        raise ShapeError(f"{what} must be a whole number, not {_brief(value)}")
    return int(value)


def _brief(value: Any) -> str:
    if numeric.is_array(value):
        return f"an array of shape {value.shape}"
    return f"{value:g}" if value.__class__ is float else str(value).lower()


def static(keyword: str, value: Any) -> Any:
    """A keyword argument that is no operand: whole numbers, or a tuple of them."""
    value = value_of(value)
    if numeric.is_array(value) and value.ndim == 1:
        return tuple(whole(v, keyword) for v in value.tolist())
    return whole(value, keyword)


class Range:
    """start..stop by step, both ends included; the k-th item is start + k·step, so that errors do not add up."""

    __slots__ = ("count", "k", "start", "step")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        ends = []
        for what, value in (("start", start), ("end", stop), ("step", step)):
            value = value_of(value)
            if numeric.is_array(value):
                raise ShapeError(f"the {what} of a range must be one number, not {_brief(value)}")
            if not math.isfinite(value):
                raise LimitError(f"a range with {what} {_brief(value)} has no end")
            ends.append(float(value))
        first, last, by = ends
        if by == 0.0:
            raise ComputationError("a range with step 0 has no end")
        self.start, self.step, self.k = first, by, 0
        rounds = (last - first) / by * (1 + 1e-15) + 1e-12
        self.count = math.floor(min(rounds, 1e18)) + 1

    def __iter__(self) -> Iterator[float]:
        return self

    def floats(self) -> Iterator[float]:
        """The same items, quicker where all are whole."""
        if self.start % 1.0 == 0.0 == self.step % 1.0 and abs(self.start) + abs(self.step) * self.count < 2.0**53:
            first, by = int(self.start), int(self.step)
            return map(float, range(first, first + by * self.count, by)) if self.count > 0 else iter(())
        return self

    def __next__(self) -> float:
        k = self.k
        if k >= self.count:
            raise StopIteration
        self.k = k + 1
        return self.start + k * self.step


class Items:
    """The entries of an array along its first axis."""

    __slots__ = ("array", "count", "k")

    def __init__(self, array: Any) -> None:
        shape = numeric.shape(value_of(array))
        if not shape:
            raise ShapeError("'for … in' wants an array or a range, not one number")
        self.array, self.count, self.k = array, shape[0], 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        k = self.k
        if k >= self.count:
            raise StopIteration
        self.k = k + 1
        return OPS["index"](self.array, index=(k,))


class State:
    """Where an execution stands, between two instructions."""

    __slots__ = ("frames", "functions", "left", "pc", "result", "scope", "stack", "world")

    def __init__(self, world: dict[str, Any], left: int) -> None:
        self.pc = 0
        self.world = self.scope = world
        self.functions: dict[str, tuple[tuple[str, ...], int]] = {}
        self.frames: list[tuple[int, dict[str, Any], Any]] = []
        self.stack: list[Any] = []
        self.result: Any = None
        self.left = left


def _index(items: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
    """The index tuple of an INDEX instruction: whole numbers, slices, arrays of whole numbers."""
    found: list[Any] = []
    taken = iter(values)
    for item in items:
        if item == "i":
            value = value_of(next(taken))
            if numeric.is_array(value):
                np = numeric.numpy()
                if value.dtype.kind == "b":
                    found.append(value)
                    continue
                if (value != np.floor(value)).any():
                    raise ShapeError("an index must be a whole number")
                found.append(value.astype(int))
            else:
                found.append(whole(value, "an index"))
        else:
            found.append(slice(*(whole(next(taken), "a slice bound") if has else None for has in item)))
    return tuple(found)


def derivative(value: Any, by: Node) -> Any:
    """The derivative of `value` by a node, recorded; of shape value + by, as a Jacobian."""
    shape, of = numeric.shape(by.value), numeric.shape(value_of(value))
    if not isinstance(value, Node) or value.index < by.index:
        return numeric.numpy().zeros(of + shape) if of + shape else 0.0
    if not of:
        (g,) = backward(value, 1.0, [by], record=True)
        return zeros_like(by.value) if g is None else g
    np = numeric.numpy()
    rows = []
    for _, seed in numeric.units(of):
        (g,) = backward(value, seed, [by], record=True)
        rows.append(np.zeros(shape) if g is None and shape else 0.0 if g is None else g)
    if not rows:
        return np.zeros(of + shape)
    return OPS["reshape"](OPS["list"](*rows), *map(float, of + shape))


def evaluate(
    program: Program,
    point: Mapping[str, Any],
    wrt: Sequence[str] = (),
    *,
    max_ops: int = MAX_OPS,
    picture: bool = False,
    trace: bool = False,
    convention: str | None = None,
) -> Run:
    """Run the program at a point (name to raw value), recording what depends on the names `wrt`.

    With `picture` constants are kept as nodes too, with `trace` all operations are recorded.
    Errors carry the place in the text.
    """
    check_names(program, point)
    linked = link(program)
    tape = Tape(convention)
    run = Run(tape, {})
    world: dict[str, Any] = {}
    for name in program.inputs:
        if name in point:
            value = numeric.raw(point[name])
            tape.span = program.input_spans[name]
            if trace or name in wrt or name in program.differentiated:
                node = run.leaves[name] = tape.leaf(value)
                run.names[node] = name
                value = node
            elif picture:
                value = tape.constant(value)
                run.names[value] = name
            world[name] = value
        else:
            world[name] = CONSTANTS[name]
    tape.span = None
    try:
        run.value = Machine(program, linked, run, world, max_ops, picture, trace).run()
    except AutodiffError as error:
        if error.span is None:
            error.span = tape.span
        if error.source is None:
            error.source = program.source
        raise
    return run


tape_constant = Tape.constant
tape_leaf = Tape.leaf


class Machine:
    """One execution: a stack of values, a stack of frames, a world of names."""

    def __init__(
        self,
        program: Program,
        linked: list[tuple[int, Any, Span]],
        run: Run,
        world: dict[str, Any],
        max_ops: int,
        picture: bool,
        trace: bool,
    ) -> None:
        self.program = program
        self.code = linked
        self.out = run
        self.tape = run.tape
        self.state = State(world, max_ops)
        self.max_ops = max_ops
        self.picture = picture
        self.keep = tape_constant if picture else tape_leaf if trace else None

    def bind(self, name: str, value: Any) -> Any:
        """The value as the name will hold it: recorded from here on if some diff(…, name) wants it."""
        if name in self.program.differentiated:
            if not isinstance(value, Node) or value.constant:
                value = self.tape.leaf(value_of(value))
            else:
                value = OPS["pos"](value)
        if isinstance(value, Node) and (self.picture or value.op is None):
            self.out.names.setdefault(value, name)
        return value

    def condition(self, value: Any) -> bool:
        value = value_of(value)
        if numeric.is_array(value):
            raise ShapeError(
                f"a condition must be one number, not {_brief(value)}", help="use where(c, a, b), any(c) or all(c)"
            )
        return bool(value)

    def call(self, op: Op, values: list[Any], keywords: tuple[str, ...], plan: Any) -> Any:
        """A built-in function: operands in the row's order, the rest of the keywords as parameters."""
        if plan is None:
            if len(values) > MANY and op.name in REDUCES and not any(numeric.shape(value_of(x)) for x in values):
                return OPS[REDUCES[op.name]](OPS["list"](*values))  # each rule of max looks at all operands
            return op(*values)
        order, is_static, count = plan
        params = {k: static(k, v) for k, v, s in zip(keywords, values[count:], is_static, strict=True) if s}
        operands = values[:count] + [v for v, s in zip(values[count:], is_static, strict=True) if not s]
        return op(*(operands[i] if i.__class__ is int else i for i in order), **params)

    def run(self, pause: int = -1) -> Any:
        """Execute from where `state` stands to END; the program's value.

        With `pause` it stops at the first round of a loop that begins with no more than that many operations
        left; then `state` is there, and the answer None.
        """
        program_code = self.code
        tape = self.tape
        state = self.state
        world, scope, functions, frames, stack = state.world, state.scope, state.functions, state.frames, state.stack
        push, pop = stack.append, stack.pop
        result, left, pc = state.result, state.left, state.pc
        picture = self.picture
        keep = self.keep
        track = None if picture else keep  # so that a nan made of `[]`, `ones(2)` or `1 < 2` has a node
        hold = bool(self.program.differentiated) or picture
        while True:
            opcode, argument, span = program_code[pc]
            pc += 1
            if opcode == 1:  # LOAD
                try:
                    push(scope[argument])
                except KeyError:
                    try:
                        push(world[argument])
                    except KeyError:
                        tape.span = span
                        if argument in CONSTANTS:
                            push(CONSTANTS[argument])
                            continue
                        raise NameUnbound(argument, span) from None
            elif opcode == 3:  # APPLY
                tape.span = span
                op, count = argument
                if track is not None:
                    stack[-count:] = [x if isinstance(x, Node) else track(tape, x) for x in stack[-count:]]
                if count == 2:
                    b = pop()
                    stack[-1] = op(stack[-1], b)
                else:
                    stack[-1] = op(stack[-1])
                left -= 1
                if left < 0:
                    raise self.too_many()
            elif opcode == 0:  # CONST
                if keep is not None:
                    tape.span = span
                    push(keep(tape, argument))
                else:
                    push(argument)
                if argument == math.inf:
                    self.note_overflow(span)
            elif opcode == 2:  # STORE
                value = pop()
                if hold:
                    tape.span = span
                    value = self.bind(argument, value)
                scope[argument] = value
            elif opcode == 16:  # NEXT
                if left <= pause:
                    state.scope, state.result, state.left, state.pc = scope, result, left, pc - 1
                    return None
                name, target = argument
                try:
                    value = next(stack[-1])
                except StopIteration:
                    pop()
                    pc = target
                    continue
                left -= 1
                if left < 0:
                    tape.span = span
                    raise self.too_many()
                if hold:
                    tape.span = span
                    if picture and not isinstance(value, Node):
                        value = tape.constant(value)
                    value = self.bind(name, value)
                scope[name] = value
            elif opcode == 7:  # JUMP
                pc = argument
            elif opcode == 8:  # BRANCH
                tape.span = span
                if not self.condition(pop()):
                    pc = argument
            elif opcode == 4:  # CALL
                tape.span = span
                op, count, keywords, plan = argument
                left -= 1
                if left < 0:
                    raise self.too_many()
                values = stack[len(stack) - count :]
                del stack[len(stack) - count :]
                if op.__class__ is str:
                    try:
                        parameters, entry = functions[op]
                    except KeyError:
                        raise ComputationError(
                            f"'{op}' is called before the text defines it", span, "define it further up"
                        ) from None
                    if len(frames) >= DEEPEST:
                        raise LimitError(f"'{op}' calls itself without end ({DEEPEST} calls deep)", span)
                    frames.append((pc, scope, result))
                    if hold:
                        values = [self.bind(p, v) for p, v in zip(parameters, values, strict=True)]
                    scope = dict(zip(parameters, values, strict=True))
                    result = None
                    pc = entry
                else:
                    if track is not None:
                        values = [x if isinstance(x, Node) else track(tape, x) for x in values]
                    value = self.call(op, values, keywords, plan)
                    push(value if track is None or isinstance(value, Node) else track(tape, value))
            elif opcode == 21:  # DEFINE
                name, parameters, entry, _ = argument
                functions[name] = (parameters, entry)
            elif opcode == 22:  # RETURN
                if result is None:
                    raise ComputationError("the function has no value: its last statement gives none", span)
                push(result)
                pc, scope, result = frames.pop()
            elif opcode == 20:  # KEEP
                result = pop()
            elif opcode == 5:  # LIST
                tape.span = span
                values = stack[len(stack) - argument :]
                del stack[len(stack) - argument :]
                value = OPS["list"](*values)
                push(value if track is None or isinstance(value, Node) else track(tape, value))
                left -= argument
            elif opcode == 6:  # INDEX
                tape.span = span
                count = sum(item == "i" or sum(item) for item in argument)
                values = stack[len(stack) - count :]
                del stack[len(stack) - count :]
                stack[-1] = OPS["index"](stack[-1], index=_index(argument, values))
                left -= 1
                if left < 0:
                    raise self.too_many()
            elif opcode == 9:  # SHORT
                which, target = argument
                value = value_of(stack[-1])
                if not numeric.is_array(value) and bool(value) == (which == "or"):
                    stack[-1] = bool(value)
                    pc = target
            elif opcode == 10:  # COMBINE
                tape.span = span
                b = value_of(pop())
                stack[-1] = OPS[argument](value_of(stack[-1]), b)
            elif opcode == 11:  # ACC
                push(True)
            elif opcode == 12:  # LINK
                tape.span = span
                op, target = argument
                right = pop()
                r = op(pop(), right)
                acc = stack[-1] = r if stack[-1] is True else OPS["and"](stack[-1], r)
                if numeric.is_array(acc) or acc:
                    push(right)
                else:
                    pc = target
            elif opcode == 13:  # CLOSE
                tape.span = span
                right = pop()
                r = argument(pop(), right)
                stack[-1] = OPS["and"](stack[-1], r)
            elif opcode == 14:  # RANGE
                tape.span = span
                step = pop() if argument else 1.0
                stop = pop()
                push(Range(pop(), stop, step))
            elif opcode == 15:  # EACH
                tape.span = span
                push(Items(pop()))
            elif opcode == 17:  # ROUND
                if left <= pause:
                    state.scope, state.result, state.left, state.pc = scope, result, left, pc - 1
                    return None
                left -= 1
                if left < 0:
                    tape.span = span
                    raise self.too_many()
            elif opcode == 18:  # UNLOOP
                del stack[len(stack) - argument :]
            elif opcode == 19:  # POP
                pop()
            elif opcode == 23:  # DIFF
                tape.span = span
                name, has_order = argument
                order = whole(pop(), "the order of a derivative") if has_order else 1
                if order < 0:
                    raise ComputationError("the order of a derivative can't be negative", span)
                by = scope[name] if name in scope else world.get(name)
                if by is None:
                    raise NameUnbound(name, span)
                if not isinstance(by, Node):
                    by = tape.leaf(value_of(CONSTANTS.get(name, by)))
                value = pop()
                for _ in range(order):
                    value = derivative(value, by)
                    left -= 1 + len(tape.nodes) - by.index  # what the sweep passed
                    if left < 0:
                        raise too_many(self.max_ops)
                    if value.__class__ is float and not value:
                        break
                push(value)
            else:  # END
                break
        tape.span = None
        state.left = left
        if result is None:
            raise ComputationError("the text has no value: its last statement gives none")
        return result

    def too_many(self) -> LimitError:
        return too_many(self.max_ops)

    def note_overflow(self, span: Span) -> None:
        text = self.program.source[slice(*span)]
        self.out.notes.append(Note("nonfinite", f"the number {text} is beyond float64: inf", span))


def too_many(limit: int) -> LimitError:
    """More operations ran than allowed."""
    return LimitError(
        f"stopped after {limit} operations", help="a loop or a function may not end; --max-ops N allows more"
    )


class NameUnbound(ComputationError):
    """A name that the part of the text that ran did not bind."""

    kind = "name"

    def __init__(self, name: str, span: Span | None) -> None:
        super().__init__(
            f"'{name}' has no value here: what binds it did not run", span, f"bind '{name}' before the branch or loop"
        )
