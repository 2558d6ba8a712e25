"""How often the audit accuses an honest row, and how often it finds a wrong number.

    python -m tests.questions.audit.verdicts --figure docs/images/verdicts.svg

Needs the results of `make reproduce`. The tables that it replays are printed anew, from the
emulator's runs of the same settings: see planted.py. Nothing counts as fitted.
"""

import argparse
import json
from contextlib import closing
from pathlib import Path

import pandas as pd

from kneepoint.analysis.frames import records, with_parameters
from kneepoint.analysis.results import Results
from kneepoint.engines.base import RunSpec, canonical_json
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.reports.figures import style
from kneepoint.runs.results import FinishedRun, PlannedRun, runs_table
from kneepoint.runs.seeds import derive_seed
from tests.questions.audit import planted
from tests.questions.audit.planted import POOL, SIZES, Pool, Setting

EMULATE = Path("build/emulate")
LABELS = {
    planted.ALONE: "One of three numbers",
    planted.FOLLOWS: "Throughput or delay, and power with it",
    planted.ONLY: "Power, printed alone",
}
ALARMS = ("contradicted", "unexplained")
"""The verdicts that are false alarms on an honest row."""


def printable(results: Results) -> pd.DataFrame:
    """Returns the published rows that studies replay with one setting, with its parameters as
    JSON."""
    published = results.published
    audited = pd.read_parquet(results.folder / "audit.parquet")
    single = audited[(audited["settings"] == 1) & (audited["kind"] == "published")]
    rows = published.merge(single[["table", "row"]], on=["table", "row"])
    controllers = load_catalogue(EMULATE).controllers
    parameters = [
        controllers[row["controller"]].complete(planted.stated(row), "planted")
        for row in records(rows)
    ]
    return rows.assign(parameters=[canonical_json(dict(each)) for each in parameters])


def make_pool(rows: pd.DataFrame) -> Pool:
    """Returns POOL fresh runs of the setting of each row."""
    engine = EmulatorSettings.of(EMULATE)
    controllers = load_catalogue(EMULATE).controllers
    pool: dict[Setting, pd.DataFrame] = {}
    with closing(engine.open()) as emulator:
        for row in records(rows):
            setting = planted.setting_of(row)
            if setting in pool:
                continue
            network = PreparedNetwork.load(
                Path(".kneepoint/networks") / setting[2] / "network.json"
            )
            finished = []
            for run in range(POOL):
                seed = derive_seed("planted", *setting, run)
                controller, parameters = controllers[setting[0]], json.loads(setting[1])
                spec = RunSpec.on(engine, controller, parameters, network, seed)
                finished.append(FinishedRun(PlannedRun(0, run, None, spec), emulator.run(spec)))
            pool[setting] = with_parameters(runs_table("planted", finished).to_pandas())
    return pool


def accused(found: pd.DataFrame) -> "pd.Series[bool]":
    """Returns which rows are contradicted or unexplained."""
    return found["verdict"].isin(ALARMS)


def print_honest(found: pd.DataFrame) -> None:
    """Prints the false-alarm rate."""
    for group, rows in (
        ("all", found),
        ("selected", found[found["selected"]]),
        ("single runs", found[~found["selected"]]),
    ):
        contradicted = (rows["verdict"] == "contradicted").mean()
        print(
            f"{len(rows):6} honest rows, {group:12}{100 * accused(rows).mean():6.2f} % accused, "
            f"{100 * contradicted:.2f} % contradicted; {rows['runs'].mean():.1f} runs each, "
            f"{100 * rows['clear'].eq(False).mean():.1f} % unclear"
        )


def detection(found: pd.DataFrame) -> pd.DataFrame:
    """Returns the share of wrong rows that are accused: columns label, size, rows, found.

    Detection depends little on which number is wrong, and more on the other printed numbers.
    """
    spoiled = found[found["metric"] != ""]
    labels = spoiled["way"].map(LABELS)
    groups = accused(spoiled).groupby([labels.rename("label"), spoiled["size"]])
    return pd.DataFrame({"rows": groups.size(), "found": groups.mean()}).reset_index()


def print_detection(table: pd.DataFrame) -> None:
    """Prints a line for each kind of fault, in the Markdown of the docs."""
    print("| wrong number |", " | ".join(f"{100 * size:g} %" for size in SIZES), "|")
    print("|---|" + "---|" * len(SIZES))
    for label, lines in table.groupby("label"):
        line = lines.set_index("size").reindex(SIZES)
        cells = [
            f"{100 * found:.0f} % of {rows:.0f}"
            for found, rows in zip(line["found"], line["rows"], strict=True)
        ]
        print(f"| {str(label).lower()} |", " | ".join(cells), "|")


def draw(table: pd.DataFrame, alarms: float, path: Path) -> None:
    """Draws the detection rates, and the false alarms as a line."""
    with style.house():
        figure = style.page(3.0)
        axes = figure.subplots()
        for (label, line), marker in zip(table.groupby("label"), "os^", strict=True):
            x, y = 100 * line["size"], 100 * line["found"]
            axes.plot(x, y, marker=marker, label=label)
        axes.axhline(100 * alarms, color="0.4", linewidth=1)
        text = f"honest rows accused: {100 * alarms:.2f} %"
        axes.text(100 * SIZES[-1], 100 * alarms + 1, text, ha="right", va="bottom")
        axes.set_xscale("log")
        axes.set_xticks([100 * size for size in SIZES], [f"{100 * size:g}" for size in SIZES])
        axes.minorticks_off()
        axes.set(xlabel="Size of the planted error (%)", ylabel="Rows found (%)", ylim=(-2, 103))
        axes.legend(loc="center left", bbox_to_anchor=(0.0, 0.55))
        style.write(figure, path)


def main() -> None:
    """Measures both rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--printings", type=int, default=40, help="of all tables (%(default)s)")
    parser.add_argument("--figure", type=Path, help="draw the rates of detection here, as SVG")
    parser.add_argument("--config", type=Path, default=Path("config/config.yaml"))
    arguments = parser.parse_args()
    rows = printable(Results.of(arguments.config))
    pool = make_pool(rows)
    seeds = range(arguments.printings)
    honest = pd.concat([planted.verdicts(rows, pool, seed, wrong=False) for seed in seeds])
    print_honest(honest)
    wrong = pd.concat([planted.verdicts(rows, pool, 10**6 + seed, wrong=True) for seed in seeds])
    table = detection(wrong)
    print_detection(table)
    if arguments.figure:
        draw(table, float(accused(honest).mean()), arguments.figure)


if __name__ == "__main__":
    main()
