"""The names of nodes: PyTorch's, where it has several for what is one row here."""

from __future__ import annotations

from functools import wraps

from autodiff import numeric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OTHERS = {
    "max": "Maximum", "min": "Minimum", "norm": "LinalgVectorNorm", "reshape": "View", "transpose": "Permute",
    "moveaxis": "Transpose", "broadcast": "Expand", "concat": "Cat", "pos": "Clone", "square": "Pow",
    "mod": "Remainder", "log1p": "Log1P", "diag": "DiagEmbed", "chain": "Mul", "gate": "Mul",
    "det": "LinalgDet", "inv": "LinalgInvEx",
    "solve": "LinalgSolveEx", "cross": "LinalgCross", "cholesky": "LinalgCholeskyEx",
}  # fmt: skip
"""What PyTorch calls a row."""


def _product(fn: Any) -> str:
    """By the operands' axes: matrices, a matrix and a vector, vectors, batches of matrices."""
    ranks = tuple(len(x if x.__class__ is tuple else getattr(x, "shape", ())) for x in fn.inputs[1::2])
    names: dict[tuple[int, ...], str] = {
        (2, 2): "MmBackward0",
        (2, 1): "MvBackward0",
        (1, 1): "DotBackward0",
        (3, 3): "BmmBackward0",
    }
    return names.get(ranks, "MatmulBackward0")


def _index(fn: Any) -> str:
    """By the last item that picks: a number, a stretch, or a list of places."""
    items = fn.params["index"]
    if any(item.__class__ not in (int, slice) for item in items):
        return "IndexBackward0"
    picks = [item for item in items if item != slice(None)]
    return "SelectBackward0" if picks and picks[-1].__class__ is int else "SliceBackward0"


def _along(name: str, all: int, axis: int) -> Callable[[Any], str]:
    """One number for reductions of all entries, one for those along an axis."""
    return lambda fn: f"{name}Backward{axis if 'axis' in fn.params else all}"


DEPENDS: dict[str, Callable[[Any], str]] = {
    "matmul": _product,
    "index": _index,
    "pow": lambda fn: f"PowBackward{int(fn.inputs[2] is not None or fn.inputs[3].__class__ is not float)}",
    "sum": _along("Sum", 0, 1),
    "mean": _along("Mean", 0, 1),
    "prod": _along("Prod", 0, 1),
    "amax": _along("Max", 1, 0),
    "amin": _along("Min", 1, 0),
    "clip": lambda fn: "ClampBackward1",
    "put": lambda fn: "CopySlices",
}
"""Names that tell more than the row: by its operands or parameters."""
FORGET = frozenset(("matmul", "pow"))
"""Those that can't be told any more once the operands are gone."""


def name_of(fn: Any) -> str:
    """What PyTorch would call the node of a row; once the graph is freed, as far as it can still be told.

    >>> x = tensor([[1.0, 2.0]], requires_grad=True)
    >>> name_of((x @ x.T).grad_fn), name_of(x.sum(0).grad_fn)
    ('MmBackward0', 'SumBackward1')
    """
    op = fn.op
    if op.name in OTHERS:
        return f"{OTHERS[op.name]}Backward0"
    if op.name in DEPENDS and (fn.inputs is not None or op.name not in FORGET):
        return DEPENDS[op.name](fn)
    return op.grad_fn  # type: ignore[no-any-return]


TITLES = {
    "amax": "Amax", "amin": "Amin",
    "addcdiv": "Addcdiv", "addcmul": "Addcmul", "addmm": "Addmm", "addmv": "Addmv", "baddbmm": "Baddbmm",
    "cdist": "Cdist", "chunk": "Split", "flip": "Flip", "gather": "Gather", "index_add": "IndexAdd",
    "index_copy": "IndexCopy", "index_fill": "IndexFill", "index_select": "IndexSelect", "kthvalue": "Kthvalue",
    "logcumsumexp": "Logcumsumexp", "masked_fill": "MaskedFill", "masked_select": "MaskedSelect", "median": "Median",
    "movedim": "Permute", "nan_to_num": "NanToNum", "nansum": "Nansum", "outer": "Mul", "permute": "Permute",
    "repeat": "Repeat", "roll": "Roll", "rsqrt": "Rsqrt", "scatter": "Scatter", "scatter_add": "ScatterAdd",
    "select": "Select", "sort": "Sort", "split": "Split", "squeeze": "Squeeze", "take_along_dim": "Gather",
    "topk": "Topk", "transpose": "Transpose", "tril": "Tril", "triu": "Triu", "unbind": "Unbind",
    "unsqueeze": "Unsqueeze", "pad": "ConstantPadNd", "mse_loss": "MseLoss", "nll_loss": "NllLoss",
    "cross_entropy": "NllLoss", "binary_cross_entropy": "BinaryCrossEntropy",
    "binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogits", "smooth_l1_loss": "SmoothL1Loss",
    "huber_loss": "HuberLoss", "layer_norm": "NativeLayerNorm", "hardtanh": "Hardtanh", "relu6": "Hardtanh",
    "softmin": "Softmax", "batch_norm": "NativeBatchNorm",
}  # fmt: skip
"""What PyTorch calls the result of a function that is an operation there and made of rows here."""


def entitled(made: Any, fn: Any) -> Any:
    """A tensor, whose node bears the name of another from now on."""
    if made._fn is not None and fn is not None:
        _called(made._fn, fn.name())
    return made


def titled(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, the nodes of whose results bear the name that PyTorch gives them."""
    title = TITLES.get(name)
    if title is None:
        return function

    @wraps(function)
    def call(*xs: Any, **options: Any) -> Any:
        made = function(*xs, **options)
        for part in made if isinstance(made, tuple) else (made,):
            fn = getattr(part, "_fn", None)
            if fn is not None and fn.op is not None and not any(fn is getattr(x, "_fn", None) for x in xs):
                _called(fn, f"{title}Backward0")
        return made

    return call


NUMBERS = frozenset(("pow", "clip", "norm", "elu", "leaky_relu", "softplus"))
"""Rows whose other operands PyTorch takes as numbers, which are no part of its graph."""


def operands(fn: Any) -> tuple[Any, ...]:
    """The nodes of a node's operands, as PyTorch counts them."""
    fns = fn.inputs[::2]
    name = fn.op.name
    if name in NUMBERS:
        return tuple(a for a, x in zip(fns, fn.inputs[1::2], strict=True) if a is not None or numeric.is_array(x))
    if name == "where":
        return fns[1:]  # type: ignore[no-any-return]
    if fns[0] is None and name in ("add", "mul"):
        return fns[::-1]  # type: ignore[no-any-return]
    return fns  # type: ignore[no-any-return]


_kinds: dict[tuple[type, str], type] = {}


def _called(fn: Any, name: str) -> Any:
    kind = fn.__class__
    if kind.__name__ != name:
        if (kind, name) not in _kinds:
            _kinds[kind, name] = type(name, (kind,), {"__slots__": (), "name": lambda _, name=name: name})
        fn.__class__ = _kinds[kind, name]
    return fn


def shown(fn: Any) -> Any:
    """The node, whose class bears its name from the first time that anybody looks at it on.

    >>> type((2 * tensor(1.0, requires_grad=True)).grad_fn).__name__
    'MulBackward0'
    """
    return _called(fn, fn.name())
