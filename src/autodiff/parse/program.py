"""The flat program: instructions and what is known of the names before anything runs.

An instruction is (opcode, argument, span); the span is that of the expression it computes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from autodiff.errors import Span

    Instruction = tuple[int, Any, Span]

CONST = 0  # value: push the number
LOAD = 1  # name: push what the name is bound to
STORE = 2  # name: pop and bind, in a function locally
APPLY = 3  # (op, count): an operator on the values on top
CALL = 4  # (name, count, keywords, spans): keywords' values lie above the others; spans[0] is the name's
LIST = 5  # count: an array of the values on top
INDEX = 6  # items: "i", or (start, stop, step) flags of a slice; their values lie above the object
JUMP = 7  # target
BRANCH = 8  # target: pop a condition, jump if it is false
SHORT = 9  # ("and" | "or", target): if the top decides alone, make it a truth value and jump
COMBINE = 10  # "and" | "or": pop right and left, push the elementwise result
ACC = 11  # push the neutral element of a chain of comparisons
LINK = 12  # (op, target): [acc, left, right] to [acc and (left op right), right]; a false scalar: jump
CLOSE = 13  # op: the last of a chain: [acc, left, right] to [acc and (left op right)]
RANGE = 14  # has_step: pop step, stop, start; push an iterator, both ends included
EACH = 15  # pop an array, push an iterator over its first axis
NEXT = 16  # (name, target): bind the next item, or pop the iterator and jump
ROUND = 17  # a round of a while loop begins
UNLOOP = 18  # count: pop that many iterators
POP = 19  # drop the top
KEEP = 20  # pop the top into the frame's result
DEFINE = 21  # (name, parameters, entry, locals): bind the function whose body begins at entry
RETURN = 22  # leave the function with the frame's result
DIFF = 23  # (name, has_order): [value] or [value, order] to the derivative by the name's present value
END = 24  # the program's end

OPCODES = [name for name in dict(globals()) if name.isupper() and name != "TYPE_CHECKING"]
"""The names of the opcodes, by number."""


class Program:
    """What a text compiles to."""

    __slots__ = (
        "bound",
        "code",
        "differentiated",
        "functions",
        "input_spans",
        "inputs",
        "source",
        "unused",
    )

    def __init__(
        self,
        source: str,
        code: list[Instruction],
        input_spans: dict[str, Span],
        bound: dict[str, Span],
        differentiated: frozenset[str],
        unused: tuple[tuple[str, Span], ...],
        functions: dict[str, tuple[tuple[str, ...], Span]],
    ) -> None:
        self.source = source
        self.code = code
        self.inputs = tuple(input_spans)
        """The free names, constants among them, in order of first appearance."""
        self.input_spans = input_spans
        self.bound = bound
        """Each name that the text binds outside functions, with the first place."""
        self.differentiated = differentiated
        """The names that some diff(…, name) mentions."""
        self.unused = unused
        """Bindings whose name nothing reads afterwards."""
        self.functions = functions

    @property
    def repeats(self) -> bool:
        """Whether code may run more than once: there is a loop or a function."""
        return any(opcode in (NEXT, ROUND, DEFINE) for opcode, _, _ in self.code)

    def __repr__(self) -> str:
        return f"Program({self.source!r}, {len(self.code)} instructions)"

    def listing(self) -> str:
        """The instructions, one a line, for people."""
        lines = []
        for place, (opcode, argument, span) in enumerate(self.code):
            shown = "" if argument is None else repr(argument)
            lines.append(f"{place:4} {OPCODES[opcode]:8}{shown:28} {self.source[slice(*span)]!r}")
        return "\n".join(lines)
