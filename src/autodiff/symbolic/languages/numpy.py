"""NumPy: inputs may be arrays, which broadcast; conditionals compute both sides."""

from __future__ import annotations

from autodiff.symbolic.languages import python
from autodiff.symbolic.languages.python import Python, comment
from autodiff.symbolic.text import POWER, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autodiff.symbolic.emit import Piece

    Slopes = Sequence[tuple[str, str]]

RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh"}
RENAMED |= {"atanh": "arctanh", "atan2": "arctan2"}
OWN = words("""
sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot fmod copysign floor ceil trunc
sign logaddexp sinc
""")
BY_ENTRY = ("erf", "erfc", "gamma", "lgamma")
CALLS = {
    **{name: f"np.{name}" for name in OWN},
    **{name: f"np.{other}" for name, other in RENAMED.items()},
    **{name: f"_{name}" for name in BY_ENTRY},
    "abs": "np.abs",
    "cot": "(1/np.tan({}))",
    "max": "np.maximum",
    "min": "np.minimum",
    "floordiv": "np.floor_divide",
    "mod": "np.mod",
    "round": "np.round",
    "factorial": "_gamma(1 + {})",
    "logit": "(2*np.arctanh(2*({}) - 1))",
}
HELPERS = {name: f"@np.vectorize(otypes=[float])\n{text}" for name, text in python.HELPERS.items()}
# a vectorised function calls scalar ones, vectorised or not
HELPERS |= {f"_{name}": f"_{name} = np.vectorize(math.{name}, otypes=[float])\n" for name in BY_ENTRY}


class NumPy(Python):
    name = "numpy"
    total = True
    calls: Mapping[str, str] = {**python.CALLS, **CALLS}
    helpers = HELPERS
    words = python.Python.words | {"np"}

    def constant(self, name: str) -> str:
        return name.replace("!", "").replace("-", "-np.") if name[0] == "-" else "np." + name.rstrip("!")

    def power(self, x: Any, y: Any) -> list[Piece]:
        if y.__class__ is float and y == int(y) and 0 < y < 64:
            return [(x, POWER + 1), f"**{int(y)}"]
        return ["np.power(1.0*(", (x, 0), "), ", (y, 0), ")"]

    def choice(self, c: Any, a: Any, b: Any) -> list[Piece]:
        return ["np.where(", (c, 0), ", ", (a, 0), ", ", (b, 0), ")"]

    def logic(self, name: str, xs: Sequence[Any]) -> list[Piece]:
        out: list[Piece] = [f"np.logical_{name}("]
        for x in xs:
            out += [(x, 0), ", "]
        return [*out[:-1], ")"]

    def function(self, source: str, arguments: Sequence[str], parts: Slopes, value: str, slopes: Slopes) -> str:
        lines = [f"def f({', '.join(arguments)}):", f'    """Value and gradient of {comment(source)}."""']
        lines += ['    with np.errstate(all="ignore"):']
        lines += [f"        {name} = {text}" for name, text in parts]
        lines += [f"        value = {value}", f"        gradient = [{', '.join(text for _, text in slopes)}]"]
        lines.append(f"    value, *gradient = np.broadcast_arrays({', '.join(['value', '*gradient', *arguments])})")
        kept = f"[:{len(slopes)}]"
        lines.append(f"    return value, gradient{kept}")
        return "\n".join(lines) + "\n"

    def file(self, helpers: Sequence[str], body: str) -> str:
        head = "import math\n\n" if any("math." in helper for helper in helpers) else ""
        return head + "import numpy as np\n\n\n" + "".join(f"{helper}\n\n" for helper in helpers) + body


TARGET = NumPy()
