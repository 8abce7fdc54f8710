"""Hooks of graphs as a whole, tensors in files, and PyTorch's modules under their names."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import autodiff as ad
from autodiff.errors import AutodiffError
from autodiff.tensors.modes import mode, special

graph: Any = ad.autograd.graph


def leaf(data: Any) -> ad.Tensor:
    return ad.tensor(data, requires_grad=True)


def test_saved_values_go_through_the_hooks() -> None:
    seen: list[Any] = []
    kept: list[Any] = []

    def pack(x: ad.Tensor) -> int:
        seen.append(("pack", x.tolist()))
        kept.append((x * 1).detach())  # what the hook computes is not handed to it
        return len(kept) - 1

    def unpack(k: int) -> ad.Tensor:
        seen.append(("unpack", k))
        return kept[k]  # type: ignore[no-any-return]

    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with graph.saved_tensors_hooks(pack, unpack):
        y = x * w
        z = y.exp().sum()
    assert special[0] == 0 and mode.packing is None
    assert seen[:2] == [("pack", [3.0, 4.0]), ("pack", [1.0, 2.0])] and len(seen) == 3
    assert (y.grad_fn._saved_self.tolist(), y.grad_fn._saved_other.tolist()) == ([1.0, 2.0], [3.0, 4.0])
    del seen[:]
    z.backward()
    assert [what for what, _ in seen] == ["unpack"] * 3
    expected = ad.grad((leaf([1.0, 2.0]) * w).exp().sum(), w)[0]
    assert w.grad is not None and w.grad.tolist() == pytest.approx(expected.tolist())


def test_saved_values_may_be_changed_on_the_way_and_differentiated_again() -> None:
    x = leaf(3.0)
    with graph.saved_tensors_hooks(lambda t: t.item(), lambda v: ad.tensor(v)):
        y = x.sin()
    (g,) = ad.grad(y, x, create_graph=True)
    assert g.item() == pytest.approx(ad.cos(ad.tensor(3.0)).item())
    (h,) = ad.grad(g, x)
    assert h.item() == pytest.approx(-y.item())


def test_hooks_of_several_gradients() -> None:
    x, u = leaf(1.0), leaf(2.0)
    y = 2 * x
    told: list[Any] = []
    handle = graph.register_multi_grad_hook(
        (x, y, u), lambda gs: told.append([None if g is None else g.item() for g in gs])
    )
    (y * y).backward()
    (x * u).backward()
    ad.grad(x * u, u)
    handle.remove()
    (3 * x).backward()
    assert told == [[8.0, 4.0, None], [2.0, None, 1.0], [None, None, 1.0]]
    first: list[float] = []
    with graph.register_multi_grad_hook((x, u), lambda g: first.append(g.item()), mode="any"):
        (x * u).backward()
        (x * u).backward()
    (x * u).backward()
    assert len(first) == 2
    with pytest.raises(RuntimeError, match="'all' or 'any'"):
        graph.register_multi_grad_hook((x,), print, mode="some")


def test_tensors_come_back_from_files(tmp_path: Path) -> None:
    x = leaf([[1.0, -2.0]])
    (x * x).sum().backward()
    whole = ad.tensor([1, 2], dtype=int)
    things = {"w": x, "step": 3, "parts": [ad.tensor(1.5), whole], "name": "a", "flag": ad.tensor(True)}
    ad.save(things, tmp_path / "w.pt")
    found = ad.load(str(tmp_path / "w.pt"))
    assert repr(found) == repr(things) and found["w"].grad.tolist() == [[2.0, -4.0]]
    file = io.BytesIO()
    ad.save(x, file)
    file.seek(0)
    assert ad.load(file, map_location="cpu").requires_grad


class Runs:
    """What a pickle would call."""

    def __reduce__(self) -> Any:
        return print, ("run",)


@pytest.mark.parametrize("content", [pickle.dumps(Runs()), pickle.dumps(Path("a")), b"no pickle", b""])
def test_files_run_nothing(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AutodiffError):
        ad.load(io.BytesIO(content))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce(reduce: str, include_self: bool) -> None:
    at = ad.tensor([[0, 1, 1], [2, 0, 2]], dtype=int)

    def spread(x: ad.Tensor, src: ad.Tensor) -> ad.Tensor:
        made: ad.Tensor = x.scatter_reduce(1, at, src, reduce, include_self=include_self)
        return made

    x, src = leaf([[2.5, 2.0, 7.0], [1.0, 8.0, 3.5]]), leaf([[1.0, 2.5, 3.0], [4.0, 5.0, 6.0]])
    by_hand = {"sum": sum, "prod": lambda v: ad.tensor(v).prod().item(), "amax": max, "amin": min}
    by_hand["mean"] = lambda v: sum(v) / len(v)
    for row in range(2):
        for column in range(3):
            put = [src[row, k].item() for k in range(3) if at[row, k] == column]
            own = [x[row, column].item()] if include_self or not put else []
            assert spread(x, src)[row, column].item() == pytest.approx(by_hand[reduce](own + put))
    assert ad.gradcheck(spread, (x, src)) and ad.gradgradcheck(spread, (x, src))
    with pytest.raises(TypeError, match="amax"):
        x.scatter_reduce(1, at, src, "median")


def test_modules_have_the_names_that_scripts_import() -> None:
    script = """
import sys
import autodiff
sys.modules["torch"] = autodiff
import torch
import torch.nn as nn
import torch.nn.functional as F
import autodiff.nn.functional
from torch import linalg
from torch.autograd import Function, grad
from torch.autograd.function import once_differentiable
from torch.autograd.functional import jacobian
from torch.autograd.graph import saved_tensors_hooks
from torch.func import jacrev, vmap
from torch.linalg import norm
from torch.nn.utils import clip_grad_norm_
from torch.special import expit
print(norm(torch.tensor([3.0, 4.0])), torch.linalg is linalg)
print(F.relu(torch.tensor(-1.0)), jacobian(torch.sin, torch.zeros(1)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8")
    assert done.stdout == "tensor(5.) True\ntensor(0.) tensor([[1.]])\n"


def test_hooks_of_leaves_run_in_order_as_soon_as_their_gradients_are_known() -> None:
    xs = [leaf(float(k)) for k in range(1, 5)]
    told: list[int] = []
    for k, x in enumerate(xs):
        x.register_hook(lambda g, k=k: told.append(k))
    y = xs[0] * xs[1]
    y.register_hook(lambda g: told.append(10))
    (y * xs[2] + xs[3]).backward()
    assert told == [3, 2, 10, 0, 1]
    (xs[2]).backward()
    assert told[5:] == [2]
    (xs[3] * xs[1]).exp().backward()
    assert told[6:] == [3, 1]


def test_the_class_of_tensors_makes_tensors() -> None:
    kind: Any = ad.Tensor
    assert kind([-4.0]).double().tolist() == [-4.0] and kind(2, 3).shape == (2, 3) and kind().shape == (0,)
    x = leaf([1.0])
    assert isinstance(x, kind) and not isinstance(1.0, kind) and issubclass(type(x), kind)
    assert type(x) == kind and kind == type(x) and hash(kind) == hash(type(x)) and kind != float  # noqa: E721
    assert (
        repr(kind) == repr(type(x))
        and kind.sum(x).tolist() == 1.0
        and not hasattr(kind, "sinus")
        and kind.shape.__get__(x) == (1,)
    )
