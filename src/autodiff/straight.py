"""Programs of arrays without branches as one generated function: forward and back, equal parts computed once.

The first run at arrays of some shapes records a tape; what stands on it is written out as Python over NumPy. As
the quick road of plain numbers, it serves the ordinary case: finite results, no kink met. Anything else raises
Unsuited, and the caller takes the machine's road. Long arrays go through in blocks that the cache holds.
"""

from __future__ import annotations

import math
import re

from autodiff import numeric
from autodiff.evaluate import evaluate
from autodiff.generate import Unsuited
from autodiff.names import link
from autodiff.ops import OPS, Op
from autodiff.parse import program as code
from autodiff.parse.program import Program
from autodiff.rules import compiled, number, partial_text, written
from autodiff.tape import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Shape = tuple[int, ...]

PLAIN = frozenset((code.CONST, code.LOAD, code.STORE, code.APPLY, code.CALL, code.POP, code.KEEP, code.END))
WHOLE = frozenset(("sum", "dot", "matmul"))  # ops of whole arrays that are served
LARGEST = 1_000  # operations
BLOCK = 8_192  # entries
LONG = 4 * BLOCK  # entries of an array from which it goes in blocks, or not at all


def check(program: Program) -> None:
    """Unsuited unless all that the program does depends on the shapes of its inputs alone."""
    for opcode, argument, _ in link(program):
        if opcode not in PLAIN or program.differentiated:
            raise Unsuited("a branch, or an operation that is not served")
        if opcode in (code.APPLY, code.CALL):
            op, keywords = argument[0], argument[2] if opcode == code.CALL else ()
            if keywords or not isinstance(op, Op) or not op.differentiable:
                raise Unsuited("an operation that is not served")
            if not op.elementwise and op.name not in WHOLE:
                raise Unsuited("an operation that is not served")


class Writer:
    """The text of the function: statements, each part that occurs again once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.known: dict[str, str] = {}
        self.names: dict[str, Any] = {
            "inf": math.inf, "nan": math.nan, "sum_to": numeric.sum_to, "full": numeric.numpy().broadcast_to,
            "stop": _stop_at_kink,
        }  # fmt: skip

    def named(self, text: str) -> str:
        """The variable that holds the value of a text."""
        if text not in self.known:
            self.known[text] = f"v{len(self.known)}"
            self.lines.append(f"{self.known[text]} = {text}")
        return self.known[text]


def _stop_at_kink(at: Any) -> None:
    if at.any() if numeric.is_array(at) else at:
        raise Unsuited("a kink")


class Cotangent:
    """A text; a uniform one is a number that stands for an array of it."""

    __slots__ = ("text", "uniform")

    def __init__(self, text: str, uniform: bool) -> None:
        self.text = text
        self.uniform = uniform


class Straight:
    """The generated function for inputs of given shapes."""

    __slots__ = ("blocks", "order", "run", "source", "wrt")

    def __init__(self, program: Program, wrt: Sequence[str], point: Mapping[str, Any]) -> None:
        self.order = [name for name in program.inputs if name in point]
        self.wrt = list(wrt)
        run = evaluate(program, point, self.order)
        root = run.value
        if not isinstance(root, Node) or root.shape or not any(map(numeric.shape, point.values())):
            raise Unsuited("no number made of arrays")
        nodes = root.tape.nodes[: root.index + 1]
        if len(nodes) > LARGEST or any(node.params or 0 in node.shape for node in nodes):
            raise Unsuited("parameters, or nothing in an array")
        sizes = {leaf.shape for leaf in run.leaves.values()}
        sums = [node for node in nodes if node.op is not None and not node.op.elementwise]
        self.blocks = sums == [root] and root.op is OPS["sum"] and len(sizes) == 1
        if not self.blocks and max(map(math.prod, sizes)) > LONG:
            raise Unsuited("arrays that would not stay in the cache")
        leaves = {run.leaves[name]: f"x{k}" for k, name in enumerate(self.order)}
        top = root.inputs[0] if self.blocks else root
        if not isinstance(top, Node) or top.op is None:
            raise Unsuited("nothing to do")
        writer = Writer()
        texts = _forward(writer, nodes[: top.index + 1], leaves)
        found = _backward(writer, nodes[: top.index + 1], texts)
        results: list[str] = []
        for name in wrt:
            leaf = run.leaves[name]
            text = _result(found.get(leaf), leaf.shape, "x0.shape" if self.blocks else str(leaf.shape), writer)
            results.append(text if text not in results else f"{text}.copy()")
        head = f"def run({', '.join(leaves.values())}):"
        body = _freed([*writer.lines, f"return {texts[top]}, [{', '.join(results)}]"])
        self.source = "\n    ".join([head, *body])
        exec(compile(self.source, "<expression>", "exec"), writer.names)
        self.run: Callable[..., Any] = writer.names["run"]

    @numeric.quietly
    def value_and_gradient(self, point: Mapping[str, Any]) -> tuple[float, list[Any]]:
        """The value and its gradient, by `wrt`; Unsuited where this road does not serve."""
        xs = [point[name] for name in self.order]
        try:
            value, found = self._in_blocks(xs) if self.blocks else self.run(*xs)
        except (ArithmeticError, ValueError):
            raise Unsuited("something to explain") from None
        if self.blocks:
            value = value.sum()
        if not numeric.surely_finite([value, *found]):
            raise Unsuited("a result that is not finite")
        return float(value), found

    def _in_blocks(self, xs: list[Any]) -> tuple[Any, list[Any]]:
        np = numeric.numpy()
        size = xs[0].size
        if size <= LONG:
            value, found = self.run(*xs)
            return value, found
        flat = [x.reshape(-1) for x in xs]
        made = [np.empty(xs[0].shape) for _ in range(1 + len(self.wrt))]
        rows = [array.reshape(-1) for array in made]
        for start in range(0, size, BLOCK):
            part = slice(start, start + BLOCK)
            value, found = self.run(*(x[part] for x in flat))
            for row, block in zip(rows, (value, *found), strict=True):
                row[part] = block
        return made[0], made[1:]


def _forward(writer: Writer, nodes: list[Node], leaves: Mapping[Node, str]) -> dict[Node, str]:
    texts: dict[Node, str] = {}
    for node in nodes:
        op = node.op
        if op is None:
            texts[node] = leaves[node]
            continue
        xs = _operands(node, texts)
        if op.elementwise:
            text = written(op, xs, writer.names, _is_of_arrays(node))
        else:
            writer.names[f"whole_{op.name}"] = lambda *xs, op=op: op.value(xs, {})
            text = f"whole_{op.name}({', '.join(xs)})"
        y = texts[node] = writer.named(text)
        if op.kink is not None:
            writer.names[f"kink_{op.name}"] = op.kink
            writer.named(f"stop(kink_{op.name}({', '.join((y, *xs))}))")
    return texts


def _backward(writer: Writer, nodes: list[Node], texts: Mapping[Node, str]) -> dict[Node, Cotangent]:
    """The cotangents of the leaves, from 1 for the last of the nodes; nodes of equal text are one."""
    first = {texts[node]: node for node in reversed(nodes)}
    waiting: dict[Node, list[Cotangent]] = {first[texts[nodes[-1]]]: [Cotangent("1.0", True)]}
    found: dict[Node, Cotangent] = {}
    for node in reversed(nodes):
        parts = waiting.pop(node, None)
        if parts is None:
            continue
        g = parts[0]
        for other in parts[1:]:
            g = Cotangent(writer.named(f"({g.text} + {other.text})"), g.uniform and other.uniform)
        if node.op is None:
            found[node] = g
            continue
        for i, x in enumerate(node.inputs):
            if isinstance(x, Node):
                x = first[texts[x]]
                c = _sent(writer, node, i, g, texts)
                waiting.setdefault(x, []).append(_summed(writer, c, node.shape, x.shape, node.op.elementwise))
    return found


def _sent(writer: Writer, node: Node, i: int, g: Cotangent, texts: Mapping[Node, str]) -> Cotangent:
    """What the cotangent of a node sends to operand i, in the shape of the node if the op is elementwise."""
    op = node.op
    assert op is not None
    xs, y = _operands(node, texts), texts[node]
    if op.name == "sum":
        return Cotangent(g.text, True)
    if not op.elementwise:
        writer.names[f"vjp{i}_{op.name}"] = op.vjp(i)
        return Cotangent(
            writer.named(f"vjp{i}_{op.name}({', '.join((_spread(writer, g, node.shape), y, *xs))})"), False
        )
    arrays = _is_of_arrays(node)
    exponent = float(xs[1].strip("()")) if op.name == "pow" and not isinstance(node.inputs[1], Node) else None
    rule = compiled(op, i, len(xs), arrays, exponent)
    if rule.constant is not None:
        d = rule.constant
        text = g.text if d == 1.0 else f"(-{g.text})" if d == -1.0 else f"({g.text} * {number(d)})"
        return Cotangent(text if text == g.text else writer.named(text), g.uniform)
    d_text = partial_text(op, i, y, xs, writer.names, arrays, writer.named if arrays else None)
    shapes = {node.shape if k < 0 else numeric.shape(_value(node.inputs[k])) for k in rule.reads}
    uniform = g.uniform and shapes <= {()}
    if g.uniform and not uniform and node.shape not in shapes:
        g = Cotangent(_spread(writer, g, node.shape), False)
    return Cotangent(d_text if g.text == "1.0" else writer.named(f"({g.text} * {d_text})"), uniform)


def _summed(writer: Writer, c: Cotangent, made: Shape, wanted: Shape, elementwise: bool) -> Cotangent:
    if not elementwise or made == wanted:
        return c
    if c.uniform:
        return Cotangent(writer.named(f"({c.text} * {math.prod(made) / math.prod(wanted)!r})"), True)
    return Cotangent(writer.named(f"sum_to({c.text}, {wanted})"), not wanted)


def _spread(writer: Writer, g: Cotangent, shape: Shape) -> str:
    return writer.named(f"full({g.text}, {shape})") if g.uniform and shape else g.text


def _freed(lines: list[str]) -> list[str]:
    """Each variable deleted after its last use, so that few arrays are alive, and those in the cache."""
    done: set[str] = set()
    out: list[str] = []
    for line in reversed(lines):
        used = set(re.findall(r"\bv\d+\b", line)) - done
        dead = sorted(used) if out else []  # the last line returns
        done |= used
        out.append(f"{line}; del {', '.join(dead)}" if dead else line)
    return out[::-1]


def _result(g: Cotangent | None, shape: Shape, wanted: str, writer: Writer) -> str:
    """The text of a derivative as a number, or as an array that is no input and no part of one."""
    g = g or Cotangent("0.0", True)
    if not shape:
        return f"float({g.text})"
    made_here = any(name == g.text and text[0] == "(" for text, name in writer.known.items())
    return g.text if made_here and not g.uniform else f"full({g.text}, {wanted}).copy()"


def _operands(node: Node, texts: Mapping[Node, str]) -> list[str]:
    return [texts[x] if isinstance(x, Node) else number(float(x)) for x in node.inputs]


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Node) else x


def _is_of_arrays(node: Node) -> bool:
    return any(numeric.is_array(_value(x)) for x in node.inputs)


__all__ = ["Straight", "check"]
