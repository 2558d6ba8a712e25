"""Real runs in the folder of `tests.analysis.workspace`."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from kneepoint.common.tables import from_frame, write
from kneepoint.runs.confirmed import SETTINGS
from kneepoint.runs.results import RESULTS
from tests.analysis import synthetic
from tests.analysis.workspace import lines_of


def ask_for_real_runs(workspace: Path) -> Path:
    """Adds all real-time experiments to the configuration; none has results yet."""
    config = workspace / "config"
    text = (config / "config.yaml").read_text()
    text = text.replace("[windows, fit]", "[windows, fit, real-windows]")
    text = text.replace("[again]", "[again, real-again]")
    keys = {"real_time": {"busy_us": 2000}, **synthetic.of_questions("real_keys")}
    (config / "config.yaml").write_text(text + lines_of(keys))
    for folder, name in (("studies", "windows"), ("repeats", "again")):
        whole = (config / folder / f"{name}.yaml").read_text()
        (config / folder / f"real-{name}.yaml").write_text(f"{whole}\n        engine: mahimahi")
    return config / "config.yaml"


def run_for_real(results: Path) -> None:
    """Writes results of all real-time experiments."""
    for name, original in {
        "real-windows": "windows",
        "repeats/real-again": "repeats/again",
        "probe": "windows",
        "confirm": "windows",
        "calibration": "fit",
        "agreement": "windows",
        "again": "windows",
        "real_showcase": "showcase",
    }.items():
        if (results / original).is_dir():  # not without its question
            shutil.copytree(results / original, results / name)
    levels = [{"concurrency": n, "agrees": n == 1, "reason": ""} for n in (1, 2)]
    probe = {"slots": 1, "cores": 4, "busy_us": 1000, "levels": levels}
    (results / "probe" / "probe.json").write_text(json.dumps(probe))
    settings = {
        **{"trial": [0, 1], "controller": ["fixed_window"] * 2},
        **{"parameters": ['{"window":6}', '{"window":12}']},
        **{"origins": ["calibration,contradicted"] * 2},
        **{"rows": ["007-windows 0,007-windows 2", ""]},
    }
    write(results / "confirm" / SETTINGS.file, from_frame(SETTINGS, pd.DataFrame(settings)))
    calibration = results / "calibration"
    for name, frame in (("delays", delays()), ("spread", spread())):
        write(
            calibration / f"{name}.parquet",
            pa.Table.from_pandas(frame).replace_schema_metadata(dict([RESULTS])),
        )


def delays() -> pd.DataFrame:
    """Scheduling delays of eight runs, one of which is too short for the rarest delays."""
    mean_us = 10.0 * 1.9 ** np.arange(11)
    return pd.DataFrame(
        {
            **{"one_in": [2**k for k in range(11)], "n_runs": [8] * 10 + [7]},
            **{"delay_us": mean_us, "least_us": 0.8 * mean_us, "greatest_us": 1.5 * mean_us},
        }
    )


def spread() -> pd.DataFrame:
    """Three spreads of the host's scheduling delay, of which the second fits best."""
    return pd.DataFrame(
        {
            "wake_spread": [0.0, 0.3, 0.5],
            "emulated_deviation": [0.001, 0.0049, 0.0081],
            "real_deviation": 0.0052,
            "is_best": [False, True, False],
        }
    )
