"""Differentiation of expressions, at the command line and in Python.

`import autodiff as ad` gives tensors with PyTorch's vocabulary (`ad.tensor`, `ad.grad`, `ad.no_grad`, `ad.sin` …),
functions of functions (`ad.func`), and compiled expressions (`ad.compile`). Nothing is imported before it is used.
"""

from __future__ import annotations

__version__ = "0.1.0"
newaxis = preserve_format = contiguous_format = strided = None  # read nowhere: there is one way to keep an array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from autodiff.expression import At as At
    from autodiff.expression import Expression as Expression
    from autodiff.expression import compile as compile
    from autodiff.tensors import autograd as autograd
    from autodiff.tensors import func as func
    from autodiff.tensors.autograd import cuda as cuda
    from autodiff.tensors.autograd import linalg as linalg
    from autodiff.tensors.autograd import nn as nn
    from autodiff.tensors.autograd import special as special
    from autodiff.tensors.autograd import utils as utils
    from autodiff.tensors.backward import backward as backward
    from autodiff.tensors.backward import grad as grad
    from autodiff.tensors.dtypes import device as device
    from autodiff.tensors.dtypes import finfo as finfo
    from autodiff.tensors.dtypes import get_default_dtype as get_default_dtype
    from autodiff.tensors.dtypes import iinfo as iinfo
    from autodiff.tensors.dtypes import set_default_dtype as set_default_dtype
    from autodiff.tensors.func import gradcheck as gradcheck
    from autodiff.tensors.func import gradgradcheck as gradgradcheck
    from autodiff.tensors.func import vmap as vmap
    from autodiff.tensors.function import Function as Function
    from autodiff.tensors.functional import batch_norm as batch_norm
    from autodiff.tensors.functional import celu as celu
    from autodiff.tensors.functional import cosine_similarity as cosine_similarity
    from autodiff.tensors.functional import dropout as dropout
    from autodiff.tensors.functional import embedding as embedding
    from autodiff.tensors.functional import hardshrink as hardshrink
    from autodiff.tensors.functional import layer_norm as layer_norm
    from autodiff.tensors.functional import pairwise_distance as pairwise_distance
    from autodiff.tensors.functional import threshold as threshold
    from autodiff.tensors.graph import GraphError as GraphError
    from autodiff.tensors.modes import detect_anomaly as detect_anomaly
    from autodiff.tensors.modes import enable_grad as enable_grad
    from autodiff.tensors.modes import inference_mode as inference_mode
    from autodiff.tensors.modes import is_anomaly_enabled as is_anomaly_enabled
    from autodiff.tensors.modes import is_grad_enabled as is_grad_enabled
    from autodiff.tensors.modes import no_grad as no_grad
    from autodiff.tensors.modes import set_detect_anomaly as set_detect_anomaly
    from autodiff.tensors.modes import set_grad_enabled as set_grad_enabled
    from autodiff.tensors.printing import set_printoptions as set_printoptions
    from autodiff.tensors.random import Generator as Generator
    from autodiff.tensors.random import bernoulli as bernoulli
    from autodiff.tensors.random import initial_seed as initial_seed
    from autodiff.tensors.random import manual_seed as manual_seed
    from autodiff.tensors.random import normal as normal
    from autodiff.tensors.random import rand as rand
    from autodiff.tensors.random import rand_like as rand_like
    from autodiff.tensors.random import randint as randint
    from autodiff.tensors.random import randn as randn
    from autodiff.tensors.random import randn_like as randn_like
    from autodiff.tensors.random import randperm as randperm
    from autodiff.tensors.random import seed as seed
    from autodiff.tensors.saving import load as load
    from autodiff.tensors.saving import save as save
    from autodiff.tensors.size import Size as Size
    from autodiff.tensors.tensor import Tensor as Tensor
    from autodiff.tensors.tensor import tensor as tensor

HOMES = {
    "tensors.tensor": ("tensor",),
    "tensors.backward": ("backward", "grad"),
    "tensors.modes": (
        "no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled", "detect_anomaly", "set_detect_anomaly",
        "inference_mode", "is_anomaly_enabled",
    ),
    "tensors.graph": ("GraphError",),
    "tensors.function": ("Function",),
    "tensors.func": ("gradcheck", "gradgradcheck", "vmap"),
    "tensors.dtypes": ("device", "finfo", "iinfo", "set_default_dtype", "get_default_dtype"),
    "tensors.random": (
        "Generator", "manual_seed", "seed", "initial_seed", "rand", "randn", "rand_like", "randn_like", "randint",
        "randperm", "normal", "bernoulli",
    ),
    "tensors.autograd": ("linalg", "nn", "utils", "cuda", "special"),
    "expression": ("At", "Expression", "compile"),
    "tensors.functional": (
        "batch_norm", "celu", "cosine_similarity", "dropout", "embedding", "hardshrink", "layer_norm",
        "pairwise_distance", "threshold",
    ),
    "tensors.size": ("Size",),
    "tensors.saving": ("load", "save"),
    "tensors.printing": ("set_printoptions",),
}  # fmt: skip
MODULES = {"func": "func", "autograd": "autograd"}
DTYPES = (
    "float64", "double", "float32", "float", "float16", "half", "bfloat16", "int64", "long", "int32", "int", "bool",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in HOMES.items():
        if name in names:
            found = getattr(import_module(f"autodiff.{home}"), name)
            break
    else:
        if name == "Tensor":
            found = import_module("autodiff.tensors.create").Named
        elif name in MODULES:
            found = import_module(f"autodiff.tensors.{MODULES[name]}")
        elif name in DTYPES:
            found = import_module("autodiff.tensors.dtypes").DTYPES[name]
        elif name[:1] == "_" or _is_submodule(name):
            raise AttributeError(f"module 'autodiff' has no attribute '{name}'")
        else:
            from autodiff.tensors.namespace import in_place, named

            found = named(name) or in_place(name)
            if found is None:
                from autodiff.names import CONSTANTS

                if name not in CONSTANTS:
                    raise AttributeError(_missing(name))
                found = CONSTANTS[name]
    globals()[name] = found
    return found


def _missing(name: str) -> str:
    """What to say of a name that is not there."""
    said = f"module 'autodiff' has no attribute '{name}'"
    if name in ("optim", "Module", "Linear"):
        return f"{said}: there are no layers and optimizers; change leaves with `with no_grad(): w -= rate * w.grad`"
    from difflib import get_close_matches

    near = get_close_matches(name, __dir__(), 1)
    return f"{said}; did you mean '{near[0]}'?" if near else said


def _is_submodule(name: str) -> bool:
    """Whether `from autodiff import name` means a module of the package, which the import system will fetch."""
    from os.path import exists, join

    # not any(): the op of that name may have taken its place in this module
    for path in __path__:  # noqa: SIM110
        if exists(join(path, f"{name}.py")) or exists(join(path, name, "__init__.py")):
            return True
    return False


def __dir__() -> list[str]:
    from autodiff.tensors.namespace import public

    return sorted(
        {"__version__", "Tensor", *MODULES, *DTYPES, *(name for names in HOMES.values() for name in names), *public()}
    )
