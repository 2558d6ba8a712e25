"""How many correct tables `kneepoint check-table` accuses, and how many changed digits it finds.

    python -m tests.tools.check_table.benchmark [--tables 1000]

The emulator's runs of some settings on some links are printed as reports print them: single runs
with throughput, delay and power, single runs also with capacity, utilization and both delays, or
means of 5 to 20 runs with deviations. The digits of a column are rounded or truncated, and trailing
zeros may be dropped. Then one digit of each table is changed.
"""

import argparse
import json
import math
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from kneepoint.tools.check_table.forensics import check, read_printed

EMULATE = Path("build/emulate").absolute()
SETTINGS = (
    *(f"fixed_window --set window={window}" for window in (5, 10, 20, 50)),
    *(f"delay_threshold --set rtt_threshold_ms={limit}" for limit in (60, 100, 150)),
    *("aimd_timeout", "timely", "copa", "cubic", "vegas"),
)
SEEDS = 20
DELAYS = ("queueing_delay_p95_ms", "signal_delay_p95_ms")
KINDS: Mapping[str, tuple[str, ...]] = {
    "three": ("throughput_mbps", "signal_delay_p95_ms", "power"),
    "all": ("throughput_mbps", *DELAYS, "power", "capacity_mbps", "utilization"),
    "means": ("throughput_mbps", *DELAYS, "power", "capacity_mbps", "utilization"),
}


def runs_of(settings: Sequence[str], links: int, seeds: int, seconds: int = 30) -> pd.DataFrame:
    """Returns runs on made-up links: the metrics, with link, setting and seed."""
    random = np.random.default_rng(7)
    places, lines = [], []
    with TemporaryDirectory(prefix="kneepoint-forensics-") as folder:
        for link in range(links):
            trace = Path(folder) / str(link)
            gaps = random.exponential(random.uniform(1, 6), size=40_000)
            times = np.floor(np.cumsum(gaps)).astype(int)
            trace.write_text("\n".join(map(str, times[times < 1000 * seconds])) + "\n")
            for setting in settings:
                for seed in range(seeds):
                    places.append({"trace": f"link-{link}", "setting": setting, "seed": seed})
                    lines.append(
                        f"--controller {setting} --uplink {trace} --downlink {trace} "
                        f"--host-model event-loop --seed {seed}\n"
                    )
        answer = subprocess.run(
            [str(EMULATE), "--batch"],
            input="".join(lines),
            text=True,
            capture_output=True,
            check=True,
        )
    return pd.DataFrame(places).join(
        pd.DataFrame([json.loads(line) for line in answer.stdout.splitlines()])
    )


@dataclass(frozen=True)
class Printed:
    """A table as text."""

    kind: str
    cells: pd.DataFrame

    def wrong_lines(self, path: Path) -> set[int]:
        """Returns the lines that contradict themselves, read from a file."""
        self.cells.to_csv(path, index=False)
        return {each.line for each in check(read_printed(path)[0]).contradictions}

    def changed(self, random: np.random.Generator) -> "tuple[Printed, int]":
        """Returns the table with one changed digit, and the line of this digit."""
        numbers = self.cells.drop(columns=["trace", "runs"], errors="ignore")
        column = str(random.choice(list(map(str, numbers))))
        row = int(random.integers(len(self.cells)))
        text = str(self.cells.at[row, column])
        places = [i for i, character in enumerate(text) if character.isdigit()]
        place = int(random.choice(places))
        other = str((int(text[place]) + int(random.integers(1, 10))) % 10)
        cells = self.cells.copy()
        cells.at[row, column] = text[:place] + other + text[place + 1 :]
        return Printed(self.kind, cells), row + 2


def printed(runs: pd.DataFrame, kind: str, random: np.random.Generator) -> Printed:
    """Returns a correct table of some settings on some links."""
    links, settings = (runs[name].unique() for name in ("trace", "setting"))
    chosen = runs[
        runs["trace"].isin(random.choice(links, size=min(2, len(links)), replace=False))
        & runs["setting"].isin(random.choice(settings, size=min(5, len(settings)), replace=False))
    ]
    seeds = random.permutation(runs["seed"].unique())
    n = int(random.integers(5, len(seeds) + 1)) if kind == "means" else 1
    groups = chosen[chosen["seed"].isin(seeds[:n])].groupby(["trace", "setting"], sort=False)
    means, deviations = groups[list(KINDS[kind])].mean(), groups[list(DELAYS)].std()
    columns = {
        name: _digits(means[name], _decimals(name, kind, random), random) for name in KINDS[kind]
    }
    if kind == "means":
        decimals = int(random.integers(1, 3))
        columns |= {f"{c}_sd": _digits(deviations[c], decimals, random) for c in DELAYS}
        columns["runs"] = [str(n)] * len(means)
    if kind != "three":
        columns["trace"] = [str(link) for link, _ in means.index]
    return Printed(kind, pd.DataFrame(columns))


def _decimals(name: str, kind: str, random: np.random.Generator) -> int:
    if name in DELAYS:
        return int(random.integers(1, 3)) if kind == "means" else 0
    return int(random.integers(3, 5) if name == "utilization" else random.integers(2, 4))


def _digits(values: Iterable[float], decimals: int, random: np.random.Generator) -> list[str]:
    is_truncated, drops_zeros = random.random() < 0.3, random.random() < 0.2
    texts = []
    for value in values:
        shown = math.floor(value * 10**decimals + 1e-9) / 10**decimals if is_truncated else value
        text = f"{shown:.{decimals}f}"
        texts.append(text.rstrip("0").rstrip(".") if drops_zeros and "." in text else text)
    return texts


def measured(runs: pd.DataFrame, tables: int, seed: int) -> pd.DataFrame:
    """Returns for each table: kind, accused, found (with a changed digit), named (its line)."""
    random = np.random.default_rng(seed)
    lines = []
    with TemporaryDirectory(prefix="kneepoint-forensics-") as folder:
        path = Path(folder) / "table.csv"
        for index in range(tables):
            table = printed(runs, list(KINDS)[index % len(KINDS)], random)
            accused = bool(table.wrong_lines(path))
            spoiled, line = table.changed(random)
            wrong = spoiled.wrong_lines(path)
            found = {"accused": accused, "found": bool(wrong), "named": line in wrong}
            lines.append({"kind": table.kind, **found})
    return pd.DataFrame(lines)


def main() -> None:
    """Prints the shares, by the kind of table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=1000, help="true ones (%(default)s)")
    given = parser.parse_args()
    found = measured(runs_of(SETTINGS, links=6, seeds=SEEDS), given.tables, 1)
    print("| tables | true ones accused | digits found | their row named |")
    print("| --- | --- | --- | --- |")
    for name, part in [*found.groupby("kind", sort=False), ("together", found)]:
        shares = " | ".join(f"{100 * part[c].mean():.1f} %" for c in ("accused", "found", "named"))
        print(f"| {name}, {len(part)} | {shares} |")


if __name__ == "__main__":
    main()
