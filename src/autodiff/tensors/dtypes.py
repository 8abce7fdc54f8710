"""Kinds of numbers by PyTorch's names: all that are fractions are kept as float64."""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import ComputationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class KindError(ComputationError, TypeError):
    """A value of a kind that can't be used here."""

    kind = "type"


class Dtype:
    """A kind of number: "f" of fractions, "i" of whole numbers, "b" of truth values."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind

    @property
    def is_floating_point(self) -> bool:
        """Whether it has fractions."""
        return self.kind == "f"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return _by_name, (self.name,)


def _by_name(name: str) -> Dtype:
    return DTYPES[name]


float64, float32 = Dtype("float64", "f"), Dtype("float32", "f")
int64, truth = Dtype("int64", "i"), Dtype("bool", "b")
DTYPES = {
    "float64": float64, "double": float64, "float32": float32, "float": float32, "float16": Dtype("float16", "f"),
    "half": Dtype("float16", "f"), "bfloat16": Dtype("bfloat16", "f"), "int64": int64, "long": int64,
    "int32": Dtype("int32", "i"), "int": Dtype("int32", "i"), "bool": truth,
}  # fmt: skip
_default = [float32]


def kind_of(dtype: Any) -> str:
    """The kind that a script asks for: by one of ours, by a Python type, or in NumPy's way.

    >>> kind_of(float)
    'f'
    """
    if dtype.__class__ is Dtype:
        return str(dtype.kind)
    kinds = {float: "f", int: "i", bool: "b"}
    if dtype in kinds:
        return kinds[dtype]
    try:
        kind = str(numeric.numpy().dtype(dtype).kind)
    except TypeError:
        kind = "?"
    if kind not in "fiub":
        raise KindError(f"there are no tensors of {dtype}", help="numbers are float64, whole numbers or truth values")
    return "i" if kind == "u" else kind


def cast(value: Any, dtype: Any) -> Any:
    """A raw value in the kind asked for, as it is if none is.

    >>> cast(2.5, int)
    array(2)
    """
    if dtype is None:
        return value
    kind = kind_of(dtype)
    if kind == "b":
        return value != 0.0 if value.__class__ is not bool else value
    if kind == "i":
        return numeric.numpy().asarray(value).astype("int64")
    return numeric.real(numeric.raw(value))


def dtype_of(value: Any) -> Dtype:
    """The kind of a raw value.

    >>> dtype_of(1.0)
    torch.float64
    """
    kind = value.dtype.kind if numeric.is_array(value) else "b" if value.__class__ is bool else "f"
    return {"f": float64, "b": truth}.get(kind, int64)


def set_default_dtype(dtype: Any) -> None:
    """Read for PyTorch's sake: values are float64 in any case. Random numbers then have 53 bits, not 24.

    >>> set_default_dtype(float32)
    """
    if kind_of(dtype) != "f":
        raise KindError(f"the default is a kind of fractions, not {dtype}")
    _default[0] = float64 if is_double(dtype) else float32


def get_default_dtype() -> Dtype:
    """What new tensors are: float64.

    >>> get_default_dtype()
    torch.float64
    """
    return float64


def is_double(dtype: Any) -> bool:
    """Whether numbers of 53 random bits are wanted.

    >>> is_double(float64)
    True
    """
    if dtype is None:
        dtype = _default[0]
    return dtype is float64 or dtype is float or str(dtype).endswith("float64")


class Info:
    """Limits of float64, as `finfo` gives them."""

    bits, eps, max, min, tiny = 64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, -(2 - 2.0**-52) * 2.0**1023, 2.0**-1022
    smallest_normal, resolution = tiny, 1e-15
    dtype = "float64"


def finfo(dtype: Any = None) -> Info:
    """The limits of the numbers that are computed with: float64, whatever is asked for.

    >>> finfo().eps
    2.220446049250313e-16
    """
    return Info()


class WholeInfo:
    """Limits of 64-bit whole numbers, as `iinfo` gives them."""

    bits, max, min = 64, 2**63 - 1, -(2**63)
    dtype = "int64"


def iinfo(dtype: Any = None) -> WholeInfo:
    """The limits of whole numbers: 64 bits, whatever is asked for.

    >>> iinfo().max
    9223372036854775807
    """
    return WholeInfo()


class device(str):
    """Where tensors are: the CPU, the only place there is.

    >>> device("cpu").type
    'cpu'
    """

    __slots__ = ()

    def __new__(cls, name: Any = "cpu", index: int | None = None) -> device:
        if str(name).partition(":")[0] != "cpu":
            raise KindError(f"there is no device '{name}' here", help="all tensors are on the 'cpu'")
        return super().__new__(cls, "cpu")

    @property
    def type(self) -> str:
        """The name of the place."""
        return "cpu"


__all__ = [
    "DTYPES",
    "Dtype",
    "cast",
    "device",
    "dtype_of",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "is_double",
    "kind_of",
    "set_default_dtype",
]
