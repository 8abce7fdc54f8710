"""Tensors as text, in the way PyTorch prints them."""

from __future__ import annotations

import math

from autodiff import numeric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from autodiff.tensors.tensor import Tensor


class Options:
    """How tensors are printed."""

    def __init__(self) -> None:
        self.precision = 4  # decimals
        self.threshold = 1000  # entries from which the middle is left out
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: bool | None = None


options = Options()
PROFILES: dict[str, dict[str, Any]] = {
    "default": {},
    "short": {"precision": 2, "edgeitems": 2},
    "full": {"threshold": math.inf},
}


def set_printoptions(
    precision: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    linewidth: Any = None,
    profile: Any = None,
    sci_mode: Any = None,
) -> None:
    """How tensors are printed from now on: decimals, where the middle is left out, columns, exponents or none.

    >>> set_printoptions(precision=2)
    >>> tensor(1.2345)
    tensor(1.23)
    >>> set_printoptions(profile="default")
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    if profile is not None:
        vars(options).update({**vars(Options()), "sci_mode": options.sci_mode, **PROFILES[profile]})
    vars(options).update({name: value for name, value in given.items() if value is not None})
    options.sci_mode = sci_mode


def text(t: Tensor) -> str:
    """tensor(8., grad_fn=<MulBackward0>)"""
    suffix = ""
    if t.grad_fn is not None:
        suffix = f", grad_fn=<{t.grad_fn.name()}>"
    elif t.requires_grad:
        suffix = ", requires_grad=True"
    value = t._value
    if numeric.is_array(value) and not value.ndim:
        value = value.item()
    if not numeric.is_array(value):
        return f"tensor({_style([value])(value)}{suffix})"
    if not value.size:
        return f"tensor([]{f', size={value.shape}' if value.ndim > 1 else ''}{suffix})"
    short = value.size > options.threshold
    numbers = (_edges(value) if short else value).ravel().tolist()
    style = _style(numbers)
    width = max(len(style(x)) for x in numbers)
    body = f"tensor({_nested(value, lambda x: style(x).rjust(width), 8, width + 2, short)}"
    if suffix and len(body) - body.rfind("\n") + 1 + len(suffix) > options.linewidth:
        suffix = f",\n       {suffix[2:]}"
    return f"{body}{suffix})"


def _edges(value: Any) -> Any:
    """The entries that a long tensor shows."""
    edge = options.edgeitems
    for axis, n in enumerate(value.shape):
        if n > 2 * edge:
            value = value.take([*range(edge), *range(n - edge, n)], axis)
    return value


def _style(numbers: list[Any]) -> Any:
    """How to write each number so that all look alike: whole ones as `2.`, others with 4 decimals or an exponent."""
    if all(x.__class__ is bool or x.__class__ is int for x in numbers):
        return str
    finite = [abs(x) for x in numbers if math.isfinite(x)]
    nonzero = [x for x in finite if x]
    largest, smallest = max(nonzero, default=0.0), min(nonzero, default=0.0)
    digits = options.precision
    wide = (
        options.sci_mode
        if options.sci_mode is not None
        else nonzero and (largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4)
    )
    if all(x == math.floor(x) for x in finite):
        if wide:
            return lambda x: f"{x:.{digits}e}"
        return lambda x: f"{x:.0f}." if math.isfinite(x) else str(x)
    if wide:
        return lambda x: f"{x:.{digits}e}"
    return lambda x: f"{x:.{digits}f}"


def _nested(value: Any, write: Any, indent: int, width: int, short: bool) -> str:
    """Brackets around entries, as many in a line as fit, or around what lies within; the middle left out if `short`."""

    def items(entries: Any, show: Any, dots: str) -> list[str]:
        edge = options.edgeitems
        if short and len(entries) > 2 * edge:
            return [*map(show, entries[:edge]), dots, *map(show, entries[-edge:])]
        return [*map(show, entries)]

    if value.ndim == 1:
        shown = items(value.tolist(), write, " ...")
        line = max(1, (options.linewidth - indent + 1) // width)
        lines = [", ".join(shown[k : k + line]) for k in range(0, len(shown), line)]
        return "[" + f",\n{' ' * indent}".join(lines) + "]"
    rows = items(value, lambda part: _nested(part, write, indent + 1, width, short), "...")
    return "[" + f",{chr(10) * (value.ndim - 1)}{' ' * indent}".join(rows) + "]"
