"""Finds in the results what there is to report of real mahimahi."""

import pandas as pd

from reports import labels
from reports.collect import Results
from reports.discover import once, repetition, reports_compared
from reports.frames import Record, records
from reports.metrics import POWER
from reports.real_statistics import accuracy, beside_real, probe_levels, probe_runs, verdict
from reports.statistics import CONSTANT, repeatability
from reports.subjects import Agreement, Probing, Repetition, Waiting

PUBLISHED = "published"
TUNED = "tuned"


@once
def probing(results: Results) -> Probing | None:
    """How many real runs the host takes at once, if that was measured."""
    probe = results.real and results.real.probe
    if not probe or probe.runs.empty:
        return None
    return Probing(
        key="host",
        slots=probe.slots,
        cores=probe.cores,
        busy_us=probe.busy_us,
        controller=str(probe.runs["controller"].iloc[0]),
        levels=probe_levels(probe),
        runs=probe_runs(probe),
    )


@once
def waiting(results: Results) -> Waiting | None:
    """How long real processes waited for the processor, if the emulated host took that over."""
    real = results.real
    if real is None or real.calibration is None or real.delays is None or real.delays.empty:
        return None
    return Waiting(
        key="host",
        controller=real.calibration.controller,
        runs=int(real.delays["n_runs"].max()),
        delays=real.delays,
    )


@once
def agreement(results: Results) -> Agreement | None:
    """The settings that were run in real mahimahi, if any were."""
    real = results.real
    if real is None or real.confirmation is None or real.confirmation.runs.empty:
        return None
    found = real.confirmation
    settings = found.settings.copy()
    settings["network"] = str(found.runs["network"].iloc[0])
    varied = _varied(settings)
    settings["name"] = _names(settings, varied)
    settings["label"] = settings["controller"].map(labels.words) + " " + settings["name"]
    rows = beside_real(settings, found.runs, real.emulated)
    return Agreement(
        key="real",
        settings=settings,
        varied=varied,
        rows=rows,
        runs=found.runs,
        again=beside_real(settings, real.again, real.emulated),
        accuracy=accuracy(settings, rows),
    )


def _varied(settings: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """For each controller the constants that differ among its settings, the tuned one left out."""
    constants = [name for name in settings.columns if name.startswith(CONSTANT)]
    others = settings[[origins != (TUNED,) for origins in settings["origins"]]]
    return {
        str(controller): tuple(
            name.removeprefix(CONSTANT) for name in constants if group[name].nunique() > 1
        )
        for controller, group in others.groupby("controller", sort=False)
    }


def _names(settings: pd.DataFrame, varied: dict[str, tuple[str, ...]]) -> list[str]:
    """What tells a setting from the others of its controller.

    It is why a setting ran, where nothing but that one was tuned, or where there is no other one;
    otherwise the constants that differ.
    """
    tuned = settings[[origins == (TUNED,) for origins in settings["origins"]]]
    tunings = tuned["controller"].value_counts()
    constants = [name for name in settings.columns if name.startswith(CONSTANT)]
    names = []
    for setting in records(settings):
        controller, origins = setting["controller"], setting["origins"]
        differing = varied.get(controller, ())
        if origins == (TUNED,) and tunings[controller] > 1:
            values = (setting[name] for name in constants)
            names.append("/".join(labels.number(value) for value in values if value == value))
        elif origins == (TUNED,) or not differing:
            names.append(", ".join(origins))
        else:
            names.append("/".join(labels.number(setting[CONSTANT + name]) for name in differing))
    return names


def best_settings(results: Results) -> pd.DataFrame:
    """The best published and the best tuned settings in real mahimahi.

    Returns:
        One row each: the columns of `beside_real` for power, controller, origin, row (the name of
        the published one), published (its power; NaN for a tuned setting, or if it prints none).
    """
    found = agreement(results)
    if found is None:
        return pd.DataFrame()
    powers, printed = found.of_metric(POWER), _audited(results)
    lines = []
    for setting in records(found.settings):
        for origin in (PUBLISHED, TUNED):
            if origin not in setting["origins"]:
                continue
            of_row = [printed[row] for row in setting["rows"] if row in printed]
            row = of_row[0] if of_row and origin == PUBLISHED else {}
            lines.append(
                {
                    **powers[setting["trial"]],
                    "controller": setting["controller"],
                    "origin": origin,
                    "row": row.get("name", ""),
                    "published": float(row.get(f"published_{POWER}", "nan")),
                }
            )
    return pd.DataFrame(lines)


def contradicted_rows(results: Results) -> pd.DataFrame:
    """The contradicted rows of published tables that were run in real mahimahi.

    Returns:
        One row each: the columns of `beside_real` for the metric that the audit finds wrong, row
        (its name), published (its number) and verdict (whether the real runs say so, too).
    """
    found = agreement(results)
    if found is None:
        return pd.DataFrame()
    printed = _audited(results)
    lines = []
    for setting in records(found.settings):
        for row in (printed[name] for name in setting["rows"] if name in printed):
            if row["verdict"] != "contradicted":
                continue
            metric = row["wrong"]
            beside = found.of_metric(metric)[setting["trial"]]
            published = float(row[f"published_{metric}"])
            means = beside["emulated_mean"], beside["real_mean"]
            says = verdict(published, *means, row["checks"])
            lines.append({**beside, "row": row["name"], "published": published, "verdict": says})
    return pd.DataFrame(lines)


def _audited(results: Results) -> dict[str, Record]:
    """The rows of the audit, by what the confirmed settings call them."""
    compared = reports_compared(results)
    rows = records(compared.rows) if compared else []
    return {f"{row['table']} {row['row']}": row for row in rows}


def real_repetition(results: Results) -> Repetition | None:
    """The settings that were run many times in real mahimahi, if any were."""
    found = repetition(results.real.measured) if results.real else None
    return found if found is not None and len(found.spread) else None


def emulated_spread(results: Results, repeated: Repetition) -> pd.DataFrame:
    """The emulator's spread of really repeated settings, on the calibrated host.

    Returns:
        Columns setting and those of `statistics.spread` by metric, as in `Repetition.spread`; no
        row for a setting that the calibrated emulator did not run.
    """
    emulated = results.real.emulated if results.real else None
    if emulated is None:
        return repeatability(repeated.runs.head(0), ["setting"])
    keys = repeated.runs[["setting", "controller", "constants"]].drop_duplicates()
    return repeatability(emulated.merge(keys, on=["controller", "constants"]), ["setting"])
