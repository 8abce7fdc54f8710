"""Lexer and LALR driver over the generated tables: text to nested tuples (name, start, stop, *children).

A token is a tuple (terminal, start, stop, text). The tables (tables.py, from grammars/tables.py):
FIXED has the kinds of terminals by their text, GROUPS those of the others by PATTERN's group (0: none);
ROWS[STATES[s]][kind] is the state to shift to, or ~rule to reduce, or 0; GOTOS[s][origin] is the state
after a reduction; the first UNITS rules only pass their one symbol on.
"""

from __future__ import annotations

import gc
import os
import re

from autodiff.errors import SyntaxProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from autodiff.parse.program import Program


def _load() -> ModuleType:
    """The tables; in a checkout whose grammar was edited since, made anew."""
    here = os.path.dirname(os.path.abspath(__file__))
    source = os.path.dirname(os.path.dirname(here))
    grammar = None
    if os.path.basename(source) == "src":
        try:
            with open(os.path.join(os.path.dirname(source), "grammars", "expression.lark"), "rb") as file:
                grammar = file.read()
        except OSError:
            pass
    try:
        from autodiff.parse import tables
    except ImportError:
        if grammar is None:
            raise
    else:
        if grammar is None:
            return tables
        import zlib

        if zlib.crc32(grammar) == tables.DIGEST:
            return tables
    from autodiff.parse.stale import rebuild

    return rebuild(os.path.join(os.path.dirname(source), "grammars"), here, grammar)


_tables = _load()
_scan = re.compile(_tables.PATTERN).finditer
_rows = [_tables.ROWS[number] for number in _tables.STATES]
# A reduction by a unit rule only replaces the top state, so a chain of them, up the ladder of
# precedence, has one answer for (state below, state on top, next terminal). Learnt as they come.
_settled: dict[tuple[int, int, int], int] = {}


def parse(text: str) -> Program:
    """The program that the text means; SyntaxProblem says what is wrong with it, and where."""
    from autodiff.parse.compile import compile

    # Millions of tuples and not one cycle: the collector would only count them, again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return compile(text, tree(text))
    finally:
        if collecting:
            gc.enable()


def tree(text: str) -> Any:
    """The nested tuples of the text."""
    rows, gotos, rules, settled = _rows, _tables.GOTOS, _tables.RULES, _settled
    groups, fixed, tokens = _tables.GROUPS, _tables.FIXED, _tables.TOKENS
    newline, first_unit = _tables.NEWLINE, ~_tables.UNITS
    states = [0]
    values: list[Any] = [None]
    starts = [0]
    value: Any
    depth = 0  # open brackets
    end = 0  # of the last token
    for match in _scan(text):
        group: Any = match.lastindex
        start, stop = match.span(group)
        word = match[group]
        kind = fixed.get(word) or groups[group]
        if kind <= newline:
            if kind == newline:
                if depth:
                    continue
            elif kind > 2:
                depth -= 1
            elif kind:
                depth += 1
        while True:
            top = states[-1]
            action = rows[top][kind]
            if action > 0:
                name = tokens[kind]
                states.append(action)
                values.append(name and (name, start, stop, word))
                starts.append(start)
                end = stop
                break
            if action > first_unit:
                if not action:
                    raise _unexpected(text, states, start)
                key = (states[-2], top, kind)
                try:
                    states[-1] = settled[key]
                except KeyError:
                    below = gotos[key[0]]
                    while first_unit < action < 0:
                        top = below[rules[~action][0]]
                        action = rows[top][kind]
                    settled[key] = states[-1] = top
                continue
            origin, size, mode, name, positions, inlined = rules[~action]
            if mode == 2:
                value = (name, starts[-3], end, values[-3], values[-1])
            elif mode == 0:
                value = values[positions[0]]
            elif size:
                value = _node(mode, name, starts[-size], end, positions, inlined, values)
            else:
                value = []
                starts.append(start)
            if size:
                del states[-size:], values[-size:]
                if size > 1:
                    del starts[1 - size :]
            states.append(gotos[states[-1]][origin])
            values.append(value)
    return values[1]


def _node(
    mode: int,
    name: str,
    start: int,
    end: int,
    positions: tuple[int, ...],
    inlined: tuple[int, ...],
    values: list[Any],
) -> Any:
    if mode == 1:
        return (name, start, end, *[values[place] if place else None for place in positions])
    # Lists grow in place: each is reduced into exactly one parent.
    children: list[Any] = []
    for place in positions:
        if place not in inlined:
            children.append(values[place])
        elif children:
            children += values[place]
        else:
            children = values[place]
    return children if mode == 4 else (name, start, end, *children)


def _unexpected(text: str, states: list[int], start: int) -> SyntaxProblem:
    from autodiff.parse.problems import unexpected

    return unexpected(text, states, start, _tables)
