"""The quick road: a program of plain numbers as generated Python that fills a flat tape.

What the machine (`evaluate`) does instruction by instruction, generated code does at the speed of the
interpreter; the rules are the same, traced once on formulas. It serves the ordinary case only: plain
numbers, finite results, no kink met. Anything else raises, and the caller takes the machine's road,
which names the place and the reason.
"""

from __future__ import annotations

from math import inf, nan

from autodiff.errors import AutodiffError
from autodiff.evaluate import Range
from autodiff.flat import Entries, sweep
from autodiff.names import CONSTANTS, link
from autodiff.ops import Op
from autodiff.parse import program as code
from autodiff.parse.program import Program
from autodiff.rules import INFIX, number, partial_text, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span

LARGEST = 4_000  # instructions; generating costs about 20 µs each, and pays where code runs often
DEEPEST = 18  # blocks within blocks, of which Python takes 20
TRUTH = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "not", "and", "or"))


class Unsuited(Exception):
    """The program, or what it met, is not for this road."""


class Value:
    """A value on the generator's stack, as Python text."""

    __slots__ = ("certain", "index", "text", "truth")

    def __init__(self, text: str, index: str | None = None, truth: bool = False, certain: bool = False) -> None:
        self.text = text
        self.index = index  # text of its place on the tape; None: certainly no derivative is wanted of it
        self.certain = certain  # whether it has a place on the tape whenever the program comes here
        self.truth = truth  # whether it may be true or false

    @property
    def real(self) -> str:
        return f"float({self.text})" if self.truth else self.text


class Block:
    """An open construct of the generated code."""

    __slots__ = ("after", "depth", "head", "kind", "slot", "valued")

    def __init__(self, kind: str, after: int, depth: int, place: int = -1, valued: bool = False) -> None:
        self.kind = kind  # "if", "else", "logic", "loop", "function"
        self.after = after  # the address where it ends
        self.depth = depth  # of the stack, without the construct's own value
        self.head = place  # of a loop: where its rounds begin
        self.slot = f"s{place}"  # the variable for the value that each branch leaves
        self.valued = valued


class Generator:
    """One pass over the code. What variables may be is found by passes until nothing is added.

    They may be active, that is have a place on the tape, or a truth value; then, of the active: passive too.
    """

    def __init__(
        self, program: Program, wrt: Sequence[str], names: Sequence[str], known: set[Any], settled: bool
    ) -> None:
        self.program = program
        self.wrt = wrt
        self.known = known  # ("active" | "truth" | "passive", variable)
        self.settled = settled  # whether all that may be active or a truth value is known
        self.globals: dict[str, Any] = {"Range": Range, "Entries": Entries, "Kink": Unsuited, "inf": inf, "nan": nan}
        self.constants = {name: CONSTANTS[name] for name in program.inputs if name not in names}
        self.lines: list[str] = []
        self.blocks: list[Block] = []
        self.stack: list[Value] = []
        self.temporaries = 0
        self.cost = 0
        self.function: str | None = None
        self.locals: frozenset[str] = frozenset()
        self.numbers: dict[Any, int] = {}
        self.ends = {
            argument: place + 1
            for place, (opcode, argument, _) in enumerate(program.code)
            if opcode == code.JUMP and argument < place
        }

    # Text.

    def emit(self, line: str) -> None:
        self.lines.append(" " * (len(self.blocks) + 1) + line)

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def variable(self, name: str, storing: bool = False) -> str:
        """The Python name of a variable: Unicode stays out of the generated code."""
        scope = self.function if name in self.locals or (storing and self.function) else None
        return f"v{self.numbers.setdefault((scope, name), len(self.numbers))}"

    def learn(self, what: str, key: Any, yes: bool) -> bool:
        """Whether the variable may be so, in any pass."""
        if yes:
            self.known.add((what, key))
        return (what, key) in self.known

    def flush(self) -> None:
        """Count the operations of the stretch that ends here."""
        if self.cost:
            self.emit(f"left -= {self.cost}")
            self.cost = 0

    def limit(self, span: Span) -> None:
        self.emit(f"if left < 0: left = tape.more(left, {tuple(span)!r})")

    # Values.

    def assign(self, variable: str, value: Value) -> None:
        """variable = value, and its index beside it where it may be active."""
        if variable != value.text:
            self.emit(f"{variable} = {value.text}")
        self.learn("truth", variable, value.truth)
        if self.learn_index(variable, value):
            self.emit(f"i{variable} = {value.index or 0}")

    def passive(self, variable: str) -> None:
        """The variable holds a number that is no result."""
        if self.learn_index(variable, Value(variable)):
            self.emit(f"i{variable} = 0")

    def learn_index(self, key: Any, value: Value) -> bool:
        """Whether what this value goes into may be active."""
        self.learn("passive", key, self.settled and not value.certain)
        return self.learn("active", key, value.index is not None)

    def read(self, variable: str, key: Any = None) -> Value:
        """The variable, of which `key` says what it may be."""
        key = key or variable
        active = ("active", key) in self.known
        certain = active and self.settled and ("passive", key) not in self.known
        return Value(variable, f"i{variable}" if active else None, ("truth", key) in self.known, certain)

    def apply(self, op: Op, operands: list[Value]) -> Value:
        if not op.elementwise or op.scalar is None:
            raise Unsuited(op.name)
        self.cost += 1
        y = self.temporary()
        truth = op.name in TRUTH
        xs = [x.text if truth else x.real for x in operands]
        for k, text in enumerate(xs):
            if text.startswith("float("):
                xs[k] = self.temporary()
                self.emit(f"{xs[k]} = {text}")
        self.emit(f"{y} = {written(op, xs, self.globals)}")
        if not op.differentiable:
            return Value(y, None, truth)
        active = []
        for i, x in enumerate(operands):
            if x.index is not None and op.partial(i) != 0.0:
                active.append((x.certain, x.index, partial_text(op, i, y, xs, self.globals)))
        if op.kink is not None and any(x.index is not None for x in operands):
            name = f"_kink_{op.name}"
            self.globals[name] = op.kink
            wanted = " or ".join(x.index for x in operands if x.index is not None)
            self.emit(f"if ({wanted}) and {name}({', '.join((y, *xs))}): raise Kink")
        if not active:
            return Value(y)
        active.sort(key=lambda edge: not edge[0])
        return Value(y, self.record(y, active), False, active[0][0])

    def record(self, y: str, active: list[tuple[bool, str, str]]) -> str:
        """Entries of the tape, one an edge whose operand is active; the certain ones come first."""
        index = f"i{y}"
        certain, i, d = active[0]
        if certain:
            self.emit(f"P.append({i}); D.append({d}); {index} = n = n + 1")
            for certain, i, d in active[1:]:
                self.emit(f"{'' if certain else f'if {i}: '}P.append(-{i}); D.append({d})")
            return index
        if len(active) == 1:
            self.emit(f"if {i}: P.append({i}); D.append({d}); {index} = n = n + 1")
            self.emit(f"else: {index} = 0")
            return index
        self.emit(f"{index} = 0")
        for k, (_, i, d) in enumerate(active):
            self.emit(f"if {i}:")
            if k:
                self.emit(f" if {index}: P.append(-{i}); D.append({d})")
                self.emit(f" else: P.append({i}); D.append({d}); {index} = n = n + 1")
            else:
                self.emit(f" P.append({i}); D.append({d}); {index} = n = n + 1")
        return index

    # The pass.

    def run(self, linked: list[tuple[int, Any, Span]]) -> str:
        """The text of `run(inputs, left)`."""
        self.emit("n = len(inputs)")
        self.emit("tape = Entries(left); left = tape.more(0, None); P = tape.newest; D = tape.slopes")
        names = [name for name in self.program.inputs if name not in self.constants]
        order = [*self.wrt, *(name for name in names if name not in self.wrt)]
        for k, name in enumerate(order):
            self.emit(f"{self.variable(name)} = inputs[{k}]")
            if name in self.wrt:
                self.learn("active", self.variable(name), True)
                self.emit(f"i{self.variable(name)} = {k + 1}")
            else:
                self.passive(self.variable(name))
        for name, constant in self.constants.items():
            self.assign(self.variable(name), Value(number(constant), None, constant.__class__ is bool))
        place = 0
        while place < len(linked):
            self.close(place)
            opcode, argument, span = linked[place]
            handler = HANDLERS.get(opcode)
            if handler is None or len(self.blocks) > DEEPEST:
                raise Unsuited(code.OPCODES[opcode])
            place += handler(self, argument, span, place) or 1
        self.flush()
        self.limit((0, len(self.program.source)))
        value = self.read("result")
        self.emit(f"return result, {value.index or 0}, n, tape")
        return "\n".join(["def run(inputs, left):", *self.lines, ""])

    def close(self, place: int) -> None:
        """End the constructs that end at this address."""
        while self.blocks and self.blocks[-1].after == place and self.blocks[-1].kind != "function":
            block = self.blocks[-1]
            if block.kind == "loop":
                self.flush()
                self.lines.append(" " * (len(self.blocks) + 1) + "pass")
                self.blocks.pop()
                return
            self.settle(block)
            self.flush()
            self.emit("pass")
            self.blocks.pop()
            if block.valued:
                self.stack.append(self.read(block.slot))

    def settle(self, block: Block) -> None:
        """A branch ends: what it leaves on the stack goes into the construct's variable."""
        if len(self.stack) > block.depth:
            self.assign(block.slot, self.stack.pop())
            block.valued = True

    def loop(self) -> Block | None:
        for block in reversed(self.blocks):
            if block.kind == "function":
                return None
            if block.kind == "loop":
                return block
        return None

    def on_const(self, argument: Any, span: Span, place: int) -> None:
        if argument == inf:
            raise Unsuited("a number beyond float64")
        self.stack.append(Value(number(argument)))

    def on_load(self, argument: Any, span: Span, place: int) -> None:
        self.stack.append(self.read(self.variable(argument)))

    def on_store(self, argument: Any, span: Span, place: int) -> None:
        self.assign(self.variable(argument, True), self.stack.pop())

    def on_apply(self, argument: Any, span: Span, place: int) -> None:
        op, count = argument
        operands = self.stack[-count:]
        del self.stack[-count:]
        self.stack.append(self.apply(op, operands))

    def on_call(self, argument: Any, span: Span, place: int) -> None:
        op, count, _, plan = argument
        operands = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        if op.__class__ is not str:
            if plan is not None:
                order, static, _ = plan
                if any(static):
                    raise Unsuited("a static argument")
                operands = [operands[i] if i.__class__ is int else Value(number(i)) for i in order]
            self.stack.append(self.apply(op, operands))
            return
        self.cost += 1
        self.flush()
        given = []
        for parameter, operand in zip(self.program.functions[op][0], operands, strict=True):
            key = (op, parameter)
            given.append(operand.text)
            self.learn("truth", key, operand.truth)
            if self.learn_index(key, operand):
                given.append(operand.index or "0")
        y = self.temporary()
        result = (op, None)
        called = f"f{self.numbers.setdefault(('function', op), len(self.numbers))}({', '.join(given)})"
        if ("active", result) in self.known:
            self.emit(f"{y}, i{y} = {called}")
        else:
            self.emit(f"{y} = {called}")
        self.stack.append(self.read(y, result))

    def on_define(self, argument: Any, span: Span, place: int) -> int:
        name, parameters, _, locals_ = argument
        if self.function is not None or self.stack:
            raise Unsuited("a function within a function")
        self.flush()
        self.function, self.locals = name, frozenset(locals_)
        taken = []
        for parameter in parameters:
            variable = self.variable(parameter)
            taken.append(variable)
            key = (name, parameter)
            self.learn("truth", variable, ("truth", key) in self.known)
            if self.learn_index(variable, self.read(variable, key)):
                self.known.add(("active", key))
                taken.append(f"i{variable}")
        self.emit(f"def f{self.numbers.setdefault(('function', name), len(self.numbers))}({', '.join(taken)}):")
        # the JUMP over the body follows, then the body
        self.blocks.append(Block("function", -1, 0))
        self.emit("nonlocal n, left")
        self.limit(span)
        return 2

    def on_return(self, argument: Any, span: Span, place: int) -> None:
        self.flush()
        value = self.read(f"result_{self.function_number()}")
        key = (self.function, None)
        self.learn("truth", key, value.truth)
        if self.learn_index(key, value):
            self.emit(f"return {value.text}, {value.index or 0}")
        else:
            self.emit(f"return {value.text}")
        self.blocks.pop()
        self.function, self.locals = None, frozenset()

    def function_number(self) -> int:
        return self.numbers[("function", self.function)]

    def on_keep(self, argument: Any, span: Span, place: int) -> None:
        self.assign("result" if self.function is None else f"result_{self.function_number()}", self.stack.pop())

    def on_pop(self, argument: Any, span: Span, place: int) -> None:
        self.stack.pop()

    def on_range(self, argument: Any, span: Span, place: int) -> None:
        step = self.stack.pop() if argument else Value("1.0")
        stop, start = self.stack.pop(), self.stack.pop()
        items = self.temporary()
        self.emit(f"{items} = Range({start.text}, {stop.text}, {step.text}).floats()")
        self.stack.append(Value(items))

    def on_next(self, argument: Any, span: Span, place: int) -> None:
        name, after = argument
        self.flush()
        variable = self.variable(name, True)
        self.emit(f"for {variable} in {self.stack.pop().text}:")
        self.blocks.append(Block("loop", after, len(self.stack), place))
        self.cost += 1
        self.limit(span)
        self.passive(variable)

    def on_round(self, argument: Any, span: Span, place: int) -> None:
        self.flush()
        self.emit("while True:")
        # its end is known at the BRANCH that follows the condition; the JUMP back closes it
        self.blocks.append(Block("loop", self.ends[place], len(self.stack), place))
        self.cost += 1
        self.limit(span)

    def on_branch(self, argument: Any, span: Span, place: int) -> None:
        condition = self.stack.pop()
        self.flush()
        loop = self.loop()
        if loop is not None and argument == loop.after:
            self.emit(f"if not {condition.text}: break")
            return
        self.emit(f"if {condition.text}:")
        self.blocks.append(Block("if", argument, len(self.stack), place))

    def on_jump(self, argument: Any, span: Span, place: int) -> None:
        loop = self.loop()
        if loop is not None and argument in (loop.head, loop.after):
            self.flush()
            if argument == loop.after:
                self.emit("break")
            elif place + 1 != loop.after:
                self.emit("continue")
            return
        block = self.blocks[-1]
        if block.kind != "if" or block.after != place + 1:
            raise Unsuited("a jump")
        self.settle(block)
        self.flush()
        self.emit("pass")
        self.blocks.pop()
        self.emit("else:")
        self.blocks.append(Block("else", argument, block.depth, block.head))

    def on_unloop(self, argument: Any, span: Span, place: int) -> None:
        """The iterator is the Python loop's own."""

    def on_short(self, argument: Any, span: Span, place: int) -> None:
        which, target = argument
        left = self.stack.pop()
        self.flush()
        block = Block("logic", target, len(self.stack), place)
        decided = which == "or"
        self.emit(f"if {'' if decided else 'not '}{left.text}: {block.slot} = {decided}")
        self.emit("else:")
        self.learn("truth", block.slot, True)
        self.blocks.append(block)

    def on_combine(self, argument: Any, span: Span, place: int) -> None:
        right = self.stack.pop()
        self.stack.append(Value(f"(True if {right.text} else False)", None, True))

    def on_acc(self, argument: Any, span: Span, place: int) -> None:
        """A chain's outcome waits in a variable of its own; its links follow."""
        self.stack.append(Value(f"chain{place}", None, True))

    def on_link(self, argument: Any, span: Span, place: int) -> None:
        op, target = argument
        right, left, outcome = self.stack.pop(), self.stack.pop(), self.stack.pop()
        self.cost += 1
        self.flush()
        block = Block("logic", target, len(self.stack), place)
        self.learn("truth", block.slot, True)
        self.emit(f"if not ({left.text} {INFIX[op.name]} {right.text}): {block.slot} = False")
        self.emit("else:")
        self.blocks.append(block)
        self.stack += [outcome, right]

    def on_close(self, argument: Any, span: Span, place: int) -> None:
        right, left, _ = self.stack.pop(), self.stack.pop(), self.stack.pop()
        self.cost += 1
        self.stack.append(Value(f"({left.text} {INFIX[argument.name]} {right.text})", None, True))

    def on_end(self, argument: Any, span: Span, place: int) -> None:
        """The last instruction."""


HANDLERS: dict[int, Callable[..., int | None]] = {
    getattr(code, name[3:].upper()): method for name, method in vars(Generator).items() if name.startswith("on_")
}


class Quick:
    """A generated program: values and gradients by plain numbers in the order `wrt`, then the other inputs."""

    __slots__ = ("count", "order", "run", "source", "wrt")

    def __init__(self, program: Program, wrt: Sequence[str], names: Sequence[str]) -> None:
        if len(program.code) > LARGEST or program.differentiated:
            raise Unsuited("the size")
        linked = link(program)
        known: set[Any] = set()
        for settled in (False, True):
            before = -1
            while len(known) != before:
                before = len(known)
                generator = Generator(program, wrt, names, known, settled)
                self.source = generator.run(linked)
        namespace = generator.globals
        exec(compile(self.source, "<expression>", "exec"), namespace)
        self.run = namespace["run"]
        self.wrt = wrt
        self.order = [*wrt, *(name for name in program.inputs if name in names and name not in wrt)]
        self.count = len(self.order)

    def value_and_gradient(self, point: Mapping[str, Any], max_ops: int) -> tuple[Any, list[float]]:
        """The value and the derivatives by `wrt`; Unsuited where this road does not serve, TooMany past max_ops."""
        inputs = [point[name] for name in self.order]
        if any(x.__class__ is not float for x in inputs):
            raise Unsuited("an input that is no plain number")
        try:
            value, root, n, tape = self.run(inputs, max_ops)
        except (ArithmeticError, ValueError, TypeError, NameError, RecursionError, AutodiffError):
            raise Unsuited("something to explain") from None
        gradient = sweep(root, n, tape)[1 : len(self.wrt) + 1] if root else [0.0] * len(self.wrt)
        if value - value != 0.0 or any(g - g != 0.0 for g in gradient):
            raise Unsuited("a result that is not finite")
        return value if value.__class__ is bool else float(value), gradient


__all__ = ["Quick", "Unsuited"]
