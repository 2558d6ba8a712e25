"""Entries of our own writing, in every dialect, and the twins of our controllers."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from common.code import ROOT
from kneepoint.new_entry import KIT

TWIN = Path(__file__).parent / "twin"
ALGORITHMS = ROOT / "controllers/algorithms"
TWINS = (
    *("aimd_rtt", "aimd_soph", "aimd_timeout", "bounded_aimd", "delay_band", "delay_threshold"),
    *("fast_tcp", "fixed_window", "rocinante", "tangra", "timely"),
)
"""The controllers of the contests."""


def kit(folder: Path, window: int | None = None) -> Path:
    """Writes the kit's own entry, with another window than its 50."""
    shutil.copytree(KIT, folder)
    (folder / "kneepoint.yaml").unlink()
    if window is not None:
        edit(folder / "datagrump/controller.cc", "#define WINDOW 50", f"#define WINDOW {window}")
    return folder


def edit(path: Path, old: str, new: str) -> None:
    """Replaces a text that must be there."""
    text = path.read_text()
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new))


def twin(folder: Path, name: str, constants: Mapping[str, float]) -> Path:
    """Writes one of our controllers as a whole sender of the kit."""
    kit(folder)
    shutil.copytree(ALGORITHMS, folder / "algorithms", ignore=shutil.ignore_patterns("*.cc"))
    shutil.copy(ALGORITHMS / f"{name}.cc", folder / "algorithms" / f"{name}.hh")
    shutil.copytree(TWIN, folder, dirs_exist_ok=True)
    values = ", ".join(f'{{"{each}", {value!r}}}' for each, value in constants.items())
    (folder / "datagrump/settings.hh").write_text(
        f'#include "algorithms/{name}.hh"\n\n'
        f"inline kneepoint::Constants::Values values() {{ return {{{values}}}; }}\n"
    )
    return folder
