"""Views: tensors that show entries of another one, so that a change in place of either shows in both.

Values are not shared, since rules may have saved them: a change makes a new value, which is put into the tensor that
the view was taken of; then all views look again. Both are recorded like any operation. NumPy arrays that a tensor was
made of, or gave away, are written over.
"""

from __future__ import annotations

from functools import wraps
from weakref import ref as reference

from autodiff import numeric
from autodiff.tensors.graph import GraphError, note_change, number
from autodiff.tensors.modes import mode, no_grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MANY = 64  # views of a tensor from which the dead are looked for


class Links:
    """What few tensors have: how often they were changed in place, what they show, and who shows them."""

    __slots__ = ("changes", "how", "parent", "views")

    def __init__(self, parent: Any = None, how: Any = None) -> None:
        self.changes = 0
        self.parent = parent
        self.how = how
        """The index of the entries shown, or the function that shows them; None of a tensor taken out of the graph."""
        self.views: list[Any] | None = None


def links_of(x: Any) -> Links:
    """The links of a tensor, made at the first use."""
    try:
        return x._links  # type: ignore[no-any-return]
    except AttributeError:
        x._links = made = Links()
        return made


def link(view: Any, x: Any, how: Any) -> Any:
    """A tensor just made, as a view of x."""
    view._links = Links(x, how)
    _shown_by(x, view)
    return view


def _shown_by(x: Any, view: Any) -> None:
    links = links_of(x)
    views = links.views
    if views is None:
        views = links.views = []
    views.append(reference(view))
    n = len(views)
    if n >= MANY and not n & (n - 1):  # at powers of two, so that long lists are seldom gone through
        views[:] = [ref for ref in views if ref() is not None]


def viewing(function: Callable[..., Any], copies: bool = False) -> Callable[..., Any]:
    """The function with its result (or results) as views of its first operand; where it `copies`, only if in order."""

    @wraps(function)
    def call(x: Any, *args: Any, **options: Any) -> Any:
        made = function(x, *args, **options)
        if not hasattr(x, "_fn"):
            return made
        if made.__class__ is tuple:
            for k, part in enumerate(made):
                link(part, x, lambda b, k=k: function(b, *args, **options)[k])
        elif made is not x and not (copies and numeric.is_array(x._value) and not x._value.flags.c_contiguous):
            link(made, x, lambda b: function(b, *args, **options))
        return made

    return call


def share(x: Any, array: Any) -> Any:
    """The array, as one that changes with x and x with it."""
    if array.ndim:
        x._value = array
        _shown_by(x, array)
    return array


def given_away(x: Any) -> Any:
    """The value of a tensor as an array that changes with it."""
    links = getattr(x, "_links", None)
    while links is not None and links.parent is not None and links.how is None:
        x = links.parent
        links = getattr(x, "_links", None)
    if not numeric.is_array(x._value):
        return numeric.numpy().asarray(x._value)
    for ref in () if links is None else links.views or ():
        if ref() is x._value:
            return x._value
    return share(x, x._value.copy())  # others may have the value


def change(x: Any, made: Any, name: str) -> None:
    """x becomes `made`, and what x shows and what shows x change with it."""
    links = getattr(x, "_links", None)
    if links is None or (links.parent is None and not links.views):
        _settle(x, made, name, _time(made))
        return
    path = []
    while links is not None and links.parent is not None:
        path.append((links.parent, links.how))
        links = getattr(links.parent, "_links", None)
    apart = any(how is None for _, how in path)
    leaf = path[-1][0]._fn if path else None
    if mode.recording and not apart and leaf is not None and leaf.op is None:
        raise GraphError(
            f"a view of a leaf Variable that requires grad is being used in an in-place operation, {name}",
            help="change it inside `with no_grad():`",
        )
    if apart and mode.recording:
        with no_grad():
            _spread(x, path, made.detach(), name)
    else:
        _spread(x, path, made, name)


def _spread(x: Any, path: list[Any], made: Any, name: str) -> None:
    when = _time(made)  # not of the puts: what the operation itself has saved is as it was
    for parent, how in path:
        made = _put(parent, how, made)
        x = parent
    _settle(x, made, name, when)
    changed = [x]
    while changed:
        parent = changed.pop()
        for ref in tuple(links_of(parent).views or ()):
            view = ref()
            if numeric.is_array(view):
                numeric.numpy().copyto(view, parent._value)
                parent._value = view
                note_change(view, name, number())  # written over, also for the operation itself
            elif view is not None and view._links.parent is parent:
                _settle(view, _shown(parent, view._links.how), name, when)
                changed.append(view)


def _time(made: Any) -> int:
    """The number of the operation that made a tensor, or the next one if it was not recorded."""
    return number() if made._fn is None else int(made._fn.index)


def _settle(x: Any, made: Any, name: str, when: int) -> None:
    old = x._value
    x._value = made._value
    links_of(x).changes += 1
    note_change(old, name, when)
    if made._fn is not None:
        x._fn = made._fn


def _shown(x: Any, how: Any) -> Any:
    if how is None:
        return x.detach()
    return x._apply("index", index=how) if how.__class__ is tuple else how(x)


def _places(x: Any, how: Any) -> Any:
    """Which entries of x, counted in order, a view shows."""
    from autodiff.tensors.tensor import wrap

    np = numeric.numpy()
    with no_grad():
        return np.asarray(_shown(wrap(np.arange(float(x.numel())).reshape(x.shape)), how)._value).astype(int)


def root_of(x: Any) -> tuple[Any, int]:
    """The tensor that x is a view of in the end, and the place of its first entry there."""
    place = 0
    links = getattr(x, "_links", None)
    while links is not None and links.parent is not None:
        x = links.parent
        if links.how is not None and x.numel():
            place = int(_places(x, links.how).reshape(-1)[place])
        links = getattr(x, "_links", None)
    return x, place


def data_ptr(x: Any) -> int:
    """A number that tensors share whose first entry is the same.

    >>> x = tensor([1.0, 2.0])
    >>> data_ptr(x[0]) == data_ptr(x)
    True
    """
    root, place = root_of(x)
    return id(root) + 8 * place


def _put(x: Any, how: Any, made: Any) -> Any:
    """x with another value where the view shows it."""
    if how is None:
        return made
    if how.__class__ is tuple:
        return x._apply("put", made, index=how)
    from autodiff.tensors.compose import run
    from autodiff.tensors.shapes import reshape

    np = numeric.numpy()
    places = _places(x, how)
    if len(np.unique(places)) < places.size:
        raise GraphError(
            "an expanded tensor shows entries more than once and can't be changed", help="clone() it first"
        )
    return reshape(run("put", reshape(x, -1), made, index=(places,)), *x.shape)
