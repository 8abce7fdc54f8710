"""Compiled expressions: from many threads, by pickle, of tensors, and what they say when called wrongly."""

from __future__ import annotations

import copy
import doctest
import importlib
import pickle
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autodiff as ad
from autodiff.errors import AutodiffError, LimitError, NameProblem, RequestError, SyntaxProblem


@pytest.fixture
def eager_switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_threads_share_an_expression_and_nothing_else(eager_switching: None) -> None:
    start = threading.Barrier(4)

    def work(k: int) -> list[bool]:
        start.wait()
        fine = []
        for r in range(40):
            f = ad.compile(f"sum(exp(v)*v)*x + {r}")
            v = np.full(5 if r % 3 else 3000, float(k))
            value, gradient = f.value_and_grad(x=float(k), v=v)
            total = float((np.exp(v) * v).sum())
            fine.append(bool(np.isclose(value, total * k + r) and np.isclose(gradient["x"], total)))
            x = ad.tensor(float(k), requires_grad=True)
            y = f(x=x, v=v)
            with ad.no_grad():
                fine.append(not f(x=x, v=v).requires_grad)
            y.backward()
            fine.append(bool(np.isclose(x.grad.item(), total)))
            fine.append(pickle.loads(pickle.dumps(f)) is f)
        return fine

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(1, 5)))
    assert all(all(fine) and len(fine) == 160 for fine in found)


def test_tensors_in_many_threads(eager_switching: None) -> None:
    def work(k: int) -> float:
        x = ad.tensor(float(k), requires_grad=True)
        w = ad.ones(100, requires_grad=True)
        seen = []
        x.register_hook(lambda g: seen.append(g.item()))
        for _ in range(20):
            ((w * x).sum() + x * x).backward()
        assert len(seen) == 20 and w.grad.tolist() == [20.0 * k] * 100
        return float(x.grad.item())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [20.0 * (100 + 2 * k) for k in range(8)]


def test_pickled_and_copied() -> None:
    f = ad.compile("[x, x*y]")
    assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f and copy.copy(f) is f
    assert repr(f) == "compile('[x, x*y]')" and f.inputs == ["x", "y"]
    (a, b) = f(2, y=3)
    assert (a, b) == (2.0, 6.0)


def test_a_tensor_in_gives_a_recorded_tensor_out() -> None:
    f = ad.compile("y = x; for k in 1..3 { y = y*x + k }; y")
    x = ad.tensor(2.0, requires_grad=True)
    y = f(x)
    (first,) = ad.grad(y, x, create_graph=True)
    (second,) = ad.grad(first, x)
    assert (y.item(), first.item(), second.item()) == (27.0, 38.0, 50.0)
    assert f.grad(x=2) == {"x": 38.0} and f.hess(x=2) == {"x": {"x": 50.0}}
    y = ad.compile("sin(x)*v")(x=x, v=[1.0, 2.0])
    y.sum().backward()
    assert x.grad.item() == pytest.approx(3 * np.cos(2.0))
    assert isinstance(f(x=ad.tensor(2.0)), ad.Tensor) and isinstance(f(x=2), float)


def test_wrong_calls_are_told() -> None:
    f = ad.compile("x*y")
    with pytest.raises(NameProblem, match="3 arguments for 2 inputs"):
        f(1, 2, 3)
    with pytest.raises(NameProblem, match="given twice"):
        f(1, x=2)
    with pytest.raises(NameProblem, match="inputs are x, y"):
        f(x=1, z=2)
    with pytest.raises(AutodiffError, match="y"):
        f(x=1)
    with pytest.raises(SyntaxProblem):
        ad.compile("x +")
    with pytest.raises(AutodiffError):
        f.grad(x=[1.0, 2.0], y=1.0)
    with pytest.raises(TypeError):
        f(x="a", y=1)


def test_modules_are_imported_from() -> None:
    from autodiff.autograd import functional
    from autodiff.func import hessian

    assert hessian is ad.func.hessian and functional is ad.autograd.functional


def test_answers_come_with_their_notes() -> None:
    at = ad.compile("relu(x) + y").at(x=0, y=2)
    out = at.grad()
    assert out.value == 2.0 and out.gradient == {"x": 0.0, "y": 1.0}
    assert [note.kind for note in out.notes] == ["kink"]
    assert at.grad(["y"]).notes == []
    assert repr(out).startswith("Outcome(value=2.0, gradient={'x': 0.0, 'y': 1.0}, notes=[Note(kind='kink'")
    assert [note.kind for note in ad.compile("(x + 1e16) - 1e16").at(x=1).value().notes] == ["cancellation"]
    assert [note.kind for note in ad.compile("(x + 1e16) - 1e16").at(x=1).check().notes] == ["cancellation"]


def test_answers_take_what_python_has() -> None:
    at = ad.compile("v*v*x").at([1, 2], x=ad.tensor(3.0, requires_grad=True))
    assert at.jvp({"v": [1, 0]}).jvp.tolist() == [6.0, 0.0]
    assert at.vjp(np.array([1, 1]), ["x"]).vjp == {"x": 5.0}
    assert at.jac(["x"]).jacobian["x"].tolist() == [1.0, 4.0]
    assert ad.compile("x^3*y").at(2, 5).hvp({"x": 1}).hvp == {"x": 60.0, "y": 12.0}
    assert ad.compile("x^3").at(1).taylor("x", 3).derivatives == [1.0, 3.0, 3.0, 1.0]
    assert not ad.compile("x^3").at(1).check(order=2).second["x"]["x"].kinked


def test_an_expression_keeps_its_settings() -> None:
    loop = "y = x; while y > 0 { y = y + 1 }; y"
    for limit in (1000, 2_000_000):
        f = ad.compile(loop, max_ops=limit)
        for ask in (f, f.grad, lambda x, f=f: f.at(x).hess()):
            with pytest.raises(LimitError, match=f"stopped after {limit} operations"):
                ask(1.0)
    assert ad.compile("abs(x)").grad(0) == {"x": 0.0}
    like_jax = pickle.loads(pickle.dumps(ad.compile("abs(x)", convention="jax")))
    assert like_jax.grad(0) == {"x": 1.0} and like_jax is ad.compile("abs(x)", convention="jax")
    assert like_jax.jac(0) == {"x": 1.0}
    with pytest.raises(RequestError, match="'tensorflow' is no convention"):
        ad.compile("abs(x)", convention="tensorflow")


def test_examples_in_docstrings() -> None:
    found = doctest.testmod(importlib.import_module("autodiff.expression"))
    assert found.attempted > 10 and found.failed == 0
