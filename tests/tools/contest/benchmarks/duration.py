"""How long a contest takes: 60 entries, 8 runs each on 5 networks, with builds and the page.

    python -m tests.tools.contest.benchmarks.duration

Entries are the eleven twins of our controllers, each with five settings, and five windows of the
kit; no earlier builds or runs are reused. Prints wall-clock and CPU time (s).
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from kneepoint.engines.catalogue import load_catalogue
from tests.entries.trees import TWINS, kit, twin

EMULATE = Path("build/emulate")


def write_entries(folder: Path) -> int:
    """Writes the entries, and returns their number."""
    catalogue = load_catalogue(EMULATE)
    for name in TWINS:
        controller = catalogue.controller(name, "benchmark")
        defaults = controller.complete({}, "benchmark")
        for added_ms in range(0, 35, 7):
            other = {**defaults, "keepalive_ms": defaults["keepalive_ms"] + added_ms}
            twin(folder / f"{name}-{added_ms}", name, other)
    for window in range(5, 55, 10):
        kit(folder / f"window-{window}", window)
    return sum(1 for _ in folder.iterdir())


def main() -> None:
    """The command line."""
    with TemporaryDirectory(prefix="kneepoint-contest-") as work:
        entries = Path(work) / "entries"
        count = write_entries(entries)
        kept = Path(".kneepoint/contest")
        aside = kept.with_name("contest.aside")
        if kept.exists():
            kept.rename(aside)
        try:
            command = [sys.executable, "-m", "kneepoint", "contest", str(entries)]
            start, before = time.monotonic(), os.times()
            board = Path(work) / "board"
            subprocess.run([*command, "--into", str(board), *sys.argv[1:]], check=False)
            after = os.times()
            used = sum(after[2:4]) - sum(before[2:4])
            print(
                f"{count} entries: {time.monotonic() - start:.0f} s, {used:.0f} s of CPU time, "
                f"page {(board / 'leaderboard.html').stat().st_size / 2**20:.1f} MiB"
            )
        finally:
            if aside.exists():
                subprocess.run(["rm", "-rf", kept], check=True)
                aside.rename(kept)


if __name__ == "__main__":
    main()
