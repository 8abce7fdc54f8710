"""Where an answer goes: standard output, or a file that appears whole or not at all; what shows there."""

from __future__ import annotations

import os
import sys

from autodiff.errors import AutodiffError, ComputationError, RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, TextIO

STDOUT = ("-", "/dev/stdout", "/dev/fd/1")
BOXES = "●├┼┤└┴┘│─…"


class Output:
    """The destination of one run. Nothing is opened before the first word is written."""

    def __init__(self, name: str | None, color: str | None) -> None:
        self.name = None if name in STDOUT else name
        self.ascii = self.name is None and not shows_boxes(sys.stdout)
        self.colour = coloured(color, sys.stdout) if self.name is None else color == "always"
        self._file: IO[bytes] | None = None
        self._temporary: str | None = None
        self._target = ""
        if self.name is not None:
            self._check(self.name)

    def _check(self, name: str) -> None:
        """Raise early, before the computation, where the file can't be made."""
        self._target = os.path.realpath(name)
        folder = os.path.dirname(self._target)
        if not name or os.path.isdir(self._target) or name.endswith(os.sep):
            raise RequestError(f"can't write '{name}': it is a folder" if name else "--output wants a file's name")
        if not os.path.isdir(folder):
            raise RequestError(f"can't write '{name}': there is no folder '{os.path.dirname(name)}'")
        if os.path.exists(self._target) and not os.access(self._target, os.W_OK):
            raise RequestError(f"can't write '{name}': permission denied")

    def terminal(self) -> bool:
        return self.name is None and sys.stdout is not None and sys.stdout.isatty()

    def write(self, data: str | bytes) -> None:
        """A piece of the answer, with its final newline."""
        try:
            if self.name is None:
                self._print(data)
                return
            if self._file is None:
                self._file = self._open()
            self._file.write(data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise self._failed(error) from None

    def _print(self, data: str | bytes) -> None:
        if sys.stdout is None:
            raise ComputationError("can't write to standard output: it is closed")
        if isinstance(data, str):
            sys.stdout.write(data)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)

    def _open(self) -> IO[bytes]:
        if os.path.exists(self._target) and not os.path.isfile(self._target):
            return open(self._target, "wb")  # a device or a named pipe: nothing to replace
        self._temporary = os.path.join(os.path.dirname(self._target), f".autodiff-{os.getpid()}.part")
        try:
            return open(self._temporary, "xb")
        except OSError:
            self._temporary = None
            raise

    def close(self) -> None:
        """All is written: make it last."""
        try:
            if self.name is None:
                if sys.stdout is not None:
                    sys.stdout.flush()
                return
            if self._file is None:
                self._file = self._open()
            self._file.close()
            if self._temporary is not None:
                if os.path.exists(self._target):
                    os.chmod(self._temporary, os.stat(self._target).st_mode & 0o7777)
                os.replace(self._temporary, self._target)
                self._temporary = None
        except OSError as error:
            raise self._failed(error) from None

    def discard(self) -> None:
        """The run failed: leave no file behind; what standard output has of the answer is its whole lines."""
        if self.name is None and sys.stdout is not None:
            try:
                sys.stdout.flush()
            except OSError:
                return
        for undo in (
            self._file and self._file.close,
            self._temporary and (lambda: os.unlink(str(self._temporary))),
        ):
            if undo:
                try:
                    undo()
                except OSError:
                    continue

    def _failed(self, error: OSError) -> AutodiffError:
        import errno

        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
        where = "to standard output" if self.name is None else f"'{self.name}'"
        kind = ComputationError if full or self.name is None else RequestError
        return kind(f"can't write {where}: {(error.strerror or str(error)).lower()}")


def coloured(when: str | None, stream: TextIO | None) -> bool:
    """Whether to colour: an explicit wish wins over NO_COLOR and over what the stream is."""
    if when in ("always", "never"):
        return when == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def shows_boxes(stream: TextIO | None) -> bool:
    """Whether the stream can show the characters of the lanes."""
    try:
        BOXES.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    # Python writes UTF-8 in the C locale; a person who asked for that locale did not ask for UTF-8.
    environ = os.environ
    asked = environ.get("LC_ALL") or environ.get("LANG")
    return not (
        asked in ("C", "POSIX")
        and sys.flags.utf8_mode
        and not environ.get("PYTHONUTF8")
        and not environ.get("PYTHONIOENCODING")
    )
