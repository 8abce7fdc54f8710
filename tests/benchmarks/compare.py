"""Side by side: pieces of work interleaved in one run, and the median of their ratios to ours."""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable
from statistics import median
from typing import Any

Work = Callable[[], Any]


def peer(name: str) -> Any:
    """A peer's module, None where it is not installed (`pip install .[bench]`)."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(title: str, works: dict[str, Work], rounds: int = 7, per: float = 1.0, unit: str = "s") -> None:
    """Print what each piece of work costs (`per` units of `unit`) and the median ratio of the first to it."""
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            gc.collect()
            taken[name].append(seconds(work))
    ours = next(iter(works))
    print(title)
    for name, times in taken.items():
        ratio = median(a / b for a, b in zip(taken[ours], times, strict=True))
        against = "" if name == ours else f"   ours/{name} {ratio:.3f}"
        print(f"  {name:14}{median(times) / per:12.4g} {unit}{against}", flush=True)
