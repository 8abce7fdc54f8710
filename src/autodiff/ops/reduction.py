"""Rows: reductions and their kin along an axis."""

from __future__ import annotations

import math

from autodiff.numeric import is_array, is_finite, known, nan, numpy, shape
from autodiff.ops.arithmetic import add, div, eq, mul, pow_, sqrt, sub, where
from autodiff.ops.exponential import exp, log
from autodiff.ops.piecewise import abs_, sign
from autodiff.ops.record import Op, chain, gate
from autodiff.ops.shape import expand, index, moveaxis, reshape, sizes_of, sum_axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAIRWISE = 64  # up to this length differences are taken pair by pair, which cancels nowhere


def _count(x: Any, axis: Any) -> float:
    found = shape(x)
    axes = range(len(found)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return float(math.prod(found[a] for a in axes))


def _back(g: Any, x: Any, axis: Any) -> Any:
    return expand(g, axis=axis, shape=shape(x)) if shape(x) else g


def _mean(x: Any, axis: Any = None) -> Any:
    return numpy().sum(x, axis=axis) / _count(x, axis)


def _deviation(x: Any, axis: Any) -> Any:
    """x less its mean, both from the first entry on: equal entries deviate by exactly 0, close ones exactly."""
    x, size = _within(x)
    e = sub(x, _first(known(x), axis))
    d = sub(e, _back(mean(e, axis=axis), x, axis))
    return d if size == 1.0 else mul(size, d)


def _within(x: Any) -> tuple[Any, float]:
    """x, or a quarter of it where differences of entries may overflow; and what times that is x."""
    value = known(x)
    if not is_array(value) or value.dtype.kind != "f" or numpy().max(abs(value), initial=0.0) < 4e307:
        return x, 1.0
    return mul(0.25, x), 4.0


def _first(x: Any, axis: Any) -> Any:
    """The first entry along the axes, which stay; 0 where entries are no floats, or there are none."""
    if not is_array(x) or not x.size or x.dtype.kind != "f":
        return 0.0
    axes = range(x.ndim) if axis is None else [axis % x.ndim] if isinstance(axis, int) else [a % x.ndim for a in axis]
    return x[tuple(slice(0, 1) if k in axes else slice(None) for k in range(x.ndim))]


sum_: Op = Op(
    "sum",
    "x",
    "sum of the entries",
    None,
    lambda x, axis=None: numpy().sum(x, axis=axis),
    None,
    [lambda g, y, x, axis=None: _back(g, x, axis)],
    keywords="axis",
    linear=True,
    samples=[([1.0, 2.0, -3.0],)],
)
mean: Op = Op(
    "mean",
    "x",
    "mean of the entries",
    None,
    _mean,
    None,
    [lambda g, y, x, axis=None: div(_back(g, x, axis), _count(x, axis))],
    keywords="axis",
    linear=True,
    samples=[([1.0, 2.0, -3.0],)],
)


def _var(x: Any, axis: Any = None, ddof: int = 0) -> Any:
    np = numpy()
    if not x.size:  # nan, without NumPy's warning
        return _mean(x, axis)
    x, size = _within(x)
    d = _deviation(x, axis)
    return np.sum(d * d, axis=axis) / (_count(x, axis) - ddof) * (size * size)


def _std(x: Any, axis: Any = None, ddof: int = 0) -> Any:
    np = numpy()
    if not x.size:
        return _mean(x, axis)
    x, size = _within(x)
    d = _deviation(x, axis)
    top = np.max(abs(d), axis=axis, keepdims=True)
    scale = np.where((top > 0.0) & np.isfinite(top), top, 1.0)
    y = np.sqrt(np.sum((d / scale) ** 2, axis=axis) / (_count(x, axis) - ddof))
    return y * scale.reshape(np.shape(y)) * size


var: Op = Op(
    "var",
    "x",
    "variance: mean squared deviation, by n - ddof",
    None,
    _var,
    None,
    [
        lambda g, y, x, axis=None, ddof=0: mul(
            mul(_back(g, x, axis), 2.0 / (_count(x, axis) - ddof) if _count(x, axis) != ddof else math.inf),
            _deviation(x, axis),
        )
    ],
    keywords="axis ddof",
    samples=[([1.0, 2.0, -3.0],)],
)
std: Op = Op(
    "std",
    "x",
    "standard deviation, by n - ddof",
    None,
    _std,
    None,
    [lambda g, y, x, axis=None, ddof=0: _std_vjp(g, x, axis, ddof)],
    keywords="axis ddof",
    samples=[([1.0, 2.0, -3.0],)],
    kink=lambda y, x, axis=None, ddof=0: y == 0.0,
    kinks="0 where all are equal",
    conventions={
        "jax": [
            lambda g, y, x, axis=None, ddof=0: mul(
                _back(g, x, axis), div(div(_deviation(x, axis), _back(y, x, axis)), _count(x, axis) - ddof)
            )
        ]
    },
    germ=lambda x, axis=None, ddof=0: sqrt(var(x, axis=axis, ddof=ddof)),
)


def _std_vjp(g: Any, x: Any, axis: Any, ddof: int) -> Any:
    u = normalized(_deviation(_within(x)[0], axis), axis=axis)
    return chain(_back(g, x, axis), div(u, sqrt(_count(x, axis) - ddof)))


def leave_out_value(x: Any) -> Any:
    """Products of the others along the last axis, from products of those before and those after."""
    np = numpy()
    ones = np.ones((*x.shape[:-1], 1))
    before = np.concatenate([ones, np.cumprod(x[..., :-1], -1)], -1) if x.shape[-1] else x
    after = np.concatenate([np.cumprod(x[..., :0:-1], -1)[..., ::-1], ones], -1) if x.shape[-1] else x
    return before * after


def _pairs(x: Any) -> Any:
    """x along the last axis, repeated along a new axis before it, with ones on the diagonal."""
    n = shape(x)[-1]
    wide = expand(x, axis=-2, shape=(*shape(x)[:-1], n, n))
    return where(numpy().eye(n), 1.0, wide)


leave_out: Op = Op(
    "leave_out",
    "x",
    "products of the other entries along the last axis",
    None,
    leave_out_value,
    None,
    [lambda g, y, x: _leave_out_vjp(g, x)],
    hidden=True,
)


def _leave_out_vjp(g: Any, x: Any) -> Any:
    # y_i = prod of row i of pairs; row i, entry j != i sends g_i * (row i without j)
    n = shape(x)[-1]
    wide = expand(g, axis=-1, shape=(*shape(x)[:-1], n, n))
    return sum_axes(chain(wide, mul(leave_out(_pairs(x)), 1.0 - numpy().eye(n))), axis=-2)


def _axis_last(x: Any, axis: Any) -> Any:
    if axis is None:
        return reshape(x, float(math.prod(shape(x))))
    return moveaxis(x, source=axis, target=-1)


def _axis_back(x: Any, like: Any, axis: Any) -> Any:
    if axis is None:
        return reshape(x, numpy().array(sizes_of(like)))
    return moveaxis(x, source=-1, target=axis)


def _prod_vjp(g: Any, y: Any, x: Any, axis: Any = None) -> Any:
    if not shape(x):
        return g
    others = _axis_back(leave_out(_axis_last(x, axis)), x, axis)
    return chain(_back(g, x, axis), others)


prod: Op = Op(
    "prod",
    "x",
    "product of the entries",
    None,
    lambda x, axis=None: numpy().prod(x, axis=axis),
    None,
    [_prod_vjp],
    keywords="axis",
    samples=[([1.0, 2.0, -3.0],), ([0.0, 2.0, 0.0],)],
)
cumsum: Op = Op(
    "cumsum",
    "x",
    "running sums",
    None,
    lambda x, axis=-1: numpy().cumsum(x, axis=axis),
    None,
    [lambda g, y, x, axis=-1: flip(cumsum(flip(g, axis=axis), axis=axis), axis=axis)],
    keywords="axis",
    linear=True,
    samples=[([1.0, 2.0, -3.0],)],
)
flip: Op = Op(
    "flip",
    "x",
    "entries in reverse",
    None,
    lambda x, axis: numpy().flip(x, axis),
    None,
    [lambda g, y, x, axis: flip(g, axis=axis)],
    linear=True,
    hidden=True,
)


def _cumprod_vjp(g: Any, y: Any, x: Any, axis: int = -1) -> Any:
    last = moveaxis(x, source=axis, target=-1)
    n = shape(last)[-1]
    if n > PAIRWISE and is_finite(known(y)) and numpy().all(known(y)):
        return div(flip(cumsum(flip(mul(g, y), axis=axis), axis=axis), axis=axis), x)
    lower = numpy().tril(numpy().ones((n, n)))
    factors = where(lower, expand(last, axis=-2, shape=(*shape(last)[:-1], n, n)), 1.0)
    wide = expand(moveaxis(g, source=axis, target=-1), axis=-1, shape=(*shape(last)[:-1], n, n))
    return moveaxis(sum_axes(chain(wide, mul(leave_out(factors), lower)), axis=-2), source=-1, target=axis)


cumprod: Op = Op(
    "cumprod",
    "x",
    "running products",
    None,
    lambda x, axis=-1: numpy().cumprod(x, axis=axis),
    None,
    [_cumprod_vjp],
    keywords="axis",
    samples=[([1.0, 2.0, -3.0],), ([3.0, 0.0],)],
)
any_: Op = Op(
    "any", "x", "true if an entry is not 0", None, lambda x, axis=None: numpy().any(x, axis=axis), keywords="axis"
)
all_: Op = Op(
    "all", "x", "true if no entry is 0", None, lambda x, axis=None: numpy().all(x, axis=axis), keywords="axis"
)


def _extreme(name: str, doc: str) -> Op:
    def weights(y: Any, x: Any, axis: Any) -> Any:
        chosen = where(eq(x, _back(y, x, axis)), 1.0, 0.0)
        return div(chosen, _back(sum_axes(chosen, axis=axis), x, axis))

    def first(g: Any, y: Any, x: Any, axis: Any = None) -> Any:
        if axis is None or not shape(x):
            return share(g, y, x, axis)
        last = moveaxis(where(eq(x, _back(y, x, axis)), 1.0, 0.0), source=axis, target=-1)
        chosen = where(eq(cumsum(last), 1.0), last, 0.0)
        return gate(_back(g, x, axis), moveaxis(chosen, source=-1, target=axis))

    def share(g: Any, y: Any, x: Any, axis: Any = None) -> Any:
        return gate(_back(g, x, axis), weights(y, x, axis)) if shape(x) else g

    def kink(y: Any, x: Any, axis: Any = None) -> Any:
        np = numpy()
        top = y if axis is None else np.expand_dims(y, axis)
        return np.sum(x == top, axis=axis) > 1

    return Op(
        name,
        "x",
        doc,
        None,
        lambda x, axis=None: getattr(numpy(), name)(x, axis=axis),
        None,
        [share],
        keywords="axis",
        kink=kink,
        kinks="ties share evenly",
        conventions={"torch": [first]},  # which gives the index too, along an axis
        hidden=True,
        selects=True,
    )


amax = _extreme("amax", "largest entry")
amin = _extreme("amin", "smallest entry")


def _top(x: Any, axis: Any) -> Any:
    np = numpy()
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(top), top, np.where(top == np.inf, np.inf, 0.0))


def _log1p_others(x: Any, axis: Any) -> tuple[Any, Any]:
    """x minus its largest, and log of the sum of exponentials of that, as log1p of all but one largest."""
    np = numpy()
    d = x - _top(x, axis)
    e = np.exp(d)
    flat = e.reshape(-1) if axis is None else np.moveaxis(e, axis, -1)
    flat = flat.copy()
    where_top = np.argmax(flat, axis=-1)[..., None]
    top = np.take_along_axis(flat, where_top, -1)
    np.put_along_axis(flat, where_top, 0.0, -1)
    rest = np.sum(flat, -1)
    return d, np.where(top[..., 0] == 1.0, np.log1p(rest), np.log(rest + top[..., 0]))


def _logsumexp(x: Any, axis: Any = None) -> Any:
    np = numpy()
    x = np.asarray(x)
    if not x.size:
        return np.full(np.sum(x, axis=axis).shape, -np.inf)
    top = np.max(x, axis=axis)
    _, rest = _log1p_others(x, axis)
    return np.where(np.isfinite(top), _top(x, axis).reshape(np.shape(top)) + rest, top)


def _softmax(x: Any, axis: int = -1) -> Any:
    np = numpy()
    e = np.exp(x - _top(x, axis))
    total = np.sum(e, axis=axis, keepdims=True)
    return np.where(total == 0.0, 0.0, e / np.where(total == 0.0, 1.0, total))


def _log_softmax(x: Any, axis: int = -1) -> Any:
    if not x.size:
        return x
    d, rest = _log1p_others(x, axis)
    return d - numpy().expand_dims(rest, axis)


def _logsumexp_nan(g: Any, y: Any, x: Any, axis: Any = None) -> Any:
    """As the libraries have it: nan where all are -inf."""
    if not shape(x):
        return g
    return mul(_back(g, x, axis), exp(sub(x, _back(where(eq(abs_(y), math.inf), nan, y), x, axis))))


logsumexp: Op = Op(
    "logsumexp",
    "x",
    "log of the sum of exponentials, without overflow",
    None,
    _logsumexp,
    None,
    [
        lambda g, y, x, axis=None: (
            chain(_back(g, x, axis), _axis_back(softmax(_axis_last(x, axis)), x, axis)) if shape(x) else g
        )
    ],
    keywords="axis",
    samples=[([1.0, 2.0, -3.0],), ([0.0, 40.0],)],
    conventions={"torch": [_logsumexp_nan], "jax": [_logsumexp_nan]},
)


def _wide(x: Any, axis: int) -> Any:
    n = shape(x)[-1]
    return expand(x, axis=axis, shape=(*shape(x)[:-1], n, n))


def _others(pairs: Any) -> Any:
    """Pairs of an entry with itself left out: they are 0, but forward they would cancel only nearly."""
    return gate(pairs, 1.0 - numpy().eye(shape(pairs)[-1]))


def _softmax_vjp(g: Any, y: Any, x: Any, axis: int = -1) -> Any:
    # s_i (h_i - sum_j s_j h_j) = s_i sum_j s_j (h_i - h_j), where nothing cancels
    s = softmax(moveaxis(x, source=axis, target=-1))
    h = moveaxis(g, source=axis, target=-1)
    if shape(s)[-1] <= PAIRWISE:
        inner = sum_axes(chain(_others(sub(_wide(h, -1), _wide(h, -2))), _wide(s, -2)), axis=-1)
    else:
        inner = sub(h, expand(sum_axes(chain(h, s), axis=-1), axis=-1, shape=shape(s)))
    return moveaxis(chain(inner, s), source=-1, target=axis)


def _log_softmax_vjp(g: Any, y: Any, x: Any, axis: int = -1) -> Any:
    # h_i - s_i sum_j h_j = sum_j (s_j h_i - s_i h_j)
    s = softmax(moveaxis(x, source=axis, target=-1))
    h = moveaxis(g, source=axis, target=-1)
    if shape(s)[-1] <= PAIRWISE:
        pairs = sub(chain(_wide(h, -1), _wide(s, -2)), chain(_wide(h, -2), _wide(s, -1)))
        inner = sum_axes(_others(pairs), axis=-1)
    else:
        inner = sub(h, chain(expand(sum_axes(h, axis=-1), axis=-1, shape=shape(s)), s))
    return moveaxis(inner, source=-1, target=axis)


softmax: Op = Op(
    "softmax",
    "x",
    "exponentials that sum to 1",
    None,
    _softmax,
    None,
    [_softmax_vjp],
    keywords="axis",
    samples=[([1.0, 2.0, -3.0],)],
)
log_softmax: Op = Op(
    "log_softmax",
    "x",
    "log of softmax, without underflow",
    None,
    _log_softmax,
    None,
    [_log_softmax_vjp],
    keywords="axis",
    samples=[([1.0, 2.0, -3.0],)],
)


def _norm(x: Any, p: Any = 2.0, axis: Any = None) -> Any:
    np = numpy()
    x = np.abs(np.asarray(x, float))
    if p == np.inf or p == -np.inf:
        return np.max(x, axis=axis) if p > 0 else np.min(x, axis=axis)
    if p == 0.0:
        return np.sum(x != 0.0, axis=axis).astype(float)
    if not x.size:
        return np.sum(x, axis=axis)
    top = (np.max if p > 0.0 else np.min)(x, axis=axis, keepdims=True)  # the entry whose power is the largest
    scale = np.where((top > 0) & np.isfinite(top), top, 1.0)
    y = np.sum((x / scale) ** p, axis=axis)
    y = np.sqrt(y) if p == 2.0 else y ** (1.0 / p)
    return y * scale.reshape(np.shape(y))


def _norm_vjp(g: Any, y: Any, x: Any, p: Any, axis: Any = None) -> Any:
    if not shape(x):
        return chain(g, sign(x))
    if p == 2.0:
        return chain(_back(g, x, axis), normalized(x, axis=axis))
    if known(p) == 0.0:
        return None
    if abs(known(p)) == math.inf:
        chosen = where(eq(abs_(x), _back(y, x, axis)), 1.0, 0.0)
        share = div(chosen, _back(sum_axes(chosen, axis=axis), x, axis))
        return gate(_back(g, x, axis), mul(share, sign(x)))
    still = eq(y, 0.0)
    return chain(_back(where(still, 0.0, g), x, axis), dual(x, p, where(still, 1.0, y), axis=axis))


def _norm_power_vjp(g: Any, y: Any, x: Any, p: Any, axis: Any = None) -> Any:
    """y/p * sum of r^p log r with r = |x|/y, whose r^p sum to 1."""
    if not shape(x) or abs(known(p)) == math.inf:
        return None
    if known(p) == 0.0:
        return mul(sum_(g), nan)  # it counts there, and counts nothing beside
    ratio = div(abs_(x), _back(where(eq(y, 0.0), 1.0, y), x, axis))
    parts = mul(pow_(ratio, p), log(where(eq(ratio, 0.0), 1.0, ratio)))
    return sum_(chain(g, mul(div(y, p), sum_axes(parts, axis=axis))))


def _ratio_power(x: Any, y: Any, q: Any) -> Any:
    """(|x|/y)^q, by powers of both where their quotient leaves the normal numbers."""
    size = abs_(x)
    ratio = div(size, y)
    far = (known(ratio) < 1e-290) & (known(size) > 0.0)
    found = pow_(ratio, q)
    return where(far, div(pow_(size, q), pow_(y, q)), found) if numpy().any(far) else found


def _dual_vjp(g: Any, a: Any, x: Any, p: Any, y: Any, axis: Any = None) -> Any:
    # with v = x/y: (p - 1)/y |v_i|^(p-2) sum_j a_j (v_j h_i - v_i h_j), where nothing cancels
    if known(p) == 1.0:
        return None
    wide = _back(norm(x, p, axis=axis), x, axis)
    v = div(x, wide)
    a = dual(x, p, norm(x, p, axis=axis), axis=axis)
    if not isinstance(axis, tuple) and _count(x, axis) <= PAIRWISE:
        of, h, by = (_axis_last(part, axis) for part in (v, g, a))
        pairs = sub(chain(_wide(h, -1), _wide(of, -2)), chain(_wide(h, -2), _wide(of, -1)))
        inner = _axis_back(sum_axes(gate(_others(pairs), _wide(by, -2)), axis=-1), x, axis)
    else:
        inner = sub(g, mul(v, _back(sum_axes(chain(g, a), axis=axis), x, axis)))
    return mul(div(gate(inner, _ratio_power(x, wide, sub(p, 2.0))), wide), sub(p, 1.0))


def _dual_power_vjp(g: Any, a: Any, x: Any, p: Any, y: Any, axis: Any = None) -> Any:
    ratio = div(abs_(x), _back(norm(x, p, axis=axis), x, axis))
    logs = log(where(eq(ratio, 0.0), 1.0, ratio))
    mean_log = _back(sum_axes(mul(pow_(ratio, p), logs), axis=axis), x, axis)
    return sum_(chain(g, mul(a, sub(logs, mul(div(sub(p, 1.0), p), mean_log)))))


dual: Op = Op(
    "dual",
    "x p y",
    "gradient of the p-norm y of x, which is not 0",
    None,
    lambda x, p, y, axis=None: chain(sign(x), _ratio_power(x, _back(y, x, axis), p - 1.0)),
    None,
    [_dual_vjp, _dual_power_vjp, None],  # y is a function of x and p
    keywords="axis",
    hidden=True,
)


def _normalized(x: Any, axis: Any = None) -> Any:
    np = numpy()
    y = _norm(x, 2.0, axis)
    wide = y if axis is None else np.expand_dims(y, axis)
    return np.where(wide == 0.0, 0.0, x / np.where(wide == 0.0, 1.0, wide))


def _normalized_vjp(g: Any, u: Any, x: Any, axis: Any = None) -> Any:
    # (h - u (u·h))/n, entry by entry sum_j u_j (u_j h_i - u_i h_j)/n, where nothing cancels
    u = normalized(x, axis=axis)
    n = norm(x, 2.0, axis=axis)
    still = eq(n, 0.0)
    safe = _back(where(still, 1.0, n), x, axis)
    live = _back(where(still, 0.0, 1.0), x, axis)
    if not isinstance(axis, tuple) and _count(x, axis) <= PAIRWISE:
        of, h = _axis_last(u, axis), _axis_last(g, axis)
        pairs = sub(chain(_wide(h, -1), _wide(of, -2)), chain(_wide(h, -2), _wide(of, -1)))
        inner = _axis_back(sum_axes(mul(_others(pairs), _wide(of, -2)), axis=-1), x, axis)
    else:
        inner = sub(g, mul(u, _back(sum_axes(chain(g, u), axis=axis), x, axis)))
    return chain(mul(inner, live), div(1.0, safe))


norm: Op = Op(
    "norm",
    "x p=2",
    "p-norm of the entries, 2 if none is given (Frobenius)",
    None,
    _norm,
    None,
    [
        lambda g, y, x, p, axis=None: _norm_vjp(g, y, x, p, axis),
        lambda g, y, x, p, axis=None: _norm_power_vjp(g, y, x, p, axis),
    ],
    keywords="axis",
    samples=[([3.0, 4.0], 2.0), ([3.0, 4.0], 3.5), ([3e200, 4e200], 2.0)],
    kink=lambda y, x, p, axis=None: _norm_kink(y, x, p, axis),
    kinks="0 at 0",
    conventions={
        "jax": [
            lambda g, y, x, p, axis=None: (
                mul(_back(g, x, axis), div(x, _back(y, x, axis))) if p == 2.0 else _norm_vjp(g, y, x, p, axis)
            ),
            None,
        ]
    },
    germ=lambda x, p, axis=None: _norm_germ(x, p, axis),
)
normalized: Op = Op(
    "normalized",
    "x",
    "x over its norm, 0 at 0",
    None,
    _normalized,
    None,
    [_normalized_vjp],
    keywords="axis",
    hidden=True,
)


def _norm_kink(y: Any, x: Any, p: float, axis: Any) -> Any:
    np = numpy()
    if abs(p) == math.inf:
        return (y == 0.0) | (np.sum(np.abs(x) == (y if axis is None else np.expand_dims(y, axis)), axis=axis) > 1)
    return np.any(x == 0.0, axis=axis) if p <= 1.0 else y == 0.0


def _norm_germ(x: Any, p: Any, axis: Any) -> Any:
    if not any(getattr(p, "coefficients", (p,))[1:]):
        p = known(p)  # it stays where it is
    if p == 2.0:
        return sqrt(sum_(mul(x, x), axis=axis))
    if p in (math.inf, -math.inf):
        return (amax if p > 0.0 else amin)(abs_(x), axis=axis)
    if p != 1.0 and axis is None and hasattr(x, "field") and not numpy().any(x[0]):
        # x is t·u, and the norm of that t times the norm of u
        order = x.field.order
        if not any(numpy().any(x[k]) for k in range(order + 1)):
            return 0.0
        inner = norm(x.field.series([x[k] for k in range(1, order + 1)]), p)
        return x.field.series([0.0, *(inner[k] if hasattr(inner, "field") else 0.0 for k in range(order))])
    powers = sum_(pow_(abs_(x), p), axis=axis)
    return powers if p == 1.0 else pow_(powers, div(1.0, p))


__all__ = ["add", "index"]
