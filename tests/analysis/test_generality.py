"""The price of generality: ratios by hand, and what the report says of them."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from analysis.generality import compute
from tests.analysis import synthetic

POWERS = {  # of the specialist and the generalist, on each network
    "contest": (20.0, 16.0),
    "slow": (2.0, 3.0),
    "fast": (100.0, 150.0),
}


def results() -> synthetic.MadeUp:
    held = synthetic.hold_out()
    runs = [
        synthetic.run_row(
            "timely",
            {"beta": 0.1 + 0.8 * trial},
            3.0,
            3000 / (powers[trial] * (1 + 0.01 * run)),
            trial=trial,
            run=run,
            network=network,
            study="hold_out",
        )
        for trial in (0, 1)
        for network, powers in POWERS.items()
        for run in range(3)
    ]
    settings = held.settings[:2].assign(
        controller="timely",
        origin="tuned",
        best=True,
        study=["alone", "together"],
        table=None,
        row=pd.array([pd.NA, pd.NA], dtype="Int64"),
        constants=[str(run["constants"]) for run in (runs[0], runs[9])],
    )
    studies = [
        synthetic.study(name, runs[:1], controller="timely", networks=networks)
        for name, networks in (("alone", ("contest",)), ("together", ("contest", "rural")))
    ]
    found = replace(held, settings=settings, runs=pd.DataFrame(runs))
    return synthetic.MadeUp(studies=studies, hold_out=found)


def stage(found: synthetic.MadeUp) -> pd.DataFrame:
    held = found.hold_out
    assert held is not None
    return compute(found, held)


def test_ratios_are_of_pairs_of_the_same_seed() -> None:
    (line,) = stage(results()).to_dict("records")
    assert (line["specialist"], line["generalist"]) == ("alone", "together")
    assert line["network_titles"] == [results().networks.get(n, n) for n in ("contest", "rural")]
    assert line["training_change"] == pytest.approx(16 / 20 - 1)
    assert line["held_out_change"] == pytest.approx(math.sqrt(1.5 * 1.5) - 1)
    assert line["held_out_low"] == pytest.approx(line["held_out_high"])  # equal ratios


def test_nothing_is_compared_where_everything_was_tuned_on_one_network() -> None:
    assert stage(synthetic.results()).empty
