"""Program and point to value, derivatives and notes: the one place that strings the steps together."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import NameProblem, Note, RequestError, ShapeError
from autodiff.job import Job, Outcome, Settings, agree, apart
from autodiff.names import check_inputs, suggestion
from autodiff.ops import OPS
from autodiff.tape import Node, backward, generic_like, value_of, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from autodiff.job import Point
    from autodiff.parse.program import Program


def _quick(program: Program, point: Point, wrt: Sequence[str], settings: Settings) -> Outcome | None:
    """Value and gradient of a program that repeats itself by generated code; None where that does not serve."""
    if not program.repeats or settings.convention:
        return None
    from autodiff.roads import Roads

    answer = Roads(program).of_numbers(point, tuple(wrt), settings.max_ops)
    if answer is None:
        return None
    found, gradient = answer
    out = Outcome(program, found)
    out.gradient = dict(zip(wrt, gradient, strict=True))
    out.notes = [Note("unused", f"nothing uses '{name}'", span) for name, span in program.unused]
    return out


def value(program: Program, point: Point, settings: Settings | None = None) -> Outcome:
    """The value alone."""
    settings = settings or Settings()
    quick = _quick(program, point, (), settings)
    if quick is not None:
        quick.gradient = None
        return quick
    return Job(program, point, (), settings).outcome()


def _segmented(program: Program, point: Point, wrt: Sequence[str], settings: Settings, length: int) -> Outcome:
    """Value and gradient in less memory, by running twice."""
    from autodiff.segments import Segments

    check_inputs(program, point, wrt)
    segments = Segments(program, point, settings.max_ops, length)
    out = Outcome(program, segments.value)
    out.gradient, notes = segments.gradient(wrt, settings.convention)
    if not all(map(numeric.is_finite, (out.value, *out.gradient.values()))):
        notes.append(Note("nonfinite", "the answer is not finite; without --checkpoint a note says where it became so"))
    out.notes = [Note("unused", f"nothing uses '{name}'", span) for name, span in program.unused] + notes
    return out


@numeric.quietly
def gradient(program: Program, point: Point, wrt: Sequence[str], settings: Settings | None = None) -> Outcome:
    """Value and gradient of one number: one sweep."""
    settings = settings or Settings()
    if settings.checkpoint is not None and not program.differentiated:
        return _segmented(program, point, wrt, settings, settings.checkpoint)
    quick = _quick(program, point, wrt, settings)
    if quick is not None:
        return quick
    job = Job(program, point, wrt, settings)
    job.scalar("grad")
    found = job.settle(job.root, 1.0, job.sweep(job.root, 1.0))
    out = job.outcome()
    out.gradient = found
    return out


def vjp(
    program: Program, point: Point, wrt: Sequence[str], cotangent: Any, settings: Settings | None = None
) -> Outcome:
    """cotangent · Jacobian, by one sweep; the cotangent has the value's shape."""
    job = Job(program, point, wrt, settings or Settings())
    if numeric.shape(cotangent) != numeric.shape(job.value):
        raise ShapeError(
            f"the cotangent has shape {numeric.shape(cotangent)}, the value {numeric.shape(job.value)}; they must agree"
        )
    found = job.sweep(job.root, cotangent)
    at = job.kinks(job.root, cotangent)
    if at:
        weighted = OPS["sum"](OPS["mul"](job.root, cotangent)) if numeric.shape(job.value) else job.root * cotangent
        found = job.settle(weighted, 1.0, found)
    out = job.outcome()
    out.vjp = found
    return out


def _jacobian(job: Job, root: Any) -> dict[str, Any]:
    """Jacobian of a value of any shape by every leaf: rows by sweeps, or columns by series where there are fewer."""
    of = numeric.shape(value_of(root))
    columns = sum(math.prod(leaf.shape) for leaf in job.leaves.values())
    if isinstance(root, Node) and columns < math.prod(of) and not job.chooses(root):
        from autodiff.onesided import expand

        result = _empty(job, of)
        for name, leaf in job.leaves.items():
            for place, direction in numeric.units(leaf.shape):
                result[name][(..., *place)] = expand(root, {leaf: direction}, 1)[1]
        if all(map(numeric.is_finite, result.values())):
            return result
    return _rows(job, root)


def _rows(job: Job, root: Any) -> dict[str, Any]:
    """The derivatives of a value of any shape by every leaf, a sweep for each of its entries."""
    of = numeric.shape(value_of(root))
    if not of:
        return job.sweep(root, 1.0)
    result = _empty(job, of)
    if isinstance(root, Node):
        for place, seed in numeric.units(of):
            for name, row in job.sweep(root, seed).items():
                result[name][place] = row
    return result


def _empty(job: Job, of: tuple[int, ...]) -> dict[str, Any]:
    """Room for derivatives of a value of that shape by every leaf, filled with 0."""
    return {name: numeric.numpy().zeros(of + leaf.shape) for name, leaf in job.leaves.items()}


def jacobian(program: Program, point: Point, wrt: Sequence[str], settings: Settings | None = None) -> Outcome:
    """Value and Jacobian of any shape: per input an array of shape value + input."""
    job = Job(program, point, wrt, settings or Settings())
    found = _first(job, job.root)
    out = job.outcome()
    out.jacobian = found
    return out


def _recorded_gradient(job: Job) -> dict[str, Any]:
    if not isinstance(job.root, Node):
        return {name: zeros_like(leaf.value) for name, leaf in job.leaves.items()}
    found = backward(job.root, 1.0, job.leaves.values(), record=True)
    return {
        name: zeros_like(leaf.value) if g is None else g
        for (name, leaf), g in zip(job.leaves.items(), found, strict=True)
    }


def hessian(program: Program, point: Point, wrt: Sequence[str], settings: Settings | None = None) -> Outcome:
    """Value, gradient and Hessian of one number: one sweep per input entry over one recorded gradient."""
    job = Job(program, point, wrt, settings or Settings())
    job.scalar("hess")
    recorded = _recorded_gradient(job)
    gradient = {name: value_of(g) for name, g in recorded.items()}
    if isinstance(job.root, Node) and not all(map(numeric.is_finite, gradient.values())):
        job.sweep(job.root, 1.0)  # for its notes
    gradient = job.settle(job.root, 1.0, gradient)
    noted = dict(job.kinked)
    blocks = {}
    for name, g in recorded.items():
        blocks[name] = job.settle(g, generic_like(value_of(g)), _rows(job, g), first=False)
    others, job.kinked = job.kinked, noted
    job.note_second(blocks)
    job.kinked = others | job.kinked  # what tells both sides says more
    out = job.outcome()
    out.gradient = gradient
    out.hessian = blocks
    return out


def _direction(job: Job, direction: Point) -> dict[str, Any]:
    found = {}
    for name, leaf in job.leaves.items():
        v = numeric.raw(direction[name]) if name in direction else zeros_like(leaf.value)
        if numeric.shape(v) != leaf.shape:
            raise ShapeError(f"the direction of '{name}' has shape {numeric.shape(v)}, the input {leaf.shape}")
        found[name] = numeric.real(v)
    return found


@numeric.quietly
def jvp(program: Program, point: Point, direction: Point, settings: Settings | None = None) -> Outcome:
    """Value and directional derivative, forward, without the Jacobian."""
    job = Job(program, point, list(direction), settings or Settings())
    directions = _direction(job, direction)
    found: Any = zeros_like(job.value)
    if isinstance(job.root, Node) and directions:
        from autodiff.onesided import expand

        chooses = job.chooses(job.root)
        if not chooses:
            along = {job.leaves[name]: d for name, d in directions.items()}
            found = numeric.raw(expand(job.root, along, 1)[1])
        if chooses or not numeric.is_finite(found):  # the Jacobian's conventions, and its notes
            found = zeros_like(job.value)
            for name, block in _first(job, job.root).items():
                d = directions[name]
                np = numeric.numpy()
                part = np.tensordot(np.where(d == 0.0, 0.0, block), d, len(numeric.shape(d)))
                found = numeric.raw(found + part)
    out = job.outcome()
    out.jvp = found
    return out


def hvp(
    program: Program, point: Point, wrt: Sequence[str], direction: Point, settings: Settings | None = None
) -> Outcome:
    """Value, gradient and Hessian times direction: a sweep over the recorded directional derivative."""
    for name in direction:
        if name not in wrt:
            raise NameProblem(f"'{name}' is no input of the expression", help=suggestion(name, list(wrt)))
    job = Job(program, point, wrt, settings or Settings())
    job.scalar("hvp")
    directions = _direction(job, direction)
    recorded = _recorded_gradient(job)
    slope: Any = 0.0
    for name, g in recorded.items():
        along = OPS["mul"](g, directions[name])
        slope = OPS["add"](slope, OPS["sum"](along) if numeric.shape(value_of(along)) else along)
    gradient = job.settle(job.root, 1.0, {name: value_of(g) for name, g in recorded.items()})
    found = job.settle(slope, 1.0, job.sweep(slope, 1.0), first=False)
    out = job.outcome()
    out.gradient = gradient
    out.hvp = found
    return out


def taylor(program: Program, point: Point, name: str, order: int, settings: Settings | None = None) -> Outcome:
    """Taylor coefficients c0 … c_order by one input that is one number; `derivatives` holds them."""
    if order < 0:
        raise RequestError(f"the order must not be negative, not {order}")
    if order > 150:
        raise RequestError(f"the order {order} is beyond 150, where factorials leave float64")
    job = Job(program, point, [name], settings or Settings())
    leaf = job.leaves[name]
    if leaf.shape:
        raise ShapeError(f"'{name}' has shape {leaf.shape}; derivatives of order n are by one number")
    if not isinstance(job.root, Node):
        coefficients = [job.value] + [zeros_like(job.value)] * order
    else:
        coefficients = _expansion(job, job.root, leaf, order)
    out = job.outcome()
    out.derivatives = coefficients
    return out


def _expansion(job: Job, root: Node, leaf: Node, order: int) -> list[Any]:
    """Coefficients 0 … order: those that both sides share, from the first that they do not by the conventions."""
    from autodiff.notes import steep_note
    from autodiff.onesided import at_kinks, expand, is_root_of_zero, needed

    broken: list[tuple[Node, int]] = []
    right = expand(root, {leaf: 1.0}, order, broken=broken)
    meet = order + 1
    kinked = at_kinks(root, leaf)
    if not kinked and all(map(numeric.is_finite, right)):
        kinked = [node for node in needed(root, {leaf: 1.0}) if is_root_of_zero(node)]
    if job.settings.convention:
        meet = 1
    elif kinked:
        left = [c if k % 2 == 0 else -c for k, c in enumerate(expand(root, {leaf: -1.0}, order))]
        differ = (k for k in range(order + 1) if not agree(left[k], right[k]).all())
        meet = next(differ, order + 1) if agree(right[0], job.value).all() else 1
    if meet <= order:
        sides = right
        right = right[:meet] + expand(root, {leaf: 1.0}, order, sided=False)[meet:]
        if meet > 1:
            scale = float(math.factorial(meet))
            (name,) = job.leaves
            values = apart(agree(left[meet], sides[meet]), *(scale * c[meet] for c in (left, sides, right)))
            job.note_kinks(kinked, f"d{meet}/d{name}{meet}", *values)
    right[0] = job.value
    if order and (meet <= 1 or not numeric.is_finite(right[1]) or numeric.is_nan(job.value)):
        right[1] = next(iter(_first(job, root).values()))
    for k in range(2, order + 1):  # where there is no derivative, there is none of a higher order
        if numeric.is_nan(right[k - 1]):
            np = numeric.numpy()
            right[k] = numeric.raw(np.where(np.isnan(right[k - 1]), numeric.nan, right[k]))
    if not job.notes and not all(map(numeric.is_finite, right)):
        job.notes += [steep_note(node, job.program.source, k) for node, k in broken]
    return right


def _first(job: Job, root: Any) -> dict[str, Any]:
    """The first derivatives by all leaves, settled at kinks, with their notes."""
    return job.settle(root, generic_like(value_of(root)), _jacobian(job, root))


def derivatives(program: Program, point: Point, name: str, order: int, settings: Settings | None = None) -> Outcome:
    """Value and the derivatives of order 1 … order by one input that is one number."""
    out = taylor(program, point, name, order, settings)
    factorial = 1.0
    found = []
    for k, c in enumerate(out.derivatives or []):
        factorial *= max(k, 1)
        if k:
            found.append(c * factorial)
    out.derivatives = found
    return out
