"""Names the settings whose real means the emulator does not predict, and nothing explains.

    python -m reports.outside --config CONFIG --out results/again/outside.json

writes a JSON list of settings, by their numbers in results/confirm/settings.parquet.
"""

import argparse
import json
from pathlib import Path

from common.errors import run_command_line
from common.files import write_whole
from experiments.config import load_workflow
from reports.real_results import load_confirmation, load_runs
from reports.real_statistics import UNEXPLAINED, beside_real, explained


def outside(results: Path) -> list[int]:
    """The settings, in their order; none where nothing was confirmed, or no host calibrated."""
    found = load_confirmation(results / "confirm")
    if found is None:
        return []
    emulated = load_runs(results / "agreement" / "runs.parquet")
    rows, again = (beside_real(found.settings, runs, emulated) for runs in (found.runs, None))
    missed = explained(rows[rows["inside"].eq(False)], found.runs, again)
    return sorted({int(trial) for trial in missed.loc[missed["why"] == UNEXPLAINED, "trial"]})


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    arguments = parser.parse_args()
    found = outside(load_workflow(arguments.config).results)
    write_whole(arguments.out, json.dumps(found) + "\n")


if __name__ == "__main__":
    run_command_line(main)
