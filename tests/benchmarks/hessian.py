"""Hessian of the Rosenbrock function of 30 inputs: bar faster than torch and HIPS autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
from compare import compare, peer

import autodiff as ad

POINT = np.linspace(-1.2, 1.3, 30)


def rosenbrock(v: Any) -> Any:
    a, b = v[:-1], v[1:]
    return (100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2).sum()


def main() -> None:
    want = np.asarray(ad.func.hessian(rosenbrock)(POINT).numpy())
    expression = ad.compile("a = x[:-1]; b = x[1:]; sum(100*(b - a*a)^2 + (1 - a)^2)")
    assert np.allclose(expression.hess(x=POINT)["x"]["x"], want)
    works = {
        "autodiff": lambda: ad.func.hessian(rosenbrock)(POINT),
        "expression": lambda: expression.hess(x=POINT),
    }
    torch, hips = peer("torch"), peer("autograd")
    if torch:
        torch.set_num_threads(1)
        x = torch.tensor(POINT)
        assert np.allclose(torch.autograd.functional.hessian(rosenbrock, x).numpy(), want)
        works["torch"] = lambda: torch.autograd.functional.hessian(rosenbrock, x)
        works["torch.func"] = lambda: torch.func.hessian(rosenbrock)(x)
    if hips:
        works["HIPS autograd"] = lambda: hips.hessian(rosenbrock)(POINT)
    compare("Hessian of Rosenbrock, 30 inputs", works, 15, 1e-3, "ms")


if __name__ == "__main__":
    main()
