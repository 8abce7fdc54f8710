"""Formulas as LaTeX, for math mode; conditionals need the package amsmath."""

from __future__ import annotations

import re

from autodiff.operands.formula import Formula
from autodiff.symbolic.text import CALL, CHOICE, POWER, SIGN, TIMES, binds, chain, layout, spelled, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Piece = tuple[Any, int] | str

GREEK = words("""
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi
omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
""")
LETTERS = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", GREEK, strict=True))
SAME = words("""
sin cos tan sec csc cot sinh cosh tanh exp log max min
""")
NAMED = {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "gamma": r"\Gamma", "digamma": r"\psi"}
NAMED |= {name: "\\" + name for name in SAME}
SIGNS = {"le": r"\le", "ge": r"\ge", "ne": r"\ne", "eq": "=", "lt": "<", "gt": ">", "and": r"\land", "or": r"\lor"}
SIGNS |= {"mod": r"\bmod"}
AROUND = {"sqrt": (r"\sqrt{", "}"), "cbrt": (r"\sqrt[3]{", "}"), "abs": (r"\left|", r"\right|")}
AROUND |= {"floor": (r"\left\lfloor ", r"\right\rfloor"), "ceil": (r"\left\lceil ", r"\right\rceil")}
AROUND |= {"not": (r"\lnot\left(", r"\right)")}


def symbol(name: str) -> str:
    """A name: Greek letters, digits and what follows `_` as an index, longer words upright."""
    if name.endswith("!"):
        return {"pi!": r"\pi", "e!": "e", "inf!": r"\infty", "nan!": r"\mathrm{NaN}"}[name]
    if name.endswith("]"):  # an entry of an array
        head, _, index = name[:-1].partition("[")
        return f"{symbol(head)}_{{{index.replace(' ', '')}}}"
    head, _, index = name.partition("_")
    match = re.fullmatch(r"(\D+)(\d+)", head)
    if match and not index:
        head, index = match[1], match[2]
    if not head:
        head, index = name.replace("_", r"\_"), ""
    base = "".join("\\" + LETTERS[c] + " " if c in LETTERS else c for c in head).strip()
    if head in GREEK:
        base = "\\" + head
    elif len(head) > 1 and base == head:
        base = rf"\mathrm{{{head}}}"
    if not index:
        return base
    inner = index.replace("_", r"\_")
    return f"{base}_{{{inner}}}" if len(index) < 2 or index.isdigit() else rf"{base}_{{\mathrm{{{inner}}}}}"


def number(x: float) -> str:
    mantissa, _, exponent = spelled(x).partition("e")
    if not exponent:
        return {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{NaN}"}.get(mantissa, mantissa)
    power = f"10^{{{exponent}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def pieces(f: Formula) -> list[Piece]:
    """How a formula is laid out: pieces of text, and operands with how tightly they must bind."""
    op, xs = f.op, f.inputs
    assert op is not None
    if op.name == "div":
        return [r"\frac{", (xs[0], CHOICE), "}{", (xs[1], CHOICE), "}"]
    if op.name == "pow":
        return [(xs[0], POWER + 1), "^{", (xs[1], CHOICE), "}"]
    if op.name in AROUND:
        before, after = AROUND[op.name]
        return [before, (xs[0], CHOICE), after]
    if op.name == "where":
        c, a, b = xs
        return [r"\begin{cases} ", (a, CHOICE), r" & \text{if } ", (c, 0), r" \\ ", (b, CHOICE),
                r" & \text{otherwise} \end{cases}"]  # fmt: skip
    if op.name == "and" and chain(f):
        return [_sign(piece, {"<=": r"\le", "<": "<"}) for piece in layout(f)]
    if op.name == "list":
        rows = [piece for x in xs for piece in ((x, CHOICE), r" \\ ")]
        return [r"\begin{pmatrix} ", *rows[:-1], r" \end{pmatrix}"]
    if op.name == "exp":
        return ["e^{", (xs[0], CHOICE), "}"]
    if op.symbol and len(xs) == 2 and op.name != "floordiv":
        sign = SIGNS.get(op.name, op.symbol)
        between = f" {sign} " if sign != "*" else r" \cdot " if _digits_follow(xs[1]) else r" \, "
        right = TIMES if op.name in ("add", "sub") else SIGN if op.order == TIMES else op.order + 1
        return [(xs[0], op.order), between, (xs[1], right)]
    if op.symbol and len(xs) == 1:
        return [op.symbol, (xs[0], TIMES)]
    if op.name == "floordiv":
        return [r"\left\lfloor \frac{", (xs[0], CHOICE), "}{", (xs[1], CHOICE), r"}\right\rfloor"]
    if op.name == "polygamma" and xs[0].__class__ is float:
        return [rf"\psi^{{({spelled(xs[0])})}}\left(", (xs[1], CHOICE), r"\right)"]
    name = NAMED.get(op.name) or r"\operatorname{" + op.name.replace("_", r"\_") + "}"
    out: list[Piece] = [name + r"\left("]
    for x in xs:
        out += [(x, CHOICE), ", "]
    return [*out[:-1], r"\right)"]


def _sign(piece: Piece, signs: dict[str, str]) -> Piece:
    return f" {signs.get(piece.strip(), piece.strip())} " if isinstance(piece, str) else piece


def _digits_follow(x: Any) -> bool:
    """Whether the text of a factor begins with a digit."""
    while isinstance(x, Formula) and x.op is not None and x.op.symbol and x.op.name != "div" and len(x.inputs) == 2:
        x = x.inputs[0]
    return not isinstance(x, Formula)


def tightness(x: Any) -> int:
    """As in the language, but a fraction holds together, and e^x and powers do not below a power."""
    if isinstance(x, Formula) and x.op is not None:
        if x.op.name == "div":
            return SIGN
        if x.op.name == "exp":
            return POWER
        if x.op.name == "where":
            return CALL
    elif not isinstance(x, Formula) and "e" in spelled(x):
        return TIMES
    return binds(x, {})


def latex(root: Any) -> str:
    """The formula in LaTeX's math mode."""
    out: list[str] = []
    stack: list[Piece] = [(root, CHOICE)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
            continue
        x, least = piece
        loose = tightness(x) < least
        inner: list[Piece]
        if not isinstance(x, Formula):
            inner = [number(x)]
        elif x.op is None:
            inner = [symbol(x.name)]
        else:
            inner = pieces(x)
        stack += reversed([r"\left(", *inner, r"\right)"] if loose else inner)
    return "".join(out)
