"""Turns expression.lark into the parser's tables, by Lark's own LALR analysis: text in, text out.

Runs at build time, and in a checkout whose grammar was edited. Knows nothing of the language.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import zlib
from typing import Any

from lark import Lark, logger
from lark.grammar import NonTerminal, Rule
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift

END = "$END"
BRACKETS = ("LPAR", "LSQB", "RPAR", "RSQB")
PASS, NODE, BINARY, SPREAD, LIST = range(5)

HEADER = '''"""Generated from grammars/expression.lark by grammars/tables.py: data, not to be edited.

How to read it: see parser.py.
"""

'''


def load(grammar: str) -> Any:
    """Lark's parser of the grammar; a grammar with conflicts is refused, which Lark would only log."""
    conflicts: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            conflicts.append(record.getMessage())

    listener, level = Listener(), logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.DEBUG)
    try:
        lark = Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=True, debug=False)
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
    conflicts = [message for message in conflicts if "conflict" in message.lower()]
    if conflicts:
        raise ValueError("\n".join(conflicts))
    return lark


def generate(grammar: bytes) -> str:
    """The text of tables.py for this grammar; the same bytes for the same grammar."""
    lark = load(grammar.decode("utf-8"))
    table = lark.parser.parser._parse_table
    terminals = {terminal.name: terminal for terminal in lark.terminals}
    ignored = set(lark.ignore_tokens)

    # Terminals: the brackets and the newline first, so that one comparison finds them.
    special = [*BRACKETS, "_NEWLINE"]
    rest = [name for name in terminals if name not in ignored and name not in special]
    names = ["", *special, *rest, END]  # 0 is what no terminal matches
    kinds = {name: kind for kind, name in enumerate(names)}
    kept = {symbol.name for rule in lark.rules for symbol in rule.expansion if not _dropped(symbol)}

    # The lexer: one expression, with one group for all that is spelled in a few ways, looked up by its text.
    fixed = {text: kinds[name] for name in names[1:-1] for text in _spellings(terminals[name].pattern)}
    word = re.compile(terminals["NAME"].pattern.to_regexp())
    signs = sorted((text for text in fixed if not word.fullmatch(text)), key=lambda text: (-len(text), text))
    order = sorted(
        (terminals[name] for name in names[1:-1] if kinds[name] not in fixed.values()),
        key=lambda terminal: (-terminal.priority, -terminal.pattern.max_width, terminal.name),
    )
    blanks = "|".join(terminals[name].pattern.to_regexp() for name in lark.ignore_tokens)
    patterns = [terminal.pattern.to_regexp() for terminal in order]
    patterns += ["|".join(map(re.escape, signs)), r"\Z", r"[\s\S]"]
    pattern = f"(?>(?:{blanks})*)(?:{'|'.join(f'({pattern})' for pattern in patterns)})"
    groups = [0, *(kinds[terminal.name] for terminal in order), 0, kinds[END], 0]

    # Rules: those that only pass their one symbol on come first, so that one comparison finds them.
    rules = sorted(lark.rules, key=lambda rule: not _is_unit(rule))
    units = sum(map(_is_unit, rules))
    numbers = {rule: number for number, rule in enumerate(rules)}
    origins = list(dict.fromkeys(rule.origin.name for rule in lark.rules))

    states = _numbered(table, list(kinds), origins)
    actions, gotos = [], []
    for state in states:
        row = [0] * len(names)
        for symbol, (action, target) in table.states[state].items():
            if symbol in kinds:
                row[kinds[symbol]] = states[target] if action is Shift else ~numbers[target]
        if state == table.end_states["start"]:
            row[kinds[END]] = states[state]
        actions.append(tuple(row))
        gotos.append(
            {
                number: states[table.states[state][origin][1]]
                for number, origin in enumerate(origins)
                if origin in table.states[state]
            }
        )
    distinct = list(dict.fromkeys(actions))
    spelling = {
        name: terminal.pattern.value for name, terminal in terminals.items() if isinstance(terminal.pattern, PatternStr)
    }

    lines = [
        f"DIGEST = {zlib.crc32(grammar)}",
        f"PATTERN = {pattern!a}",
        f"GROUPS = {tuple(groups)}",
        f"FIXED = {fixed!a}",
        f"TOKENS = {tuple(name if name in kept else None for name in names)}",
        f"SPELLINGS = {tuple(spelling.get(name, name) for name in names)!a}",
        f"NEWLINE = {kinds['_NEWLINE']}",
        f"END = {kinds[END]}",
        f"UNITS = {units}",
        "RULES = (",
        *(f"    {_row(rule, origins)!r}," for rule in rules),
        ")",
        "ROWS = (",
        *(f"    {row}," for row in distinct),
        ")",
        f"STATES = {tuple(map(distinct.index, actions))}",
        "GOTOS: tuple[dict[int, int], ...] = (",
        *(f"    {goto}," for goto in gotos),
        ")",
    ]
    return HEADER + "\n".join(lines) + "\n"


def _spellings(pattern: Any) -> list[str]:
    """All texts of a terminal that is a string, or a choice of strings; of others none."""
    if isinstance(pattern, PatternStr):
        return [pattern.value]
    choice = re.fullmatch(r"\(\?:(.*)\)", pattern.to_regexp())
    texts = [re.sub(r"\\(.)", r"\1", part) for part in choice[1].split("|")] if choice else []
    return texts if [re.escape(text) for text in texts] == (choice and choice[1].split("|")) else []


def _dropped(symbol: Any) -> bool:
    return bool(getattr(symbol, "filter_out", False))


def _inlined(symbol: Any) -> bool:
    return isinstance(symbol, NonTerminal) and symbol.name.startswith("_")


def _is_unit(rule: Rule) -> bool:
    return len(rule.expansion) == 1 and _row(rule, [rule.origin.name])[2] == PASS


def _row(rule: Rule, origins: list[str]) -> tuple[Any, ...]:
    """(origin, size, mode, name, positions of the children from the end, the inlined among them).

    What Lark's tree builder would do with the rule; position 0 is an absent optional part.
    """
    size = len(rule.expansion)
    symbols = list(rule.expansion)
    positions: list[int] = []
    inlined: list[int] = []
    absent = list(rule.options.empty_indices) or [False] * size
    place = 0
    for gap in absent:
        if gap:
            positions.append(0)
            continue
        symbol = symbols[place]
        if not _dropped(symbol):
            positions.append(place - size)
            if _inlined(symbol):
                inlined.append(place - size)
        place += 1
    name = str(rule.alias or rule.origin.name)
    if rule.origin.name.startswith("_"):
        mode = LIST
    elif rule.options.expand1 and not rule.alias and len(positions) == 1 and not inlined:
        mode = PASS
    elif inlined:
        if rule.options.expand1 and not rule.alias:
            raise ValueError(f"{rule}: a ?rule with inlined children needs an alias")
        mode = SPREAD
    else:
        mode = BINARY if size == 3 and positions == [-3, -1] else NODE
    return origins.index(rule.origin.name), size, mode, name, tuple(positions), tuple(inlined)


def _numbered(table: Any, terminals: list[str], origins: list[str]) -> dict[Any, int]:
    """The states in an order that depends on the grammar alone: breadth first, symbols in order."""
    start = table.start_states["start"]
    found = {start: 0}
    queue = [start]
    for state in queue:
        row = table.states[state]
        for symbol in [*terminals, *origins]:
            action, target = row.get(symbol, (None, None))
            if action is Shift and target not in found:
                found[target] = len(found)
                queue.append(target)
    return found


def replace(path: str, text: str) -> bool:
    """Writes the file whole or not at all; a folder that can't be written to is no error."""
    partial = f"{path}.{os.getpid()}"
    try:
        with open(partial, "x", encoding="ascii") as file:
            file.write(text)
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        return False
    return True
