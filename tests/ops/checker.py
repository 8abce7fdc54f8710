"""The checker: value, first and second derivatives of one row at one point, against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

from autodiff import numeric
from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.tape import Node, Tape, backward, value_of

EPS = 2.0**-52
STEP = mp.mpf(10) ** -25  # of central differences, relative to each entry: errors are of its square
AT_ZERO = mp.mpf(10) ** -170  # the step where the entry is 0
SMALLEST = 5e-324
LARGEST = mp.mpf("1.797693134862315e308")


def digits(entries: Sequence[float], exponential: bool = True) -> int:
    """Enough that central differences keep 50 digits however far the entries and their exponentials are apart."""
    sizes = [abs(math.log10(abs(x))) for x in entries if x and math.isfinite(x)]
    tails = 700 if exponential and any(6.0 < abs(x) < 1500.0 for x in entries) else 0
    zeros = 700 if any(x == 0.0 for x in entries) else 0
    return 170 + int(3.5 * sum(sizes)) + tails + zeros


def flat(x: Any) -> list[Any]:
    return list(np.ravel(np.asarray(x, dtype=object)))


def quotient(terms: list[Any], step: Any) -> Any:
    """The sum over the step; 0 where nothing but rounding is left."""
    total = mp.fsum(terms)
    return total / step if abs(total) > 1000 * mp.eps * max(map(abs, terms)) else mp.mpf(0)


class Exact:
    """The row's value in mpmath, as a function of its varied entries, with differences of any order."""

    def __init__(self, value: Callable[..., Any], xs: Sequence[Any], varied: Sequence[int], params: dict[str, Any]):
        self.value, self.xs, self.params = value, xs, params
        self.places = [(i, k) for i in varied for k in range(np.size(xs[i]))]
        self.entries = [float(np.ravel(xs[i])[k]) for i, k in self.places]
        self.known: dict[Any, list[Any]] = {}
        least = min([1, *(abs(mp.mpf(float(v))) for x in xs for v in np.ravel(x) if v)])
        self.steps = [STEP * min(abs(mp.mpf(x)), 1) if x else AT_ZERO * least for x in self.entries]

    def at(self, moves: dict[int, int], scale: dict[int, Any] | None = None) -> list[Any]:
        """All outputs with entries moved by whole steps (and scaled)."""
        key = (tuple(sorted((k, m) for k, m in moves.items() if m)), repr(scale))
        if key not in self.known:
            xs: list[Any] = [
                np.array([mp.mpf(v) for v in np.ravel(x)], dtype=object).reshape(np.shape(x))
                if np.ndim(x)
                else mp.mpf(x)
                for x in self.xs
            ]
            for e, (i, k) in enumerate(self.places):
                old = mp.mpf(self.entries[e])
                new = old * (scale or {}).get(e, 1) + moves.get(e, 0) * self.steps[e]
                if np.ndim(xs[i]):
                    xs[i].reshape(-1)[k] = new
                else:
                    xs[i] = new
            self.known[key] = flat(self.value(*xs, **self.params))
        return self.known[key]

    def first(self, e: int, scale: Any = None) -> list[Any]:
        up, down = self.at({e: 1}, scale), self.at({e: -1}, scale)
        return [quotient([a, -b], 2 * self.steps[e]) for a, b in zip(up, down, strict=True)]

    def second(self, e: int, f: int, scale: Any = None) -> list[Any]:
        h, k = self.steps[e], self.steps[f]
        if e == f:
            rows = zip(self.at({e: 1}, scale), self.at({}, scale), self.at({e: -1}, scale), strict=True)
            return [quotient([a, -2 * b, c], h * h) for a, b, c in rows]
        corners = [self.at({e: s, f: t}, scale) for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
        return [quotient([a, -b, -c, d], 4 * h * k) for a, b, c, d in zip(*corners, strict=True)]

    def sensitivity(self, quantity: Callable[[Any], list[Any]], o: int) -> Any:
        """Condition times size: the sum over entries of |x ∂q/∂x|, for output o of a quantity of scaled entries."""
        base = quantity(None)[o]
        tiny = mp.mpf(10) ** -20
        return mp.fsum(abs(quantity({e: 1 + tiny})[o] - base) / tiny for e, x in enumerate(self.entries) if x)


def derivatives(row: Op, xs: Sequence[Any], varied: Sequence[int], params: dict[str, Any]) -> Any:
    """Outputs, Jacobian [output][entry] and Hessians [output][entry][entry] by the tape, all as lists of floats."""
    tape = Tape()
    operands = [tape.leaf(x) if i in varied else x for i, x in enumerate(xs)]
    leaves = [operands[i] for i in varied]
    y = row(*operands, **params)
    outputs = flat(value_of(y))
    shape = numeric.shape(value_of(y))
    jacobian, hessians = [], []
    for o in range(len(outputs)):
        seed: Any = 1.0
        if shape:
            seed = np.zeros(shape)
            seed.reshape(-1)[o] = 1.0
        gradient = backward(y, seed, leaves, record=True) if isinstance(y, Node) else [None] * len(leaves)
        line: list[Any] = []
        block: list[Any] = []
        for leaf, g in zip(leaves, gradient, strict=True):
            g = 0.0 * leaf.value if g is None else g
            line += flat(value_of(g))
            for k in range(np.size(leaf.value)):
                again: Any = 1.0
                if leaf.shape:
                    again = np.zeros(leaf.shape)
                    again.reshape(-1)[k] = 1.0
                found = backward(g, again, leaves) if isinstance(g, Node) else [None] * len(leaves)
                block.append(
                    [
                        v
                        for other, h in zip(leaves, found, strict=True)
                        for v in flat(0.0 * other.value if h is None else h)
                    ]
                )
        jacobian.append(line)
        hessians.append(block)
    return outputs, jacobian, hessians


def close(got: float, exact: Any, factor: float, sensitivity: Callable[[], Any]) -> bool:
    """|got - exact| <= factor eps (1 + condition) |exact|, where float64 has such a number."""
    if got != got:
        return False
    if abs(exact) > LARGEST:
        return abs(got) > 1.79e308 and (got > 0) == (exact > 0)
    if math.isinf(got):
        return False
    if abs(exact) < mp.mpf("1e-320") and abs(got) < 1e-319:
        return True
    error = abs(mp.mpf(float(got)) - exact)
    bound = factor * EPS * abs(exact) + 16 * SMALLEST
    return bool(error <= bound or error <= bound + factor * EPS * sensitivity())


def complaints(
    row: Op,
    value: Callable[..., Any],
    xs: Sequence[Any],
    varied: Sequence[int] | None = None,
    params: dict[str, Any] | None = None,
    order: int = 2,
    exponential: bool = True,
    normwise: bool = False,
) -> list[str]:
    """What is wrong with the row at the point xs; by default it varies in every operand."""
    params = params or {}
    xs = [np.array(x, float) if isinstance(x, list) else x for x in xs]
    varied = range(len(xs)) if varied is None else varied
    found: list[str] = []
    with np.errstate(all="ignore"):
        outputs, jacobian, hessians = derivatives(row, xs, varied, params)

    def look(what: str, got: Any, exact: Any, factor: float, quantity: Callable[[Any], list[Any]], o: int) -> None:
        if not close(float(got), exact, factor, lambda: reference.sensitivity(quantity, o) + size):
            at = ", ".join(str(np.asarray(x).tolist()) for x in xs)
            found.append(f"{row.name}({at}) {params or ''} {what}: {float(got)!r}, not {mp.nstr(exact, 17)}")

    everything = [float(v) for x in xs for v in np.ravel(x)]
    with mp.workdps(digits(everything, exponential)):
        reference = Exact(value, xs, varied, params)
        n = range(len(reference.entries))
        plain = reference.at({})
        size = max(map(abs, plain), default=0) if normwise else 0  # matrices are right as a whole
        if len(plain) != len(outputs):
            return [f"{row.name}: {len(outputs)} entries, not {len(plain)}"]
        for o, exact in enumerate(plain):
            look(f"value[{o}]", outputs[o], exact, 16, lambda s: reference.at({}, s), o)
            for e in n:
                if not order:
                    break
                look(f"d{e}[{o}]", jacobian[o][e], reference.first(e)[o], 16, lambda s, e=e: reference.first(e, s), o)
                for f in n if order > 1 else ():
                    got = hessians[o][e][f]
                    exact2 = reference.second(e, f)[o]
                    look(f"d{e}d{f}[{o}]", got, exact2, 128, lambda s, e=e, f=f: reference.second(e, f, s), o)
    return found


__all__ = ["OPS", "complaints", "derivatives"]
