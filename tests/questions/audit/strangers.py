"""The audit of a made-up report whose tables leave parameters open; nothing is emulated.

    python -m tests.questions.audit.strangers

The first table states only the increase, the second varies the open parameters widely; a third
varies a window, and a fourth prints only power. Runs of one setting differ in throughput by 0.3 %
and in delay by 0.2 to 3 %, skewed, in whole milliseconds; each row is printed from one run, near
our mean. A third of the tables truncate the digits of one column, a third the digits of all
columns. A wrong table has one wrong number, from which its power was computed.
"""

import argparse
import json
from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import PARAMETER, STEP, records
from kneepoint.analysis.further_run import figures
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.questions.audit.tables import audit
from tests.analysis import synthetic
from tests.questions.audit import planted, published
from tests.questions.audit.planted import POOL, Pool

RUNS = 30
"""The number of our runs for each row."""
SIZES = (0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.5)
OPEN: Mapping[str, float] = {"multiply_up": 1.5, "subtract_down": 2.0}
"""Parameters that the first table does not state, with their values in the study that replays
it."""
MISMATCH = 0.002
"""The relative standard deviation of a row's numbers about our mean, because replays are
imperfect."""
ALARMS = ("contradicted", "unexplained")
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
    """Returns the rows in the form of `Results.published`, with the parameters of their replay as
    JSON."""
    found: list[dict[str, object]] = []
    for table, (controller, stated) in _TABLES.items():
        for row, parameters in enumerate(stated):
            whole = {**OPEN, **parameters} if controller == "climber" else parameters
            throughput, delay, _ = _truth(controller, whole)
            prints = {THROUGHPUT: throughput, SIGNAL_DELAY: delay}
            found.append(
                {
                    "table": table,
                    "row": row,
                    "controller": controller,
                    "network": synthetic.NETWORK,
                    "parameters": json.dumps(whole),
                    **{PARAMETER + name: value for name, value in parameters.items()},
                    **({} if table == "904-power" else prints),
                    POWER: 1e3 * throughput / delay,
                }
            )
    steps = {STEP + THROUGHPUT: 0.01, STEP + SIGNAL_DELAY: 1.0, STEP + POWER: 0.01}
    return synthetic.described(pd.DataFrame(found)).assign(**steps)


def _truth(controller: str, parameters: Mapping[str, float]) -> tuple[float, float, float]:
    """Returns throughput, delay and the relative deviation of the delay."""
    if controller == "fixed_window":
        return *synthetic.fixed_window(parameters["window"]), 0.002
    increase, up = parameters["increase"], parameters["multiply_up"]
    delay = 90 + 9 * increase**0.8 * up**2 / parameters["subtract_down"]
    return 4.9 - 2 / (1 + increase * up), delay, 0.003 if up == OPEN["multiply_up"] else 0.03


@cache
def pool() -> Pool:
    """Returns POOL runs of each setting."""
    random = np.random.default_rng(11)
    found = {}
    for row in records(rows()):
        parameters = json.loads(row["parameters"])
        rate, mean, deviation = _truth(row["controller"], parameters)
        skewed = (random.gamma(4, size=POOL) - 4) / 2
        throughput = rate * (1 + 0.003 * random.standard_normal(POOL))
        delay = np.round(mean * (1 + deviation * skewed))
        runs = [
            synthetic.run_row(row["controller"], parameters, *each)
            for each in zip(throughput, delay, strict=True)
        ]
        of_setting = pd.DataFrame(runs).assign(parameters=row["parameters"])
        found[planted.setting_of(row)] = of_setting
    return found


def beside(printings: int, seed: int, size: float = 0.0) -> pd.DataFrame:
    """Returns the rows of all printings in the form of `beside`, with a column spoiled.

    Args:
        printings: number of printings of each table.
        seed: of all random draws.
        size: relative error of one number of each table.
    """
    random = np.random.default_rng(seed)
    base, runs = rows(), pool()
    parts = []
    for printing in range(printings):
        for _, table in base.groupby("table", sort=False):
            parts.append(
                _printed(
                    table, [runs[planted.setting_of(r)] for r in records(table)], random, size
                ).assign(printing=printing)
            )
    found = pd.concat(parts, ignore_index=True)
    for name in ("table", "network"):  # no printing contradicts another
        found[name] += "-" + found["printing"].astype(str)
    found = found.drop(columns="printing")
    ours = {m: np.stack(found.pop(f"runs_{m}").tolist()) for m in METRICS}
    found = found.join(pd.DataFrame(figures(ours)))
    for metric in METRICS:
        found[[f"host_low_{metric}", f"host_high_{metric}"]] = np.nan
    return published.compared(found.assign(**{**published.RAN, "runs": RUNS}))


def _printed(
    table: pd.DataFrame, runs: list[pd.DataFrame], random: np.random.Generator, size: float
) -> pd.DataFrame:
    """Returns a table with one run as printed, and RUNS others as ours."""
    wrong = int(random.integers(len(table))) if size else -1
    spoiled = str(random.choice([THROUGHPUT, SIGNAL_DELAY]))
    cut_off = [set(METRICS), {str(random.choice(list(METRICS)))}, set()][int(random.integers(3))]
    lines = []
    for i, (row, of_row) in enumerate(zip(records(table), runs, strict=True)):
        order = random.permutation(POOL)
        of_row = of_row.iloc[order]
        shown = {
            metric: float(of_row[metric].iloc[-1]) * np.exp(MISMATCH * random.standard_normal())
            for metric in (THROUGHPUT, SIGNAL_DELAY)
        }
        if i == wrong:
            shown[spoiled] *= (1 + size) ** float(random.choice([-1, 1]))
        shown[POWER] = 1e3 * shown[THROUGHPUT] / shown[SIGNAL_DELAY]
        line = {name: value for name, value in row.items() if name not in METRICS}
        for metric in METRICS:
            line[f"runs_{metric}"] = of_row[metric].to_numpy(dtype=float)[:RUNS]
            line[f"published_{metric}"] = np.nan
            if row.get(metric) == row.get(metric, np.nan):
                step = row[STEP + metric]
                digits = shown[metric] / step
                whole = np.floor(digits + 1e-9) if metric in cut_off else np.round(digits)
                line[f"published_{metric}"] = whole * step
        lines.append({**line, "spoiled": i == wrong})
    return pd.DataFrame(lines)


def judged(printings: int, seed: int, size: float = 0.0) -> pd.DataFrame:
    """Returns the audit of these printings: table, row, spoiled, verdict."""
    found = beside(printings, seed, size)
    return audit(found, dict.fromkeys(found["table"], synthetic.DESCRIPTION), {})[0]


def main() -> None:
    """Prints the share of accused honest rows, and the share of found wrong rows, by size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=2000, help="honest ones (%(default)s)")
    parser.add_argument("--wrong", type=int, default=80, help="of each size (%(default)s)")
    given = parser.parse_args()
    each = len(_TABLES)
    honest = judged(given.tables // each, 1)
    print(f"{len(honest)} honest rows of {honest['table'].nunique()} tables:", end=" ")
    print(", ".join(f"{100 * (honest['verdict'] == v).mean():.2f} % {v}" for v in ALARMS))
    print("| wrong by | contradicted | unexplained |")
    print("| --- | --- | --- |")
    for size in SIZES:
        found = judged(given.wrong // each, 2, size)
        wrong = found[found["spoiled"]]
        shares = [f"{100 * (wrong['verdict'] == verdict).mean():.0f} %" for verdict in ALARMS]
        print(f"| {100 * size:g} % | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
