"""A made-up report whose tables leave parameters open, and the runs behind it: nothing is emulated.

One table states the increase alone, the next varies what the first leaves open, by much; one varies
a window, and one prints power alone. Runs of one setting differ in throughput by 0.3 % and in delay
by 0.2 to 3 %, skewed, in whole milliseconds.
"""

import json
from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from analysis.frames import CONSTANT, STEP, records
from analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from tests.analysis import synthetic
from tests.benchmarks import planted
from tests.benchmarks.planted import POOL, Pool

OPEN: Mapping[str, float] = {"multiply_up": 1.5, "subtract_down": 2.0}
"""What the first table does not state, with the values of the study that replays it."""
MISMATCH = 0.002
"""The standard deviation of a row's numbers about our mean, as few replays are perfect."""
_TABLES: Mapping[str, tuple[str, list[dict[str, float]]]] = {
    "901-increase": ("climber", [{"increase": x} for x in (0.5, 1, 2, 3, 4, 6, 8, 11, 16, 22, 30)]),
    "902-multiply": (
        "climber",
        [{"increase": 2, "multiply_up": x} for x in (1.1, 1.5, 2, 3, 6, 12)],
    ),
    "903-windows": ("fixed_window", [{"window": x} for x in range(5, 95, 15)]),
    "904-power": ("fixed_window", [{"window": x} for x in range(6, 66, 10)]),
}


@cache
def rows() -> pd.DataFrame:
    """The rows as `Results.published` gives them, with the constants of their replay as JSON."""
    found: list[dict[str, object]] = []
    for table, (controller, stated) in _TABLES.items():
        for row, constants in enumerate(stated):
            whole = {**OPEN, **constants} if controller == "climber" else constants
            throughput, delay, _ = _truth(controller, whole)
            prints = {THROUGHPUT: throughput, SIGNAL_DELAY: delay}
            found.append(
                {
                    "table": table,
                    "row": row,
                    "controller": controller,
                    "network": synthetic.NETWORK,
                    "constants": json.dumps(whole),
                    **{CONSTANT + name: value for name, value in constants.items()},
                    **({} if table == "904-power" else prints),
                    POWER: 1e3 * throughput / delay,
                }
            )
    steps = {STEP + THROUGHPUT: 0.01, STEP + SIGNAL_DELAY: 1.0, STEP + POWER: 0.01}
    return synthetic.described(pd.DataFrame(found)).assign(**steps)


def _truth(controller: str, constants: Mapping[str, float]) -> tuple[float, float, float]:
    """Throughput, delay and the deviation of the delay, relative."""
    if controller == "fixed_window":
        return *synthetic.fixed_window(constants["window"]), 0.002
    increase, up = constants["increase"], constants["multiply_up"]
    delay = 90 + 9 * increase**0.8 * up**2 / constants["subtract_down"]
    return 4.9 - 2 / (1 + increase * up), delay, 0.003 if up == OPEN["multiply_up"] else 0.03


@cache
def pool() -> Pool:
    """POOL runs of each setting."""
    random = np.random.default_rng(11)
    found = {}
    for row in records(rows()):
        constants = json.loads(row["constants"])
        rate, mean, deviation = _truth(row["controller"], constants)
        skewed = (random.gamma(4, size=POOL) - 4) / 2
        throughput = rate * (1 + 0.003 * random.standard_normal(POOL))
        delay = np.round(mean * (1 + deviation * skewed))
        runs = [
            synthetic.run_row(row["controller"], constants, *each)
            for each in zip(throughput, delay, strict=True)
        ]
        of_setting = pd.DataFrame(runs).assign(constants=row["constants"])
        found[planted.setting_of(row)] = of_setting
    return found
