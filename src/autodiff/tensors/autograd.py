"""PyTorch's submodules: the same functions under the names that scripts know."""

from __future__ import annotations

from types import SimpleNamespace

from autodiff import numeric
from autodiff.tensors import checkpoint as _checkpoint
from autodiff.tensors import diagonals, func, function
from autodiff.tensors import functional as _functional
from autodiff.tensors import hooks as graph
from autodiff.tensors import linalg as _linalg
from autodiff.tensors.backward import backward as _backward
from autodiff.tensors.backward import grad
from autodiff.tensors.func import gradcheck, gradgradcheck
from autodiff.tensors.function import Function
from autodiff.tensors.graph import GraphError
from autodiff.tensors.modes import (
    detect_anomaly,
    enable_grad,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from autodiff.tensors.namespace import named
from autodiff.tensors.tensor import Tensor, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def Variable(data: Any, requires_grad: bool = False) -> Tensor:
    """PyTorch's old name for a tensor of the same data that may require a gradient.

    >>> Variable(tensor(1.0), requires_grad=True)
    tensor(1., requires_grad=True)
    """
    return wrap(raw_of(data)).detach().requires_grad_(requires_grad)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the derivatives of all the tensors, weighted by grad_tensors, to `.grad` of the leaves.

    >>> x = tensor(2.0, requires_grad=True)
    >>> backward([x * x, 3 * x])
    >>> x.grad
    tensor(7.)
    """
    outputs = [tensors] if tensors.__class__ is Tensor else list(tensors)
    if grad_tensors is None:
        seeds: list[Any] = [None] * len(outputs)
    else:
        seeds = [grad_tensors] if grad_tensors.__class__ is Tensor else list(grad_tensors)
    if len(seeds) != len(outputs):
        raise GraphError(f"{len(outputs)} tensors, but {len(seeds)} grad_tensors")
    _backward(outputs, seeds, retain_graph, create_graph, inputs)


class functional:
    """torch.autograd.functional: derivatives of a function at inputs."""

    @staticmethod
    def jacobian(f: Any, inputs: Any, create_graph: bool = False, **_: Any) -> Any:
        """The Jacobian at the inputs, a tuple for a tuple; also for functions that give several tensors.

        >>> functional.jacobian(lambda x: x * x, tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
        """
        many = isinstance(inputs, tuple)
        points = inputs if many else (inputs,)
        with no_grad():
            shown = f(*points)
        places = tuple(range(len(points)))
        if isinstance(shown, tuple):
            rows = tuple(func.jacobian(lambda *xs, k=k: f(*xs)[k], places)(*points) for k in range(len(shown)))
            return rows if many else tuple(row[0] for row in rows)
        found = func.jacobian(f, places)(*points)
        found = found if create_graph else tuple(part.detach() for part in found)
        return found if many else found[0]

    @staticmethod
    def hessian(f: Any, inputs: Any, create_graph: bool = False, **_: Any) -> Any:
        """The Hessian at one input, or the blocks for a tuple.

        >>> functional.hessian(lambda x: (x**3).sum(), tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
        """
        if not isinstance(inputs, tuple):
            found = func.hessian(f)(inputs)
            return found if create_graph else found.detach()
        places = tuple(range(len(inputs)))
        return tuple(func.jacobian(func.grad(f, k), places)(*inputs) for k in places)

    @staticmethod
    def vjp(f: Any, inputs: Any, v: Any = None, **_: Any) -> Any:
        """(value, v times the Jacobian).

        >>> functional.vjp(lambda x: x * x, tensor([1.0, 2.0]), tensor([1.0, 1.0]))
        (tensor([1., 4.]), tensor([2., 4.]))
        """
        y, pull = func.vjp(f, *(inputs if isinstance(inputs, tuple) else (inputs,)))
        found = pull(1.0 if v is None else v)
        return y, found if isinstance(inputs, tuple) else found[0]

    @staticmethod
    def jvp(f: Any, inputs: Any, v: Any = None, **_: Any) -> Any:
        """(value, the Jacobian times v).

        >>> functional.jvp(lambda x: x * x, tensor([1.0, 2.0]), tensor([1.0, 1.0]))
        (tensor([1., 4.]), tensor([2., 4.]))
        """
        many = isinstance(inputs, tuple)
        v = 1.0 if v is None else v
        return func.jvp(f, inputs if many else (inputs,), v if many else (v,))

    @staticmethod
    def hvp(f: Any, inputs: Any, v: Any, **_: Any) -> Any:
        """(value, the Hessian times v).

        >>> functional.hvp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), tensor([1.0, 1.0]))
        (tensor(9.), tensor([ 6., 12.]))
        """
        return func.hvp(f, inputs, v)

    @staticmethod
    def vhp(f: Any, inputs: Any, v: Any, **_: Any) -> Any:
        """(value, v times the Hessian), the same since it is symmetric.

        >>> functional.vhp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), tensor([1.0, 1.0]))
        (tensor(9.), tensor([ 6., 12.]))
        """
        return func.hvp(f, inputs, v)


def _op(name: str) -> Any:
    return named(name)


def _clip_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, **_: Any) -> Tensor:
    """Scale the gradients of leaves so that their norm is max_norm at most; gives what it was.

    >>> x = tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> nn.utils.clip_grad_norm_([x], 1.0)
    tensor(10.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    leaves = [parameters] if parameters.__class__ is Tensor else list(parameters)
    grads = [x.grad for x in leaves if x.grad is not None]
    total = _linalg.norm([_linalg.norm(g, norm_type).item() for g in grads] or [0.0], norm_type)
    scale = min(1.0, max_norm / (total.item() + 1e-6))
    with no_grad():
        for g in grads:
            g.mul_(scale)
    return total


def _clip_value(parameters: Any, clip_value: float) -> None:
    """Bring the gradients of leaves between -clip_value and clip_value.

    >>> x = tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> nn.utils.clip_grad_value_([x], 7.0)
    >>> x.grad
    tensor([6., 7.])
    """
    with no_grad():
        for x in [parameters] if parameters.__class__ is Tensor else parameters:
            if x.grad is not None:
                x.grad.clamp_(-clip_value, clip_value)


def _parameter(data: Any = None, requires_grad: bool = True) -> Tensor:
    """A leaf that requires a gradient."""
    return wrap(raw_of(0.0 if data is None else data)).detach().requires_grad_(requires_grad)


def _rank(x: Any, *, tol: float | None = None) -> Tensor:
    """How many singular values of a matrix are above tol (of the rounding of the largest unless given).

    >>> linalg.matrix_rank(tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    np = numeric.numpy()
    return wrap(np.asarray(np.linalg.matrix_rank(raw_of(x), tol)))


linalg = SimpleNamespace(
    matrix_rank=_rank,
    norm=_linalg.matrix_norm, vector_norm=_linalg.norm, matrix_norm=_linalg.matrix_norm, det=_op("det"),
    inv=_op("inv"), solve=_op("solve"), slogdet=_linalg.slogdet, cholesky=_op("cholesky"),
    eigvalsh=_op("eigvalsh"), matrix_power=_linalg.matrix_power, multi_dot=_linalg.multi_dot, cross=_linalg.cross,
    matmul=_op("matmul"), diagonal=diagonals.diagonal, vecdot=_linalg.vecdot, solve_triangular=_linalg.solve_triangular,
)  # fmt: skip
special = SimpleNamespace(
    **{name: _op(name) for name in (
        "erf", "erfc", "erfinv", "expit", "logit", "digamma", "gammaln", "xlogy", "xlog1py", "expm1", "log1p", "exp2",
        "ndtr", "log_ndtr", "softmax", "log_softmax", "logsumexp", "sinc", "round",
    )}, psi=_op("digamma"),
)  # fmt: skip
nn = SimpleNamespace(
    functional=_functional, Parameter=_parameter,
    utils=SimpleNamespace(clip_grad_norm_=_clip_norm, clip_grad_value_=_clip_value),
)  # fmt: skip
utils = SimpleNamespace(checkpoint=_checkpoint)
cuda = SimpleNamespace(is_available=lambda: False, device_count=lambda: 0, manual_seed_all=lambda seed: None)

__all__ = [
    "Function", "Tensor", "Variable", "backward", "cuda", "detect_anomaly", "enable_grad", "function", "functional",
    "grad", "gradcheck", "gradgradcheck", "graph", "linalg", "nn", "no_grad", "set_detect_anomaly",
    "set_grad_enabled", "special", "utils",
]  # fmt: skip
