"""What `python -m tests.benchmarks.verdicts` measures in the emulator, short, with made-up runs."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

from analysis.frames import CONSTANT, records
from analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from tests.analysis import published, synthetic
from tests.benchmarks import planted
from tests.benchmarks.planted import ALONE, FOLLOWS, POOL, Pool
from tests.benchmarks.verdicts import accused

pytestmark = pytest.mark.slow

TABLES = ("001-fixed-window", "001-aimd")


@cache
def rows() -> pd.DataFrame:
    """The rows of some tables that print three numbers, with their constants as JSON."""
    found = published.truth()
    found = found[found["table"].isin(TABLES)].reset_index(drop=True)
    constants = [
        {
            name.removeprefix(CONSTANT): value
            for name, value in row.items()
            if str(name).startswith(CONSTANT) and value == value
        }
        for row in records(found)
    ]
    return found.assign(constants=[json.dumps(each, sort_keys=True) for each in constants])


@cache
def pool() -> Pool:
    """Runs that vary by 0.3 % of throughput and 3 % of delay, in whole milliseconds, skewed."""
    random = np.random.default_rng(7)
    found = {}
    for row in records(rows()):
        throughput = row[THROUGHPUT] * (1 + 0.003 * random.standard_normal(POOL))
        skewed = (random.gamma(4, size=POOL) - 4) / 2
        delay = np.round(row[SIGNAL_DELAY] * (1 + 0.03 * skewed))
        runs = [
            synthetic.run_row(row["controller"], json.loads(row["constants"]), *each)
            for each in zip(throughput, delay, strict=True)
        ]
        found[planted.setting_of(row)] = pd.DataFrame(runs)
    return found


def test_at_most_two_in_a_hundred_honest_rows_are_accused() -> None:
    parts = [planted.verdicts(rows(), pool(), seed, wrong=False) for seed in range(8, 12)]
    found = pd.concat(parts)
    assert len(found) > 100
    assert found["selected"].any()
    assert accused(found).mean() <= 0.02
    assert (found["verdict"] == "contradicted").mean() <= 0.005
    assert found["runs"].min() == planted.STUDIED
    assert found["runs"].max() <= planted.STEPS[-1]


def test_wrong_numbers_are_found() -> None:
    found = pd.concat([planted.verdicts(rows(), pool(), seed, wrong=True) for seed in range(1, 5)])
    spoiled = found[found["metric"] != ""]
    alone = spoiled[(spoiled["way"] == ALONE) & (spoiled["size"] >= 0.05)]
    follows = spoiled[(spoiled["way"] == FOLLOWS) & (spoiled["size"] >= 0.5)]
    assert len(alone) >= 6
    assert len(follows) >= 1
    assert accused(alone).all()
    assert accused(follows).all()
