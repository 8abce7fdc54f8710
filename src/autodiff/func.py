"""Functions of functions, as a module: `from autodiff.func import …` gives `ad.func`."""

from __future__ import annotations

import sys

from autodiff.tensors import func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autodiff.tensors.func import *  # noqa: F403

sys.modules[__name__] = func
