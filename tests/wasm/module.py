"""Functions with which these tests call the emulator as a WebAssembly module."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.devtools import browser
from tests.conftest import ROOT

MODULE = ROOT / "build/kneepoint.wasm"
EMULATOR = ROOT / "controllers/wasm/emulator.mjs"
ANSWERS = ROOT / "tests/wasm/answers.mjs"
MISSING = next(
    (
        reason
        for is_there, reason in (
            (MODULE.exists(), "build/kneepoint.wasm: make wasm"),
            (shutil.which("node"), "node: apt-get install nodejs"),
        )
        if not is_there
    ),
    "",
)
Call = tuple[str, ...]
"""The name of a method of emulator.mjs, or of answers.mjs, and its arguments."""
_NODE = f"""
import {{ readFileSync }} from "node:fs";
import {{ Emulator }} from "{EMULATOR}";
import {{ answersTo }} from "{ANSWERS}";
const emulator = new Emulator(new WebAssembly.Module(readFileSync("{MODULE}")));
process.stdout.write(JSON.stringify(await answersTo(emulator, JSON.parse(readFileSync(0)))));
"""

needs_module = pytest.mark.skipif(bool(MISSING), reason=f"NOT TESTED without {MISSING}")


def answers_in_node(calls: Iterable[Call]) -> list[Any]:
    """Returns the answers of the emulator's methods in Node.js."""
    command = ["node", "--input-type=module", "--eval", _NODE]
    given = json.dumps([*calls])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    answers: list[Any] = json.loads(done.stdout)
    return answers


def answers_in_chromium(calls: Iterable[Call], folder: Path) -> list[Any]:
    """Returns the answers of the emulator's methods in a page of chromium, opened from a file."""
    scripts = (each.read_text(encoding="utf-8") for each in (EMULATOR, ANSWERS))
    path = folder / "page.html"
    path.write_text(f"<script>{''.join(scripts).replace('export ', '')}</script>")
    module = base64.b64encode(MODULE.read_bytes()).decode()
    with browser(folder) as page:
        page.open(path.as_uri())
        page.evaluate(
            f"WebAssembly.compile(Uint8Array.from(atob('{module}'), (sign) => sign.charCodeAt(0)))"
            ".then((module) => { window.emulator = new Emulator(module); })"
        )
        answers: list[Any] = page.evaluate(f"answersTo(emulator, {json.dumps([*calls])})")
    return answers
