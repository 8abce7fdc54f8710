"""The quick roads of one program: generated code for numbers and for arrays, kept by what it was asked for."""

from __future__ import annotations

from autodiff.errors import AutodiffError
from autodiff.evaluate import too_many
from autodiff.flat import TooMany
from autodiff.generate import Quick, Unsuited
from autodiff.numeric import is_array, shape
from autodiff.straight import Straight, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from autodiff.parse.program import Program

SHAPES = 64  # of the inputs of one program; for more, no code is generated
FEW_OPS = 1_000_000  # up to here the machine is quick enough to find where a limit was passed


class Roads:
    """Value and gradient by generated code; None where it does not serve, and the machine must answer."""

    __slots__ = ("arrays", "numbers", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.numbers: dict[tuple[str, ...], Quick | None] = {}
        self.arrays: dict[Any, Straight | None] = {}

    def value_and_gradient(self, point: Mapping[str, Any], wrt: tuple[str, ...], max_ops: int) -> Any:
        """(value, derivatives in the order `wrt`) or None. LimitError past `max_ops`."""
        if any(map(is_array, point.values())):
            return self.of_arrays(point, wrt)
        return self.of_numbers(point, wrt, max_ops)

    def of_numbers(self, point: Mapping[str, Any], wrt: tuple[str, ...], max_ops: int) -> Any:
        key = (*wrt, "", *sorted(point))
        try:
            if key not in self.numbers:
                self.numbers[key] = None
                self.numbers[key] = Quick(self.program, wrt, [name for name in self.program.inputs if name in point])
            quick = self.numbers[key]
            return None if quick is None else quick.value_and_gradient(point, max_ops)
        except TooMany as error:
            if max_ops <= FEW_OPS:
                return None  # the machine finds the very place
            problem = too_many(max_ops)
            problem.span, problem.source = error.args[0], self.program.source
            raise problem from None
        except (Unsuited, AutodiffError, KeyError):
            return None

    def of_arrays(self, point: Mapping[str, Any], wrt: tuple[str, ...]) -> Any:
        key = (wrt, *((name, shape(x)) for name, x in point.items()))
        try:
            if key not in self.arrays:
                self.arrays[key] = None
                if len(self.arrays) > SHAPES:
                    return None
                check(self.program)
                self.arrays[key] = Straight(self.program, wrt, point)
            straight = self.arrays[key]
            return None if straight is None else straight.value_and_gradient(point)
        except (Unsuited, AutodiffError):
            return None
