"""NumPy's protocol: its functions on tensors are the rows; what has no rule is an error, never a silent detach."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import ComputationError
from autodiff.tensors import compose, counting, einsum, elementwise, indexing, joining, linalg, samples, shapes, sorting
from autodiff.tensors.misfits import RangeError
from autodiff.tensors.namespace import named as _named
from autodiff.tensors.tensor import Tensor, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]


class ProtocolError(ComputationError, TypeError):
    """A NumPy function that can't be recorded."""

    kind = "numpy"


# Where NumPy's arguments are not those of the function of the same name here.


def _repeat(x: Any, repeats: Any, axis: Any = None) -> Tensor:
    return joining.repeat_interleave(x, repeats, axis)


def _transpose(x: Any, axes: Any = None) -> Tensor:
    return shapes.transpose(x) if axes is None else shapes.permute(x, *axes)


def _flip(x: Any, axis: Any = None) -> Tensor:
    axes = range(len(compose.shape_of(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return indexing.flip(x, tuple(axes))


def _sort(x: Any, axis: Any = -1, **_: Any) -> Tensor:
    made: Tensor = sorting.sort(x if axis is not None else shapes.flatten(x), -1 if axis is None else axis).values
    return made


def _cumulative(name: str) -> Function:
    def call(x: Any, axis: Any = None) -> Tensor:
        if axis is None:
            x, axis = shapes.flatten(x), 0
        return compose.run(name, x, axis=compose.axis_of(axis, len(compose.shape_of(x))))

    return call


def _median(x: Any, axis: Any = None) -> Tensor:
    return sorting.quantile(x, 0.5, axis)


def _percentile(x: Any, q: Any, axis: Any = None) -> Tensor:
    return sorting.quantile(x, q / 100.0, axis)


def _extreme(name: str) -> Function:
    whole = _named(name)
    assert whole is not None
    reduce = whole

    def call(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(x, axis, keepdims)

    return call


def _squeeze(x: Any, axis: Any = None) -> Tensor:
    return shapes.squeeze(x, axis)


def _append(x: Any, values: Any, axis: Any = None) -> Tensor:
    if axis is None:
        return joining.concat([shapes.flatten(x), shapes.flatten(values)])
    return joining.concat([x, values], axis)


def _average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return _mean(x, axis=axis)
    return _sum(compose.run("mul", x, weights), axis=axis) / _sum(wrap(raw_of(weights)), axis=axis)


def _kept_places(x: Any, k: Any, axis: Any) -> Any:
    np = numeric.numpy()
    shape = compose.shape_of(x)
    return np.delete(np.arange(math.prod(shape) if axis is None else shape[axis]), k)


def _trace(x: Any) -> Tensor:
    return compose.run("trace", x)


def _split(x: Any, parts: Any, axis: int = 0) -> list[Tensor]:
    n = compose.shape_of(x)[axis]
    if isinstance(parts, int):
        if n % parts:
            raise RangeError(f"{n} entries can't be split into {parts} equal parts")
        return list(joining.split(x, n // parts, axis))
    ends = [0, *parts, n]
    return list(joining.split(x, [ends[k + 1] - ends[k] for k in range(len(ends) - 1)], axis))


def _mean(x: Any, **options: Any) -> Any:
    return _of("mean")(x, **options)


def _sum(x: Any, **options: Any) -> Any:
    return _of("sum")(x, **options)


def _of(name: str) -> Function:
    found = _named(name)
    assert found is not None
    return found


def _value(name: str) -> Function:
    """A NumPy function of which no derivative is wanted: truth values, places, shapes."""

    def call(*xs: Any, **options: Any) -> Any:
        function: Any = numeric.numpy()
        for part in name.split("."):
            function = getattr(function, part)
        plain_ones = [raw_of(x) if x.__class__ is Tensor else x for x in xs]
        return function(*plain_ones, **{k: raw_of(v) if v.__class__ is Tensor else v for k, v in options.items()})

    return call


def _array_split(x: Any, parts: Any, axis: int = 0) -> list[Tensor]:
    n = compose.shape_of(x)[axis]
    if not isinstance(parts, int):
        return _split(x, parts, axis)
    more = n % parts
    return list(joining.split(x, [n // parts + (k < more) for k in range(parts)], axis))


OWN: dict[str, Function] = {
    "tensordot": lambda a, b, axes=2: einsum.tensordot(a, b, axes), "copy": lambda x, **_: x.clone(),
    "array_split": _array_split, "delete": lambda x, k, axis=None: indexing.index_select(
        x if axis is not None else shapes.flatten(x), axis or 0, _kept_places(x, k, axis)
    ),
    "repeat": _repeat, "transpose": _transpose, "flip": _flip, "sort": _sort, "cumsum": _cumulative("cumsum"),
    "cumprod": _cumulative("cumprod"), "median": _median, "quantile": sorting.quantile, "percentile": _percentile,
    "max": _extreme("amax"), "min": _extreme("amin"), "amax": _extreme("amax"), "amin": _extreme("amin"),
    "squeeze": _squeeze, "append": _append, "average": _average, "trace": _trace, "split": _split,
    "expand_dims": shapes.unsqueeze, "fliplr": lambda x: indexing.flip(x, (1,)),
    "flipud": lambda x: indexing.flip(x, (0,)), "linalg.norm": linalg.matrix_norm, "linalg.det": _of("det"),
    "linalg.inv": _of("inv"), "linalg.solve": _of("solve"), "linalg.slogdet": linalg.slogdet,
    "linalg.cholesky": _of("cholesky"), "linalg.eigvalsh": _of("eigvalsh"),
    "linalg.matrix_power": linalg.matrix_power, "linalg.multi_dot": linalg.multi_dot, "round": elementwise.round_,
    "around": elementwise.round_, "take": lambda x, i, axis=None: indexing.index_select(
        x if axis is not None else shapes.flatten(x), axis or 0, i
    ), "column_stack": joining.column_stack,
    "trapezoid": lambda y, x=None, dx=1.0, axis=-1: samples.trapezoid(y, x, dx=dx, dim=axis),
    "diff": lambda x, n=1, axis=-1, **ends: samples.diff(x, n, axis, **ends),
    "nanmean": lambda x, axis=None, keepdims=False: counting.nanmean(x, axis, keepdims),
    "cov": lambda x, ddof=1: samples.cov(x, correction=ddof),
    "take_along_axis": lambda x, i, axis: indexing.gather(x, axis, i), "ediff1d": lambda x: samples.diff(x),
    "rollaxis": lambda x, axis, start=0: shapes.movedim(x, axis, start),
    "vdot": lambda a, b: compose.run("dot", shapes.flatten(a), shapes.flatten(b)),
    "dot": lambda a, b: compose.run("dot", a, b),
    "outer": lambda a, b: compose.run("outer", shapes.flatten(a), shapes.flatten(b)),
    "ptp": lambda x, axis=None: _extreme("amax")(x, axis) - _extreme("amin")(x, axis),
    **{name: _value(name) for name in (
        "allclose", "array_equal", "shape", "ndim", "size", "argmax", "argmin", "argsort", "iscomplexobj",
        "isrealobj", "nonzero", "count_nonzero", "array_str", "array_repr", "array2string", "isclose",
        "searchsorted", "result_type", "may_share_memory", "shares_memory", "argwhere", "flatnonzero",
    )},
}  # fmt: skip
RENAMED = {"vecdot": "inner", "linalg.outer": "outer", "linalg.cross": "cross", "linalg.trace": "trace",
           "linalg.matmul": "matmul", "linalg.tensordot": "tensordot", "nansum": "nansum", "clip": "clamp",
           "linalg.vector_norm": "norm", "linalg.diagonal": "diagonal"}  # fmt: skip
FOREIGN = frozenset(
    (
        "split",
        "repeat",
        "to",
        "type",
        "double",
        "float",
        "bool",
        "long",
        "int",
        "select",
        "size",
        "unique",
        "gradient",
        "histogram",
        "pad",
        "fill_diagonal",
    )
)
UFUNCS = frozenset(("isnan", "isinf", "isfinite", "signbit", "logical_xor"))


def _refusal(name: str) -> ProtocolError:
    return ProtocolError(
        f"np.{name} has no derivative rule here", help="use an operation of autodiff, or leave the graph by .detach()"
    )


def ufunc(called: Any, how: str, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A NumPy ufunc on tensors; ProtocolError where the rows have nothing for it."""
    name = called.__name__
    if how == "reduce" and name in ("add", "multiply", "maximum", "minimum", "logical_or", "logical_and"):
        reduce = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_or": "any"}
        axis = options.pop("axis", 0)
        rest = {k: v for k, v in options.items() if v is not None and k != "initial" and k != "where"}
        return _of(reduce.get(name, "all"))(xs[0], axis=axis, keepdims=rest.pop("keepdims", False))
    if how == "outer" and len(xs) == 2:
        a, b = (shapes.reshape(x, -1) if len(compose.shape_of(x)) < 2 else x for x in xs)
        return ufunc(
            called, "__call__", (shapes.reshape(a, *compose.shape_of(a), *(1,) * len(compose.shape_of(b))), b), {}
        )
    out = options.pop("out", None)
    if out is not None or options.pop("where", True) is not True:
        raise ProtocolError(
            f"np.{name} can't write into an array and be recorded", help=f"use the value that np.{name} returns"
        )
    if how != "__call__" or options:
        raise ProtocolError(f"np.{name} with {how if how != '__call__' else next(iter(options))} can't be recorded")
    if name == "divmod":
        return _of("floor_divide")(*xs), _of("remainder")(*xs)
    found = _named("eq" if name == "equal" else name)  # equal is a whole answer in PyTorch, entries in NumPy
    if found is None or name in FOREIGN:
        raise _refusal(name)
    return found(*xs)


def array_function(called: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A NumPy function on tensors; ProtocolError where nothing here stands for it."""
    inside = "linalg." if "linalg" in called.__module__ else ""
    name = inside + called.__name__
    given = {k: v for k, v in options.items() if not (v is None or v is numeric.numpy()._NoValue)}
    found = OWN.get(name) or (
        None if name in FOREIGN else _named(RENAMED.get(name, name if not inside else "no function"))
    )
    if found is None:
        raise _refusal(name)
    if name in ("std", "var"):
        given.setdefault("ddof", 0)  # NumPy's own, where PyTorch's is 1
    try:
        return found(*xs, **given)
    except ComputationError:
        raise
    except TypeError as error:
        raise ProtocolError(f"np.{name}: {error}") from None


__all__ = ["ProtocolError", "array_function", "ufunc"]
