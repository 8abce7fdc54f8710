"""The operators of tensors, given to the class from the rows. Floats take a short way of their own."""

from __future__ import annotations

from sys import modules

from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.tensors.buffers import SMALL, owner_of, result_of, ufunc_of
from autodiff.tensors.graph import GradFn, number, plan_of
from autodiff.tensors.modes import special
from autodiff.tensors.tensor import NONE, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def unary(op: Op) -> Callable[[Any], Tensor]:
    """An elementwise row of one operand as a function."""
    value, array = op.scalar, op.array
    quiet = op.name in ("neg", "abs")  # of which NumPy has nothing to warn
    general = Tensor.apply_op
    keep, keep_y = plan_of(op, (True,))

    def call(x: Any) -> Tensor:
        if x.__class__ is not Tensor or special[0]:
            return general(op, (x,), NONE)
        a = x._value
        m = x._fn
        made = Tensor()
        if a.__class__ is float:
            made._value = y = value(a)
            if y is a:
                made._value = y = y * 1.0
        elif a.__class__ is bool or a.dtype.kind != "f":
            return general(op, (x,), NONE)
        else:
            if quiet and a.size < SMALL:
                made._value = y = array(a)
            else:
                with numpy_of(a).errstate(all="ignore"):
                    ufunc = ufunc_of(op) if a.size >= SMALL else None
                    made._value = y = array(a) if ufunc is None else result_of(ufunc, a)
            if y.size >= SMALL:
                made._owner = owner_of(y)
        if m is None:
            made._fn = None
            return made
        made._fn = fn = GradFn()
        fn.op = op
        fn.index = number()
        fn.inputs = (m, a if keep[0] or a.__class__ is float else a.shape)
        fn.y = y if keep_y or a.__class__ is float else y.shape
        return made

    return call


def numpy_of(_: Any) -> Any:
    """NumPy, which is there if an array is."""
    return modules["numpy"]


def _binary(name: str, value: Callable[[Any, Any], Any], dunder: str, quiet: bool) -> None:
    """The operator of a row of two operands, its reflection, and its form in place; `quiet` if arrays never warn."""
    op = OPS[name]
    general = Tensor.apply_op
    keeps: dict[tuple[bool, bool], tuple[bool, ...]] = {}
    for m in (True, False):
        for n in (True, False):
            keep, keep_y = plan_of(op, (m or None, n or None))
            keeps[m, n] = (*keep, keep_y)

    array = op.array
    *read, reads_y = keeps[True, True]
    reads = any(read)

    def of_arrays(m: Any, a: Any, n: Any, b: Any) -> Tensor:
        made = Tensor()
        if quiet:
            if getattr(a, "size", 0) >= SMALL or getattr(b, "size", 0) >= SMALL:
                made._value = y = result_of(ufunc_of(op), a, b)
            else:
                made._value = y = value(a, b)
        else:
            with numpy_of(a).errstate(all="ignore"):
                made._value = y = result_of(ufunc_of(op) or array, a, b)
        if y.size >= SMALL:
            made._owner = owner_of(y)
        if m is None and n is None:
            made._fn = None
            return made
        made._fn = fn = GradFn()
        fn.op = op
        fn.index = number()
        u, v, w = keeps[m is not None, n is not None]
        fn.inputs = (m, a if u or a.__class__ is float else a.shape, n, b if v or b.__class__ is float else b.shape)
        fn.y = y if w else y.shape
        return made

    def other_way(m: Any, a: Any, n: Any, b: Any, operands: tuple[Any, Any]) -> Any:
        try:
            # two floats come here while some thread is in a mode, which may be over by now
            some = a.__class__ is not float or b.__class__ is not float
            real = some and not special[0] and _is_real(a) and _is_real(b)
            if real and (value is not None or (_deep(a) and _deep(b))):
                return of_arrays(m, a, n, b)
            return general(op, operands, NONE)
        except TypeError:
            return NotImplemented
        except ValueError:
            return general(op, operands, NONE)  # which says why

    # The short way stands twice: a call more would cost a tenth of it.

    def method(self: Tensor, other: Any) -> Any:
        a = self._value
        m = self._fn
        if other.__class__ is Tensor:
            b = other._value
            n = other._fn
        else:
            b = float(other) if other.__class__ is int else other
            n = None
        if a.__class__ is not float or b.__class__ is not float or special[0] or value is None:
            return other_way(m, a, n, b, (self, other))
        made = Tensor()
        made._value = y = value(a, b)
        if m is None and n is None:
            made._fn = None
            return made
        made._fn = fn = GradFn()
        fn.op = op
        fn.index = number()
        fn.inputs = (m, a, n, b) if reads else (m, None, n, None)
        fn.y = y if reads_y else None
        return made

    def reflected(self: Tensor, other: Any) -> Any:
        a = float(other) if other.__class__ is int else other
        b = self._value
        n = self._fn
        if a.__class__ is not float or b.__class__ is not float or special[0] or value is None:
            return other_way(None, a, n, b, (other, self))
        made = Tensor()
        made._value = y = value(a, b)
        if n is None:
            made._fn = None
            return made
        made._fn = fn = GradFn()
        fn.op = op
        fn.index = number()
        fn.inputs = (None, a, n, b) if reads else (None, None, n, None)
        fn.y = y if reads_y else None
        return made

    def in_place(self: Tensor, other: Any) -> Tensor:
        return self._rebind(getattr(self, f"__{dunder}__")(other), f"__i{dunder}__")

    setattr(Tensor, f"__{dunder}__", method)
    setattr(Tensor, f"__r{dunder}__", reflected)
    setattr(Tensor, f"__i{dunder}__", in_place)


def _deep(x: Any) -> bool:
    return x.__class__ is not float and x.ndim > 0


def _is_real(x: Any) -> bool:
    """Whether x is a float, or an array of floats with axes."""
    return x.__class__ is float or (hasattr(x, "dtype") and x.dtype.kind == "f" and x.ndim > 0)


for _name, _dunder in {
    "add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "pow": "pow", "floordiv": "floordiv", "mod": "mod",
    "matmul": "matmul",
}.items():  # fmt: skip
    _binary(_name, OPS[_name].scalar, _dunder, _name in ("add", "sub", "mul"))


def _plain_operator(name: str, dunder: str) -> None:
    op = OPS[name]

    def method(self: Tensor, other: Any) -> Any:
        try:
            return Tensor.apply_op(op, (self, other), NONE)
        except TypeError:
            return NotImplemented

    def reflected(self: Tensor, other: Any) -> Any:
        try:
            return Tensor.apply_op(op, (other, self), NONE)
        except TypeError:
            return NotImplemented

    setattr(Tensor, f"__{dunder}__", method)
    setattr(Tensor, f"__r{dunder}__", reflected)


# as in PyTorch, +x is x itself
Tensor.__pos__ = lambda self: self  # type: ignore[method-assign]
_OTHERS = ("lt", "le", "gt", "ge", "eq", "ne", "and", "or")
for _name in _OTHERS:
    _plain_operator(_name, _name)
Tensor.__neg__ = unary(OPS["neg"])  # type: ignore[method-assign]
