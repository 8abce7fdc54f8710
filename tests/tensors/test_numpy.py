"""NumPy's functions on tensors: its values, derivatives as by differences, refusals where there is no rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as ad
from autodiff.errors import AutodiffError

POINT = {"A": [[4.0, 1.0], [1.0, 3.0]], "B": [[1.0, 2.5, 3.0], [4.0, 5.0, 6.5]], "v": [1.5, -2.0, 3.0], "s": 0.75}

RECORDED = """
np.sin(v) | np.exp(s) | np.log(A) | np.sqrt(A) | np.abs(v) | np.square(v) | np.reciprocal(v) | np.tanh(v) | np.cbrt(v)
np.expm1(v) | np.log1p(A) | np.log2(A) | np.log10(A) | np.exp2(v) | np.deg2rad(v) | np.degrees(v) | np.sinc(v)
np.sign(v) | np.floor(v * 0.3) | np.rint(s) | np.trunc(s) | np.round(v * 3, 1) | np.nan_to_num(v)
np.add(v, 1) | np.subtract(1, v) | np.multiply(v, v) | np.divide(v, 2) | np.true_divide(1, v) | np.power(A, 2)
np.arctan2(v, 2.0) | np.hypot(v, 1.0) | np.logaddexp(v, 0.0) | np.copysign(v, 1.0) | np.float_power(A, 2.0)
np.floor_divide(s, 2) | np.mod(s, 0.5) | np.fmod(v, 1.75) | np.maximum(v, 0) | np.minimum(v, np.array([0.0, 0.0, 9.0]))
np.clip(v, -1, 2) | np.clip(v, None, 1) | np.where(v > 0, v, 0) | np.where(np.array([True, False, True]), v, v * 2)
np.float64(2) * v | np.array([1.0, 2.0, 3.0]) * v | np.array([1.0, 2.0, 3.0]) - v | np.array([1.0, 2.0, 3.0]) / v
np.array(2.0) ** v | np.float64(2) ** v | np.array([1.0, 2.0, 3.0]) @ v | np.eye(2) @ A | A @ np.eye(2) | v + np.ones(3)
np.sum(B) | np.sum(B, axis=0) | np.sum(B, axis=1, keepdims=True) | np.mean(B) | np.mean(B, axis=-1) | np.prod(v)
np.std(v) | np.var(v) | np.var(v, ddof=1) | np.std(B, axis=0, ddof=1) | np.max(v) | np.min(B, axis=1)
np.amax(B, axis=0) | np.cumsum(v) | np.cumsum(B, axis=1) | np.cumsum(B) | np.cumprod(v) | np.diff(v)
np.ptp(v) | np.median(v)
np.percentile(v, 25) | np.average(v, weights=np.array([1.0, 1.0, 2.0])) | np.nansum(v) | np.sort(v) | np.add.reduce(B)
np.multiply.reduce(v) | np.add.outer(v, v) | np.multiply.outer(v, v)
np.dot(v, v) | np.matmul(A, A) | np.outer(v, v) | np.inner(v, v) | np.vdot(v, v) | np.kron(v, v) | np.cross(v, v * v)
np.trace(A) | np.einsum("ij,jk", A, B) | np.tensordot(A, B, axes=1) | np.linalg.norm(v) | np.linalg.norm(B, axis=1)
np.linalg.norm(v, 1) | np.linalg.norm(v, np.inf) | np.linalg.det(A) | np.linalg.inv(A) | np.linalg.solve(A, A[0])
np.linalg.slogdet(A)[1] | np.linalg.cholesky(A) | np.linalg.eigvalsh(A) | np.linalg.matrix_power(A, 3)
np.linalg.multi_dot([A, A, B]) | np.linalg.norm(A, 1)
np.concatenate([v, v]) | np.concatenate((B, B), axis=1) | np.stack([v, v], axis=1) | np.vstack([v, v])
np.hstack([v, v]) | np.reshape(B, (3, 2)) | np.reshape(B, -1) | np.ravel(B) | np.transpose(B)
np.transpose(B, (1, 0)) | np.squeeze(B[:1])
np.expand_dims(v, 0) | np.swapaxes(B, 0, 1) | np.moveaxis(B, 0, 1) | np.tile(v, 2) | np.repeat(v, 2) | np.flip(v)
np.roll(v, 1) | np.diag(v) | np.diagonal(A) | np.tril(A) | np.triu(A) | np.append(v, v) | np.broadcast_to(v, (2, 3))
np.split(v, 3)[0] | np.array_split(v, 2)[1] | np.take(v, [0, 2]) | np.delete(v, 0) | np.copy(v) | np.atleast_2d(v)
np.column_stack([v, v]) | np.trapezoid(v) | np.cov(B) | np.meshgrid(v, v, indexing="ij")[0]
"""

PLAIN = """
np.allclose(v, v) | np.argmax(v) | np.shape(B) | np.ndim(B) | np.size(B) | np.argsort(v) | np.array_equal(v, v)
np.count_nonzero(v) | np.isclose(v, v)
"""

REFUSED = """
np.fft.fft(v) | np.linalg.svd(A) | np.linalg.eigh(A) | np.linalg.qr(A) | np.linalg.pinv(A) | np.interp(v, v, v)
np.convolve(v, v) | np.gradient(v)
np.select([v > 0], [v]) | np.unique(v) | np.spacing(v) | np.add.accumulate(v) | np.add.at(v, 0, 1.0)
np.add(v, 1, out=np.zeros(3)) | np.sum(v, where=np.array([True, False, True])) | np.sum(v, initial=2.0) | np.asarray(v)
np.array(v) | np.array([v, v]) | np.sum([v, v]) | np.frompyfunc(float, 1, 1)(v) | np.apply_along_axis(sum, 0, v)
np.linalg.norm(A, 2) | np.sum(v, axis=4) | np.reshape(v, (2, 2)) | np.concatenate([v, B]) | np.max(v, initial=0.0)
"""


def each(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split("|")]


def function(text: str) -> Callable[..., Any]:
    code = compile(text, "<numpy>", "eval")
    return lambda *xs: eval(code, {"np": np, **dict(zip(POINT, xs, strict=True))})


def leaves() -> list[ad.Tensor]:
    return [ad.tensor(x, requires_grad=True) for x in POINT.values()]


@pytest.mark.parametrize("text", each(RECORDED))
def test_recorded_with_the_value_of_numpy(text: str) -> None:
    call = function(text)
    y = call(*leaves())
    want = call(*(np.array(x) if isinstance(x, list) else np.float64(x) for x in POINT.values()))
    assert isinstance(y, ad.Tensor) and y.requires_grad
    assert y.shape == np.shape(want)
    assert np.allclose(y.detach().numpy(), want, rtol=1e-14, atol=1e-14)
    assert ad.gradcheck(call, leaves())


@pytest.mark.parametrize("text", each(PLAIN))
def test_answers_without_a_derivative(text: str) -> None:
    call = function(text)
    want = call(*(np.array(x) if isinstance(x, list) else np.float64(x) for x in POINT.values()))
    assert np.array_equal(call(*leaves()), want)


@pytest.mark.parametrize("text", each(REFUSED))
def test_refused_with_a_word(text: str) -> None:
    with pytest.raises(AutodiffError) as caught:
        function(text)(*leaves())
    assert len(str(caught.value)) > 10


def test_operators_with_numpy_on_the_left_keep_the_graph() -> None:
    v = ad.tensor([1.0, 2.0], requires_grad=True)
    a = np.array([3.0, 4.0])
    for y, want in (
        (a + v, [4.0, 6.0]), (a - v, [2.0, 2.0]), (a * v, [3.0, 8.0]), (a / v, [3.0, 2.0]), (a**v, [3.0, 16.0]),
        (a // v, [3.0, 2.0]), (a % v, [0.0, 0.0]), (np.float64(2.0) - v, [1.0, 0.0]), (np.int64(2) * v, [2.0, 4.0]),
        (np.float32(0.5) * v, [0.5, 1.0]), (np.array(2.0) + v, [3.0, 4.0]), (np.array([1, 2]) * v, [1.0, 4.0]),
    ):  # fmt: skip
        assert isinstance(y, ad.Tensor) and y.requires_grad and y.tolist() == want
    assert (a @ v).item() == 11.0
    assert [(a < v).tolist(), (a == v).tolist(), (np.float64(1.0) <= v).tolist()] == [
        [False, False], [False, False], [True, True],
    ]  # fmt: skip
    s = ad.tensor(2.0, requires_grad=True)
    y = np.float64(3.0) * s + a.sum() * s
    y.backward()
    assert s.grad is not None and s.grad.item() == 10.0
    with pytest.raises(AutodiffError):
        a += v  # type: ignore[misc]


def test_arrays_change_with_their_tensors() -> None:
    array = np.ones(2)
    t = ad.from_numpy(array)
    array[0] = 5.0
    assert t.tolist() == [5.0, 1.0]
    t.mul_(2)
    assert array.tolist() == [10.0, 2.0]
    array += 1
    assert t.tolist() == [11.0, 3.0]
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    shown = x.detach().numpy()
    square = x * x
    with ad.no_grad():
        x += 1
    assert shown.tolist() == [2.0, 3.0]
    shown[0] = 7.0
    assert x.tolist() == [7.0, 3.0]
    with pytest.raises(RuntimeError, match="__iadd__"):
        square.sum().backward()
    kept = ad.tensor([3.0])
    assert kept.numpy() is kept.numpy() and ad.tensor(kept.numpy()).add_(1).item() == 4.0 and kept.item() == 3.0
