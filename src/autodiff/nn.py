"""PyTorch's namespace of that name, as a module: `import autodiff.nn.functional as F`."""

from __future__ import annotations

import sys

from autodiff.tensors.autograd import nn

sys.modules[__name__] = nn  # type: ignore[assignment]
for _name in ("functional", "utils"):
    sys.modules[f"{__name__}.{_name}"] = getattr(nn, _name)
