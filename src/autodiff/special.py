"""PyTorch's namespace of that name, as a module: `from autodiff.special import …` gives what `ad.special` has."""

from __future__ import annotations

import sys

from autodiff.tensors.autograd import special

sys.modules[__name__] = special  # type: ignore[assignment]
