"""One option, one row; one command, one row. The reader of a line and the help pages are derived from them."""

from __future__ import annotations


class Option:
    """A row: its names, how it takes values ("flag", "one", "many"), and its help."""

    __slots__ = ("choices", "help", "key", "kind", "metavar", "names")

    def __init__(self, names: str, kind: str, metavar: str, help: str, choices: str = "") -> None:
        self.names = names.split()
        self.key = self.names[0].lstrip("-").replace("-", "_")
        self.kind = kind
        self.metavar = metavar
        self.help = help
        self.choices = choices.split()


class Command:
    """A row: name, help, the module and function that run it, and its options."""

    __slots__ = ("function", "help", "module", "name", "operand", "options")

    def __init__(self, name: str, help: str, where: str, options: str, operand: str = "EXPR") -> None:
        self.name = name
        self.help = help
        self.module, _, self.function = where.partition(":")
        self.options = [OPTIONS[key] for key in options.split()]
        self.operand = operand


FORMATS = "text json csv tsv value"
GRAPH_FORMATS = "text dot json svg png"

OPTIONS = {
    option.key if option.choices != GRAPH_FORMATS.split() else "graph_format": option
    for option in (
        Option("--file -f", "one", "FILE", "read the expression from a file"),
        Option("--at", "many", "NAME=VALUE", "values of inputs; several with commas, NAME=@file, or @point.json"),
        Option("--wrt", "one", "NAMES", "inputs to differentiate by, in this order; default all"),
        Option("--format -F", "one", "FORMAT", f"one of {FORMATS.replace(' ', ', ')}", FORMATS),
        Option("--format -F", "one", "FORMAT", f"one of {GRAPH_FORMATS.replace(' ', ', ')}", GRAPH_FORMATS),
        Option("--json", "flag", "", "the same as --format json"),
        Option("--output -o", "one", "FILE", "write there instead of standard output, whole or not at all"),
        Option("--sweep", "many", "NAME=START:STOP:COUNT", "evenly spaced values, both ends included; two make a grid"),
        Option("--digits", "one", "N", "significant digits in text; default: the shortest that read back exactly"),
        Option("--strict", "flag", "", "a nan, an infinity from finite inputs or a kink is an error"),
        Option("--convention", "one", "LIBRARY", "at kinks answer as torch or jax does", "torch jax"),
        Option("--max-ops", "one", "N", "stop with an error after N operations (default 50 million)"),
        Option("--color", "one", "WHEN", "auto, always or never", "auto always never"),
        Option("--dir", "many", "NAME=VALUE", "the direction"),
        Option("--cotangent", "one", "VALUE", "the cotangent, of the value's shape"),
        Option("--order", "one", "N", "the highest order"),
        Option("--local", "flag", "", "say how each gradient came about"),
        Option("--ascii", "flag", "", "draw with ASCII characters alone"),
    )
}

COMMON = "file at output digits strict convention max_ops color"
ANSWER = f"{COMMON} format json sweep"

COMMANDS = {
    command.name: command
    for command in (
        Command("eval", "the value", "answers:value", ANSWER),
        Command("grad", "value and gradient of a scalar result", "answers:grad", f"{ANSWER} wrt"),
        Command("jac", "Jacobian of a scalar, vector or array result", "answers:jac", f"{ANSWER} wrt"),
        Command("hess", "value, gradient and Hessian", "answers:hess", f"{ANSWER} wrt"),
        Command("jvp", "directional derivative", "answers:jvp", f"{ANSWER} dir"),
        Command("vjp", "a cotangent pulled back to the inputs", "answers:vjp", f"{ANSWER} wrt cotangent"),
        Command("hvp", "Hessian times a direction", "answers:hvp", f"{ANSWER} wrt dir"),
        Command("diff", "derivatives of order 1 to N by one input", "answers:diff", f"{ANSWER} wrt order"),
        Command("taylor", "Taylor coefficients by one input", "answers:taylor", f"{ANSWER} wrt order"),
        Command(
            "graph", "the recorded computation, drawn", "graph:graph", f"{COMMON} wrt graph_format json local ascii"
        ),
        Command("functions", "the functions of the language", "functions:functions", "format json output color", "[NAME]"),
    )
}
