"""Compiled expressions: a text that is called like a function, its derivatives, and answers with their notes."""

from __future__ import annotations

from _thread import allocate_lock as Lock  # threading's own, without the rest of threading
from functools import cached_property, lru_cache

from autodiff import differentiate
from autodiff.errors import NameProblem
from autodiff.evaluate import MAX_OPS, evaluate
from autodiff.job import Settings
from autodiff.names import inputs_of
from autodiff.numeric import is_array
from autodiff.parse import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autodiff.check import Report
    from autodiff.errors import Note
    from autodiff.job import Outcome
    from autodiff.parse.program import Program
    from autodiff.roads import Roads
    from autodiff.tensors.tensor import Tensor


class Expression:
    """A text of the language, ready to be evaluated at many points: `f(x=2)`, `f.grad(x=2)`, `f.at(x=2).check()`.

    Positional arguments go to the inputs in order of first appearance. Arguments are numbers, arrays, nested
    lists or tensors; a value of tensors that require a gradient is a recorded tensor. Errors are AutodiffError with the
    place in the text. Instances can be pickled and used from several threads.

    >>> Expression("x*y")(2, 3)
    6.0
    """

    def __init__(self, text: str, max_ops: int = MAX_OPS, convention: str | None = None) -> None:
        self.text = text
        self.settings = Settings(max_ops, convention)
        self.program = parse(text)
        self._inputs = inputs_of(self.program, {})

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

    def _data(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The point as raw values."""
        return {name: data(x) for name, x in self._point(args, named).items()}

    def _quickly(self, point: dict[str, Any], wrt: tuple[str, ...]) -> Any:
        """(value, derivatives) by generated code where that serves, else None."""
        if self.settings.convention:
            return None
        return self.roads.value_and_gradient(point, wrt, self.settings.max_ops)

    @cached_property
    def roads(self) -> Roads:
        """The code generated for this expression."""
        from autodiff.roads import Roads

        return Roads(self.program)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The value: a float, a truth value or an array; a tensor if an argument is one.

        >>> compile("(x+2)*x")(x=2)
        8.0
        """
        point = self._point(args, named)
        if any(hasattr(x, "grad_fn") for x in point.values()):
            return self._recorded(point)
        point = {name: data(x) for name, x in point.items()}
        found = None if any(map(is_array, point.values())) else self._quickly(point, ())
        return found[0] if found is not None else differentiate.value(self.program, point, self.settings).value

    def _recorded(self, point: dict[str, Any]) -> Tensor:
        from autodiff.tensors.tensor import Tensor, wrap

        operands = {name: x if x.__class__ is Tensor else data(x) for name, x in point.items()}
        found = evaluate(self.program, operands, max_ops=self.settings.max_ops).value
        return found if found.__class__ is Tensor else wrap(found)

    def value_and_grad(self, *args: Any, wrt: Sequence[str] | None = None, **named: Any) -> tuple[Any, dict[str, Any]]:
        """(value, gradient by name) of a scalar result, by all inputs or those of `wrt`.

        >>> compile("x*y").value_and_grad(x=2, y=3)
        (6.0, {'x': 3.0, 'y': 2.0})
        """
        point = self._data(args, named)
        names = tuple(point if len(point) == 1 else inputs_of(self.program, point)) if wrt is None else tuple(wrt)
        found = None
        if wrt is None or all(name in point for name in names):
            found = self._quickly(point, names)
        if found is not None:
            return found[0], dict(zip(names, found[1], strict=True))
        outcome = differentiate.gradient(self.program, point, names, self.settings)
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
        at = self.at(*args, **named)
        return differentiate.jacobian(at.program, at.point, at.names(wrt), at.settings).jacobian or {}

    def hess(self, *args: Any, wrt: Sequence[str] | None = None, **named: Any) -> dict[str, dict[str, Any]]:
        """The Hessian by pairs of names, each of shape input + input.

        >>> compile("x^2*y").hess(x=1, y=2)
        {'x': {'x': 4.0, 'y': 2.0}, 'y': {'x': 2.0, 'y': 0.0}}
        """
        at = self.at(*args, **named)
        return differentiate.hessian(at.program, at.point, at.names(wrt), at.settings).hessian or {}

    def at(self, *args: Any, **named: Any) -> At:
        """The expression at one point, for answers with their notes.

        >>> compile("sqrt(x)").at(x=-1).grad().notes[0].kind
        'domain'
        """
        return At(self.program, self._data(args, named), self.settings)

    def __reduce__(self) -> Any:
        return compile, (self.text, self.settings.max_ops, self.settings.convention)

    def __repr__(self) -> str:
        return f"compile({self.text!r})"


class At:
    """A program at one point: what the commands answer, each an Outcome with the notes that cast doubt on it.

    Values are floats or arrays of floats; derivatives by all inputs, or those of `wrt`.

    >>> out = compile("sqrt(x^2)").at(x=0).grad()
    >>> out.gradient, [note.kind for note in out.notes]
    ({'x': nan}, ['nonfinite'])
    """

    __slots__ = ("point", "program", "settings")

    def __init__(self, program: Program, point: Mapping[str, Any], settings: Settings) -> None:
        self.program = program
        self.point = point
        self.settings = settings

    def names(self, wrt: Sequence[str] | None) -> Sequence[str]:
        """Those of `wrt`, or all inputs."""
        return inputs_of(self.program, self.point) if wrt is None else wrt

    def value(self) -> Outcome:
        """The value alone, as `eval` answers."""
        return self._doubted(differentiate.value(self.program, self.point, self.settings))

    def grad(self, wrt: Sequence[str] | None = None) -> Outcome:
        """The gradient of one number."""
        return self._doubted(differentiate.gradient(self.program, self.point, self.names(wrt), self.settings))

    def jac(self, wrt: Sequence[str] | None = None) -> Outcome:
        """The Jacobian of a value of any shape: by name, of shape value + input."""
        return self._doubted(differentiate.jacobian(self.program, self.point, self.names(wrt), self.settings))

    def hess(self, wrt: Sequence[str] | None = None) -> Outcome:
        """Gradient and Hessian of one number: by two names, of shape input + input."""
        return self._doubted(differentiate.hessian(self.program, self.point, self.names(wrt), self.settings))

    def jvp(self, direction: Mapping[str, Any]) -> Outcome:
        """The Jacobian times a direction, whose entries have the shapes of the inputs.

        >>> compile("x*y").at(x=2, y=3).jvp({"x": 1.0}).jvp
        3.0
        """
        return self._doubted(differentiate.jvp(self.program, self.point, _entries(direction), self.settings))

    def vjp(self, cotangent: Any, wrt: Sequence[str] | None = None) -> Outcome:
        """A cotangent, of the value's shape, times the Jacobian.

        >>> compile("[x, x^2]").at(x=3).vjp([1, 1]).vjp
        {'x': 7.0}
        """
        names = self.names(wrt)
        return self._doubted(differentiate.vjp(self.program, self.point, names, data(cotangent), self.settings))

    def hvp(self, direction: Mapping[str, Any], wrt: Sequence[str] | None = None) -> Outcome:
        """Gradient, and the Hessian of one number times a direction, without the Hessian.

        >>> compile("x^2*y").at(x=1, y=2).hvp({"x": 1}).hvp
        {'x': 4.0, 'y': 2.0}
        """
        names, along = self.names(wrt), _entries(direction)
        return self._doubted(differentiate.hvp(self.program, self.point, names, along, self.settings))

    def diff(self, name: str, order: int = 1) -> Outcome:
        """The derivatives of order 1 ... `order` by one input that is one number.

        >>> compile("x^3").at(x=1).diff("x", 3).derivatives
        [3.0, 6.0, 6.0]
        """
        out = differentiate.derivatives(self.program, self.point, name, order, self.settings)
        return self._doubted(out, {name: out.derivatives[0]} if out.derivatives else None)

    def taylor(self, name: str, order: int = 5) -> Outcome:
        """The Taylor coefficients c0 ... c_order by one input that is one number, as `derivatives`."""
        out = differentiate.taylor(self.program, self.point, name, order, self.settings)
        return self._doubted(out, {name: out.derivatives[1]} if order and out.derivatives else None)

    def check(self, wrt: Sequence[str] | None = None, order: int = 1) -> Report:
        """The derivatives beside differences of values in extended precision, a verdict each.

        >>> compile("x*y").at(x=2, y=3).check().ok
        True
        """
        from autodiff.check import check

        report = check(self.program, self.point, self.names(wrt), self.settings, order)
        found = {name: verdict.field("ours") for name, verdict in report.first.items()}
        report.notes = report.notes + self.doubts(report.value, found, report.notes)
        return report

    def doubts(self, value: Any, first: Mapping[str, Any], notes: Sequence[Note]) -> list[Note]:
        """Notes on a value and first derivatives with few right digits; `notes` are there already."""
        from autodiff.cancellation import cancellation

        kinked = any(note.kind == "kink" for note in notes)
        return cancellation(self.program, self.point, value, first, self.settings.convention, kinked)

    def _doubted(self, out: Outcome, first: Mapping[str, Any] | None = None) -> Outcome:
        out.notes += self.doubts(out.value, first or out.gradient or out.jacobian or {}, out.notes)
        return out


def data(x: Any) -> Any:
    """What a person may give as a value, as a raw one."""
    if x.__class__ is float or (is_array(x) and x.ndim and x.dtype.char == "d"):
        return x
    from autodiff.tensors.tensor import plain

    return plain(x)


def _entries(direction: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data(x) for name, x in direction.items()}


def _own(g: Any) -> Any:
    """A derivative that may be written to."""
    return g.copy() if is_array(g) and not g.flags.writeable else g


_one_at_a_time = Lock()
_compiled = lru_cache(maxsize=256)(Expression)


def compile(text: str, max_ops: int = MAX_OPS, convention: str | None = None) -> Expression:
    """The expression of a text, the same object for the same text. SyntaxProblem says what is wrong with it, and where.

    Beyond `max_ops` operations it stops; `convention` is "torch" or "jax" where it shall answer at kinks as they do.

    >>> f = compile("x^2 + 1")
    >>> f(3), f.grad(3)
    (10.0, {'x': 6.0})
    >>> compile("abs(x)", convention="jax").grad(0)
    {'x': 1.0}
    """
    with _one_at_a_time:  # or two threads would get two objects of a text
        return _compiled(text, max_ops, convention)


__all__ = ["At", "Expression", "compile"]
