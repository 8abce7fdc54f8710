"""The shortest of several equal forms of a sum."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autodiff.symbolic.algebra import Poly
    from autodiff.symbolic.convert import Writer


def simplify(p: Poly, writer: Writer) -> Poly:
    return p
