"""Python with nothing but the module math."""

from __future__ import annotations

import keyword

from autodiff.symbolic.emit import Target
from autodiff.symbolic.text import POWER, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autodiff.symbolic.emit import Piece

    Slopes = Sequence[tuple[str, str]]

SAME = words("""
sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf
erfc gamma lgamma hypot atan2 fmod copysign floor ceil trunc
""")

HELPERS = {
    "_sign": """def _sign(x):
    return float((x > 0) - (x < 0))
""",
    "_sigmoid": """def _sigmoid(x):
    return 1/(1 + math.exp(-x)) if x >= 0 else math.exp(x)/(1 + math.exp(x))
""",
    "_softplus": """def _softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
""",
    "_logaddexp": """def _logaddexp(a, b):
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))
""",
    "_xlogy": """def _xlogy(x, y):
    return 0.0 if x == 0 else x*math.log(y)
""",
    "_xlog1py": """def _xlog1py(x, y):
    return 0.0 if x == 0 else x*math.log1p(y)
""",
    "_ndtr": """def _ndtr(x):
    return 0.5*math.erfc(-x/math.sqrt(2))
""",
    "_mills": """def _mills(x):
    if x > -2:
        return math.exp(-0.5*x*x)/math.sqrt(2*math.pi)/_ndtr(x)
    return _mills_excess(x) - x
""",
    "_mills_excess": """def _mills_excess(x):
    if x > -2:
        return _mills(x) + x
    y = -x
    for k in range(int(12 + 800/(x*x)), 1, -1):
        y = -x + k/y
    return 1/y
""",
    "_log_ndtr": """def _log_ndtr(x):
    if x > -20:
        return math.log(_ndtr(x)) if x < 0 else math.log1p(-0.5*math.erfc(x/math.sqrt(2)))
    return -0.5*x*x - math.log(math.sqrt(2*math.pi)*_mills(x))
""",
    "_sinc": """def _sinc(x):
    return math.sin(math.pi*x)/(math.pi*x) if x else 1.0
""",
    "_dsinc": """def _dsinc(x, n):
    n = int(n)
    z = math.pi*x
    if abs(z) < 1.5 + n:
        j = (n + 1)//2
        term = (-1.0)**j*math.pi**n*z**(2*j - n)*math.factorial(2*j)
        term /= math.factorial(2*j - n)*math.factorial(2*j + 1)
        total = term
        while j < 80:
            j += 1
            term *= -z*z*(2*j)*(2*j - 1)/((2*j - n)*(2*j - n - 1)*(2*j + 1)*(2*j))
            total += term
        return total
    s = math.sin(z)/z
    for m in range(1, n + 1):
        s = (math.pi**(m - 1)*math.sin(z + m*math.pi/2) - m*s)/x
    return s
""",
    "_digamma": """def _digamma(x):
    shift = 0.0
    while x < 15:
        shift -= 1/x
        x += 1
    u = 1/(x*x)
    tail = u*(1/12 - u*(1/120 - u*(1/252 - u*(1/240 - u*(1/132 - u*691/32760)))))
    return shift + math.log(x) - 0.5/x - tail
""",
    "_polygamma": """def _polygamma(n, x):
    n = int(n)
    s = n + 1
    total = 0.0
    while x < 20:
        total += x**-s
        x += 1
    total += x**-n/n + 0.5*x**-s
    term = s*x**(-s - 1)/2
    for k, b in enumerate((1/6, -1/30, 1/42, -1/30, 5/66, -691/2730, 7/6), 1):
        total += b*term
        term *= (s + 2*k - 1)*(s + 2*k)/((2*k + 1)*(2*k + 2)*x*x)
    return (-1)**(n + 1)*math.factorial(n)*total
""",
    "_erfinv": """def _erfinv(y):
    w = math.log((1 - y)*(1 + y))
    a = 4.330746750799873 + 0.5*w
    x = math.copysign(math.sqrt(max(0.0, math.sqrt(a*a - w*6.802721088435374) - a)), y)
    for _ in range(4):
        gap = math.erf(x) - y if abs(y) < 0.9 else math.copysign(1 - abs(y) - math.erfc(abs(x)), y)
        step = gap*math.exp(x*x)*math.sqrt(math.pi)/2
        x -= step/(1 + x*step)
    return x
""",
    "_lbeta": """def _lbeta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
""",
    "_beta": """def _beta(a, b):
    value = math.exp(_lbeta(a, b))
    for x in (a, b, a + b):
        if x < 0 and math.floor(x) % 2:
            value = -value
    return value
""",
    "_lerp": """def _lerp(a, b, t):
    return a + t*(b - a)
""",
    "_round": """def _round(x):
    return float(round(x))
""",
    "_select": """def _select(c, a, b):
    return a if c else b
""",
}
CALLS = {
    **{name: f"math.{name}" for name in SAME},
    "abs": "abs",
    "cot": "(1/math.tan({}))",
    "max": "max",
    "min": "min",
    "floordiv": "(({})//({}))",
    "mod": "(({})%({}))",
    "sign": "_sign",
    "sigmoid": "_sigmoid",
    "softplus": "_softplus",
    "log_sigmoid": "(-_softplus(-({})))",
    "logit": "(2*math.atanh(2*({}) - 1))",
    "logaddexp": "_logaddexp",
    "xlogy": "_xlogy",
    "xlog1py": "_xlog1py",
    "ndtr": "_ndtr",
    "mills": "_mills",
    "mills_excess": "_mills_excess",
    "log_ndtr": "_log_ndtr",
    "sinc": "_sinc",
    "dsinc": "_dsinc",
    "digamma": "_digamma",
    "polygamma": "_polygamma",
    "erfinv": "_erfinv",
    "factorial": "math.gamma(1 + {})",
    "beta": "_beta",
    "lbeta": "_lbeta",
    "lerp": "_lerp",
    "round": "_round",
}
# functions of one operand that others give, with the operand named once
DEFINED = {
    "relu": "max({x}, 0.0)",
    "frac": "{x} - math.trunc({x})",
    "softsign": "{x}/(1 + abs({x}))",
    "gelu": "{x}*_ndtr({x})",
    "silu": "{x}*_sigmoid({x})",
    "mish": "{x}*math.tanh(_softplus({x}))",
    "selu": "1.0507009873554805*({x} if {x} > 0 else 1.6732632423543772*math.expm1({x}))",
}
for _name, _body in DEFINED.items():
    HELPERS[f"_{_name}"] = f"def _{_name}(x):\n    return {_body.format(x='x')}\n"
    CALLS[_name] = f"_{_name}"
HELPERS["_leaky_relu"] = "def _leaky_relu(x, s):\n    return x if x > 0 else s*x\n"
HELPERS["_elu"] = "def _elu(x, a):\n    return x if x > 0 else a*math.expm1(x)\n"
HELPERS["_clip"] = "def _clip(x, lo, hi):\n    return min(max(x, lo), hi)\n"
CALLS |= {"leaky_relu": "_leaky_relu", "elu": "_elu", "clip": "_clip"}


class Python(Target):
    name = "python"
    total = False
    calls: Mapping[str, str] = CALLS
    helpers: Mapping[str, str] = HELPERS
    words = frozenset({"math", "abs", "max", "min", "range", "int", "round", "enumerate", "float", *keyword.kwlist})

    def constant(self, name: str) -> str:
        return name.replace("!", "").replace("-", "-math.") if name[0] == "-" else "math." + name.rstrip("!")

    def power(self, x: Any, y: Any) -> list[Piece]:
        if y.__class__ is float and y == int(y) and 0 < y < 64:
            return [(x, POWER + 1), f"**{int(y)}"]
        return ["math.pow(", (x, 0), ", ", (y, 0), ")"]

    def choice(self, c: Any, a: Any, b: Any) -> list[Piece]:
        return ["(", (a, 0), " if ", (c, 0), " else ", (b, 0), ")"]

    def logic(self, name: str, xs: Sequence[Any]) -> list[Piece]:
        if name == "not":
            return ["(not (", (xs[0], 0), "))"]
        return ["((", (xs[0], 0), f") {name} (", (xs[1], 0), "))"]

    def function(self, source: str, arguments: Sequence[str], parts: Slopes, value: str, slopes: Slopes) -> str:
        lines = [f"def f({', '.join(arguments)}):", f'    """Value and gradient of {comment(source)}."""']
        lines += [f"    {name} = {text}" for name, text in parts]
        lines += [f"    value = {value}", f"    gradient = [{', '.join(text for _, text in slopes)}]"]
        lines.append("    return value, gradient")
        return "\n".join(lines) + "\n"

    def file(self, helpers: Sequence[str], body: str) -> str:
        return "import math\n\n\n" + "".join(f"{helper}\n\n" for helper in helpers) + body


def comment(source: str) -> str:
    """The source on one line, in which nothing ends a docstring or a comment."""
    line = " ".join(source.split())
    line = line if len(line) <= 200 else line[:200] + " …"
    return line.replace("\\", "\\\\").replace('"', "'").replace("*/", "* /")


TARGET = Python()
