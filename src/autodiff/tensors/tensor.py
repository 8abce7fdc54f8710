"""Tensor: a value that knows how it was made, with PyTorch's vocabulary."""

from __future__ import annotations

import operator
from weakref import ref as reference

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.tensors.buffers import SMALL, Owner, owner_of
from autodiff.tensors.dtypes import KindError, dtype_of
from autodiff.tensors.graph import AccumulateGrad, Blank, GraphError, Handle, number, record
from autodiff.tensors.misfits import CountError, explained
from autodiff.tensors.modes import mode, special
from autodiff.tensors.naming import shown
from autodiff.tensors.size import EMPTY, Size
from autodiff.tensors.views import Links, change, given_away, link, links_of, root_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

NONE: dict[str, Any] = {}


class Tensor:
    """A float or an array of floats, and the recorded operation that made it.

    Made by `tensor(data)` and by operations on tensors. Values are float64 (comparisons give truth values).

    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum()
    tensor(5., grad_fn=<SumBackward0>)
    """

    __slots__ = ("__weakref__", "_fn", "_kept", "_links", "_owner", "_value")
    op_rank = 3
    __array_priority__ = 1000

    _value: Any
    _fn: Any
    """The node that made it, AccumulateGrad of a leaf, None where no derivative is wanted."""
    _links: Links
    """Of what was changed in place, of views, and of tensors that have them."""
    _owner: Owner
    """Of a large array: gives it back when the tensor goes."""
    _kept: Tensor | None
    """The gradient of a tensor that is no leaf and retains it."""

    @staticmethod
    def apply_op(op: Op, xs: Sequence[Any], params: dict[str, Any]) -> Tensor:
        """Run the op on the operands' values; record it if an operand wants a derivative.

        >>> Tensor.apply_op(OPS["sin"], (0.0,), {})
        tensor(0.)
        """
        values = []
        fns = []
        wanted = False
        for x in xs:
            if x.__class__ is Tensor:
                values.append(x._value)
                fn = x._fn
                fns.append(fn)
                wanted = wanted or fn is not None
            else:
                values.append(x if x.__class__ is float else plain(x))
                fns.append(None)
        try:
            y = op(*values, **params)
        except ShapeError as error:
            raise explained(op, values, error) from None
        if y.__class__ is float:
            for value in values:
                if value is y:
                    y = y * 1.0  # an object of its own, so that changes in place are told apart
        made = Tensor()
        made._value = y
        if y.__class__ is not float and y.__class__ is not bool and y.size >= SMALL:
            made._owner = owner_of(y)
        made._fn = None
        if wanted and op.differentiable and (not special[0] or mode.recording):
            made._fn = record(op, fns, values, y, params)
            if special[0]:
                _watched(made, xs)
        return made

    # What it is.

    @property
    def shape(self) -> Size:
        """Length along each axis; empty for one number.

        >>> tensor([[1.0, 2.0]]).shape
        torch.Size([1, 2])
        """
        value = self._value
        return EMPTY if value.__class__ is float or value.__class__ is bool else Size(value.shape)

    @property
    def ndim(self) -> int:
        """Number of axes.

        >>> tensor([[1.0, 2.0]]).ndim
        2
        """
        return len(self.shape)

    def dim(self) -> int:
        """Number of axes.

        >>> tensor([[1.0, 2.0]]).dim()
        2
        """
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length along one axis.

        >>> tensor([[1.0, 2.0]]).size(1)
        2
        """
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """Number of entries.

        >>> tensor([[1.0, 2.0]]).numel()
        2
        """
        return int(getattr(self._value, "size", 1))

    nelement = numel

    @property
    def T(self) -> Tensor:
        """The axes in reverse order.

        >>> tensor([[1.0, 2.0]]).T
        tensor([[1.],
                [2.]])
        """
        return link(_turned(self), self, _turned)  # type: ignore[no-any-return]

    def t(self) -> Tensor:
        """The transpose of a matrix or vector.

        >>> tensor([[1.0, 2.0]]).t().shape
        torch.Size([2, 1])
        """
        return self.T

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded.

        >>> (2 * tensor(1.0, requires_grad=True)).requires_grad
        True
        """
        return self._fn is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Makes a leaf whose gradient is wanted (or not); GraphError for what an operation made.

        >>> tensor(1.0).requires_grad_()
        tensor(1., requires_grad=True)
        """
        if not self.is_leaf:
            if requires_grad:
                return self
            raise GraphError(
                "you can only change requires_grad flags of leaf variables",
                help="detach() gives a tensor outside the graph",
            )
        if requires_grad and self._fn is None:
            if dtype_of(self._value).kind != "f":
                raise GraphError(
                    "only Tensors of floating point dtype can require gradients", help="take float() of it"
                )
            self._fn = accumulator(self)
            self._fn.grad = getattr(self, "_kept", None)
        elif not requires_grad and self._fn is not None:
            self._kept = self.grad
            self._fn = None
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it.

        >>> x = tensor(2.0, requires_grad=True)
        >>> x.is_leaf, (x * x).is_leaf
        (True, False)
        """
        return self._fn is None or self._fn.op is None

    @property
    def grad_fn(self) -> Any:
        """The recorded operation that made it; None for a leaf.

        >>> tensor(1.0, requires_grad=True).exp().grad_fn.name()
        'ExpBackward0'
        """
        return None if self.is_leaf else shown(self._fn)

    @property
    def grad(self) -> Tensor | None:
        """What backward passes have added up here: of leaves, and of tensors that retain it.

        >>> x = tensor(2.0, requires_grad=True)
        >>> (x * x).backward()
        >>> x.grad
        tensor(4.)
        """
        fn = self._fn
        if fn is not None and fn.op is None:
            g = fn.grad
            if g is not None and g.__class__ is not Tensor:
                g = fn.grad = wrap(g)  # a sweep leaves raw values, which most leaves are never asked for
            return g  # type: ignore[no-any-return]
        return getattr(self, "_kept", None)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and value.__class__ is not Tensor:
            raise KindError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}",
                help="make one by tensor(…)",
            )
        if value is not None and numeric.shape(value) != self.shape:
            raise ShapeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' "
                f"to a tensor of size '{list(self.shape)}'"
            )
        if self._fn is not None and self._fn.op is None:
            self._fn.grad = value
        else:
            self._kept = value

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that is no leaf, too.

        >>> y = 2 * tensor(1.0, requires_grad=True)
        >>> y.retain_grad()
        >>> (y * y).backward()
        >>> y.grad
        tensor(4.)
        """
        if self._fn is None:
            raise GraphError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf:
            self._fn.more().kept = reference(self)

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad was called.

        >>> (2 * tensor(1.0, requires_grad=True)).retains_grad
        False
        """
        return not self.is_leaf and self._fn.more().kept is not None

    @property
    def output_nr(self) -> int:
        """Which output of its operation it is: those of the library have one.

        >>> tensor(1.0).output_nr
        0
        """
        return getattr(self._fn, "place", 0)

    @property
    def _version(self) -> int:
        """How often it, or what it is a view of, was changed in place."""
        links = getattr(self, "_links", None)
        while links is not None and links.parent is not None:
            links = links.parent._links
        return 0 if links is None else links.changes

    @property
    def _base(self) -> Tensor | None:
        """The tensor that it is a view of; None if it is no view."""
        from autodiff.tensors.views import root_of

        return root_of(self)[0] if self._is_view() else None

    def _is_view(self) -> bool:
        """Whether it shows entries of another tensor."""
        links = getattr(self, "_links", None)
        return links is not None and links.parent is not None and links.how is not None

    if TYPE_CHECKING:
        # set below from the rows

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]

    # Out of the graph.

    def item(self) -> Any:
        """The number itself; ShapeError if there are several.

        >>> tensor([2.0]).item()
        2.0
        """
        value = self._value
        if numeric.is_array(value):
            if value.size != 1:
                raise ShapeError(f"a Tensor with {value.size} elements cannot be converted to Scalar")
            return value.reshape(-1)[0].item()
        return value

    def tolist(self) -> Any:
        """The number, or nested lists of them.

        >>> tensor([[1.0, 2.0]]).tolist()
        [[1.0, 2.0]]
        """
        return self._value.tolist() if numeric.is_array(self._value) else self._value

    def numpy(self, *, force: bool = False) -> Any:
        """The value as a NumPy array; GraphError if it requires a gradient, unless `force`.

        >>> tensor([1.0, 2.0]).numpy()
        array([1., 2.])
        """
        if self._fn is not None and not force:
            raise GraphError(
                "Can't call numpy() on Tensor that requires grad: its derivative would be lost",
                help="Use tensor.detach().numpy() instead",
            )
        return given_away(self)

    def detach(self) -> Tensor:
        """The same value outside the graph. Changes in place show in both.

        >>> tensor(2.0, requires_grad=True).detach()
        tensor(2.)
        """
        return link(wrap(self._value), self, None)  # type: ignore[no-any-return]

    @property
    def data(self) -> Tensor:
        """The same value outside the graph.

        >>> tensor(2.0, requires_grad=True).data
        tensor(2.)
        """
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        self._value = plain(value)

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy, recorded (memory_format is read and not needed).

        >>> tensor(2.0, requires_grad=True).clone().is_leaf
        False
        """
        made = self._apply("pos")
        if numeric.is_array(made._value):
            made._value = made._value.copy()
        return made

    def detach_(self) -> Tensor:
        """Takes the tensor itself out of the graph.

        >>> (2 * tensor(1.0, requires_grad=True)).detach_()
        tensor(2.)
        """
        self._fn = None
        return self

    # Backward.

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the derivatives of this value to `.grad` of the leaves it was made of (or of `inputs` alone).

        `gradient` has the shape of the value and may be missing if that is one number. GraphError if nothing
        requires a gradient, or the graph was freed by an earlier backward without `retain_graph`.

        >>> x = tensor(2.0, requires_grad=True)
        >>> ((x + 2) * x).backward()
        >>> x.grad
        tensor(6.)
        """
        from autodiff.tensors.backward import backward

        backward([self], [gradient], retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """hook(gradient) when the gradient of this tensor is known; what it gives, if not None, replaces it.

        >>> x = tensor(2.0, requires_grad=True)
        >>> handle = x.register_hook(lambda g: 10 * g)
        >>> (x * x).backward()
        >>> x.grad
        tensor(40.)
        """
        if self._fn is None:
            raise GraphError("cannot register a hook on a tensor that doesn't require gradient")
        return Handle(self._fn.more().hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """hook(tensor) after a leaf's gradient was added up.

        >>> x = tensor(2.0, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda x: print(x.grad))
        >>> (x * x).backward()
        tensor(4.)
        """
        if self._fn is None or self._fn.op is not None:
            raise GraphError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        ref = reference(self)
        return Handle(self._fn.more().after, lambda *_: hook(ref()))  # type: ignore[arg-type]

    # Operations by name.

    def _apply(self, name: str, *others: Any, **params: Any) -> Tensor:
        made = Tensor.apply_op(OPS[name], (self, *others), params)
        kind = kept_kind(name, self._value)
        if kind is not None:
            made._value = kind(made._value)
        return made

    def __getattr__(self, name: str) -> Any:
        if name[:1] != "_":
            from autodiff.tensors.namespace import PROPERTIES, in_place, method

            if name in PROPERTIES:
                return PROPERTIES[name](self)
            found = method(name)
            if found is not None:
                return lambda *xs, **params: found(self, *xs, **params)
            changed_by = in_place(name)
            if changed_by is not None:
                return lambda *xs, **params: changed_by(self, *xs, **params)
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")

    def __getitem__(self, index: Any) -> Tensor:
        items = _index(index)
        for item in items:
            if item.__class__ is not int and item.__class__ is not slice:
                break
        else:
            try:
                return link(self._apply("index", index=items), self, items)  # type: ignore[no-any-return]
            except ShapeError:
                pass
        from autodiff.tensors.indexing import pick  # which takes None and `...`, or says what is wrong

        made: Tensor = pick(self, items)
        if made is self or any(numeric.is_array(item) or item.__class__ is bool for item in items):
            return made
        return link(made, self, lambda x: pick(x, items))  # type: ignore[no-any-return]

    def __setitem__(self, index: Any, value: Any) -> None:
        items = _index(index)
        if value.__class__ is Tensor:
            links = getattr(value, "_links", None)
            if links is not None and links.parent is self and links.how.__class__ is tuple and links.how == items:
                links_of(root_of(self)[0]).changes += 1
                return  # after x[i] += 1, which has changed x already
        else:
            value = plain(value)
        self._rebind(self._apply("put", value, index=items), "__setitem__")

    def __len__(self) -> int:
        if not self.shape:
            raise KindError("len() of a 0-d tensor")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise KindError("iteration over a 0-d tensor")
        return (self[k] for k in range(self.shape[0]))

    def __contains__(self, x: Any) -> bool:
        return bool(numeric.numpy().any(raw_of(self == x)))

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self.shape else self

    def __abs__(self) -> Tensor:
        return self._apply("abs")

    def __xor__(self, other: Any) -> Tensor:
        from autodiff.tensors.namespace import xor

        return xor(self, other)

    def __index__(self) -> int:
        value = self.item()
        if value != int(value):
            raise KindError(f"{value} is no whole number, so no index")
        return int(value)

    def __invert__(self) -> Tensor:
        return self._apply("not")

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __bool__(self) -> bool:
        count = self.numel()
        if count != 1:
            raise ShapeError(
                f"Boolean value of Tensor with {'more than one value' if count else 'no values'} is ambiguous"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def _only(self) -> Any:
        """The number, for Python's own kinds."""
        if self.numel() != 1:
            raise CountError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.shape or (spec and self.numel() == 1) else str(self)

    __hash__ = object.__hash__

    # In place.

    def _rebind(self, made: Tensor, name: str) -> Tensor:
        """This tensor becomes `made`; whoever saved the old value is told at backward."""
        recording = not special[0] or mode.recording
        if recording and self._fn is not None and self._fn.op is None:
            raise GraphError(
                f"a leaf Variable that requires grad is being used in an in-place operation, {name}",
                help="change it inside `with no_grad():`",
            )
        if made.shape != self.shape:
            raise ShapeError(f"{name} would change the shape from {self.shape} to {made.shape}")
        if recording and self._fn is not None and made._fn is None:
            made = Tensor.apply_op(OPS["where"], (True, made, self), NONE)  # nothing flows to what was there
        change(self, made, name)
        return self

    def zero_(self) -> Tensor:
        """All entries 0, in place.

        >>> tensor([1.0, 2.0]).zero_()
        tensor([0., 0.])
        """
        return self._rebind(wrap(full_like(self, 0.0)), "zero_")

    def fill_(self, value: Any) -> Tensor:
        """All entries `value`, in place.

        >>> tensor([1.0, 2.0]).fill_(7.0)
        tensor([7., 7.])
        """
        return self._rebind(wrap(full_like(self, float(value))), "fill_")

    def copy_(self, other: Any) -> Tensor:
        """The entries of `other`, in place.

        >>> tensor([1.0, 2.0]).copy_(tensor([3.0, 4.0]))
        tensor([3., 4.])
        """
        made = other * full_like(self, 1.0) if other.__class__ is Tensor else wrap(full_like(self, 1.0) * plain(other))
        return self._rebind(made, "copy_")

    def _scaled(self, op: str, other: Any, alpha: float, name: str) -> Tensor:
        return self._rebind(self._apply(op, other if alpha == 1 else other * float(alpha)), name)

    def add_(self, other: Any, *, alpha: float = 1) -> Tensor:
        """self + alpha*other, in place.

        >>> tensor([1.0, 2.0]).add_(1.0, alpha=10)
        tensor([11., 12.])
        """
        return self._scaled("add", other, alpha, "add_")

    def sub_(self, other: Any, *, alpha: float = 1) -> Tensor:
        """self - alpha*other, in place.

        >>> tensor([1.0, 2.0]).sub_(1.0)
        tensor([0., 1.])
        """
        return self._scaled("sub", other, alpha, "sub_")

    # Pickle and copies: leaves only.

    def __reduce__(self) -> Any:
        if not self.is_leaf:
            raise GraphError("only leaves can be copied or pickled", help="detach() first")
        return _rebuilt, (self._value, self.requires_grad, self.grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise GraphError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",
                help="detach() or clone() first",
            )
        value, grad = self._value, self.grad
        made = memo[id(self)] = _rebuilt(
            value.copy() if numeric.is_array(value) else value,
            self.requires_grad,
            None if grad is None else grad.detach().clone(),
        )
        return made

    def __repr__(self) -> str:
        from autodiff.tensors.printing import text

        return text(self)

    # NumPy.

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numeric.numpy().array(self.numpy(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, how: str, *xs: Any, **options: Any) -> Any:
        from autodiff.tensors.arrays import ufunc as called

        return called(ufunc, how, xs, options)

    def __array_function__(self, function: Any, types: Any, xs: Any, options: Any) -> Any:
        from autodiff.tensors.arrays import array_function

        return array_function(function, xs, options)


def _watched(made: Tensor, xs: Sequence[Any]) -> None:
    """What the modes want of an operation just recorded."""
    if mode.anomaly:
        import traceback

        made._fn.more().where = "".join(traceback.format_stack()[:-2])
    if mode.packing is not None:
        from autodiff.tensors.hooks import pack

        pack(made._fn, xs, made)


ARRANGES = frozenset((
    "index", "put", "reshape", "transpose", "moveaxis", "broadcast", "flatten", "concat", "stack", "diag",
))  # fmt: skip


def kept_kind(name: str, value: Any) -> Callable[[Any], Any] | None:
    """Of an op that only arranges entries, on truth values or whole numbers: what makes its result such again."""
    if value.__class__ is float or name not in ARRANGES:
        return None
    kind = value.dtype.kind if numeric.is_array(value) else "b" if value.__class__ is bool else "f"
    if kind == "f":
        return None
    if kind == "b":
        return lambda y: y != 0.0
    return lambda y: numeric.numpy().asarray(y).astype("int64")


def wrap(value: Any) -> Tensor:
    """A raw value as a tensor that no derivative is wanted of."""
    if value.__class__ is Tensor:
        return value
    made = Tensor()
    made._value = value
    made._fn = None
    return made


def handle(value: Any, fn: Any) -> Tensor:
    """A tensor for a value that a node made."""
    made = Tensor()
    made._value = value
    made._fn = fn
    return made


def raw_of(x: Any) -> Any:
    """The raw value of a tensor or of what can be one."""
    return x._value if x.__class__ is Tensor else plain(x)


def plain(x: Any) -> Any:
    """What a person may give as data, as a raw value: float, bool, or an array of floats of one or more axes."""
    if x.__class__ is float or x.__class__ is bool:
        return x
    if x.__class__ is Tensor:
        return x._value
    if x.__class__ is int:
        return float(x)
    if isinstance(x, Blank):
        return x
    if isinstance(x, (list, tuple)):
        try:
            x = numeric.numpy().array([raw_of(entry) for entry in x])
        except ValueError:
            raise CountError("lists of different lengths do not make an array") from None
    if numeric.is_array(x) and getattr(x.dtype, "kind", "") not in "fbiu":
        raise KindError(f"an array of {x.dtype} is none of numbers", help="give floats, whole numbers or truth values")
    try:
        return numeric.raw(x)
    except (TypeError, ValueError):
        raise KindError(f"{type(x).__name__} is no number and no array") from None


def full_like(like: Tensor, value: float) -> Any:
    return numeric.numpy().full(like.shape, value) if like.shape else value * 1.0


def _turned(x: Tensor) -> Tensor:
    return x._apply("transpose")


def _index(index: Any) -> tuple[Any, ...]:
    items = index if isinstance(index, tuple) else (index,)
    return tuple(_index_item(item) for item in items)


def _index_item(item: Any) -> Any:
    value = item._value if item.__class__ is Tensor else item
    if value.__class__ is float:
        return operator.index(int(value)) if value == int(value) else value
    if isinstance(value, list):
        value = numeric.numpy().array(value)
    return value.astype(int) if numeric.is_array(value) and value.dtype.kind == "f" else value


def _rebuilt(value: Any, requires_grad: bool, grad: Tensor | None) -> Tensor:
    made = wrap(value).requires_grad_(requires_grad)
    if grad is not None:
        made.grad = grad
    return made


def tensor(data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None) -> Tensor:
    """A leaf: a number, nested lists, or an array, as float64 (`dtype` and `device` are read and need not be given).

    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if data.__class__ is float and dtype is None:
        made = Tensor()
        made._value = data * 1.0  # an object of its own, so that changes in place are told apart
        if requires_grad:
            made._fn = fn = AccumulateGrad(made)
            fn.index = number()
            fn.grad = None
        else:
            made._fn = None
        return made
    value = plain(data)
    if dtype is not None:
        from autodiff.tensors.dtypes import cast

        value = cast(value, dtype)
    return leaf(
        value * 1.0 if value.__class__ is float else value.copy() if numeric.is_array(value) else value, requires_grad
    )


def leaf(value: Any, requires_grad: bool) -> Tensor:
    """A raw value as a leaf; GraphError where a gradient is wanted of what has none."""
    made = wrap(value)
    if not requires_grad:
        return made
    if dtype_of(value).kind != "f":
        raise GraphError(
            "Only Tensors of floating point and complex dtype can require gradients", help="give numbers with a point"
        )
    return made.requires_grad_()


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """Where the leaf's gradient will arrive."""
    fn = AccumulateGrad(leaf)
    fn.index = number()
    fn.grad = None
    return fn


from autodiff.tensors import operators  # noqa: E402  (which gives the class its operators)

__all__ = ["Tensor", "handle", "operators", "plain", "raw_of", "tensor", "wrap"]
