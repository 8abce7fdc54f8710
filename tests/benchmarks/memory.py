"""Memory of a recorded scalar operation: bar 200 bytes; ten million operations in a loop: bar 4 GB."""

from __future__ import annotations

import resource
import subprocess
import sys
import tracemalloc

import autodiff as ad
from autodiff.generate import Quick
from autodiff.parse import parse

ROUNDS = 100_000
TEN_MILLION = """
from autodiff import differentiate
from autodiff.parse import parse
differentiate.gradient(parse("y = x; for k in 1..5000000 { y = y*1.0000001 + 0.5 }; y"), {"x": 1.0}, ["x"])
"""


def library() -> float:
    x = ad.tensor(1.0, requires_grad=True)
    y = x * 1.0
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(ROUNDS):
        y = y * 1.0000001 + 0.5
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / (2 * ROUNDS)


def language() -> float:
    quick = Quick(parse(f"y = x; for k in 1..{ROUNDS} {{ y = y*1.0000001 + 0.5 }}; y"), ["x"], ["x"])
    tape = quick.run([1.0], 10**9)[3:]
    return sum(part.itemsize * len(part) for part in tape) / (2 * ROUNDS)


def main() -> None:
    print(f"library   {library():6.1f} bytes/op")
    print(f"language  {language():6.1f} bytes/op")
    subprocess.run([sys.executable, "-c", TEN_MILLION], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"10,000,000 operations in a loop: {peak:.2f} GB at most")


if __name__ == "__main__":
    main()
