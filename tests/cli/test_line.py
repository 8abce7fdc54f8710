"""The reader of a line: what is an option, what is the expression, and that Typer's road reads the same."""

from __future__ import annotations

from typing import Any

import pytest

from autodiff.commands.line import HelpWanted, Line, peek, read, wants_json
from autodiff.commands.options import COMMANDS, OPTIONS, whole
from autodiff.errors import RequestError

WELL_FORMED = [
    ["eval", "1+1"],
    ["grad", "(x+2)*x", "--at", "x=2"],
    ["grad", "--at", "x=2", "(x+2)*x", "x=2"],
    ["grad", "-x^2", "--at", "x=-2"],
    ["grad", "-x^2", "--at=x=-2"],
    ["eval", "-f*x", "--at", "f=2,x=3"],
    ["eval", "-o+1", "-o", "out.txt"],
    ["eval", "-F+1", "-F", "json"],
    ["eval", "-F", "value", "-.5"],
    ["eval", "-e^2"],
    ["eval", "-e"],
    ["eval", "--(2)"],
    ["eval", "---x", "x=2"],
    ["eval", "--5"],
    ["eval", "-", "x=2"],
    ["eval", "-f", "-", "x=2"],
    ["eval", "--file", "a b.txt", "x=2", "@point.json"],
    ["grad", "--", "-x^2", "--at", "x=2"],
    ["grad", "--", "--x", "--at", "x=2", "--json"],
    ["grad", "--at", "x=2", "--", "-h"],
    ["grad", "x", "--", "--json"],
    ["eval", "a = x + 2; a*x", "x=1"],
    ["eval", "x", "--json", "--format", "csv"],
    ["eval", "x", "--format", "csv", "--json"],
    ["eval", "x", "--format=csv", "--digits=3", "--digits", "5"],
    ["eval", "x", "--max-ops", "1e6", "--strict", "--color=never"],
    ["eval", "", "--at", ""],
    ["eval", "x == 2", "--at", "x=2,y=[1, 2]", "--at", "z=-1"],
    ["grad", "x*y", "--wrt", "y", "--wrt", "x"],
    ["eval", "x", "--sweep", "x=0:1:3", "--sweep=y=1:2:2"],
    ["jvp", "x*y", "--dir", "x=1", "--dir", "y=-1"],
    ["vjp", "[x]", "--cotangent", "-1"],
    ["diff", "x^2", "--order", "4"],
    ["taylor", "x^2", "--order", "0"],
    ["graph", "x", "--local", "--ascii", "--format", "dot"],
    ["functions"],
    ["functions", "sin", "--json"],
    ["eval", "[x, y]*2", "x=1", "y=\udcff"],
]

WRONG = [
    (["gradient", "x"], "did you mean 'grad'"),
    (["--versoin"], "did you mean --version?"),
    (["grad", "x", "--bad"], "autodiff grad --help lists the options"),
    (["(x+2)*x"], "autodiff grad '(x+2)*x'"),
    (["--json", "grad", "x"], "options follow the command"),
    (["grad", "--wtr", "x", "x"], "did you mean --wrt? (as an expression it is written '-(-wtr)')"),
    (["grad", "--x^2"], "'-(-x^2)'"),
    (["grad", "--_x"], "'-(-_x)'"),
    (["eval", "x", "--order", "2"], "belongs to diff, taylor"),
    (["eval", "x", "--at"], "--at wants a value: NAME=VALUE"),
    (["eval", "x", "--at", "--json"], "--at wants a value"),
    (["eval", "-f", "--at", "f=2"], "'(-f)'"),
    (["eval", "x", "--json=yes"], "--json takes no value"),
    (["eval", "x", "--format", "jsn"], "did you mean 'json'"),
    (["eval", "x", "--format", "dot"], "one of text, json, csv, tsv, value"),
    (["diff", "x", "--order", "two"], "--order two: must be a whole number from 1"),
    (["diff", "x", "--order", "0"], "from 1"),
    (["eval", "x", "--digits", "2.5"], "--digits 2.5"),
    (["eval", "x", "--max-ops", "nan"], "--max-ops nan"),
    (["eval", "x", "--max-ops", "1e99"], "--max-ops 1e99"),
    (["eval", "x", "-F", "-"], "--format -"),
]


def facts(line: Line) -> tuple[object, ...]:
    return line.command.name, line.values, line.operands


@pytest.mark.parametrize("words", WELL_FORMED, ids=lambda words: ascii(" ".join(words)))
def test_both_roads_agree(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff import cli
    from autodiff.commands.pages import application

    seen: list[Line] = []
    monkeypatch.setattr(cli, "execute", seen.append)
    application(words[:1])(args=words, prog_name="autodiff", standalone_mode=False)
    assert [facts(line) for line in seen] == [facts(read(words))]


@pytest.mark.parametrize("words,said", WRONG, ids=lambda words: ascii(words))
def test_wrong_lines_are_wrong_on_both_roads(words: list[str], said: str) -> None:
    from autodiff.commands.pages import application

    with pytest.raises(RequestError) as caught:
        read(words)
    assert said in f"{caught.value.message} {caught.value.help}"
    assert caught.value.status == 2
    with pytest.raises(Exception) as typer:
        application()(args=words, prog_name="autodiff", standalone_mode=False)
    assert isinstance(typer.value, RequestError) or hasattr(typer.value, "format_message")


def test_what_counts_as_an_option() -> None:
    assert facts(read(["eval", "-f*x", "f=2"])) == ("eval", {}, ["-f*x", "f=2"])
    assert facts(read(["eval", "-oFILE"])) == ("eval", {}, ["-oFILE"])
    assert facts(read(["grad", "--", "--at", "--at", "x=2"])) == ("grad", {"at": ["x=2"]}, ["--at"])
    assert facts(read(["eval", "-F", "value", "-F"[0:1]])) == ("eval", {"format": "value"}, ["-"])


def test_the_last_of_a_kind_counts() -> None:
    assert read(["eval", "x", "--json", "-F", "csv"]).values == {"format": "csv"}
    assert read(["eval", "x", "-F", "csv", "--json"]).values == {"format": "json"}


@pytest.mark.parametrize("word", ["-h", "--help", "--version"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_everywhere(command: str, word: str) -> None:
    for words in ([command, word], [command, "x", word], [command, "--nonsense", word]):
        with pytest.raises(HelpWanted):
            read(words)


def test_whole_numbers() -> None:
    assert [whole(1)(text) for text in ("1", "1e6", "50_000_000", " 3 ", "2.0")] == [1, 1000000, 50000000, 3, 2]
    for text in ("0", "-1", "1.5", "x", "", "inf", "nan", "1e400"):
        with pytest.raises(ValueError, match="a whole number from 1"):
            whole(1)(text)


def test_peeking_at_lines_that_cannot_be_read() -> None:
    assert wants_json(["grad", "x", "--json"])
    assert wants_json(["grad", "x", "-F", "json", "--bad"])
    assert wants_json(["grad", "x", "--format=json"])
    assert not wants_json(["grad", "json"])
    assert peek(["eval", "--color"], ("--color",)) is None


def test_rows_are_whole() -> None:
    names = [name for option in OPTIONS.values() for name in option.names if len(name) == 2]
    assert {*names} == {"-f", "-F", "-o"}
    for command in COMMANDS.values():
        assert command.help.endswith(".") and callable(command.load())
        declared = [name for option in command.options for name in option.names]
        assert len(declared) == len(set(declared)), command.name


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        (("x", "+", "2", "x=1"), "the whole expression: 'x + 2 x=1'"),
        (("sum(v)", "v=[1,", "2]"), "the whole value: 'v=[1, 2]'"),
        (("x^2*y", "y=3", "x=", "-1"), "the whole value: 'x= -1'"),
    ],
)
def test_what_the_shell_took_apart_is_told(do: Any, words: tuple[str, ...], quoted: str) -> None:
    done = do("grad", *words)
    assert done.status == 2
    assert f"quote {quoted}" in done.err
