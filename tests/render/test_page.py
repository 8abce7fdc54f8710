"""The page that steps through both passes: its structure, and how it behaves in a browser."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from autodiff import cli

TWELVE = "exp(sin(x*y)+x^2)*y/log(y) - x*y"


def long_text(count: int) -> str:
    pick = random.Random(3)
    names = ["x", "y", "z"]
    lines = []
    for k in range(count):
        a, b = pick.choice(names[-5:]), pick.choice(names[-9:])
        lines.append(f"t{k} = " + pick.choice([f"{a}*{b}", f"sin({a})", f"{a} - {b}", f"tanh({a}) + {names[-1]}"]))
        names.append(f"t{k}")
    return "; ".join(lines) + "; " + " + ".join(names[-5:])


def draw(path: Path, *words: str) -> str:
    assert cli.run(["graph", *words, "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def svg_of(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(re.search(r"<svg.*?</svg>", page, re.S)[0])  # type: ignore[index]


def data_of(page: str) -> dict[str, list[dict[str, object]]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    made: dict[str, list[dict[str, object]]] = json.loads(found[1])
    return made


def test_one_file_and_nothing_fetched(tmp_path: Path) -> None:
    page = draw(tmp_path / "g.html", TWELVE, "x=1,y=2")
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[^\"' ]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|<img|<iframe|@import|url\(|\bsrc=|\bhref=|fetch\(|XMLHttp", page)


def test_a_hundred_nodes_are_small(tmp_path: Path) -> None:
    page = draw(tmp_path / "g.html", long_text(78), "x=0.3,y=0.7,z=1.1")
    boxes = svg_of(page).findall(".//{*}g[@aria-label]")
    assert 100 <= len(boxes) <= 130 and len(page.encode()) < 200_000


def test_roles_and_labels(tmp_path: Path) -> None:
    page = draw(tmp_path / "g.html", "(x+2)*x", "x=2")
    assert '<html lang="en">' in page and "<title>(x+2)*x</title>" in page
    assert 'role="status" aria-live="polite"' in page and 'role="toolbar"' in page
    assert '<th scope="row">a</th><td>4</td><td>2</td>' in page
    labels = [box.get("aria-label") for box in svg_of(page).findall(".//{*}g[@role='img']")]
    assert labels == ["x, value 2, grad 6", "2", "a = x + 2, value 4, grad 2, AddBackward0",
                      "y = a * x, value 8, grad 1, MulBackward0"]  # fmt: skip
    for button in re.findall(r"<button[^>]*>", page):
        assert "aria-label=" in button


def test_the_steps_say_what_happens(tmp_path: Path) -> None:
    steps = data_of(draw(tmp_path / "g.html", "(x+2)*x", "x=2"))["steps"]
    said = [step["say"] for step in steps]
    assert said[1:4] == ["Input: x = 2", "a = x + 2 = 2 + 2 = 4", "y = a * x = 4 * 2 = 8"]
    assert said[5] == "y = a * x has gradient 1 and sends to a: 2 · 1 = 2; to x: 4 · 1 = 4"
    assert said[6] == "a = x + 2 has gradient 2 and sends to x: 1 · 2 = 2, together 4 + 2 = 6"
    assert said[7] == "Done. dy/dx = 4 + 2 = 6"


HOSTILE = "x^2 # </script><script>alert(1)</script><!-- &lt; \" ' ]]> \x07 \u202e"


@pytest.mark.parametrize("ending", ["html", "svg"])
def test_hostile_text_stays_text(tmp_path: Path, ending: str) -> None:
    made = draw(tmp_path / f"g.{ending}", HOSTILE, "x=1")
    assert "<script>alert" not in made and "\x07" not in made and "\u202e" not in made
    whole = svg_of(made)
    if ending == "svg":
        assert whole.findtext("{*}title", "").startswith("x^2 # </script><script>alert(1)</script><!-- &lt; \" '")
    else:
        assert made.count("</script>") == 2 and data_of(made)["steps"]


@pytest.mark.parametrize(
    "words",
    [("(x+2)*x", "x=2"), ("ß漢*2", "ß漢=1"), ("sum(v*v)", "v=[1,2,3]"), ("1+2",), ("x", "x=1"), ("2*3 + z*0", "z=inf"),
     ("y = x; for k in 1..300 { y = sin(y)*k }; y", "x=1"), ("(x+2)*x", "x=2", "--backward"),
     ("t = z; x^2", "x=1,z=2")],
)  # fmt: skip
def test_whatever_is_drawn_is_well_formed(tmp_path: Path, words: tuple[str, ...]) -> None:
    page, picture = draw(tmp_path / "g.html", *words), draw(tmp_path / "g.svg", *words)
    steps = data_of(page)["steps"]
    for drawing in (svg_of(page), ElementTree.fromstring(picture)):
        boxes = {box.get("id") for box in drawing.iter("{http://www.w3.org/2000/svg}g") if box.get("id")}
        for line in drawing.iter("{http://www.w3.org/2000/svg}path"):
            assert line.get("data-f") in boxes and line.get("data-t") in (*boxes, None)
        for step in steps:
            assert step.get("now") in (*boxes, None) and set(step.get("from") or ()) <= boxes  # type: ignore[call-overload]
    assert svg_of(page).find(".//{*}g[@id]") is not None


SAY = "document.getElementById('say').textContent"
SEEN = "e => { const s = getComputedStyle(e); return s.opacity !== '0' && s.visibility !== 'hidden' }"


def seen(browser: Any, what: str) -> list[str]:
    """The texts of a class in the picture that can be seen."""
    found = browser.value(f"[...document.querySelectorAll('.boxes {what}')].filter({SEEN}).map(e => e.textContent)")
    assert isinstance(found, list)
    return found


def test_the_keyboard_steps_through(browser: Any, tmp_path: Path) -> None:
    draw(tmp_path / "g.html", "(x+2)*x", "x=2")
    browser.open(tmp_path / "g.html")
    assert seen(browser, ".k") == [] and seen(browser, ".g") == []
    browser.press("ArrowRight")
    assert browser.value(SAY) == "Input: x = 2" and seen(browser, ".k") == ["value 2"]
    browser.press("ArrowRight", 2)
    assert seen(browser, ".k") == ["value 2", "value 4", "value 8"] and seen(browser, ".g") == []
    browser.press("b")
    assert seen(browser, ".g") == ["grad 1"]
    browser.press("ArrowRight")
    assert seen(browser, ".g") == ["grad 4", "grad 2", "grad 1"]
    browser.press("ArrowRight")
    assert seen(browser, ".g") == ["grad 6", "grad 2", "grad 1"] and "4 + 2 = 6" in browser.value(SAY)
    browser.press("ArrowLeft")
    assert seen(browser, ".g") == ["grad 4", "grad 2", "grad 1"]
    browser.press("End")
    assert browser.value(SAY) == "Done. dy/dx = 4 + 2 = 6"
    cells = browser.value("[...document.querySelectorAll('tbody tr')].map(r => r.textContent)")
    assert cells == ["x26", "a42", "y81"]
    browser.press("Home")
    assert seen(browser, ".k") == []
    assert browser.fetched() == [(tmp_path / "g.html").as_uri()] and browser.complaints() == []


def test_hovering_and_focus_tell_local_derivatives(browser: Any, tmp_path: Path) -> None:
    draw(tmp_path / "g.html", "(x+2)*x", "x=2")
    browser.open(tmp_path / "g.html")
    browser.press("End")
    tip = "document.getElementById('tip')"
    browser.hover(".lines path[data-f=n2][data-t=n3]")
    assert browser.value(f"{tip}.textContent") == "∂y/∂a = x = 2; sends 2 · 1 = 2"
    browser.value("document.getElementById('n3').focus()")
    assert "∂y/∂x = a = 4; sends 4 · 1 = 4" in browser.value(f"{tip}.textContent")
    assert browser.value(f"{tip}.hidden") is False
    browser.value("document.activeElement.blur()")
    assert browser.value(f"{tip}.hidden") is True


def test_a_screen_reader_finds_its_way(browser: Any, tmp_path: Path) -> None:
    draw(tmp_path / "g.html", "(x+2)*x", "x=2")
    browser.open(tmp_path / "g.html")
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    named = {(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")}
    roles = {role for role, _ in named}
    assert {"heading", "toolbar", "slider", "status", "table", "main", "region"} <= roles
    assert ("button", "Step forward") in named and ("heading", "(x+2)*x") in named
    assert ("image", "a = x + 2, value 4, grad 2, AddBackward0") in named or (
        "img", "a = x + 2, value 4, grad 2, AddBackward0") in named  # fmt: skip


@pytest.mark.parametrize(("text", "point"), [(TWELVE, "x=1,y=2"), (long_text(40), "x=0.3,y=0.7,z=1.1")])
def test_both_colour_schemes(browser: Any, tmp_path: Path, text: str, point: str) -> None:
    draw(tmp_path / "g.html", text, point)
    pictures = []
    for scheme, light in (("light", True), ("dark", False)):
        browser.open(tmp_path / "g.html", scheme)
        browser.press("End")
        paper = re.findall(r"\d+", browser.value("getComputedStyle(document.body).backgroundColor"))
        ink = re.findall(r"\d+", browser.value("getComputedStyle(document.querySelector('.boxes text')).fill"))
        assert (sum(map(int, paper)) > 600) == light and (sum(map(int, ink)) < 300) == light
        pictures.append(browser.screenshot(tmp_path / f"{scheme}.png"))
        # the labels stay inside their boxes, whatever the font
        assert browser.value(
            "[...document.querySelectorAll('.b')].every(b => { const r = b.querySelector('rect').getBBox();"
            "return [...b.querySelectorAll('text')].every(t => { const s = t.getBBox();"
            "return s.x > r.x - 1 && s.x + s.width < r.x + r.width + 1 }) })"
        )
    assert pictures[0] != pictures[1] and browser.complaints() == []
