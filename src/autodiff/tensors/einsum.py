"""Sums of products of arrays over axes that they share, pair by pair by matrix products."""

from __future__ import annotations

from math import prod
from string import ascii_letters

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.compose import run, shape_of
from autodiff.tensors.shapes import movedim, permute, reshape
from autodiff.tensors.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products by Einstein's convention; `...` stands for axes that broadcast.

    >>> einsum("...ij,jk->...ik", tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if "..." not in equation:
        return _contracted(equation, *operands)
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ShapeError(f"einsum: {len(terms)} terms for {len(operands)} operands")
    counts = [
        len(shape_of(x)) - len(t.replace("...", "")) if "..." in t else 0 for t, x in zip(terms, operands, strict=True)
    ]
    names = "".join([c for c in ascii_letters if c not in equation][: max(counts)])
    if min(counts) < 0 or len(names) < max(counts):
        raise ShapeError(f"einsum: '{equation}' does not fit the operands' axes")
    if not arrow:
        joined = left.replace("...", "")
        out = "..." + "".join(sorted(c for c in set(joined) if c != "," and joined.count(c) == 1))
    longest: dict[str, int] = {}
    for term, x, count in zip(terms, operands, counts, strict=True):
        at = term.find("...")
        for name, n in zip(names[len(names) - count :], shape_of(x)[at : at + count] if count else (), strict=True):
            longest[name] = max(longest.get(name, 1), n)
    whole_ones, texts = [], []
    for term, x, count in zip(terms, operands, counts, strict=True):
        own = names[len(names) - count :] if count else ""
        at = term.find("...")
        sizes = list(shape_of(x))
        sizes[at : at + count] = [longest[name] for name in own] if count else sizes[at : at + count]
        whole_ones.append(run("broadcast", x, shape=tuple(sizes)) if tuple(sizes) != shape_of(x) else x)
        texts.append(term.replace("...", own))
    return _contracted(f"{','.join(texts)}->{out.replace('...', names)}", *whole_ones)


def _contracted(equation: str, *operands: Any) -> Tensor:
    """The sums of an equation that names every axis."""
    terms, out = _letters(equation, operands)
    x, s = operands[0], terms[0]
    for k in range(1, len(terms) + 1):
        rest = set(out).union(*terms[k:])
        x, s = _single(x, s, "".join(rest))
        if k < len(terms):
            later = "".join(set(out).union(*terms[k + 1 :]))
            y, t = _single(operands[k], terms[k], later + s)
            x, s = _pair(x, s, y, t, later)
    return permute(x, *(s.index(c) for c in out))


def _letters(text: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    parts, arrow, out = text.replace(" ", "").partition("->")
    terms = parts.split(",")
    if "." in text:
        raise ShapeError("einsum takes no '...' here", help="name every axis")
    if len(terms) != len(operands):
        raise ShapeError(f"einsum: {len(terms)} terms for {len(operands)} operands")
    for term, x in zip(terms, operands, strict=True):
        if len(term) != len(shape_of(x)):
            raise ShapeError(f"einsum: '{term}' for an array of {len(shape_of(x))} axes")
    if not arrow:
        joined = "".join(terms)
        out = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    if any(c not in parts for c in out) or len(set(out)) < len(out):
        raise ShapeError(f"einsum: '{out}' is no result of '{parts}'")
    return terms, out


def _single(x: Any, term: str, wanted: str) -> tuple[Any, str]:
    """Axes of one letter as one, and those summed that nothing else has."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            a = term.index(c)
            b = term.index(c, a + 1)
            x = movedim(movedim(x, a, 0), b, 1)
            x = run("index", x, index=(numeric.numpy().arange(shape_of(x)[0]),) * 2)
            term = c + "".join(letter for k, letter in enumerate(term) if k not in (a, b))
    gone = tuple(k for k, c in enumerate(term) if c not in wanted)
    if gone:
        x = run("sum", x, axis=gone)
    return x, "".join(c for c in term if c in wanted)


def _pair(x: Any, s: str, y: Any, t: str, wanted: str) -> tuple[Any, str]:
    """The product of two, summed over what they share and nobody wants, by one matrix product."""
    batch = [c for c in s if c in t and c in wanted]
    inner = [c for c in s if c in t and c not in wanted]
    left, right = [c for c in s if c not in t], [c for c in t if c not in s]
    size = {**dict(zip(s, shape_of(x), strict=True)), **dict(zip(t, shape_of(y), strict=True))}
    for c, n in zip(s, shape_of(x), strict=True):
        if size[c] != n:
            raise ShapeError(f"einsum: '{c}' is {n} and {size[c]} long")

    def long(letters: list[str]) -> int:
        return prod(size[c] for c in letters)

    a = reshape(permute(x, *(s.index(c) for c in batch + left + inner)), long(batch), long(left), long(inner))
    b = reshape(permute(y, *(t.index(c) for c in batch + inner + right)), long(batch), long(inner), long(right))
    out = batch + left + right
    return reshape(run("matmul", a, b), *(size[c] for c in out)), "".join(out)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Tensor:
    """Sum over the last axes of a and the first of b, or over two lists of axes.

    >>> tensordot(tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0, 3.0]), 1)
    tensor(14.)
    """
    m, n = len(shape_of(a)), len(shape_of(b))
    if isinstance(dims, int):
        dims = (range(m - dims, m), range(dims))
    left = [chr(97 + k) for k in range(m)]
    right = [chr(65 + k) for k in range(n)]
    for i, j in zip(*dims, strict=True):
        right[j] = left[i]
    out = [c for c in left if c not in right] + [c for c in right if c not in left]
    return einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", a, b)
