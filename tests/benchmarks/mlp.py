"""A network 64-128-1, batch of 1024, tanh, value and all gradients, against NumPy by hand: bar 1.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from compare import compare, peer

import autodiff as ad

RANDOM = np.random.default_rng(2)
X, Y = RANDOM.normal(size=(1024, 64)), RANDOM.normal(size=(1024, 1))
PARAMETERS = (RANDOM.normal(size=(64, 128)) / 8, np.zeros(128), RANDOM.normal(size=(128, 1)) / 11, np.zeros(1))


def by_hand(w: Any, b: Any, v: Any, c: Any) -> Any:
    h = np.tanh(X @ w + b)
    r = h @ v + c - Y
    g = r * (2 / r.size)
    gh = (g @ v.T) * (1 - h * h)
    return np.mean(r * r), (X.T @ gh, gh.sum(0), h.T @ g, g.sum(0))


def by_graph(m: Any, x: Any, y: Any, parameters: list[Any]) -> Any:
    for p in parameters:
        p.grad = None
    w, b, v, c = parameters
    r = m.tanh(x @ w + b) @ v + c - y
    loss = m.mean(r * r)
    loss.backward()
    return loss.item(), [p.grad for p in parameters]


def main() -> None:
    ours = [ad.tensor(p, requires_grad=True) for p in PARAMETERS]
    value, gradients = by_graph(ad, X, Y, ours)
    want = by_hand(*PARAMETERS)
    assert np.isclose(value, want[0])
    assert all(np.allclose(g.numpy(), w, rtol=1e-9, atol=1e-15) for g, w in zip(gradients, want[1], strict=True))
    works = {"autodiff": lambda: by_graph(ad, X, Y, ours), "by hand": lambda: by_hand(*PARAMETERS)}
    torch = peer("torch")
    if torch:
        torch.set_num_threads(1)
        theirs = [torch.tensor(p, requires_grad=True) for p in PARAMETERS]
        x, y = torch.tensor(X), torch.tensor(Y)
        works["torch"] = lambda: by_graph(torch, x, y, theirs)
    compare("MLP 64-128-1, batch 1024", works, 60, 1e-3, "ms")


if __name__ == "__main__":
    main()
