"""The reader of a command line: words to a command, its options and its operands."""

from __future__ import annotations

from autodiff.commands.options import COMMANDS, FLAG, MANY, Command, Option
from autodiff.errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Pairs = list[tuple[Option, str]]

HELP = ("-h", "--help", "--version")


class Line:
    """A line as read: the command's row, option values by key, operands in order.

    `source` is the expression's text once it is known, for whoever reports an error in it.
    """

    __slots__ = ("command", "operands", "source", "values")

    def __init__(self, command: Command, pairs: Pairs, operands: Sequence[str]) -> None:
        self.command = command
        self.operands = list(operands)
        self.source: str | None = None
        self.values: dict[str, Any] = {}
        for option, text in pairs:
            if option.kind == MANY:
                self.values.setdefault(option.key, []).append(text)
            else:
                self.values[option.key] = option.value if option.kind == FLAG else converted(option, text)

    def get(self, key: str, default: Any = None) -> Any:
        return self.values.get(key, default)

    def many(self, key: str) -> list[str]:
        found: list[str] = self.values.get(key, [])
        return found


class HelpWanted(Exception):
    """The line asks for a help page or the version."""


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that is nearest, if one is near."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), 1, 0.65)
    return found[0] if found else None


def read(words: Sequence[str]) -> Line:
    """Words after the program's name to a Line; RequestError names what is wrong."""
    command = COMMANDS.get(words[0])
    if command is None:
        raise no_command(words)
    return Line(command, *scan(command, words[1:]))


def scan(command: Command, words: Sequence[str]) -> tuple[Pairs, list[str]]:
    """Options with their texts, and operands.

    An expression may begin with `-`: a short option counts only as a word of its own. What begins with
    `--` and a letter is an option. After `--` the next word is an operand whatever it looks like, and
    then only known options count as such.
    """
    options = {name: option for option in command.options for name in option.names}
    pairs: Pairs = []
    operands: list[str] = []
    ended = literal = False
    rest = iter(words)
    for word in rest:
        if literal or not word.startswith("-") or word == "-":
            operands.append(word)
            literal = False
            continue
        if word == "--" and not ended:
            ended = True
            literal = not operands
            continue
        name, equals, value = word.partition("=")
        long = word.startswith("--")
        option = options.get(name if long else word)
        if option is None:
            if word in HELP and not ended:
                raise HelpWanted
            if long and not ended and (word[2].isalpha() or word[2] == "_"):
                if any(help in words for help in HELP):
                    raise HelpWanted
                raise _no_option(word, command, options)
            operands.append(word)
        elif option.kind == FLAG:
            if long and equals:
                raise RequestError(f"{name} takes no value", help=f"write {name} alone")
            pairs.append((option, ""))
        else:
            if not (long and equals):
                value = _value(option, word, rest, options)
            pairs.append((option, value))
    return pairs, operands


def _value(option: Option, word: str, rest: Any, options: dict[str, Option]) -> str:
    """The word after an option that wants one."""
    value: str | None = next(rest, None)
    if value is None or (value.startswith("--") and (value.partition("=")[0] in options or value in HELP)):
        hint = f"{option.names[0]}: {option.help[0].lower()}{option.help[1:]}"
        if len(word) == 2:
            hint = f"the expression {word} is written '({word})'"
        raise RequestError(f"{word} wants a value: {option.metavar}", help=hint)
    return value


def converted(option: Option, text: str) -> Any:
    """The value that the text is for the option."""
    name = option.names[0]
    if option.choices and text not in option.choices:
        guess = near(text.lower(), option.choices)
        raise RequestError(
            f"{name} {text}: must be one of {', '.join(option.choices)}",
            help=f"did you mean '{guess}'?" if guess else None,
        )
    try:
        return option.convert(text)
    except ValueError as error:
        raise RequestError(f"{name} {text}: must be {error}") from None


def peek(words: Sequence[str], names: Sequence[str]) -> str | None:
    """The last text that an option seems to have in a line that can't be read."""
    found = None
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word in names and at + 1 < len(words):
            found = words[at + 1]
        elif equals and name in names:
            found = value
    return found


def wants_json(words: Sequence[str]) -> bool:
    """Whether errors are to be JSON, also where the line is wrong."""
    return "--json" in words or peek(words, ("--format", "-F")) == "json"


def no_command(words: Sequence[str]) -> RequestError:
    """The error for a line that begins with no command."""
    word = words[0]
    named = [other for other in words if other in COMMANDS]
    guess = near(word.lower(), COMMANDS)
    if word.startswith("--") and word[2:3].isalpha():
        page = near(word[2:], ("help", "version"))
        after = f"options follow the command: autodiff {named[0] if named else 'grad'} ... {word}"
        hint = f"did you mean --{page}?" if page else after
        return RequestError(f"unknown option '{word}'", help=hint)
    hint = f"did you mean '{guess}'?" if guess else f"the commands are {', '.join(COMMANDS)}"
    if not word.isidentifier() and guess is None and "'" not in word:
        hint = f"say what to do with the expression: autodiff grad '{word}'"
    return RequestError(f"unknown command '{word}'", help=hint)


def _no_option(word: str, command: Command, options: Iterable[str]) -> RequestError:
    name = word.partition("=")[0]
    elsewhere = [other.name for other in COMMANDS.values() for option in other.options if name in option.names]
    guess = near(name[2:], [known[2:] for known in (*options, "--help") if known.startswith("--")])
    if elsewhere:
        hint = f"it belongs to {', '.join(elsewhere)}"
    elif guess:
        hint = f"did you mean --{guess}?"
    else:
        hint = f"autodiff {command.name} --help lists the options"
    return RequestError(
        f"{command.name} has no option {name}",
        help=f"{hint} (as an expression it is written '-({word[1:]})')",
    )
