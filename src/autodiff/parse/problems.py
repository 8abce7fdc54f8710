"""What to say about a text that is no program: from the parser's states where it stopped to a SyntaxProblem.

Loaded only when there is something to say. Each `_rule` knows one kind of mistake and answers None to others.
"""

from __future__ import annotations

import re

from autodiff.errors import SyntaxProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    Token = tuple[str, int, int, str]  # spelling of the terminal, start, stop, text

ENDS = frozenset(("NAME", "NUMBER", "SUPERSCRIPT", ")", "]"))
BEGINS = frozenset(("NAME", "NUMBER", "(", "√"))
CLOSERS = {"(": ")", "[": "]", "{": "}"}
SIGNS = {
    "_MINUS": "-",
    "_TIMES": "*",
    "_DIVIDE": "/",
    "_POWER": "^",
    "_LE": "<=",
    "_GE": ">=",
    "_NE": "!=",
    "_MINUS_ASSIGN": "-=",
    "_TIMES_ASSIGN": "*=",
    "_DIVIDE_ASSIGN": "/=",
    "_POWER_ASSIGN": "^=",
}
ASSIGNMENTS = frozenset(("=", "+=", "//=", "%=", "_MINUS_ASSIGN", "_TIMES_ASSIGN", "_DIVIDE_ASSIGN", "_POWER_ASSIGN"))
INFIX = frozenset(("+", "//", "%", "@", "<", ">", "==", "and", "or", "not", "√", "..", *ASSIGNMENTS, *SIGNS))
AWAITING = INFIX | {"if", "else", "while", "by", "in"}  # what a value must follow
WORDS = frozenset(("break", "continue", "while", "for", "else", "if", "or", "and", "not", "by", "in"))
STOPS = frozenset(("_NEWLINE", "$END", ";", "}"))
SEPARATE = STOPS | {
    ")",
    "]",
    ",",
    "+",
    "_MINUS",
    "<",
    ">",
    "==",
    "if",
    "else",
}  # what no function's argument reaches over
LIKELY = {  # characters that stand for others, by what to write
    "&": "and",
    "|": "or",
    "~": "not",
    "–": "-",
    "—": "-",
    "‐": "-",
    "∗": "*",
    "∙": "*",
    "•": "*",
    "∕": "/",
    "∶": "/",
    "∞": "inf",
    "…": "..",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "ⁿ": "^n",
    "∛": "cbrt(…)",
    "±": "--at x=2+-0.1, for `propagate` only",
}
# functions that stand on paper without brackets
CALLED = frozenset(("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "ln", "log", "log2", "log10", "sqrt", "abs"))
INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "sinh": "asinh", "cosh": "acosh", "tanh": "atanh"}
OPERATORS = {"mod": "%", "div": "//"}  # words between operands elsewhere
FOREIGN = {  # words of other languages, by what to do here
    "return": "the last statement of a function is its value",
    "def": "write f(t) = … or f(t) { … }",
    "function": "write f(t) = … or f(t) { … }",
    "fn": "write f(t) = … or f(t) { … }",
    "lambda": "write f(t) = …",
    "let": "write name = …",
    "var": "write name = …",
    "const": "write name = …",
    "elif": "write else if",
    "elseif": "write else if",
    "print": "the last expression is the result",
}


def unexpected(text: str, states: list[int], start: int, tables: ModuleType) -> SyntaxProblem:
    """The problem with the token at `start`, which no action of the parser in these states takes."""
    return Problem(text, states, start, tables).explain()


def shown(word: str) -> str:
    """A piece of the text inside a message: short, in quotes, nothing unprintable."""
    if len(word) > 40:
        word = word[:37] + "…"
    return "'" + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in word) + "'"


class Problem:
    """The tokens around the place where the parser stopped."""

    def __init__(self, text: str, states: list[int], start: int, tables: ModuleType) -> None:
        self.text = text
        self.states = states
        self.tables = tables
        self.tokens: list[Token] = []  # all of the text; newlines within brackets left out
        self.here = -1  # the place of the unexpected one among them
        self.opened: list[Token] = []  # the brackets open there
        self.pairs: dict[int, int] = {}  # places in `tokens` of brackets that belong together, both ways
        self.scan(start)
        self.token = self.tokens[self.here]
        self.before = self.tokens[self.here - 1] if self.here else ("", 0, 0, "")
        self.expected = frozenset(tables.SPELLINGS[kind] for kind in range(1, tables.END + 1) if self.accepts(kind))

    def scan(self, stop: int) -> None:
        tables = self.tables
        stack: list[int] = []
        opened: list[int] = []
        for match in re.finditer(tables.PATTERN, self.text):
            group = match.lastindex
            assert group is not None
            word = match[group]
            spelling = tables.SPELLINGS[tables.FIXED.get(word) or tables.GROUPS[group]]
            first, last = match.span(group)
            if first >= stop and self.here < 0:
                self.here = len(self.tokens)
                opened = stack.copy()
                self.opened = [self.tokens[place] for place in stack]
            if spelling == "_NEWLINE" and stack and self.tokens[stack[-1]][0] != "{":
                continue
            place = len(self.tokens)
            self.tokens.append((spelling, first, last, word))
            if spelling in CLOSERS:
                stack.append(place)
            elif stack and spelling == CLOSERS[self.tokens[stack[-1]][0]]:
                self.pairs[place] = stack[-1]
                self.pairs[stack.pop()] = place
            if spelling == "$END":
                break
        self.closed = frozenset(self.tokens[place] for place in opened if place in self.pairs)

    def accepts(self, kind: int) -> bool:
        """Would the parser take a token of this kind?"""
        tables = self.tables
        depth, pushed = len(self.states), list[int]()
        while True:
            state = pushed[-1] if pushed else self.states[depth - 1]
            action = tables.ROWS[tables.STATES[state]][kind]
            if action >= 0:
                return bool(action)
            origin, size = tables.RULES[~action][:2]
            kept = max(0, len(pushed) - size)
            depth -= size - (len(pushed) - kept)
            del pushed[kept:]
            state = pushed[-1] if pushed else self.states[depth - 1]
            pushed.append(tables.GOTOS[state][origin])

    def explain(self) -> SyntaxProblem:
        for rule in RULES:
            problem = rule(self)
            if problem is not None:
                return problem
        return self.problem(f"expected {self.wanted()}, found {self.found()}")

    def problem(self, message: str, span: tuple[int, int] | None = None, help: str | None = None) -> SyntaxProblem:
        return SyntaxProblem(message, span or self.token[1:3], help)

    # Words.

    def found(self) -> str:
        spelling, _, _, word = self.token
        if spelling == "$END":
            return "the end"
        return "the end of the line" if spelling == "_NEWLINE" else shown(word)

    def wanted(self) -> str:
        """The expected tokens in words, few of them."""
        expected = self.expected
        parts = []
        if "NUMBER" in expected:
            parts.append("a value")
        elif "NAME" in expected:
            parts.append("a name")
        elif "+" in expected:
            parts.append("an operator")
        signs = ("{", "else", "..", ",", ")", "]") if "NAME" in expected else ("{", "in", "else", "..", ",", ")", "]")
        parts += [shown(sign) for sign in signs if sign in expected]
        if "NUMBER" not in expected and "$END" in expected:
            parts.append("the end of the statement")
        elif "}" in expected:
            parts.append("'}'")
        if not parts:
            parts = [shown(SIGNS.get(sign, sign)) for sign in sorted(expected)] or ["nothing more"]
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"

    def column(self, token: Token) -> str:
        """Where a token is: its column, and its line if there are several."""
        start = token[1]
        line = self.text.count("\n", 0, start)
        column = start - self.text.rfind("\n", 0, start)
        return f"column {column}" if "\n" not in self.text else f"line {line + 1}, column {column}"

    def line_of(self, token: Token) -> int:
        return self.text.count("\n", 0, token[1]) + self.text.count("\r", 0, token[1])

    # Implicit multiplication.

    def seam(self, place: int) -> bool:
        """Do two operands stand side by side here, as if to multiply?"""
        left, right = self.tokens[place - 1], self.tokens[place]
        if not (place and left[0] in ENDS and right[0] in BEGINS):
            return False
        if right[0] == "(":
            return left[0] != "NAME"
        return not (left[0] == right[0] == "NUMBER")

    def operand(self, place: int, step: int) -> str:
        """The text of the operand that ends (step -1) or begins (step 1) with the token."""
        tokens, other = self.tokens, place
        if step < 0:
            while tokens[other][0] in ("SUPERSCRIPT", ")", "]"):
                other = self.pairs.get(other, other)
                before = tokens[other - 1][0] if other else ""
                if not (before == "NAME" or (before in ENDS and tokens[other][0] != "(")):
                    break
                other -= 1
        else:
            if tokens[other][0] == "√":
                other += 1
            if tokens[other][0] == "NAME" and tokens[other + 1][0] == "(":
                other += 1
            other = self.pairs.get(other, other)
        first, last = sorted((self.tokens[place][1:3], self.tokens[other][1:3]))
        return self.text[first[0] : last[1]]

    def multiplied(self) -> str:
        """The line with each missing `*` written."""
        line_start = max(self.text.rfind("\n", 0, self.token[1]), self.text.rfind("\r", 0, self.token[1])) + 1
        pieces, done = [], line_start
        for place, token in enumerate(self.tokens):
            if token[1] < line_start or token[0] in ("_NEWLINE", "$END", ""):
                if token[1] > self.token[1]:
                    break
                continue
            if self.seam(place) and self.tokens[place - 1][1] >= line_start:
                pieces.append(self.text[done : self.tokens[place - 1][2]] + "*")
                done = token[1]
        last = re.compile(r"[\r\n#]|$").search(self.text, done)
        assert last is not None
        return "".join(pieces) + self.text[done : last.start()].rstrip()


# The rules, most particular first.


def _odd_character(p: Problem) -> SyntaxProblem | None:
    spelling, start, _, c = p.token
    if spelling:
        return None
    double = p.text[start : start + 2]
    span = (start, start + 1)
    operand = p.before[0] in ENDS
    if double in ("&&", "||"):
        sign = "and" if c == "&" else "or"
        return p.problem(f"'{double}' is no operator", (start, start + 2), f"write {sign}")
    if c == "!":
        if operand:
            value = p.operand(p.here - 1, -1)
            return p.problem("'!' is no operator", span, f"the factorial is factorial({value.strip('()')})")
        return p.problem("'!' is no operator", span, "write not")
    if c in "'’′″`´" and operand and p.before[2] == start:
        help = "the derivative of f(x) by x is diff(f(x), x)"
        return p.problem("a prime is no part of a name", span, help)
    if c in "'\"`´‘’“”„«»":
        return p.problem("there is no text in quotes here", span)
    if c == "|" and not operand:
        return p.problem("unexpected character '|'", span, "the absolute value of x is abs(x)")
    if c == "?":
        return p.problem("unexpected character '?'", span, "a conditional is written: a if c else b")
    if c == ".":
        return p.problem("a dot is part of a number or of a range a..b only", span)
    if c == "\\":
        word = re.compile(r"\\([^\W\d]\w*)").match(p.text, start)
        return p.problem("unexpected character '\\'", span, f"write {word[1]}" if word else None)
    likely = LIKELY.get(c)
    if likely is None and not c.isascii():
        import unicodedata

        plain = unicodedata.normalize("NFKC", c)
        likely = plain if plain.isascii() and plain.isprintable() and plain.strip() else None
    name = f"'{c}'" if c.isascii() else f"'{c}' (U+{ord(c):04X})"
    if not c.isprintable():
        name = f"U+{ord(c):04X}"
    return p.problem(f"unexpected character {name}", span, likely and f"write {likely}")


def _number(p: Problem) -> SyntaxProblem | None:
    """Digits that go on as no number does: 1.2.3, 1__0, 0x10."""
    before, token = p.before, p.token
    if before[0] != "NUMBER" or before[2] != token[1] or token[0] not in ("NUMBER", "NAME", ".."):
        return None
    glued = re.compile(r"[\w.]+").match(p.text, before[1])
    assert glued is not None
    span = glued.span()
    if token[0] == "NUMBER":
        return p.problem(f"{shown(glued[0])} is not a number: it has two dots", span)
    if token[0] == "..":
        return None
    if token[3].startswith("_") or before[3].endswith("_"):
        clean = re.sub("_+", "_", glued[0]).rstrip("_")
        help = f"write {clean}" if re.fullmatch(r"\d+(_\d+)*(\.\d+)?", clean) else None
        return p.problem(f"{shown(glued[0])} is not a number: '_' stands between two digits", span, help)
    digits = re.fullmatch(r"0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)", glued[0])
    if digits and len(glued[0]) < 20:
        return p.problem(f"{shown(glued[0])} is not a number: only decimal digits", span, f"write {int(glued[0], 0)}")
    return None


def _stopped(p: Problem) -> SyntaxProblem | None:
    """The text, the line or the statement ends where a value was due."""
    before, token = p.before, p.token
    if token[0] not in STOPS and token[0] not in (")", "]", ",", "{"):
        return None
    if before[0] not in AWAITING or "NUMBER" not in p.expected:
        return None
    sign = shown(before[3])
    if token[0] in ("$END", "_NEWLINE"):
        what = "line" if "\n" in p.text or "\r" in p.text else "expression"
        help = "inside ( ) it may go on in the next line" if token[0] == "_NEWLINE" else None
        return p.problem(f"the {what} ends after {sign}: a value is missing", before[1:3], help)
    return p.problem(f"a value is missing between {sign} and {p.found()}", (before[1], token[2]))


def _bracket(p: Problem) -> SyntaxProblem | None:
    """A bracket that is not closed, closed by another kind, or never opened."""
    token = p.token
    opener = p.opened[-1] if p.opened else None
    closer = CLOSERS[opener[0]] if opener else ""
    if token[0] in (")", "]", "}") and token[0] != closer:
        if opener is None:
            return p.problem(f"{shown(token[3])} closes nothing", help="remove it, or open it before")
        return p.problem(
            f"{shown(token[3])} can't close the '{opener[3]}' at {p.column(opener)}",
            help=f"write {closer} here",
        )
    if opener is None:
        return None
    # A later line that does not fit, or a block: the bracket was forgotten long before.
    lost = opener[0] != "{" and opener not in p.closed and p.before[0] in ENDS
    lost = lost and (token[0] == "{" or p.line_of(token) > p.line_of(p.before))
    if token[0] == "$END" or lost:
        return p.problem(
            f"missing '{closer}': the '{opener[3]}' at {p.column(opener)} is not closed",
            opener[1:3],
            f"add {closer}",
        )
    return None


def _foreign(p: Problem) -> SyntaxProblem | None:
    spelling, start, stop, word = p.before
    if spelling == "NAME" and word in FOREIGN and p.token[0] in (BEGINS | {"if", "_MINUS", "["}):
        return p.problem(f"'{word}' is no word of this language", (start, stop), FOREIGN[word])
    return None


def _loop(p: Problem) -> SyntaxProblem | None:
    if "in" in p.expected and "NAME" not in p.expected:
        return p.problem(f"expected 'in', found {p.found()}", help="write for k in 1..3 { … }")
    return None


def _call(p: Problem) -> SyntaxProblem | None:
    """Functions as on paper: sin x, 2 sin x, sin^2(x)."""
    here = p.here
    if p.token[0] == "NAME" and p.token[3] in CALLED and p.tokens[here + 1][0] != "(":
        here += 1
    if not p.seam(here):
        return None
    tokens, before = p.tokens, p.tokens[here - 1]
    power, at = (before[3], here - 2) if before[0] == "SUPERSCRIPT" else ("", here - 1)
    if before[0] == "NUMBER" and here > 2:
        signed = tokens[here - 2][0] == "_MINUS"
        if tokens[here - 2 - signed][0] == "_POWER":
            power, at = f"^{'-' * signed}{before[3]}", here - 3 - signed
    name = tokens[at]
    if name[0] != "NAME" or name[3] not in CALLED:
        return None
    span = (name[1], tokens[here][2])
    if power in ("^-1", "⁻¹") and name[3] in INVERSES:
        argument = p.operand(here, 1)
        call = argument if argument[0] == "(" else f"({argument})"
        call = call if len(call) < 40 and call.isprintable() else "(…)"
        inverse, quotient = f"{INVERSES[name[3]]}{call}", f"1/{name[3]}{call}"
        return p.problem(f"a function is called with brackets: write '{inverse}' or '{quotient}'", span)
    argument = p.operand(here, 1)
    after = next(token for token in tokens if token[1] >= tokens[here][1] + len(argument))
    call = f"{name[3]}{argument if argument[0] == '(' else f'({argument})'}{power}"
    if len(call) > 60 or not call.isprintable() or after[0] not in SEPARATE or power.startswith(("⁻", "^-")):
        call = f"{name[3]}(…)"
    return p.problem(f"a function is called with brackets: write '{call}'", span)


def _product(p: Problem) -> SyntaxProblem | None:
    before, token = p.before, p.token
    if before[0] == "NUMBER" == token[0]:
        return p.problem(
            f"an operator is missing between {shown(before[3])} and {shown(token[3])}", (before[1], token[2])
        )
    for word in (token, before):
        if word[0] == "NAME" and word[3] in OPERATORS and p.seam(p.here):
            return p.problem(f"'{word[3]}' is no operator", word[1:3], f"write {OPERATORS[word[3]]}")
    left, right = p.operand(p.here - 1, -1), p.operand(p.here, 1)
    head = "{" in p.expected and before[2] < token[1] and left.partition("(")[0].strip() not in CALLED
    if not p.seam(p.here) or head:
        return None
    product = f"{left}*{right}"
    line = p.multiplied()
    if len(line) > 72 or not line.isprintable() or p.line_of(before) != p.line_of(token):
        line = product
    if len(product) > 40 or not product.isprintable():
        return p.problem("there is no implicit multiplication: write '*' between", (before[1], token[2]))
    return p.problem(
        f"there is no implicit multiplication: write '{product}'",
        (before[1], token[2]),
        f"write {line.strip()}" if line.strip() != product else None,
    )


def _compare(p: Problem) -> SyntaxProblem | None:
    """Signs of other languages, made of two of ours."""
    (_, start, stop, word), before = p.token, p.before
    pair = before[3] + word if before[2] == start else ""
    write = {
        "<>": "!=",
        "=<": "<=",
        "=>": ">=",
        "===": "==",
        "!==": "!=",
        "**^": "^",
        ":=": "=",
        "++": "+= 1",
        "--": "-= 1",
    }
    if pair in write:
        return p.problem(f"'{pair}' is no operator", (before[1], stop), f"write {write[pair]}")
    if word == ":" and p.text.startswith("=", stop):
        return p.problem("':=' is no operator", (start, stop + 1), "write =")
    return None


def _assignment(p: Problem) -> SyntaxProblem | None:
    token, before = p.token, p.before
    if token[0] not in ASSIGNMENTS:
        return None
    if before[0] in WORDS and before[0] not in ("by", "in"):
        return p.problem(f"'{before[3]}' is a word of the language and can't be bound", before[1:3])
    first = p.here
    while first and p.tokens[first - 1][0] not in (*STOPS, "{"):
        first -= 1
    statement = p.tokens[first : p.here]
    if p.opened and p.opened[-1][0] != "{":
        return p.problem("'=' does not compare", help="to compare, write ==")
    if statement and statement[0][0] in ("if", "while", "else"):
        return p.problem("'=' does not compare", help="to compare, write ==")
    if any(item[0] in ASSIGNMENTS for item in statement):
        return p.problem(
            f"a statement binds one name: a second {shown(token[3])}",
            help="bind in two statements; to compare, write ==",
        )
    if not statement:
        return p.problem(f"a name is missing before {shown(token[3])}")
    span = (statement[0][1], before[2])
    if statement[0][0] == "NAME" and len(statement) > 1 and statement[1][0] == "[":
        return p.problem("an element can't be assigned to", span, "bind a whole array: v = [1, 2]")
    if token[0] == "=":
        return p.problem("only a name, or f(t), can be bound", span, "to compare, write ==")
    return p.problem(f"only a name can stand before {shown(token[3])}", span)


def _range(p: Problem) -> SyntaxProblem | None:
    if p.token[0] == "..":
        return p.problem("a range stands in a loop only", help="write for k in 1..3 { … }")
    return None


def _without_else(p: Problem) -> SyntaxProblem | None:
    if "else" not in p.expected or "NUMBER" in p.expected or p.token[0] in BEGINS:
        return None
    conditions = [token for token in p.tokens[: p.here] if token[0] == "if"]
    return p.problem(
        "a conditional needs an 'else'", conditions[-1][1:3] if conditions else None, "write a if c else b"
    )


def _block(p: Problem) -> SyntaxProblem | None:
    if "{" in p.expected and "$END" not in p.expected and p.token[0] != "{":
        return p.problem(f"expected '{{', found {p.found()}", help="a block stands in { }")
    if p.token[0] == "{":
        return p.problem("a block can't stand here", help="blocks follow if c, else, while c, for k in a..b and f(t)")
    return None


def _comma(p: Problem) -> SyntaxProblem | None:
    if p.token[0] != "," or any(token[0] == "[" for token in p.opened):
        return None
    if p.opened and p.opened[-1][0] == "(":
        group = p.tokens.index(p.opened[-1])
        spelling = p.tokens[group - 1][0] if group else ""
        written = "a conditional is written: where(c, a, b), or a if c else b" if spelling == "if" else ""
        written = written or "a vector is written [a, b]"
        return None if spelling == "NAME" else p.problem("a comma in plain brackets", help=written)
    following = p.tokens[p.here + 1]
    if p.before[0] == following[0] == "NUMBER" and p.before[2] + 1 == following[1]:
        return p.problem("a comma outside brackets", help=f"the decimal sign is a dot: {p.before[3]}.{following[3]}")
    return p.problem("a comma outside brackets", help="a vector is written [a, b]")


def _word(p: Problem) -> SyntaxProblem | None:
    spelling, _, _, word = p.token
    if spelling not in WORDS:
        return None
    if spelling == "else":
        return p.problem("'else' without an 'if' before it")
    if "NUMBER" in p.expected or "NAME" in p.expected:
        help = "a conditional is written: a if c else b" if spelling == "if" else None
        return p.problem(
            f"a value is missing before '{word}'"
            if spelling in ("and", "or")
            else f"'{word}' is a word of the language and can't stand here",
            help=help,
        )
    if spelling in ("while", "for", "break", "continue"):
        return p.problem(f"expected {p.wanted()}, found '{word}'", help="separate statements by ; or a new line")
    return None


def _value(p: Problem) -> SyntaxProblem | None:
    token = p.token
    if "NUMBER" not in p.expected:
        return None
    if token[0] in (")", "]") and p.before[0] in ("(", "["):
        return p.problem("nothing between the brackets", (p.before[1], token[2]))
    if token[0] in INFIX or token[0] == ",":
        place = f" after {shown(p.before[3])}" if p.before[0] in INFIX else ""
        return p.problem(f"a value is missing before {shown(token[3])}{place and f', {place.strip()}'}")
    return None


RULES = (
    _odd_character,
    _number,
    _compare,
    _stopped,
    _bracket,
    _foreign,
    _loop,
    _call,
    _product,
    _assignment,
    _range,
    _without_else,
    _comma,
    _block,
    _word,
    _value,
)
