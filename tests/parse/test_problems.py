"""Mistakes: where the caret goes and what is said. The part between « » is what the span covers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff.errors import SyntaxProblem
from autodiff.parse import Program, parse

MISTAKES = [
    # No implicit multiplication.
    ("«2x»", "write '2*x'", None),
    ("«2(»x+1)", "write '2*(x+1)'", None),
    ("1/(2«)(»4)", "write '(2)*(4)'", "1/(2)*(4)"),
    ("«1e-3x»", "write '1e-3*x'", None),
    ("«x y»", "write 'x*y'", None),
    ("«2x» + 3y # c", "write '2*x'", "write 2*x + 3*y"),
    ("a = 1\n«2x»; y", "write '2*x'", "write 2*x; y"),
    ("«2sin»(x)", "write '2*sin(x)'", None),
    ("f(x«)(»y)", "write 'f(x)*(y)'", None),
    ("f(x)[0«]y»", "write 'f(x)[0]*y'", None),
    ("x«²y»", "write 'x²*y'", None),
    ("«2√»x", "write '2*√x'", None),
    ("«2π»", "write '2*π'", None),
    ("(«a\nb»)", "write 'a*b'", None),
    ("«1 2»", "an operator is missing between '1' and '2'", None),
    ("sin(x«) cos»(x)", "write 'sin(x)*cos(x)'", None),
    # Functions as on paper.
    ("«sin x»", "write 'sin(x)'", None),
    ("2 «sin x» + 1", "write 'sin(x)'", None),
    ("«cos x»^2", "write 'cos(…)'", None),
    ("«sin^2(»x)", "write 'sin(x)^2'", None),
    ("«tan²(»x)", "write 'tan(x)²'", None),
    ("«sin⁻¹(»x)", "write 'asin(x)' or '1/sin(x)'", None),
    ("2*«cos^-1(»x + y)", "write 'acos(x + y)' or '1/cos(x + y)'", None),
    ("«tan^-1(»(x+1)*(x+2))", "write 'atan((x+1)*(x+2))'", None),
    ("«log^-2(»x)", "write 'log(…)'", None),
    ("5 «mod» 3", "'mod' is no operator", "write %"),
    ("x «div» y", "'div' is no operator", "write //"),
    ("if(x > 0«,» 1, 2)", "a comma in plain brackets", "where(c, a, b)"),
    ("1 + «|»x|", "unexpected character '|'", "abs(x)"),
    # Numbers.
    ("«1.2.3»", "'1.2.3' is not a number", None),
    ("«1_»", "'1_' is not a number", "write 1"),
    ("«1__0»", "'1__0' is not a number", "write 1_0"),
    ("«0x10»", "'0x10' is not a number", "write 16"),
    ("1«,»5", "a comma outside brackets", "1.5"),
    ("x«,» y", "a comma outside brackets", "[a, b]"),
    # Ends too early.
    ("x «+»", "the expression ends after '+'", None),
    ("a = 1 «+»\nb", "the line ends after '+'", "( )"),
    ("a = x «and» # c\n", "the line ends after 'and'", None),
    ("(1 «+»", "ends after '+'", None),
    ("a if c «else»", "ends after 'else'", None),
    ("x «+ ;»3", "a value is missing between '+' and ';'", None),
    ("(x «+ )»", "a value is missing between '+' and ')'", None),
    ("y «=»", "ends after '='", None),
    ("f(x, «,» y)", "a value is missing before ','", None),
    ("«()»", "nothing between the brackets", None),
    ("v«[]»", "nothing between the brackets", None),
    ("3 +«*» 2", "a value is missing before '*', after '+'", None),
    ("«*» 2", "a value is missing before '*'", None),
    # Brackets.
    ("round«(»2.6 * 100", "missing ')': the '(' at column 6", "add )"),
    ("[1, 2«)»", "')' can't close the '[' at column 1", "write ]"),
    ("f(x«]»", "']' can't close the '(' at column 2", None),
    ("x«)»", "')' closes nothing", None),
    ("x «}»", "'}' closes nothing", None),
    ("«[»[1, 2], [3, 4]", "missing ']': the '[' at column 1", None),
    ("b = 1\na = «(»1 + 2\nb = 3", "missing ')': the '(' at line 2, column 5", None),
    ("if «(»x { y }", "missing ')'", None),
    ("if x «{» y", "missing '}': the '{' at column 6", None),
    # Characters.
    ("1 + «\\»alpha", "unexpected character '\\'", "write alpha"),
    ("1 + «$»", "unexpected character '$'", None),
    ("1 + «\x1b»[31m\x07 2", "unexpected character U+001B", None),
    ("x «\x00»", "unexpected character U+0000", None),
    ("x «–» 1", "U+2013", "write -"),
    ("«（»x）", "U+FF08", "write ("),
    ("x «ⁿ»", "U+207F", "write ^n"),
    ("«½»", "U+00BD", None),
    ("f«'»(x)", "a prime", "diff(f(x), x)"),
    ('«"»a"', "no text in quotes", None),
    ("x«.»y", "a dot is part of a number", None),
    # Operators of other languages.
    ("x > 1 «&&» y", "'&&' is no operator", "write and"),
    ("x «||» y", "'||' is no operator", "write or"),
    ("«!»x", "'!' is no operator", "write not"),
    ("x«!»", "'!' is no operator", "factorial(x)"),
    ("x «<>» y", "'<>' is no operator", "write !="),
    ("x «===» y", "'===' is no operator", "write =="),
    ("x «:=» 3", "':=' is no operator", "write ="),
    ("x «?» 1 : 2", "'?'", "a if c else b"),
    ("«return» x", "'return'", "last statement"),
    ("«elif» x { 1 }", "'elif'", "else if"),
    ("«def» f(x) = 1", "'def'", "f(t) = "),
    # Assignment.
    ("if x «=» 3 { y }", "'=' does not compare", "write =="),
    ("f((x «=» 3))", "'=' does not compare", "write =="),
    ("x = y «=» 3", "binds one name", "write =="),
    ("«v[0]» = 1", "an element can't be assigned to", None),
    ("«x+1» = 3", "only a name", "write =="),
    ("«3» += x", "only a name", None),
    ("«if» = 3", "'if' is a word of the language", None),
    ("x + «while»", "'while' is a word of the language", None),
    # Statements.
    ("1«..»5", "a range stands in a loop only", "for k in"),
    ("a «if» b", "needs an 'else'", "a if c else b"),
    ("(a «if» b)", "needs an 'else'", None),
    ("if x > 0«:» y", "expected '{', found ':'", None),
    ("while x «y»", "expected '{', found 'y'", None),
    ("for k «=» 1..3 { }", "expected 'in', found '='", None),
    ("for k «1»..3 { }", "expected 'in', found '1'", None),
    ("for «1» in v { }", "expected a name, found '1'", None),
    ("«else» { 3 }", "'else' without an 'if'", None),
    ("x «{» 3 }", "a block can't stand here", None),
    ("«break»", "'break' outside a loop", None),
    ("for k in v { f(t) { «continue» ; 1 } }", "'continue' outside a loop", None),
    ("x «while» y {}", "found 'while'", "separate statements"),
    # Calls and definitions.
    ("f(t, «t») = 3", "the parameter 't' occurs twice", None),
    ("f(«1») = 3", "a parameter must be a plain name", None),
    ("f(«t=1») = 3", "no default value", None),
    ("«f»(t) { for k in t { k } }", "the body of 'f' has no value", None),
    ("f(a=1, «2»)", "a plain argument after 'a='", None),
    ("f(a=1, «a»=2)", "the keyword 'a' occurs twice", None),
    ("«diff(x^2)»", "diff takes 2 or 3 arguments, not 1", "diff(expression, name)"),
    ("1 + «diff(x, x, 1, 2)»", "not 4", None),
    ("diff(x^2, «3»)", "diff needs a name", None),
    ("diff(x, x, «n=2»)", "diff takes no keywords", None),
    ("«diff»(t) = 3", "'diff' is built in", None),
]


@pytest.mark.parametrize(("marked", "message", "help"), MISTAKES)
def test_message_and_span(marked: str, message: str, help: str | None) -> None:
    start = marked.index("«")
    text = marked.replace("«", "").replace("»", "")
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    problem = caught.value
    assert problem.span == (start, marked.index("»") - 1)
    assert message in problem.message
    assert problem.message.isprintable()
    assert (help or "") in (problem.help or "")


@pytest.mark.parametrize("text", ["", " ", "\n", "# only\n", " ;\n; "])
def test_nothing_to_evaluate(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="nothing to evaluate"):
        parse(text)


def check(text: str) -> None:
    try:
        assert isinstance(parse(text), Program)
    except SyntaxProblem as problem:
        assert problem.message.isprintable()
        assert (problem.help or "x").isprintable()
        if problem.span is not None:
            start, stop = problem.span
            assert 0 <= start <= stop <= len(text)


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text(text: str) -> None:
    check(text)


WORDS = re.split(
    " ",
    "x y f by in if else for while break continue and or not diff ( ) [ ] { } , ; : = == < <= + - * "
    "/ // ** ^ % @ .. . 1 2.5 1_ 0x1 ² ⁻¹ √ − × ! && ' $ # += ^= sin( diff( f(t) π \n \r\n \t",
)


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.sampled_from(["", " "]))
@settings(max_examples=1000, deadline=None)
def test_any_words(words: list[str], between: str) -> None:
    check(between.join(words))
