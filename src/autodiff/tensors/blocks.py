"""A sweep over elementwise operations on arrays of one shape, as generated code that runs block by block.

Whole-array sweeps wait for memory: every cotangent is written to it and read back. In blocks that fit the cache
only the saved values are read and the results written. The code depends on the structure of the region alone and
is kept for the next sweep over the same structure.
"""

from __future__ import annotations

import math
from math import inf, nan
from operator import attrgetter

from autodiff.numeric import numpy
from autodiff.rules import compiled, partial_text
from autodiff.rules import number as number_text
from autodiff.tensors.buffers import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST = 400  # operations of a region
KEPT = 200  # structures whose code is kept

_known: dict[Any, Callable[..., Any]] = {}


def region(root: Any, shape: tuple[int, ...], needed: set[Any] | None) -> list[Any] | None:
    """All operations below the root, last recorded first, if each is elementwise on arrays of this shape."""
    seen = {root}
    found = [root]
    for fn in found:
        op = fn.op
        if fn.inputs is None or not op.elementwise or not op.differentiable or op.most is None or len(found) > MOST:
            return None
        if (fn.y if fn.y.__class__ is tuple else getattr(fn.y, "shape", ())) != shape:
            return None
        inputs = fn.inputs
        for k in range(0, len(inputs), 2):
            a, x = inputs[k], inputs[k + 1]
            if x.__class__ is float or x is None:
                if a is not None and a.op is not None and (needed is None or a in needed):
                    return None  # a number that was computed: its own operations are no part of this
                continue
            if (x if x.__class__ is tuple else x.shape) != shape:
                return None
            if a is not None and a.op is not None and a not in seen and (needed is None or a in needed):
                seen.add(a)
                found.append(a)
    found.sort(key=attrgetter("index"), reverse=True)
    return found


def swept(nodes: list[Any], g: Any, shape: tuple[int, ...], needed: set[Any] | None) -> dict[Any, Any]:
    """Cotangents of the leaves below a region whose first node has the cotangent g, an array or one number for all."""
    np = numpy()
    places = {fn: k for k, fn in enumerate(nodes)}
    uniform = g.__class__ is float or not any(g.strides)
    key: list[Any] = [uniform]
    arrays: list[Any] = []
    numbers: list[float] = []
    slots: dict[int, int] = {}
    leaves: dict[Any, int] = {}
    for fn in nodes:
        key.append(fn.op.name)
        inputs = fn.inputs
        for k in range(0, len(inputs), 2):
            a, x = inputs[k], inputs[k + 1]
            if a is None or (needed is not None and a not in needed):
                key.append(None)
            elif a in places:
                key.append(places[a])
            else:
                key.append(-1 - leaves.setdefault(a, len(leaves)))
            if x.__class__ is float and fn.op.name == "pow" and k and a is None:
                key.append(x)  # the code of a power depends on a constant exponent
            elif x.__class__ is float:
                key.append(float)
                numbers.append(x)
            elif x.__class__ is tuple or x is None:
                key.append(x is None)
            else:
                slot = slots.get(id(x))
                if slot is None:
                    slot = slots[id(x)] = len(arrays)
                    arrays.append(x.ravel())
                key.append((slot,))
        y = fn.y
        if y.__class__ is tuple:
            key.append(None)
        else:
            slot = slots.get(id(y))
            if slot is None:
                slot = slots[id(y)] = len(arrays)
                arrays.append(y.ravel())
            key.append((slot,))
    whole = tuple(key)
    run = _known.get(whole)
    if run is None:
        if len(_known) >= KEPT:
            _known.clear()
        calls = [(fn.op, len(fn.inputs) // 2) for fn in nodes]
        run = _known[whole] = _code(whole, len(leaves), len(arrays), calls)
    results: list[Any] = [None] * len(leaves)
    size = math.prod(shape)
    seed = g if g.__class__ is float else float(g.flat[0]) if uniform else g.ravel()
    found = run(seed, arrays, numbers, results, size, lambda: np.empty(size))
    return {a: r if r.__class__ is float else r.reshape(shape) for a, r in zip(leaves, found, strict=True)}


def _code(key: tuple[Any, ...], leaves: int, arrays: int, calls: list[tuple[Any, int]]) -> Callable[..., Any]:
    """The function of a structure."""
    names: dict[str, Any] = {"inf": inf, "nan": nan, "range": range, "min": min, "float": float}
    names |= {"shape": None, "number": None}  # operands that no rule reads: one that is called takes them all
    lines: list[str] = []
    have: dict[str, bool] = {"g0": False}  # cotangents so far, and whether each is an array of its own
    scalar: set[int] = set()
    at = 1
    number = 0
    for k, (op, count) in enumerate(calls):
        at += 1
        parents, xs = [], []
        for _ in range(count):
            parents.append(key[at])
            kind = key[at + 1]
            at += 2
            if kind is float:
                xs.append(f"n{number}")
                number += 1
            elif kind.__class__ is float:
                xs.append(number_text(kind))
            elif kind.__class__ is tuple:
                xs.append(f"a{kind[0]}")
            else:
                xs.append("number" if kind else "shape")
        y = f"a{key[at][0]}" if key[at] is not None else "shape"
        at += 1
        g = f"g{k}"
        for i, (parent, x) in enumerate(zip(parents, xs, strict=True)):
            if parent is None:
                continue
            constant = compiled(op, i, count, True).constant if op.name != "pow" else None
            if constant == 1.0:
                text, fresh = g, False
            elif constant == -1.0:
                text, fresh = f"-{g}", True
            else:
                text, fresh = f"{g} * {partial_text(op, i, y, xs, names, True)}", True
            if x[0] == "n":  # one number stands for all entries
                scalar.add(-1 - parent)
                lines.append(f"t = {text}")
                lines.append(f"s{-1 - parent} += float(t.sum()) if hasattr(t, 'shape') and t.shape else t * (hi - lo)")
                names["hasattr"] = hasattr
                continue
            target = f"g{parent}" if parent >= 0 else f"r{-1 - parent}"
            if target not in have:
                lines.append(f"{target} = {text}")
                have[target] = fresh
            elif have[target]:
                lines.append(f"{target} += {text}")
            else:
                lines.append(f"{target} = {target} + {text}")
                have[target] = True
    head = ["def run(g, A, N, R, size, empty):"]
    for k in range(number):
        head.append(f" n{k} = N[{k}]")
    for k in range(leaves):
        head.append(f" s{k} = 0.0" if k in scalar else f" R[{k}] = R{k} = empty()")
    head.append(f" for lo in range(0, size, {BLOCK}):")
    head.append(f"  hi = min(lo + {BLOCK}, size)")
    head.append("  g0 = g" if key[0] else "  g0 = g[lo:hi]")
    used = " ".join(lines)
    for k in range(arrays):
        if f"a{k}" in used:
            head.append(f"  a{k} = A[{k}][lo:hi]")
    tail = [f"  R{k}[lo:hi] = r{k}" for k in range(leaves) if k not in scalar]
    tail += [f" R[{k}] = s{k}" for k in sorted(scalar)]
    source = "\n".join([*head, *(f"  {line}" for line in lines), *tail, " return R", ""])
    exec(compile(source, "<sweep>", "exec"), names)
    return names["run"]  # type: ignore[no-any-return]
