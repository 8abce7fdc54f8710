"""sum(exp(-x*x)*sin(3*x) + log1p(x*x)/(1+x*x)), value and gradient, against NumPy by hand: bars 1.5, 1.1, 1.0, 1.0."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import compare

SIZES = {10**3: 300, 10**5: 40, 10**6: 11, 10**7: 3}


def data(size: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).normal(size=size)


def by_hand(x: Any) -> Any:
    import numpy as np

    x2 = x * x
    e = np.exp(-x2)
    s = np.sin(3 * x)
    log = np.log1p(x2)
    d = 1 + x2
    return np.sum(e * s + log / d), e * (3 * np.cos(3 * x) - 2 * x * s) + 2 * x * (1 - log) / (d * d)


def by_graph(m: Any, x: Any) -> Any:
    x.grad = None
    y = m.sum(m.exp(-x * x) * m.sin(3 * x) + m.log1p(x * x) / (1 + x * x))
    y.backward()
    return y.item(), x.grad


def ours(size: int) -> compare.Work:
    import numpy as np

    import autodiff as ad

    array = data(size)
    x = ad.tensor(array, requires_grad=True)
    value, gradient = by_graph(ad, x)
    want = by_hand(array)
    assert np.isclose(value, want[0])
    assert np.allclose(gradient.numpy(), want[1], rtol=1e-9, atol=1e-12)
    return lambda: by_graph(ad, x)


def text(size: int) -> compare.Work:
    import autodiff as ad

    x = data(size)
    expression = ad.compile("sum(exp(-x*x)*sin(3*x) + log1p(x*x)/(1+x*x))")
    return lambda: expression.value_and_grad(x)


def hand(size: int) -> compare.Work:
    x = data(size)
    return lambda: by_hand(x)


def torch(size: int) -> compare.Work:
    module = compare.torch()
    x = module.tensor(data(size), requires_grad=True)
    return lambda: by_graph(module, x)


def hips(size: int) -> compare.Work:
    import autograd
    import autograd.numpy as np

    x = data(size)
    both = autograd.value_and_grad(lambda x: np.sum(np.exp(-x * x) * np.sin(3 * x) + np.log1p(x * x) / (1 + x * x)))
    return lambda: both(x)


def main() -> None:
    most = float(sys.argv[1]) if len(sys.argv) > 1 else 1e7
    for size, rounds in SIZES.items():
        if size <= most:
            works: dict[str, Callable[[], compare.Work]] = {
                "autodiff": lambda size=size: ours(size),
                "by hand": lambda size=size: hand(size),
                "torch": lambda size=size: torch(size),
                "HIPS autograd": lambda size=size: hips(size),
            }
            compare.compare(f"{size} entries, recorded", works, rounds, size * 1e-9, "ns/entry")
            works = {"autodiff": lambda size=size: text(size), **dict(list(works.items())[1:])}
            compare.compare(f"{size} entries, ad.compile", works, rounds, size * 1e-9, "ns/entry")


if __name__ == "__main__":
    main()
