"""The instructions of each construct, and their spans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autodiff.parse import parse
from autodiff.parse.program import CALL, OPCODES

Code = Callable[[str], Any]
Labels = Callable[[str], list[str]]


def lines(text: str) -> str:
    return " ".join(
        OPCODES[opcode] if argument is None else f"{OPCODES[opcode]}:{argument}".replace(" ", "")
        for opcode, argument, _ in parse(text).code
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = 2", "CONST:2.0 STORE:a LOAD:a KEEP END"),
        ("a = 2; a", "CONST:2.0 STORE:a LOAD:a KEEP END"),
        ("x += 1; 5", "LOAD:x CONST:1.0 APPLY:('add',2) STORE:x CONST:5.0 KEEP END"),
        ("1; 2", "CONST:1.0 KEEP CONST:2.0 KEEP END"),
        ("[1, x]", "CONST:1.0 LOAD:x LIST:2 KEEP END"),
        ("[]", "LIST:0 KEEP END"),
        ("v[i, 1:, ::2]", "LOAD:v LOAD:i CONST:1.0 CONST:2.0"
         " INDEX:('i',(True,False,False),(False,False,True)) KEEP END"),
        ("a and b", "LOAD:a SHORT:('and',4) LOAD:b COMBINE:and KEEP END"),
        ("a or b", "LOAD:a SHORT:('or',4) LOAD:b COMBINE:or KEEP END"),
        ("a < b < c", "ACC LOAD:a LOAD:b LINK:('lt',6) LOAD:c CLOSE:lt KEEP END"),
        ("a if c else b", "LOAD:c BRANCH:4 LOAD:a JUMP:5 LOAD:b KEEP END"),
        ("if c { 1 } else { 2 }", "LOAD:c BRANCH:5 CONST:1.0 KEEP JUMP:7 CONST:2.0 KEEP END"),
        ("if c { y = 1 }", "LOAD:c BRANCH:6 CONST:1.0 STORE:y LOAD:y KEEP END"),
        ("if c { y = 1 }; y", "LOAD:c BRANCH:4 CONST:1.0 STORE:y LOAD:y KEEP END"),
        ("for k in 1..3 { k }", "CONST:1.0 CONST:3.0 RANGE:False NEXT:('k',7) LOAD:k POP JUMP:3 END"),
        ("for k in 3..1 by s { break }",
         "CONST:3.0 CONST:1.0 LOAD:s RANGE:True NEXT:('k',8) UNLOOP:1 JUMP:8 JUMP:4 END"),
        ("for k in v { continue }", "LOAD:v EACH NEXT:('k',5) JUMP:2 JUMP:2 END"),
        ("while c { break }", "ROUND LOAD:c BRANCH:5 JUMP:5 JUMP:0 END"),
        ("for k in v { while c { break } }",
         "LOAD:v EACH NEXT:('k',9) ROUND LOAD:c BRANCH:8 JUMP:8 JUMP:3 JUMP:2 END"),
        ("f(t) = t; f(2)",
         "DEFINE:('f',('t',),2,('t',)) JUMP:5 LOAD:t KEEP RETURN"
         " CONST:2.0 CALL:('f',1,(),((10,11),(12,13))) KEEP END"),
        ("f(t) { u = t }",
         "DEFINE:('f',('t',),2,('t','u')) JUMP:7 LOAD:t STORE:u LOAD:u KEEP RETURN END"),
        ("while c { f(t) { for k in t { k } ; 1 } }",
         "ROUND LOAD:c BRANCH:15 DEFINE:('f',('t',),5,('t','k')) JUMP:14 LOAD:t EACH NEXT:('k',11)"
         " LOAD:k POP JUMP:7 CONST:1.0 KEEP RETURN JUMP:0 END"),
        ("diff(x^2, x)", "LOAD:x CONST:2.0 APPLY:('pow',2) DIFF:('x',False) KEEP END"),
        ("diff(x, x, n)", "LOAD:x LOAD:n DIFF:('x',True) KEEP END"),
        ("x⁻¹", "LOAD:x CONST:-1.0 APPLY:('pow',2) KEEP END"),
        ("diff + 1", "LOAD:diff CONST:1.0 APPLY:('add',2) KEEP END"),
    ],
)  # fmt: skip
def test_code(text: str, code: str) -> None:
    assert lines(text) == code


def test_spans_are_tight(labels: Labels) -> None:
    assert labels(" ( x+2 ) * (x)  # c") == [
        "LOAD x",
        "CONST 2",
        "APPLY x+2",
        "LOAD x",
        "APPLY ( x+2 ) * (x)",
        "KEEP ( x+2 ) * (x)",
        "END ",
    ]
    assert labels("x +=  1 ; y")[:5] == ["LOAD x", "CONST 1", "APPLY x +=  1", "STORE x", "LOAD y"]
    assert labels("−x² + √(y)")[:6] == ["LOAD x", "CONST ²", "APPLY x²", "APPLY −x²", "LOAD y", "CALL √(y)"]
    assert labels("f( a , k=(b) ) [0]")[2:5] == ["CALL f( a , k=(b) )", "CONST 0", "INDEX f( a , k=(b) ) [0]"]
    assert labels("a  <  b  <  c")[3] == "LINK a  <  b"
    assert labels("a  <  b  <  c")[5] == "CLOSE a  <  b  <  c"
    assert labels("y = (a) if (c) else b")[:3] == ["LOAD c", "BRANCH c", "LOAD a"]
    assert labels("for k in 1..3 { k }")[2:4] == ["RANGE 1..3", "NEXT k"]
    assert labels("f(t) = t; 1")[0] == "DEFINE f"


def test_call_has_the_spans_of_its_parts() -> None:
    text = "1 + max( a, (b) , axis = 0 )"
    spans = next(argument[3] for opcode, argument, _ in parse(text).code if opcode == CALL)
    assert [text[slice(*span)] for span in spans] == ["max", "a", "b", "0"]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a=1\n\n;;b=2\r\nb", "a=1;b=2;b"),
        ("if a {1}\nelse {2}", "if a {1} else {2}"),
        ("if a {1} # c\n # d\n\n else if b {2}\nelse {3}", "if a {1} else if b {2} else {3}"),
        ("if a {1} b", "if a {1}; b"),
        ("(a\n+ b)", "(a + b)"),
        ("[1,\n\n# c\n2]", "[1,2]"),
        ("f(t)\t{ t }f(\n1\n)", "f(t){t};f(1)"),
        ("\ufeffa\u00a0+\tb", "a+b"),
        ("else_ = 1\nelse_", "else_ = 1; else_"),
    ],
)
def test_layout(text: str, same: str, code: Code) -> None:
    assert code(text) == code(same)


def test_jumps_stay_inside() -> None:
    text = "for k in v { if a < b < c and d { y = 1 if k else 2; break } else { while y { continue } } }; y"
    program = parse(text)
    for opcode, argument, _ in program.code:
        target = argument[1] if OPCODES[opcode] in ("NEXT", "SHORT", "LINK") else argument
        if OPCODES[opcode] in ("JUMP", "BRANCH", "NEXT", "SHORT", "LINK"):
            assert 0 <= target < len(program.code)


def test_listing() -> None:
    assert parse("x+1").listing().splitlines()[2].split() == ["2", "APPLY", "('add',", "2)", "'x+1'"]
