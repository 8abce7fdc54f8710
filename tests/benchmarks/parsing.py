"""Parsing: text to program, against Lark's LALR parser that emits the same flat program from an inline transformer.

The peer is given less to do: no spans, no free names, no jumps resolved. Ratios of medians, side by side.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import lark

from autodiff.parse import parse

ROUNDS = 5
GRAMMAR = Path(__file__).parents[2] / "grammars" / "expression.lark"
SMALL = r"""
?start: sum
?sum: product
    | sum "+" product     -> add
    | sum "-" product     -> sub
?product: unary
    | product "*" unary   -> mul
    | product "/" unary   -> div
?unary: "-" unary         -> neg
    | power
?power: atom
    | atom "^" unary      -> pow
?atom: NUMBER
    | NAME
    | NAME "(" sum ")"    -> call
    | "(" sum ")"
NAME: /[^\W\d]\w*/
NUMBER: /(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/
%ignore /[ \t]+/
"""


class Emit(lark.Transformer[Any, Any]):
    """Reductions come in the order of evaluation: each appends its instruction."""

    def __init__(self) -> None:
        super().__init__()
        self.code: list[tuple[Any, Any]] = []

    def NUMBER(self, token: lark.Token) -> None:
        self.code.append(("const", float(token)))

    def NAME(self, token: lark.Token) -> lark.Token:
        self.code.append(("load", str(token)))
        return token

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        if data.startswith("_"):  # an inlined rule: Lark wants its children
            return lark.Tree(data, children)
        return self.code.append((data, len(children)))


def peer(grammar: str) -> Callable[[str], Any]:
    emit = Emit()
    parser = lark.Lark(grammar, parser="lalr", transformer=emit)

    def run(text: str) -> list[tuple[Any, Any]]:
        emit.code = []
        parser.parse(text)
        return emit.code

    return run


def seconds(task: Callable[[str], Any], text: str) -> float:
    gc.collect()
    begin = time.perf_counter()
    task(text)
    return time.perf_counter() - begin


def terms(count: int) -> str:
    """A sum of products, powers, quotients and calls."""
    shapes = ["x{}*sin(x{})", "x{}^2", "x{}/x{}", "3.5*x{}", "cos(x{}*x{})"]
    return "+".join(shapes[k % 5].format(k % 10, (k + 3) % 10) for k in range(count))


def program(lines: int) -> str:
    """What people write: bindings, functions, loops, branches, comments."""
    block = """\
# step {k}
f{k}(t) = t^2 + exp(-t/{d})
a{k} = f{k}(x) * sin(2*pi*y) - 0.5*z
b{k} = [a{k}, x + y, max(x, z, 1.5)]
for i in 1..3 {{ a{k} += sum(b{k}, axis=0) / i }}
if a{k} > 1e-3 and not x == y {{
    s = log1p(abs(a{k}))
}} else {{ s = -a{k}^2 / (1 + x^2) }}
u{k} = s * b{k}[0] + b{k}[-1] if x < 0 else s
"""
    return "".join(block.format(k=k, d=k + 2) for k in range(lines // block.count("\n"))) + "s\n"


def main() -> None:
    whole, small = peer(GRAMMAR.read_text("utf-8")), peer(SMALL)
    n = 100_000
    texts = {
        f"{n:,} additions": "+".join(["x"] * n),
        f"{n:,} terms": terms(n),
        f"{n:,} parentheses": "(" * n + "x" + ")" * n,
        "program of 2,000 lines": program(2000),
    }
    for title, text in texts.items():
        peers = {"Lark, this grammar": whole, "Lark, a grammar of 5 rules": small}
        if "\n" in text:
            del peers["Lark, a grammar of 5 rules"]
        times = [[seconds(task, text) for task in (parse, *peers.values())] for _ in range(ROUNDS)]
        ours, *theirs = (median(column) for column in zip(*times, strict=True))
        print(f"{title:24} {len(text):9,} characters  ours {1000 * ours:7.1f} ms")
        for name, took in zip(peers, theirs, strict=True):
            print(f"    {name:28} {1000 * took:7.1f} ms   ratio {ours / took:.2f}   (bar 2.0)")


if __name__ == "__main__":
    main()
