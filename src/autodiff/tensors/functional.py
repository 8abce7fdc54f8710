"""Activations and losses under the names of torch.nn.functional."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.activations import celu as celu
from autodiff.tensors.activations import gelu as gelu
from autodiff.tensors.activations import glu as glu
from autodiff.tensors.activations import hardshrink as hardshrink
from autodiff.tensors.activations import hardsigmoid as hardsigmoid
from autodiff.tensors.activations import hardswish as hardswish
from autodiff.tensors.activations import hardtanh as hardtanh
from autodiff.tensors.activations import relu6 as relu6
from autodiff.tensors.activations import softmin as softmin
from autodiff.tensors.activations import softshrink as softshrink
from autodiff.tensors.activations import tanhshrink as tanhshrink
from autodiff.tensors.activations import threshold as threshold
from autodiff.tensors.compose import axis_of, run, shape_of, whole
from autodiff.tensors.create import one_hot as one_hot
from autodiff.tensors.elementwise import clamp
from autodiff.tensors.linalg import norm
from autodiff.tensors.misfits import RangeError
from autodiff.tensors.modes import no_grad
from autodiff.tensors.namespace import CallError, named
from autodiff.tensors.naming import TITLES, titled
from autodiff.tensors.random import bernoulli
from autodiff.tensors.shapes import reshape, transpose
from autodiff.tensors.tensor import Tensor, raw_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def __getattr__(name: str) -> Callable[..., Any]:
    found = None if name[:1] == "_" else named(name)
    if found is None:
        raise AttributeError(f"there is no function '{name}'")
    return found


def _reduced(loss: Any, reduction: str) -> Tensor:
    if reduction == "none":
        return loss  # type: ignore[no-any-return]
    if reduction not in ("mean", "sum"):
        raise CallError(f"reduction is 'mean', 'sum' or 'none', not '{reduction}'")
    return run(reduction, loss)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight.T + bias.

    >>> linear(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[1.0, 1.0]]))
    tensor([[3.],
            [7.]])
    """
    y = run("matmul", x, transpose(weight, 0, 1))
    return y if bias is None else y + bias


def dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """In training, each entry 0 with probability p, the others over 1 - p.

    >>> dropout(tensor([1.0, 2.0]), 0.5, training=False)
    tensor([1., 2.])
    """
    if not 0.0 <= p <= 1.0:
        raise CallError(f"a probability is between 0 and 1, not {p}")
    if not training or not p:
        return x
    kept = bernoulli(numeric.numpy().full(shape_of(x), 1.0 - p))
    y = run("where", kept, x / (1.0 - p) if p < 1.0 else 0.0, 0.0)
    return x._rebind(y, "dropout") if inplace else y


def pairwise_distance(a: Any, b: Any, p: float = 2.0, eps: float = 1e-6) -> Tensor:
    """The distances of the rows of two arrays; eps is added to each difference.

    >>> pairwise_distance(tensor([[3.0, 4.0]]), tensor([[0.0, 0.0]]), eps=0.0)
    tensor([5.])
    """
    return norm(a - b + eps, p, -1)


def normalize(x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """x over its norm along an axis.

    >>> normalize(tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    return x / clamp(norm(x, p, dim, True), eps)


def cosine_similarity(a: Any, b: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis.

    >>> cosine_similarity(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]), dim=0)
    tensor(1.0000)
    """
    along = {"axis": axis_of(dim, len(shape_of(a)))}
    lengths = [clamp(norm(x, 2, dim), eps) for x in (a, b)]
    return run("sum", a * b, **along) / (lengths[0] * lengths[1])


def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Squared differences.

    >>> mse_loss(tensor([1.0, 2.0, 3.0]), 0.0)
    tensor(4.6667)
    """
    return _reduced(run("square", x - target), reduction)


def l1_loss(x: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Absolute differences.

    >>> l1_loss(tensor([1.0, 2.0, 3.0]), 0.0)
    tensor(2.)
    """
    return _reduced(run("abs", x - target), reduction)


def huber_loss(x: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the squared difference up to delta, a straight line beyond.

    >>> huber_loss(tensor([1.0, 2.0, 3.0]), 0.0)
    tensor(1.5000)
    """
    far = run("abs", x - target)
    near = clamp(far, None, delta)
    return _reduced(near * (far - 0.5 * near), reduction)


def smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """The Huber loss over beta.

    >>> smooth_l1_loss(tensor([1.0, 2.0, 3.0]), 0.0)
    tensor(1.5000)
    """
    return huber_loss(x, target, reduction, beta) / beta


def nll_loss(
    log_probabilities: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log probability of each row's class, weighted by class; a mean is over the weights.

    >>> nll_loss(tensor([[-1.0, -2.0], [-5.0, -7.0]]), [1, -100])
    tensor(2.)
    """
    np = numeric.numpy()
    shape = shape_of(log_probabilities)
    places = whole(target)
    if len(shape) == 1:
        log_probabilities, shape, places = log_probabilities[None], (1, *shape), places.reshape(-1)
        reduction = "sum" if reduction == "none" and not shape_of(target) else reduction
    if len(shape) != 2 or places.shape != shape[:1]:
        raise ShapeError(f"classes of shape {places.shape} for log probabilities of shape {shape}")
    read = places != ignore_index
    places = np.where(read, places, 0)
    if ((places < 0) | (places >= shape[1])).any():
        raise RangeError(f"Target {places[(places < 0) | (places >= shape[1])][0]} is out of bounds")
    loss = -run("index", log_probabilities, index=(np.arange(shape[0]), places))
    if weight is None and read.all():
        return _reduced(loss, reduction)
    weights = read * (1.0 if weight is None else np.asarray(raw_of(weight))[places])
    loss = run("where", read, loss * weights, 0.0)
    return run("sum", loss) / float(weights.sum()) if reduction == "mean" else _reduced(loss, reduction)


def cross_entropy(
    logits: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Minus the log of the softmax at each row's class, or against rows of probabilities.

    >>> cross_entropy(tensor([[0.0, 0.0]]), [1])
    tensor(0.6931)
    """
    shape = shape_of(logits)
    last = len(shape) - 1
    logp = run("log_softmax", logits, axis=last)
    if shape_of(target) != shape:
        if not label_smoothing:
            return nll_loss(logp, target, weight, ignore_index=ignore_index, reduction=reduction)
        if weight is not None or (whole(target) == ignore_index).any():
            raise CallError("label_smoothing goes with classes that are all read and of one weight")
        target = one_hot(target, shape[last])
    target = target * (1.0 - label_smoothing) + label_smoothing / shape[last]
    loss = -run("sum", logp * target * (1.0 if weight is None else weight), axis=last)
    return _reduced(loss, reduction)


def embedding(places: Any, weight: Any) -> Tensor:
    """The rows of a table at given places.

    >>> embedding(tensor([1, 0]), tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    return run("index", weight, index=(whole(places),))


def layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """x less its mean over its standard deviation along the last axes, times weight, plus bias.

    >>> layer_norm(tensor([1.0, 2.0, 3.0]), (3,), eps=0.0)
    tensor([-1.2247,  0.0000,  1.2247])
    """
    shape = shape_of(x)
    wanted = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not wanted or shape[-len(wanted) :] != wanted:
        raise ShapeError(f"an array of shape {shape} does not end in normalized_shape {wanted}")
    last = tuple(range(-len(wanted), 0))
    d = x - named("mean")(x, last, keepdim=True)  # type: ignore[misc]
    y = d / run("sqrt", named("mean")(d * d, last, keepdim=True) + eps)  # type: ignore[misc]
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def batch_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """x less the mean over the standard deviation of each channel (the second axis), times weight, plus bias.

    In training they are those of the batch, and running_mean and running_var, if given, move towards them by
    momentum (the variance by n - 1); else they are these.

    >>> batch_norm(tensor([[1.0, 5.0], [3.0, 5.0]]), training=True, eps=0.0)[:, 0]
    tensor([-1.,  1.])
    """
    shape = shape_of(x)
    others = tuple(k for k in range(len(shape)) if k != 1)

    def channels(y: Any) -> Any:
        return reshape(y, *(n if k == 1 else 1 for k, n in enumerate(shape)))

    if training:
        mean, var = (run(name, x, axis=others) for name in ("mean", "var"))
        if running_mean is not None:
            count = math.prod(shape) // shape[1]
            with no_grad():
                running_mean.mul_(1.0 - momentum).add_(mean * momentum)
                running_var.mul_(1.0 - momentum).add_(var * (momentum * count / (count - 1.0)))
    elif running_mean is None or running_var is None:
        raise CallError("running_mean and running_var are wanted when not training")
    else:
        mean, var = running_mean, running_var
    y = (x - channels(mean)) / run("sqrt", channels(var) + eps)
    y = y if weight is None else y * channels(weight)
    return y if bias is None else y + channels(bias)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """softmax(query @ key.T * scale) @ value, by the last two axes; scale is 1/sqrt(width) unless given.

    A mask of truth values tells where to look, another is added; is_causal looks at no later row.

    >>> scaled_dot_product_attention(tensor([[1.0]]), tensor([[0.0], [0.0]]), tensor([[1.0], [3.0]]))
    tensor([[2.]])
    """
    np = numeric.numpy()
    shape = shape_of(query)
    scores = run("matmul", query, transpose(key, -2, -1))
    scores = scores * (1.0 / math.sqrt(shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = np.tri(*shape_of(scores)[-2:], dtype=bool)
    if attn_mask is not None:
        mask = raw_of(attn_mask)
        truths = numeric.is_array(mask) and mask.dtype.kind == "b"
        scores = run("where", mask, scores, -math.inf) if truths else scores + attn_mask
    weights = run("softmax", scores, axis=len(shape_of(scores)) - 1)
    return run("matmul", dropout(weights, dropout_p), value)


def binary_cross_entropy(p: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Minus the log probability of truth values, by probabilities.

    >>> binary_cross_entropy(tensor([0.5]), tensor([1.0]))
    tensor(0.6931)
    """
    q = run("neg", p)
    return _reduced(-(run("xlogy", target, p) + run("xlog1py", 1.0 - target, q)), reduction)


def binary_cross_entropy_with_logits(x: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The same by logits: no sigmoid is formed.

    >>> binary_cross_entropy_with_logits(tensor([0.0]), tensor([1.0]))
    tensor(0.6931)
    """
    return _reduced(run("softplus", x) - x * target, reduction)


def kl_div(x: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Divergence of target probabilities from those whose logs are x.

    >>> kl_div(tensor([0.0]), tensor([1.0]))
    tensor(0.)
    """
    y = run("exp", target) * (target - x) if log_target else run("xlogy", target, target) - target * x
    if reduction == "batchmean":
        return run("sum", y) / float(shape_of(x)[0])
    return _reduced(y, reduction)


def poisson_nll_loss(
    x: Any, target: Any, log_input: bool = True, *, eps: float = 1e-8, reduction: str = "mean"
) -> Tensor:
    """exp(x) - target*x, or x - target*log(x + eps) if x is not a logarithm.

    >>> poisson_nll_loss(tensor(0.0), 2.0)
    tensor(1.)
    """
    return _reduced(run("exp", x) - target * x if log_input else x - target * run("log", x + eps), reduction)


def soft_margin_loss(x: Any, target: Any, *, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target*x)), for targets of 1 and -1.

    >>> soft_margin_loss(tensor(0.0), tensor(1.0))
    tensor(0.6931)
    """
    return _reduced(run("softplus", -(x * target)), reduction)


def hinge_embedding_loss(x: Any, target: Any, margin: float = 1.0, *, reduction: str = "mean") -> Tensor:
    """x where the target is 1, and margin - x, or 0, where it is -1.

    >>> hinge_embedding_loss(tensor([0.5, 0.2]), tensor([1.0, -1.0]), reduction="none")
    tensor([0.5000, 0.8000])
    """
    return _reduced(run("where", run("eq", target, 1.0), x, clamp(margin - x, 0.0)), reduction)


def margin_ranking_loss(a: Any, b: Any, target: Any, margin: float = 0.0, *, reduction: str = "mean") -> Tensor:
    """-target*(a - b) + margin, or 0: a should be the larger where the target is 1, the smaller where it is -1.

    >>> margin_ranking_loss(tensor(1.0), tensor(3.0), tensor(1.0))
    tensor(2.)
    """
    return _reduced(clamp(-target * (a - b) + margin, 0.0), reduction)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2.0, *, reduction: str = "mean"
) -> Tensor:
    """How much farther, by margin, the anchor should be from the negative than from the positive, or 0.

    >>> triplet_margin_loss(tensor([[0.0]]), tensor([[2.0]]), tensor([[1.0]]))
    tensor(2.)
    """
    apart = pairwise_distance(anchor, positive, p) - pairwise_distance(anchor, negative, p)
    return _reduced(clamp(apart + margin, 0.0), reduction)


for _name in TITLES:
    if _name in globals():
        globals()[_name] = titled(globals()[_name], _name)
