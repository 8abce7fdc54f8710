"""Side by side: each piece of work in a process of its own, rounds interleaved, and the median of the ratios."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

Work = Callable[[], Any]
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before anybody imports NumPy


def torch() -> Any:
    """PyTorch on one thread; ImportError where it is not installed (`pip install .[bench]`)."""
    module: Any = importlib.import_module("torch")
    module.set_num_threads(1)
    return module


def _serve(prepare: Callable[[], Work], line: Any) -> None:
    try:
        work = prepare()
        work()
    except ImportError as error:
        line.send(str(error))
        return
    line.send(None)
    while line.recv():
        gc.collect()
        start = time.perf_counter()
        work()
        line.send(time.perf_counter() - start)


def compare(
    title: str, works: dict[str, Callable[[], Work]], rounds: int = 7, per: float = 1.0, unit: str = "s"
) -> None:
    """Print what each piece of work costs (`per` units of `unit`) and the median ratio of the first to it.

    A work is given by what prepares it, in its own process: imports, data, a check of the answer.
    """
    context = multiprocessing.get_context("fork")
    lines: dict[str, Any] = {}
    print(title)
    for name, prepare in works.items():
        here, there = context.Pipe()
        context.Process(target=_serve, args=(prepare, there), daemon=True).start()
        problem = here.recv()
        if problem is None:
            lines[name] = here
        else:
            print(f"  {name:14}   absent: {problem}")
    taken: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(rounds):
        for name, line in lines.items():
            line.send(True)
            taken[name].append(line.recv())
    for line in lines.values():
        line.send(False)
    ours = next(iter(works))
    for name, times in taken.items():
        ratio = median(a / b for a, b in zip(taken[ours], times, strict=True))
        against = "" if name == ours else f"   ours/{name} {ratio:.3f}"
        print(f"  {name:14}{median(times) / per:12.4g} {unit}{against}", flush=True)
