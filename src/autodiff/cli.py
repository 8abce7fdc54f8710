"""From the words of a line to an exit status: which road, and what becomes of errors."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from autodiff.commands.line import Line
    from autodiff.errors import AutodiffError, Note

PAGES = ("-h", "--help", "help", "--version", "--install-completion", "--show-completion")
COMPLETE = "_AUTODIFF_COMPLETE"
INTERRUPTED = 130
PIPE_CLOSED = 141
MOST_NOTES = 100  # more than anybody reads


def main() -> NoReturn:
    """The console script. It ends without taking a tape of a million nodes apart."""
    try:
        import gc
        import signal

        gc.disable()  # one run, one tape: nothing to collect before the end
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a closed pipe ends us as it ends C tools
        bound_memory()
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    os._exit(status)


def bound_memory() -> None:
    """A wish for more than the machine, or our container, has is to be a MemoryError, not a dead machine."""
    try:
        import resource

        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        try:
            with open("/sys/fs/cgroup/memory.max") as file:
                most = min(most, int(file.read()))
        except (OSError, ValueError):  # no container, or one without a limit
            pass
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (ImportError, AttributeError, OSError, ValueError):  # not on this system
        pass


def run(words: Sequence[str]) -> int:
    """Do what the words ask; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from autodiff.errors import AutodiffError, ComputationError

    line: Line | None = None
    trouble: AutodiffError | None
    try:
        if _is_page(words):
            return page(words)
        from autodiff.commands.line import HelpWanted, read

        try:
            line = read(words)
        except HelpWanted:
            return page(words)
        execute(line)
        return 0
    except AutodiffError as error:
        trouble = error.with_traceback(None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except MemoryError:
        trouble = None  # there is no room to say more before the frames of the computation are gone
    except RecursionError:
        trouble = ComputationError("nested too deeply")
    except Exception as error:  # the last resort: never a traceback
        said = " ".join(f"internal error: {type(error).__name__}: {error}".split())
        trouble = ComputationError(said, help="this is a fault of autodiff, please report it")
    return report(trouble or ComputationError("not enough memory"), words, line)


def execute(line: Line) -> None:
    """Run the command of a line: the answer to where it belongs, the notes to standard error."""
    from autodiff.commands.output import Output

    color = line.get("color")
    out = Output(line.get("output"), color)
    try:
        notes = line.command.load()(line, out)
        out.close()
    except BaseException:
        out.discard()
        raise
    if notes:
        tell(notes, line.source, color)


def tell(notes: Sequence[Note], source: str | None, color: str | None) -> None:
    """Notes below each other."""
    from autodiff.commands.output import coloured, shows_boxes
    from autodiff.render.diagnostic import note_text

    colour, plain = coloured(color, sys.stderr), not shows_boxes(sys.stderr)
    for note in notes[:MOST_NOTES]:
        complain(note_text(note, source, colour=colour, ascii=plain, columns=columns()))
    if len(notes) > MOST_NOTES:
        complain(f"note: and {len(notes) - MOST_NOTES} more; --json has them all")


def report(error: AutodiffError, words: Sequence[str], line: Line | None) -> int:
    """Say what went wrong; the exit status."""
    from autodiff.commands.line import peek, wants_json
    from autodiff.commands.output import coloured, shows_boxes
    from autodiff.render.diagnostic import error_json, error_text

    if wants_json(words):
        complain(error_json(error))
    else:
        colour, plain = coloured(peek(words, ("--color",)), sys.stderr), not shows_boxes(sys.stderr)
        source = line.source if line else None
        complain(error_text(error, source, colour=colour, ascii=plain, columns=columns()))
    return error.status


def columns() -> int:
    """How wide standard error is."""
    try:
        return max(40, os.get_terminal_size(2).columns)
    except (OSError, ValueError):
        return 100


def complain(text: str) -> None:
    """A message on standard error, if anybody listens."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        return


def _is_page(words: Sequence[str]) -> bool:
    return not words or words[0] in PAGES or COMPLETE in os.environ


def page(words: Sequence[str]) -> int:
    """Help, version, completion: what Typer is loaded for, the version excepted."""
    from autodiff.commands.output import Output

    out = Output(None, None)
    if "--version" in words:
        from autodiff import __version__

        out.write(f"autodiff {__version__}\n")
        out.close()
        return 0
    from autodiff.commands.pages import show

    text, status = show(words)
    if words or COMPLETE in os.environ:
        out.write(text)
        out.close()
    else:
        complain(text.rstrip("\n"))
    return status
