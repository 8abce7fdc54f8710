"""Loops through the language, value and gradient, per recorded operation: bars 0.8 us, and 0.1 of torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import compare

ROUNDS = 100_000
TEXTS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "y = y*1.0000001 + 0.5": (2, lambda m, y: y * 1.0000001 + 0.5),
    "y = sin(y) + 0.5*y": (3, lambda m, y: m.sin(y) + 0.5 * y),
}


def language(text: str) -> compare.Work:
    from autodiff import differentiate
    from autodiff.parse import parse

    program = parse(f"y = x; for k in 1..{ROUNDS} {{ {text} }}; y")
    return lambda: differentiate.gradient(program, {"x": 1.0}, ["x"]).gradient


def machine(text: str) -> compare.Work:
    """The road that also draws pictures and finds places."""
    from autodiff import differentiate

    work = language(text)
    differentiate._quick = lambda *_: None
    return work


def torch(step: Callable[[Any, Any], Any]) -> compare.Work:
    module = compare.torch()

    def work() -> Any:
        x = module.tensor(1.0, dtype=module.float64, requires_grad=True)
        y = x
        for _ in range(ROUNDS):
            y = step(module, y)
        y.backward()
        return x.grad

    return work


def value(step: Callable[[Any, Any], Any]) -> compare.Work:
    def work() -> Any:
        y = 1.0
        for _ in range(ROUNDS):
            y = step(math, y)
        return y

    return work


def main() -> None:
    for text, (ops, step) in TEXTS.items():
        works: dict[str, Callable[[], compare.Work]] = {
            "autodiff": lambda text=text: language(text),
            "torch": lambda step=step: torch(step),
            "machine": lambda text=text: machine(text),
            "Python, value": lambda step=step: value(step),
        }
        compare.compare(text, works, 5, ops * ROUNDS * 1e-6, "us/op")


if __name__ == "__main__":
    main()
