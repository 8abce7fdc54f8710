"""Random tensors: the Mersenne twister, drawn in PyTorch's order, so that a seed gives the same numbers."""

from __future__ import annotations

import math
from math import prod

from autodiff import numeric
from autodiff.errors import ComputationError
from autodiff.tensors.dtypes import cast, is_double
from autodiff.tensors.tensor import Tensor, raw_of, tensor, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHORT = 16  # from this many normal numbers on they are made in pairs eight apart


class Generator:
    """A stream of random numbers; `manual_seed` begins it anew.

    >>> rand(2, generator=Generator().manual_seed(0))
    tensor([0.4963, 0.7682])
    """

    def __init__(self, device: Any = None) -> None:
        self._seed = 67280421310721
        self._state: Any = None
        self._kept: float | None = None

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream of this seed."""
        self._seed = int(seed)
        self._state = self._kept = None
        return self

    def initial_seed(self) -> int:
        """The seed the stream began with."""
        return self._seed

    def seed(self) -> int:
        """Begin the stream of a seed taken from the system, which is returned."""
        from os import urandom

        return self.manual_seed(int.from_bytes(urandom(4), "little")).initial_seed()

    def words(self, count: int) -> Any:
        """The next 32-bit words, as an array of integers."""
        np = numeric.numpy()
        if self._state is None:
            self._state = np.random.RandomState(self._seed & 0xFFFFFFFF)
        return self._state.randint(0, 2**32, size=count, dtype=np.uint32).astype(np.uint64)

    def uniform(self, count: int, double: bool) -> Any:
        """Numbers in [0, 1): of 24 random bits, or of 53 if `double`."""
        if not double:
            return (self.words(count) & 0xFFFFFF) / 2.0**24
        pairs = self.words(2 * count)
        return (((pairs[::2] << 32) | pairs[1::2]) & (2**53 - 1)) / 2.0**53

    def normal(self, count: int, double: bool) -> Any:
        """Normal numbers by Box and Muller."""
        np = numeric.numpy()
        if count < SHORT:
            return np.array([self._one() for _ in range(count)], dtype=float)
        data = self.uniform(count, double)
        whole = count - count % SHORT
        found = _pairs(data[:whole])
        if whole < count:
            found = np.concatenate([found[: count - SHORT], _pairs(self.uniform(SHORT, double))])
        return found

    def _one(self) -> float:
        if self._kept is not None:
            found, self._kept = self._kept, None
            return found
        u, v = self.uniform(2, True).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-v))
        self._kept = radius * math.sin(2.0 * math.pi * u)
        return radius * math.cos(2.0 * math.pi * u)


def _pairs(data: Any) -> Any:
    np = numeric.numpy()
    u, v = np.moveaxis(data.reshape(-1, 2, SHORT // 2), 1, 0)
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - u)), 2.0 * math.pi * v
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Begin the common stream of random numbers at a seed.

    >>> _ = manual_seed(0)
    >>> randint(10, (3,))
    tensor([4, 9, 3])
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begin the common stream at a seed from the system.

    >>> seed() == initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the common stream.

    >>> _ = manual_seed(7)
    >>> initial_seed()
    7
    """
    return default_generator.initial_seed()


def _sizes(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    return numeric.guard_size(tuple(int(n) for n in flat))


def _made(values: Any, sizes: tuple[int, ...], requires_grad: bool = False) -> Tensor:
    return tensor(numeric.raw(values.reshape(sizes)), requires_grad=requires_grad)


def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform numbers in [0, 1), of sizes or of a tuple of them.

    >>> _ = manual_seed(0)
    >>> rand(2)
    tensor([0.4963, 0.7682])
    """
    sizes = _sizes(size)
    return _made((generator or default_generator).uniform(prod(sizes), is_double(dtype)), sizes, requires_grad)


def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of mean 0 and deviation 1, of sizes or of a tuple of them.

    >>> _ = manual_seed(0)
    >>> randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    sizes = _sizes(size)
    return _made((generator or default_generator).normal(prod(sizes), is_double(dtype)), sizes, requires_grad)


def rand_like(x: Any, **options: Any) -> Tensor:
    """Uniform numbers in the shape of another tensor.

    >>> rand_like(tensor([1.0, 2.0])).shape
    torch.Size([2])
    """
    return rand(numeric.shape(raw_of(x)), **options)


def randn_like(x: Any, **options: Any) -> Tensor:
    """Normal numbers in the shape of another tensor.

    >>> randn_like(tensor([1.0, 2.0])).shape
    torch.Size([2])
    """
    return randn(numeric.shape(raw_of(x)), **options)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """Whole numbers from low (0 if not given) to below high.

    >>> _ = manual_seed(0)
    >>> randint(0, 10, (3,))
    tensor([4, 9, 3])
    """
    if size is None:
        low, high, size = 0, low, high
    if size is None or not int(high) > int(low):
        raise ComputationError(
            "randint wants a range and a size: randint(0, 10, (3,))", help="high must be above low, size a tuple"
        )
    sizes = _sizes((tuple(size),))
    values = (generator or default_generator).words(prod(sizes)) % (int(high) - int(low))
    return wrap(cast(values.astype("int64").reshape(sizes) + int(low), dtype))


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None) -> Tensor:
    """The numbers 0 … n-1 in random order.

    >>> _ = manual_seed(0)
    >>> randperm(4)
    tensor([0, 1, 3, 2])
    """
    np = numeric.numpy()
    order = np.arange(n)
    for k, word in enumerate((generator or default_generator).words(max(n - 1, 0)).tolist()):
        at = k + word % (n - k)
        order[k], order[at] = order[at], order[k]
    return wrap(cast(order, dtype))


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None) -> Any:
    """Normal numbers of the mean and deviation given, of a size or of theirs.

    >>> normal(0.0, 1.0, (2, 3)).shape
    torch.Size([2, 3])
    """
    if size is None:
        size = numeric.shape(raw_of(mean)) or numeric.shape(raw_of(std))
    return randn(size, generator=generator) * std + mean


def bernoulli(p: Any, *, generator: Generator | None = None) -> Tensor:
    """1 with probability p, else 0, entry by entry.

    >>> _ = manual_seed(0)
    >>> bernoulli(tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    np = numeric.numpy()
    chance = np.asarray(raw_of(p), dtype=float)
    drawn = (generator or default_generator).uniform(chance.size, False).reshape(chance.shape)
    return wrap(numeric.raw((drawn < chance).astype(float)))


def _filled_with(x: Tensor, values: Any, name: str) -> Tensor:
    return x._rebind(wrap(numeric.raw(values.reshape(x.shape))), name)


def uniform_(x: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Uniform numbers in [a, b), in place.

    >>> uniform_(tensor([0.0, 0.0]), 2.0, 2.0)
    tensor([2., 2.])
    """
    return _filled_with(
        x, (generator or default_generator).uniform(x.numel(), is_double(None)) * (b - a) + a, "uniform_"
    )


def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Normal numbers, in place.

    >>> normal_(tensor([0.0, 0.0]), 5.0, 0.0)
    tensor([5., 5.])
    """
    return _filled_with(x, (generator or default_generator).normal(x.numel(), is_double(None)) * std + mean, "normal_")


__all__ = [
    "Generator", "bernoulli", "default_generator", "initial_seed", "manual_seed", "normal",
    "normal_", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "seed", "uniform_",
]  # fmt: skip
