"""Prints the tables of docs/field.md from the results of `kneepoint field`.

python -m tests.tools.field.benchmark
"""

from collections.abc import Iterable

import pandas as pd

from kneepoint.analysis.opened import open_results
from kneepoint.runs.load import load_workflow
from kneepoint.tools.field.command import CONFIG

CAPACITY_MBPS = 5.04115
"""The capacity of Verizon-LTE-short.down, as in config/published/abc-*.yaml."""


def _one(rows: pd.DataFrame, column: str, **place: object) -> float:
    for name, value in place.items():
        rows = rows[rows[name] == value]
    return float(rows[column].item())


def _table(head: str, rows: Iterable[Iterable[str]]) -> None:
    names = head.split(", ")
    for cells in (names, ["---"] * len(names), *rows):
        print("|", " | ".join(cells), "|")
    print()


def main() -> None:
    """Prints the tables."""
    workflow = load_workflow(CONFIG)
    table = open_results(workflow.results).table
    held, power, shares = (
        table(name) for name in ("held_out_settings", "held_out_power", "comparison_shares")
    )
    figures = table("traffic_figures").query("comparison == 'field-conditions'")
    conditions = workflow.comparisons["field-conditions"].settings

    def row(setting: int, controller: str) -> list[str]:
        of = held[held["controller"] == controller]
        defaults, tuned = (of[of["origin"].isin([o, "both"])] for o in ("published", "tuned"))
        contest = _one(power, "power", trial=defaults["trial"].item(), network="contest")
        beside = [
            100
            * _one(shares, "mean", trial=setting, traffic="beside-cubic", network=n, flow="first")
            for n in ("pair-8-1bdp", "pair-8-4bdp")
        ]
        unlimited, codel, lossy = (
            _one(figures, "mean", trial=setting, network=f"field-{n}", source=source, metric=metric)
            for n, source, metric in (
                ("infinite", "ping", "rtt_mean_ms"),
                ("codel", "ping", "rtt_mean_ms"),
                ("loss-1", "first", "goodput_mbps"),
            )
        )
        held_out = [f"{100 * each['held_out'].item():.1f} %" for each in (defaults, tuned)]
        return [
            *(f"`{controller}`", f"{contest:.1f}", *held_out),
            *(f"{beside[0]:.0f}, {beside[1]:.0f} %", f"{unlimited:.0f} ms", f"{codel:.0f} ms"),
            f"{lossy:.1f}",
        ]

    _table(
        "Controller, contest, held out, tuned, beside CUBIC, ping unlimited, with CoDel, 1 % lost",
        [row(number, each.controller) for number, each in enumerate(conditions)],
    )
    audit = table("audit")
    for name, delay, unit, above in (
        ("abc", "queueing_delay_p95_ms", CAPACITY_MBPS, 100),
        ("sprout", "signal_delay_p95_ms", 1, 0),
    ):
        lines = audit[audit["table"].str.startswith(name)]
        _table(
            "Scheme, network, published, measured, lost, verdict",
            [
                [
                    *(str(line["controller"]), str(line["network"])),
                    *(
                        f"{line[f'{whose}_throughput_mbps'] / unit:.3f}, "
                        f"{line[f'{whose}_{delay}'] + above:.0f} ms"
                        for whose in ("published", "ours")
                    ),
                    f"{100 * line['loss']:.1f} %",
                    str(line["verdict"]),
                ]
                for _, line in lines.iterrows()
            ],
        )


if __name__ == "__main__":
    main()
