"""The settings that results/hold_out runs; other questions read them, too."""

from kneepoint.common.tables import flag, real, table, text, whole
from kneepoint.runs.results import RESULTS

SETTINGS = table(
    "hold_out/settings",
    "a setting; origin is published or tuned; published_power: as printed; study_power: the mean, "
    "on the training network",
    whole("trial"),
    text("controller", "origin"),
    flag("best"),
    text("study"),
    text("table", optional=True),
    whole("row", optional=True),
    text("parameters"),
    real("published_power", unit="Mbit/s/s", optional=True),
    real("study_power", unit="Mbit/s/s"),
    whole("study_runs"),
    version=RESULTS,
)
