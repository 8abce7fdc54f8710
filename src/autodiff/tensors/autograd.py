"""PyTorch's namespace `autograd`: the same functions under the names that scripts know."""

from __future__ import annotations

from autodiff.tensors import func
from autodiff.tensors.func import gradcheck, gradgradcheck
from autodiff.tensors.function import Function
from autodiff.tensors.modes import detect_anomaly, enable_grad, no_grad, set_detect_anomaly, set_grad_enabled
from autodiff.tensors.tensor import Tensor, backward, grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Variable = Tensor


class functional:
    """torch.autograd.functional: derivatives of a function at inputs."""

    @staticmethod
    def _each(transform: Any, f: Any, inputs: Any) -> Any:
        if isinstance(inputs, tuple):
            return transform(f, tuple(range(len(inputs))))(*inputs)
        return transform(f)(inputs)

    @staticmethod
    def jacobian(f: Any, inputs: Any, **_: Any) -> Any:
        """The Jacobian at the inputs, a tuple for a tuple."""
        return functional._each(func.jacobian, f, inputs)

    @staticmethod
    def hessian(f: Any, inputs: Any, **_: Any) -> Any:
        """The Hessian at one input, or the blocks for a tuple."""
        if not isinstance(inputs, tuple):
            return func.hessian(f)(inputs)
        places = range(len(inputs))
        return tuple(func.jacobian(func.grad(f, k), tuple(places))(*inputs) for k in places)

    @staticmethod
    def vjp(f: Any, inputs: Any, v: Any = 1.0, **_: Any) -> Any:
        """(value, v times the Jacobian)."""
        y, pull = func.vjp(f, *(inputs if isinstance(inputs, tuple) else (inputs,)))
        found = pull(v)
        return y, found if isinstance(inputs, tuple) else found[0]

    @staticmethod
    def jvp(f: Any, inputs: Any, v: Any = 1.0, **_: Any) -> Any:
        """(value, the Jacobian times v)."""
        many = isinstance(inputs, tuple)
        return func.jvp(f, inputs if many else (inputs,), v if many else (v,))

    @staticmethod
    def hvp(f: Any, inputs: Any, v: Any, **_: Any) -> Any:
        """(value, the Hessian times v)."""
        return func.hvp(f, inputs, v)


__all__ = [
    "Function", "Tensor", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "gradcheck",
    "gradgradcheck", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip
