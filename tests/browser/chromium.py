"""The distribution's chromium, and axe-core, which finds barriers to accessibility."""

import importlib.util
import shutil
from functools import cache
from pathlib import Path

import pytest


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
