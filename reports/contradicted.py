"""Names the published rows that the audit contradicts, so that real runs can confirm it.

    python -m reports.contradicted --config CONFIG --out results/confirm/contradicted.json

writes a JSON list of pairs: a table, and the number of a row of it, counted from 0.
"""

import argparse
import json
from pathlib import Path

from common.errors import run_command_line
from common.files import write_whole
from reports import collect
from reports.collect import Results
from reports.discover import reports_compared


def contradicted(results: Results) -> list[tuple[str, int]]:
    """The rows, in the order of the tables; none where no table of a report was replayed."""
    compared = reports_compared(results)
    if compared is None:
        return []
    wrong = compared.rows[compared.rows["verdict"] == "contradicted"]
    return [(str(table), int(row)) for table, row in wrong[["table", "row"]].to_numpy()]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    arguments = parser.parse_args()
    _, results = collect.load_studies(arguments.config)
    write_whole(arguments.out, json.dumps(contradicted(results), indent=2) + "\n")


if __name__ == "__main__":
    run_command_line(main)
