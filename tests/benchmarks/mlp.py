"""A network 64-128-1, batch of 1024, tanh, value and all gradients, against NumPy by hand: bar 1.2."""

from __future__ import annotations

from typing import Any

import compare


def data() -> tuple[Any, Any, tuple[Any, ...]]:
    import numpy as np

    random = np.random.default_rng(2)
    x, y = random.normal(size=(1024, 64)), random.normal(size=(1024, 1))
    return x, y, (random.normal(size=(64, 128)) / 8, np.zeros(128), random.normal(size=(128, 1)) / 11, np.zeros(1))


def by_hand(x: Any, y: Any, w: Any, b: Any, v: Any, c: Any) -> Any:
    import numpy as np

    h = np.tanh(x @ w + b)
    r = h @ v + c - y
    g = r * (2 / r.size)
    gh = (g @ v.T) * (1 - h * h)
    return np.mean(r * r), (x.T @ gh, gh.sum(0), h.T @ g, g.sum(0))


def by_graph(m: Any, x: Any, y: Any, parameters: list[Any]) -> Any:
    for p in parameters:
        p.grad = None
    w, b, v, c = parameters
    r = m.tanh(x @ w + b) @ v + c - y
    loss = m.mean(r * r)
    loss.backward()
    return loss.item(), [p.grad for p in parameters]


def ours() -> compare.Work:
    import numpy as np

    import autodiff as ad

    x, y, arrays = data()
    parameters = [ad.tensor(p, requires_grad=True) for p in arrays]
    value, gradients = by_graph(ad, x, y, parameters)
    want = by_hand(x, y, *arrays)
    assert np.isclose(value, want[0])
    assert all(np.allclose(g.numpy(), w, rtol=1e-9, atol=1e-15) for g, w in zip(gradients, want[1], strict=True))
    return lambda: by_graph(ad, x, y, parameters)


def hand() -> compare.Work:
    x, y, arrays = data()
    return lambda: by_hand(x, y, *arrays)


def torch() -> compare.Work:
    module = compare.torch()
    x, y, arrays = data()
    parameters = [module.tensor(p, requires_grad=True) for p in arrays]
    x, y = module.tensor(x), module.tensor(y)
    return lambda: by_graph(module, x, y, parameters)


def main() -> None:
    compare.compare("MLP 64-128-1, batch 1024", {"autodiff": ours, "by hand": hand, "torch": torch}, 100, 1e-3, "ms")


if __name__ == "__main__":
    main()
