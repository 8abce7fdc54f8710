"""Tensors and what holds them, in files: by pickle, read back without running anybody's code."""

from __future__ import annotations

import pickle
from contextlib import nullcontext

from autodiff.errors import ComputationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class LoadError(ComputationError, pickle.UnpicklingError):
    """A file that holds other things than tensors, arrays, numbers, texts and containers of them."""

    kind = "load"


SAFE = {
    "autodiff.tensors.tensor": ("_rebuilt",),
    "collections": ("OrderedDict",),
    "numpy": ("dtype", "ndarray"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.numeric": ("_frombuffer",),
    "numpy.core.numeric": ("_frombuffer",),
    "builtins": ("set", "frozenset", "complex", "slice", "range", "bytearray"),
}
"""What a file may name."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in SAFE.get(module, ()):
            raise LoadError(f"the file names {module}.{name}, which is not loaded")
        return super().find_class(module, name)


def _opened(file: Any, how: str) -> Any:
    return nullcontext(file) if hasattr(file, "read" if how == "rb" else "write") else open(file, how)


def save(obj: Any, f: Any) -> None:
    """Write tensors (leaves), or containers of them, to a file: a path or an open one.

    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> save({"w": tensor([1.0, 2.0])}, file)
    >>> load(BytesIO(file.getvalue()))
    {'w': tensor([1., 2.])}
    """
    with _opened(f, "wb") as file:
        pickle.dump(obj, file, protocol=5)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """What `save` wrote. Files that name anything but tensors and plain containers are a LoadError.

    >>> from io import BytesIO
    >>> load(BytesIO(b"cos\\nsystem\\n."))
    Traceback (most recent call last):
    autodiff.tensors.saving.LoadError: the file names os.system, which is not loaded
    """
    with _opened(f, "rb") as file:
        try:
            return _Reader(file).load()
        except (pickle.UnpicklingError, EOFError) as error:
            if isinstance(error, LoadError):
                raise
            raise LoadError("the file is none that save() wrote") from None


__all__ = ["LoadError", "load", "save"]
