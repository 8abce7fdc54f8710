"""Program and point to value, derivatives and notes: the one place that strings the steps together."""

from __future__ import annotations

import math

from autodiff import numeric
from autodiff.errors import NameProblem, Note, RequestError, ShapeError
from autodiff.evaluate import MAX_OPS, Run, evaluate
from autodiff.names import inputs_of, suggestion
from autodiff.ops import OPS
from autodiff.tape import Node, backward, ones_like, value_of, zeros_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from autodiff.parse.program import Program

    Point = Mapping[str, Any]

FEW = 1000  # operations on numbers
ONE_SIDED_WORK = 500_000  # operations that looking at both sides of kinks may cost, each of up to 1,000 entries


class Settings:
    """What a request may choose."""

    __slots__ = ("checkpoint", "convention", "max_ops")

    def __init__(self, max_ops: int = MAX_OPS, convention: str | None = None, checkpoint: int | None = None) -> None:
        if convention not in (None, "torch", "jax"):
            raise RequestError(f"'{convention}' is no convention", help="torch or jax")
        self.max_ops = max_ops
        self.convention = convention
        self.checkpoint = checkpoint  # operations after which a gradient keeps the state, to recompute from there


class Outcome:
    """The answers to one request; what was not asked for is None."""

    # as they are shown
    __slots__ = ("gradient", "jacobian", "hessian", "jvp", "vjp", "hvp", "derivatives", "notes", "value", "program")  # noqa: RUF023

    def __init__(self, program: Program, value: Any) -> None:
        self.program = program
        self.value = value
        self.gradient: dict[str, Any] | None = None
        self.jacobian: dict[str, Any] | None = None
        self.hessian: dict[str, dict[str, Any]] | None = None
        self.jvp: Any = None
        self.vjp: dict[str, Any] | None = None
        self.hvp: dict[str, Any] | None = None
        self.derivatives: list[Any] | None = None
        self.notes: list[Note] = []

    def __repr__(self) -> str:
        answers = (f"{name}={part!r}" for name in self.__slots__[:-2] if (part := getattr(self, name)) is not None)
        return f"Outcome({', '.join([f'value={self.value!r}', *answers])})"


class Job:
    """One run of a program, and the notes that gather on the way to the answer."""

    def __init__(self, program: Program, point: Point, wrt: Sequence[str], settings: Settings, **modes: bool) -> None:
        self.program = program
        self.point = point
        self.settings = settings
        names = inputs_of(program, point)
        for name in wrt:
            if name not in names:
                raise NameProblem(
                    f"'{name}' is no input of the expression", help=suggestion(name, names) or _inputs(names)
                )
        self.run: Run = evaluate(program, point, wrt, max_ops=settings.max_ops, convention=settings.convention, **modes)
        self.leaves = {name: self.run.leaves[name] for name in wrt}
        self.root = self.run.value
        self.value = value_of(self.root)
        self.notes = list(self.run.notes)
        self.kinked: dict[Any, Note] = {}
        if not numeric.is_finite(self.value):
            self.trace()

    def outcome(self) -> Outcome:
        from autodiff.notes import gather

        out = Outcome(self.program, self.value)
        unused = [Note("unused", f"nothing uses '{name}'", span) for name, span in self.program.unused]
        out.notes = unused + gather(self.notes) + list(self.kinked.values()) if self.notes or self.kinked else unused
        return out

    def trace(self) -> None:
        """Note where a nan or infinity of the value was first made, by a second run that records everything."""
        from autodiff.notes import nonfinite

        root = evaluate(self.program, self.point, (), max_ops=self.settings.max_ops, trace=True).value
        if isinstance(root, Node):
            self.notes += nonfinite(root, self.program.source)

    def scalar(self, command: str) -> None:
        """Raise unless the value is one number."""
        if numeric.is_array(self.value):
            raise ShapeError(
                f"{command} wants one number, but the result has shape {self.value.shape}",
                self.last_span(),
                "use jac for arrays, or sum(…)",
            )

    def last_span(self) -> Any:
        span = self.root.span if isinstance(self.root, Node) else None
        return span or (0, len(self.program.source))

    def sweep(self, root: Any, seed: Any) -> dict[str, Any]:
        """The vjp of a seed for every leaf, settled at kinks where the root is one number."""
        leaves = list(self.leaves.values())
        if not isinstance(root, Node) or not leaves:
            return {name: zeros_like(leaf.value) for name, leaf in self.leaves.items()}
        found = None
        if root.index > FEW or numeric.is_array(seed) or any(leaf.shape for leaf in leaves):
            from autodiff.sweep import finite  # of few numbers, writing rules out would cost more than it saves

            found = finite(root, seed, leaves)
        looked_at = found is not None
        if found is None:
            found = backward(root, seed, leaves)
        result = {
            name: zeros_like(leaf.value) if g is None else value_of(g)
            for (name, leaf), g in zip(self.leaves.items(), found, strict=True)
        }
        if not looked_at and numeric.is_finite(value_of(root)) and not all(map(numeric.is_finite, result.values())):
            from autodiff.notes import steep

            self.notes += steep(root, seed, leaves, self.program.source, self.root.index)
        return result

    def kinks(self, root: Any, seed: Any) -> dict[Node, bool]:
        if not isinstance(root, Node) or self.settings.convention or not self.leaves:
            return {}
        nodes = root.tape.nodes
        for k in range(root.index + 1):
            op = nodes[k].op
            if op is not None and op.kink is not None:
                break
        else:
            return {}
        from autodiff.notes import kinks

        return kinks(root, seed, list(self.leaves.values()))

    def settle(self, root: Any, seed: Any, result: dict[str, Any], *, first: bool = True) -> dict[str, Any]:
        """At kinks: the derivative where both sides agree, else ours with a note.

        Each entry of `result` has the root's shape, then the leaf's. A root that is itself a derivative is not
        the `first`: beside a kink it is what the conventions made of it, and its sides are no numbers to tell.
        """
        at = self.kinks(root, seed)
        if not at:
            return result
        from autodiff.onesided import one_sided

        if not self.affordable(root):
            self.note_kinks(node for node, sure in at.items() if sure)
            return result
        np = numeric.numpy()
        differ: tuple[Any, ...] | None = None
        for name, leaf in self.leaves.items():
            for place in _places(leaf.value):
                right = one_sided(root, leaf, place, 1.0)
                left = one_sided(root, leaf, place, -1.0)
                ours = result[name][(..., *place)] if numeric.is_array(result[name]) else result[name]
                agree = _agree(left, right)
                settled = np.where(agree, np.where(ours == left, left, right), ours)
                if differ is None and not agree.all():
                    differ = (f"d/d{_entry(name, place)}", *_apart(agree, left, right, ours)) if first else ()
                if numeric.is_array(result[name]):
                    if not result[name].flags.writeable:
                        result[name] = result[name].copy()
                    result[name][(..., *place)] = settled
                else:
                    result[name] = float(settled)
        if differ is not None:
            self.note_kinks(at, *differ)
        return result

    def chooses(self, root: Node) -> bool:
        """Whether rules choose what a series can't know: at kinks, by a convention, where the value is nan."""
        return bool(self.settings.convention or numeric.is_nan(root.value) or self.kinks(root, ones_like(root.value)))

    def affordable(self, root: Node) -> bool:
        """Whether looking at both sides of kinks, by every entry of the inputs, does not cost too much."""
        entries = sum(len(_places(leaf.value)) for leaf in self.leaves.values())
        nodes = root.tape.nodes[: root.index + 1]
        work = sum(1 + getattr(node.value, "size", 1) // 1000 for node in nodes)
        return entries * work <= ONE_SIDED_WORK

    def note_second(self, blocks: Mapping[str, Mapping[str, Any]]) -> None:
        """A note where a second derivative by one entry of an input differs on both sides, or from ours."""
        if self.settings.convention or not isinstance(self.root, Node):
            return
        from autodiff.onesided import at_kinks, second_one_sided

        for name, leaf in self.leaves.items():
            at = at_kinks(self.root, leaf)
            if not at or not self.affordable(self.root):
                continue
            for place in _places(leaf.value):
                left, right = (second_one_sided(self.root, leaf, place, sign) for sign in (-1.0, 1.0))
                ours = float(blocks[name][name][place + place]) if place else blocks[name][name]
                if not _agree(left, right) or not _agree(left, ours):
                    entry = _entry(name, place)
                    self.note_kinks(at, f"d2/d{entry}2", left, right, ours)
                    return

    def note_kinks(
        self, nodes: Iterable[Node], symbol: str = "", left: float = 0.0, right: float = 0.0, ours: float = 0.0
    ) -> None:
        """One note a place, the first that there is: what a derivative is on both sides, and by convention."""
        from autodiff.notes import brief, excerpt

        sides = ""
        if symbol:
            sides = (
                f": {symbol} is {brief(left)} from the left, {brief(right)} from the right; {brief(ours)} by convention"
            )
        found: dict[Any, Note] = {}
        for node in nodes:
            assert node.op is not None
            if node.span in found:
                found[node.span] = found[node.span]._replace(count=found[node.span].count + 1)
                continue
            values = ", ".join(brief(value_of(x)) for x in node.inputs)
            derived = "the derivative of " if node.index > self.root.index else ""
            what = f"{derived}'{excerpt(node, self.program.source)}' has {'a jump' if node.op.jump else 'a kink'}"
            text = f"{what} at {values}{sides or f'; the convention is used ({node.op.kinks})'}"
            found[node.span] = Note("kink", text, node.span)
        self.kinked = found | self.kinked


def _agree(left: Any, right: Any) -> Any:
    """Where the derivatives of both sides are one number, rounding aside."""
    np = numeric.numpy()
    with np.errstate(all="ignore"):
        return np.isfinite(right) & np.isfinite(left) & (abs(right - left) <= 1e-13 * (abs(right) + abs(left)))


def _apart(agree: Any, *values: Any) -> list[float]:
    """Values at the first place where there is no agreement."""
    np = numeric.numpy()
    agree = np.atleast_1d(agree)
    bad = tuple(np.argwhere(~agree)[0])
    return [float(np.broadcast_to(np.asarray(v, float), agree.shape)[bad]) for v in values]


def _entry(name: str, place: tuple[int, ...]) -> str:
    """How an entry of an input is written."""
    return name + (str(list(place)) if place else "")


def _inputs(names: Sequence[str]) -> str:
    return f"its inputs are {', '.join(names)}" if names else "it has no inputs"


def _places(value: Any) -> list[tuple[int, ...]]:
    return list(numeric.numpy().ndindex(value.shape)) if numeric.is_array(value) else [()]


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

    names = inputs_of(program, point)
    for name in wrt:
        if name not in names:
            raise NameProblem(f"'{name}' is no input of the expression", help=suggestion(name, names) or _inputs(names))
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
    np = numeric.numpy() if numeric.shape(value_of(root)) or any(x.shape for x in job.leaves.values()) else None
    of = numeric.shape(value_of(root))
    if np is None or not of:
        return job.sweep(root, 1.0)
    m = int(np.prod(of))
    n = sum(int(np.prod(leaf.shape)) for leaf in job.leaves.values())
    result = {name: np.zeros(of + leaf.shape) for name, leaf in job.leaves.items()}
    if not isinstance(root, Node):
        return result
    if n < m and not job.chooses(root):
        from autodiff.onesided import expand

        for name, leaf in job.leaves.items():
            for place in _places(leaf.value):
                direction: Any = 1.0
                if leaf.shape:
                    direction = np.zeros(leaf.shape)
                    direction[place] = 1.0
                result[name][(..., *place)] = expand(root, {leaf: direction}, 1)[1]
        if all(map(numeric.is_finite, result.values())):
            return result
    for k in np.ndindex(of):
        seed = np.zeros(of)
        seed[k] = 1.0
        for name, row in job.sweep(root, seed).items():
            result[name][k] = row
    return result


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
        of = numeric.shape(value_of(g))
        seed = ones_like(value_of(g))
        rows: dict[str, Any] = {}
        if of:
            np = numeric.numpy()
            rows = {other: np.zeros(of + leaf.shape) for other, leaf in job.leaves.items()}
            for k in np.ndindex(of):
                seed_k = np.zeros(of)
                seed_k[k] = 1.0
                for other, row in job.sweep(g, seed_k).items():
                    rows[other][k] = row
        else:
            rows = job.sweep(g, 1.0)
        blocks[name] = job.settle(g, seed, rows, first=False)
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
        apart = (k for k in range(order + 1) if not _agree(left[k], right[k]).all())
        meet = next(apart, order + 1) if _agree(right[0], job.value).all() else 1
    if meet <= order:
        sides = right
        right = right[:meet] + expand(root, {leaf: 1.0}, order, sided=False)[meet:]
        if meet > 1:
            scale = float(math.factorial(meet))
            (name,) = job.leaves
            values = _apart(_agree(left[meet], sides[meet]), *(scale * c[meet] for c in (left, sides, right)))
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
    return job.settle(root, ones_like(value_of(root)), _jacobian(job, root))


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
