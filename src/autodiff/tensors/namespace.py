"""Operations by name: functions and methods from the rows, PyTorch's names for them, and the few forms made of rows."""

from __future__ import annotations

import math
from functools import wraps

from autodiff import numeric
from autodiff.errors import ComputationError, ShapeError
from autodiff.ops import NAMES, OPS
from autodiff.ops.record import Op
from autodiff.tensors import (
    counting,
    create,
    diagonals,
    einsum,
    elementwise,
    indexing,
    joining,
    linalg,
    samples,
    shapes,
    sorting,
)
from autodiff.tensors.compose import axis_of, run, shape_of
from autodiff.tensors.dtypes import dtype_of
from autodiff.tensors.examples import described
from autodiff.tensors.graph import GraphError
from autodiff.tensors.misfits import CountError, RangeError
from autodiff.tensors.naming import entitled, titled
from autodiff.tensors.operators import unary
from autodiff.tensors.tensor import NONE, Tensor, raw_of, wrap
from autodiff.tensors.views import data_ptr, root_of, viewing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]


class CallError(ComputationError, TypeError):
    """A call with arguments that the function does not take."""

    kind = "call"


def function(op: Op) -> Function:
    """The row as a function of tensors, numbers and arrays; `dim` is another name for `axis`."""
    places = [operand.partition("=")[0] for operand in op.operands]
    alone = op.most == 1

    def call(*xs: Any, **options: Any) -> Any:
        if alone and not options and len(xs) == 1:
            return Tensor.apply_op(op, xs, NONE)
        operands = list(xs)
        for torchs, ours in (("input", 0), ("other", 1)):
            if torchs in options and len(operands) == ours:
                operands.append(options.pop(torchs))
        for place in places[len(operands) :]:
            if place in options:
                operands.append(options.pop(place))
        if "out" in options:
            return written(options.pop("out"), call(*xs, **options), op.name)
        if "alpha" in options and op.name in ("add", "sub"):
            operands[1] = operands[1] * options.pop("alpha")
        if "dim" in options and "axis" in op.keywords:
            options["axis"] = options.pop("dim")
        if op.keywords and op.most is not None and len(operands) > len(places):
            for keyword, value in zip(op.keywords, operands[len(places) :], strict=False):
                options[keyword] = value
            del operands[len(places) :]
        params = {}
        for name, value in options.items():
            if name not in op.keywords:
                raise CallError(f"{op.name} takes no argument '{name}'")
            if value is not None:
                params[name] = tuple(map(int, value)) if isinstance(value, (tuple, list)) else int(value)
        for operand in op.operands[len(operands) :]:
            if "=" in operand:
                operands.append(float(operand.partition("=")[2]))
        if op.most is not None and len(operands) != op.most:
            raise CallError(f"{op.name} takes {op.most} argument{'s' * (op.most != 1)}, not {len(operands)}")
        if not operands:
            raise CallError(f"{op.name} takes at least one argument")
        return Tensor.apply_op(op, operands, params)

    if op.elementwise and op.differentiable and len(op.operands) == op.most == 1:
        short = unary(op)

        def call_one(*xs: Any, **options: Any) -> Any:
            return short(xs[0]) if len(xs) == 1 and not options else call(*xs, **options)

        call_one.__name__ = op.name
        return _named(call_one, op)
    return _named(call, op)


def _named(call: Function, op: Op) -> Function:
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = f"{op.name}({', '.join([*op.operands, *(f'{k}=None' for k in op.keywords)])}): {op.doc}."
    return call


def written(out: Any, made: Any, name: str) -> Any:
    """What was made in the place of `out`, if that is given; no derivative flows through it."""
    if out is None:
        return made
    if made.__class__ is not Tensor:
        return made.__class__(*(written(o, m, name) for o, m in zip(out, made, strict=True)))
    if made._fn is not None or out._fn is not None:
        raise GraphError(
            f"{name} with out= is not recorded, but an argument requires a gradient", help="leave out= out"
        )
    if out.shape != made.shape:
        out.data = made
        return out
    return out._rebind(made, name)


def with_out(function: Function) -> Function:
    """The function with an argument `out`."""

    @wraps(function)
    def call(*xs: Any, out: Any = None, **options: Any) -> Any:
        made = function(*xs, **options)
        return made if out is None else written(out, made, function.__name__)

    return call


def reduction(name: str) -> Function:
    """A reduction over all entries or over axes: `dim` or `axis`, `keepdim` or `keepdims`."""
    op = OPS[name]
    spread = "ddof" in op.keywords
    every = op.name in ("cumsum", "cumprod", "softmax", "log_softmax")  # keeps its shape

    def call(x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Tensor:
        params: dict[str, Any] = {}
        if spread:
            if dim.__class__ is bool:  # std(x, unbiased)
                options["unbiased"], dim = dim, None
            unbiased = options.pop("unbiased", None)
            ddof = options.pop("correction", options.pop("ddof", None))
            if unbiased is not None:
                ddof = int(unbiased)
            params["ddof"] = 1 if ddof is None else int(ddof)  # as in PyTorch; the language and NumPy divide by n
        if "axis" in options:
            dim = options.pop("axis")
        keep = options.pop("keepdims", keepdim) or False
        options.pop("dtype", None)
        if "out" in options:
            out = options.pop("out")
            return written(out, call(x, dim, keepdim, **options), name)  # type: ignore[no-any-return]
        if options:
            raise CallError(f"{name} takes no argument '{next(iter(options))}'")
        rank = len(shape_of(x))
        if isinstance(dim, (tuple, list)):
            dim = tuple(axis_of(int(k), rank) for k in dim)
            if len(dim) == rank or not dim:
                dim = tuple(range(rank))
        elif dim is not None:
            dim = axis_of(int(raw_of(dim)), rank)
        if dim is not None and rank:
            params["axis"] = dim
        if name == "logsumexp" and isinstance(dim, tuple):  # the row takes one axis
            made: Any = x
            for axis in sorted(dim, reverse=True):
                made = Tensor.apply_op(op, (made,), {"axis": axis})
        else:
            made = Tensor.apply_op(op, (x,), params)
        if not keep or every:
            return made  # type: ignore[no-any-return]
        kept: Tensor = entitled(shapes.kept(made, x, dim), made._fn)
        return kept

    return _named(call, op)


def extreme(name: str) -> Function:
    """max or min: of all entries, of several operands, along `axis`, or with `dim` as (values, indices)."""
    op = OPS[name]
    whole = reduction("a" + name)

    def call(x: Any, *others: Any, **options: Any) -> Any:
        if "other" in options:
            others = (options.pop("other"), *others)
        if "axis" in options or not (others or "dim" in options):
            return whole(x, *others, **options)
        if "dim" not in options and not _is_axis(x, others[0]):
            return Tensor.apply_op(op, (x, *others), NONE)
        dims = [options.pop("dim")] if "dim" in options else []
        dim, keepdim, *_ = (*dims, *others, options.pop("keepdim", False))
        if options:
            raise CallError(f"{name} takes no argument '{next(iter(options))}'")
        return sorting.extremes(name, x, int(dim), bool(keepdim))

    return _named(call, op)


def _is_axis(x: Any, other: Any) -> bool:
    """Whether the second of two operands can only be an axis: a whole number beside an array."""
    return other.__class__ is int and bool(shape_of(x))


def joined(name: str) -> Function:
    """concat or stack of a list or of several operands."""

    def call(*xs: Any, dim: int = 0, axis: int | None = None, tensors: Any = None) -> Tensor:
        parts = list(xs) if tensors is None else [tensors, *xs]
        if len(parts) == 2 and isinstance(parts[1], int) and isinstance(parts[0], (list, tuple)):
            dim = parts.pop()
        if len(parts) == 1 and (isinstance(parts[0], (list, tuple)) or shape_of(parts[0])):
            parts = list(parts[0])
        if not parts:
            raise CountError(f"{name}: expected a non-empty list of Tensors")
        rank = len(shape_of(parts[0])) + (name == "stack")
        dim = axis_of(dim if axis is None else axis, rank)
        if len(parts) == 1:  # the row would take the entries of a single operand
            return shapes.unsqueeze(parts[0], dim) if name == "stack" else parts[0]
        return run(name, *parts, axis=dim)

    call.__name__ = name
    call.__doc__ = f"{name}(parts, dim=0): {OPS[name].doc}."
    return call


def where(c: Any, a: Any = None, b: Any = None) -> Any:
    """a where c is true, else b; of c alone the indices where it is.

    >>> where(tensor([1.0, 2.0, 3.0]) > 1, tensor([1.0, 2.0, 3.0]), 0.0)
    tensor([0., 2., 3.])
    """
    if a is None or b is None:
        return tuple(wrap(part) for part in numeric.numpy().nonzero(numeric.numpy().asarray(raw_of(c))))
    return Tensor.apply_op(OPS["where"], (c, a, b), NONE)


def swapped(name: str) -> Function:
    """A row of two operands, the second first."""

    def call(a: Any, b: Any) -> Tensor:
        return Tensor.apply_op(OPS[name], (b, a), NONE)

    return call


def _test(name: str, doc: str) -> Function:
    def call(x: Any) -> Tensor:
        return wrap(numeric.raw(getattr(numeric.numpy(), name)(numeric.real(raw_of(x)))))

    call.__doc__ = doc
    return call


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all entries agree within atol + rtol*|b|.

    >>> allclose(tensor(1.0), 1.0 + 1e-9)
    True
    """
    return bool(numeric.numpy().allclose(raw_of(a), raw_of(b), rtol=rtol, atol=atol, equal_nan=equal_nan))


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where entries agree within atol + rtol*|b|.

    >>> isclose(tensor(1.0), 1.1)
    tensor(False)
    """
    close = numeric.numpy().isclose(raw_of(a), raw_of(b), rtol=rtol, atol=atol, equal_nan=equal_nan)
    return wrap(numeric.raw(close))


def equal(a: Any, b: Any) -> bool:
    """Whether shapes and all entries are the same.

    >>> equal(tensor([1.0]), [1.0])
    True
    """
    return bool(numeric.numpy().array_equal(raw_of(a), raw_of(b)))


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor.

    >>> is_tensor(tensor(1.0))
    True
    """
    return x.__class__ is Tensor


def divide(a: Any, b: Any, *, rounding_mode: Any = None) -> Tensor:
    """a / b; rounding_mode "floor" or "trunc" makes whole numbers of it.

    >>> divide(tensor(7.0), 2, rounding_mode="floor")
    tensor(3.)
    """
    y = Tensor.apply_op(OPS["floordiv" if rounding_mode == "floor" else "div"], (a, b), NONE)
    return Tensor.apply_op(OPS["trunc"], (y,), NONE) if rounding_mode == "trunc" else y


def xor(a: Any, b: Any) -> Tensor:
    """Where exactly one of two is true.

    >>> xor(tensor(True), tensor(False))
    tensor(True)
    """
    return Tensor.apply_op(OPS["ne"], (create.truths(a), create.truths(b)), NONE)


def size(x: Any, dim: Any = None) -> Any:
    """How many entries there are, or along one axis.

    >>> size(tensor([1.0, 2.0, 3.0]))
    3
    """
    shape = shape_of(x)
    return math.prod(shape) if dim is None else shape[dim]


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta*x)) / beta (the threshold is read and not needed).

    >>> softplus(tensor(0.0))
    tensor(0.6931)
    """
    y = Tensor.apply_op(OPS["softplus"], (x if beta == 1 else x * float(beta),), NONE)
    return y if beta == 1 else y / float(beta)


def _pair_of(name: str) -> Function:
    def call(x: Any, dim: Any = None, **options: Any) -> Any:
        mean = {k: v for k, v in options.items() if k == "keepdim"}
        return (reduction(name)(x, dim, **options), reduction("mean")(x, dim, **mean))

    call.__doc__ = f"({name}, mean) of all entries or along an axis."
    return call


def _row(name: str, doc: str, *before: Any) -> Function:
    def call(x: Any) -> Tensor:
        return Tensor.apply_op(OPS[name], (*before, x), NONE)

    call.__doc__ = doc
    return call


REDUCTIONS = (
    "sum", "mean", "var", "std", "prod", "cumsum", "cumprod", "any", "all", "amax", "amin", "logsumexp", "softmax",
    "log_softmax",
)  # fmt: skip
ROOMS: dict[Any, tuple[str, ...]] = {
    shapes: (
        "atleast_1d", "atleast_2d", "broadcast_shapes", "broadcast_tensors", "expand", "flatten", "movedim", "permute",
        "reshape", "squeeze", "transpose", "unflatten", "unsqueeze",
    ),
    indexing: (
        "as_strided", "flip", "gather", "index_add", "index_copy", "index_fill", "index_put", "index_select",
        "masked_fill", "masked_scatter", "masked_select", "narrow", "roll", "rot90", "scatter", "scatter_add",
        "scatter_reduce", "select", "take", "unbind", "unfold",
    ),
    joining: (
        "block_diag", "cartesian_prod", "chunk", "column_stack", "combinations", "dstack", "hsplit", "hstack",
        "meshgrid", "pad", "repeat", "repeat_interleave", "split", "tensor_split", "vstack",
    ),
    diagonals: ("diag", "diag_embed", "diagflat", "diagonal", "fill_diagonal", "tril", "triu"),
    sorting: ("aminmax", "argmax", "argmin", "argsort", "kthvalue", "median", "quantile", "sort", "topk"),
    counting: (
        "argwhere", "bincount", "bucketize", "count_nonzero", "cummax", "cummin", "histc", "histogram", "isin",
        "logcumsumexp", "mode", "nanmean", "nonzero", "searchsorted", "unique", "unique_consecutive",
    ),
    einsum: ("einsum", "tensordot"),
    linalg: ("addmm", "addr", "cdist", "cholesky_solve", "cross", "dist", "matrix_power", "norm", "slogdet"),
    samples: ("corrcoef", "cov", "cumulative_trapezoid", "diff", "gradient", "trapezoid"),
    elementwise: ("addcdiv", "addcmul", "clamp", "heaviside", "nan_to_num", "vander"),
    create: (
        "arange", "as_tensor", "contiguous", "eye", "full", "full_like", "is_contiguous", "linspace", "logspace",
        "new_full", "new_ones", "new_tensor", "new_zeros", "stride", "to",
    ),
}  # fmt: skip
"""Functions under the names that they have where they are written."""
# PyTorch's names for what the rows call otherwise, and the few that are no row.
OTHERS: dict[str, Function] = {
    **{name: reduction(name) for name in REDUCTIONS},
    **{name: getattr(room, name) for room, names in ROOMS.items() for name in names},
    "max": extreme("max"), "min": extreme("min"), "var_mean": _pair_of("var"), "std_mean": _pair_of("std"),
    "nansum": lambda x, *dim, **options: reduction("sum")(elementwise.nan_to_num(x), *dim, **options),
    # shapes and parts
    "view": shapes.reshape, "ravel": shapes.flatten, "broadcast_to": shapes.expand, "t": shapes.transpose,
    "swapaxes": shapes.transpose, "swapdims": shapes.transpose, "moveaxis": shapes.movedim,
    "view_as": lambda x, y: shapes.reshape(x, *shape_of(y)), "reshape_as": lambda x, y: shapes.reshape(x, *shape_of(y)),
    "expand_as": lambda x, y: shapes.expand(x, *shape_of(y)),
    "concat": joined("concat"), "cat": joined("concat"), "concatenate": joined("concat"), "stack": joined("stack"),
    "tile": joining.repeat, "split_with_sizes": joining.split, "vsplit": joining.tensor_split,
    # places
    "take_along_dim": lambda x, i, dim: indexing.gather(x, dim, i), "where": where,
    "fliplr": lambda x: indexing.flip(x, 1), "flipud": lambda x: indexing.flip(x, 0),
    "triu_indices": diagonals.triangle("triu"), "tril_indices": diagonals.triangle("tril"),
    # products
    "chain_matmul": lambda *parts: linalg.multi_dot(parts), "addmv": linalg.addmm, "baddbmm": linalg.addmm,
    "inner": lambda a, b: einsum.tensordot(a, b, ([len(shape_of(a)) - 1], [len(shape_of(b)) - 1])),
    "trapz": samples.trapezoid,
    # entry by entry
    "clip": elementwise.clamp, "clamp_min": lambda x, min: elementwise.clamp(x, min),
    "clamp_max": lambda x, max: elementwise.clamp(x, None, max), "round": elementwise.round_,
    "rsqrt": lambda x: 1.0 / Tensor.apply_op(OPS["sqrt"], (x,), NONE),
    "ldexp": lambda x, n: x * 2.0 ** create.floating(n),
    "divide": divide, "div": divide, "true_divide": divide, "rsub": swapped("sub"), "logical_xor": xor,
    "bitwise_xor": xor, "softplus": softplus, "special_expit": _row("sigmoid", "sigmoid."),
    "positive": _row("pos", "x itself."),
    "isnan": _test("isnan", "Where entries are nan."), "isfinite": _test("isfinite", "Where entries are finite."),
    "isinf": _test("isinf", "Where entries are infinite."), "signbit": _test("signbit", "Where the sign is minus."),
    "allclose": allclose, "isclose": isclose, "equal": equal,
    # new tensors
    "zeros": create.filled(0.0), "ones": create.filled(1.0), "empty": create.filled(0.0),
    "zeros_like": create.like(0.0), "ones_like": create.like(1.0), "empty_like": create.like(0.0),
    "new_empty": create.new_zeros, "asarray": create.as_tensor, "from_numpy": create.as_tensor,
    "scalar_tensor": create.as_tensor, "FloatTensor": create.sized, "DoubleTensor": create.sized,
    "LongTensor": create.whole_numbers,
    # kinds of numbers
    "double": create.floating, "float": create.floating, "half": create.floating, "bool": create.truths,
    "long": create.whole_numbers, "int": create.whole_numbers, "type": create.kind, "cpu": create.same,
    "type_as": lambda x, other: create.to(x, dtype_of(raw_of(other))),
    # what a tensor is
    "clone": lambda x, **_: x.clone(), "detach": lambda x: x.detach(), "numel": lambda x: size(x), "size": size,
    "is_tensor": is_tensor, "is_floating_point": lambda x: dtype_of(raw_of(x)).kind == "f",
    "is_complex": lambda x: False, "is_conj": lambda x: False, "is_nonzero": lambda x: bool(x),
    "is_same_size": lambda x, y: shape_of(x) == shape_of(y), "element_size": lambda x: 8, "get_device": lambda x: -1,
    "data_ptr": data_ptr, "storage_offset": lambda x: root_of(x)[1],
}  # fmt: skip
VIEWS = (
    "expand", "expand_as", "broadcast_to", "transpose", "swapaxes", "swapdims", "t", "permute", "movedim", "moveaxis",
    "squeeze", "unsqueeze", "split", "chunk", "narrow", "select", "unbind", "diagonal", "unfold", "as_strided",
    "split_with_sizes",
)  # fmt: skip
IN_ORDER = ("unflatten", "view", "view_as", "reshape", "reshape_as", "flatten", "ravel")  # views if in order
for _name in (*VIEWS, *IN_ORDER):
    OTHERS[_name] = viewing(OTHERS[_name], _name in IN_ORDER)
for _name in ("cat", "concat", "stack", "hstack", "vstack", "clamp", "einsum", "sort", "topk", "where", "norm", "dot"):
    if _name in OTHERS:
        OTHERS[_name] = with_out(OTHERS[_name])
PROPERTIES: dict[str, Function] = {
    "dtype": lambda x: dtype_of(x._value), "device": lambda x: _cpu(), "is_cuda": lambda x: False,
    "is_sparse": lambda x: False,
    "mT": lambda x: OTHERS["transpose"](x, -2, -1), "mH": lambda x: OTHERS["transpose"](x, -2, -1),
    "H": lambda x: x.T, "itemsize": lambda x: 8,
    "nbytes": lambda x: 8 * x.numel(), "real": create.same,
}  # fmt: skip
"""What a tensor has without a call."""


def _cpu() -> Any:
    from autodiff.tensors.dtypes import device

    return device()


RENAMED = {
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "subtract": "sub", "multiply": "mul",
    "negative": "neg", "power": "pow", "maximum": "max", "minimum": "min", "absolute": "abs",
    "floor_divide": "floordiv", "remainder": "mod", "mod": "mod", "greater": "gt", "less": "lt", "greater_equal": "ge",
    "less_equal": "le", "not_equal": "ne", "logical_not": "not", "logical_and": "and", "logical_or": "or",
    "fmax": "max", "fmin": "min", "inverse": "inv", "rint": "round", "sgn": "sign", "fix": "trunc",
    "bitwise_and": "and",
    "bitwise_or": "or", "bitwise_not": "not", "vdot": "dot", "ger": "outer", "float_power": "pow", "special_erf": "erf",
    "arccosh": "acosh", "arcsinh": "asinh", "arctanh": "atanh", "logsigmoid": "log_sigmoid", "greater_than": "gt",
}  # fmt: skip
SYMBOLS = (
    "add", "sub", "mul", "div", "neg", "pos", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne",
)  # fmt: skip
NOT_METHODS = frozenset((
    "zeros", "ones", "full", "arange", "linspace", "eye", "stack", "concat", "cat", "as_tensor", "from_numpy",
    "is_tensor", "zeros_like", "ones_like", "empty", "full_like", "empty_like", "logspace", "scalar_tensor", "hstack",
    "vstack", "meshgrid", "einsum", "FloatTensor", "DoubleTensor", "concatenate", "chain_matmul", "asarray",
    "triu_indices", "tril_indices", "LongTensor", "block_diag", "cartesian_prod", "dstack",
    "broadcast_shapes", "broadcast_tensors",
))  # fmt: skip


RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "ger": (1, 1), "dot": (1, 1), "vdot": (1, 1), "outer": (1, 1)}
"""How many dimensions the operands of a name for one case of a row must have."""
_found: dict[str, Function] = {}


def ranked(call: Function, name: str, ranks: tuple[int, int]) -> Function:
    """The function of two operands that must have these numbers of dimensions."""

    @wraps(call)
    def checked(*xs: Any, **options: Any) -> Any:
        given = [*xs, *(options[key] for key in ("input", "other") if key in options)]
        found = tuple(len(shape_of(x)) for x in given[:2])
        if len(found) == 2 and found != ranks:
            raise ShapeError(
                f"{name}: {ranks[0]}D and {ranks[1]}D tensors expected, but got {found[0]}D and {found[1]}D tensors"
            )
        return call(*xs, **options)

    return checked


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
            if name in RANKS:
                found = ranked(found, name, RANKS[name])
        found = titled(found, name)
        found.__doc__ = described(found, name)
        _found[name] = found
    return found


def method(name: str) -> Function | None:
    """The function that is the method of this name."""
    if name in ("uniform_", "normal_"):
        from autodiff.tensors import random

        return random.uniform_ if name == "uniform_" else random.normal_
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
    """All names that `named` knows and that can be Python attributes.

    >>> "softmax" in public()
    True
    """
    return sorted({*(name for name in (*NAMES, *SYMBOLS) if name.isidentifier()), *OTHERS, *RENAMED})


__all__ = ["PROPERTIES", "CallError", "RangeError", "in_place", "method", "named", "public"]
