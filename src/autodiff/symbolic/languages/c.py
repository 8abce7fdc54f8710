"""C99 with math.h: `double f(double x, double y, double gradient[2])`."""

from __future__ import annotations

from autodiff.symbolic.emit import Target
from autodiff.symbolic.languages.python import comment
from autodiff.symbolic.text import CALL, spelled, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autodiff.symbolic.emit import Piece

    Slopes = Sequence[tuple[str, str]]

SAME = words("""
sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf
erfc lgamma hypot atan2 fmod copysign floor ceil trunc
""")


def _defined(name: str, arguments: str, body: str) -> str:
    takes = ", ".join(f"double {argument}" for argument in arguments.split())
    return f"static double {name}({takes})\n{{\n{body}}}\n"


_BODIES = {
    "ad_sign": ("x", "    return (x > 0) - (x < 0);\n"),
    "ad_sigmoid": ("x", "    return x >= 0 ? 1/(1 + exp(-x)) : exp(x)/(1 + exp(x));\n"),
    "ad_softplus": ("x", "    return fmax(x, 0) + log1p(exp(-fabs(x)));\n"),
    "ad_logaddexp": ("a b", "    return fmax(a, b) + log1p(exp(-fabs(a - b)));\n"),
    "ad_xlogy": ("x y", "    return x == 0 ? 0 : x*log(y);\n"),
    "ad_xlog1py": ("x y", "    return x == 0 ? 0 : x*log1p(y);\n"),
    "ad_mod": ("a b", "    double r = fmod(a, b);\n    return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n"),
    "ad_floordiv": ("a b", "    return floor(a/b);\n"),
    "ad_ndtr": ("x", "    return 0.5*erfc(-x/sqrt(2));\n"),
    "ad_mills_excess": (
        "x",
        "    double y = -x;\n"
        "    if (x > -2)\n        return exp(-0.5*x*x)/sqrt(8*atan(1.0))/ad_ndtr(x) + x;\n"
        "    for (int k = (int)(12 + 800/(x*x)); k > 1; k--)\n        y = -x + k/y;\n    return 1/y;\n",
    ),
    "ad_mills": ("x", "    return ad_mills_excess(x) - x;\n"),
    "ad_log_ndtr": (
        "x",
        "    if (x > -20)\n        return x < 0 ? log(ad_ndtr(x)) : log1p(-0.5*erfc(x/sqrt(2)));\n"
        "    return -0.5*x*x - log(sqrt(8*atan(1.0))*ad_mills(x));\n",
    ),
    "ad_sinc": ("x", "    double z = 4*atan(1.0)*x;\n    return x != 0 ? sin(z)/z : 1;\n"),
    "ad_dsinc": (
        "x order",
        "    int n = (int)order, j = (n + 1)/2;\n    double pi = 4*atan(1.0), z = pi*x, s;\n"
        "    if (fabs(z) < 1.5 + n) {\n"
        "        double term = pow(-1, j)*pow(pi, n)*pow(z, 2*j - n)*tgamma(2*j + 1)"
        "/tgamma(2*j - n + 1)/tgamma(2*j + 2);\n"
        "        for (s = term; j < 80; s += term) {\n            j++;\n"
        "            term *= -z*z*(2.0*j)*(2*j - 1)/((2.0*j - n)*(2*j - n - 1)*(2*j + 1)*(2*j));\n        }\n"
        "        return s;\n    }\n"
        "    s = sin(z)/z;\n    for (int m = 1; m <= n; m++)\n"
        "        s = (pow(pi, m - 1)*sin(z + m*pi/2) - m*s)/x;\n    return s;\n",
    ),
    "ad_digamma": (
        "x",
        "    double shift = 0, u;\n    for (; x < 15; x += 1)\n        shift -= 1/x;\n    u = 1/(x*x);\n"
        "    return shift + log(x) - 0.5/x\n"
        "        - u*(1/12.0 - u*(1/120.0 - u*(1/252.0 - u*(1/240.0 - u*(1/132.0 - u*691/32760.0)))));\n",
    ),
    "ad_polygamma": (
        "order x",
        "    static const double b[] = {1/6.0, -1/30.0, 1/42.0, -1/30.0, 5/66.0, -691/2730.0, 7/6.0};\n"
        "    int n = (int)order, s = n + 1;\n    double total = 0, term;\n"
        "    for (; x < 20; x += 1)\n        total += pow(x, -s);\n"
        "    total += pow(x, -n)/n + 0.5*pow(x, -s);\n    term = s*pow(x, -s - 1)/2;\n"
        "    for (int k = 1; k <= 7; k++) {\n        total += b[k - 1]*term;\n"
        "        term *= (s + 2.0*k - 1)*(s + 2*k)/((2.0*k + 1)*(2*k + 2)*x*x);\n    }\n"
        "    return (n % 2 ? 1 : -1)*tgamma(n + 1)*total;\n",
    ),
    "ad_erfinv": (
        "y",
        "    double w = log((1 - y)*(1 + y)), a = 4.330746750799873 + 0.5*w, gap, step;\n"
        "    double x = copysign(sqrt(fmax(0, sqrt(a*a - w*6.802721088435374) - a)), y);\n"
        "    for (int k = 0; k < 4; k++) {\n"
        "        gap = fabs(y) < 0.9 ? erf(x) - y : copysign(1 - fabs(y) - erfc(fabs(x)), y);\n"
        "        step = gap*exp(x*x)*sqrt(atan(1.0));\n        x -= step/(1 + x*step);\n    }\n    return x;\n",
    ),
    "ad_lbeta": ("a b", "    return lgamma(a) + lgamma(b) - lgamma(a + b);\n"),
    "ad_beta": (
        "a b",
        "    double x[] = {a, b, a + b}, value = exp(ad_lbeta(a, b));\n    for (int k = 0; k < 3; k++)\n"
        "        if (x[k] < 0 && fmod(floor(x[k]), 2) != 0)\n            value = -value;\n    return value;\n",
    ),
    "ad_lerp": ("a b t", "    return a + t*(b - a);\n"),
    "ad_relu": ("x", "    return x > 0 ? x : 0;\n"),
    "ad_leaky_relu": ("x s", "    return x > 0 ? x : s*x;\n"),
    "ad_elu": ("x a", "    return x > 0 ? x : a*expm1(x);\n"),
    "ad_selu": ("x", "    return 1.0507009873554805*(x > 0 ? x : 1.6732632423543772*expm1(x));\n"),
    "ad_softsign": ("x", "    return x/(1 + fabs(x));\n"),
    "ad_frac": ("x", "    return x - trunc(x);\n"),
    "ad_gelu": ("x", "    return x*ad_ndtr(x);\n"),
    "ad_silu": ("x", "    return x*ad_sigmoid(x);\n"),
    "ad_mish": ("x", "    return x*tanh(ad_softplus(x));\n"),
    "ad_clip": ("x lo hi", "    return fmin(fmax(x, lo), hi);\n"),
    "ad_logit": ("p", "    return 2*atanh(2*p - 1);\n"),
}
HELPERS = {name: _defined(name, arguments, body) for name, (arguments, body) in _BODIES.items()}
WORDS = words("""
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short _Bool _Complex _Imaginary _Generic _Static_assert _Alignas _Alignof _Atomic
_Noreturn _Thread_local asm typeof true false bool nullptr constexpr thread_local alignas alignof static_assert
short signed sizeof static struct switch typedef union unsigned void volatile while main j0 j1 jn y0 y1 yn gamma
fabs linux unix i386 errno math_errhandling NAN INFINITY NULL EOF OVERFLOW UNDERFLOW DOMAIN SING PLOSS TLOSS
MAXFLOAT fabs fmin fmax pow tgamma nearbyint exp10 drem signgam log sin cos tan exp sqrt erf
""")
MACROS = ("M_", "FP_", "MATH_", "HUGE", "SNAN", "X_", "_")
"""How other names begin that math.h defines as macros, or that are the compiler's own."""


class C(Target):
    name = "c"
    helpers = HELPERS
    calls: Mapping[str, str] = {
        **{name: name for name in SAME},
        **{name[3:]: name for name in HELPERS},
        "abs": "fabs",
        "cot": "(1/tan({}))",
        "max": "fmax",
        "min": "fmin",
        "gamma": "tgamma",
        "factorial": "tgamma(1 + {})",
        "round": "nearbyint",
        "log_sigmoid": "(-ad_softplus(-({})))",
    }
    words = frozenset([*WORDS, *SAME, *HELPERS])

    def speakable(self, word: str) -> str:
        word = super().speakable(word)
        return "v" + word if word.startswith(MACROS) else word

    def number(self, x: float) -> str:
        text = spelled(x)
        return text if "." in text or "e" in text else text + ".0"

    def constant(self, name: str) -> str:
        known = {"pi!": "3.141592653589793", "e!": "2.718281828459045", "inf!": "INFINITY", "nan!": "NAN"}
        return "-INFINITY" if name == "-inf!" else known[name]

    def binds(self, x: Any, names: Any) -> int:
        return CALL if getattr(getattr(x, "op", None), "name", "") == "pow" else super().binds(x, names)

    def power(self, x: Any, y: Any) -> list[Piece]:
        return ["pow(", (x, 0), ", ", (y, 0), ")"]

    def choice(self, c: Any, a: Any, b: Any) -> list[Piece]:
        return ["(", (c, 0), " ? ", (a, 0), " : ", (b, 0), ")"]

    def logic(self, name: str, xs: Sequence[Any]) -> list[Piece]:
        if name == "not":
            return ["!(", (xs[0], 0), ")"]
        return ["((", (xs[0], 0), ") && (" if name == "and" else ") || (", (xs[1], 0), "))"]

    def function(self, source: str, arguments: Sequence[str], parts: Slopes, value: str, slopes: Slopes) -> str:
        takes = ", ".join([*(f"double {name}" for name in arguments), f"double gradient[{max(1, len(slopes))}]"])
        lines = [f"/* Value and gradient of {comment(source)} */", f"double f({takes})", "{"]
        lines += [f"    const double {name} = {text};" for name, text in parts]
        lines += [f"    gradient[{i}] = {text};  /* d/d{name} */" for i, (name, text) in enumerate(slopes)]
        lines += [f"    return {value};", "}"]
        return "\n".join(lines) + "\n"

    def file(self, helpers: Sequence[str], body: str) -> str:
        return "#include <math.h>\n\n" + "".join(f"{helper}\n" for helper in helpers) + body


TARGET = C()
