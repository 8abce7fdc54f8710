"""The checker itself: rules planted a millionth off must not pass, nor a value that is off."""

from __future__ import annotations

from typing import Any

import pytest

from autodiff.ops import OPS
from autodiff.ops.record import Op
from autodiff.ops.special import density

from .checker import complaints
from .reference import ARRAYS, SCALARS
from .test_arrays import CASES, VARIED
from .test_arrays import ROWS as ARRAY_ROWS
from .test_rows import HELD, SLOW, point, points
from .test_rows import ROWS as SCALAR_ROWS

OFF = 1.0 + 1e-6


class Planted:
    """A row as another one, under the same name, with one rule or the value changed; not in the registry."""

    def __new__(cls, row: Op, **changes: Any) -> Any:
        planted = Op.__new__(Op)
        for name in Op.__slots__:
            if hasattr(row, name):
                setattr(planted, name, changes.get(name, getattr(row, name)))
        return planted


def off(rule: Any) -> Any:
    if not callable(rule):
        return rule * OFF if rule else 1e-6
    return lambda *args, **params: rule(*args, **params) * OFF


@pytest.mark.parametrize("row", SCALAR_ROWS, ids=[row.name for row in SCALAR_ROWS])
def test_a_wrong_partial_is_caught(row: Op) -> None:
    samples = [point(s) for s in row.samples] or points(row)[-3:]
    held = HELD.get(row.name, [])
    for i in range(len(samples[0])):
        if i in held:
            continue
        planted = Planted(row, partials=lambda j, i=i: off(row.partial(j)) if i == j else row.partial(j))
        assert any(
            complaints(planted, SCALARS[row.name], p, [i], order=1, exponential=row.name not in SLOW)
            for p in samples
            if i < len(p)
        ), (row.name, i)


@pytest.mark.parametrize("row", ARRAY_ROWS, ids=[row.name for row in ARRAY_ROWS])
def test_a_wrong_vjp_is_caught(row: Op) -> None:
    xs, params = CASES[row.name][0 if row.name == "det" else -1]
    varied = VARIED.get(row.name, range(len(xs)))
    varied = list(varied(xs) if callable(varied) else varied)
    assert varied
    for i in varied:
        planted = Planted(row, vjps=lambda j, i=i: off(row.vjp(j)) if i == j else row.vjp(j))
        assert complaints(planted, ARRAYS[row.name], xs, [i], params, 1, False), (row.name, i)


def test_a_rule_right_at_first_order_alone_is_caught() -> None:
    """The density with its argument detached is right as a number, and wrong when differentiated."""
    detached = Planted(OPS["ndtr"], partials=[lambda y, x: density(OPS["stop_gradient"](x))])
    assert not complaints(detached, SCALARS["ndtr"], (0.3,), order=1)
    assert complaints(detached, SCALARS["ndtr"], (0.3,))


def test_a_cancelling_form_is_caught() -> None:
    tanh = OPS["tanh"]
    cancelling = Planted(tanh, partials=[lambda y, x: 1.0 - OPS["square"](tanh(x))])
    assert not complaints(cancelling, SCALARS["tanh"], (0.3,))
    assert complaints(cancelling, SCALARS["tanh"], (20.0,))
