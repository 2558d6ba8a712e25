"""By controller: the best published, ours at published parameters, and the best found."""

import json
import math
from collections.abc import Sequence

import pandas as pd

from analysis.frames import Record, records
from analysis.metrics import POWER
from analysis.results import Results
from common.tables import Tables


def compute(results: Results, held_out: Tables) -> pd.DataFrame:
    """The table tuning, from those of held_out."""
    gains, networks = held_out["held_out_gains"], held_out["held_out_networks"]
    if gains.empty:
        return pd.DataFrame()
    training = str(networks.loc[networks["is_training"], "network"].iloc[0])
    best = {row["controller"]: row for row in records(best_printed(results.published(), training))}
    studies = {study.name: study for study in results.studies()}
    lines = []
    for gain in records(gains):
        study = studies.get(gain["tuned_study"])
        names = [each.name for each in study.searched] if study else []
        printed = best.get(gain["controller"], {})
        line: Record = {
            "controller": gain["controller"],
            "study": gain["tuned_study"],
            "printed_table": printed.get("table"),
            "printed_row": printed.get("row"),
            "printed_power": printed.get(POWER, math.nan),
            "trials": len(study.trials) if study else None,
            "gain": gain["training_gain"],
            "margin": gain["margin"],
        }
        for origin in ("published", "tuned"):
            power, half_width = gain[f"{origin}_power"], gain[f"{origin}_half_width"]
            line[f"{origin}_power"] = power
            line[f"{origin}_half_width"] = half_width / power if power else math.nan
            line[f"{origin}_constants"] = _chosen(gain[f"{origin}_constants"], names)
        line |= {name: gain[name] for name in ("published_table", "published_row")}
        lines.append(line)
    whole = ["printed_row", "published_row", "trials"]
    return pd.DataFrame(lines).astype(dict.fromkeys(whole, "Int64"))


def best_printed(published: pd.DataFrame, network: str) -> pd.DataFrame:
    """The published row of each controller whose printed power on the network is the greatest.

    Args:
        published: columns table, row, controller, network and, if any is printed, power.
        network: where it was measured.

    Returns:
        These rows, the first of equals.
    """
    rows = published.reindex(columns=["controller", "network", "table", "row", POWER])
    rows = rows[rows["network"] == network].dropna(subset=[POWER])
    return rows.sort_values(POWER, ascending=False, kind="stable").drop_duplicates("controller")


def _chosen(constants: str | None, names: Sequence[str]) -> str | None:
    """Some of the constants, in their order, as JSON."""
    if not isinstance(constants, str):
        return None
    values = json.loads(constants)
    return json.dumps({name: values[name] for name in names})
