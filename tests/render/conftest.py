"""A headless Chromium on a pair of pipes, for the tests of the page: just what they need of its protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --no-first-run
--no-default-browser-check --disable-extensions --disable-sync --hide-scrollbars --remote-debugging-pipe
--force-prefers-reduced-motion --window-size=1400,900"""
PATIENCE = 60.0


class Browser:
    """One page in one browser; messages are JSON, each ended by a zero byte."""

    def __init__(self, profile: Path) -> None:
        assert PROGRAM is not None
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # The browser reads descriptor 3 and writes 4; going over high numbers keeps the two from clobbering.
        nothing = os.open(os.devnull, os.O_RDWR)
        moves = [(theirs_in, 103), (theirs_out, 104), (103, 3), (104, 4), (nothing, 0), (nothing, 1), (nothing, 2)]
        self.process = os.posix_spawn(
            PROGRAM,
            [PROGRAM, *FLAGS.split(), f"--user-data-dir={profile}", "about:blank"],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, old, new) for old, new in moves],
            setpgroup=0,
        )
        for end in (theirs_in, theirs_out, nothing):
            os.close(end)
        self.ours_in, self.ours_out = ours_in, ours_out
        self.buffer = b""
        self.number = 0
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        (target,) = [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.ours_in)
        os.close(self.ours_out)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to one request; events on the way are kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ours_out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.ours_in], [], [], PATIENCE)
            assert ready, "the browser says nothing"
            got = os.read(self.ours_in, 1 << 16)
            assert got, "the browser is gone"
            self.buffer += got
        first, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message

    def open(self, path: Path, scheme: str = "light") -> None:
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            text = {"text": key} if len(key) == 1 else {}
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **text)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def hover(self, selector: str) -> None:
        """Move the mouse to the middle of a line, or of a box."""
        x, y = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'});"
            "if (e.getPointAtLength) { const p = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform("
            "e.getScreenCTM()); return [p.x, p.y] }"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> bytes:
        data = base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])
        path.write_bytes(data)
        return data

    def fetched(self) -> list[str]:
        """The addresses that the page asked for, since it was opened."""
        wanted = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in wanted]

    def complaints(self) -> list[Any]:
        """Errors of scripts and of the console."""
        return [e for e in self.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("no Chromium on the PATH")
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()
