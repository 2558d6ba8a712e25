"""Made-up results of real mahimahi, in the shape of real ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis.metrics import METRICS
from kneepoint.analysis.results import Repeats
from kneepoint.config.study import MAHIMAHI
from kneepoint.questions.real.tables import Confirmation
from tests.analysis import synthetic
from tests.analysis.synthetic import run_row

BUSY = "the host was too busy for 1 earlier tries (scheduling delay 7.1 ms)"
THRESHOLD = {"alpha": 1.0, "beta": 10.0, "rtt_threshold_ms": 100.0}

# controller, parameters, throughput, signal delay, origins, rows
SETTINGS: tuple[tuple[str, Mapping[str, float], float, float, str, str], ...] = (
    ("fixed_window", {"window": 5.0}, 1.08, 110, "calibration", ""),
    (
        *("fixed_window", {"window": 12.0}, 2.30, 177),
        *("calibration,published,tuned", "004-fixed-window 3"),
    ),
    ("fixed_window", {"window": 40.0}, *synthetic.fixed_window(40), "contradicted", ""),
    ("delay_threshold", THRESHOLD, 3.85, 149, "listed", ""),
    ("delay_threshold", {**THRESHOLD, "beta": 7.0}, 3.2, 120, "listed,published", ""),
    ("delay_threshold", {**THRESHOLD, "beta": 6.4321}, 3.3, 119, "tuned", ""),
    ("rocinante", {"beta": 50.0}, 3.0, 200, "tuned", ""),
)
ROWS = {2: "001-fixed-window 7"}


def runs(repeats: int, seed: int, noise: float = 0.002, factor: float = 1.0) -> pd.DataFrame:
    """Returns `repeats` runs of each setting, which vary a little."""
    random = np.random.default_rng(seed)
    rows = [
        run_row(
            *(controller, parameters, factor * throughput * (1 + noise * random.normal())),
            delay * (1 + noise * random.normal()),
            **{"trial": trial, "run": run, "study": "confirm"},
        )
        for run in range(repeats)
        for trial, (controller, parameters, throughput, delay, _, _) in enumerate(SETTINGS)
    ]
    return pd.DataFrame(rows)


def confirmation() -> Confirmation:
    """The settings with three real runs each; one failed, one was repeated on a busy host."""
    settings = pd.DataFrame(
        {
            "trial": trial,
            "controller": controller,
            "parameters": json.dumps(dict(parameters), sort_keys=True),
            "origins": tuple(origins.split(",")),
            "rows": tuple(filter(None, [rows or ROWS.get(trial, "")])),
            **{f"parameter_{name}": value for name, value in parameters.items()},
        }
        for trial, (controller, parameters, _, _, origins, rows) in enumerate(SETTINGS)
    )
    real = runs(3, seed=1)
    real["engine"] = MAHIMAHI
    real["scheduling_delay_p99_us"] = 200.0
    real.loc[4, "reason"] = BUSY
    real.loc[real.index[-1], ["status", "reason"]] = "failed", "the sender ended with status 1"
    real.loc[real.index[-1], list(METRICS)] = np.nan
    return Confirmation(settings, real)


def repeats() -> Repeats:
    """Ten real runs of the best window."""
    whole = synthetic.repeats()
    config = whole.config.model_copy(
        update={"settings": whole.config.settings[:1], "published": whole.config.published[:1]}
    )
    runs = whole.runs[whole.runs["setting"] == whole.key(0)]
    runs = runs.assign(setting="real-window:0", engine=MAHIMAHI)
    return Repeats("real-window", config, runs)


def real_keys() -> dict[str, Any]:
    """The keys of config.yaml that request it."""
    calibration = {"windows": [6, 12], "host": {"host_latency_us": {"values": [0, 50]}}}
    return {"confirm": {"network": "contest", "calibration": calibration}}


@cache
def real_parts() -> dict[str, Any]:
    """This question's part of the real results."""
    search = synthetic.ternary_study(title="The best window, for real")
    return {
        "is_real": True,
        "real_studies": (replace(search, name="real-best-window"),),
        "real_repeats": (repeats(),),
        "confirmation": confirmation(),
        "agreement": runs(30, seed=4),
    }


def results(**more: Any) -> synthetic.MadeUp:
    """The emulator's results and all real results; `more` replaces some of them."""
    whole = synthetic.real_results()
    return whole.but(**more) if more else whole
