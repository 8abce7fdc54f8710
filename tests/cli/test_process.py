"""The process as the shell sees it: streams, encodings, signals, files, completion."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
COMMAND = f"{sys.executable} -m autodiff"
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "LANG": "C.UTF-8"}
LOOP = "y = 0; while true { y = y + 1 }; y"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")


def shell(line: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", line.replace("autodiff", COMMAND)],
        capture_output=True, check=False, cwd=folder, timeout=60, env={**ENVIRONMENT, **environment},
    )  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("line", ["eval 1+1", "graph 'x*x' x=1", "eval x --sweep x=0:1:5000", "--help", "--version"])
def test_a_full_disk_is_one_line_and_status_1(line: str) -> None:
    done = shell(f"autodiff {line} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == b"error: can't write to standard output: no space left on device\n"
    assert shell("autodiff eval 1 -o /dev/full").returncode == 1


def test_a_closed_pipe_ends_it_as_it_ends_c_tools() -> None:
    done = shell(
        "autodiff eval x --sweep x=0:1:100000 -F value | head -n 1; printf %s ${PIPESTATUS[0]}; exit ${PIPESTATUS[1]}"
    )
    assert done.stdout == b"0\n141" and done.stderr == b""


def test_closed_streams() -> None:
    done = shell("autodiff eval 1+1 >&-")
    assert done.returncode == 1 and done.stderr.startswith(b"error:") and done.stderr.count(b"\n") == 1
    done = shell("autodiff eval 1+ 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
    assert shell("autodiff eval - <&-").returncode == 2


def test_standard_input_is_not_touched() -> None:
    done = shell("printf 'a\\nb\\n' | while read line; do autodiff eval 1 -F value; done")
    assert done.stdout == b"1\n1\n"


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LANG": "C"}])
def test_no_box_characters_where_they_cannot_be_shown(environment: dict[str, str]) -> None:
    done = shell("autodiff graph 'λ*x' λ=2 x=3 --local", **environment)
    assert done.returncode == 0 and done.stdout.isascii() and b"o-'" in done.stdout
    assert b"Error" not in done.stderr
    done = shell("autodiff eval 'λ*y'", **environment)
    assert done.returncode == 2 and done.stderr.isascii() and b"Traceback" not in done.stderr


def test_box_characters_otherwise(tmp_path: Path) -> None:
    assert "●" in shell("autodiff graph x*x x=3").stdout.decode()
    assert shell("autodiff graph x*x x=3 -o g.txt", tmp_path, PYTHONIOENCODING="ascii").returncode == 0
    assert "●" in (tmp_path / "g.txt").read_text(encoding="utf-8")


def test_colour_is_for_terminals(tmp_path: Path) -> None:
    assert b"\x1b" not in shell("autodiff eval 1+").stderr
    assert b"\x1b[" in shell("autodiff eval 1+ --color always", NO_COLOR="1").stderr
    assert b"\x1b[" in shell("autodiff graph x*x x=1 --color=always").stdout
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
        coloured = _on_a_terminal("eval 1+", {"TERM": "xterm", **environment})
        assert (b"\x1b[" in coloured) == (not environment), environment
    assert b"\x1b[" not in _on_a_terminal("eval 1+ --color never", {"TERM": "xterm"})


def _on_a_terminal(line: str, environment: dict[str, str]) -> bytes:
    """What a run writes to a pseudo-terminal."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND.split(), *line.split()],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**ENVIRONMENT, **environment},
    ) as process:
        process.wait(60)
    os.close(theirs)
    found = os.read(ours, 65536)
    os.close(ours)
    return found


def test_undecodable_bytes_do_no_harm(tmp_path: Path) -> None:
    for line in ("eval $'x\\xff'", "eval -f $'x\\xff'", "eval x --at $'x=\\xff'", "$'\\xff'", "eval x $'--\\xffx=1'"):
        done = shell(f"autodiff {line}", tmp_path)
        assert done.returncode == 2 and done.stderr.startswith(b"error:"), line
    assert shell("autodiff eval 42 -F value -o $'\\xff.txt'", tmp_path).returncode == 0
    assert (tmp_path / os.fsdecode(b"\xff.txt")).read_text() == "42\n"


@pytest.mark.parametrize("output", ["", " -o out.txt"])
def test_ctrl_c_is_quiet(tmp_path: Path, output: str) -> None:
    with subprocess.Popen(
        ["bash", "-c", f"exec {COMMAND} eval '{LOOP}' --max-ops 1e15{output}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=ENVIRONMENT,
    ) as process:  # fmt: skip
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_output_is_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("before\n")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to("out.txt")
    done = shell("autodiff grad 'abs(x)' --sweep x=-1:1:3 --strict -o link -F csv", tmp_path)
    assert done.returncode == 1 and target.read_text() == "before\n"
    assert shell("autodiff eval 6*7 -F value -o link", tmp_path).returncode == 0
    assert target.read_text() == "42\n" and target.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out.txt"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for name in (".", "nowhere/out.txt", "''", "new/", "/dev/null/x"):
        done = shell(f"autodiff eval 1 -o {name}", tmp_path)
        assert done.returncode == 2 and done.stderr.startswith(b"error:") and b"internal" not in done.stderr, name
    assert list(tmp_path.iterdir()) == []
    assert shell("autodiff eval 1 -F value -o - ; autodiff eval 2 -F value -o /dev/stdout").stdout == b"1\n2\n"


def completed(words: str, number: int) -> list[str]:
    done = shell("autodiff", _AUTODIFF_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(number))
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().split()


def test_completion() -> None:
    assert completed("autodiff gr", 1) == ["grad", "graph"]
    assert "--format" in completed("autodiff grad --", 2)
    assert completed("autodiff grad -x^2 --format c", 4) == ["csv"]
    assert completed("autodiff graph x -F d", 4) == ["dot"]
    assert completed("autodiff functions tan", 2) == ["tan", "tanh"]
    assert completed("autodiff eval 2*cosh", 2) == ["2*cosh"]
    assert completed("autodiff eval x --nonsense", 3) == []
    assert b"complete_bash" in shell("autodiff --show-completion bash").stdout


def test_a_wrong_line_loads_no_typer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from autodiff.cli import run; run(['grad', 'x', '--wtr', 'x']);"
         "print([m for m in ('typer', 'click', 'rich', 'numpy', 'inspect') if m in sys.modules])"],
        capture_output=True, check=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.stdout == b"[]\n"


def test_more_than_the_memory_is_an_error() -> None:
    done = shell("ulimit -d 1000000; autodiff eval 'sum(outer(ones(1e5), ones(1e5)))'")
    assert done.returncode == 1 and b"not enough memory" in done.stderr and done.stderr.count(b"error:") == 1
    done = shell("ulimit -d 60000; autodiff eval 'f(n) = 0 if n < 0 else n + f(n - 1); f(3e5)*1'")
    assert done.returncode == 1 and done.stderr.startswith(b"error: not enough memory")


def test_examples_keep_their_lines_on_a_narrow_terminal() -> None:
    from autodiff.commands.options import COMMANDS

    page = shell("autodiff --help", COLUMNS="40").stdout.decode()
    assert "  autodiff graph '(x+2)*x' --at x=2         the recorded graph\n" in page
    for name in ("grad", "taylor"):
        page = shell(f"autodiff {name} -h", COLUMNS="40").stdout.decode()
        assert f"    autodiff {name} {COMMANDS[name].example}\n" in page
