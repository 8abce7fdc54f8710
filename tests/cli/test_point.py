"""Values on the line: constants, files, whole points, sweeps; and what is said of wrong ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff.commands.point import Point, decoded, spaced, split
from autodiff.errors import RequestError
from autodiff.job import Settings


def point(*entries: str, used: tuple[str, ...] = ()) -> dict[str, Any]:
    found = Point("--at", Settings(max_ops=10_000))
    for entry in entries:
        found.add(entry, used)
    return found.values


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "text,value",
    [
        ("2", 2.0), ("-2", -2.0), (" 2 ", 2.0), ("pi/4", math.pi / 4), ("inf", math.inf), ("-inf", -math.inf),
        ("9007199254740993", 9007199254740992.0), ("5e-324", 5e-324), ("1_000", 1000.0), (".5", 0.5), ("2.", 2.0),
        ("-3e-12", -3e-12), ("2^3", 8.0), ("max(1, 2)", 2.0), ("(1, 2)"[1:2], 1.0), ("true", True), ("−2", -2.0),
    ],
)  # fmt: skip
def test_constants(text: str, value: float) -> None:
    found = point(f"x={text}")["x"]
    assert found == value and type(found) is type(value)


def test_arrays_and_commas() -> None:
    found = point("v=[1, 2],y=max(1, 3), λ = [[1, 2], [3, 4]]", "z=1")
    assert {name: np.asarray(value).tolist() for name, value in found.items()} == {
        "v": [1, 2], "y": 3, "λ": [[1, 2], [3, 4]], "z": 1,
    }  # fmt: skip
    assert point("x=sum([[1, 2]] , axis =1)")["x"].tolist() == [3]
    assert split("a[1,2],(b,c),d", ",") == ["a[1,2]", "(b,c)", "d"]


@pytest.mark.parametrize(
    "entry,said",
    [
        ("x", "'x' is not NAME=VALUE"), ("x=", "no value for 'x'"), ("=2", "'=2'"), ("2=x", "'2=x'"), ("", "''"),
        ("x=1,", "x=1, y=2"), ("x=1 y=2", "commas go between: --at x=1,y=2"), (",x=1", "'' is not"),
        ("x==2", "'x==2'"), ("x=y", "'y' is no constant"), ("x=y+1", "'y' is no constant"),
        ("x=sine(2)", "did you mean 'sin'"), ("x=sin", "x=sin"), ("x=1;y=2", "commas go between"),
        ("x=a=3", "--at x=a=3"),
        ("x=(1", "--at x=(1"), ("x=[1, 2]+[1, 2, 3]", "--at x="), ("x=1,x=2", "bound twice"), ("x y=2", "'x y=2'"),
        ("x=while true {}", "--at x="),
    ],
)  # fmt: skip
def test_malformed_entries_are_named(entry: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        point(entry)
    assert said in f"{caught.value.message} {caught.value.help}"
    assert caught.value.status == 2


def test_a_number_beyond_float64_is_noted() -> None:
    found = Point("--at", Settings())
    found.add("x=1e999", ())
    assert found.values == {"x": math.inf}
    assert [note.kind for note in found.notes] == ["nonfinite"] and "1e999" in found.notes[0].message


def test_files_of_arrays(folder: Path) -> None:
    np.save("a.npy", np.arange(6).reshape(2, 3))
    np.save("s.npy", np.float32(2.5))
    (folder / "v.csv").write_text("1\n2\n\n3\n")
    (folder / "r.csv").write_text("\ufeff1, 2,3\n", encoding="utf-8")
    (folder / "h.csv").write_text("a,b\n1,nan\n3,-inf\n")
    (folder / "s.csv").write_text("1;2\n3;4\n")
    (folder / "w.txt").write_text("1  2\n3 4\n")
    (folder / "e.csv").write_text("a,b\n")
    (folder / "j.json").write_text('[[1, "NaN"], [9007199254740993, "-Infinity"]]')
    (folder / "n.json").write_text("2")
    found = {name: np.asarray(point(f"x=@{name}")["x"]).tolist() for name in sorted(map(str, _names(folder)))}
    assert str(found.pop("h.csv")) == "[[1.0, nan], [3.0, -inf]]"
    assert str(found.pop("j.json")) == "[[1.0, nan], [9007199254740992.0, -inf]]"
    assert found == {
        "a.npy": [[0, 1, 2], [3, 4, 5]], "s.npy": 2.5, "v.csv": [1, 2, 3], "r.csv": [1, 2, 3],
        "s.csv": [[1, 2], [3, 4]], "w.txt": [[1, 2], [3, 4]], "e.csv": [], "n.json": 2,
    }  # fmt: skip


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_files_that_cannot_be_read(folder: Path) -> None:
    (folder / "a.csv").write_text("1,x\n2,3\n")
    (folder / "b.csv").write_text("1,2\n\n3\n")
    (folder / "c.csv").write_text("1,2\n3,\n")
    (folder / "d.csv").write_bytes(b"1,\xff\n")
    (folder / "e.npy").write_bytes(b"\x93NUMPY broken")
    np.save("f.npy", np.array([1j]))
    np.save("g.npy", np.array([{}], dtype=object), allow_pickle=True)
    (folder / "h.json").write_text("[1, [2]]")
    (folder / "i.json").write_text("[null]")
    (folder / "j.json").write_text("[" * 100_000)
    (folder / "k.json").write_text('["1"]')
    (folder / "l.csv").mkdir()
    (folder / "m.csv").write_text("\n")
    (folder / "n.npy").write_text("1, 2")
    told = {
        "a.csv": "line 1, column 2: 'x'", "b.csv": "line 3 has 1 cell, not 2", "c.csv": "line 2, column 2: ''",
        "d.csv": "UTF-8", "e.npy": "e.npy", "f.npy": "no array of numbers", "g.npy": "g.npy", "h.json": "h.json",
        "i.json": "i.json", "j.json": "j.json", "k.json": "k.json", "l.csv": "l.csv", "m.csv": "is empty",
        "n.npy": "'n.npy' holds no array that NumPy wrote", "nowhere.csv": "nowhere.csv",
        "x.doc": "no .npy, .csv or .json", "": "no .npy, .csv or .json", "a\0.csv": "null",
    }  # fmt: skip
    for name, said in told.items():
        with pytest.raises(RequestError) as caught:
            point(f"x=@{name}")
        assert said in caught.value.message, name
        assert caught.value.status == 2


def test_a_whole_point(folder: Path) -> None:
    (folder / "p.json").write_text(json.dumps({"x": 2, "remark": "text", "v": [1, 2], "unused": None}))
    found = point("@p.json", "y=1", used=("x", "y", "v"))
    assert {name: np.asarray(value).tolist() for name, value in found.items()} == {"x": 2, "v": [1, 2], "y": 1}
    for entry, said in (("@p.csv", ".json"), ("@p.json,x=1", "bound twice"), ("@q.json", "q.json")):
        with pytest.raises(RequestError) as caught:
            point(entry, used=("x",))
        assert said in caught.value.message
    with pytest.raises(RequestError, match=r"p.json: remark"):
        point("@p.json", used=("remark",))
    (folder / "t.json").write_text('{"x": 1, "x": 2}')
    with pytest.raises(RequestError, match="binds 'x' twice"):
        point("@t.json", used=("x",))


def test_sweeps() -> None:
    found = Point("--sweep", Settings())
    assert found.sweep("x=0:1:11,y=-pi:pi:2") == [
        ("x", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]), ("y", [-math.pi, math.pi]),
    ]  # fmt: skip
    assert spaced(3.0, 5.0, 1) == [3.0]
    assert spaced(-1.7e308, 1.7e308, 3) == [-1.7e308, 0.0, 1.7e308]
    for entry in ("x", "x=1", "x=0:1", "x=0:1:0", "x=0:1:2.5", "x=0:1:-2", "x=0:inf:3", "x=0:1:nan", "x=0:1:1e9",
                  "x=0:[1]:2", "x=::", "x=0:1:2:3", "=0:1:2"):  # fmt: skip
        with pytest.raises(RequestError, match=r"--sweep") as caught:
            Point("--sweep", Settings()).sweep(entry)
        assert caught.value.status == 2


def test_text_in_utf_16_has_a_mark() -> None:
    assert decoded("x²\r\n".encode("utf-16"), "f") == "x²\n"
    assert decoded("x²\r\n".encode("utf-8-sig"), "f") == "x²\n"
    with pytest.raises(RequestError, match="byte 2"):
        decoded(b"x\xff", "f")
