"""PyTorch's namespace of that name, as a module: `from autodiff.linalg import …` gives what `ad.linalg` has."""

from __future__ import annotations

import sys

from autodiff.tensors.autograd import linalg

sys.modules[__name__] = linalg  # type: ignore[assignment]
