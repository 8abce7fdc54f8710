"""Scale: long and deep texts through every stage; seconds at three sizes, and how they grow (1.0: linear)."""

from __future__ import annotations

import contextlib
import gc
import io
import math
import sys
import time
from collections.abc import Callable

from autodiff.cli import run
from autodiff.commands.options import COMMANDS
from autodiff.parse import parse

SIZES = (25_000, 50_000, 100_000)
TEXTS: dict[str, tuple[Callable[[int], str], float]] = {
    "terms": (lambda n: "+".join(["x"] * n), 1.0),
    "products and calls": (lambda n: "+".join(["x*sin(x)"] * n), 0.25),
    "parentheses": (lambda n: "(" * n + "x" + ")" * n, 1.0),
    "minus signs": (lambda n: "-" * n + "x", 1.0),
    "nested calls": (lambda n: "sin(" * n + "x" + ")" * n, 0.1),
    "nested brackets and sums": (lambda n: "(x+" * n + "x" + ")" * n, 1.0),
    "statements": (lambda n: "y = x;" + "y = y + x;" * n + "y", 0.5),
    "loop rounds": (lambda n: f"y = x; for k in 1..{n} {{ y = y*x }}; y", 1.0),
}


def command(words: list[str]) -> Callable[[str], None]:
    """A run of the command line whose answer is thrown away."""

    def task(text: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            status = run([words[0], text, "--at", "x=0.5", *words[1:]])
        if status:
            raise SystemExit(f"{words} failed")

    return task


def seconds(task: Callable[[str], object], text: str) -> float:
    gc.collect()
    begin = time.perf_counter()
    task(text)
    return time.perf_counter() - begin


def stages() -> dict[str, Callable[[str], object]]:
    formats = {
        name: next(option.choices for option in COMMANDS[name].options if "--format" in option.names)
        for name in ("grad", "graph")
    }
    drawn = [format for format in formats["graph"] if format in ("text", "dot", "mermaid", "json")]
    return {
        "parse": parse,
        "eval": command(["eval"]),
        **{f"grad {format}": command(["grad", "-F", format]) for format in formats["grad"]},
        **{f"graph {format}": command(["graph", "-F", format]) for format in drawn},
        "graph text, local": command(["graph", "--local"]),
    }


def main() -> None:
    wanted = sys.argv[1:]
    for title, (text, share) in TEXTS.items():
        if wanted and title not in wanted:
            continue
        sizes = [int(size * share) for size in SIZES]
        print(f"{title}: {', '.join(f'{size:,}' for size in sizes)}")
        for stage, task in stages().items():
            took = [seconds(task, text(size)) for size in sizes]
            growth = math.log2(took[2] / took[0]) / 2
            print(f"    {stage:20}" + "".join(f"{each:9.3f} s" for each in took) + f"   growth {growth:.2f}")


if __name__ == "__main__":
    main()
