"""Activations of torch.nn.functional that are no rows."""

from __future__ import annotations

from autodiff.errors import ShapeError
from autodiff.tensors.compose import axis_of, run, shape_of
from autodiff.tensors.dtypes import KindError
from autodiff.tensors.joining import chunk
from autodiff.tensors.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def softmin(x: Any, dim: int = -1) -> Tensor:
    """softmax of -x along an axis.

    >>> softmin(tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """
    return run("softmax", -x, axis=axis_of(dim, len(shape_of(x))))


def hardtanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x brought between two bounds; its slope is 0 at them, too, as in PyTorch.

    >>> hardtanh(tensor([0.5, 2.0, 3.0]))
    tensor([0.5000, 1.0000, 1.0000])
    """
    return run("where", run("le", x, min_val), min_val, run("where", run("ge", x, max_val), max_val, x))


def relu6(x: Any) -> Tensor:
    """x brought between 0 and 6.

    >>> relu6(tensor(7.0))
    tensor(6.)
    """
    return hardtanh(x, 0.0, 6.0)


def hardsigmoid(x: Any) -> Any:
    """(x + 3) / 6 brought between 0 and 1.

    >>> hardsigmoid(tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return relu6(x + 3.0) / 6.0


def hardswish(x: Any) -> Any:
    """x * hardsigmoid(x).

    >>> hardswish(tensor([-4.0, 0.0, 4.0]))
    tensor([-0.,  0.,  4.])
    """
    return run("where", run("le", x, -3.0), -0.0, run("where", run("ge", x, 3.0), x, x * (x + 3.0) / 6.0))


def celu(x: Any, alpha: float = 1.0) -> Any:
    """x above 0, alpha * expm1(x / alpha) below it.

    >>> celu(tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    above = run("gt", x, 0.0)
    return run("where", above, x, run("expm1", run("where", above, 0.0, x) / alpha) * alpha)


def tanhshrink(x: Any) -> Any:
    """x - tanh(x).

    >>> tanhshrink(tensor(1.0))
    tensor(0.2384)
    """
    return x - run("tanh", x)


def softshrink(x: Any, lambd: float = 0.5) -> Any:
    """x nearer to 0 by lambd, and 0 within it.

    >>> softshrink(tensor([-2.0, 0.1, 1.0]))
    tensor([-1.5000,  0.0000,  0.5000])
    """
    return run("where", run("gt", x, lambd), x - lambd, run("where", run("lt", x, -lambd), x + lambd, 0.0))


def hardshrink(x: Any, lambd: float = 0.5) -> Tensor:
    """x, and 0 within lambd of 0.

    >>> hardshrink(tensor([-2.0, 0.1, 1.0]))
    tensor([-2.,  0.,  1.])
    """
    return run("where", run("le", run("abs", x), lambd), 0.0, x)


def threshold(x: Any, threshold: float, value: float) -> Tensor:
    """x above the threshold, else a value.

    >>> threshold(tensor([0.5, 2.0]), 1.0, 0.0)
    tensor([0., 2.])
    """
    return run("where", run("gt", x, threshold), x, value)


def glu(x: Any, dim: int = -1) -> Any:
    """The first half along an axis times sigmoid of the second.

    >>> glu(tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """
    n = (shape_of(x) or (1,))[axis_of(dim, len(shape_of(x)))]
    if n % 2:
        raise ShapeError(f"glu: Halving dimension must be even, but dimension {dim} is size {n}")
    a, b = chunk(x, 2, dim)
    return run("mul", a, run("sigmoid", b))


def gelu(x: Any, approximate: str = "none") -> Any:
    """x times the normal distribution up to x; by `approximate` "tanh" as people compute it without erf.

    >>> gelu(tensor(1.0)), gelu(tensor(1.0), approximate="tanh")
    (tensor(0.8413), tensor(0.8412))
    """
    if approximate == "none":
        return run("gelu", x)
    if approximate != "tanh":
        raise KindError(f"approximate is 'none' or 'tanh', not '{approximate}'")
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)  # sqrt(2 / pi)
    return 0.5 * x * (1.0 + run("tanh", inner))
