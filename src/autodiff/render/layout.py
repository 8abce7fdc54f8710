"""Where the boxes of a picture stand and how its lines run: a layered drawing in the manner of Sugiyama.

Longest-path layers; one trunk per value through the layers in which it lives on, from which its
uses branch off; few crossings by barycentres; coordinates by isotonic regression, which is the
least-squares answer for boxes in a given order that must not overlap. Deterministic, no recursion.

The layers follow each other along the main axis, the boxes of one layer along the cross axis;
whoever draws says which axis is which.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    Point = tuple[float, float]
    """(cross, main)."""

    class Line(NamedTuple):
        """A line along the main axis: pieces from point to point, curved where the cross axis changes."""

        source: int
        points: tuple[Point, ...]

    class Layout(NamedTuple):
        """Centres of the boxes; one line per edge, from where it leaves its trunk; the trunks; the extent."""

        centres: list[Point]
        edges: list[Line]
        trunks: list[Line]
        cross: float
        main: float

else:
    from collections import namedtuple

    Line = namedtuple("Line", "source points")
    Layout = namedtuple("Layout", "centres edges trunks cross main")

TRUNK = 10.0  # room that a trunk takes beside boxes
STRAIGHT = 8.0  # how much more a trunk pulls than a box
MOST_TRUNKS = 100_000
SWEEPS = 12
LARGE = 5_000  # vertices from which fewer sweeps must do


def layout(
    sizes: Sequence[Point], edges: Sequence[tuple[int, int]], *, between: float = 24.0, layers: float = 56.0
) -> Layout:
    """Place boxes of sizes (cross, main); every edge goes from a lower number to a higher one.

    `between` is the gap of two boxes in a layer, `layers` that of two layers.
    """
    if not sizes:
        return Layout([], [], [], 0.0, 0.0)
    layer_of = _layers(len(sizes), edges)
    graph = _Graph(layer_of, edges)
    order = _order(graph)
    extent = [size[0] for size in sizes] + [TRUNK] * (len(graph.layer_of) - len(sizes))
    cross = _coordinates(graph, order, extent, between)
    thick = [0.0] * (max(layer_of) + 1)
    for at, size in enumerate(sizes):
        thick[layer_of[at]] = max(thick[layer_of[at]], size[1])
    starts = [0.0]
    for depth in thick[:-1]:
        starts.append(starts[-1] + depth + layers)
    centres = [(cross[at], starts[layer_of[at]] + thick[layer_of[at]] / 2) for at in range(len(sizes))]
    drawn = _lines(graph, sizes, edges, cross, centres, starts, thick)
    right = max(c + extent[v] / 2 for v, c in enumerate(cross))
    return Layout(centres, *drawn, right, starts[-1] + thick[-1])


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest path from a source; sources themselves stand right before their first use."""
    layer = [0] * count
    first: list[int | None] = [None] * count
    fed = [False] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        layer[target] = max(layer[target], layer[source] + 1)
        fed[target] = True
    for source, target in edges:
        before = first[source]
        first[source] = layer[target] if before is None else min(before, layer[target])
    for at in range(count):
        use = first[at]
        if not fed[at] and use is not None:
            layer[at] = use - 1
    return layer


class _Graph:
    """Boxes and trunk pieces, layer by layer; neighbours are always one layer apart."""

    __slots__ = ("above", "below", "branch", "count", "layer_of", "trunk")

    def __init__(self, layer_of: list[int], edges: Sequence[tuple[int, int]]) -> None:
        self.count = len(layer_of)
        self.layer_of = list(layer_of)
        last = list(layer_of)
        for source, target in edges:
            last[source] = max(last[source], layer_of[target])
        self.trunk: list[list[int]] = [[] for _ in layer_of]
        # Trunks of values that live long are many pieces: the shortest first, as many as there is room for.
        left = MOST_TRUNKS
        for at in sorted(range(self.count), key=lambda at: last[at] - layer_of[at]):
            pieces = last[at] - layer_of[at] - 1
            if pieces > left:
                break
            left -= max(pieces, 0)
            for layer in range(layer_of[at] + 1, last[at]):
                self.trunk[at].append(len(self.layer_of))
                self.layer_of.append(layer)
        total = len(self.layer_of)
        self.above: list[list[int]] = [[] for _ in range(total)]
        self.below: list[list[int]] = [[] for _ in range(total)]
        for at, pieces_of in enumerate(self.trunk):
            before = at
            for piece in pieces_of:
                self._join(before, piece)
                before = piece
        self.branch: list[int] = []
        """By edge: the vertex from which its last piece goes to the target."""
        for source, target in edges:
            reach = layer_of[target] - layer_of[source] - 2
            vertex = source if reach < 0 or not self.trunk[source] else self.trunk[source][reach]
            self.branch.append(vertex)
            if self.layer_of[vertex] == layer_of[target] - 1:
                self._join(vertex, target)

    def _join(self, upper: int, lower: int) -> None:
        self.below[upper].append(lower)
        self.above[lower].append(upper)


def _order(graph: _Graph) -> list[list[int]]:
    """The vertices of each layer in an order with few crossings: the best of some barycentre sweeps."""
    layers: list[list[int]] = [[] for _ in range(max(graph.layer_of) + 1)]
    for vertex, layer in enumerate(graph.layer_of):
        layers[layer].append(vertex)
    place = [0] * len(graph.layer_of)
    for layer_vertices in layers:
        for at, vertex in enumerate(layer_vertices):
            place[vertex] = at
    best = [list(layer) for layer in layers]
    fewest = _crossings(graph, layers, place)
    for turn in range(SWEEPS if len(place) <= LARGE else 3):
        if not fewest:
            break
        down = turn % 2 == 0
        neighbours = graph.above if down else graph.below
        for layer_vertices in layers if down else reversed(layers):
            keys = {}
            for at, vertex in enumerate(layer_vertices):
                near = neighbours[vertex]
                keys[vertex] = sum([place[other] for other in near]) / len(near) if near else float(at)
            layer_vertices.sort(key=keys.__getitem__)
            for at, vertex in enumerate(layer_vertices):
                place[vertex] = at
        if len(place) <= LARGE:
            _switch(graph, layers, place)
        found = _crossings(graph, layers, place)
        if found < fewest:
            fewest = found
            best = [list(layer) for layer in layers]
    return best


def _switch(graph: _Graph, layers: list[list[int]], place: list[int]) -> None:
    """Swap neighbours where that saves crossings."""
    for layer in layers:
        for at in range(len(layer) - 1):
            left, right = layer[at], layer[at + 1]
            saved = 0
            for near in (graph.above, graph.below):
                for a in near[left]:
                    for b in near[right]:
                        saved += (place[a] > place[b]) - (place[a] < place[b])
            if saved > 0:
                layer[at], layer[at + 1] = right, left
                place[right], place[left] = at, at + 1


def _crossings(graph: _Graph, layers: Sequence[Sequence[int]], place: Sequence[int]) -> int:
    """Pairs of lines that cross: inversions, counted by a Fenwick tree."""
    crossings = 0
    for upper, lower in pairwise(layers):
        size = len(lower)
        tree = [0] * (size + 1)
        seen = 0
        for vertex in upper:
            targets = sorted([place[other] for other in graph.below[vertex]])
            for target in targets:
                at = target + 1
                smaller = 0
                while at:
                    smaller += tree[at]
                    at &= at - 1
                crossings += seen - smaller
            for target in targets:
                seen += 1
                at = target + 1
                while at <= size:
                    tree[at] += 1
                    at += at & -at
    return crossings


def _coordinates(graph: _Graph, order: list[list[int]], extent: list[float], between: float) -> list[float]:
    """Cross coordinates: each layer as near to its neighbours as its order and the gaps allow."""
    cross = [0.0] * len(extent)
    for layer in order:
        at = 0.0
        for vertex in layer:
            cross[vertex] = at + extent[vertex] / 2
            at += extent[vertex] + between
        for vertex in layer:
            cross[vertex] -= at / 2
    turns = 12 if len(extent) <= LARGE else 6
    for turn in range(turns):
        down = turn % 2 == 0
        both = turn >= turns - 4
        straight = _straight(graph, cross) if both else {}
        for layer in order if down else reversed(order):
            wishes = []
            weights = []
            for vertex in layer:
                if vertex in straight:
                    wishes.append(straight[vertex])
                    weights.append(STRAIGHT)
                    continue
                near = (graph.above if down else graph.below)[vertex]
                if both:
                    near = graph.above[vertex] + graph.below[vertex]
                wish = weight = 0.0
                for other in near:
                    pull = STRAIGHT if vertex >= graph.count and other >= graph.count else 1.0
                    wish += pull * cross[other]
                    weight += pull
                wishes.append(wish / weight if weight else cross[vertex])
                weights.append(weight or 0.01)
            for vertex, at in zip(layer, _spread(layer, wishes, weights, extent, between), strict=True):
                cross[vertex] = at
    left = min(c - extent[v] / 2 for v, c in enumerate(cross))
    return _snapped(graph, [c - left for c in cross], between)


def _snapped(graph: _Graph, cross: list[float], between: float) -> list[float]:
    """Trunks without their smallest bends, which would only be seen as a tremor."""
    for pieces in graph.trunk:
        start = 0
        for at in range(1, len(pieces)):
            if abs(cross[pieces[at]] - cross[pieces[start]]) < between / 8:
                cross[pieces[at]] = cross[pieces[start]]
            else:
                start = at
    return cross


def _straight(graph: _Graph, cross: Sequence[float]) -> dict[int, float]:
    """By piece of a trunk: where the whole trunk would stand as one line."""
    found = {}
    for pieces in graph.trunk:
        if pieces:
            mean = sum([cross[piece] for piece in pieces]) / len(pieces)
            found.update(dict.fromkeys(pieces, mean))
    return found


def _spread(
    layer: Sequence[int], wishes: Sequence[float], weights: Sequence[float], extent: Sequence[float], between: float
) -> list[float]:
    """The places nearest to the wishes (weighted squares) that keep order and gaps: pool adjacent violators."""
    offset = 0.0
    offsets = []
    for at, vertex in enumerate(layer):
        if at:
            offset += (extent[layer[at - 1]] + extent[vertex]) / 2 + between
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for wish, weight, off in zip(wishes, weights, offsets, strict=True):
        mean, heavy, members = wish - off, weight, 1
        while pools and pools[-1][0] > mean:
            other, pull, many = pools.pop()
            mean = (mean * heavy + other * pull) / (heavy + pull)
            heavy += pull
            members += many
        pools.append((mean, heavy, members))
    means = [mean for mean, _, members in pools for _ in range(members)]
    return [mean + off for mean, off in zip(means, offsets, strict=True)]


def _lines(
    graph: _Graph,
    sizes: Sequence[Point],
    edges: Sequence[tuple[int, int]],
    cross: Sequence[float],
    centres: Sequence[Point],
    starts: Sequence[float],
    thick: Sequence[float],
) -> tuple[list[Line], list[Line]]:
    """The edges and the trunks."""

    def leaves(vertex: int) -> Point:
        layer = graph.layer_of[vertex]
        if vertex < graph.count:
            return cross[vertex], centres[vertex][1] + sizes[vertex][1] / 2
        return cross[vertex], starts[layer] + thick[layer]

    trunks = []
    for at, pieces in enumerate(graph.trunk):
        if pieces:
            points = [leaves(at)]
            for piece in pieces:
                points += [(cross[piece], starts[graph.layer_of[piece]]), leaves(piece)]
            trunks.append(Line(at, tuple(points)))
    # The lines into a box arrive side by side, in the order in which they come.
    arriving: list[list[int]] = [[] for _ in sizes]
    for number, (_, target) in enumerate(edges):
        arriving[target].append(number)
    port = [0.0] * len(edges)
    for target, numbers in enumerate(arriving):
        numbers.sort(key=lambda number: cross[graph.branch[number]])
        room = sizes[target][0] * 0.7
        for at, number in enumerate(numbers, 1):
            port[number] = cross[target] + room * (at / (len(numbers) + 1) - 0.5)
    drawn = []
    for number, (source, target) in enumerate(edges):
        end = (port[number], centres[target][1] - sizes[target][1] / 2)
        drawn.append(Line(source, (leaves(graph.branch[number]), end)))
    return drawn, trunks
