"""The Typer application, made of the same rows: help pages and shell completion; loaded for these alone."""

from __future__ import annotations

import inspect
import os
import re
import sys
from typing import Annotated, Any

os.environ.setdefault("TYPER_USE_RICH", "0")
import typer
from typer.core import TyperCommand

from autodiff import __version__
from autodiff.commands.line import no_command, read
from autodiff.commands.options import COMMANDS, FLAG, MANY, Command, Option
from autodiff.errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OVERVIEW = """Derivatives of expressions, and the computation behind them.

\b
autodiff grad '(x+2)*x' --at x=2          value and derivative
autodiff grad '(x+2)*x' x=2               the same
autodiff graph '(x+2)*x' --at x=2         the recorded graph
autodiff explain '(x+2)*x' --at x=2       where the derivative comes from
autodiff eval 'sin(x)' --sweep x=0:1:11   a table
autodiff functions                        what there is to call

Quote the expression; it may begin with a minus sign."""

DETAILS = """EXPR is one quoted word; - reads it from standard input, -f from a file. NAME=VALUE words
after it are the same as --at. A VALUE is a constant expression (pi/4, [1,2], -2) or @file.npy,
@file.csv, @file.json."""

OPERANDS = {
    "EXPR": "The expression, then NAME=VALUE words.",
    "NAME": "One function in detail.",
}


class Words(TyperCommand):
    """A command whose words are read by the reader of every run; Click sees those of help and completion."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing and args != ["--help"]:
            ctx.obj = read([str(self.name), *args])
            args = []
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> None:
        from autodiff.cli import execute

        execute(ctx.obj)


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line as Typer sees it, with the commands that are needed."""
    app = typer.Typer(
        name="autodiff",
        help=OVERVIEW,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )

    @app.callback()
    def top(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
        if version:
            typer.echo(f"autodiff {__version__}")
            raise typer.Exit

    for name in names:
        command = COMMANDS[name]
        details = DETAILS + "\n\n" if command.operand == "EXPR" else ""
        app.command(
            name,
            cls=Words,
            short_help=command.help,
            help=f"{command.help}\n\n{details}\b\nExample:\n  autodiff {name} {command.example}",
        )(_function(command))
    return app


def _function(command: Command) -> Any:
    """A function with the signature that Typer reads; it is not called."""

    def signed() -> None: ...

    parameters = [_operands(command), *map(_parameter, command.options)]
    signed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    signed.__annotations__ = {each.name: each.annotation for each in parameters}
    return signed


def _parameter(option: Option) -> inspect.Parameter:
    kinds: dict[str, Any] = {FLAG: bool, MANY: list[str] | None}
    extra: dict[str, Any] = {} if option.kind == FLAG else {"metavar": option.metavar}
    if option.choices:
        extra["autocompletion"] = lambda incomplete: [c for c in option.choices if c.startswith(incomplete)]
    declared = typer.Option(*option.names, help=option.help, show_default=False, **extra)
    return inspect.Parameter(
        option.names[0].lstrip("-").replace("-", "_"),  # two options may have the same key
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[kinds.get(option.kind, str | None), declared],
        default=False if option.kind == FLAG else None,
    )


def _operands(command: Command) -> inspect.Parameter:
    declared = typer.Argument(
        metavar=command.operand,
        help=OPERANDS[command.operand.strip("[]")],
        show_default=False,
        autocompletion=_functions,
    )
    return inspect.Parameter(
        "operands",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[list[str] | None, declared],
        default=None,
    )


def _functions(incomplete: str) -> list[str]:
    """Names of functions that go on from the last word of an expression."""
    match = re.search(r"[^\W\d]\w*$", incomplete)
    if match is None and incomplete:
        return []
    from autodiff.ops import NAMES

    begun = match[0] if match else ""
    before = incomplete[: len(incomplete) - len(begun)]
    return [before + name for name in NAMES if name.startswith(begun)]


def show(words: Sequence[str]) -> tuple[str, int]:
    """A help page or a completion, and the exit status: 2 where nothing was asked."""
    from contextlib import redirect_stdout
    from io import StringIO

    asked = ["--help"] if not words or words[0] in ("-h", "--help") else list(words)
    if asked[0] == "help":
        asked = [*asked[1:2], "--help"]
        if asked[0] not in COMMANDS and asked[0] != "--help":
            raise no_command(asked)
    names: Iterable[str] = COMMANDS
    if asked[0] in COMMANDS:
        names = asked[:1]
        asked = [*names, "--help"]
    with redirect_stdout(StringIO()) as page:
        try:
            status = application(names)(args=asked, prog_name="autodiff", standalone_mode=False)
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        except Exception as error:
            said = getattr(error, "format_message", None)  # Click's errors, wherever Typer keeps Click
            if said is None:
                raise
            raise RequestError(said(), help="autodiff --help lists commands and options") from None
    sys.stdout and sys.stdout.flush()
    asking = words or "_AUTODIFF_COMPLETE" in os.environ
    return page.getvalue(), int(status or 0) if asking else 2
