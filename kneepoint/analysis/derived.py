"""What one section of the report computes from the tables; no file holds it."""

from collections.abc import Callable, Mapping

import pandas as pd

from kneepoint.analysis import (
    agreement,
    comparisons,
    confirmation,
    held_out,
    host,
    repeatability,
    sweeps,
    worst_cases,
)
from kneepoint.common.tables import Tables

DERIVED: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    "agreement_accuracy": agreement.accuracy,
    "agreement_settings": agreement.settings,
    "comparison_cycles": comparisons.cycles,
    "comparison_engines": comparisons.beside_kernel,
    "comparison_figures": comparisons.compared_figures,
    "comparisons": comparisons.summaries,
    "confirmed": confirmation.confirmed,
    "grids": sweeps.grids,
    "hardenings": worst_cases.hardenings,
    "held_out": held_out.summary,
    "held_out_standings": held_out.standings,
    "network_sweep_points": comparisons.network_sweep_points,
    "network_sweeps": comparisons.network_sweeps,
    "probe_levels": host.probe_levels,
    "repeatability": repeatability.spreads,
    "repeatability_beside_published": repeatability.beside_published,
    "sweep_bests": sweeps.bests,
}
"""By its name; without a row, a frame may have no columns."""


def with_derived(tables: Tables) -> Tables:
    """Tables, and what is derived of them."""
    return {**tables, **{name: derive(tables) for name, derive in DERIVED.items()}}
