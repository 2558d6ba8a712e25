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
_AT_ONCE = 50
_ANSWER = """
let emulator;
const digest = async (name) => {
  const text = new TextEncoder().encode(emulator.read(name));
  emulator.write(name, "");
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
};
async function start(module) {
  const bytes = Uint8Array.from(atob(module), (sign) => sign.charCodeAt(0));
  emulator = new Emulator(await WebAssembly.compile(bytes));
}
async function answer(calls) {
  const answers = [];
  for (const [name, ...texts] of calls) {
    answers.push(await (name === "digest" ? digest(...texts) : emulator[name](...texts)));
  }
  return answers;
}
"""

needs_module = pytest.mark.skipif(bool(MISSING), reason=f"NOT TESTED without {MISSING}")


def answers_in_node(calls: Iterable[Call]) -> list[Any]:
    """Returns the answers of the emulator's methods in Node.js."""
    lines = "".join(f"{json.dumps(call)}\n" for call in calls)
    command = ["node", str(Path(__file__).with_name("answers.mjs")), str(MODULE)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def answers_in_chromium(calls: Iterable[Call], folder: Path) -> list[Any]:
    """Returns the answers of the emulator's methods in a page of chromium, opened from a file."""
    emulator = EMULATOR.read_text(encoding="utf-8").replace("export ", "")
    path = folder / "page.html"
    path.write_text(f"<script>{emulator}{_ANSWER}</script>", encoding="utf-8")
    waiting, answers = list(calls), []
    with browser(folder) as page:
        page.open(path.as_uri())
        page.evaluate(f"start('{base64.b64encode(MODULE.read_bytes()).decode()}')")
        for first in range(0, len(waiting), _AT_ONCE):
            some = json.dumps(waiting[first : first + _AT_ONCE])
            answers += page.evaluate(f"answer({some})")
    return answers
