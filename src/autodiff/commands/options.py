"""One option, one row; one command, one row: the reader and the Typer application are made of these."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Converter = Callable[[str], Any]

FLAG, ONE, MANY = "flag", "one", "many"


class Option:
    """A row: names, how it takes values, its help, the values it knows, and what makes a value of a word.

    A FLAG stands for `value`; of a ONE the last word counts; a MANY gathers.
    """

    __slots__ = ("choices", "convert", "help", "key", "kind", "metavar", "names", "value")

    def __init__(
        self,
        names: str,
        kind: str,
        metavar: str,
        help: str,
        *,
        key: str = "",
        choices: str = "",
        convert: Converter = str,
        value: Any = True,
    ) -> None:
        self.names = names.split()
        self.key = key or self.names[0].lstrip("-").replace("-", "_")
        self.kind = kind
        self.metavar = metavar
        self.help = help
        self.choices = choices.split()
        self.convert = convert
        self.value = value


class Command:
    """A row: name, help, the module and function that run it, its options, its operand, an example."""

    __slots__ = ("example", "function", "help", "module", "name", "operand", "options")

    def __init__(self, name: str, help: str, where: str, options: str, example: str, operand: str = "EXPR") -> None:
        self.name = name
        self.help = help
        self.module, _, self.function = where.partition(":")
        self.options = [OPTIONS[key] for key in options.split()]
        self.operand = operand
        self.example = example

    def load(self) -> Any:
        """The function that runs the command; its module is imported now."""
        from importlib import import_module

        return getattr(import_module("autodiff.commands." + self.module), self.function)


def whole(least: int) -> Converter:
    """A whole number from `least`; `1e6` is one."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            try:
                exact = float(text)
            except ValueError:
                exact = 0.5
            if not -1e18 < exact < 1e18 or exact != int(exact):
                raise ValueError(f"a whole number from {least}") from None
            number = int(exact)
        if number < least:
            raise ValueError(f"a whole number from {least}")
        return number

    return convert


FORMATS = "text json csv tsv value"
PICTURES = "text dot mermaid json svg png html"
LESSONS = "text json markdown"


def _format(choices: str) -> Option:
    help = f"One of {choices.replace(' ', ', ')}."
    return Option("--format -F", ONE, "FORMAT", help, choices=choices)


OPTIONS: dict[str, Option] = {
    "file": Option("--file -f", ONE, "FILE", "Read the expression from FILE."),
    "at": Option("--at", MANY, "NAME=VALUE", "Bind inputs: x=1,y=pi/4 or v=[1,2] or A=@file.npy or @point.json."),
    "wrt": Option("--wrt", MANY, "NAMES", "Differentiate by these inputs, in this order. Default: all."),
    "format": _format(FORMATS),
    "picture": _format(PICTURES),
    "lesson": _format(LESSONS),
    "json": Option("--json", FLAG, "", "The same as --format json.", key="format", value="json"),
    "output": Option("--output -o", ONE, "FILE", "Write to FILE, whole or not at all."),
    "sweep": Option("--sweep", MANY, "NAME=START:STOP:COUNT", "Evenly spaced values; two make a grid."),
    "digits": Option("--digits", ONE, "N", "Significant digits. Default: all that matter.", convert=whole(1)),
    "strict": Option("--strict", FLAG, "", "An error for a nan, an infinity, a kink or lost digits."),
    "convention": Option("--convention", ONE, "LIBRARY", "At kinks answer as torch or jax.", choices="torch jax"),
    "max_ops": Option("--max-ops", ONE, "N", "Stop after N operations (50 million).", convert=whole(1)),
    "precision": Option(
        "--precision", ONE, "N", "Compute with N significant digits; numbers are exact decimals.", convert=whole(1)
    ),
    "checkpoint": Option(
        "--checkpoint", ONE, "K", "Save memory: keep the state every K operations and run again.", convert=whole(1)
    ),
    "color": Option("--color", ONE, "WHEN", "auto, always or never.", choices="auto always never"),
    "dir": Option("--dir", MANY, "NAME=VALUE", "The direction; inputs not named stay put."),
    "cotangent": Option("--cotangent", ONE, "VALUE", "The cotangent, of the result's shape, as in [1,0]."),
    "order": Option("--order", ONE, "N", "The highest order. Default: 1.", convert=whole(1)),
    "nth": Option("--order", ONE, "N", "The order of the derivatives. Default: 1.", convert=whole(1)),
    "sensitivity": Option("--sensitivity", FLAG, "", "Add condition numbers and bounds of the rounding error."),
    "checked": Option("--order", ONE, "N", "1, or 2 for the Hessian too. Default: 1.", convert=whole(1)),
    "terms": Option("--order", ONE, "N", "The highest power. Default: 5.", convert=whole(0)),
    "local": Option("--local", FLAG, "", "Say how each gradient came about."),
    "ascii": Option("--ascii", FLAG, "", "Draw with ASCII characters alone."),
    "backward": Option("--backward", FLAG, "", "Draw the recorded backward pass too."),
    "full": Option("--full", FLAG, "", "Leave nothing out, however long it is."),
    "latex": Option("--latex", FLAG, "", "Formulas as LaTeX."),
    "emit": Option("--emit", ONE, "LANGUAGE", "Value and gradient as python, numpy or c.", choices="python numpy c"),
}

COMMON = "file at output digits strict convention max_ops color"
ANSWER = f"format json sweep {COMMON}"


def _answer(name: str, help: str, options: str, example: str) -> Command:
    return Command(name, help, f"answers:{name}", f"{options} {ANSWER}", example)


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        _answer("eval", "The value.", "precision", "'sqrt(2)*x' --at x=3"),
        _answer("grad", "Value and gradient.", "wrt sensitivity checkpoint precision", "'(x+2)*x' --at x=2"),
        _answer("jac", "Jacobian of a scalar, vector or array.", "wrt", "'[x*y, x+y]' --at x=2,y=3"),
        _answer("hess", "Value, gradient and Hessian.", "wrt", "'x^2*y' --at x=1,y=2"),
        _answer("jvp", "Directional derivative.", "dir", "'x*y' --at x=2,y=3 --dir x=1"),
        _answer("vjp", "Cotangent times Jacobian.", "wrt cotangent", "'[x, x^2]' --at x=3 --cotangent '[1, 0]'"),
        _answer("hvp", "Hessian times a direction.", "wrt dir", "'x^2*y' --at x=1,y=2 --dir x=1"),
        _answer("diff", "Derivatives of order 1 to N.", "wrt order", "'exp(sin(x))' --at x=1 --order 4"),
        _answer("taylor", "Taylor coefficients.", "wrt terms", "'sin(x)/(1+x)' --at x=0 --order 6"),
        Command(
            "derive",
            "Derivatives as formulas.",
            "derive:derive",
            f"wrt nth latex emit format json {COMMON}",
            "'(x+2)*x' --wrt x",
        ),
        Command(
            "graph",
            "The recorded graph, drawn; -o graph.svg or .html for files.",
            "graph:graph",
            f"wrt local ascii backward full picture json {COMMON}",
            "'(x+2)*x' --at x=2 --local",
        ),
        Command(
            "explain",
            "Forward and backward pass, step by step.",
            "explain:explain",
            f"wrt full ascii lesson json {COMMON}",
            "'(x+2)*x' --at x=2",
        ),
        Command(
            "check",
            "Derivatives beside independent numerical ones.",
            "check:check",
            f"wrt checked format json {COMMON}",
            "'sin(x)*exp(y/3)' --at x=1,y=-2",
        ),
        Command(
            "functions",
            "The functions of the language.",
            "functions:functions",
            "format json output color",
            "sin",
            "[NAME]",
        ),
    )
}
