"""sum(exp(-x*x)*sin(3*x) + log1p(x*x)/(1+x*x)), value and gradient, against NumPy by hand: bars 1.5, 1.1, 1.0, 1.0."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from compare import compare, peer

import autodiff as ad

SIZES = {10**3: 200, 10**5: 25, 10**6: 9, 10**7: 3}


def by_hand(x: Any) -> Any:
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


def main() -> None:
    torch, hips = peer("torch"), peer("autograd")
    if torch:
        torch.set_num_threads(1)
    for size, rounds in SIZES.items():
        if size > float(sys.argv[1] if len(sys.argv) > 1 else "1e7"):
            continue
        x = np.random.default_rng(1).normal(size=size)
        ours = ad.tensor(x, requires_grad=True)
        value, gradient = by_graph(ad, ours)
        want = by_hand(x)
        assert np.isclose(value, want[0]) and np.allclose(gradient.numpy(), want[1], rtol=1e-9, atol=1e-12)
        works = {"autodiff": lambda x=ours: by_graph(ad, x), "by hand": lambda x=x: by_hand(x)}
        if torch:
            theirs = torch.tensor(x, requires_grad=True)
            works["torch"] = lambda x=theirs: by_graph(torch, x)
        if hips:
            anp = peer("autograd.numpy")
            both = hips.value_and_grad(
                lambda x, anp=anp: anp.sum(anp.exp(-x * x) * anp.sin(3 * x) + anp.log1p(x * x) / (1 + x * x))
            )
            works["HIPS autograd"] = lambda x=x, both=both: both(x)
        compare(f"{size} entries", works, rounds, size * 1e-9, "ns/entry")


if __name__ == "__main__":
    main()
