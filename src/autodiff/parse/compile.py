"""Nested tuples to Program, and what can be said of names before anything runs.

One loop over one stack of work: a node to visit, an instruction to emit, or a step (function, *arguments).
"""

from __future__ import annotations

from autodiff.errors import SyntaxProblem
from autodiff.parse.program import (
    ACC,
    APPLY,
    BRANCH,
    CALL,
    CLOSE,
    COMBINE,
    CONST,
    DEFINE,
    DIFF,
    EACH,
    END,
    INDEX,
    JUMP,
    KEEP,
    LINK,
    LIST,
    LOAD,
    NEXT,
    POP,
    RANGE,
    RETURN,
    ROUND,
    SHORT,
    STORE,
    UNLOOP,
    Program,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from autodiff.errors import Span
    from autodiff.parse.program import Instruction

    Tree = tuple[Any, ...]

BINARY = {op: (op, 2) for op in ("add", "sub", "mul", "div", "floordiv", "mod", "matmul", "pow")}
UNARY = {op: (op, 1) for op in ("neg", "pos", "not")}
NAMES = frozenset(("NAME", "BY", "IN"))
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
EVER = float("inf")  # a place after all others: a function may read an outer name at any later time


class Label:
    """A place in the code that jumps may name before it is known."""

    __slots__ = ("place",)

    def __init__(self) -> None:
        self.place = 0


class Loop:
    """A loop around the statement: where `continue` and `break` go."""

    __slots__ = ("after", "head", "iterators", "start")

    def __init__(self, start: int, iterators: int) -> None:
        self.start = start
        self.iterators = iterators
        self.head = Label()
        self.after = Label()


class Scope:
    """The names of the text outside functions, or of one function's body."""

    __slots__ = ("bindings", "bound", "first", "function", "last", "locals", "loops", "place", "valued")

    def __init__(self, function: Tree | None = None, locals: dict[str, Span] | None = None, place: int = 0) -> None:
        self.function = function
        self.place = place  # of the DEFINE instruction
        self.locals: dict[str, Span] = locals or {}
        self.bound: set[str] = set()  # names that a later read finds bound; stays empty in a function
        self.first: dict[str, Span] = {}  # first read of each name not bound before
        self.last: dict[str, float] = {}  # start of the last read
        self.bindings: list[tuple[str, Span, int]] = []  # name, its span, where reads begin to count
        self.loops: list[Loop] = []
        self.valued = False


def compile(text: str, tree: Tree) -> Program:
    """The program of a parsed text."""
    if len(tree) == 3:
        raise SyntaxProblem("nothing to evaluate: the expression is empty")
    return Compiler(text).run(tree)


class Compiler:
    """The state of one compilation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code: list[Instruction] = []
        self.work: list[Any] = []
        self.scope = Scope()
        self.scopes: list[Scope] = []
        self.functions: dict[str, tuple[tuple[str, ...], Span]] = {}
        self.differentiated: set[str] = set()
        self.unused: list[tuple[str, Span]] = []
        self.labels = False

    def run(self, tree: Tree) -> Program:
        self.body(tree, True)
        code, work, scope = self.code, self.work, self.scope
        emit, push, pop = code.append, work.append, work.pop
        while work:
            node = pop()
            head = node[0]
            while head in BINARY:
                push((APPLY, BINARY[head], (node[1], node[2])))
                push(node[4])
                node = node[3]
                head = node[0]
            if head.__class__ is int:
                emit(node)
            elif head == "NAME":
                _, start, stop, name = node
                span = (start, stop)
                emit((LOAD, name, span))
                if start > scope.last.get(name, -1):
                    scope.last[name] = start
                if name not in scope.bound and span < scope.first.get(name, (EVER, 0)):
                    scope.first[name] = span
            elif head == "NUMBER":
                emit((CONST, float(node[3]), (node[1], node[2])))
            elif head in UNARY:
                push((APPLY, UNARY[head], (node[1], node[2])))
                push(node[3])
            elif head in HANDLERS:
                HANDLERS[head](self, node)
            else:
                head(*node[1:])
                scope = self.scope
        emit((END, None, (len(self.text), len(self.text))))
        self.settle(scope)
        if self.labels:
            resolve(code)
        self.unused.sort(key=lambda item: item[1])
        return Program(
            self.text,
            code,
            dict(sorted(scope.first.items(), key=lambda item: item[1])),
            scope.locals,
            frozenset(self.differentiated),
            tuple(self.unused),
            self.functions,
        )

    # Steps.

    def push(self, *items: Any) -> None:
        """Leaves work to do, in the order given."""
        self.work.extend(items[::-1])

    def label(self) -> Label:
        self.labels = True
        return Label()

    def place(self, label: Label) -> None:
        label.place = len(self.code)

    def read(self, name: str, span: Span) -> None:
        scope = self.scope
        scope.last[name] = max(span[0], scope.last.get(name, -1))
        if name not in scope.bound and span < scope.first.get(name, (EVER, 0)):
            scope.first[name] = span

    def bind(self, name: str, span: Span, noted: bool, stop: int = 0) -> None:
        """The name is bound from here on; if `noted`, worth a word should nothing read it after `stop`."""
        scope = self.scope
        scope.locals.setdefault(name, span)
        if scope.function is None:
            scope.bound.add(name)
        if noted:
            # What a loop binds, its next round may read.
            scope.bindings.append((name, span, scope.loops[0].start if scope.loops else stop))

    def settle(self, scope: Scope) -> None:
        """The scope ends: which of its bindings did nothing read?"""
        self.unused += [(name, span) for name, span, stop in scope.bindings if scope.last.get(name, -1) < stop]

    def keep(self, span: Span) -> Instruction:
        """What becomes of an expression statement's value."""
        if self.scope.loops:
            return (POP, None, span)
        self.scope.valued = True
        return (KEEP, None, span)

    # Statements. `final` ones give their block its value.

    def body(self, block: Tree, final: bool) -> None:
        last = len(block) - 1
        for place in range(last, 2, -1):
            self.work.append((self.statement, block[place], final and place == last))

    def statement(self, node: Tree, final: bool) -> None:
        name, start, stop = node[:3]
        if name in STATEMENTS:
            STATEMENTS[name](self, node, final)
        elif name == "block":
            self.body(node, final)
        else:
            self.push(node, self.keep((start, stop)))

    def do_assign(self, node: Tree, final: bool) -> None:
        _, _, stop, (_, *span, name), value = node
        self.push(value, (self.store, name, tuple(span), stop, final))

    def do_update(self, node: Tree, final: bool) -> None:
        _, start, stop, target, (op, _, _, value) = node
        _, *span, name = target
        # The new value is what the whole statement computes.
        self.push(
            ("NAME", *target[1:]),
            value,
            (APPLY, BINARY[op], (start, stop)),
            (self.store, name, tuple(span), stop, final),
        )

    def store(self, name: str, span: Span, stop: int, final: bool) -> None:
        self.code.append((STORE, name, span))
        if final:
            self.code += [(LOAD, name, span), self.keep(span)]
        self.bind(name, span, not final, stop)

    def do_if(self, node: Tree, final: bool) -> None:
        _, start, stop, condition, block, *otherwise = node
        other, after = self.label(), self.label()
        items = [condition, (BRANCH, other, condition[1:3]), (self.statement, block, final)]
        if otherwise:
            items.append((JUMP, after, (start, stop)))
        items.append((self.place, other))
        if otherwise:
            items += [(self.statement, otherwise[0], final), (self.place, after)]
        self.push(*items)

    def do_while(self, node: Tree, final: bool) -> None:
        _, start, stop, condition, block = node
        loop = self.enter(start, 0)
        self.place(loop.head)
        self.push(
            (ROUND, None, condition[1:3]),
            condition,
            (BRANCH, loop.after, condition[1:3]),
            (self.body, block, False),
            (self.leave, (start, stop)),
        )

    def do_for(self, node: Tree, final: bool) -> None:
        _, start, stop, (_, *span, name), iterable, block = node
        ranged = iterable[0] == "range"
        items = iterable[3:] if ranged else (iterable,)
        begin = (RANGE, len(items) == 3, iterable[1:3]) if ranged else (EACH, None, iterable[1:3])
        # The items are evaluated once, before the loop.
        self.push(*items, begin, (self.loop_over, name, tuple(span), start, stop, block))

    def loop_over(self, name: str, span: Span, start: int, stop: int, block: Tree) -> None:
        loop = self.enter(start, 1)
        self.place(loop.head)
        self.code.append((NEXT, (name, loop.after), span))
        self.bind(name, span, False)
        self.push((self.body, block, False), (self.leave, (start, stop)))

    def enter(self, start: int, iterators: int) -> Loop:
        self.labels = True
        loop = Loop(start, iterators)
        self.scope.loops.append(loop)
        return loop

    def leave(self, span: Span) -> None:
        loop = self.scope.loops.pop()
        self.code.append((JUMP, loop.head, span))
        self.place(loop.after)

    def do_break(self, node: Tree, final: bool) -> None:
        loop = self.loop(node)
        if loop.iterators:
            self.code.append((UNLOOP, loop.iterators, node[1:3]))
        self.code.append((JUMP, loop.after, node[1:3]))

    def do_continue(self, node: Tree, final: bool) -> None:
        self.code.append((JUMP, self.loop(node).head, node[1:3]))

    def loop(self, node: Tree) -> Loop:
        if not self.scope.loops:
            raise SyntaxProblem(f"'{node[0]}' outside a loop", node[1:3])
        return self.scope.loops[-1]

    def do_define(self, node: Tree, final: bool) -> None:
        _, _, _, (_, start, stop, (_, *span, name), *arguments), body = node
        parameters: dict[str, Span] = {}
        if name == "diff":
            raise SyntaxProblem("'diff' is built in and can't be defined", tuple(span))
        for argument in arguments:
            place = argument[1:3]
            if argument[0] == "keyword":
                raise SyntaxProblem("a parameter has no default value", place, f"write {argument[3][3]}")
            if argument[0] not in NAMES:
                raise SyntaxProblem(
                    "a parameter must be a plain name",
                    place,
                    f"a definition is {name}(t) = …; to compare, write ==" if body[0] != "block" else None,
                )
            if argument[3] in parameters:
                raise SyntaxProblem(f"the parameter '{argument[3]}' occurs twice", place)
            parameters[argument[3]] = place
        after = self.label()
        self.functions[name] = (tuple(parameters), tuple(span))
        place = len(self.code)
        self.code += [(DEFINE, (name, tuple(parameters)), tuple(span)), (JUMP, after, (start, stop))]
        self.scopes.append(self.scope)
        self.scope = Scope(node, parameters, place)
        self.push((self.statement, body, True), (self.end_function, after))

    def end_function(self, after: Label) -> None:
        scope, outer = self.scope, self.scopes.pop()
        opcode, (name, parameters), span = self.code[scope.place]
        if not scope.valued:
            raise SyntaxProblem(f"the body of '{name}' has no value", span, "end it with the expression to return")
        self.code.append((RETURN, None, span))
        self.code[scope.place] = (opcode, (name, parameters, scope.place + 2, tuple(scope.locals)), span)
        self.place(after)
        self.settle(scope)
        self.scope = outer
        for free, place in scope.first.items():
            if free not in scope.locals:
                self.read(free, place)
                outer.last[free] = EVER

    # Expressions.

    def on_name(self, node: Tree) -> None:
        self.work.append(("NAME", *node[1:]))

    def on_superscript(self, node: Tree) -> None:
        self.code.append((CONST, float(node[3].translate(DIGITS)), node[1:3]))

    def on_root(self, node: Tree) -> None:
        _, start, stop, sign, value = node
        self.push(value, (CALL, ("sqrt", 1, (), (sign[1:3], value[1:3])), (start, stop)))

    def on_conditional(self, node: Tree) -> None:
        _, start, stop, value, condition, otherwise = node
        other, after = self.label(), self.label()
        self.push(
            condition,
            (BRANCH, other, condition[1:3]),
            value,
            (JUMP, after, (start, stop)),
            (self.place, other),
            otherwise,
            (self.place, after),
        )

    def on_logic(self, node: Tree) -> None:
        which, start, stop, left, right = node
        after, span = self.label(), (start, stop)
        self.push(left, (SHORT, (which, after), span), right, (COMBINE, which, span), (self.place, after))

    def on_comparison(self, node: Tree) -> None:
        _, start, stop, left, *links = node
        if len(links) == 1:
            op, _, _, right = links[0]
            self.push(left, right, (APPLY, (op, 2), (start, stop)))
            return
        after = self.label()
        items: list[Any] = [(ACC, None, (start, stop)), left]
        for op, _, end, right in links[:-1]:
            items += [right, (LINK, (op, after), (start, end))]
        op, _, _, right = links[-1]
        items += [right, (CLOSE, op, (start, stop)), (self.place, after)]
        self.push(*items)

    def on_list(self, node: Tree) -> None:
        self.push(*node[3:], (LIST, len(node) - 3, node[1:3]))

    def on_index(self, node: Tree) -> None:
        items: list[Any] = []
        values = [node[3]]
        for item in node[4:]:
            if item[0] == "slice":
                parts = (*item[3:], None)[:3]
                items.append(tuple(part is not None for part in parts))
                values += [part for part in parts if part is not None]
            else:
                items.append("i")
                values.append(item)
        self.push(*values, (INDEX, tuple(items), node[1:3]))

    def on_call(self, node: Tree) -> None:
        _, start, stop, (_, *place, name), *arguments = node
        if name == "diff":
            self.derivative(node, arguments)
            return
        keywords: list[str] = []
        spans: list[Span] = [(place[0], place[1])]
        values: list[Tree] = []
        for argument in arguments:
            if argument[0] == "keyword":
                _, _, _, word, argument = argument
                if word[3] in keywords:
                    raise SyntaxProblem(f"the keyword '{word[3]}' occurs twice", word[1:3])
                keywords.append(word[3])
            elif keywords:
                raise SyntaxProblem(
                    f"a plain argument after '{keywords[-1]}='",
                    argument[1:3],
                    "arguments with a keyword come last",
                )
            values.append(argument)
            spans.append(argument[1:3])
        called = (name, len(values) - len(keywords), tuple(keywords), tuple(spans))
        self.push(*values, (CALL, called, (start, stop)))

    def derivative(self, node: Tree, arguments: list[Tree]) -> None:
        span = node[1:3]
        usage = "diff(expression, name) or diff(expression, name, order)"
        for argument in arguments:
            if argument[0] == "keyword":
                raise SyntaxProblem("diff takes no keywords", argument[1:3], usage)
        if len(arguments) not in (2, 3):
            raise SyntaxProblem(f"diff takes 2 or 3 arguments, not {len(arguments)}", span, usage)
        value, by, *order = arguments
        if by[0] not in NAMES:
            raise SyntaxProblem("diff needs a name as its second argument", by[1:3], usage)
        name = by[3]
        self.read(name, by[1:3])
        self.differentiated.add(name)
        self.push(value, *order, (DIFF, (name, bool(order)), span))


def resolve(code: list[Instruction]) -> None:
    """Puts places for labels."""
    for place, (opcode, argument, span) in enumerate(code):
        if argument.__class__ is Label:
            code[place] = (opcode, argument.place, span)
        elif opcode in (SHORT, LINK, NEXT):
            code[place] = (opcode, (argument[0], argument[1].place), span)


def _methods(prefix: str) -> Iterable[tuple[str, Callable[..., None]]]:
    return ((name[3:], method) for name, method in vars(Compiler).items() if name.startswith(prefix))


STATEMENTS = dict(_methods("do_"))
HANDLERS = dict(_methods("on_"))
HANDLERS |= {"and": HANDLERS["logic"], "or": HANDLERS["logic"]}
HANDLERS |= {"BY": HANDLERS["name"], "IN": HANDLERS["name"], "SUPERSCRIPT": HANDLERS["superscript"]}
