"""Rows: building, taking apart and rearranging arrays."""

from __future__ import annotations

from autodiff.errors import ShapeError
from autodiff.numeric import guard_size, numpy, shape, sum_to
from autodiff.ops.record import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def dimensions(*sizes: Any) -> tuple[int, ...]:
    """Sizes given one by one or as one vector, as whole numbers."""
    flat = [v for size in sizes for v in (size.ravel().tolist() if shape(size) else [float(size)])]
    if any(v != int(v) if abs(v) < 1e18 else v != v or abs(v) == float("inf") for v in flat):
        raise ShapeError(f"a size must be a whole number, not {next(v for v in flat if v != v or v % 1.0):g}")
    return tuple(int(v) for v in flat)


def _new(*sizes: Any) -> tuple[int, ...]:
    found = dimensions(*sizes)
    if any(n < 0 for n in found):
        raise ShapeError(f"a size can't be negative: {min(found)}")
    return guard_size(found)


def _list(*xs: Any) -> Any:
    np = numpy()
    shapes = {shape(x) for x in xs}
    if len(shapes) > 1:
        listed = " and ".join(str(s) for s in dict.fromkeys(map(shape, xs)))
        raise ShapeError(f"entries of shapes {listed} do not make an array")
    if xs and len(shape(xs[0])) == 64:
        raise ShapeError("arrays have at most 64 dimensions")
    return np.array([np.asarray(x, float) for x in xs], dtype=float)


def _index(x: Any, index: tuple[Any, ...]) -> Any:
    found = shape(x)
    if len(index) > len(found):
        raise ShapeError(f"{len(index)} indices for an array of shape {found}" if found else "a number has no entries")
    for axis, (i, n) in enumerate(zip(index, found, strict=False)):
        if i.__class__ is int and not -n <= i < n:
            shown = i if abs(i) < 1e15 else f"{float(i):g}"
            raise ShapeError(f"index {shown} is out of range: axis {axis} has length {n}")
    return x[index]


def _scatter(g: Any, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    np = numpy()
    y = np.zeros(shape)
    if all(i.__class__ is int or isinstance(i, slice) for i in index):
        y[index] = g
    else:
        np.add.at(y, index, g)
    return y


def _reshape(x: Any, *sizes: Any) -> Any:
    return numpy().reshape(x, dimensions(*sizes))


def sizes_of(x: Any) -> list[float]:
    return [float(n) for n in shape(x)]


list_: Op = Op(
    "list",
    "…",
    "array literal",
    None,
    _list,
    None,
    lambda i: lambda g, y, *xs: index(g, index=(i,)),
    linear=True,
    blind=True,
    hidden=True,
)
index: Op = Op(
    "index",
    "x",
    "entries of an array",
    None,
    _index,
    None,
    [lambda g, y, x, index: scatter(g, index=index, shape=shape(x))],
    linear=True,
    hidden=True,
)
scatter: Op = Op(
    "scatter",
    "g",
    "zeros with entries added in",
    None,
    _scatter,
    None,
    [lambda h, y, g, index, shape: globals()["index"](h, index=index)],
    linear=True,
    hidden=True,
)


def _put(x: Any, v: Any, index: tuple[Any, ...]) -> Any:
    y = x.copy()
    y[index] = v
    return y


put: Op = Op(
    "put",
    "x v",
    "x with some entries replaced by v",
    None,
    _put,
    None,
    [
        lambda g, y, x, v, index: put(g, 0.0, index=index),
        lambda g, y, x, v, index: sum_to_(globals()["index"](g, index=index), shape=shape(v)),
    ],
    linear=True,
    hidden=True,
)
broadcast: Op = Op(
    "broadcast",
    "x",
    "x repeated to a shape",
    None,
    lambda x, shape: numpy().broadcast_to(x, shape),
    None,
    [lambda g, y, x, shape: sum_to_(g, shape=globals()["shape"](x))],
    linear=True,
    hidden=True,
)
sum_to_: Op = Op(
    "sum_to",
    "x",
    "sum over the repeated axes",
    None,
    lambda x, shape: sum_to(x, shape),
    None,
    [lambda g, y, x, shape: broadcast(g, shape=globals()["shape"](x))],
    linear=True,
    hidden=True,
)


def _expand(g: Any, axis: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return g
    if axis is not None and hasattr(g, "dtype"):
        back = {a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))}
        rest = iter(g.shape)
        g = g.reshape([1 if k in back else next(rest) for k in range(len(shape))])
        if g.shape == shape:
            return g
    return numpy().broadcast_to(g, shape)


expand: Op = Op(
    "expand",
    "g",
    "a reduced value put back along its axes",
    None,
    _expand,
    None,
    [lambda h, y, g, axis, shape: sum_axes(h, axis=axis)],
    linear=True,
    hidden=True,
)
sum_axes: Op = Op(
    "sum_axes",
    "x",
    "sum",
    None,
    lambda x, axis: numpy().sum(x, axis=axis),
    None,
    [lambda g, y, x, axis: expand(g, axis=axis, shape=shape(x))],
    linear=True,
    hidden=True,
)
moveaxis: Op = Op(
    "moveaxis",
    "x",
    "one axis moved",
    None,
    lambda x, source, target: numpy().moveaxis(x, source, target),
    None,
    [lambda g, y, x, source, target: moveaxis(g, source=target, target=source)],
    linear=True,
    hidden=True,
)
reshape: Op = Op(
    "reshape",
    "x …",
    "the entries in another shape: reshape(v, 2, 3)",
    None,
    _reshape,
    None,
    lambda i: (lambda g, y, x, *sizes: reshape(g, numpy().array(sizes_of(x)))) if i == 0 else None,
    linear=True,
)
flatten: Op = Op(
    "flatten",
    "x",
    "all entries as a vector",
    None,
    lambda x: numpy().ravel(x),
    None,
    [lambda g, y, x: reshape(g, numpy().array(sizes_of(x)))],
    linear=True,
)
transpose: Op = Op(
    "transpose",
    "x",
    "axes in reverse order",
    None,
    lambda x: numpy().transpose(x),
    None,
    [lambda g, y, x: transpose(g)],
    linear=True,
)
swap: Op = Op(
    "swap",
    "x",
    "the last two axes exchanged",
    None,
    lambda x: numpy().swapaxes(x, -1, -2),
    None,
    [lambda g, y, x: swap(g)],
    linear=True,
    hidden=True,
)


def _concat(*xs: Any, axis: int = 0) -> Any:
    return numpy().concatenate(_members(xs), axis=axis)


def _stack(*xs: Any, axis: int = 0) -> Any:
    return numpy().stack(_members(xs), axis=axis)


def _members(xs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(xs[0]) if len(xs) == 1 else xs


def _concat_vjp(i: int) -> Any:
    def rule(g: Any, y: Any, *xs: Any, axis: int = 0) -> Any:
        if len(xs) == 1:
            return (
                reshape(
                    moveaxis(reshape(moveaxis(g, source=axis, target=0), *_split(xs[0], axis)), source=1, target=1),
                    numpy().array(sizes_of(xs[0])),
                )
                if axis == 0
                else _unconcat(g, xs[0], axis)
            )
        start = sum(shape(x)[axis] for x in xs[:i])
        a = axis % len(shape(xs[i]))
        return index(g, index=(*[slice(None)] * a, slice(start, start + shape(xs[i])[axis])))

    return rule


def _split(x: Any, axis: int) -> list[float]:
    return sizes_of(x)


def _unconcat(g: Any, x: Any, axis: int) -> Any:
    n = shape(x)[0]
    width = shape(x)[1:][axis]
    a = axis % (len(shape(x)) - 1)
    return list_(*(index(g, index=(*[slice(None)] * a, slice(k * width, (k + 1) * width))) for k in range(n)))


concat: Op = Op(
    "concat", "a …", "arrays joined along an axis", None, _concat, None, _concat_vjp, keywords="axis", linear=True
)
stack: Op = Op(
    "stack",
    "a …",
    "arrays joined along a new axis",
    None,
    _stack,
    None,
    lambda i: (
        lambda g, y, *xs, axis=0: (
            moveaxis(g, source=axis, target=0)
            if len(xs) == 1
            else index(moveaxis(g, source=axis, target=0), index=(i,))
        )
    ),
    keywords="axis",
    linear=True,
)
zeros: Op = Op("zeros", "n …", "array of zeros: zeros(2, 3)", None, lambda *n: numpy().zeros(_new(*n)))
ones: Op = Op("ones", "n …", "array of ones: ones(2, 3)", None, lambda *n: numpy().ones(_new(*n)))
eye: Op = Op("eye", "n …", "identity matrix", None, lambda *n: numpy().eye(*_new(*n)))


def _full(*xs: Any) -> Any:
    return numpy().full(_new(*xs[:-1]), xs[-1])


full: Op = Op(
    "full",
    "n fill …",
    "array of one value: full(2, 2, fill)",
    None,
    _full,
    None,
    lambda i: lambda g, y, *xs: sum_to_(g, shape=()) if i == len(xs) - 1 else None,
    linear=True,
)


def _linspace(a: Any, b: Any, n: Any) -> Any:
    (count,) = _new(n)
    return numpy().linspace(a, b, count)


def _weights(n: Any) -> Any:
    return numpy().linspace(0.0, 1.0, dimensions(n)[0])


linspace: Op = Op(
    "linspace",
    "a b n",
    "n evenly spaced numbers from a to b, both included",
    None,
    _linspace,
    None,
    [
        lambda g, y, a, b, n: sum_to_(g * (1.0 - _weights(n)), shape=()),
        lambda g, y, a, b, n: sum_to_(g * _weights(n), shape=()),
        None,
    ],
)


def _arange(*xs: Any) -> Any:
    if any(shape(x) for x in xs):
        raise ShapeError("arange wants numbers")
    a, b, step = (0.0, xs[0], 1.0) if len(xs) == 1 else (xs[0], xs[1], xs[2] if len(xs) > 2 else 1.0)
    if step == 0.0:
        raise ShapeError("arange with step 0")
    count = (b - a) / step
    if not abs(count) < float("inf"):
        raise ShapeError("arange wants finite ends")
    guard_size((max(0, int(count)),))
    return numpy().arange(a, b, step)


arange: Op = Op(
    "arange",
    "n …",
    "0, 1, … n-1; arange(a, b) and arange(a, b, step) from a to below b",
    None,
    _arange,
    None,
    lambda i: (
        lambda g, y, *xs: (
            None
            if len(xs) == 1 or i == 1
            else sum_to_(g if i == 0 else g * numpy().arange(float(shape(y)[0])), shape=())
        )
    ),
)
size: Op = Op("size", "x", "number of entries", None, lambda x: float(numpy().size(x)))
shape_: Op = Op("shape", "x", "the shape, as a vector", None, lambda x: numpy().array(sizes_of(x)))
