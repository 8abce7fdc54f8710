"""The Typer application, made of the same rows: help pages and shell completion; loaded for these alone."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Annotated, Any

os.environ.setdefault("TYPER_USE_RICH", "0")
import typer  # noqa: E402

from autodiff import __version__  # noqa: E402
from autodiff.commands.options import COMMANDS, Command, Option  # noqa: E402

OVERVIEW = """Derivatives of expressions you can trust.

    autodiff grad '(x+2)*x' --at x=2
    autodiff graph '(x+2)*x' --at x=2 --format dot | dot -Tsvg > graph.svg

The expression may begin with a minus sign; x=2 after it is the same as --at x=2."""


def application() -> typer.Typer:
    """The command line as Typer sees it."""
    app = typer.Typer(
        name="autodiff",
        help=OVERVIEW,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def top(
        version: Annotated[bool, typer.Option("--version", help="show the version and exit", is_eager=True)] = False,
    ) -> None:
        if version:
            print(f"autodiff {__version__}")
            raise typer.Exit

    for command in COMMANDS.values():
        app.command(command.name, help=command.help[0].upper() + command.help[1:] + ".")(_function(command))
    return app


def _function(command: Command) -> Any:
    """A function with the signature that Typer reads; it hands the words on to the reader of every run."""

    def call(**values: Any) -> None:
        from autodiff.cli import run  # noqa: PLC0415

        raise typer.Exit(run([command.name, *sys.argv[2:]]))

    def names(incomplete: str) -> list[str]:
        from autodiff.ops import NAMES  # noqa: PLC0415

        return [name for name in NAMES if name.startswith(incomplete)]

    operand = command.operand.strip("[]")
    completes = {"autocompletion": names} if operand == "NAME" else {}
    parameters = [
        inspect.Parameter(
            "operands",
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[
                list[str] | None,
                typer.Argument(metavar=command.operand, help=_operand_help(operand), show_default=False, **completes),
            ],
            default=None,
        )
    ]
    parameters += [_parameter(option) for option in command.options]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def _operand_help(operand: str) -> str:
    if operand == "NAME":
        return "one function in detail"
    return "the expression, quoted; or - for standard input; NAME=VALUE words after it bind inputs"


def _parameter(option: Option) -> inspect.Parameter:
    kinds: dict[str, Any] = {"flag": bool, "one": str | None, "many": list[str] | None}
    choices = option.choices

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    extra: dict[str, Any] = {"autocompletion": complete} if choices else {}
    if option.kind != "flag":
        extra["metavar"] = option.metavar
    declared = typer.Option(*option.names, help=option.help, show_default=False, **extra)
    return inspect.Parameter(
        option.key,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[kinds[option.kind], declared],
        default=False if option.kind == "flag" else None,
    )


def show(words: list[str]) -> int:
    """A help page or a completion; the exit status (2 where nothing was asked)."""
    from autodiff.errors import RequestError  # noqa: PLC0415

    asked = words or ["--help"]
    if words and words[0] in COMMANDS:
        asked = [words[0], "--help"]
    elif words[:1] == ["help"]:
        asked = [*[word for word in words[1:2] if word in COMMANDS], "--help"]
    try:
        status = application()(asked, prog_name="autodiff", standalone_mode=False)
    except Exception as error:
        said = getattr(error, "format_message", None)  # Click's errors, wherever Typer keeps Click
        if said is None:
            raise
        raise RequestError(said(), help="autodiff --help lists commands and options") from None
    sys.stdout.flush()
    return status or (0 if words else 2)
