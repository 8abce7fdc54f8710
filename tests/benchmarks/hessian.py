"""Hessian of the Rosenbrock function of 30 inputs: bar faster than torch and HIPS autograd."""

from __future__ import annotations

from typing import Any

import compare


def point() -> Any:
    import numpy as np

    return np.linspace(-1.2, 1.3, 30)


def rosenbrock(v: Any) -> Any:
    a, b = v[:-1], v[1:]
    return (100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2).sum()


def ours() -> compare.Work:
    import numpy as np

    import autodiff as ad

    x = point()
    work = ad.func.hessian(rosenbrock)
    expression = ad.compile("a = x[:-1]; b = x[1:]; sum(100*(b - a*a)^2 + (1 - a)^2)")
    assert np.allclose(expression.hess(x=x)["x"]["x"], work(x).numpy())
    return lambda: work(x)


def torch() -> compare.Work:
    module = compare.torch()
    x = module.tensor(point())
    return lambda: module.autograd.functional.hessian(rosenbrock, x)


def torch_func() -> compare.Work:
    module = compare.torch()
    x = module.tensor(point())
    return lambda: module.func.hessian(rosenbrock)(x)


def hips() -> compare.Work:
    import autograd

    x = point()
    work = autograd.hessian(rosenbrock)
    return lambda: work(x)


def main() -> None:
    works = {"autodiff": ours, "torch": torch, "torch.func": torch_func, "HIPS autograd": hips}
    compare.compare("Hessian of Rosenbrock, 30 inputs", works, 25, 1e-3, "ms")


if __name__ == "__main__":
    main()
