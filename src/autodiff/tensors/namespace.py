"""Operations by name: functions and methods from the rows, PyTorch's names for them, NumPy's protocol."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import NameProblem, ShapeError
from autodiff.ops import NAMES, OPS
from autodiff.ops.record import Op
from autodiff.tensors.tensor import NONE, Tensor, plain, raw_of, tensor, unary, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]

REDUCES = {"max": "amax", "min": "amin"}  # of one operand these reduce


def function(op: Op) -> Function:
    """The row as a function of tensors, numbers and arrays; `dim` is another name for `axis`."""
    places = [operand.partition("=")[0] for operand in op.operands]
    alone = op.most == 1

    def call(*xs: Any, **options: Any) -> Any:
        row = op
        if alone and not options and len(xs) == 1:
            return Tensor.apply_op(row, xs, NONE)
        if "dim" in options and "axis" in op.keywords:
            options["axis"] = options.pop("dim")
        if options.pop("keepdim", False) or options.pop("keepdims", False):
            return _kept(row, xs, options)
        operands = list(xs)
        for place in places[len(xs) :]:
            if place in options:
                operands.append(options.pop(place))
        if op.name in REDUCES and (len(operands) == 1 or options):
            row = OPS[REDUCES[op.name]]
        if op.keywords and len(operands) > len(places) and op.most is not None:
            for keyword, value in zip(op.keywords, operands[len(places) :], strict=False):
                options[keyword] = value
            del operands[len(places) :]
        params = {}
        for name, value in options.items():
            if name not in row.keywords:
                raise TypeError(f"{op.name} takes no argument '{name}'")
            if value is not None:
                params[name] = tuple(map(int, value)) if isinstance(value, (tuple, list)) else int(value)
        for operand in op.operands[len(operands) :]:
            if "=" in operand:
                operands.append(float(operand.partition("=")[2]))
        if op.most is not None and len(operands) != op.most:
            raise TypeError(f"{op.name} takes {op.most} argument{'s' * (op.most != 1)}, not {len(operands)}")
        return Tensor.apply_op(row, operands, params)

    if op.elementwise and op.differentiable and len(op.operands) == op.most == 1:
        call = unary(op)
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = f"{op.name}({', '.join([*op.operands, *(f'{k}=None' for k in op.keywords)])}): {op.doc}."
    return call


def _kept(op: Op, xs: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    """A reduction whose axes stay, with length 1."""
    made = function(op)(*xs, **options)
    shape = list(numeric.shape(raw_of(xs[0])))
    axis = options.get("axis")
    for k in range(len(shape)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,):
        shape[k] = 1
    return reshape(made, *shape)


def reshape(x: Any, *sizes: Any) -> Tensor:
    """The entries in another shape; -1 stands for what is left."""
    flat = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else [*sizes]
    total = math.prod(numeric.shape(raw_of(x)))
    known = math.prod(n for n in flat if n != -1)
    return Tensor.apply_op(OPS["reshape"], (x, *(float(n if n != -1 else total // max(known, 1)) for n in flat)), NONE)


def joined(name: str) -> Function:
    """concat or stack of a list or of several operands."""

    def call(*xs: Any, dim: int = 0, axis: int | None = None) -> Tensor:
        parts = list(xs)
        if len(parts) == 2 and isinstance(parts[1], int) and isinstance(parts[0], (list, tuple)):
            dim = parts.pop()
        if len(parts) == 1 and isinstance(parts[0], (list, tuple)):
            parts = list(parts[0])
        if len(parts) == 1:  # the row would take the entries of a single operand
            return parts[0] if name == "concat" else wrap_axis(parts[0], dim if axis is None else axis)
        return Tensor.apply_op(OPS[name], parts, {"axis": dim if axis is None else axis})

    call.__name__ = name
    call.__doc__ = f"{name}(parts, dim=0): {OPS[name].doc}."
    return call


def wrap_axis(x: Any, axis: int) -> Tensor:
    """x with a new axis of length 1."""
    shape = list(numeric.shape(raw_of(x)))
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return reshape(x, *shape)


def squeeze(x: Any, dim: int | None = None) -> Tensor:
    """x without axes of length 1, or without the one given."""
    shape = numeric.shape(raw_of(x))
    gone = range(len(shape)) if dim is None else (dim % len(shape),)
    return reshape(x, *(n for k, n in enumerate(shape) if not (k in gone and n == 1)))


def transpose(x: Any, *dims: int) -> Tensor:
    """Axes in reverse order, or two of them exchanged."""
    if not dims:
        return Tensor.apply_op(OPS["transpose"], (x,), NONE)
    order = list(range(len(numeric.shape(raw_of(x)))))
    order[dims[0]], order[dims[1]] = order[dims[1]], order[dims[0]]
    return permute(x, *order)


def permute(x: Any, *dims: Any) -> Tensor:
    """The axes in the order given."""
    order = list(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else list(dims)
    made: Any = x
    here = list(range(len(order)))
    for k, axis in enumerate(axis % len(order) for axis in order):
        at = here.index(axis)
        if at != k:
            made = Tensor.apply_op(OPS["moveaxis"], (made,), {"source": at, "target": k})
            here.insert(k, here.pop(at))
    return wrap(made if made.__class__ is Tensor else plain(made))


def expand(x: Any, *sizes: Any) -> Tensor:
    """x repeated to a shape, -1 where it stays."""
    flat = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else [*sizes]
    shape = numeric.shape(raw_of(x))
    lead = len(flat) - len(shape)
    full = tuple(shape[k - lead] if n == -1 else n for k, n in enumerate(flat))
    return Tensor.apply_op(OPS["broadcast"], (x,), {"shape": full})


def clamp(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """x brought between min and max, either of which may be missing."""
    lo = -math.inf if min is None else min
    hi = math.inf if max is None else max
    return Tensor.apply_op(OPS["clip"], (x, lo, hi), NONE)


def where(c: Any, a: Any = None, b: Any = None) -> Tensor:
    """a where c is true, else b."""
    if a is None or b is None:
        raise TypeError("where takes a condition and two values")
    return Tensor.apply_op(OPS["where"], (c, a, b), NONE)


def full(size: Any, fill_value: Any, **leaf: Any) -> Tensor:
    """A tensor of one value."""
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return tensor(numeric.numpy().full(sizes, float(fill_value)), **leaf)


def _filled(value: float) -> Function:
    def call(*sizes: Any, **leaf: Any) -> Tensor:
        flat = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
        return full(flat, value, **leaf)

    call.__doc__ = f"A tensor of {value:g}s: of sizes, or of a tuple of them."
    return call


def _like(value: float) -> Function:
    def call(x: Any, **leaf: Any) -> Tensor:
        return full(numeric.shape(raw_of(x)), value, **leaf)

    call.__doc__ = f"{value:g}s of the shape of another tensor."
    return call


def arange(*ends: float, requires_grad: bool = False, dtype: Any = None) -> Tensor:
    """0, 1, … n-1, or from a to below b by a step."""
    return tensor(numeric.numpy().arange(*map(float, ends)), requires_grad=requires_grad)


def linspace(start: float, end: float, steps: int = 100, requires_grad: bool = False, dtype: Any = None) -> Tensor:
    """`steps` evenly spaced numbers, both ends included."""
    return tensor(numeric.numpy().linspace(float(start), float(end), int(steps)), requires_grad=requires_grad)


def eye(n: int, m: int | None = None, requires_grad: bool = False, dtype: Any = None) -> Tensor:
    """The identity matrix."""
    return tensor(numeric.numpy().eye(n, m), requires_grad=requires_grad)


def _test(name: str, doc: str) -> Function:
    def call(x: Any) -> Tensor:
        return wrap(numeric.raw(getattr(numeric.numpy(), name)(raw_of(x))))

    call.__doc__ = doc
    return call


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all entries agree within atol + rtol*|b|."""
    return bool(numeric.numpy().allclose(raw_of(a), raw_of(b), rtol=rtol, atol=atol, equal_nan=equal_nan))


def equal(a: Any, b: Any) -> bool:
    """Whether shapes and all entries are the same."""
    return bool(numeric.numpy().array_equal(raw_of(a), raw_of(b)))


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor."""
    return x.__class__ is Tensor


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """data itself if it is a tensor, else a tensor of it."""
    return data if data.__class__ is Tensor else tensor(data)


def argmax(x: Any) -> int:
    """Position of the largest entry, in row-major order."""
    return int(numeric.numpy().argmax(raw_of(x)))


def addcmul(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    """a + value*b*c."""
    return a + value * (b * c)


def same(x: Any, *_: Any, **__: Any) -> Any:
    """The tensor itself: there is one number type and one place."""
    return x


def square_norm(x: Any, p: Any = 2, dim: Any = None) -> Tensor:
    """The p-norm."""
    return Tensor.apply_op(OPS["norm"], (x, float(p)), {} if dim is None else {"axis": dim})


# PyTorch's names for what the rows call otherwise, and the few that are no row.
OTHERS: dict[str, Function] = {
    "reshape": reshape, "view": reshape, "concat": joined("concat"), "cat": joined("concat"), "stack": joined("stack"),
    "concatenate": joined("concat"), "transpose": transpose, "swapaxes": transpose, "permute": permute,
    "expand": expand, "squeeze": squeeze, "unsqueeze": wrap_axis, "clamp": clamp, "clip": clamp, "where": where,
    "full": full, "zeros": _filled(0.0), "ones": _filled(1.0), "zeros_like": _like(0.0), "ones_like": _like(1.0),
    "arange": arange, "linspace": linspace, "eye": eye, "allclose": allclose, "equal": equal, "is_tensor": is_tensor,
    "as_tensor": as_tensor, "from_numpy": as_tensor, "argmax": argmax, "addcmul": addcmul, "norm": square_norm,
    "isnan": _test("isnan", "Where entries are nan."), "isfinite": _test("isfinite", "Where entries are finite."),
    "isinf": _test("isinf", "Where entries are infinite."),
    "rsqrt": lambda x: 1.0 / Tensor.apply_op(OPS["sqrt"], (x,), NONE),
    "double": same, "float": same, "to": same, "cpu": same, "contiguous": same, "type": same,
}  # fmt: skip
RENAMED = {
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "subtract": "sub", "multiply": "mul", "divide": "div",
    "true_divide": "div", "negative": "neg", "power": "pow", "maximum": "max", "minimum": "min", "absolute": "abs",
    "floor_divide": "floordiv", "remainder": "mod", "mod": "mod", "greater": "gt", "less": "lt", "greater_equal": "ge",
    "less_equal": "le", "not_equal": "ne", "logical_not": "not", "logical_and": "and", "logical_or": "or",
    "lgamma": "lgamma", "amax": "amax", "amin": "amin", "ravel": "flatten",
}  # fmt: skip
SYMBOLS = (
    "add", "sub", "mul", "div", "neg", "pos", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne",
)  # fmt: skip
NOT_METHODS = frozenset((
    "zeros", "ones", "full", "arange", "linspace", "eye", "stack", "concat", "cat", "as_tensor", "from_numpy",
    "is_tensor", "zeros_like", "ones_like",
))  # fmt: skip
_found: dict[str, Function] = {}


def named(name: str) -> Function | None:
    """The function of tensors that has this name; None if there is none."""
    found = _found.get(name)
    if found is None:
        if name in OTHERS:
            found = OTHERS[name]
        else:
            op = OPS.get(RENAMED.get(name, name if name in SYMBOLS else "")) or NAMES.get(name)
            if op is None:
                return None
            found = function(op)
        _found[name] = found
    return found


def method(name: str) -> Function | None:
    """The function that is the method of this name."""
    return None if name in NOT_METHODS else named(name)


def in_place(name: str) -> Function | None:
    """What the method `name` (exp_, mul_, …) does: the operation, and its result in the tensor's place."""
    if not name.endswith("_") or name.endswith("__"):
        return None
    found = method(name[:-1])
    if found is None:
        return None

    def call(x: Tensor, *others: Any, **options: Any) -> Tensor:
        return x._rebind(found(x, *others, **options), name)

    return call


def public() -> list[str]:
    """All names that `named` knows and that can be Python attributes."""
    return sorted({*(name for name in (*NAMES, *SYMBOLS) if name.isidentifier()), *OTHERS, *RENAMED})


# NumPy.


def ufunc(called: Any, how: str, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A NumPy ufunc on tensors; an error where the rows have nothing for it, never a silent detach."""
    if how != "__call__" or options.pop("out", None) is not None or options:
        raise TypeError(f"np.{called.__name__} with {how if how != '__call__' else 'options'} can't be recorded")
    found = named(called.__name__)
    if found is None:
        raise TypeError(f"np.{called.__name__} has no derivative rule here; .detach().numpy() leaves the graph")
    return found(*xs)


def array_function(called: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A NumPy function on tensors."""
    name = {"linalg.norm": "norm"}.get(called.__name__, called.__name__)
    found = named(name)
    options = {k: v for k, v in options.items() if v is not None}
    if found is None:
        raise TypeError(f"np.{called.__name__} has no derivative rule here; .detach().numpy() leaves the graph")
    return found(*xs, **options)


__all__ = ["NameProblem", "ShapeError", "array_function", "in_place", "method", "named", "public", "ufunc"]
