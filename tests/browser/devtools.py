"""The distribution's chromium, driven by the DevTools protocol: real clicks and keys."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tests.browser import chromium

_LONGEST_S = 120
_KEYS = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40}


class Page:
    """A page in a browser; its methods wait until the browser has answered."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = os.fdopen(commands, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb")
        self._numbers = count(1)
        self._session: str | None = None
        self._loads = 0
        self.problems: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM", "Performance"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        """Sends a command of the protocol and returns its result."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        self._commands.write(json.dumps(command).encode() + b"\0")
        while True:
            answer = json.loads(self._read())
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _read(self) -> bytes:
        text = bytearray()
        while not text.endswith(b"\0"):
            there = self._answers.peek()
            assert there, "the browser has ended"
            text += self._answers.read(there.find(b"\0") + 1 or len(there))
        return bytes(text[:-1])

    def _note(self, event: dict[str, Any]) -> None:
        """Records errors of the page, and counts pages."""
        told = event.get("params", {})
        self._loads += event.get("method") == "Page.loadEventFired"
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(told["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.problems.append(told["entry"]["text"])

    def open(self, url: str, pages: int = 1) -> None:
        """Opens a page, even if only the end of the address differs from the present page's.

        Args:
            url: the address.
            pages: number of pages that load, if the page leads to another page at once.
        """
        self._leave(partial(self.send, "Page.navigate", url="about:blank"))
        self._leave(partial(self.send, "Page.navigate", url=url), pages)

    def follow(self, url: str) -> None:
        """Opens an address that only the present page knows."""
        self._leave(
            lambda: self.evaluate(f"setTimeout(() => (location = {json.dumps(url)})); null")
        )

    def _leave(self, go: Callable[[], object], pages: int = 1) -> None:
        before = self._loads
        go()
        while self._loads < before + pages:
            self.send("Browser.getVersion")  # its answer follows the page's events

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression, or of its promise."""
        options = {"awaitPromise": True, "returnByValue": True, "userGesture": True}
        found = self.send("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, condition: str) -> Any:
        """Waits until an expression is true, and returns its value."""
        return self.evaluate(
            "new Promise((done, failed) => { const end = performance.now() + "
            f"{1000 * _LONGEST_S}; const look = () => {{ const found = ({condition});"
            "if (found) done(found); else if (performance.now() > end) failed(new Error("
            f"{json.dumps('never: ' + condition)})); else setTimeout(look, 20); }}; look(); }})"
        )

    def press(self, key: str, times: int = 1) -> None:
        """Presses a key."""
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                code = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
                self.send("Input.dispatchKeyEvent", type=kind, **code)

    def resize(self, width: int, height: int, *, is_dark: bool = False) -> None:
        """Sets the width of the window and the reader's wish for dark colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        wish = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[wish])

    def choose_files(self, selector: str, *paths: Path) -> None:
        """Gives files to a file control."""
        document = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def drop(self, *paths: Path) -> None:
        """Drops files onto the page."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=50, y=50, data=data)

    def heap_bytes(self) -> int:
        """Returns the memory of the page's JavaScript, after a collection of garbage."""
        self.send("HeapProfiler.collectGarbage")
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(int(each["value"]) for each in metrics if each["name"] == "JSHeapUsedSize")


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Starts chromium with an empty page; its profile lies in the folder."""
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    command = [
        chromium.program(),
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--disable-background-networking", "--no-first-run", "--remote-debugging-pipe"),
        f"--user-data-dir={folder / 'profile'}",
    ]
    # chromium reads commands from descriptor 3 and answers on 4.
    shell = f'exec "$0" "$@" 3<&{their_in} 4>&{their_out}'
    with subprocess.Popen(
        ["bash", "-c", shell, *command],
        pass_fds=(their_in, their_out),
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(their_in)
        os.close(their_out)
        try:
            yield Page(our_out, our_in)
        finally:
            process.terminate()


def ask(page: str, script: str, folder: Path, width: int = 1400, *, is_dark: bool = False) -> Any:
    """Opens a page and runs a script in it.

    Args:
        page: HTML.
        script: JavaScript, the body of an asynchronous function.
        folder: for the page and the browser's profile.
        width: of the window.
        is_dark: whether the reader wishes dark colours.

    Returns:
        The script's result, through JSON.
    """
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    with browser(folder) as opened:
        opened.resize(width, 1000, is_dark=is_dark)
        opened.open(path.as_uri())
        return opened.evaluate(f"(async () => {{ {script} }})()")
