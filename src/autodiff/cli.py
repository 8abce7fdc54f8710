"""From the words of a line to an exit status: which road, which streams, what becomes of errors."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, TextIO

    from autodiff.errors import AutodiffError, Note


def main() -> NoReturn:
    """The console script. Ends without tearing down a tape of a million nodes one by one."""
    import gc  # noqa: PLC0415
    import signal  # noqa: PLC0415

    gc.disable()  # one run, one tape: there is nothing to collect before it ends
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a closed pipe ends us as it ends C tools
    status = run(sys.argv[1:])
    os._exit(status)


def run(words: list[str]) -> int:
    """Do what the words ask; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return answer(words)
    except KeyboardInterrupt:
        return 130


def answer(words: list[str]) -> int:
    """The same, with Ctrl-C let through."""
    from autodiff.errors import AutodiffError, ComputationError  # noqa: PLC0415

    as_json = "--json" in words or "json" in words
    try:
        if not words or "_AUTODIFF_COMPLETE" in os.environ or words[0].startswith("--") or words[0] == "-h":
            return pages(words)
        from autodiff.commands.line import HelpWanted, read  # noqa: PLC0415

        try:
            line = read(words)
        except HelpWanted:
            return pages(words)
        text, notes, source, output, colour = execute(line)
        emit_notes(notes, source, colour)
        emit(text, output)
    except AutodiffError as error:
        return report(error, as_json, words)
    except OSError as error:
        return report(ComputationError(f"can't write the answer: {error.strerror or error}"), as_json, words)
    except MemoryError:
        return report(ComputationError("not enough memory"), as_json, words)
    except Exception as error:  # the last resort: never a traceback
        said = f"internal error: {type(error).__name__}: {error}".splitlines()[0]
        return report(ComputationError(said, help="this is a fault of autodiff"), as_json, words)
    return 0


def execute(line: object) -> tuple[str | bytes, list[Note], str, str | None, bool]:
    """Run the command of a line: the answer's text, notes, source, where to write, and whether in colour."""
    from autodiff.commands.line import Line  # noqa: PLC0415

    assert isinstance(line, Line)
    output = line.one("output")
    if line.command.name == "functions":
        from autodiff.commands.functions import functions  # noqa: PLC0415

        return functions(line), [], "", output, False
    from autodiff.commands.request import Request  # noqa: PLC0415

    request = Request(line)
    colour = coloured(line.one("color"), sys.stderr)
    try:
        text: str | bytes
        if line.command.name == "graph":
            from autodiff.commands.graph import graph  # noqa: PLC0415

            plain = output is None and not shows_boxes(sys.stdout)
            text, notes = graph(
                request, ascii=plain, colour=output is None and coloured(line.one("color"), sys.stdout)
            )
        else:
            from autodiff.commands import answers  # noqa: PLC0415

            text, notes = answers.run(request, getattr(answers, line.command.function))
    except Exception as error:
        if getattr(error, "source", "") is None:
            error.source = request.source  # type: ignore[attr-defined]
        raise
    return text, notes, request.source, output, colour


def coloured(when: str | None, stream: TextIO) -> bool:
    """Whether to colour: an explicit wish wins over NO_COLOR and over what the stream is."""
    if when in ("always", "never"):
        return when == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(stream is not None and stream.isatty())


def shows_boxes(stream: TextIO) -> bool:
    """Whether the stream can encode the characters of the lanes."""
    try:
        "●├┼┤└┴┘│─".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def emit(text: str | bytes, output: str | None) -> None:
    """Write the answer: to standard output, or to a file that appears whole or not at all."""
    data = text if isinstance(text, bytes) else text + "\n" if text else ""
    if output is None:
        if isinstance(data, bytes):
            sys.stdout.buffer.write(data)
        else:
            sys.stdout.write(data)
        sys.stdout.flush()
        return
    from autodiff.errors import RequestError  # noqa: PLC0415

    payload = data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace")
    target = os.path.realpath(output)
    if os.path.isdir(target):
        raise RequestError(f"'{output}' is a folder")
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as device:  # /dev/stdout, a named pipe: nothing to replace
            device.write(payload)
        return
    temporary = f"{target}.{os.getpid()}.part"
    try:
        with open(temporary, "xb") as file:
            file.write(payload)
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        _forget(temporary)
        raise RequestError(f"can't write '{output}': {error.strerror}") from None
    except BaseException:
        _forget(temporary)
        raise


def _forget(name: str) -> None:
    try:
        os.unlink(name)
    except OSError:
        return


def emit_notes(notes: list[Note], source: str, colour: bool) -> None:
    """Notes go to standard error, below each other."""
    if notes:
        from autodiff.render.diagnostic import note_text  # noqa: PLC0415

        plain = not shows_boxes(sys.stderr)
        for note in notes:
            _complain(note_text(note, source, colour=colour, ascii=plain))


def report(error: AutodiffError, as_json: bool, words: list[str]) -> int:
    """Say what went wrong on standard error; the exit status."""
    from autodiff.render.diagnostic import error_json, error_text  # noqa: PLC0415

    if as_json:
        _complain(error_json(error))
    else:
        when = words[words.index("--color") + 1] if "--color" in words[:-1] else None
        colour = coloured(when, sys.stderr)
        _complain(error_text(error, colour=colour, ascii=not shows_boxes(sys.stderr)))
    return error.status


def _complain(text: str) -> None:
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # nobody listens


def pages(words: list[str]) -> int:
    """Help, version, completion: what Typer is loaded for."""
    if words[:1] == ["--version"]:
        from autodiff import __version__  # noqa: PLC0415

        emit(f"autodiff {__version__}", None)
        return 0
    from autodiff.commands.pages import show  # noqa: PLC0415

    return show(words)
