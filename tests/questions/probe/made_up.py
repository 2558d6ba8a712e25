"""A made-up probe of a host."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from tests.analysis.synthetic import run_row

THRESHOLD = {"alpha": 1.0, "beta": 10.0, "rtt_threshold_ms": 100.0}
HOST = {"slots": 8, "cores": 4, "busy_us": 5000.0}


def real_keys() -> dict[str, Any]:
    """The keys of config.yaml that request it."""
    of = {"controller": "fixed_window", "network": "contest"}
    return {"real_time": {"busy_us": 2000, "probe": of}}


def probe() -> pd.DataFrame:
    """Up to eight runs at once agree with single runs, sixteen do not."""
    random = np.random.default_rng(2)
    rows = [
        run_row(
            *("delay_threshold", THRESHOLD),
            (3.5 if n > 8 else 3.85) * (1 + 0.002 * random.normal()),
            149 * (1 + 0.005 * random.normal()),
            **{"trial": level, "run": run, "study": "probe", "concurrency": n, "agrees": n <= 8},
            level_reason="" if n <= 8 else "with 16 at once throughput_mbps is 3.5",
            scheduling_delay_p99_us=(9000.0 if n > 8 else 150.0) * random.uniform(0.5, 2),
            **HOST,
        )
        for level, n in enumerate((1, 2, 4, 8, 16))
        for run in range(5 if n == 1 else n)
    ]
    return pd.DataFrame(rows)


@cache
def real_parts() -> dict[str, Any]:
    """The probe's part of the real results."""
    return {"is_real": True, "probe": probe()}
