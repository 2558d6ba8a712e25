"""The distribution's chromium, without a driver: it runs a page's scripts and prints its DOM."""

import html
import importlib.util
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_FOUND = re.compile(r'<pre id="found">(.*?)</pre>', re.DOTALL)
_UNREAD = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_LONGEST_S = 300


def program() -> str:
    """Returns chromium's path; skips where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("NOT TESTED: no chromium; run `make browser-tools` as root")
    return found


@cache
def axe() -> str:
    """Returns axe-core's script; skips where it is not installed."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("NOT TESTED: no axe-core; run `make browser-tools`")
    return (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def ask(page: str, script: str, folder: Path, *options: str) -> Any:
    """Opens a page and runs a script in it.

    Args:
        page: HTML.
        script: JavaScript, the body of an asynchronous function.
        folder: for the page and the browser's profile.
        options: of chromium: --window-size=WIDTH,HEIGHT.

    Returns:
        What the script returned, through JSON.
    """
    call = (
        "<script>(async () => {" + script + "})().then((found) => {"
        'const shown = document.createElement("pre"); shown.id = "found";'
        "shown.textContent = JSON.stringify(found); document.body.append(shown); });</script>"
    )
    path = folder / "page.html"
    path.write_text(page.replace("</body>", f"{call}</body>"), encoding="utf-8")
    dom = _open(path.as_uri(), folder, 60, *options)
    found = _FOUND.search(dom)
    assert found, dom[-2000:]
    return json.loads(html.unescape(found[1]))


def text_at(url: str, folder: Path, *options: str) -> str:
    """Returns the words of a page that a server gives, when its scripts have drawn it.

    Args:
        url: of the page.
        folder: for the browser's profile.
        options: of chromium.
    """
    dom = _open(url, folder, 15, *options)  # s: a page that asks its server again never ends
    words = _TAG.sub(" ", _UNREAD.sub("", dom))
    return " ".join(html.unescape(words).split())


def _open(url: str, folder: Path, seconds: int, *options: str) -> str:
    """Returns the DOM of a page after so many seconds of its own virtual time."""
    output = subprocess.run(
        [
            program(),
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={folder / 'profile'}", *options),
            *(f"--virtual-time-budget={1000 * seconds}", "--dump-dom", url),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=_LONGEST_S,
    )
    return output.stdout
