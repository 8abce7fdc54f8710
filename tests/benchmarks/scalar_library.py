"""A sum of products of distinct leaves, leaves made within, per recorded operation: bar 0.1 of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compare

PRODUCTS = 100_000


def products(make: Callable[[float], Any]) -> Any:
    xs = [make(1.0 + (k % 97) * 0.01) for k in range(PRODUCTS)]
    ys = [make(0.5 + (k % 89) * 0.01) for k in range(PRODUCTS)]
    total = xs[0] * ys[0]
    for x, y in zip(xs[1:], ys[1:], strict=True):
        total = total + x * y
    total.backward()
    return xs[0].grad


def ours() -> compare.Work:
    import autodiff as ad

    return lambda: products(lambda v: ad.tensor(v, requires_grad=True))


def torch() -> compare.Work:
    module = compare.torch()
    return lambda: products(lambda v: module.tensor(v, dtype=module.float64, requires_grad=True))


def main() -> None:
    works = {"autodiff": ours, "torch": torch}
    compare.compare("sum of 100,000 products of leaves", works, 5, 2 * PRODUCTS * 1e-6, "us/op")


if __name__ == "__main__":
    main()
