"""Growth: gradient cost over value cost for every op and for chains of ops; Hessian time against its size.

`python tests/benchmarks/growth.py [ops] [chains] [hessian]`; the value is computed without recording, the
gradient is recording and one sweep.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff.differentiate import gradient, hessian, value
from autodiff.ops import NAMES, OPS
from autodiff.ops.record import Op
from autodiff.parse import parse

ENTRIES = 20_000  # of each operand of an elementwise op: enough that entries, not calls, are timed
SIDE = 100  # of matrices
CHAINS = {
    "sin(x) in a loop": "y = x; for k in 1..{n} {{ y = sin(y) }}; y",
    "products": "y = x; for k in 1..{n} {{ y = y*x }}; y",
}
UNROLLED = ("x*sin(x) terms", "x*sin(x)")


def seconds(task: Callable[[], object], least: float = 0.02) -> float:
    """The best of several runs."""
    best, spent, runs = math.inf, 0.0, 0
    while spent < least or (runs < 4 and spent < 20.0 * least):
        begin = time.perf_counter()
        task()
        took = time.perf_counter() - begin
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best


def operands(row: Op) -> list[Any] | None:
    """The first sample, grown: numbers of elementwise rows to vectors, vectors and matrices to larger ones."""
    if not row.samples:
        return None
    sample = row.samples[0] if isinstance(row.samples[0], tuple) else (row.samples[0],)
    if row.elementwise:
        return [np.full(ENTRIES, x) for x in sample]
    random = np.random.default_rng(0)
    grown: list[Any] = []
    for x in sample:
        rank = np.ndim(x)
        if row.name == "cross" or not rank:
            grown.append(np.array(x) if rank else x)
        elif rank == 1:
            grown.append(
                random.uniform(0.5, 1.0, SIDE if row.name in ("outer", "kron", "diag", "matmul", "solve") else 5_000)
            )
        else:
            side = 8 if row.name == "kron" else SIDE
            grown.append(random.uniform(0.0, 1.0, (side, side)) + side * np.eye(side))
    return grown


def call(row: Op, names: list[str]) -> str:
    """The row as the language writes it."""
    if row.symbol:
        return f"{names[0]} {row.symbol} {names[1]}" if len(names) == 2 else f"{row.symbol}{names[0]}"
    return f"{row.name}({', '.join(names)})"


def ops() -> None:
    """What a request for value and gradient costs, over one for the value, of the sum of each function's result."""
    print(f"gradient over value, vectors of {ENTRIES:,}, matrices of {SIDE} x {SIDE}")
    ratios = []
    np.ones(2**21)  # 16 MB, freed: from here on glibc keeps pages, and work is timed rather than page faults
    for row in OPS.values():
        xs = operands(row) if row.differentiable and (row.name in NAMES or row.symbol) else None
        if xs is None:
            continue
        point = {f"x{k}": x for k, x in enumerate(xs)}
        program = parse(f"sum({call(row, list(point))})")
        wrt = [name for name, x in point.items() if np.ndim(x) or not row.name.startswith(("polygamma", "linspace"))]
        cost = seconds(lambda program=program, point=point: value(program, point))
        took = seconds(lambda program=program, point=point, wrt=wrt: gradient(program, point, wrt))
        ratios.append((took / cost, row.name, cost))
    for ratio, name, cost in sorted(ratios, reverse=True):
        print(f"    {name:14}{ratio:8.2f}   value {cost * 1e6:10.1f} us")
    print(f"    {sum(r < 5 for r, _, _ in ratios)} of {len(ratios)} below 5")


def chains() -> None:
    print("gradient over value, chains")
    texts = [(title, lambda n, text=text: text.format(n=n)) for title, text in CHAINS.items()]
    texts.append((UNROLLED[0], lambda n: "+".join([UNROLLED[1]] * n)))
    for title, text in texts:
        for n in (1_000, 10_000, 100_000, 1_000_000):
            program = parse(text(n))
            point = {"x": 0.5}
            cost = seconds(lambda program=program, point=point: value(program, point))
            took = seconds(lambda program=program, point=point: gradient(program, point, ["x"]))
            print(f"    {title:20}{n:10,}   value {cost:8.4f} s   gradient {took:8.4f} s   {took / cost:6.2f}")


def hessians() -> None:
    print("Hessian of sum(sin(v)*exp(v)) + norm(v)^3 by n inputs, in gradients")
    program = parse("sum(sin(v)*exp(v)) + norm(v)^3")
    last = None
    for n in (50, 100, 200, 400, 800):
        point = {"v": np.linspace(0.1, 1.0, n)}
        one = seconds(lambda point=point: gradient(program, point, ["v"]))
        took = seconds(lambda point=point: hessian(program, point, ["v"]))
        growth = f"   growth {math.log2(took / last):.2f}" if last else ""
        figures = f"gradient {one * 1e3:8.3f} ms   Hessian {took * 1e3:9.2f} ms   {took / one / n:6.2f} n"
        print(f"    n = {n:5}   {figures}{growth}")
        last = took


def main() -> None:
    wanted = sys.argv[1:] or ["ops", "chains", "hessian"]
    for name, task in (("ops", ops), ("chains", chains), ("hessian", hessians)):
        if name in wanted:
            task()


if __name__ == "__main__":
    main()
