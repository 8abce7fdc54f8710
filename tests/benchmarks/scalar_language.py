"""Loops through the language, value and gradient, per recorded operation: bars 0.8 us, and 0.1 of torch."""

from __future__ import annotations

import math
from typing import Any

from compare import compare, peer

from autodiff import differentiate
from autodiff.parse import parse

ROUNDS = 100_000
TEXTS = {
    "y = y*1.0000001 + 0.5": (2, lambda m, y: y * 1.0000001 + 0.5),
    "y = sin(y) + 0.5*y": (3, lambda m, y: m.sin(y) + 0.5 * y),
}


def language(text: str) -> Any:
    program = parse(f"y = x; for k in 1..{ROUNDS} {{ {text} }}; y")
    return differentiate.gradient(program, {"x": 1.0}, ["x"]).gradient


def machine(text: str) -> Any:
    """The road that also draws pictures and finds places, for comparison."""
    quick, differentiate._quick = differentiate._quick, lambda *_: None
    try:
        return language(text)
    finally:
        differentiate._quick = quick


def torch_loop(torch: Any, step: Any) -> Any:
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(ROUNDS):
        y = step(torch, y)
    y.backward()
    return x.grad


def plain(step: Any) -> Any:
    y = 1.0
    for _ in range(ROUNDS):
        y = step(math, y)
    return y


def main() -> None:
    torch = peer("torch")
    if torch:
        torch.set_num_threads(1)
    for text, (ops, step) in TEXTS.items():
        works = {"autodiff": lambda text=text: language(text)}
        if torch:
            works["torch"] = lambda step=step: torch_loop(torch, step)
        works |= {"machine": lambda text=text: machine(text), "value alone": lambda step=step: plain(step)}
        compare(text, works, 5, ops * ROUNDS * 1e-6, "us/op")


if __name__ == "__main__":
    main()
