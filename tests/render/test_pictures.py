"""The recorded graph as rows, lanes, DOT and JSON, drawn from nodes made by hand."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff.render.document import dumps, graph
from autodiff.render.dot import dot
from autodiff.render.lanes import lanes
from autodiff.render.view import Row
from autodiff.render.view import freeze as freeze_named


class Op:
    def __init__(self, name: str, symbol: str = "") -> None:
        self.name = name
        self.symbol = symbol
        self.grad_fn = f"{name.capitalize()}Backward0"


ADD, SUB, MUL, DIV, POW = (
    Op(name, symbol) for name, symbol in zip(("add", "sub", "mul", "div", "pow"), "+-*/^", strict=True)
)
SIN, EXP, LOG, NEG, NOT = Op("sin"), Op("exp"), Op("log"), Op("neg", "-"), Op("not", "not")


class Node:
    def __init__(self, op: Op | None, *inputs: Any, value: Any = 0.0, span: Any = None, **other: Any) -> None:
        self.op = op
        self.inputs = inputs
        self.value = value
        self.span = span
        self.name = other.get("name")
        self.constant = other.get("constant", False)
        self.params = other.get("params")


def freeze(nodes: list[Node], result: Node, **other: Any) -> list[Row]:
    """The rows, with the leaves' own names."""
    todo, names, seen = [*nodes, result], dict(other.pop("names", {})), set()
    while todo:
        node = todo.pop()
        if isinstance(node, Node) and node not in seen:
            seen.add(node)
            if node.name:
                names.setdefault(node, node.name)
            todo += node.inputs
    return freeze_named(nodes, result, names=names, **other)


def leaf(name: str, value: Any = 1.0) -> Node:
    return Node(None, value=value, name=name)


def constant(value: float = 2.0, span: Any = None) -> Node:
    return Node(None, value=value, span=span, constant=True)


def lecture() -> list[Row]:
    x, two = leaf("x", 2.0), constant(span=(3, 4))
    a = Node(ADD, x, two, value=4.0, span=(1, 4))
    y = Node(MUL, a, x, value=8.0, span=(0, 7))
    return freeze(
        [x, two, a, y],
        y,
        source="(x+2)*x",
        gradients={x: 6.0, two: 2.0, a: 2.0, y: 1.0},
        local={a: (1.0, 1.0), y: (2.0, 4.0)},
    )


def twelve() -> list[Row]:
    source = "a = x*y; exp(sin(a)+x^2)*y/log(y) - a"
    vx, vy = 1.0, 2.0
    x, y = leaf("x", vx), leaf("y", vy)
    a = Node(MUL, x, y, value=vx * vy, span=(4, 7))
    b = Node(SIN, a, value=math.sin(a.value))
    two = constant(2.0, (22, 23))
    c = Node(POW, x, two, value=1.0)
    d = Node(ADD, b, c, value=b.value + 1)
    e = Node(EXP, d, value=math.exp(d.value))
    f = Node(MUL, e, y, value=e.value * 2)
    g = Node(LOG, y, value=math.log(2))
    h = Node(DIV, f, g, value=f.value / g.value)
    i = Node(SUB, h, a, value=h.value - a.value)
    df, dg = 1 / g.value, -h.value / g.value
    db = df * 2 * e.value
    da = db * math.cos(2) - 1
    gradients = {
        x: da * 2 + db * 2, y: da + df * e.value + dg / 2, a: da, b: db, two: 0.0, c: db,
        d: db, e: df * 2, f: df, g: dg, h: 1.0, i: 1.0,
    }  # fmt: skip
    nodes = [x, y, a, b, two, c, d, e, f, g, h, i]
    return freeze(nodes, i, source=source, names={a: "a"}, gradients=gradients)


def picture(text: str) -> list[str]:
    """The lines of a drawing in this file, without its indentation."""
    return [line[4:].rstrip() for line in text.strip("\n").split("\n")][:-1]


def test_lanes_with_local_derivatives() -> None:
    assert lanes(lecture(), local=True) == picture("""
                value  grad
    ●    x          2     6  = 1·2 + 4·1   from a, y
    │ ●  2          2     2  = 1·2         from a
    ├─●  a = x + 2  4     2  = 2·1         from y       AddBackward0
    ●─┘  y = a * x  8     1  = seed                     MulBackward0
    """)


def test_lanes_in_ascii() -> None:
    assert lanes(lecture(), local=True, ascii=True) == picture("""
                value  grad
    o    x          2     6  = 1*2 + 4*1   from a, y
    | o  2          2     2  = 1*2         from a
    +-o  a = x + 2  4     2  = 2*1         from y       AddBackward0
    o-'  y = a * x  8     1  = seed                     MulBackward0
    """)


def test_lanes_of_twelve_rows() -> None:
    assert lanes(twelve()) == picture("""
                           value     grad
    ●          x               1   20.737
    │ ●        y               2  -13.413
    ├─┼─●      a = x*y         2   -9.103  MulBackward0
    │ │ ├─●    b = sin(a) 0.9093   19.472  SinBackward0
    │ │ │ │ ●  2               2        0
    ●─│─│─│─┘  c = x^2         1   19.472  PowBackward0
    ●─│─│─┘    d = b + c  1.9093   19.472  AddBackward0
    ● │ │      e = exp(d) 6.7483   2.8854  ExpBackward0
    ●─┤ │      f = e * y  13.497   1.4427  MulBackward0
    │ ● │      g = log(y) 0.6931  -28.092  LogBackward0
    ●─┘ │      h = f / g  19.472        1  DivBackward0
    ●───┘      i = h - a  17.472        1  SubBackward0
    """)


def test_lanes_of_twelve_rows_in_ascii() -> None:
    drawn = [line[:21].rstrip() for line in lanes(twelve(), ascii=True)][1:]
    assert drawn == picture("""
    o          x
    | o        y
    +-+-o      a = x*y
    | | +-o    b = sin(a)
    | | | | o  2
    o-|-|-|-'  c = x^2
    o-|-|-'    d = b + c
    o | |      e = exp(d)
    o-+ |      f = e * y
    | o |      g = log(y)
    o-' |      h = f / g
    o---'      i = h - a
    """)


def test_digits_and_colour() -> None:
    assert "0.693147181" in "\n".join(lanes(twelve(), digits=9))
    coloured = lanes(lecture(), colour=True)
    assert "\x1b[1;32my = a * x" in coloured[-1] and "\x1b[2mMulBackward0\x1b[0m" in coloured[-1]
    assert [re.sub("\x1b\\[[0-9;]*m", "", line) for line in coloured] == lanes(lecture())


def test_a_square_connects_once_and_lists_both_terms() -> None:
    x = leaf("x", 3.0)
    y = Node(MUL, x, x, value=9.0)
    rows = freeze([x, y], y, gradients={x: 6.0, y: 1.0}, local={y: (3.0, 3.0)})
    assert lanes(rows, local=True) == picture("""
              value  grad
    ●  x          3     6  = 3·1 + 3·1   from y
    ●  y = x * x  9     1  = seed                  MulBackward0
    """)


def test_unused_values_end_at_once() -> None:
    x, z = leaf("x"), leaf("z")
    b = Node(SIN, x)
    y = Node(EXP, x)
    lines = lanes(freeze([z, x, b, y], y, gradients={x: 1.0, y: 1.0}))
    assert [line[:13].rstrip() for line in lines[1:]] == [
        "●    z",
        "●    x",
        "├─●  a = sin(x)"[:13],
        "●    y = exp(x)"[:13],
    ]
    assert [line.endswith("unused") for line in lines[1:]] == [True, False, True, False]


def test_negative_terms_and_missing_gradients() -> None:
    x = leaf("x")
    a = Node(NEG, x)
    y = Node(SUB, x, a)
    gradients = {x: 2.0, a: -1.0, y: 1.0}
    rows = freeze([x, a, y], y, gradients=gradients, local={a: (-1.0,), y: (1.0, -1.0)})
    assert "= -1·(-1) + 1·1   from a, y" in lanes(rows, local=True)[1]
    assert "grad" not in lanes(freeze([x, a, y], y))[0]


def test_array_terms_name_the_rows_only() -> None:
    v = leaf("v", np.arange(3.0))
    y = Node(Op("sum"), v, value=3.0)
    line = lanes(freeze([v, y], y, gradients={v: np.ones(3), y: 1.0}, local={y: (None,)}), local=True)[1]
    assert line.split("  ") == ["●", "v", *line.split("  ")[2:]] and line.endswith("from y") and "=" not in line
    assert "[0, 1, 2]" in line and "[1, 1, 1]" in line


def test_many_live_values_take_a_from_column() -> None:
    leaves = [leaf(f"x{at}") for at in range(30)]
    total = Node(Op("sum"), *leaves)
    first, header = lanes(freeze([*leaves, total], total))[1], lanes(freeze([*leaves, total], total))[0]
    assert header.split() == ["id", "from", "value"] and first.split() == ["n0", "x0", "1"]
    last = lanes(freeze([*leaves, total], total), ascii=True)[-1]
    assert last.startswith("n30  n0, n1, n2, n3, ...  y = sum(") and last.isascii()
    twenty = [*leaves[:19], Node(Op("sum"), *leaves[:19])]
    assert lanes(freeze(twenty, twenty[-1]))[1].startswith("●")


def labels(nodes: list[Node], **options: Any) -> list[str]:
    return [row.label for row in freeze(nodes, options.pop("result", nodes[-1]), **options)]


def test_leaves_enter_before_their_first_use() -> None:
    x, y, two, unused = leaf("x"), leaf("y"), constant(), constant(5.0)
    a = Node(SIN, x)
    b = Node(ADD, a, y)
    c = Node(MUL, b, two)
    assert labels([x, y, two, unused, a, b, c]) == ["x", "a = sin(x)", "y", "b = a + y", "2", "c = b * 2"]


def test_names() -> None:
    x, a, y = leaf("x"), leaf("a"), leaf("y")
    b = Node(ADD, x, a)
    assert labels([b]) == ["x", "a", "y = x + a"]
    assert labels([b, Node(MUL, b, y)]) == ["x", "a", "b = x + a", "y", "c = b * y"]
    assert labels([b, Node(MUL, b, x)], reserved={"y", "b"}) == ["x", "a", "c = x + a", "d = c * x"]


def test_a_rebound_name_is_numbered() -> None:
    x, taken = leaf("x"), leaf("y_3")
    one, two, three = Node(SIN, x), Node(ADD, x, x), Node(MUL, x, taken)
    two.inputs, three.inputs = (one, x), (two, taken)
    assert labels([one, two, three], names={one: "y", two: "y", three: "y"}) == [
        "x", "y = sin(x)", "y_2 = y + x", "y_3", "y_4 = y_2 * y_3",
    ]  # fmt: skip


def test_automatic_names_go_on_after_z() -> None:
    nodes = [leaf("x")]
    for _ in range(60):
        nodes.append(Node(SIN, nodes[-1]))
    names = [label.split(" = ")[0] for label in labels(nodes)]
    assert names[1:4] == ["a", "b", "c"]
    assert names[22:28] == ["v", "w", "z", "a1", "b1", "c1"]
    assert len(set(names)) == len(names) and names[-1] == "y"


def test_constants() -> None:
    x = leaf("x")
    named = constant(2.0)
    assert labels([Node(MUL, named, x)], names={named: "k"}) == ["k = 2", "x", "y = k * x"]
    assert labels([Node(MUL, constant(6.0, (0, 3)), x)], source="2*3*x") == ["2*3", "x", "y = (2*3) * x"]
    assert labels([Node(POW, constant(-2.0), x)]) == ["-2", "x", "y = (-2)^x"]
    assert labels([Node(MUL, constant(math.pi, (0, 2)), x)], source="pi*x") == ["pi", "x", "y = pi * x"]
    assert labels([Node(MUL, constant(0.5, (0, 7)), x)], source="f(1)[0]*x")[-1] == "y = f(1)[0] * x"
    assert labels([constant(3.0)]) == ["3"]


@pytest.mark.parametrize(
    ("op", "count", "params", "text"),
    [
        (Op("floordiv", "//"), 2, None, "p // q"),
        (Op("lt", "<"), 2, None, "p < q"),
        (POW, 2, None, "p^q"),
        (NEG, 1, None, "-p"),
        (NOT, 1, None, "not p"),
        (Op("max"), 2, None, "max(p, q)"),
        (Op("sum", "sum"), 1, {"axis": 0, "ddof": None}, "sum(p, axis=0)"),
        (Op("index"), 1, {"index": (0,)}, "p[0]"),
        (Op("index"), 1, {"index": (-1.0, slice(1, None), slice(None, None, -1))}, "p[-1, 1:, ::-1]"),
        (Op("list"), 2, None, "[p, q]"),
        (Op("reshape"), 1, {"shape": (2, 2)}, "reshape(p, shape=[2, 2])"),
    ],
)
def test_spelling(op: Op, count: int, params: Any, text: str) -> None:
    assert labels([Node(op, *[leaf("p"), leaf("q")][:count], params=params)])[-1] == f"y = {text}"


def test_hostile_names_and_texts_are_plain_labels() -> None:
    hostile = 'a"b\\N\\l<b>{|}&lt;\x1b\n漢 -> ; ]'
    rows = freeze([node := leaf(hostile), Node(SIN, node)], node)
    text = dot(rows, hostile + '"; }')
    assert "\x1b" not in text
    assert lanes(rows)[1].isprintable()
    if shutil.which("dot"):
        for form in ("svg", "json"):
            done = subprocess.run(["dot", "-T" + form], input=text.encode(), capture_output=True, check=True)
            assert not done.stderr
            drawn = done.stdout.decode()
        (first, _) = [thing["_ldraw_"] for thing in json.loads(drawn)["objects"]]
        assert first[2]["text"] == 'a"b\\N\\l<b>{|}&lt;\\x1b\\n漢 -> ; ]'


def test_dot() -> None:
    text = dot(lecture(), "(x+2)*x at x=2")
    assert text.split("\n") == [
        "digraph autodiff {",
        "  rankdir=LR;",
        r'  label="(x+2)*x at x=2\l"; labelloc=t; labeljust=l;',
        '  node [shape=box, style=filled, fontname="monospace"];',
        '  edge [fontname="monospace", fontsize=10];',
        r'  n0 [label="x\nvalue 2\ngrad 6", shape=ellipse, fillcolor="#cfe8ff"];',
        r'  n1 [label="2\ngrad 2", shape=plaintext, fillcolor="#eeeeee"];',
        r'  n2 [label="a = x + 2\nvalue 4\ngrad 2\nAddBackward0", shape=box, fillcolor="#ffffff"];',
        r'  n3 [label="y = a * x\nvalue 8\ngrad 1\nMulBackward0", shape=box, fillcolor="#ffe3b3", '
        "peripheries=2, penwidth=1.5];",
        '  n0 -> n2 [label="1"];',
        '  n1 -> n2 [label="1"];',
        '  n2 -> n3 [label="2"];',
        '  n0 -> n3 [label="4"];',
        "}",
        "",
    ]
    assert text == dot(lecture(), "(x+2)*x at x=2")


def test_dot_turns_when_long() -> None:
    x = leaf("x")
    nodes = [x]
    for _ in range(15):
        nodes.append(Node(SIN, nodes[-1]))
    assert "rankdir=TB" in dot(freeze(nodes, nodes[-1]))
    assert "rankdir=LR" in dot(freeze(nodes[:-1], nodes[-2]))


def test_graph_as_json() -> None:
    made = json.loads(dumps(graph(lecture())))
    assert list(made) == ["nodes", "edges"]
    assert made["nodes"][2] == {
        "id": "n2", "op": "add", "grad_fn": "AddBackward0", "label": "a = x + 2",
        "value": 4, "grad": 2, "span": [1, 4],
    }  # fmt: skip
    assert made["edges"][3] == {"from": "n0", "to": "n3", "local": 4}


def chain(length: int, live: int) -> list[Row]:
    current = [leaf(f"x{at}") for at in range(live)]
    nodes = list(current)
    for at in range(length):
        node = Node(MUL, current[at % live], current[at * 7 % live], value=at / 3)
        current[at % live] = node
        nodes.append(node)
    total = Node(Op("sum"), *current)
    nodes.append(total)
    gradients = dict.fromkeys(nodes, 1.5)
    return freeze(nodes, total, gradients=gradients, local=dict.fromkeys(nodes[:-1], (0.5, 2.0)))


@pytest.mark.parametrize(("count", "live"), [(100_000, 10), (10_000, 40)])
def test_many_rows(count: int, live: int) -> None:
    rows = chain(count, live)
    assert len(lanes(rows, local=True)) == len(rows) + 1
    assert dot(rows, "t").count("\n") > 2 * len(rows)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=40))
def test_every_lane_is_one_value(picks: list[tuple[int, int]]) -> None:
    """Following the lanes by eye finds each row's operands again."""
    nodes = [leaf("x")]
    for left, right in picks:
        nodes.append(Node(MUL, nodes[left % len(nodes)], nodes[right % len(nodes)]))
    rows = freeze(nodes, nodes[-1])
    lines = lanes(rows)[1:]
    if lines[0].startswith("n0"):
        return
    held: dict[int, int] = {}
    for at, (row, line) in enumerate(zip(rows, lines, strict=True)):
        glyphs = line[: line.index(row.label.split()[0]) if not at else line.index(f"{row.name}")]
        touched = {lane for lane in range(0, len(glyphs), 2) if glyphs[lane] in "├┼┤└┴┘●"}
        made = glyphs.index("●") // 2
        operands = {held[lane // 2] for lane in touched if lane // 2 != made}
        wanted = {source for source, _ in row.inputs}
        assert operands <= wanted
        assert wanted - operands <= {held.get(made, -1)}
        for lane in touched:
            if glyphs[lane] in "└┴┘":
                del held[lane // 2]
        held[made] = at
        if row.unused:
            del held[made]
