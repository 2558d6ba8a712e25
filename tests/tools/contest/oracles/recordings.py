"""Writes entries with recordings built in."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.entries.trees import kit

_LINE = 4000
_ZERO = ord("0")
_MOST = ord("[") - _ZERO


def with_recordings(
    folder: Path, controller: str, recordings: Sequence[Sequence[int]], macros: str = ""
) -> Path:
    """Writes the kit's entry with a controller of this folder that knows recordings.

    Args:
        folder: of the entry.
        controller: name of the controller's file, without its suffix.
        recordings: opportunities of each link (ms).
        macros: lines before the controller's code.
    """
    kit(folder)
    source = (Path(__file__).parent / f"{controller}.cc").read_text()
    (folder / "datagrump/controller.cc").write_text(f"{macros}\n{source}")
    known = ",\n\n".join(_literal(times_ms) for times_ms in recordings)
    (folder / "datagrump/recordings.hh").write_text(
        "// Opportunities in each millisecond, as characters from 0 on.\n"
        f"static const char* const recordings[] = {{\n{known}}};\n"
    )
    return folder


def _literal(times_ms: Sequence[int]) -> str:
    counts = Counter(times_ms)
    text = "".join(chr(_ZERO + min(counts[time_ms], _MOST)) for time_ms in range(times_ms[-1] + 1))
    return "\n".join(f'"{text[at : at + _LINE]}"' for at in range(0, len(text), _LINE))
