"""PyTorch's namespace of that name, as a module: `from autodiff.autograd import …` gives `ad.autograd`."""

from __future__ import annotations

import sys

from autodiff.tensors import autograd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autodiff.tensors.autograd import *  # noqa: F403

sys.modules[__name__] = autograd
for _name in ("function", "functional", "graph"):
    sys.modules[f"{__name__}.{_name}"] = getattr(autograd, _name)
