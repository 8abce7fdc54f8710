"""What can go wrong and what is worth a word: errors and notes, plain data with spans. Imports nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

Span = tuple[int, int]
"""Half-open character offsets into the source text."""


class AutodiffError(Exception):
    """An error for the person who typed the line: what, where, and the fix.

    `status` is the exit status: 1 the computation failed, 2 the request is wrong.
    `source` is the text that `span` points into (set by whoever knows it).
    """

    kind = "error"
    status = 1

    def __init__(
        self, message: str, span: Span | None = None, help: str | None = None, source: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.help = help
        self.source = source

    def __str__(self) -> str:
        return f"{self.message} ({self.help})" if self.help else self.message


class RequestError(AutodiffError):
    """The request is wrong: an option, a file, a missing input."""

    kind = "request"
    status = 2


class SyntaxProblem(RequestError):
    """The text is not an expression of the language."""

    kind = "syntax"


class NameProblem(RequestError):
    """A name that means nothing here, or one that may not be bound."""

    kind = "name"


class ComputationError(AutodiffError, RuntimeError):
    """The computation failed although the request was well formed."""

    kind = "computation"


class ShapeError(ComputationError):
    """Array shapes or indices that do not go together."""

    kind = "shape"


class LimitError(ComputationError):
    """The computation was stopped: too many operations, too much memory."""

    kind = "limit"


if TYPE_CHECKING:

    class Note(NamedTuple):
        """A remark that travels beside the result: kind is one of
        kink, nonfinite, domain, cancellation, unused, path."""

        kind: str
        message: str
        span: Span | None = None
        count: int = 1  # type: ignore[assignment]
        help: str | None = None

else:
    Note = namedtuple("Note", "kind message span count help", defaults=(None, 1, None))
