"""Functions of functions: gradients, Jacobians, Hessians, directional derivatives, and their numerical check.

The functions take and give tensors; `argnums` says which positional arguments to differentiate by.
"""

from __future__ import annotations

from autodiff import numeric
from autodiff.errors import ShapeError
from autodiff.tensors.backward import grad as _grad
from autodiff.tensors.graph import GraphError
from autodiff.tensors.modes import enable_grad, no_grad
from autodiff.tensors.rows import jacobian as rows_at_once
from autodiff.tensors.sweep import Plan, sweep
from autodiff.tensors.tensor import Tensor, plain, raw_of, tensor, wrap
from autodiff.tensors.trees import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Function = Callable[..., Any]


def _traced(x: Any) -> Tensor:
    """A tensor that stands for the argument: with a graph of its own, and still part of one around it."""
    if x.__class__ is Tensor and x._fn is not None:
        return x.clone()
    return tensor(raw_of(x), requires_grad=True)


def _called(
    function: Function, args: Sequence[Any], argnums: int | Sequence[int]
) -> tuple[Any, list[Tensor], Function]:
    """The value, the tensors that stand for the arguments, and what lays as many others out as arguments."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    inner = list(args)
    standing: list[Tensor] = []
    forms = []
    for k in places:
        leaves, closed = opened(inner[k])
        forms.append((len(leaves), closed))
        standing += (traced := [_traced(x) for x in leaves])
        inner[k] = closed(traced)

    def laid(found: Sequence[Any]) -> Any:
        rest = iter(found)
        trees = tuple(closed([next(rest) for _ in range(count)]) for count, closed in forms)
        return trees[0] if isinstance(argnums, int) else trees

    return function(*inner), standing, laid


def _scalar(y: Any, name: str) -> Tensor:
    made = wrap(plain(y) if y.__class__ is not Tensor else y)
    if made.numel() != 1:
        raise ShapeError(f"{name} wants a function that gives one number, not an array of shape {made.shape}")
    return made


def _derivatives(y: Tensor, xs: Sequence[Tensor], seed: Any = None, create: bool = True) -> list[Tensor]:
    if y._fn is None:
        return [x.detach() * 0.0 for x in xs]
    return [g for g in _grad(y, list(xs), seed, True, create, True, True) if g is not None]


def _outside(function: Function) -> Function:
    def run(*args: Any) -> Any:
        with enable_grad():
            return function(*args)

    return run


def _settled(result: Tensor, own: Sequence[Tensor]) -> Tensor:
    """Recorded only where it depends on more than the tensors that stood for the arguments."""
    return result if _reaches_out(result, own) else result.detach()


def _reaches_out(result: Tensor, own: Sequence[Tensor]) -> bool:
    """Whether the result depends on leaves other than these."""
    if result._fn is None:
        return False
    mine = {x._fn for x in own}
    return any(fn.op is None and fn not in mine for fn in Plan([result._fn], None).seen)


def value_and_grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """The function that gives (value, gradient): one gradient, or a tuple for several `argnums`.

    With `has_aux` the function gives (value, anything), and (value, anything) stands in the place of the value.
    An argument may be a dictionary, a list or a tuple of tensors; so is its gradient then.

    >>> value_and_grad(lambda x: x * x)(tensor(3.0))
    (tensor(9.), tensor(6.))
    """

    def both(*args: Any) -> Any:
        y, xs, laid = _called(function, args, argnums)
        aux: Any = None
        if has_aux:
            y, aux = y
        y = _scalar(y, "grad")
        g = laid([_settled(g, xs) for g in _derivatives(y, xs)])
        y = _settled(y, xs)
        return ((y, _settled(aux, xs) if aux.__class__ is Tensor else aux), g) if has_aux else (y, g)

    return _outside(both)


def grad_and_value(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """As value_and_grad, in PyTorch's order.

    >>> grad_and_value(lambda x: x * x)(tensor(3.0))
    (tensor(6.), tensor(9.))
    """
    both = value_and_grad(function, argnums, has_aux)
    return lambda *args: both(*args)[::-1]


def grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """The function that gives the gradient of one that gives one number; it can be differentiated again.

    With `has_aux` the function gives (value, anything), and the result is (gradient, anything).

    >>> grad(grad(lambda x: x**3))(tensor(2.0))
    tensor(12.)
    """
    both = value_and_grad(function, argnums, has_aux)

    def alone(*args: Any) -> Any:
        y, g = both(*args)
        return (g, y[1]) if has_aux else g

    return alone


def _rows(y: Tensor, x: Tensor) -> Tensor:
    """The Jacobian of y by x, of shape y + x, one sweep a row."""
    from autodiff.tensors.namespace import named

    stack, reshape = named("stack"), named("reshape")
    assert stack is not None and reshape is not None
    np = numeric.numpy()
    if y._fn is None:
        return wrap(numeric.raw(np.zeros(y.shape + x.shape)))
    create = _reaches_out(y, [x])
    if not y.shape:
        return _derivatives(y, [x], None, create)[0]
    if not create and y.numel():
        found = rows_at_once(y._fn, x._fn, y.shape, x.shape)
        if found is not None:
            return wrap(found)
    rows = []
    for k in np.ndindex(y.shape):
        seed = np.zeros(y.shape)
        seed[k] = 1.0
        if create:
            rows.append(_derivatives(y, [x], wrap(seed))[0])
        else:
            with no_grad():
                row = sweep([y._fn], [seed], None, True, wrap).get(x._fn)
            rows.append(x.detach() * 0.0 if row is None else wrap(row))
    if not rows:
        return wrap(np.zeros(y.shape + x.shape))
    return reshape(stack(rows), *y.shape, *x.shape)  # type: ignore[no-any-return]


def jacobian(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The function that gives the Jacobian, of shape value + argument.

    >>> jacobian(lambda v: v * v)(tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def run(*args: Any) -> Any:
        y, xs, laid = _called(function, args, argnums)
        values, closed = opened(y)
        values = [v if v.__class__ is Tensor else wrap(plain(v)) for v in values]
        return closed([laid([_settled(_rows(v, x), xs) for x in xs]) for v in values])

    return _outside(run)


jacrev = jacfwd = jacobian


def vmap(function: Function, in_dims: Any = 0, out_dims: int = 0) -> Function:
    """The function of one entry as a function of all along an axis (None: the same for all), run one by one.

    >>> vmap(lambda v: v * v)(tensor([1.0, 2.0]))
    tensor([1., 4.])
    """

    def run(*args: Any) -> Any:
        from autodiff.tensors.compose import shape_of
        from autodiff.tensors.indexing import select
        from autodiff.tensors.namespace import named

        stack = named("stack")
        assert stack is not None
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        trees = [(*opened(x), d) for x, d in zip(args, dims, strict=True)]
        counts = {shape_of(x)[d] for leaves, _, d in trees if d is not None for x in leaves}
        if len(counts) != 1:
            raise ShapeError(f"vmap wants axes of one length, not of {sorted(counts)}")
        found = []
        for k in range(counts.pop()):
            y = function(*(closed([x if d is None else select(x, d, k) for x in xs]) for xs, closed, d in trees))
            values, closed = opened(y)
            found.append(values)
        return closed([stack(list(part), dim=out_dims) for part in zip(*found, strict=True)])

    return run


def hessian(function: Function, argnums: int = 0) -> Function:
    """The function that gives the Hessian of one that gives one number: shape argument + argument.

    >>> hessian(lambda v: v[0] ** 2 * v[1])(tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    return jacobian(grad(function, argnums), argnums)


def vjp(function: Function, *primals: Any) -> tuple[Any, Function]:
    """The value, and the function from a cotangent (of the value's shape) to one gradient per primal.

    >>> y, pull = vjp(lambda v: v * v, tensor([1.0, 2.0]))
    >>> pull(tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)
    """
    with enable_grad():
        y, xs, laid = _called(function, primals, range(len(primals)))

    def pull(cotangent: Any) -> Any:
        seed = cotangent if cotangent.__class__ is Tensor else wrap(plain(cotangent))
        with enable_grad():
            return laid([_settled(g, xs) for g in _derivatives(y, xs, seed)])

    return _settled(y, xs), pull


def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Tensor]:
    """(value, derivative along the tangents): the vjp is linear in its cotangent, and its vjp is the jvp.

    >>> jvp(lambda x: x * x, (tensor(3.0),), (tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    if len(primals) != len(tangents):
        raise ShapeError(f"{len(primals)} primals, but {len(tangents)} tangents")
    along = [t for tangent in tangents for t in opened(tangent)[0]]
    with enable_grad():
        y, xs, _ = _called(function, primals, range(len(primals)))
        if y._fn is None:
            return y, y * 0.0
        dummy = tensor(raw_of(y) * 0.0, requires_grad=True)
        pulled = _derivatives(y, xs, dummy)
        found: Any = None
        for g, t in zip(pulled, along, strict=True):
            if g._fn is not None:
                d = _derivatives(g, [dummy], t if t.__class__ is Tensor else wrap(plain(t)))[0]
                found = d if found is None else found + d
    own = [*xs, dummy]
    return _settled(y, own), _settled(found if found is not None else y.detach() * 0.0, own)


def linearize(function: Function, *primals: Any) -> tuple[Any, Function]:
    """The value, and the function from tangents, one per primal, to the derivative along them.

    >>> y, push = linearize(lambda x: x * x, tensor(3.0))
    >>> push(tensor(1.0))
    tensor(6.)
    """
    return function(*primals), lambda *tangents: jvp(function, primals, tangents)[1]


def hvp(function: Function, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """(value, Hessian times tangent) of a function that gives one number, without the Hessian.

    >>> hvp(lambda x: x**3, (tensor(2.0),), (tensor(1.0),))
    (tensor(8.), tensor(12.))
    """
    many = isinstance(primals, (tuple, list))
    points = list(primals) if many else [primals]
    along = list(tangents) if isinstance(tangents, (tuple, list)) else [tangents]
    with enable_grad():
        y, xs, _ = _called(function, points, range(len(points)))
        y = _scalar(y, "hvp")
        slope: Any = 0.0
        for g, t in zip(_derivatives(y, xs), along, strict=True):
            slope = slope + (g * t if not g.shape else (g * t)._apply("sum"))
        found = tuple(_settled(g, xs) for g in _derivatives(wrap(slope), xs))
    return _settled(y, xs), found[0] if len(found) == 1 else found


def gradcheck(
    function: Function,
    inputs: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **_: Any,
) -> bool:
    """Whether derivatives agree with central differences at the inputs that require one; GraphError if not.

    >>> gradcheck(lambda x: x.sin(), tensor([1.0, 2.0], requires_grad=True))
    True
    """
    given = [inputs] if inputs.__class__ is Tensor else list(inputs)
    np = numeric.numpy()
    wanted = [k for k, x in enumerate(given) if x.__class__ is Tensor and x.requires_grad]
    if not wanted:
        raise GraphError("gradcheck needs an input with requires_grad=True")
    with enable_grad():
        y = function(*given)
    outputs = [y] if y.__class__ is Tensor else list(y)
    for place, output in enumerate(outputs):
        for k in wanted:
            if output._fn is None:
                ours = np.zeros(output.shape + given[k].shape)
            else:
                rows = []
                for at in np.ndindex(output.shape):
                    seed = np.zeros(output.shape)
                    seed[at] = 1.0
                    (g,) = _grad(output, given[k], wrap(numeric.raw(seed)), True, False, True, True)
                    rows.append(np.asarray(g._value if g is not None else 0.0))
                ours = np.array(rows).reshape(output.shape + given[k].shape)
            theirs = _differences(function, given, k, place, eps)
            if not np.allclose(ours, theirs, rtol=rtol, atol=atol):
                if raise_exception:
                    raise GraphError(
                        f"Jacobian mismatch for output {place} with respect to input {k}:\n{ours}\n"
                        f"by the rules and\n{theirs}\nby differences"
                    )
                return False
    return True


def _differences(function: Function, given: list[Any], k: int, place: int, eps: float) -> Any:
    np = numeric.numpy()
    x = np.array(raw_of(given[k]), dtype=float)
    columns = []

    def at(value: Any) -> Any:
        args = [
            wrap(numeric.raw(value.copy())) if j == k else g.detach() if g.__class__ is Tensor else g
            for j, g in enumerate(given)
        ]
        y = function(*args)
        return np.array(raw_of(y if y.__class__ is Tensor else y[place]), dtype=float)

    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        columns.append((at(up) - at(down)) / (up[i] - down[i]))
    return np.stack(columns, -1).reshape(columns[0].shape + x.shape) if columns else np.zeros((*x.shape,))


def gradgradcheck(function: Function, inputs: Any, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3) -> bool:
    """gradcheck of the gradient: whether second derivatives agree with differences of first ones.

    >>> gradgradcheck(lambda x: x.sin(), tensor([1.0, 2.0], requires_grad=True))
    True
    """
    given = [inputs] if inputs.__class__ is Tensor else list(inputs)
    wanted = [k for k, x in enumerate(given) if x.__class__ is Tensor and x.requires_grad]

    def first(*args: Any) -> Any:
        args = tuple(x if x.requires_grad or k not in wanted else tensor(x._value, True) for k, x in enumerate(args))
        y = function(*args)
        outputs = [y] if y.__class__ is Tensor else list(y)
        total: Any = 0.0
        for output in outputs:
            weights = numeric.numpy().linspace(0.7, 1.3, max(output.numel(), 1)).reshape(output.shape)
            total = total + (output * numeric.raw(weights) if not output.shape else (output * weights)._apply("sum"))
        return tuple(g for g in _grad(total, [args[k] for k in wanted], None, True, True, True, True) if g is not None)

    return gradcheck(first, given, eps, atol, rtol)
