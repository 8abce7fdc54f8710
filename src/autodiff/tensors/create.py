"""Tensors made of sizes and numbers: zeros, ones, ranges, grids, and other tensors' kinds."""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.dtypes import cast, dtype_of, kind_of
from autodiff.tensors.tensor import Tensor, leaf, raw_of, tensor, wrap
from autodiff.tensors.views import share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]


def _leaf(value: Any, requires_grad: bool, dtype: Any) -> Tensor:
    return leaf(cast(numeric.raw(value), dtype), requires_grad)


def full(
    size: Any, fill_value: Any = 0.0, *more: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None
) -> Tensor:
    """A tensor of one value, of the sizes given.

    >>> full((2,), 7.0)
    tensor([7., 7.])
    """
    sizes = (size,) if isinstance(size, (int, float)) else tuple(size)
    if more:  # full(2, 2, 7.0), as the language has it
        *others, fill_value = (fill_value, *more)
        sizes += tuple(others)
    sizes = numeric.guard_size(tuple(int(n) for n in sizes))
    if any(n < 0 for n in sizes):
        raise ShapeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    return _leaf(numeric.numpy().full(sizes, float(raw_of(fill_value))), requires_grad, dtype)


def filled(value: float) -> Function:
    """The function that makes tensors of this value.

    >>> filled(1.0)(2)
    tensor([1., 1.])
    """

    def call(*size: Any, **leaf: Any) -> Tensor:
        if "size" in leaf:
            size = (leaf.pop("size"),)
        flat = size[0] if len(size) == 1 and not isinstance(size[0], (int, float)) else size
        return full(tuple(flat), value, **_known(leaf))

    call.__doc__ = f"A tensor of {value:g}s: of sizes, or of a tuple of them."
    return call


def like(value: float) -> Function:
    """The function that makes tensors of this value in the shape of another.

    >>> like(0.0)(tensor([1.0, 2.0, 3.0]))
    tensor([0., 0., 0.])
    """

    def call(x: Any, **leaf: Any) -> Tensor:
        return full(numeric.shape(raw_of(x)), value, **_known(leaf))

    call.__doc__ = f"{value:g}s of the shape of another tensor."
    return call


def _known(leaf: dict[str, Any]) -> dict[str, Any]:
    unread = ("layout", "pin_memory", "memory_format", "out", "names")
    return {k: v for k, v in leaf.items() if k not in unread or (k == "out" and v is not None)}


def full_like(x: Any, fill_value: Any, **leaf: Any) -> Tensor:
    """One value in the shape of another tensor.

    >>> full_like(tensor([1.0, 2.0, 3.0]), 7.0)
    tensor([7., 7., 7.])
    """
    return full(numeric.shape(raw_of(x)), fill_value, **_known(leaf))


def new_full(x: Any, size: Any, fill_value: Any, **leaf: Any) -> Tensor:
    """A tensor of one value (the method's tensor is not read).

    >>> new_full(tensor([1.0, 2.0, 3.0]), (2,), 7.0)
    tensor([7., 7.])
    """
    return full(size, fill_value, **leaf)


def new_zeros(x: Any, *size: Any, **leaf: Any) -> Tensor:
    """Zeros (the method's tensor is not read).

    >>> new_zeros(tensor([1.0, 2.0, 3.0]), 2)
    tensor([0., 0.])
    """
    made: Tensor = filled(0.0)(*size, **leaf)
    return made


def new_ones(x: Any, *size: Any, **leaf: Any) -> Tensor:
    """Ones (the method's tensor is not read).

    >>> new_ones(tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 1.])
    """
    made: Tensor = filled(1.0)(*size, **leaf)
    return made


def new_tensor(x: Any, data: Any, **leaf: Any) -> Tensor:
    """A tensor of the data (the method's tensor is not read).

    >>> new_tensor(tensor([1.0, 2.0, 3.0]), [1.0])
    tensor([1.])
    """
    return tensor(data, **leaf)


def arange(*ends: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None, **named: Any) -> Tensor:
    """0, 1, … n-1, or from a to below b by a step.

    >>> arange(1, 2, 0.5)
    tensor([1.0000, 1.5000])
    """
    if named:
        ends = (*ends, *(named[k] for k in ("start", "end", "step") if k in named))
    numbers = [float(raw_of(x)) for x in ends]
    if not 1 <= len(numbers) <= 3 or (len(numbers) == 3 and not numbers[2]):
        raise ShapeError("arange wants an end, or a start, an end and a step that is not 0")
    start, end, step = (0.0, *numbers, 1.0) if len(numbers) == 1 else (*numbers, 1.0)[:3]
    if (end - start) * step < 0:
        raise ShapeError("upper bound and lower bound inconsistent with step sign")
    return _leaf(numeric.numpy().arange(*numbers), requires_grad, dtype)


def linspace(
    start: Any,
    end: Any,
    steps: int = 100,
    *,
    requires_grad: bool = False,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """`steps` evenly spaced numbers, both ends included.

    >>> linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _leaf(numeric.numpy().linspace(float(start), float(end), int(steps)), requires_grad, dtype)


def logspace(
    start: Any,
    end: Any,
    steps: int = 100,
    base: float = 10.0,
    *,
    requires_grad: bool = False,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """Powers of the base, their exponents evenly spaced.

    >>> logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    return _leaf(base ** numeric.numpy().linspace(float(start), float(end), int(steps)), requires_grad, dtype)


def eye(n: Any, m: Any = None, *, requires_grad: bool = False, dtype: Any = None, device: Any = None) -> Tensor:
    """The identity matrix.

    >>> eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _leaf(numeric.numpy().eye(int(n), None if m is None else int(m)), requires_grad, dtype)


def one_hot(places: Any, num_classes: int = -1) -> Tensor:
    """A row for each place, 1 there and 0 elsewhere.

    >>> one_hot(tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    np = numeric.numpy()
    index = np.asarray(raw_of(places)).astype("int64")
    n = num_classes if num_classes >= 0 else int(index.max()) + 1
    return wrap((index[..., None] == np.arange(n)).astype("int64"))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """data itself if it is a tensor, else a tensor of it; one of a NumPy array of float64 changes with it.

    >>> as_tensor([1.0])
    tensor([1.])
    """
    if data.__class__ is Tensor:
        return data if dtype is None else to(data, dtype)
    if numeric.is_array(data) and data.dtype == float and data.flags.writeable and kind_of(dtype or float) == "f":
        made = wrap(numeric.raw(data))
        share(made, data)
        return made
    return tensor(data, dtype=dtype)


def sized(*data: Any) -> Tensor:
    """PyTorch's old constructor: a tensor of the data, or uninitialised of the sizes.

    >>> sized([1.0, 2.0])
    tensor([1., 2.])
    """
    if not data:
        return tensor([])
    if len(data) == 1 and not isinstance(data[0], int):
        return tensor(data[0])
    made: Tensor = filled(0.0)(*data)
    return made


class _Callable(type):
    """What makes a class that stands for that of tensors, and can be called: the class itself is made without data."""

    def __call__(cls, *data: Any) -> Tensor:
        return sized(*data)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor)

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(other, Tensor)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is Tensor

    def __hash__(cls) -> int:
        return hash(Tensor)

    def __repr__(cls) -> str:
        return repr(Tensor)

    def __getattr__(cls, name: str) -> Any:
        """A method that the rows give, as a function."""
        from autodiff.tensors.namespace import in_place, method

        found = None if name[:1] == "_" else method(name) or in_place(name)
        if found is None:
            raise AttributeError(f"type object 'Tensor' has no attribute '{name}'")
        return found


Named: Any = _Callable(
    "Tensor", (Tensor,), {"__slots__": (), "__module__": Tensor.__module__, "__doc__": Tensor.__doc__}
)
"""`ad.Tensor`: the class of tensors, which makes them of data or sizes, as PyTorch's old constructor does.

>>> Named([1.0, 2.0]), isinstance(tensor(1.0), Named), type(tensor(1.0)) == Named
(tensor([1., 2.]), True, True)
"""


def floating(x: Any, *_: Any, **__: Any) -> Tensor:
    """The tensor in float64: itself, unless it holds truth values or whole numbers.

    >>> floating(tensor([True, False]))
    tensor([1., 0.])
    """
    value = raw_of(x)
    if value.__class__ is float or (numeric.is_array(value) and value.dtype.kind == "f"):
        return x if x.__class__ is Tensor else wrap(value)
    return wrap(cast(value, float))


def whole_numbers(x: Any) -> Tensor:
    """Whole numbers, cut off towards 0; no derivative flows through.

    >>> whole_numbers(tensor([1.7]))
    tensor([1])
    """
    return wrap(cast(raw_of(x), int))


def truths(x: Any) -> Tensor:
    """Whether entries are not 0.

    >>> truths(tensor([0.0, 2.0]))
    tensor([False,  True])
    """
    return wrap(cast(raw_of(x), bool))


def to(x: Any, *where: Any, **options: Any) -> Tensor:
    """The tensor as a kind of number; places are read and there is one.

    >>> to(tensor([1.7]), int)
    tensor([1])
    """
    from autodiff.tensors.dtypes import Dtype, device

    wanted = options.get("dtype")
    for item in where:
        if item.__class__ is Dtype or isinstance(item, type):
            wanted = item
        elif isinstance(item, str):
            device(item)
    if options.get("device") is not None:
        device(options["device"])
    if wanted is None:
        return x if x.__class__ is Tensor else tensor(x)
    return {"f": floating, "i": whole_numbers, "b": truths}[kind_of(wanted)](x)


def stride(x: Any, dim: Any = None) -> Any:
    """How far apart in memory neighbours along each axis are, in entries.

    >>> stride(tensor([[1.0, 2.0]]))
    (2, 1)
    """
    value = raw_of(x)
    steps = tuple(n // value.itemsize for n in value.strides) if numeric.is_array(value) else ()
    return steps if dim is None else steps[dim]


def is_contiguous(x: Any) -> bool:
    """Whether the entries are in row-major order in memory.

    >>> is_contiguous(tensor([[1.0, 2.0], [3.0, 4.0]]).T)
    False
    """
    value = raw_of(x)
    return not numeric.is_array(value) or bool(value.flags.c_contiguous)


def contiguous(x: Any) -> Any:
    """x, with its entries in row-major order in memory.

    >>> contiguous(tensor([[1.0, 2.0], [3.0, 4.0]]).T).stride()
    (2, 1)
    """
    return x if is_contiguous(x) else x.clone()


def kind(x: Any, *wanted: Any, **options: Any) -> Any:
    """The name of the old kind of tensor, or x as another kind.

    >>> kind(tensor(1.0)), kind(tensor(1.5), int)
    ('torch.DoubleTensor', tensor(1))
    """
    if wanted or options:
        return to(x, *wanted, **options)
    return {"f": "torch.DoubleTensor", "i": "torch.LongTensor", "b": "torch.BoolTensor"}[dtype_of(raw_of(x)).kind]


def same(x: Any, *_: Any, **__: Any) -> Any:
    """The tensor itself: there is one place, and one layout.

    >>> same(tensor(1.0))
    tensor(1.)
    """
    return x


__all__ = ["arange", "eye", "full", "linspace", "logspace"]
