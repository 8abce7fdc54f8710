"""Tensors as text, in the way PyTorch prints them."""

from __future__ import annotations

import math

from autodiff import numeric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from autodiff.tensors.tensor import Tensor

DIGITS = 4
MANY = 1000  # entries from which the middle is left out
EDGE = 3
WIDE = 80  # columns


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
    short = value.size > MANY
    numbers = (_edges(value) if short else value).ravel().tolist()
    style = _style(numbers)
    width = max(len(style(x)) for x in numbers)
    body = f"tensor({_nested(value, lambda x: style(x).rjust(width), 8, width + 2, short)}"
    if suffix and len(body) - body.rfind("\n") + 1 + len(suffix) > WIDE:
        suffix = f",\n       {suffix[2:]}"
    return f"{body}{suffix})"


def _edges(value: Any) -> Any:
    """The entries that a long tensor shows."""
    for axis, n in enumerate(value.shape):
        if n > 2 * EDGE:
            value = value.take([*range(EDGE), *range(n - EDGE, n)], axis)
    return value


def _style(numbers: list[Any]) -> Any:
    """How to write each number so that all look alike: whole ones as `2.`, others with 4 decimals or an exponent."""
    if all(x.__class__ is bool or x.__class__ is int for x in numbers):
        return str
    finite = [abs(x) for x in numbers if math.isfinite(x)]
    nonzero = [x for x in finite if x]
    largest, smallest = max(nonzero, default=0.0), min(nonzero, default=0.0)
    wide = nonzero and (largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4)
    if all(x == math.floor(x) for x in finite):
        if largest > 1e8:
            return lambda x: f"{x:.{DIGITS}e}"
        return lambda x: f"{x:.0f}." if math.isfinite(x) else str(x)
    if wide:
        return lambda x: f"{x:.{DIGITS}e}"
    return lambda x: f"{x:.{DIGITS}f}"


def _nested(value: Any, write: Any, indent: int, width: int, short: bool) -> str:
    """Brackets around entries, as many in a line as fit, or around what lies within; the middle left out if `short`."""

    def items(entries: Any, show: Any, dots: str) -> list[str]:
        if short and len(entries) > 2 * EDGE:
            return [*map(show, entries[:EDGE]), dots, *map(show, entries[-EDGE:])]
        return [*map(show, entries)]

    if value.ndim == 1:
        shown = items(value.tolist(), write, " ...")
        line = max(1, (WIDE - indent + 1) // width)
        lines = [", ".join(shown[k : k + line]) for k in range(0, len(shown), line)]
        return "[" + f",\n{' ' * indent}".join(lines) + "]"
    rows = items(value, lambda part: _nested(part, write, indent + 1, width, short), "...")
    return "[" + f",{chr(10) * (value.ndim - 1)}{' ' * indent}".join(rows) + "]"
