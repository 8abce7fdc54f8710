"""Memory of a recorded scalar operation: bar 200 bytes; ten million operations in a loop: bar 4 GB."""

from __future__ import annotations

import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import autodiff as ad
from autodiff.generate import Quick
from autodiff.parse import parse

ROUNDS = 100_000
TEN_MILLION = """
from autodiff import differentiate
from autodiff.parse import parse
differentiate.gradient(parse("y = x; for k in 1..5000000 { y = y*1.0000001 + 0.5 }; y"), {"x": 1.0}, ["x"])
"""


def traced(record: Callable[[], object]) -> float:
    """Bytes that what `record` gives takes for each of 2·ROUNDS operations."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = record()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del kept
    return used / (2 * ROUNDS)


def library() -> Any:
    y = ad.tensor(1.0, requires_grad=True)
    for _ in range(ROUNDS):
        y = y * 1.0000001 + 0.5
    return y


def language(body: str) -> Callable[[], object]:
    quick = Quick(parse(f"y = x; for k in 1..{ROUNDS} {{ {body} }}; y"), ["x"], ["x"])
    return lambda: quick.run([1.0], 10**9)


def main() -> None:
    library()  # what the first run loads is not of the tape
    print(f"library                       {traced(library):6.1f} bytes/op")
    for body in ("y = y*1.0000001 + 0.5", "y = sin(y)*y"):
        print(f"language {body:20} {traced(language(body)):6.1f} bytes/op")
    subprocess.run([sys.executable, "-c", TEN_MILLION], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"10,000,000 operations in a loop: {peak:.2f} GB at most")


if __name__ == "__main__":
    main()
