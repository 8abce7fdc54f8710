"""Whole lines in one process: answers in every format, notes, and errors as people and programs see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def test_text(do: Any) -> None:
    assert do("grad", "(x+2)*x", "--at", "x=2") == (0, "value  8\nd/dx   6\n", "")
    assert do("grad", "(x+2)*x", "x=2") == (0, "value  8\nd/dx   6\n", "")
    assert do("grad", "x*y", "x=2", "y=3", "--wrt", "y,x").out == "value  6\nd/dy   2\nd/dx   3\n"


def test_formats(do: Any) -> None:
    line = ("grad", "x*y", "--at", "x=2,y=3")
    assert do(*line, "-F", "value").out == "3\n2\n"
    assert do(*line, "-F", "csv").out == "value,d/dx,d/dy\n6,3,2\n"
    assert do(*line, "-F", "tsv").out == "value\td/dx\td/dy\n6\t3\t2\n"
    assert json.loads(do(*line, "--json").out) == {
        "expression": "x*y", "at": {"x": 2, "y": 3}, "value": 6, "gradient": {"x": 3, "y": 2},
    }  # fmt: skip
    assert do("eval", "1/3", "--digits", "3").out == "value  0.333\n"
    assert do("eval", "1/3", "--digits", "3", "--json").out.count("3") > 10


def test_sweeps(do: Any) -> None:
    assert do("eval", "x^2", "--sweep", "x=0:1:3").out == "  x  value\n  0      0\n0.5   0.25\n  1      1\n"
    assert do("grad", "x*y", "--sweep", "x=1:2:2,y=3:4:2", "-F", "csv").out == (
        "x,y,value,d/dx,d/dy\n1,3,3,3,1\n1,4,4,4,1\n2,3,6,3,2\n2,4,8,4,2\n"
    )
    rows = [json.loads(row) for row in do("eval", "x", "--sweep", "x=0:1:3", "--json").out.splitlines()]
    assert [(row["at"], row["value"]) for row in rows] == [({"x": 0}, 0), ({"x": 0.5}, 0.5), ({"x": 1}, 1)]
    assert do("eval", "x*y", "--sweep", "x=0:1:2", "y=3", "-F", "value").out == "0\n3\n"
    done = do("eval", "1/x", "--sweep", "x=-1:1:3,y=0:1:2", "-F", "value")
    assert done.status == 0 and done.err.count("note:") == 2 and "2 times" in done.err and "'y'" in done.err
    assert do("eval", "zeros(x)", "--sweep", "x=1:2:2", "-F", "csv").status == 1
    assert "bound twice" in do("eval", "x", "--sweep", "x=0:1:2", "x=1").err
    assert do("eval", "[1, 2][x]", "--sweep", "x=1:2:2").err.startswith("error: at x = 2: index 2")


def test_the_other_commands(do: Any) -> None:
    assert do("hess", "x^2*y", "x=1", "y=2", "-F", "value").out == "4 2\n2 0\n"
    assert "d2/dxdy  2\n" in do("hess", "x^2*y", "x=1", "y=2").out
    assert do("jac", "[x*y, x]", "x=2", "y=3", "--wrt", "x").out == "value  [6, 2]\nd/dx   [3, 1]\n"
    assert do("jvp", "x*y", "x=2", "y=3", "--dir", "x=1,y=1", "-F", "value").out == "5\n"
    assert do("vjp", "[x, x^2]", "x=3", "--cotangent", "[1, 1]", "-F", "value").out == "7\n"
    assert do("hvp", "x^2*y", "x=1", "y=2", "--dir", "x=1", "-F", "value").out == "4\n2\n"
    assert do("diff", "x^3", "x=2", "--order", "3").out == "value   8\nd/dx    12\nd2/dx2  12\nd3/dx3  6\n"
    assert do("taylor", "1/(1-x)", "x=0", "--order", "3", "-F", "value").out == "1\n1\n1\n1\n"
    for line in (["jvp", "x", "x=1"], ["vjp", "x", "x=1"], ["diff", "x*y", "x=1", "y=2"], ["diff", "1"]):
        done = do(*line)
        assert done.status == 2 and "help:" in done.err, line


def test_pictures(do: Any) -> None:
    line = ("graph", "(x+2)*x", "--at", "x=2")
    assert "├─●  a = x + 2" in do(*line, "--local").out
    assert "+-o  a = x + 2" in do(*line, "--ascii").out
    assert do(*line, "--format", "dot").out.startswith("digraph")
    assert [node["grad_fn"] for node in json.loads(do(*line, "--json").out)["nodes"]][-1] == "MulBackward0"
    for name, start in (("g.dot", "digraph"), ("g.gv", "digraph"), ("g.json", "{"), ("g.txt", " ")):
        assert do(*line, "-o", name) == (0, "", "")
        assert Path(name).read_text(encoding="utf-8").startswith(start)


def test_graphviz_is_not_there(do: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = do("graph", "(x+2)*x", "x=2", "-o", "g.png")
    assert done.status == 1 and "install" in done.err and not Path("g.png").exists()
    assert do("graph", "(x+2)*x", "x=2", "-o", "g.svg").status == 0


def test_functions(do: Any) -> None:
    assert "sin(x)" in do("functions").out
    assert {"sin", "pow"} <= set(do("functions", "-F", "value").out.split())
    assert json.loads(do("functions", "arcsin", "--json").out)["name"] == "asin"
    assert do("functions", "-F", "csv").out.startswith("name,call,aliases,help")
    assert len(json.loads(do("functions", "--json").out)) > 50
    done = do("functions", "sine")
    assert done.status == 2 and "did you mean 'sin'" in done.err
    assert "did you mean" not in do("functions", "nosuch").err
    assert do("functions", "sin", "cos").status == 2


def test_sources_of_the_expression(do: Any, tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_bytes("\ufeffa = x + 2\r\na*x # last\r\n".encode())
    assert do("eval", "-f", "e.txt", "x=2", "-F", "value").out == "8\n"
    assert do("eval", "-", "x=2", "-F", "value", stdin=b"a = x + 2\na*x\n").out == "8\n"
    assert do("eval", "-f", "-", "x=2", "-F", "value", stdin=b"x").out == "2\n"
    assert json.loads(do("eval", "-f", "e.txt", "x=2", "--json").out)["expression"] == "a = x + 2\na*x # last"
    assert do("eval", "a = x + 2; a*x", "x=2", "-F", "value").out == "8\n"
    for words, said in (
        (["eval"], "no expression"),
        (["eval", "x", "-f", "e.txt"], "two expressions"),
        (["eval", "-f", "nowhere"], "nowhere"),
        (["eval", "-f", "."], "directory"),
        (["eval", "x", "+", "2"], "'x + 2'"),
        (["eval", "x=2", "x"], "quote"),
        (["eval", "-f", "e.txt", "x"], "two expressions"),
        (["eval", ""], "empty"),
    ):
        done = do(*words)
        assert done.status == 2 and said in done.err and done.out == "", words


def test_unused_names_are_noted(do: Any, tmp_path: Path) -> None:
    done = do("eval", "2*x", "--at", "x=1,X=2")
    assert done.status == 0 and "nothing uses 'X', which --at binds" in done.err
    (tmp_path / "p.json").write_text('{"x": 1, "X": 2}')
    assert do("eval", "2*x", "--at", "@p.json").err == ""
    done = do("eval", "2*x*y", "--at", "X=2")
    assert done.status == 2 and all(word in done.err for word in ("'x'", "'y'", "'X'", "--at x=…,y=…"))


def test_wrt(do: Any) -> None:
    for wrt, said in (("z", "'z'"), ("x,x", "twice"), ("x,", "commas"), ("", "commas")):
        done = do("grad", "x*y", "x=1", "y=2", "--wrt", wrt)
        assert done.status == 2 and said in done.err, wrt
    assert do("grad", "x*y", "x=1", "y=2", "--wrt", "y", "--wrt", "x", "-F", "value").out == "1\n2\n"
    assert do("grad", "2", "-F", "json").out == '{"expression": "2", "at": {}, "value": 2, "gradient": {}}\n'


@pytest.mark.parametrize(
    "line,kind",
    [
        (("eval", "1/x", "x=0"), "nonfinite"),
        (("grad", "abs(x)", "x=0"), "kink"),
        (("eval", "x", "x=nan"), "nan"),
        (("eval", "x", "x=1e999"), "nonfinite"),
        (("grad", "abs(x)", "--sweep", "x=-1:1:3"), "kink"),
        (("graph", "abs(x)", "x=0"), "kink"),
    ],
)
def test_strict(do: Any, line: tuple[str, ...], kind: str) -> None:
    done = do(*line, "--strict")
    assert done.status == 1 and done.err.startswith("error:") and kind in done.err and "--strict" in done.err
    assert do(*line).status == 0


def test_strict_lets_clean_answers_pass(do: Any) -> None:
    assert do("grad", "x^2", "x=3", "--strict").status == 0
    assert do("eval", "x", "x=inf", "--strict").status == 0


def test_errors_as_json(do: Any) -> None:
    for words, kind, status in (
        (["eval", "3 + sine(x)", "x=1", "--json"], "name", 2),
        (["eval", "3 +", "-F", "json"], "syntax", 2),
        (["gradient", "x", "--json"], "request", 2),
        (["eval", "x", "--nonsense", "--format=json"], "request", 2),
        (["eval", "x", "--at", "x=", "--json"], "request", 2),
        (["grad", "[x, x]", "x=1", "--json"], "shape", 1),
        (["eval", "y = 0; while true { y += 1 }; y", "--max-ops", "1e3", "--json"], "limit", 1),
    ):
        done = do(*words)
        (line,) = done.err.splitlines()
        error = json.loads(line)["error"]
        assert list(error) == ["kind", "message", "span", "help"]
        assert (error["kind"], done.status, done.out) == (kind, status, ""), words


def test_notes_with_json_are_in_both_places(do: Any) -> None:
    done = do("grad", "abs(x)", "x=0", "--json")
    assert [note["kind"] for note in json.loads(done.out)["notes"]] == ["kink"]
    assert done.err.startswith("note:")


@pytest.mark.parametrize("text", ["[x, y]*2", "v[/a]", "[bold]x", "[/]", ":smile:", "{x}", "%s", "$x", "\\x"])
def test_markup_is_literal(do: Any, text: str) -> None:
    for color in ("never", "always"):
        done = do("eval", text, "--color", color)
        assert done.status == 2 and f"  {text}\n" in done.err


def test_control_characters_are_shown_not_obeyed(do: Any) -> None:
    for words in (["eval", "x\x1b[31m"], ["\x1b[31m"], ["eval", "x", "--\x1b"], ["eval", "x", "--a\x1b=2"],
                  ["eval", "x", "--at", "\x1b"], ["eval", "x", "-F", "\x1b"], ["eval", "x\udcff"],
                  ["functions", "\x1b"], ["eval", "x", "--at", "x=@\x1b.csv"],
                  ["eval", "-f", "\x1b\udcff"]):  # fmt: skip
        done = do(*words)
        assert done.status == 2 and "\x1b" not in done.err and "Traceback" not in done.err, words
        assert "internal" not in done.err, words


def test_the_last_resort(do: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff import differentiate

    for fault, said, status in (
        (ZeroDivisionError("some\nthing"), "error: internal error: ZeroDivisionError: some thing\n", 1),
        (MemoryError(), "error: not enough memory\n", 1),
        (RecursionError("deep"), "error: nested too deeply\n", 1),
        (KeyboardInterrupt(), "", 130),
        (BrokenPipeError(), "", 141),
    ):

        def fail(*_: object, fault: BaseException = fault) -> None:
            raise fault

        monkeypatch.setattr(differentiate, "value", fail)
        done = do("eval", "x*2", "x=1")
        assert (done.status, done.out) == (status, "") and done.err.startswith(said)


def test_no_command_prints_help_to_standard_error(do: Any) -> None:
    done = do()
    assert done.status == 2 and done.out == "" and "Usage: autodiff" in done.err and "grad" in done.err


def test_help_pages(do: Any) -> None:
    from autodiff.commands.options import COMMANDS

    for words in (["--help"], ["-h"], ["help"]):
        done = do(*words)
        assert done.status == 0 and done.err == "" and all(name in done.out for name in COMMANDS)
    for name, command in COMMANDS.items():
        page = do(name, "-h")
        assert page.status == 0 and page.out == do("help", name).out == do(name, "x", "--help").out
        assert all(option in page.out for row in command.options for option in row.names)
        assert command.example in page.out
    assert do("help", "gard").status == 2
    assert do("--version").out == do("grad", "--version").out != ""


def test_examples_of_the_help_run(do: Any) -> None:
    import shlex

    from autodiff.commands.options import COMMANDS

    for name, command in COMMANDS.items():
        done = do(name, *shlex.split(command.example))
        assert (done.status, done.err) == (0, ""), name


def test_colours_of_answers(do: Any) -> None:
    line = ("grad", "x - y + 0*z", "--at", "x=2,y=3,z=1")
    assert do(*line, "--color", "always").out == (
        "\x1b[36mvalue\x1b[0m  \x1b[31m-1\x1b[0m\n\x1b[36md/dx\x1b[0m   1\n"
        "\x1b[36md/dy\x1b[0m   \x1b[31m-1\x1b[0m\n\x1b[36md/dz\x1b[0m   \x1b[2m0\x1b[0m\n"
    )
    assert "\x1b" not in do(*line).out and "\x1b" not in do(*line, "-F", "csv", "--color", "always").out
    assert do("derive", "x^2", "--color", "always").out == "\x1b[36md/dx\x1b[0m  2*x\n"
    assert "\x1b[36mcondition x\x1b[0m" in do(*line, "--sensitivity", "--color", "always").out


def test_more_notes_than_anybody_reads(do: Any) -> None:
    done = do("eval", ";".join(f"y = x + {k}" for k in range(150)), "x=1")
    assert done.status == 0 and done.err.count("nothing uses 'y'") == 100
    assert done.err.endswith("note: and 49 more; --json has them all\n")
