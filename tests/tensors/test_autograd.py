"""The graph of tensors: accumulation, retaining, hooks, modes, create_graph, in-place changes, unused inputs."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest

import autodiff as ad
from autodiff.errors import ShapeError
from autodiff.tensors.graph import GradFn, release


def leaf(data: Any) -> ad.Tensor:
    return ad.tensor(data, requires_grad=True)


def test_the_picture_of_the_contract() -> None:
    x = leaf(2.0)
    a = x + 2
    y = a * x
    assert repr(y) == "tensor(8., grad_fn=<MulBackward0>)"
    assert [fn.name() for fn, _ in y.grad_fn.next_functions] == ["AddBackward0", "AccumulateGrad"]
    assert [fn and fn.name() for fn, _ in a.grad_fn.next_functions] == ["AccumulateGrad", None]
    assert y.grad_fn.next_functions[1][0].variable is x
    assert y.grad_fn.saved_values == {"a": 4.0, "b": 2.0}
    assert y.grad_fn._saved_a.item() == 4.0
    y.backward()
    assert x.grad is not None and x.grad.item() == 6.0
    assert x.is_leaf and x.grad_fn is None and not y.is_leaf and y.grad is None


def test_gradients_accumulate_and_are_reset() -> None:
    x = leaf(3.0)
    for want in (6.0, 12.0):
        (x * x).backward()
        assert x.grad.item() == want
    x.grad = None
    (x * x).backward()
    assert x.grad.item() == 6.0
    x.grad.zero_()
    (2 * x).backward()
    assert x.grad.item() == 2.0
    with pytest.raises(ShapeError):
        x.grad = ad.tensor([1.0, 2.0])


def test_a_freed_graph_says_how_to_keep_it() -> None:
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(RuntimeError, match="freed") as caught:
        y.backward()
    assert "retain_graph=True" in caught.value.help
    with pytest.raises(RuntimeError, match="freed"):
        _ = y.grad_fn._saved_a


def test_backward_wants_a_number_or_a_gradient() -> None:
    v = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="scalar outputs"):
        (v * v).backward()
    (v * v).backward(ad.tensor([1.0, 10.0]))
    assert v.grad.tolist() == [2.0, 40.0]
    with pytest.raises(ShapeError):
        (v * v).backward(ad.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(RuntimeError, match="does not require grad"):
        ad.tensor(1.0).backward()


def test_create_graph_gives_higher_orders() -> None:
    x = leaf(2.0)
    g: Any = x**4
    for want in (32.0, 48.0, 48.0, 24.0):
        (g,) = ad.grad(g, x, create_graph=True)
        assert g.item() == want
    (g,) = ad.grad(g, x, create_graph=True, allow_unused=True)
    assert g is None or g.item() == 0.0
    y = x**3
    y.backward(create_graph=True)
    x.grad.backward()
    assert x.grad.item() == 12.0 + 12.0


def test_grad_leaves_grad_alone_and_names_what_is_unused() -> None:
    x, z = leaf(2.0), leaf(1.0)
    assert ad.grad(x * x, [x])[0].item() == 4.0 and x.grad is None
    with pytest.raises(RuntimeError, match="not have been used"):
        ad.grad(x * x, [x, z])
    assert ad.grad(x * x, [x, z], allow_unused=True)[1] is None
    assert ad.grad(x * x, [x, z], materialize_grads=True)[1].item() == 0.0
    h = x * 3
    y = h * h
    assert [g.item() for g in ad.grad(y, (h, x))] == [12.0, 36.0]
    with pytest.raises(RuntimeError, match="does not require"):
        ad.grad(y, ad.tensor(1.0))
    a, b = x * 2, x * 5
    assert ad.grad([a, b], x, grad_outputs=[ad.tensor(1.0), ad.tensor(10.0)])[0].item() == 52.0


def test_backward_by_inputs_alone() -> None:
    x, z = leaf(2.0), leaf(3.0)
    (x * z).backward(inputs=[x])
    assert x.grad.item() == 3.0 and z.grad is None
    h = x * 2
    (h * h).backward(inputs=[h])
    assert h.grad.item() == 8.0


def test_no_grad_nests_and_decorates() -> None:
    x = leaf(2.0)
    with ad.no_grad():
        assert not (x * x).requires_grad and not ad.is_grad_enabled()
        with ad.enable_grad():
            assert (x * x).requires_grad
        with ad.set_grad_enabled(True):
            assert (x * x).requires_grad
        assert not (x * x).requires_grad
    assert (x * x).requires_grad

    @ad.no_grad()
    def quiet(t: ad.Tensor) -> ad.Tensor:
        return t * t

    @ad.no_grad
    def quiet_too(t: ad.Tensor) -> ad.Tensor:
        return t * t

    assert not quiet(x).requires_grad and not quiet_too(x).requires_grad
    ad.set_grad_enabled(False)
    assert not (x * x).requires_grad
    ad.set_grad_enabled(True)
    with pytest.raises(ValueError), ad.no_grad():
        raise ValueError
    assert (x * x).requires_grad


def test_detach_and_constants() -> None:
    x = leaf(2.0)
    d = x.detach()
    assert not d.requires_grad and d.item() == 2.0
    y = x * d
    y.backward()
    assert x.grad.item() == 2.0
    assert not (ad.tensor(1.0) * 2).requires_grad
    assert not (x > 1).requires_grad and bool(x > 1)
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2).requires_grad_(False)
    frozen = leaf(1.0).requires_grad_(False)
    assert not frozen.requires_grad


def test_hooks_see_and_replace_gradients() -> None:
    x = leaf(2.0)
    h = x * 3
    seen: list[float] = []
    handle = h.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: g * 10)
    (h * h).backward()
    assert seen == [12.0] and x.grad.item() == 360.0
    handle.remove()
    x.grad = None
    h = x * 3
    (h * h).backward()
    assert seen == [12.0] and x.grad.item() == 360.0
    with pytest.raises(RuntimeError):
        ad.tensor(1.0).register_hook(lambda g: g)


def test_hooks_of_nodes() -> None:
    x, z = leaf(2.0), leaf(5.0)
    y = x * z
    calls: list[Any] = []
    y.grad_fn.register_prehook(lambda outs: calls.append(("before", outs[0].item())))
    y.grad_fn.register_hook(lambda ins, outs: calls.append((ins[0].item(), ins[1].item(), outs[0].item())))
    x.register_post_accumulate_grad_hook(lambda t: calls.append(("added", t.grad.item())))
    y.backward()
    assert calls == [("before", 1.0), (5.0, 2.0, 1.0), ("added", 5.0)]


def test_retain_grad() -> None:
    x = leaf(2.0)
    h = x * 3
    h.retain_grad()
    (h * h).backward()
    assert h.grad.item() == 12.0 and h.retains_grad
    with pytest.raises(RuntimeError):
        ad.tensor(1.0).retain_grad()


def test_in_place_operations() -> None:
    x = leaf(2.0)
    y = x * 3
    y += 1
    y.mul_(2)
    assert y.item() == 14.0 and y._version == 2
    y.backward()
    assert x.grad.item() == 6.0
    v = leaf([1.0, 2.0, 3.0])
    w = v * 1
    w[0] = 10.0
    w[1:] *= 2
    (w * w).sum().backward()
    assert w.tolist() == [10.0, 4.0, 6.0] and v.grad.tolist() == [0.0, 16.0, 24.0]
    with pytest.raises(RuntimeError, match="leaf"):
        x += 1
    with ad.no_grad():
        x -= 0.5
    assert x.item() == 1.5 and x.requires_grad and x.is_leaf
    x.data -= 0.5
    assert x.item() == 1.0
    x.detach().add_(4)
    assert x.item() == 5.0
    with pytest.raises(ShapeError):
        ad.tensor([1.0]).add_(ad.tensor([1.0, 2.0]))


@pytest.mark.parametrize("data", [2.0, [1.0, 2.0]])
def test_a_changed_saved_value_is_an_error_that_names_the_operation(data: Any) -> None:
    x = leaf(data)
    y = x * 2
    z = (y * y).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"MulBackward0.*add_"):
        z.backward()
    e = (x * 1).exp()
    e *= 2
    with pytest.raises(RuntimeError, match="__imul__"):
        e.sum().backward()
    y = x * 2
    z = (y + 1).sum()
    y.add_(1)  # the sum never needed it
    z.backward()
    y = x * 3
    y.mul_(y.detach().clone())
    y.sum().backward()
    y = x * 3
    x.grad = None
    y.mul_(y.detach())  # which shows the change; the rule reads what it was
    y.sum().backward()
    assert ad.equal(x.grad, 9 * x.detach())


def test_relu_of_a_positive_number_is_an_object_of_its_own() -> None:
    x = leaf(3.0)
    h = x.relu()
    z = x * x
    h += 1
    (z + h).backward()
    assert x.grad.item() == 7.0


def test_anomaly_mode_says_where() -> None:
    x = leaf(0.0)
    with ad.detect_anomaly():
        y = ad.sqrt(x * x)
        with pytest.raises(RuntimeError, match=r"returned nan values(.|\n)*test_autograd") as caught:
            y.backward()
    assert "MulBackward0" in str(caught.value) or "SqrtBackward0" in str(caught.value)


class Cube(ad.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: float) -> Any:
        ctx.save_for_backward(x)
        ctx.scale = scale
        assert len(ctx.needs_input_grad) == 2 and not ad.is_grad_enabled()
        return x * x * x * scale

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x * x * ctx.scale, None


class Both(ad.Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a * b, a + b

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        a, b = ctx.saved_tensors
        return g * b + h, g * a + h


def test_functions_of_ones_own() -> None:
    x = leaf(2.0)
    y = Cube.apply(x, 5.0)
    assert y.grad_fn.name() == "CubeBackward"
    y.backward()
    assert x.grad.item() == 60.0
    (first,) = ad.grad(Cube.apply(x, 1.0), x, create_graph=True)
    assert ad.grad(first, x)[0].item() == 12.0
    a, b = leaf(2.0), leaf(7.0)
    product, total = Both.apply(a, b)
    (product * 10 + total).backward()
    assert (a.grad.item(), b.grad.item()) == (71.0, 21.0)
    v = leaf([1.0, 2.0])
    assert ad.gradcheck(lambda t: Cube.apply(t, 2.0), (v,))


def test_threads_have_graphs_and_modes_of_their_own() -> None:
    outcomes: dict[int, float] = {}
    started = threading.Barrier(4)

    def work(k: int) -> None:
        x = leaf(float(k))
        started.wait()
        with ad.set_grad_enabled(k % 2 == 0):
            y = x
            for _ in range(2000):
                y = y * 1.0 + x * 0.001
        outcomes[k] = ad.grad(y, x)[0].item() if y.requires_grad else -1.0

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes[1] == outcomes[3] == -1.0
    assert outcomes[0] == outcomes[2] == pytest.approx(3.0)
    assert ad.is_grad_enabled()


def test_leaves_are_pickled_and_copied() -> None:
    for x in (leaf(2.0), leaf([1.0, 2.0])):
        (x * x).sum().backward()
        for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert twin is not x and twin.tolist() == x.tolist() and twin.requires_grad
            assert twin.grad.tolist() == x.grad.tolist()
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises(RuntimeError, match="leaves"):
                attempt(x * 2)


def test_a_long_graph_neither_recurses_nor_holds_the_collector_up() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(200_000):
        y = y + 1.0
    frozen = gc.get_freeze_count()
    y.backward()
    assert x.grad.item() == 1.0 and frozen > 100_000 and gc.get_freeze_count() < frozen
    for _ in range(200_000):
        y = y + 1.0
    del y


def test_strong_zero_and_infinities() -> None:
    x = leaf(0.0)
    ad.where(x > 1, 1 / x, x * 3).backward()
    assert x.grad.item() == 3.0
    v = leaf([0.0, 4.0])
    ad.where(v > 1, ad.sqrt(v), v).sum().backward()
    assert v.grad.tolist() == [1.0, 0.25]
    x = leaf(0.0)
    (1 / x).backward()
    assert x.grad.item() == -np.inf


def test_numpy_functions_keep_the_graph_and_others_are_refused() -> None:
    v = leaf([1.0, 2.0])
    for y in (np.sin(v), np.sum(v), np.add(v, 1), np.array([1.0, 2.0]) * v, np.float64(2.0) * v, np.exp(v) + v):
        assert isinstance(y, ad.Tensor) and y.requires_grad
    assert np.mean(v, axis=0).item() == 1.5
    assert np.concatenate([v, v]).shape == (4,)
    for refused in (
        lambda: np.fft.fft(v),
        lambda: np.interp(v, v, v),
        lambda: np.add.accumulate(v),
        lambda: np.spacing(v),
    ):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(RuntimeError) as caught:
        np.asarray(v)
    assert "detach()" in caught.value.help
    assert np.asarray(v.detach()).tolist() == [1.0, 2.0] and v.detach().numpy().tolist() == [1.0, 2.0]


def test_repr_is_as_in_pytorch() -> None:
    assert repr(ad.tensor(1 / 3)) == "tensor(0.3333)"
    assert repr(ad.tensor([1.0, 2.5])) == "tensor([1.0000, 2.5000])"
    assert repr(leaf([[1.0, -2.0], [3.0, 4.0]])) == "tensor([[ 1., -2.],\n        [ 3.,  4.]], requires_grad=True)"
    assert repr(ad.tensor([1e-6, 1.5])) == "tensor([1.0000e-06, 1.5000e+00])"
    assert repr(ad.tensor([1.0, 2.0]) > 1) == "tensor([False,  True])"
    assert repr(ad.tensor(float("nan"))) == "tensor(nan)"
    assert repr(ad.tensor([])) == "tensor([])"
    assert f"{ad.tensor(2.0):.3f}" == "2.000"


def test_values_not_read_by_any_rule_are_not_kept() -> None:
    x = leaf(np.ones(100_000))
    y = x + 1.0
    for _ in range(50):
        y = y + 1.0
    fn = y.grad_fn
    while fn.op is not None:
        assert not any(hasattr(value, "dtype") for value in (*fn.inputs[1::2], fn.y))
        fn = fn.next_functions[0][0]


@pytest.mark.parametrize("size", [3, 1000, 20_000])
def test_the_ordinary_case_takes_the_quick_way(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff.tensors import sweep

    def unwanted(*_: Any) -> None:
        raise AssertionError("the careful sweep ran")

    monkeypatch.setattr(sweep, "careful", unwanted)
    data = np.linspace(-2.0, 2.0, size)
    x, k = leaf(data), leaf(3.0)
    y = ad.sum(ad.exp(-x * x) * ad.sin(k * x) + ad.log1p(x * x) / (1 + x * x))
    y.backward()
    e, s, d, log = np.exp(-data * data), np.sin(3 * data), 1 + data * data, np.log1p(data * data)
    want = e * (3 * np.cos(3 * data) - 2 * data * s) + 2 * data * (1 - log) / (d * d)
    assert np.allclose(x.grad.numpy(), want, rtol=1e-12, atol=1e-14)
    assert k.grad.item() == pytest.approx((e * np.cos(3 * data) * data).sum(), rel=1e-12, abs=1e-12)
    w = leaf(np.ones((3, 2)) * 0.1)
    ad.mean(ad.tanh(ad.tensor(np.ones((4, 3))) @ w + 1) ** 2).backward()
    a = leaf(2.0)
    (ad.sqrt(a) * a / 3 - ad.sin(a) ** a).backward()


def test_kept_arrays_are_nobodys() -> None:
    """Buffers of a freed graph serve the next one, but never one that somebody still holds."""
    from autodiff.tensors import buffers

    data = np.linspace(0.0, 1.0, buffers.SMALL)
    x = leaf(data)
    mine = ad.exp(x)
    raw = ad.sin(x)
    outside = raw.detach().numpy()
    (mine * raw * ad.cos(x)).sum().backward()
    want, first = np.exp(data), x.grad.numpy().copy()
    for _ in range(3):
        x.grad = None
        (ad.exp(x) * ad.sin(x) * ad.cos(x)).sum().backward()
        assert np.array_equal(mine.detach().numpy(), want) and np.array_equal(outside, np.sin(data))
        assert np.array_equal(x.grad.numpy(), first)
    assert buffers._held[0] <= buffers.MOST


def nodes() -> int:
    """How many recorded operations there are, among what the collector knows."""
    return sum(issubclass(type(x), GradFn) for x in gc.get_objects())


def swept() -> None:
    """Collect all garbage: the first look sets a recently grown graph aside, whatever it holds."""
    gc.collect()
    release()
    gc.collect()


def in_place_twice(x: Any) -> Any:
    y = x * 1
    y[0].mul_(2)
    y.T[0].add_(1)
    return y.sum()


def saved_and_several(x: Any) -> Any:
    class Both(ad.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * x
            ctx.save_for_backward(x, y)
            return y, x * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * g + 2 * h

    first, second = Both.apply(x)
    return (first + second).sum()


def hooked(x: Any) -> Any:
    y = x.exp()
    y.retain_grad()
    y.register_hook(lambda g: g)
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    assert y.grad_fn._saved_result.requires_grad
    return y.sum()


GRAPHS = {
    "elementwise": lambda x: (x * x).exp().sum(),
    "views changed in place": in_place_twice,
    "a function of several outputs": saved_and_several,
    "hooks": hooked,
    "checkpoint": lambda x: ad.utils.checkpoint.checkpoint(lambda x: (x * x).sin(), x).sum(),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_goes_without_the_collector(name: str) -> None:
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    swept()
    gc.disable()
    try:
        before = nodes()
        GRAPHS[name](x)  # never swept
        GRAPHS[name](x).backward()
        y = GRAPHS[name](x)
        ad.grad(y, x, create_graph=True)
        del y
        assert nodes() == before
    finally:
        gc.enable()


def test_a_checkpoint_keeps_no_graph_of_what_it_ran() -> None:
    x = ad.tensor([1.0, 2.0], requires_grad=True)
    swept()
    before = nodes()
    y = ad.utils.checkpoint.checkpoint(lambda x: x.sin().exp().cos().sin().exp(), x)
    assert nodes() == before + 1
    y.sum().backward()
    assert x.grad is not None


def test_changes_in_place_through_one_view_after_another() -> None:
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    in_place_twice(x).backward()
    assert x.grad is not None and x.grad.tolist() == [[2.0, 2.0], [1.0, 1.0]]
    w, y = ad.tensor([5.0, 6.0]), x * 1
    y[0] = w
    w.add_(1)  # its place in y was filled before
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_an_operation_may_save_what_it_changes_through_a_view() -> None:
    x = ad.tensor([[0.5, 1.0], [2.0, 3.0]], requires_grad=True)
    y = x * 1
    y.T.sin_()
    y[0].mul_(y[1])
    y.sum().backward()
    s, c = np.sin(x.detach().numpy()), np.cos(x.detach().numpy())
    assert x.grad is not None and np.allclose(x.grad.numpy(), [c[0] * s[1], c[1] * (1 + s[0])])


def changed_at_random(x: Any, seed: int) -> Any:
    """A number made of tensors that were viewed and changed in place in an order drawn by the seed."""
    draw = random.Random(seed)
    pool = [x * 1.0, x * [[1.5, 0.2, 0.8], [0.4, 2.0, 0.6]]]
    for _ in range(draw.randint(3, 9)):
        a = draw.choice(pool)
        step = draw.choice([
            lambda a: pool.append(a[draw.randrange(a.shape[0])]),
            lambda a: pool.append(a[..., : max(1, a.shape[-1] - 1)]),
            lambda a: pool.append(a.T),
            lambda a: pool.append(a.reshape(-1)),
            lambda a: pool.append(a.unsqueeze(0)),
            lambda a: pool.append(a * a),
            lambda a: a.mul_(draw.choice([2.0, 0.5])),
            lambda a: a.sin_(),
            lambda a: a.__setitem__(0, a[-1] * 2),
            lambda a: a.mul_(draw.choice([b for b in pool if b.shape == a.shape])),
        ])  # fmt: skip
        if a.shape:
            step(a)
    return sum((k * a).sum() for k, a in enumerate(pool, 1))


@pytest.mark.parametrize("block", range(6))
def test_views_and_changes_in_any_order_give_the_derivative_or_say_why_not(block: int) -> None:
    right = 0
    for seed in range(20 * block, 20 * block + 20):
        at = np.array([[0.5, 1.2, 0.3], [0.7, 0.9, 1.1]])
        x = leaf(at)
        try:
            changed_at_random(x, seed).backward()
        except ad.GraphError:
            continue
        h = 1e-6 * np.array([[1.0, -2.0, 0.5], [3.0, 1.0, -1.0]])
        up, down = (changed_at_random(ad.tensor(at + d), seed).item() for d in (h, -h))
        assert (x.grad.numpy() * h).sum() == pytest.approx((up - down) / 2, rel=1e-4, abs=1e-9)
        right += 1
    assert right >= 8


def test_functions_that_change_their_argument() -> None:
    x = leaf([0.0, 1.0])
    y = x * 1
    assert ad.sin_(y) is y
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.cos([0.0, 1.0]))
    assert ad.relu_(ad.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        ad.exp_(x)
    with pytest.raises(AttributeError, match="no attribute 'sinus_'"):
        _ = ad.sinus_


PRODUCTS = [
    ("mm", (2, 2), 2), ("bmm", (3, 3), 3), ("mv", (2, 1), 1), ("ger", (1, 1), 2), ("dot", (1, 1), 0),
    ("outer", (1, 1), 2),
]  # fmt: skip


@pytest.mark.parametrize("name,ranks,rank", PRODUCTS)
def test_products_of_one_rank_refuse_others(name: str, ranks: tuple[int, int], rank: int) -> None:
    product = getattr(ad, name)
    assert product(*(ad.ones((2,) * n) for n in ranks)).shape == (2,) * rank
    for wrong in {(1, 1), (2, 1), (2, 2), (3, 3)} - {ranks}:
        operands = [ad.ones((2,) * n) for n in wrong]
        with pytest.raises(RuntimeError, match=f"{name}: {ranks[0]}D and {ranks[1]}D tensors expected"):
            product(*operands)
        with pytest.raises(ShapeError):
            getattr(operands[0], name)(operands[1])


NAMES = {
    "x + 1": "AddBackward0",
    "x**2": "PowBackward0",
    "x**v": "PowBackward1",
    "x @ x": "MmBackward0",
    "x @ v": "MvBackward0",
    "v @ v": "DotBackward0",
    "x.sum()": "SumBackward0",
    "x.sum(0)": "SumBackward1",
    "x.mean(1)": "MeanBackward1",
    "x.max()": "MaxBackward1",
    "x.max(0)[0]": "MaxBackward0",
    "torch.maximum(x, v)": "MaximumBackward0",
    "x.norm()": "LinalgVectorNormBackward0",
    "x.view(4)": "ViewBackward0",
    "x.T": "PermuteBackward0",
    "x.transpose(0, 1)": "TransposeBackward0",
    "v.expand(2, 2)": "ExpandBackward0",
    "x.clone()": "CloneBackward0",
    "x.clamp(0, 1)": "ClampBackward1",
    "torch.cat([x, x])": "CatBackward0",
    "x[0]": "SelectBackward0",
    "x[:, 1]": "SelectBackward0",
    "x[0:1]": "SliceBackward0",
    "x[torch.tensor([0, 1], dtype=torch.int64)]": "IndexBackward0",
    "torch.det(x)": "LinalgDetBackward0",
    "x.amax()": "AmaxBackward0",
    "x.sum(1, keepdim=True)": "SumBackward1",
    "x.mean(1, keepdim=True)": "MeanBackward1",
    "x.permute(1, 0)": "PermuteBackward0",
    "x.unsqueeze(0)": "UnsqueezeBackward0",
    "x.unsqueeze(0).squeeze()": "SqueezeBackward0",
    "x.gather(1, torch.tensor([[0], [1]], dtype=torch.int64))": "GatherBackward0",
    "x.masked_fill(x > 1, 0.0)": "MaskedFillBackward0",
    "x.sort()[0]": "SortBackward0",
    "x.topk(1).values": "TopkBackward0",
    "x.split(1)[1]": "SplitBackward0",
    "x.tril()": "TrilBackward0",
    "torch.nn.functional.mse_loss(x, x.detach())": "MseLossBackward0",
    "torch.nn.functional.cross_entropy(x, torch.tensor([0, 1], dtype=torch.int64))": "NllLossBackward0",
    "torch.nn.functional.binary_cross_entropy_with_logits(v, v.detach())": "BinaryCrossEntropyWithLogitsBackward0",
}


@pytest.mark.parametrize("text", NAMES)
def test_nodes_and_their_classes_bear_the_names_of_torch(text: str) -> None:
    def names(torch: Any) -> tuple[str, str]:
        x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        v = torch.tensor([1.0, 2.0], requires_grad=True)
        y = eval(text, {"torch": torch, "x": x, "v": v})
        first = y.grad_fn.name(), type(y.grad_fn).__name__
        y.sum().backward()
        assert (y.grad_fn.name(), type(y.grad_fn).__name__) == first, "the same once the graph is freed"
        return first

    assert names(ad) == (NAMES[text],) * 2
    with contextlib.suppress(ImportError):
        assert names(__import__("torch")) == (NAMES[text],) * 2


def test_a_root_that_nobody_looked_at_keeps_its_name() -> None:
    x = leaf([[1.0, 2.0], [3.0, 5.0]])
    y = x @ x
    y.backward(ad.ones(2, 2))
    assert repr(y).endswith("grad_fn=<MmBackward0>)")


def test_a_name_of_the_result_is_not_one_of_the_operand() -> None:
    x = leaf([1.0, 2.0]) * 1
    y = x.squeeze()
    assert x.grad_fn.name() == "MulBackward0"
    assert y.shape == x.shape


def test_views_count_changes_with_what_they_show() -> None:
    a = ad.zeros(3, 3)
    a[0] = 1
    a[:, 1] += 2
    b = a.view(-1)
    b[0] = 5
    a.detach().add_(1)
    assert (a._version, b._version, a[0]._version, a.detach()._version) == (5, 5, 5, 5)


def test_several_values_print_as_in_torch() -> None:
    assert repr(leaf([1.0, 3.0]).max(0)) == (
        "torch.return_types.max(\nvalues=tensor(3., grad_fn=<MaxBackward0>),\nindices=tensor(1))"
    )
    values, indices = ad.tensor([2.0, 1.0]).sort()
    assert (values.tolist(), indices.tolist()) == ([1.0, 2.0], [1, 0])
    assert repr(ad.tensor([2.0, 1.0]).topk(1)).startswith("torch.return_types.topk(\nvalues=tensor([2.]),\nindices=")
