"""The layered layout: nothing overlaps, lines run forward, and few of them cross."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff.render.layout import Layout, layout

SIZE = (60.0, 40.0)


def graph(count: int, seed: int, live: int = 8) -> list[tuple[int, int]]:
    pick = random.Random(seed)
    return [(at - 1 - pick.randrange(min(at, live)), at) for at in range(1, count) for _ in range(pick.randrange(1, 3))]


def held(placed: Layout, edges: list[tuple[int, int]]) -> None:
    """What every layout must hold: no overlaps, all inside, every edge from its source's line to its target."""
    by_layer: dict[float, list[float]] = {}
    for cross, main in placed.centres:
        by_layer.setdefault(main, []).append(cross)
        assert SIZE[0] / 2 <= cross + 1e-6 and cross - 1e-6 <= placed.cross - SIZE[0] / 2
        assert SIZE[1] / 2 <= main + 1e-6 and main - 1e-6 <= placed.main - SIZE[1] / 2
    for row in by_layer.values():
        row.sort()
        assert all(b - a >= SIZE[0] for a, b in pairwise(row))
    on_line = {(at, (c, m + SIZE[1] / 2)) for at, (c, m) in enumerate(placed.centres)}
    for trunk in placed.trunks:
        on_line |= {(trunk.source, point) for point in trunk.points}
        mains = [main for _, main in trunk.points]
        assert mains == sorted(mains)
    for (source, target), line in zip(edges, placed.edges, strict=True):
        (start, end) = line.points
        assert line.source == source and (source, start) in on_line
        assert abs(end[0] - placed.centres[target][0]) < SIZE[0] / 2
        assert end[1] == pytest.approx(placed.centres[target][1] - SIZE[1] / 2)
        assert start[1] < end[1]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60))
def test_any_graph(pairs: list[tuple[int, int]]) -> None:
    edges = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    held(layout([SIZE] * 41, edges), edges)


def test_boxes_of_trunks_are_kept_free() -> None:
    # 0 is used beside the chain 1 … 5 and by the last: its trunk must pass the chain's boxes.
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]
    placed = layout([SIZE] * 6, edges)
    (trunk,) = placed.trunks
    for cross, main in trunk.points[1:]:
        for c, m in placed.centres[2:5]:
            if abs(m - main) <= SIZE[1] / 2:
                assert abs(c - cross) > SIZE[0] / 2


def test_a_tree_has_no_crossing() -> None:
    edges = [(at, at // 2 + 32) for at in range(32)] + [(32 + at, at // 2 + 48) for at in range(16)]
    random.Random(1).shuffle(edges)
    placed = layout([SIZE] * 56, edges)
    for layer in (range(32), range(32, 48)):
        lines = sorted(
            (placed.centres[source][0], placed.centres[target][0]) for source, target in edges if source in layer
        )
        assert [end for _, end in lines] == sorted(end for _, end in lines)


def test_barycentres_save_crossings() -> None:
    # Two chains that are numbered crosswise.
    edges = [(0, 3), (1, 2), (2, 5), (3, 4), (4, 7), (5, 6)]
    placed = layout([SIZE] * 8, edges)
    lines = [[placed.centres[at][0] for at in chain] for chain in ((0, 3, 4, 7), (1, 2, 5, 6))]
    assert all(a < b for a, b in zip(*lines, strict=True)) or all(a > b for a, b in zip(*lines, strict=True))


def test_the_same_input_gives_the_same_picture() -> None:
    edges = graph(200, 5)
    assert layout([SIZE] * 200, edges) == layout([SIZE] * 200, edges)


@pytest.mark.parametrize(("count", "live"), [(1_000, 8), (20_000, 20_000)])
def test_large(count: int, live: int) -> None:
    edges = graph(count, 2, live)
    placed = layout([SIZE] * count, edges)
    assert len(placed.centres) == count and len(placed.edges) == len(edges)
    if count == 1_000:
        held(placed, edges)


def test_nothing() -> None:
    assert layout([], []) == ([], [], [], 0.0, 0.0)
    assert layout([SIZE], []).centres == [(30.0, 20.0)]
