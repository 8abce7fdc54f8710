"""A program run in extended precision: its value, and its derivatives by the rules, to many digits."""

from __future__ import annotations

from autodiff import numeric
from autodiff.evaluate import MAX_OPS, evaluate
from autodiff.names import CONSTANTS
from autodiff.operands.extended import Extended, lift
from autodiff.parse.program import CONST, Program
from autodiff.tape import Node, backward, ones_like, value_of, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from autodiff.errors import Span


def lifted(program: Program, read: Callable[[float, Span], Any] = lambda argument, span: lift(argument)) -> Program:
    """The program with every number extended, so that what is computed from numbers alone is exact too.

    `read` gives the extended number of a float64 and its place in the text.
    """
    code = [(op, read(argument, span) if op == CONST else argument, span) for op, argument, span in program.code]
    return Program(
        program.source,
        code,
        program.input_spans,
        program.bound,
        program.differentiated,
        program.unused,
        program.functions,
    )


def lifted_point(program: Program, point: Mapping[str, Any]) -> dict[str, Any]:
    """The point in extended numbers, with the constants that the program reads as the float64 they are."""
    constants = {name: CONSTANTS[name] for name in program.inputs if name not in point and name in CONSTANTS}
    return {name: lift(value) for name, value in {**constants, **point}.items()}


def value(program: Program, point: Mapping[str, Any], max_ops: int = MAX_OPS) -> Extended:
    """The value of a lifted program at a lifted point."""
    return lift(value_of(evaluate(program, point, max_ops=max_ops).value))


@numeric.quietly
def gradient(program: Program, point: Mapping[str, Any], wrt: Sequence[str], max_ops: int = MAX_OPS) -> dict[str, Any]:
    """Derivatives of one number by the rules, of a lifted program at a lifted point."""
    run = evaluate(program, point, wrt, max_ops=max_ops)
    leaves = [run.leaves[name] for name in wrt]
    root = run.value
    if not isinstance(root, Node):
        return {name: lift(zeros_like(leaf.value)) for name, leaf in zip(wrt, leaves, strict=True)}
    found = backward(root, lift(ones_like(root.value)), leaves)
    return {
        name: lift(zeros_like(leaf.value) if g is None else value_of(g))
        for name, leaf, g in zip(wrt, leaves, found, strict=True)
    }
