"""How these tests call the emulator as a WebAssembly module."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

MODULE = ROOT / "build/kneepoint.wasm"
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

needs_module = pytest.mark.skipif(bool(MISSING), reason=f"NOT TESTED without {MISSING}")


def answers_in_node(calls: Iterable[Call]) -> list[Any]:
    """Returns what methods of the emulator answer in Node.js."""
    lines = "".join(f"{json.dumps(call)}\n" for call in calls)
    command = ["node", str(Path(__file__).with_name("answers.mjs")), str(MODULE)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
