"""The operations: a row each, grouped as a reader would look for them."""

from autodiff.ops import arithmetic, exponential, linalg, piecewise, reduction, shape, special, trigonometric
from autodiff.ops.record import NAMES, OPS, Op

__all__ = [
    "NAMES",
    "OPS",
    "Op",
    "arithmetic",
    "exponential",
    "linalg",
    "piecewise",
    "reduction",
    "shape",
    "special",
    "trigonometric",
]
