"""The check itself: right rules pass everywhere, wrong ones do not, and kinks and edges are told as what they are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff.check import Report, check
from autodiff.commands.line import read
from autodiff.commands.request import Request
from autodiff.errors import AutodiffError
from autodiff.evaluate import evaluate
from autodiff.ops import NAMES, OPS
from autodiff.ops.record import Op
from autodiff.parse import parse
from autodiff.tape import Node

VALUED = ("--at", "--wrt")
CASES = Path(__file__).parent.parent / "cases"


def corpus() -> dict[tuple[str, ...], int]:
    """Every expression and point of the cases whose derivatives exist, with the order to check."""
    found: dict[tuple[str, ...], int] = {}
    for file in sorted(CASES.glob("*.jsonl")):
        for text in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(text)
            command, *words = case.get("argv") or ["none"]
            if command not in ("eval", "grad", "jac", "hess", "jvp", "vjp", "hvp", "diff", "taylor", "graph"):
                continue
            if case.get("files") or case.get("stdin") or case["expect"].get("exit", 0) != 0:
                continue
            kept = [words[0]]
            for option, value in zip(words[1:], [*words[2:], ""], strict=True):
                kept += [option, value] if option == "--at" else []
            if len(kept) > 1:
                order = 2 if command in ("hess", "hvp") else 1
                found[tuple(kept)] = max(order, found.get(tuple(kept), 1))
    return found


CORPUS = corpus()


def request(words: tuple[str, ...]) -> Request:
    return Request(read(["check", *words]))


def run(text: str, order: int = 1, **point: Any) -> Report:
    raw = {name: np.array(v, float) if isinstance(v, list) else float(v) for name, v in point.items()}
    return check(parse(text), raw, list(point), order=order)


def wrong(report: Report) -> list[str]:
    """The entries that do not hold, for a failing test's message."""
    blocks = {**report.first, **{a + b: v for a, row in report.second.items() for b, v in row.items()}}
    return [f"{n}: {e.ours} {e.numeric} {e.tolerance}" for n, v in blocks.items() for e in v.entries if not e.ok]


@pytest.mark.parametrize("words", [w for w in CORPUS if "100000" not in w[0]], ids=lambda w: " ".join(w)[:70])
def test_no_false_alarm_on_any_case(words: tuple[str, ...]) -> None:
    asked = request(words)
    try:
        report = check(asked.program, asked.point, asked.wrt(), asked.settings, CORPUS[words])
    except AutodiffError as error:
        pytest.fail(error.message)
    assert report.ok, wrong(report)


@contextmanager
def planted(op: Op, part: float = 1e-6) -> Iterator[None]:
    """Within, every derivative rule of an op is off by a relative `part`."""
    before: tuple[Any, Any] = op.partials, op.vjps
    partials, vjps = before
    if op.elementwise:

        def partial(i: int) -> Any:
            rule = partials(i) if callable(partials) else partials[i]
            if callable(rule):
                return lambda y, *xs: OPS["mul"](rule(y, *xs), 1.0 + part)
            return rule * (1.0 + part)

        op.partials = partial
    else:

        def vjp(i: int) -> Any:
            rule = vjps(i) if callable(vjps) else vjps[i] if i < len(vjps) else None

            def off(g: Any, y: Any, *xs: Any, **params: Any) -> Any:
                c = rule(g, y, *xs, **params)
                return None if c is None else OPS["mul"](c, 1.0 + part)

            return off if rule is not None else None

        op.vjps = vjp
    try:
        yield
    finally:
        op.partials, op.vjps = before


def spoils(asked: Request, op: Op, report: Report) -> bool:
    """Whether a wrong rule of the op changes an answer by more than rounding might, away from kinks."""
    try:
        with planted(op):
            spoiled = check(asked.program, asked.point, asked.wrt(), asked.settings)
    except AutodiffError:
        return False
    changed = [
        abs(e.ours - b.ours) > 1e-9 * abs(b.ours) + b.tolerance
        for name in report.first
        for e, b in zip(spoiled.first[name].entries, report.first[name].entries, strict=True)
        if b.left is None and math.isfinite(b.ours)
    ]
    if any(changed):
        assert not spoiled.ok, f"a wrong rule of {op.name} passes"
    return any(changed)


@pytest.mark.parametrize("words", [*CORPUS][::6], ids=lambda w: " ".join(w)[:70])
def test_no_planted_rule_is_missed_on_the_cases(words: tuple[str, ...]) -> None:
    asked = request(words)
    root = evaluate(asked.program, asked.point, asked.wrt()).value
    if not isinstance(root, Node) or root.index > 100:
        return
    report = check(asked.program, asked.point, asked.wrt(), asked.settings)
    for op in {node.op for node in root.tape.nodes[: root.index + 1] if node.op is not None}:
        spoils(asked, op, report)


WRITABLE = {op.name for op in NAMES.values() if not op.symbol}
SAMPLED = [
    op
    for op in OPS.values()
    if op.samples and op.differentiable and (op.symbol or op.name in WRITABLE - {"polygamma", "dsinc"})
]


@pytest.mark.parametrize("op", SAMPLED, ids=lambda op: op.name)
def test_a_planted_rule_of_every_row_is_found(op: Op) -> None:
    found = []
    for sample in op.samples:
        xs = sample if isinstance(sample, tuple) else (sample,)
        # an operand to which nothing flows is no input, but a number in the text
        fixed = [not op.elementwise and op.vjp(i) is None for i in range(len(xs))]
        names = [str(x) if still else name for x, name, still in zip(xs, "abcdefgh", fixed, strict=False)]
        call = f"{op.name}({', '.join(names)})" if op.name in WRITABLE else f"a {op.symbol} b"
        if op.symbol and len(xs) == 1:
            call = f"{op.symbol}a"
        if any(isinstance(x, list) for x in xs):
            call = f"y = {call}; sum(y + square(y))"
        words = [call]
        for name, x in zip(names, xs, strict=True):
            words += ["--at", f"{name}={x}"] if name.isalpha() else []
        asked = request(tuple(words))
        report = check(asked.program, asked.point, asked.wrt(), asked.settings)
        assert report.ok, wrong(report)
        found.append(spoils(asked, op, report))
    flat = all(value == 0.0 for value in op.partials) if isinstance(op.partials, list) else False
    assert any(found) or flat


@pytest.mark.parametrize(
    ("text", "point", "left", "right"),
    [
        ("abs(x)", 0, -1, 1),
        ("relu(x) + 2*x", 0, 2, 3),
        ("max(x, 1 - x)", 0.5, -1, 1),
        ("floor(x) + x", 1, math.inf, 1),
        ("x % 1", 2, -math.inf, 1),
        ("sqrt(x)", 0, None, math.inf),
        ("acos(x)", 1, -math.inf, None),
        ("sign(x)", 0, math.inf, math.inf),
        ("sqrt(x^2)", 0, -1, 1),
        ("norm([x, 0])", 0, -1, 1),
    ],
)
def test_kinks_and_edges_are_told_by_their_sides(text: str, point: float, left: float | None, right: float) -> None:
    report = run(text, x=point)
    (entry,) = report.first["x"].entries
    assert report.ok
    if left is not None and right is not None:
        assert (entry.left, entry.right) == pytest.approx((left, right))
    else:
        assert entry.numeric == (right if left is None else left)


@pytest.mark.parametrize("text", ["x^x", "x^1.5 + abs(x)", "x^1.5 + max(x, 0)"])
def test_a_convention_is_not_judged_where_values_end(text: str) -> None:
    """One side alone says nothing of a value that stands for both."""
    report = run(text, x=0)
    (entry,) = report.first["x"].entries
    assert report.ok and not entry.compared


def test_without_a_value_there_is_nothing_to_judge() -> None:
    (entry,) = run("pow(-0.5, y/y)", y=0).first["y"].entries  # its rule takes the logarithm of a negative beside it
    assert entry.ok and not entry.compared


def test_where_values_end_and_nothing_is_chosen_the_other_side_judges() -> None:
    (entry,) = run("sqrt(x)^2", x=0).first["x"].entries  # the rule of the product passes 0 on, not 0 times inf
    assert not entry.ok
    assert entry.error == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "point", "slope"),
    [
        ("relu(x) - relu(-x)", 0, 1),
        ("x*abs(x)", 0, 0),
        ("x^4", 0, 0),
        ("x + 1", 1e-300, 1),
        ("1 - cos(x)", 1e-200, 1e-200),
        ("tanh(x)", 300, 1.0601586212017243e-260),
        ("stop_gradient(x)*x", 3, 3),
        ("y = x; while y < 100 { y = y*y }; y", 2, 1024),
        ("diff(x^3, x)", 2, 12),
    ],
)
def test_where_there_is_a_derivative_it_is_found(text: str, point: float, slope: float) -> None:
    (entry,) = run(text, x=point).first["x"].entries
    assert entry.ok and entry.left is None
    assert entry.numeric == pytest.approx(slope, rel=1e-14, abs=1e-30)


def test_a_wrong_convention_at_a_kink_is_found() -> None:
    before = OPS["abs"].partials
    OPS["abs"].partials = [lambda y, x: OPS["where"](OPS["eq"](x, 0.0), 1.5, OPS["sign"](x))]
    try:
        assert not run("abs(x) + x", x=0).ok
    finally:
        OPS["abs"].partials = before
    assert run("abs(x) + x", x=0).ok


@pytest.mark.parametrize("text", ["sqrt(x)", "x^2.5", "x^x"])
def test_where_values_end_the_hessian_has_a_tolerance(text: str) -> None:
    report = run(text, 2, x=0)
    (entry,) = report.second["x"]["x"].entries
    assert report.ok
    assert entry.tolerance == entry.tolerance
    assert entry.error == 0.0


def test_the_hessian_is_checked() -> None:
    assert run("sin(x)*exp(y/3) + x*y^2", order=2, x=1, y=-2).ok
    assert run("sum(v^3) + prod(v)", order=2, v=[1, 2, -0.5]).ok
    assert run("x*abs(x)", order=2, x=0).ok
    assert run("max(x, y)^2", order=2, x=1, y=1).ok
    with planted(OPS["cos"]):
        report = run("sin(x)*y", order=2, x=1, y=2)
    assert all(v.ok for v in report.first.values())
    assert not report.second["x"]["x"].ok
    assert report.second["x"]["y"].ok


def test_arrays_of_values_are_checked() -> None:
    report = run("[x*y, x + y, x/y]", x=1, y=2)
    assert report.ok
    assert report.first["y"].field("numeric").tolist() == pytest.approx([1, 1, -0.25])
    assert run("det(outer(v, w)) + min(cholesky(outer(v, v) + eye(3)))", v=[1, 2, 3], w=[1, 0, 2]).ok
    assert run("prod(v*x)", order=2, v=[1 + k % 3 for k in range(40)], x=0.5).ok
    with planted(OPS["inv"]):
        assert not run("inv(A)", A=[[1, 2], [3, 5]]).ok


def test_what_lies_beyond_float64_is_no_mismatch() -> None:
    assert run("exp(x)", x=800).ok
    assert run("exp(x)/(1 + exp(x))", x=1000).ok
    assert run("log(x)", x=-1).ok


def test_large_inputs_and_jumps_are_no_false_alarms() -> None:
    assert run("tan(x)", x=1e300).ok
    assert run("sqrt(x)", x=1e300).ok
    assert run("cbrt(x)", order=2, x=0).ok
    assert run("x % y", order=2, x=50, y=0.5).ok
    assert run("acos(x)", order=2, x=1e-300).ok
