"""Gradients by segments: the computation again, piece by piece from the end, where memory for all of it lacks.

The first run records nothing and keeps copies of its state, one every so many operations (at the next round of a
loop). The backward pass takes the segments from the last: each runs again from its copy, recorded, and carries
the cotangents of its final state to those of its first. Griewank and Walther, Evaluating Derivatives, chapter 12.
"""

from __future__ import annotations

from copy import copy

from autodiff import numeric
from autodiff.errors import AutodiffError, Note, ShapeError
from autodiff.evaluate import Items, Machine, Range, Run, State
from autodiff.names import CONSTANTS, check_names, link
from autodiff.notes import excerpt, gather, kinks
from autodiff.ops import OPS
from autodiff.sweep import backward
from autodiff.tape import Node, Tape, value_of, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from autodiff.parse.program import Program


def copied(state: State) -> State:
    """The state, so that running on leaves the copy alone; values are shared."""
    made = copy(state)
    made.world = dict(state.world)
    scopes = {id(state.world): made.world}

    def scope_of(scope: dict[str, Any]) -> dict[str, Any]:
        if id(scope) not in scopes:
            scopes[id(scope)] = dict(scope)
        return scopes[id(scope)]

    made.scope = scope_of(state.scope)
    made.functions = dict(state.functions)
    made.frames = [(pc, scope_of(scope), result) for pc, scope, result in state.frames]
    made.stack = [copy(x) if isinstance(x, (Range, Items)) else x for x in state.stack]
    return made


def places(state: State) -> Iterator[tuple[Any, Any]]:
    """(container, key) of all values of a state, in an order that depends on its structure alone."""
    scopes = {id(scope): scope for scope in (state.world, state.scope, *(frame[1] for frame in state.frames))}
    for scope in scopes.values():
        yield from ((scope, name) for name in scope)
    for k, x in enumerate(state.stack):
        if isinstance(x, Items):
            yield x, "array"
        elif not isinstance(x, Range):
            yield state.stack, k
    yield state, "result"
    yield from ((state.frames, k) for k in range(len(state.frames)))


def get(place: tuple[Any, Any]) -> Any:
    """The value at a place."""
    container, key = place
    if isinstance(container, (State, Items)):
        return getattr(container, key)
    found = container[key]
    return found[2] if found.__class__ is tuple else found


def put(place: tuple[Any, Any], value: Any) -> None:
    """Replace the value at a place."""
    container, key = place
    if isinstance(container, (State, Items)):
        setattr(container, key, value)
    elif container[key].__class__ is tuple:
        container[key] = (*container[key][:2], value)
    else:
        container[key] = value


class Segments:
    """One computation, to be differentiated in pieces of `length` operations."""

    def __init__(self, program: Program, point: Mapping[str, Any], max_ops: int, length: int) -> None:
        check_names(program, point)
        self.program = program
        self.linked = link(program)
        self.max_ops = max_ops
        world = {name: numeric.raw(point[name]) if name in point else CONSTANTS[name] for name in program.inputs}
        machine, self.run = self.machine(State(world, max_ops))
        self.states = [copied(machine.state)]
        self.value: Any = None
        while self.value is None:
            self.value = self.guarded(machine, max(machine.state.left - length, 0))
            if self.value is None:
                self.states.append(copied(machine.state))

    def machine(self, state: State, convention: str | None = None) -> tuple[Machine, Run]:
        """A machine that goes on from a state, with a tape of its own."""
        run = Run(Tape(convention), {})
        machine = Machine(self.program, self.linked, run, state.world, self.max_ops, False, False)
        machine.state = state
        return machine, run

    def guarded(self, machine: Machine, pause: int) -> Any:
        """Run on; errors name their place in the text."""
        try:
            return machine.run(pause)
        except AutodiffError as error:
            error.span = error.span or machine.tape.span
            error.source = error.source or self.program.source
            raise

    def gradient(self, wrt: Sequence[str], convention: str | None) -> tuple[dict[str, Any], list[Note]]:
        """The gradient of the value, one number, by the inputs `wrt`; and notes of kinks that it meets."""
        if numeric.is_array(self.value):
            raise ShapeError(f"grad wants one number, but the result has shape {self.value.shape}", help="use sum(…)")
        cotangents: list[Any] = []
        notes: list[Note] = []
        for k in reversed(range(len(self.states))):
            state = copied(self.states[k])
            last = k == len(self.states) - 1
            machine, run = self.machine(state, convention)
            starts = []
            for place in places(state):
                value = get(place)
                number = value.__class__ is float or (numeric.is_array(value) and value.dtype.kind == "f")
                starts.append(run.tape.leaf(value) if number else None)
                if number:
                    put(place, starts[-1])
            names = list(state.world)  # a state's first places are the world's
            value = self.guarded(machine, -1 if last else self.states[k + 1].left)
            ends = [(value, 1.0)] if last else zip(map(get, places(machine.state)), cotangents, strict=True)
            root: Any = 0.0
            for x, c in ends:
                if isinstance(x, Node) and c is not None and (bool(c.any()) if hasattr(c, "any") else c != 0.0):
                    term = x if c.__class__ is float and c == 1.0 else OPS["mul"](x, c)
                    root = OPS["add"](root, OPS["sum"](term) if numeric.shape(value_of(term)) else term)
            leaves = [leaf for leaf in starts if leaf is not None]
            found: dict[Node, Any] = {}
            if isinstance(root, Node) and leaves:
                found = dict(zip(leaves, backward(root, 1.0, leaves), strict=True))
                notes += (
                    [] if convention else [self.note(node) for node, sure in kinks(root, 1.0, leaves).items() if sure]
                )
            cotangents = [None if leaf is None else found.get(leaf) for leaf in starts]
            run.tape.nodes.clear()  # nodes and tape hold each other: nothing else would free them now
        inputs = dict(zip(names, zip(starts, cotangents, strict=False), strict=False))
        gradient = {}
        for name in wrt:
            leaf, c = inputs[name]
            gradient[name] = (0.0 if leaf is None else zeros_like(leaf.value)) if c is None else value_of(c)
        return gradient, gather(notes)

    def note(self, node: Node) -> Note:
        """Of a kink: which segments can only settle by the convention."""
        assert node.op is not None
        what = "a jump" if node.op.jump else "a kink"
        return Note(
            "kink",
            f"'{excerpt(node, self.program.source)}' has {what}; the convention is used ({node.op.kinks})",
            node.span,
        )
