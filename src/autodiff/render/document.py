"""The JSON objects of the commands: which keys in which order, and strict JSON text of them.

Written here rather than with the `json` module: that one would write NaN, print arrays only after
a conversion, and take a few milliseconds to import, a tenth of the whole run.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autodiff.errors import Note
    from autodiff.render.view import Row

KEYS: dict[str, tuple[str, ...]] = {
    "eval": ("expression", "at", "value"),
    "grad": ("expression", "at", "value", "gradient"),
    "jac": ("expression", "at", "value", "jacobian"),
    "hess": ("expression", "at", "value", "gradient", "hessian"),
    "jvp": ("expression", "at", "value", "jvp"),
    "vjp": ("expression", "at", "value", "vjp"),
    "hvp": ("expression", "at", "value", "gradient", "hvp"),
    "diff": ("expression", "at", "value", "derivatives"),
    "taylor": ("expression", "at", "coefficients"),
    "derive": ("expression", "derivatives"),
    "check": ("expression", "at", "ok", "inputs"),
    "propagate": ("expression", "at", "value", "sigma", "contributions"),
    "graph": ("nodes", "edges"),
    "explain": ("expression", "at", "value", "gradient", "forward", "backward", "sums"),
}


def document(command: str, parts: Mapping[str, Any], notes: Sequence[Note] = ()) -> dict[str, Any]:
    """The object that a command promises, from its parts in any order; further parts follow the promised."""
    ordered = {key: parts[key] for key in KEYS[command]}
    ordered.update(parts)
    if notes:
        ordered["notes"] = [note_object(note) for note in notes]
    return ordered


def note_object(note: Note) -> dict[str, Any]:
    """A member of the list "notes": "count" only where there is more than one, "help" where there is one."""
    entry: dict[str, Any] = {"kind": note.kind, "message": note.message, "span": note.span}
    if note.count > 1:
        entry["count"] = note.count
    if note.help is not None:
        entry["help"] = note.help
    return entry


def graph(rows: Sequence[Row]) -> dict[str, Any]:
    """The recorded graph as data; rows of the sweep say so, and what gradients the derivatives have."""
    nodes: list[dict[str, Any]] = [
        {
            "id": row.id,
            "op": row.op or row.kind,
            "grad_fn": row.grad_fn or None,
            "label": row.label,
            "value": row.value,
            "grad": row.grad,
            "span": row.span,
        }
        for row in rows
    ]
    for node, row in zip(nodes, rows, strict=True):
        if row.backward:
            node["backward"] = True
        if row.second:
            node["second"] = dict(row.second)
    edges = [{"from": rows[source].id, "to": row.id, "local": local} for row in rows for source, local in row.inputs]
    return {"nodes": nodes, "edges": edges}


def dumps(value: Any) -> str:
    """Strict JSON on one line, ASCII only, so that it survives any encoding and no terminal obeys it."""
    out: list[str] = []
    _write(value, out)
    return "".join(out)


def _write(value: Any, out: list[str]) -> None:
    # Recursion is as deep as the object nests: a few levels and at most the dimensions of an array.
    if value is None:
        out.append("null")
    elif isinstance(value, str):
        out.append(_string(value))
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, float):
        out.append(_float(value))
    elif isinstance(value, dict):
        _write_object(value, out)
    elif isinstance(value, (list, tuple)):
        _write_list(value, out)
    elif hasattr(value, "tolist"):
        _write(value.tolist(), out)
    else:
        out.append(str(value))


def _write_object(value: dict[str, Any], out: list[str]) -> None:
    between = "{"
    for key, item in value.items():
        out.append(between + _string(key) + ": ")
        _write(item, out)
        between = ", "
    out.append("}" if value else "{}")


def _write_list(value: Sequence[Any], out: list[str]) -> None:
    between = "["
    for item in value:
        out.append(between)
        _write(item, out)
        between = ", "
    out.append("]" if value else "[]")


def _float(value: float) -> str:
    text = float.__repr__(value)
    if text.endswith(("n", "f")):
        return {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}[text]
    # JSON readers take "-0" for the integer 0 and lose the sign.
    return text[:-2] if text.endswith(".0") and text != "-0.0" else text


_UNSAFE = re.compile(r"[^ !#-\[\]-~]")
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _string(text: str) -> str:
    return '"' + _UNSAFE.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
