"""What functions of tensors are made of: a row by name, axes, and places as whole numbers."""

from __future__ import annotations

from collections import namedtuple

from autodiff import numeric
from autodiff.ops import OPS
from autodiff.tensors.misfits import RangeError
from autodiff.tensors.tensor import Tensor, kept_kind, raw_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def answer(name: str, fields: str) -> Any:
    """The class of several values with names, printed as PyTorch does it.

    >>> answer("extent", "min max")(1.0, 2.0)
    torch.return_types.extent(
    min=1.0,
    max=2.0)
    """

    def shown(self: Any) -> str:
        parts = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"torch.return_types.{name}(\n{parts})"

    made: Any = namedtuple
    return type(name, (made(name, fields),), {"__slots__": (), "__repr__": shown})


ALONG = {
    name: answer(name, "values indices")
    for name in ("cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "sort", "topk")
}
"""Of a function's name: entries along an axis and where they were."""


def run(name: str, *xs: Any, **params: Any) -> Tensor:
    """A row, by name, on tensors.

    >>> run("sin", tensor(0.0))
    tensor(0.)
    """
    made = Tensor.apply_op(OPS[name], xs, params)
    kind = kept_kind(name, raw_of(xs[0]))
    if kind is not None:
        made._value = kind(made._value)
    return made


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a tensor or of what can be one.

    >>> shape_of(tensor([1.0, 2.0, 3.0]))
    (3,)
    """
    return numeric.shape(raw_of(x))


def axis_of(dim: Any, rank: int) -> int:
    """An axis counted from the front; RangeError where there is none of that number.

    >>> axis_of(-1, 3)
    2
    """
    if not -max(rank, 1) <= dim < max(rank, 1):
        last = max(rank, 1) - 1
        raise RangeError(f"Dimension out of range (expected to be in range of [{-last - 1}, {last}], but got {dim})")
    return int(dim % max(rank, 1))


def whole(x: Any) -> Any:
    """Indices as an array of whole numbers.

    >>> whole(tensor([1.0]))
    array([1])
    """
    return numeric.numpy().asarray(raw_of(x)).astype("int64")
