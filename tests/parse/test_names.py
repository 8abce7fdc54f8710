"""What is known of names before anything runs."""

from __future__ import annotations

import pytest

from autodiff.parse import parse


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("(x+2)*x", "x"),
        ("b*a + pi", "b a pi"),
        ("z if a < b else y", "z a b y"),
        ("a = x + 2; a * x", "x"),
        ("x = x + 1; x", "x"),
        ("x += 1; x", "x"),
        ("y = a; a = 1; y + a", "a"),
        ("if c { y = 1 }; y", "c"),
        ("if c { y } else { y = 1 }", "c y"),
        ("for k in 1..n { k }; k", "n"),
        ("for k in k { k }", "k"),
        ("while y > e { y = x }; y", "y e x"),
        ("f(t) = a*t; f(x)", "a x"),
        ("a = 1; f(t) = a*t; f(x)", "x"),
        ("f(t) = a*t; a = 3; f(x)", "a x"),
        ("f(t) { u = t + s; s = u; s }; f(x)", "x"),
        ("f(t) { for k in 1..t { t *= k }; t }; f(k)", "k"),
        ("f(t) { g(u) = u*t*w; g(t) }; f(1)", "w"),
        ("f(t) = f(t - 1) if t > 0 else b; f(1)", "b"),
        ("diff(y^2, x)", "y x"),
        ("sin(x, axis=y)", "x y"),
        ("by + in", "by in"),
        ("class*def + None", "class def None"),
        ("λ + π", "λ π"),
        ("1e5*e", "e"),
    ],
)
def test_inputs_in_order_of_appearance(text: str, inputs: str) -> None:
    program = parse(text)
    assert program.inputs == tuple(inputs.split())
    for name in program.inputs:
        assert text[slice(*program.input_spans[name])] == name


def test_input_span_is_the_first() -> None:
    assert parse("1 + x*x").input_spans == {"x": (4, 5)}
    assert parse("x if x > 0 else 1").input_spans == {"x": (0, 1)}


def test_bound() -> None:
    program = parse("a = 1; for k in 1..3 { b = k }; if a { c = 1 }; a = 2; f(t) { d = t; d }; a*b*c")
    assert program.bound == {"a": (0, 1), "k": (11, 12), "b": (23, 24), "c": (39, 40)}


def test_functions_and_differentiated() -> None:
    program = parse("f(t, u) = t*u; g() { 1 }; diff(diff(f(x, y), x), y) + g() + z")
    assert program.functions == {"f": (("t", "u"), (0, 1)), "g": ((), (15, 16))}
    assert program.differentiated == {"x", "y"}


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("y = x\n+ 1", "y"),
        ("a = 1; b = 2", "a"),
        ("a = 1; a", ""),
        ("a = 1", ""),
        ("a = 1; a = 2; a", ""),
        ("a = 1; a += 1; 5", "a"),
        ("a = a0; 5; b = a", ""),
        ("a = a + 1; 5", "a"),
        ("f(t) = a*t; a = 3; f(x)", ""),
        ("f(t) { u = t; 2*t }; f(x)", "u"),
        ("f(t) { u = t; u }; f(x)", ""),
        ("f(t) { u = t }; f(x)", ""),
        ("f(t) { g(v) = u*v; u = t; g(t) }; f(x)", ""),
        ("for k in 1..3 { 1 }; 5", ""),
        ("for k in 1..3 { y = a; a = k }; y", ""),
        ("for k in 1..3 { a = k; b = a }; 5", "b"),
        ("while c { c = d; d = 1 }; 5", ""),
        ("if c { a = 1 } else { b = 2 }", ""),
        ("if c { a = 1 } else { b = 2 }; 5", "a b"),
        ("u = x^2; diff(x^3, u)", ""),
    ],
)
def test_unused(text: str, unused: str) -> None:
    program = parse(text)
    assert [name for name, _ in program.unused] == unused.split()
    for name, span in program.unused:
        assert text[slice(*span)] == name
