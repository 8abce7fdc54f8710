"""Backward passes as people ask for them: into `.grad` of leaves, or as values."""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.dtypes import KindError
from autodiff.tensors.graph import GraphError, extras, has_extra, release
from autodiff.tensors.modes import enable_grad, no_grad, special
from autodiff.tensors.size import Size
from autodiff.tensors.sweep import Plan, careful, sweep
from autodiff.tensors.tensor import Tensor, full_like, raw_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def backward(
    outputs: Sequence[Tensor],
    seeds: Sequence[Any],
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add derivatives of the outputs, weighted by the seeds, to `.grad` of leaves (of `inputs` alone if given).

    >>> x = tensor(2.0, requires_grad=True)
    >>> backward([x * x, 3 * x], [None, tensor(10.0)])
    >>> x.grad
    tensor(34.)
    """
    if inputs is not None:
        wanted = [inputs] if inputs.__class__ is Tensor else list(inputs)
        if not wanted:
            raise GraphError("`inputs` argument to `backward()` cannot be empty")
        found = _swept(outputs, seeds, {x._fn for x in wanted if x._fn is not None}, retain_graph, create_graph)
        found = {x._fn: found[x._fn] for x in wanted if x._fn in found}
    else:
        found = _swept(outputs, seeds, None, retain_graph, create_graph)
    hooked = extras[0]
    for fn, g in found.items():
        if fn.op is not None:
            for x in wanted:
                if x._fn is fn:
                    x._kept = wrap(g)
            continue
        before = fn.grad
        if before is None:
            fn.grad = g
        elif create_graph or g.__class__ is Tensor:
            fn.grad = wrap(before) + g
        else:
            fn.grad = raw_of(before) + g
        if hooked and has_extra(fn):
            for hook in list(fn.extra.after.values()):
                hook((wrap(fn.grad),), (wrap(g),))
    release()


def _listed(given: Any, what: str) -> list[Tensor]:
    """A tensor or a sequence of tensors as a list."""
    if given.__class__ is Tensor:
        return [given]
    if isinstance(given, dict) or not hasattr(given, "__iter__"):
        raise KindError(f"{what} are a tensor or a sequence of tensors, not {type(given).__name__}")
    found = list(given)
    for x in found:
        if x.__class__ is not Tensor:
            raise KindError(f"{what} are tensors, not {type(x).__name__}", help="make one with tensor(…)")
    return found


def _swept(
    outputs: Sequence[Tensor],
    seeds: Sequence[Any],
    targets: set[Any] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> dict[Any, Any]:
    roots: list[Any] = []
    given = []
    for output, seed in zip(outputs, seeds, strict=True):
        if output.__class__ is not Tensor:
            raise KindError(f"backward wants tensors, not {type(output).__name__}")
        if output._fn is None:
            raise GraphError(
                f"element {len(roots)} of tensors does not require grad and does not have a grad_fn",
                help="make the inputs with requires_grad=True, and outside no_grad",
            )
        if seed is None:
            if output.numel() != 1:
                raise GraphError(
                    f"grad can be implicitly created only for scalar outputs, not for shape {output.shape}",
                    help="give gradient= (of the value's shape), or take sum()",
                )
            seed = full_like(output, 1.0)
        elif numeric.shape(raw_of(seed)) != output.shape:
            raise ShapeError(
                f"Mismatch in shape: grad_output[{len(roots)}] has a shape of {Size(numeric.shape(raw_of(seed)))} "
                f"and output[{len(roots)}] has a shape of {output.shape}"
            )
        roots.append(output._fn)
        given.append(seed if create_graph and seed.__class__ is Tensor else numeric.real(raw_of(seed)))
    keep = create_graph if retain_graph is None else retain_graph
    if not create_graph:
        if not special[0]:
            return sweep(roots, given, targets, keep, wrap)
        with no_grad():
            return sweep(roots, given, targets, keep, wrap)
    with enable_grad():
        return careful(Plan(roots, targets), roots, [wrap(seed) for seed in given], targets, wrap)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    only_inputs: bool = True,
    is_grads_batched: bool = False,
) -> tuple[Tensor | None, ...]:
    """The derivatives of the outputs (summed, weighted by grad_outputs) by each input, as a tuple; `.grad` stays.

    An input that the outputs do not depend on is a GraphError, None with `allow_unused`, zeros with
    `materialize_grads`; with `is_grads_batched` each row of grad_outputs gives a row of the results. With
    `create_graph` the result is recorded and can be differentiated again.

    >>> x = tensor(3.0, requires_grad=True)
    >>> (first,) = grad(x**3, x, create_graph=True)
    >>> grad(first, x)
    (tensor(18.),)
    """
    outs, ins = _listed(outputs, "outputs"), _listed(inputs, "inputs")
    if not ins:
        raise GraphError("`inputs` argument to `grad()` cannot be empty")
    if grad_outputs is None:
        seeds: list[Any] = [None] * len(outs)
    elif grad_outputs.__class__ is Tensor or not isinstance(grad_outputs, (list, tuple)):
        seeds = [grad_outputs]
    else:
        seeds = list(grad_outputs)
    if len(seeds) != len(outs):
        raise ShapeError(f"{len(outs)} outputs, but {len(seeds)} grad_outputs")
    for x in ins:
        if x._fn is None:
            raise GraphError(
                "One of the differentiated Tensors does not require grad", help="call requires_grad_() first"
            )
    if is_grads_batched:
        return _batched(outs, ins, seeds, retain_graph, create_graph, allow_unused, materialize_grads)
    found = _swept(outs, seeds, {x._fn for x in ins}, retain_graph, create_graph)
    results: list[Tensor | None] = []
    for k, x in enumerate(ins):
        g = found.get(x._fn)
        if g is None and materialize_grads:
            g = full_like(x, 0.0)
        if g is None and not allow_unused:
            raise GraphError(
                f"The differentiated Tensor at index {k} appears to not have been used in the graph",
                help="Set allow_unused=True if this is the desired behavior: it gives None",
            )
        results.append(None if g is None else wrap(g))
    return tuple(results)


def _batched(
    outs: list[Tensor], ins: list[Tensor], seeds: list[Any], retain_graph: bool | None, *options: Any
) -> tuple[Tensor | None, ...]:
    """The derivatives for each row of the seeds, as rows."""
    from autodiff.tensors.compose import run

    count = len(seeds[0])
    rows = [grad(outs, ins, [s[k] for s in seeds], k < count - 1 or retain_graph, *options) for k in range(count)]
    return tuple(None if row[0] is None else run("stack", *row, axis=0) for row in zip(*rows, strict=True))
