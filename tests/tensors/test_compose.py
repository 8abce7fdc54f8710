"""Functions made of several rows: first and second derivatives by differences, at points that a seed gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autodiff as ad


def changed(b: Any, v: Any) -> Any:
    """An array with entries assigned and scaled in place."""
    c = b * 1
    c[1] = v
    c[:, 0] *= 2
    return c**2


CASES: dict[str, Callable[..., Any]] = {
    "sort": lambda a, b, v: v.sort().values * v,
    "topk": lambda a, b, v: b.topk(2, dim=1)[0] ** 2,
    "gather": lambda a, b, v: b.gather(1, ad.tensor([[0, 1], [2, 2], [3, 0]])) ** 2,
    "einsum3": lambda a, b, v: ad.einsum("ij,jk,k->i", a, b, v) ** 2,
    "einsumtrace": lambda a, b, v: ad.einsum("ii->i", a) ** 2,
    "einsumouter": lambda a, b, v: ad.einsum("ij,kl->ikjl", a, a),
    "tensordot": lambda a, b, v: ad.tensordot(a, b, ([1], [0])) ** 2,
    "repeat": lambda a, b, v: v.repeat(2, 3) ** 2,
    "repeat_interleave": lambda a, b, v: b.repeat_interleave(2, 1) ** 2,
    "roll": lambda a, b, v: b.roll(1, 0) * b,
    "flip": lambda a, b, v: b.flip(1) * b,
    "tril": lambda a, b, v: a.tril() ** 2,
    "diagoff": lambda a, b, v: ad.diag(v, diagonal=1) ** 2,
    "diagonal": lambda a, b, v: a.diagonal(1) ** 2,
    "unfold": lambda a, b, v: v.unfold(0, 2, 1) ** 2,
    "cross": lambda a, b, v: ad.cross(a, a * a, dim=0),
    "matrix_power": lambda a, b, v: ad.matrix_power(a, 3),
    "slogdet": lambda a, b, v: ad.slogdet(a)[1],
    "norm3": lambda a, b, v: b.norm(3, 1),
    "norminf": lambda a, b, v: b.norm(float("inf")),
    "quantile": lambda a, b, v: ad.quantile(v, 0.3) ** 2,
    "median": lambda a, b, v: b.median(1)[0] ** 2,
    "var": lambda a, b, v: b.var(1, unbiased=True),
    "std": lambda a, b, v: b.std(0, correction=1),
    "masked_fill": lambda a, b, v: b.masked_fill(b > 0, 0.0) ** 2,
    "cat": lambda a, b, v: ad.cat([a, b], 1) ** 2,
    "hstack": lambda a, b, v: ad.hstack([v, v * 2]) ** 2,
    "where": lambda a, b, v: ad.where(b > 0, b**2, -b),
    "softplus with beta": lambda a, b, v: ad.nn.functional.softplus(v, beta=2.0),
    "cross_entropy": lambda a, b, v: ad.nn.functional.cross_entropy(b, ad.tensor([0, 1, 3])),
    "binary_cross_entropy": lambda a, b, v: ad.nn.functional.binary_cross_entropy(
        v.sigmoid(), ad.tensor([1.0, 0.0, 1.0, 0.3])
    ),
    "huber": lambda a, b, v: ad.nn.functional.huber_loss(v, 0.1, delta=0.5),
    "cosine_similarity": lambda a, b, v: ad.nn.functional.cosine_similarity(b[0], b[1], dim=0),
    "kl_div": lambda a, b, v: ad.nn.functional.kl_div(v, ad.tensor([0.1, 0.2, 0.3, 0.4])),
    "cumprod": lambda a, b, v: b.cumprod(1),
    "checkpoint": lambda a, b, v: ad.utils.checkpoint.checkpoint(lambda a: (a @ b * v).tanh(), a),
    "max with dim": lambda a, b, v: b.max(dim=1)[0] ** 2,
    "newaxis": lambda a, b, v: (b[:, None] * b[None])[..., 0],
    "assignment": lambda a, b, v: changed(b, v),
    "meshgrid": lambda a, b, v: ad.meshgrid(v, v)[0] * ad.meshgrid(v, v)[1],
    "scatter": lambda a, b, v: b.scatter(1, ad.tensor([[0, 1], [2, 2], [3, 0]])[:, :1], a) ** 2,
    "scatter_add": lambda a, b, v: b.scatter_add(0, ad.tensor([[0, 1, 1], [0, 2, 1]]), a) ** 2,
    "index_add": lambda a, b, v: b.index_add(0, ad.tensor([0, 0]), b[1:]) ** 2,
    "trapezoid": lambda a, b, v: ad.trapezoid(b, v, dim=1) ** 2,
    "cdist": lambda a, b, v: ad.cdist(a, a * a + 1),
    "cov": lambda a, b, v: ad.cov(b),
    "pairwise_distance": lambda a, b, v: ad.nn.functional.pairwise_distance(a, a * a + 1),
    "diff": lambda a, b, v: v.diff() ** 2,
    "normalize": lambda a, b, v: ad.nn.functional.normalize(b),
    "index": lambda a, b, v: b[[0, 0, 2], [1, 1, 3]] ** 2,
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_first_and_second_order(name: str) -> None:
    ad.manual_seed(5)
    a, b, v = (ad.randn(*sizes, dtype=ad.float64, requires_grad=True) for sizes in ((3, 3), (3, 4), (4,)))
    assert ad.gradcheck(CASES[name], (a, b, v))
    assert ad.gradgradcheck(CASES[name], (a, b, v), atol=1e-4)


def test_a_checkpoint_keeps_the_arguments_alone_and_runs_again() -> None:
    runs = []

    def block(x: Any, w: Any) -> Any:
        runs.append(x.item())
        y = x
        for _ in range(50):
            y = ad.sin(y) * w + bias
        return y

    x, w, bias = (ad.tensor(value, requires_grad=True) for value in (0.5, 0.9, 0.1))
    y = ad.utils.checkpoint.checkpoint(block, x, w)
    assert len(runs) == 1 and len(y.grad_fn.next_functions) == 3
    y.backward()
    assert len(runs) == 2
    found = [t.grad.item() for t in (x, w, bias)]
    want = [g.item() for g in ad.grad(block(x, w), (x, w, bias))]
    assert found == pytest.approx(want, rel=1e-14)
    (first,) = ad.grad(ad.utils.checkpoint.checkpoint(block, x, w), w, create_graph=True)
    (second,) = ad.grad(first, w)
    (plain,) = ad.grad(block(x, w), w, create_graph=True)
    assert second.item() == pytest.approx(ad.grad(plain, w)[0].item(), rel=1e-13)
