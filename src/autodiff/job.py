"""One run of a program: the sweep, what happens at kinks, and the notes that gather on the way to the answer."""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import Note, RequestError, ShapeError
from autodiff.evaluate import MAX_OPS, Run, evaluate
from autodiff.names import check_inputs
from autodiff.tape import Node, backward, generic_like, value_of, zeros_like

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
        check_inputs(program, point, wrt)
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
            for place in numeric.places(leaf.value):
                right = one_sided(root, leaf, place, 1.0)
                left = one_sided(root, leaf, place, -1.0)
                ours = result[name][(..., *place)] if numeric.is_array(result[name]) else result[name]
                same = agree(left, right)
                settled = np.where(same, np.where(ours == left, left, right), ours)
                if differ is None and not same.all():
                    differ = (f"d/d{_entry(name, place)}", *apart(same, left, right, ours)) if first else ()
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
        if self.settings.convention or numeric.is_nan(root.value):
            return True
        return bool(self.kinks(root, generic_like(root.value)))

    def affordable(self, root: Node) -> bool:
        """Whether looking at both sides of kinks, by every entry of the inputs, does not cost too much."""
        entries = sum(len(numeric.places(leaf.value)) for leaf in self.leaves.values())
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
            for place in numeric.places(leaf.value):
                left, right = (second_one_sided(self.root, leaf, place, sign) for sign in (-1.0, 1.0))
                ours = float(blocks[name][name][place + place]) if place else blocks[name][name]
                if not agree(left, right) or not agree(left, ours):
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


def agree(left: Any, right: Any) -> Any:
    """Where the derivatives of both sides are one number, rounding aside."""
    np = numeric.numpy()
    with np.errstate(all="ignore"):
        return np.isfinite(right) & np.isfinite(left) & (abs(right - left) <= 1e-13 * (abs(right) + abs(left)))


def apart(same: Any, *values: Any) -> list[float]:
    """Values at the first place where there is no agreement."""
    np = numeric.numpy()
    same = np.atleast_1d(same)
    bad = tuple(np.argwhere(~same)[0])
    return [float(np.broadcast_to(np.asarray(v, float), same.shape)[bad]) for v in values]


def _entry(name: str, place: tuple[int, ...]) -> str:
    """How an entry of an input is written."""
    return name + (str(list(place)) if place else "")
