"""The reader of a command line: words to a command, its options and its operands."""

from __future__ import annotations

from autodiff.commands.options import COMMANDS, Command, Option
from autodiff.errors import RequestError


class Line:
    """A line as read: the command's row, option values by key, operands in order."""

    __slots__ = ("command", "operands", "values")

    def __init__(self, command: Command) -> None:
        self.command = command
        self.values: dict[str, list[str]] = {}
        self.operands: list[str] = []

    def one(self, key: str) -> str | None:
        found = self.values.get(key)
        return found[-1] if found else None

    def many(self, key: str) -> list[str]:
        return self.values.get(key, [])

    def flag(self, key: str) -> bool:
        return key in self.values


class HelpWanted(Exception):
    """The line asks for a help page."""


def near(word: str, known: list[str]) -> str | None:
    """The known word that is nearest, if one is near."""
    import difflib  # noqa: PLC0415

    found = difflib.get_close_matches(word, known, 1, 0.6)
    return found[0] if found else None


def read(words: list[str]) -> Line:
    """Words after the program's name to a Line; RequestError names what is wrong.

    A short option counts only as a word of its own, so that an expression may begin with `-`; a word that
    begins with `--` and a letter is always an option.
    """
    name = words[0]
    if name in ("-h", "--help", "help"):
        raise HelpWanted
    command = COMMANDS.get(name)
    if command is None:
        guess = near(name, list(COMMANDS))
        what = "option" if name.startswith("--") else "command"
        hint = f"did you mean '{guess}'?" if guess else f"commands are {', '.join(COMMANDS)}"
        if what == "command" and not name.isidentifier():
            hint = f"to differentiate an expression: autodiff grad '{name}'"
        raise RequestError(f"unknown {what} '{name}'", help=hint)
    options = {n: option for option in command.options for n in option.names}
    line = Line(command)
    i, only_operands = 1, False
    while i < len(words):
        word = words[i]
        i += 1
        option: Option | None = options.get(word)
        value: str | None = None
        if option is None and word.startswith("--") and not only_operands:
            if word == "--":
                only_operands = True
                continue
            head, equals, rest = word.partition("=")
            option = options.get(head)
            if option is not None and equals:
                value = rest
            elif word[2].isalpha() or word[2] == "_":
                if head == "--help":
                    raise HelpWanted
                raise unknown(head, command, list(options))
        elif option is None and word == "-h" and not only_operands:
            raise HelpWanted
        if option is None:
            line.operands.append(word)
            continue
        if option.kind == "flag":
            if value is not None:
                raise RequestError(f"{option.names[0]} takes no value")
            line.values[option.key] = [""]
            continue
        if value is None:
            if i >= len(words):
                raise RequestError(f"{word} wants a value: {option.metavar}", help=option.help)
            value = words[i]
            i += 1
        if option.kind == "one" and option.key in line.values:
            raise RequestError(f"{option.names[0]} is given twice")
        if option.choices and value not in option.choices:
            guess = near(value, option.choices)
            raise RequestError(
                f"{option.names[0]} is one of {', '.join(option.choices)}, not '{value}'",
                help=f"did you mean '{guess}'?" if guess else None,
            )
        line.values.setdefault(option.key, []).append(value)
    return line


def unknown(word: str, command: Command, names: list[str]) -> RequestError:
    """The error for an option that the command does not have."""
    guess = near(word, [n for n in names if n.startswith("--")])
    hint = f"did you mean {guess}?" if guess else f"autodiff {command.name} --help lists the options"
    return RequestError(f"{command.name} has no option {word}", help=f"{hint} (an expression: '-({word[1:]})')")


def whole(line: Line, key: str, default: int | None, least: int) -> int | None:
    """The value of an option that takes a whole number; 1e6 is one."""
    text = line.one(key)
    if text is None:
        return default
    try:
        value = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            number = 0.5
        value = int(number) if abs(number) < 1e18 and number == int(number) else least - 1
    if value < least:
        name = "--" + key.replace("_", "-")
        raise RequestError(f"{name} wants a whole number from {least}, not '{text}'")
    return value
