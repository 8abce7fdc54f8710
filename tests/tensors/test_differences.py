"""Where the library deliberately differs from PyTorch, both columns run; the README shows the list (`differences`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff as ad


class Difference(NamedTuple):
    """An expression, what it gives here and in torch, and why."""

    text: str
    ours: str
    torch: str
    reason: str


def graph_after(torch: Any, change: str) -> Any:
    """The gradient of exp or a square of x after a change in place."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = {"data": x * x, "itself": 3 * x}.get(change, x.sigmoid())
    if change == "data":
        x.data.mul_(2)
        y.sum().backward()
    elif change == "itself":
        y.mul_(y)
        y.sum().backward()
    else:
        y.mul_(0.0)
        y.sum().backward()
    return x.grad


def twice(torch: Any) -> Any:
    """The gradient after two backward passes through what saved nothing."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x + 1
    y.backward()
    y.backward()
    return x.grad


def edges_afterwards(torch: Any) -> Any:
    """How many operands a node knows of after a backward pass."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x * x
    y.backward()
    return len(y.grad_fn.next_functions)


def root_times_zero(torch: Any) -> Any:
    """The gradient of a root that is not used, where its slope is infinite."""
    x = torch.tensor(0.0, requires_grad=True)
    (x.sqrt() * 0).backward()
    return x.grad


def shared_array(torch: Any) -> Any:
    """What a tensor of an array of short floats shows after the array was changed."""
    array = np.ones(2, np.float32)
    x = torch.from_numpy(array)
    array[0] = 5
    return x


def gradient_kept(torch: Any) -> Any:
    """What a name for x.grad shows after a second backward."""
    x = torch.tensor(1.0, requires_grad=True)
    (2 * x).backward()
    g = x.grad
    (2 * x).backward()
    return g


DIFFERENCES = [
    Difference(
        "torch.tensor(0.1).dtype", "torch.float64", "torch.float32", "one kind of fraction: derivatives to 16 digits"
    ),
    Difference(
        "torch.tensor(0.1, dtype=torch.float32).item()",
        "0.1",
        "0.10000000149011612",
        "a shorter kind may be asked for; it is float64",
    ),
    Difference(
        "torch.tensor([1, 2])",
        "tensor([1., 2.])",
        "tensor([1, 2])",
        "data can require a gradient as it stands; `dtype=int` gives whole numbers",
    ),
    Difference(
        "torch.tensor([1, 2], requires_grad=True)",
        "tensor([1., 2.], requires_grad=True)",
        "RuntimeError",
        "as above",
    ),
    Difference("torch.arange(3)", "tensor([0., 1., 2.])", "tensor([0, 1, 2])", "as above; it serves as an index too"),
    Difference("(torch.ones(3) > 0).sum()", "tensor(3.)", "tensor(3)", "counts are numbers to compute with"),
    Difference(
        "tuple(torch.zeros(2, 3, 4)[0, :, [1, 3]].shape)",
        "(2, 3)",
        "(3, 2)",
        "a number among index arrays counts as one, as in NumPy",
    ),
    Difference(
        "graph_after(torch, 'data')",
        "GraphError",
        "tensor([4., 8.])",
        "`y = x*x; x.data.mul_(2); y.sum().backward()`: a silently wrong derivative there",
    ),
    Difference(
        "graph_after(torch, 'result')",
        "tensor([0., 0.])",
        "RuntimeError",
        "`y = x.sigmoid(); y.mul_(0.0)`: the rule here reads x, which was not changed",
    ),
    Difference(
        "graph_after(torch, 'itself')",
        "tensor([18., 36.])",
        "RuntimeError",
        "`y = 3*x; y.mul_(y)`: an operation in place reads its operands as they were",
    ),
    Difference(
        "gradient_kept(torch)",
        "tensor(2.)",
        "tensor(4.)",
        "`g = x.grad` before a second backward: x.grad is a new tensor after each",
    ),
    Difference(
        "twice(torch)",
        "GraphError",
        "tensor(2.)",
        "`y = x + 1; y.backward(); y.backward()`: a graph is freed whether or not values were saved in it",
    ),
    Difference(
        "edges_afterwards(torch)",
        "0",
        "2",
        "`y = x*x; y.backward(); len(y.grad_fn.next_functions)`: a freed graph is let go of",
    ),
    Difference(
        "root_times_zero(torch)",
        "tensor(0.)",
        "tensor(nan)",
        "`x = torch.tensor(0.0, requires_grad=True); (x.sqrt() * 0).backward()`: what no cotangent reaches gets none",
    ),
    Difference(
        "shared_array(torch)",
        "tensor([1., 1.])",
        "tensor([5., 1.])",
        "`x = torch.from_numpy(array); array[0] = 5`, of float32: only arrays of float64 are shared",
    ),
    Difference(
        "torch.trapezoid(torch.ones(2, requires_grad=True)).grad_fn.name()",
        "SumBackward1",
        "MulBackward1",
        "what is made of several operations bears the name of the last",
    ),
    Difference(
        "torch.linalg.cholesky(torch.tensor([[4.0, 1.0], [2.0, 3.0]]))[1, 0]",
        "tensor(0.7500)",
        "tensor(1.)",
        "the symmetric part is read, so that gradients are symmetric",
    ),
]


def shown(torch: Any, text: str) -> str:
    """What the expression gives under a library, or the name of the error that it raises."""
    names = {
        f.__name__: f for f in (edges_afterwards, graph_after, gradient_kept, root_times_zero, shared_array, twice)
    }
    try:
        return str(eval(text, {"torch": torch, **names}))
    except RuntimeError as error:
        return type(error).__name__


def differences() -> str:
    """The list as a table."""
    rows = ["| | here | torch | why |", "| --- | --- | --- | --- |"]
    for case in DIFFERENCES:
        text, why = case.text, case.reason
        if why.startswith("`"):  # the steps of a function, in short
            text, _, why = why.partition(": ")
            text = text.replace("`", "")
        rows.append(f"| `{text}` | `{case.ours}` | `{case.torch}` | {why} |")
    return "\n".join(rows)


@pytest.mark.parametrize("case", DIFFERENCES, ids=[case.text for case in DIFFERENCES])
def test_here(case: Difference) -> None:
    assert shown(ad, case.text) == case.ours != case.torch


@pytest.mark.parametrize("case", DIFFERENCES, ids=[case.text for case in DIFFERENCES])
def test_in_torch(case: Difference) -> None:
    assert shown(pytest.importorskip("torch"), case.text) == case.torch
