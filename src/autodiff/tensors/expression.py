"""Compiled expressions: a text that is called like a function, and its derivatives."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from autodiff import differentiate
from autodiff.errors import AutodiffError, NameProblem
from autodiff.evaluate import MAX_OPS, evaluate, inputs_of
from autodiff.generate import Quick, Unsuited
from autodiff.numeric import is_array, shape
from autodiff.parse import parse
from autodiff.straight import Straight, check
from autodiff.tensors.tensor import Tensor, plain, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SHAPES = 64  # of the inputs of one expression; for more, no code is generated


class Expression:
    """A text of the language, ready to be evaluated at many points: `f(x=2)`, `f.grad(x=2)`.

    Positional arguments go to the inputs in order of first appearance. Arguments are numbers, arrays, nested
    lists or tensors; a value of tensors that require a gradient is a recorded tensor. Errors are AutodiffError with the
    place in the text. Instances can be pickled and used from several threads.

    >>> Expression("x*y")(2, 3)
    6.0
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.program = parse(text)
        self._inputs = inputs_of(self.program, {})
        self._quick: dict[tuple[str, ...], Quick | None] = {}
        self._straight: dict[Any, Straight | None] = {}

    @property
    def inputs(self) -> list[str]:
        """The free names, in order of first appearance.

        >>> compile("y + x").inputs
        ['y', 'x']
        """
        return list(self._inputs)

    def _point(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        names = self._inputs
        if len(args) > len(names):
            raise NameProblem(f"{len(args)} arguments for {len(names)} inputs ({', '.join(names)})")
        point = dict(zip(names, args, strict=False))
        if len(args) == len(names) and not named:
            return point
        for name, value in named.items():
            if name in point:
                raise NameProblem(f"'{name}' is given twice")
            if name not in self.program.inputs:
                raise NameProblem(f"'{name}' is no input of the expression", help=f"its inputs are {', '.join(names)}")
            point[name] = value
        lacking = [name for name in names if name not in point]
        if lacking:
            raise NameProblem(
                f"no value for {', '.join(lacking)}", help=f"give {', '.join(f'{name}=…' for name in lacking)}"
            )
        return point

    def _run(self, point: dict[str, Any], wrt: tuple[str, ...]) -> Any:
        """(value, gradient) by generated code where that serves, else None."""
        key = (*wrt, "", *sorted(point))
        quick = self._quick.get(key)
        if quick is None:
            if key in self._quick:
                return None
            try:
                quick = Quick(self.program, wrt, [name for name in self.program.inputs if name in point])
            except (Unsuited, AutodiffError):
                quick = None
            self._quick[key] = quick
            if quick is None:
                return None
        try:
            return quick.value_and_gradient(point, MAX_OPS)
        except (Unsuited, KeyError):
            return None

    def _run_straight(self, point: dict[str, Any], wrt: tuple[str, ...]) -> Any:
        """(value, gradient) of arrays by generated code where that serves, else None."""
        key = (wrt, *((name, shape(x)) for name, x in point.items()))
        try:
            if key not in self._straight:
                self._straight[key] = None
                if len(self._straight) > SHAPES:
                    return None
                check(self.program)
                self._straight[key] = Straight(self.program, wrt, point)
            straight = self._straight[key]
            return None if straight is None else straight.value_and_gradient(point)
        except (Unsuited, AutodiffError):
            return None

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The value: a float, a truth value or an array; a tensor if an argument is one.

        >>> compile("(x+2)*x")(x=2)
        8.0
        """
        point = self._point(args, named)
        if any(x.__class__ is Tensor for x in point.values()):
            return self._recorded({name: x if x.__class__ is Tensor else plain(x) for name, x in point.items()})
        point = {name: plain(x) for name, x in point.items()}
        found = self._run(point, ())
        return found[0] if found is not None else differentiate.value(self.program, point).value

    def _recorded(self, point: dict[str, Any]) -> Tensor:
        found = evaluate(self.program, point).value
        return found if found.__class__ is Tensor else wrap(found)

    def value_and_grad(self, *args: Any, wrt: Sequence[str] | None = None, **named: Any) -> tuple[Any, dict[str, Any]]:
        """(value, gradient by name) of a scalar result, by all inputs or those of `wrt`.

        >>> compile("x*y").value_and_grad(x=2, y=3)
        (6.0, {'x': 3.0, 'y': 2.0})
        """
        point = {name: plain(x) for name, x in self._point(args, named).items()}
        names = tuple(point if len(point) == 1 else inputs_of(self.program, point)) if wrt is None else tuple(wrt)
        found = None
        if wrt is None or all(name in point for name in names):
            arrays = any(map(is_array, point.values()))
            found = self._run_straight(point, names) if arrays else self._run(point, names)
        if found is not None:
            return found[0], dict(zip(names, found[1], strict=True))
        outcome = differentiate.gradient(self.program, point, names)
        return outcome.value, {name: _own(g) for name, g in (outcome.gradient or {}).items()}

    def grad(self, *args: Any, wrt: Sequence[str] | None = None, **named: Any) -> dict[str, Any]:
        """The gradient by name.

        >>> compile("(x+2)*x").grad(x=2)
        {'x': 6.0}
        """
        return self.value_and_grad(*args, wrt=wrt, **named)[1]

    def jac(self, *args: Any, wrt: Sequence[str] | None = None, **named: Any) -> dict[str, Any]:
        """The Jacobian by name, each of shape value + input.

        >>> compile("[x, x^2]").jac(x=3)
        {'x': array([1., 6.])}
        """
        point, names = self._request(args, named, wrt)
        return differentiate.jacobian(self.program, point, names).jacobian or {}

    def hess(self, *args: Any, wrt: Sequence[str] | None = None, **named: Any) -> dict[str, dict[str, Any]]:
        """The Hessian by pairs of names, each of shape input + input.

        >>> compile("x^2*y").hess(x=1, y=2)
        {'x': {'x': 4.0, 'y': 2.0}, 'y': {'x': 2.0, 'y': 0.0}}
        """
        point, names = self._request(args, named, wrt)
        return differentiate.hessian(self.program, point, names).hessian or {}

    def _request(
        self, args: tuple[Any, ...], named: dict[str, Any], wrt: Sequence[str] | None
    ) -> tuple[dict[str, Any], list[str]]:
        point = {name: plain(x) for name, x in self._point(args, named).items()}
        return point, list(inputs_of(self.program, point) if wrt is None else wrt)

    def __reduce__(self) -> Any:
        return compile, (self.text,)

    def __repr__(self) -> str:
        return f"compile({self.text!r})"


def _own(g: Any) -> Any:
    """A derivative that may be written to."""
    return g.copy() if is_array(g) and not g.flags.writeable else g


_one_at_a_time = Lock()
_compiled = lru_cache(maxsize=256)(Expression)


def compile(text: str) -> Expression:
    """The expression of a text, the same object for the same text. SyntaxProblem says what is wrong with it, and where.

    >>> f = compile("x^2 + 1")
    >>> f(3), f.grad(3)
    (10.0, {'x': 6.0})
    """
    with _one_at_a_time:  # or two threads would get two objects of a text
        return _compiled(text)


__all__ = ["Expression", "compile"]
