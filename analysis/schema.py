"""The stages of the analysis, what each reads, and the schema of each table that it writes.

Delays are 95th percentiles. A relative difference is ours over theirs, less one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.metrics import METRICS, POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from common.tables import Column, Table
from experiments.exchanged import AGREEMENT, AUDIT

UNITS = {name: metric.unit for name, metric in METRICS.items()}
WITHIN_SPREAD = "within our spread"
VERDICTS = (
    *("reproduced", "close", "fitted", WITHIN_SPREAD, "unexplained"),
    *("contradicted", "not comparable"),
)
"""What a row can be: `within our spread` is off, but one more run of ours, or one on a host that
fits as well, may be what was printed; `unexplained` is off, and only our runs speak against it."""
AGREEING = ("reproduced", "close", "fitted")
"""The verdicts of rows that agree with ours."""


@dataclass(frozen=True)
class Stage:
    """A stage: the results and the tables of other stages that it reads, the tables it writes.

    It stands in the module of `analysis` that has its name. Results are groups: see
    rules/analysis.smk. The first table is the stage's own.
    """

    name: str
    results: tuple[str, ...]
    reads: tuple[str, ...]
    tables: tuple[Table, ...]


def _text(*names: str, optional: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, "text", optional=optional) for name in names)


def _texts(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, "texts") for name in names)


def _whole(*names: str, optional: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, "whole", optional=optional) for name in names)


def _real(*names: str, unit: str = "") -> tuple[Column, ...]:
    return tuple(Column(name, "real", unit) for name in names)


def _flag(*names: str, optional: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, "flag", optional=optional) for name in names)


def _metrics(*prefixes: str, of: Iterable[str] = UNITS) -> tuple[Column, ...]:
    """A column for each metric, in its unit."""
    return tuple(Column(p + name, "real", UNITS[name]) for p in prefixes or ("",) for name in of)


def _ratios(*prefixes: str) -> tuple[Column, ...]:
    """A column without a unit for each metric."""
    return tuple(Column(prefix + name, "real") for prefix in prefixes for name in UNITS)


def _beside(*engines: str) -> tuple[Column, ...]:
    """The mean and the range of each engine's runs."""
    return _real(*(f"{each}_{name}" for each in engines for name in ("mean", "least", "greatest")))


NAMES = "names"
"""The table that every figure reads besides its own."""

_CONSTANTS = (Column("constant_*", "real"),)
_SPREAD = (
    *_whole("n"),
    *_real("mean", "standard_deviation", "cv", "low", "high", "least", "greatest"),
)
_HELD_SETTING = (
    *_whole("trial"),
    *_text("controller", "origin"),
    *_flag("best"),
    *_text("study"),
    *_text("table", optional=True),
    *_whole("row", optional=True),
    *_text("constants"),
    *_real("published_power", "study_power", unit="Mbit/s/s"),
    *_whole("study_runs"),
    *_CONSTANTS,
    *_real("training", "held_out"),
)
_SETTING = ("label", "traffic", "traffic_title", "network", "network_title")
_TRIAL, _WHY = AGREEMENT
_BESIDE_REAL = (
    _TRIAL,
    *_text("metric"),
    *_whole("real_n", "emulated_n"),
    *_real("real_mean", "real_standard_deviation", "real_low", "real_high", "real_half_width"),
    *_real("emulated_mean", "emulated_standard_deviation"),
    *_real("expected_low", "expected_high", "expected_half_width"),
    *_real("difference", "relative"),
    *_flag("inside", optional=True),
)
_EXPLAINED = (*_real("scheduling_ms", "usual_ms", unit="ms"), _WHY)

_STAGES = (
    Stage(
        "audit",
        ("studies", "published", "added_runs"),
        (),
        (
            Table(
                "audit",
                "a published row and the mean of our runs; comparison is reports or measured",
                (
                    *AUDIT,
                    *_text("report", "kind"),
                    *_whole("mark"),
                    *_text("controller", "network"),
                    *_flag("replayable"),
                    *_CONSTANTS,
                    Column("step_*", "real"),
                    *_metrics("published_", "ours_", "deviation_", "least_", "greatest_"),
                    # An interval that holds one more run of ours, on the network's host or on any
                    # that its fit leaves open.
                    *_metrics("low_", "high_", "host_low_", "host_high_", "difference_"),
                    *_ratios("relative_"),
                    # What we ran of a row: of several settings the nearest, and what is its own.
                    *_whole("runs", "settings", "failed"),
                    *_text("constants", "nearest", "failure"),
                    *_text("name", "agreement", "checks", "wrong"),
                    # The share of draws of our runs that leave the row as near as it is; whether
                    # the verdict is clear.
                    *_real("sure"),
                    *_flag("clear"),
                    *_flag("within", optional=True),
                ),
            ),
            Table(
                "audit_evidence",
                "evidence for a verdict: a check that contradicts the row (its kind), a "
                "difference, or another explanation; numbers are in the unit of the metric",
                (
                    *_text("comparison", "table"),
                    *_whole("row"),
                    *_text("kind"),
                    *_text("metric", optional=True),
                    # By how much the metric is off, and where the check begins to speak, as
                    # differences of logarithms.
                    *_real("size", "limit"),
                    # What the other numbers of the row, its neighbours along a constant or
                    # throughput, or one more run of ours allow; NaN: no bound. Of a selection, from
                    # how many runs.
                    *_real("low", "high"),
                    *_text("along", optional=True),
                    # The row that it repeats, of the same table, or that it conflicts with.
                    *_text("other_table", optional=True),
                    *_whole("other_row", optional=True),
                    *_real("other_published", "other_ours"),
                    # The relative standard deviation of our runs, the median size of the relative
                    # differences of the table's other rows, and how probable it is that one of its
                    # numbers is so far off if all are of one kind; missing above 1 %.
                    *_real("variation", "usual", "p"),
                    *_texts("constants"),
                    *_text("remark", optional=True),
                ),
            ),
            Table(
                "audit_tables",
                "a published table on its own network: its source, how many rows agree, how many "
                "have each verdict; or its replay on another, which gives no verdict; host_fitted: "
                "the network's host was fitted to the table",
                (
                    *_text("comparison", "table", "report", "source", "held", "unstated"),
                    *_text("selected", optional=True),
                    *_text("network", "network_title"),
                    *_flag("own", "host_fitted"),
                    *_whole("rows", "compared", "within"),
                    *_ratios("median_", "worst_"),
                    *_whole(*VERDICTS),
                ),
            ),
            Table(
                "audit_summary",
                "a comparison: its rows, their verdicts, median and greatest relative difference",
                (
                    *_text("comparison"),
                    *_whole("rows", "tables", "compared", "within"),
                    *_real("median_power", "greatest"),
                    *_whole("limit", optional=True),  # up to which runs were added
                    *_whole(*VERDICTS),
                ),
            ),
        ),
    ),
    Stage(
        "sweeps",
        ("studies", "published", "repeats", "hold_out"),
        (),
        (
            Table(
                "sweeps",
                "a parameter that studies vary alone: its best value, and how sure that is",
                (
                    *_text("sweep", "controller", "network", "network_title", "constant", "unit"),
                    *_whole("studies", "values", "runs"),
                    *_real("least", "greatest", "best_value"),
                    *_metrics(of=(THROUGHPUT, SIGNAL_DELAY, POWER)),
                    *_text("best_study"),
                    *_whole("best_trial", "best_runs"),
                    *_real("half_width", "margin"),
                ),
            ),
            Table(
                "sweep_points",
                "a value of a swept parameter and the mean of its runs",
                (
                    *_text("sweep"),
                    *_real("value"),
                    *_whole("runs"),
                    *_metrics(),
                    *_flag("best", "tied"),
                ),
            ),
            Table(
                "sweep_published",
                "a published row to compare with a sweep",
                (
                    *_text("sweep", "table", "report", "kind"),
                    *_whole("mark"),
                    *_real("value"),
                    *_metrics(),
                ),
            ),
            Table(
                "grids",
                "a full grid over two parameters on a network: where power is greatest, ours and "
                "published; networks: of its study",
                (
                    *_text("grid", "title", "controller", "network", "network_title"),
                    *_whole("networks"),
                    *_text("x", "y", "x_unit", "y_unit"),
                    *_text("table", "report", optional=True),
                    *_whole("rows", "columns", "cells", "agreeing"),
                    *_real("best_x", "best_y", "published_best_x", "published_best_y"),
                    *_real("best_power", "published_best_power", unit="Mbit/s/s"),
                    *_real("median", "worst"),
                ),
            ),
            Table(
                "grid_cells",
                "a cell of a grid",
                (
                    *_text("grid"),
                    *_real("y", "x"),
                    *_real("ours", "published", unit="Mbit/s/s"),
                    *_real("relative"),
                    *_flag("agrees", optional=True),
                ),
            ),
            Table(
                "grid_effects",
                "the effect of a further parameter within a cell; mean is over the cells",
                (
                    *_text("grid", "constant", "unit"),
                    *_whole("group"),
                    *_real("value"),
                    *_real("power", unit="Mbit/s/s"),
                    *_real("relative", "mean"),
                ),
            ),
        ),
    ),
    Stage(
        "searches",
        ("studies", "published", "repeats", "hold_out", "real_studies", "real_repeats"),
        ("audit", "sweeps", "sweep_points"),
        (
            Table(
                "searches",
                "an adaptive search: its best trial, how sure that is, what a sweep found; "
                "tunes: for the power of a controller alone on its network; keeping: bounds, JSON; "
                "stopped: by a race over pairs of network and seed; beyond: a bound",
                (
                    *_text("search", "engine", "title", "controller"),
                    *_texts("networks", "network_titles"),
                    *_text("sampler", "objective"),
                    *_texts("fit"),
                    *_flag("robust", "of_host"),
                    *_text("traffic", "expression", optional=True),
                    *_text("keeping"),
                    *_flag("tunes"),
                    *_whole("searched", "trials", "runs", "failed", "best_trial"),
                    *_whole("stopped", "beyond", "pairs"),
                    *_real("bound_ms", "omniscient_ms", unit="ms"),
                    *_real("omniscient_mbps", unit="Mbit/s"),
                    *_real("hypervolume", "best_value"),
                    *_metrics(of=(THROUGHPUT, SIGNAL_DELAY, POWER)),
                    *_whole("best_runs"),
                    *_real("margin"),
                    *_whole("ties", "near", "evaluations", "improvements", "improved_last"),
                    *_text("sweep", optional=True),
                    *_flag("sweep_agrees", optional=True),
                    *_real("emulated_power", unit="Mbit/s/s"),
                    *_text("surface_x", "surface_y", optional=True),
                    *_real("surface_explained"),
                ),
            ),
            Table(
                "search_constants",
                "a searched parameter: its range, its best value, its importance by PED-ANOVA and "
                "by fANOVA",
                (
                    *_text("search", "constant", "unit"),
                    *_real("low", "high"),
                    *_flag("logarithmic"),
                    *_real("best", "near_low", "near_high", "importance", "fanova"),
                ),
            ),
            Table(
                "search_networks",
                "the best trial of a search on one of its networks, and the published best there",
                (
                    *_text("search", "network", "network_title"),
                    *_whole("runs", "failed"),
                    *_metrics(of=(THROUGHPUT, SIGNAL_DELAY, POWER)),
                    # With fresh seeds, and half its 95 % interval; missing where none ran.
                    *_real("fresh_power", "fresh_half_width", unit="Mbit/s/s"),
                    *_text("published_table", "published_report", optional=True),
                    *_whole("published_row", optional=True),
                    *_text("published_constants", optional=True),
                    *_real("published_power", "published_ours", unit="Mbit/s/s"),
                    *_real("gain"),
                ),
            ),
            Table(
                "search_trials",
                "a trial; rank is among those that have a value. Of a search for a front, metrics "
                "are over its networks, and the knee has the most power; of one for a single peak, "
                "low and high are where that can be after a new evaluation",
                (
                    *_text("search"),
                    *_whole("trial"),
                    *_real("value"),
                    *_flag("failed", "stopped", "beyond"),
                    *_real("best_so_far"),
                    *_flag("improved", "measured"),
                    *_whole("rank", optional=True),
                    *_metrics(of=(THROUGHPUT, SIGNAL_DELAY, POWER)),
                    *_CONSTANTS,
                    *_flag("on_front", "knee", optional=True),
                    *_real("low", "high"),
                ),
            ),
        ),
    ),
    Stage(
        "recovery",
        ("studies", "published"),
        (),
        (
            Table(
                "recovery",
                "a parameter fitted to published tables, and its interval",
                (
                    *_text("search", "constant", "unit"),
                    *_real("best", "low", "high", "share"),
                    *_text("verdict"),
                    *_real("searched_low", "searched_high"),
                    *_whole("rows"),
                ),
            ),
            Table(
                "recovery_rows",
                "a fitted row and the best trial of its fit",
                (
                    *_text("search", "table"),
                    *_whole("line"),
                    *_CONSTANTS,
                    *_metrics("published_", "ours_"),
                    *_ratios("relative_"),
                ),
            ),
        ),
    ),
    Stage(
        "elsewhere",
        ("hold_out", "studies", "published"),
        (),
        (
            Table(
                "held_out",
                "summary: medians over the tuned settings, the rank correlation; unseen: "
                "held-out networks that no study searched",
                (
                    *_text("training", "training_title"),
                    *_whole("unseen"),
                    *_whole("networks", "settings", "published", "runs", "repeats"),
                    *_real("correlation"),
                    *_whole("compared", "better", "worse", "surely_better", "surely_worse"),
                    *_real("training_gain", "held_out_gain", "optimism"),
                    *_whole("best_trial"),
                ),
            ),
            Table(
                "held_out_settings",
                "a distinct setting; power relative to the omniscient bound",
                _HELD_SETTING,
            ),
            Table(
                "held_out_standings",
                "the best settings by their rank on the training network",
                (
                    *_HELD_SETTING,
                    *_whole("training_rank", "held_out_rank", "gap"),
                    *_text("label"),
                    # 95 % intervals of held_out and of the interquartile mean of all runs, over
                    # other seeds on the same networks.
                    *_whole("repeats"),
                    *_real("held_out_low", "held_out_high", "middle", "middle_low", "middle_high"),
                ),
            ),
            Table(
                "held_out_gains",
                "what a tuned setting changes against its controller's best published one",
                (
                    *_text("controller"),
                    *_text(
                        *("published_study", "published_table", "published_constants"),
                        *("tuned_study", "tuned_table", "tuned_constants"),
                        optional=True,
                    ),
                    *_whole(
                        *("published_trial", "published_row", "tuned_trial", "tuned_row"),
                        *("better", "worse"),
                        optional=True,
                    ),
                    *_real("published_power", "published_half_width", unit="Mbit/s/s"),
                    *_real("tuned_power", "tuned_half_width", unit="Mbit/s/s"),
                    *_real("tuned_study_power", unit="Mbit/s/s"),
                    *_real("training_gain", "margin", "held_out_gain"),
                    # Of held_out_gain: its 95 % interval, and the p value corrected by Holm.
                    *_real("gain_low", "gain_high", "gain_p"),
                ),
            ),
            Table(
                "held_out_profiles",
                "the share of held-out networks on which one of the standings is within a factor "
                "of the best, with its 95 % interval",
                (*_whole("trial"), *_real("factor", "share", "low", "high")),
            ),
            Table(
                "held_out_networks",
                "a network with its omniscient bound, the setting that comes nearest, and the "
                "studies that searched it",
                (
                    *_text("network", "title"),
                    *_flag("is_training"),
                    *_texts("searched_by"),
                    *_real("capacity_mbps", unit="Mbit/s"),
                    *_metrics(of=(SIGNAL_DELAY, POWER)),
                    *_real("nearest"),
                    *_text("nearest_label"),
                ),
            ),
            Table(
                "held_out_power",
                "the mean power of one of the standings on a network, and relative to the bound",
                (
                    *_whole("trial"),
                    *_text("network"),
                    *_whole("runs"),
                    *_real("power", "standard_deviation", unit="Mbit/s/s"),
                    *_real("relative"),
                ),
            ),
            Table(
                "planes",
                "a tuned or best published setting between throughput and delay on a network; "
                "covariance of single runs in Mbit/s and ms, missing for one run",
                (
                    *_text("network"),
                    *_whole("trial"),
                    *_text("controller", "origin"),
                    *_whole("n"),
                    *_metrics(of=(THROUGHPUT, SIGNAL_DELAY, POWER)),
                    *_real("throughput_variance", "covariance", "delay_variance"),
                    *_flag("on_front", "knee"),
                ),
            ),
            Table(
                "generality",
                "a setting tuned on several networks against one tuned on the training network "
                "alone: power relative to its, with 95 % intervals; p of held-out by Holm",
                (
                    *_text("controller", "specialist", "generalist"),
                    *_whole("networks"),
                    *_texts("network_titles"),
                    *_real(
                        *(
                            f"{where}_{name}"
                            for where in ("training", "held_out")
                            for name in ("change", "low", "high", "p")
                        )
                    ),
                ),
            ),
            Table(
                "tuning",
                "a tuned setting: best printed, ours at published parameters, best found",
                (
                    *_text("controller"),
                    *_text("study", "printed_table", optional=True),
                    *_whole("printed_row", optional=True),
                    *_real("printed_power", unit="Mbit/s/s"),
                    *_text("published_table", "published_constants", optional=True),
                    *_whole("published_row", optional=True),
                    *_real("published_power", "tuned_power", unit="Mbit/s/s"),
                    *_real("published_half_width", "tuned_half_width"),
                    *_text("tuned_constants"),
                    *_whole("trials", optional=True),
                    *_real("gain", "margin"),
                ),
            ),
        ),
    ),
    Stage(
        "repeatability",
        ("repeats", "real_repeats", "calibration"),
        (),
        (
            Table(
                "repeatability",
                "the spread of a metric over the runs of a setting; whose is emulator, mahimahi or "
                "calibrated",
                (*_text("whose", "setting", "label", "metric"), *_SPREAD),
            ),
            Table(
                "repeatability_runs",
                "the power of a run of a repeated setting",
                (*_text("whose", "setting"), *_real("power", unit="Mbit/s/s")),
            ),
            Table(
                "repeatability_published",
                "a published mean and ours",
                (
                    *_text("whose", "setting", "label", "metric", "source"),
                    *_real("published_mean", "published_standard_deviation", "published_n"),
                    *_SPREAD,
                    *_real("relative", "z"),
                ),
            ),
        ),
    ),
    Stage(
        "agreement",
        ("confirm", "calibration"),
        (),
        (
            Table(
                "agreement",
                "the emulator against real mahimahi, and why a real mean lies outside",
                (*_BESIDE_REAL, *_EXPLAINED),
            ),
            Table(
                "agreement_settings",
                "a setting that ran in real mahimahi; constants are JSON",
                (
                    *_whole("trial"),
                    *_text("controller", "network", "constants"),
                    *_texts("origins", "rows"),
                    *_text("name", "label"),
                    *_texts("varied"),
                    *_whole("runs"),
                ),
            ),
            Table(
                "agreement_accuracy",
                "mean relative errors over settings that the emulator was not fitted to; over all "
                "settings, the means judged, how many chance alone puts outside, and the runs",
                (
                    *_whole("settings", "controllers"),
                    *_ratios("error_"),
                    *_real("delay_ms", unit="ms"),
                    *_flag("meets_throughput", "meets_signal_delay", "is_compared"),
                    *_whole("judged"),
                    *_real("expected_outside"),
                    *_whole("runs"),
                ),
            ),
        ),
    ),
    Stage(
        "again",
        ("calibration", "again"),
        ("agreement", "agreement_settings"),
        (
            Table(
                "again",
                "a real mean outside its prediction interval, and the mean of further runs",
                (
                    *_BESIDE_REAL,
                    *_text("label"),
                    *_whole("again_n"),
                    *_real("again_mean"),
                    *_EXPLAINED,
                ),
            ),
        ),
    ),
    Stage(
        "host",
        ("probe", "calibration"),
        (),
        (
            Table(
                "host",
                "how many real runs the host takes at once",
                (
                    *_whole("slots", "cores"),
                    *_real("busy_us", unit="us"),
                    *_text("controller"),
                ),
            ),
            Table(
                "probe_levels",
                "a number of concurrent real runs, against runs alone",
                (
                    *_whole("level", "concurrency"),
                    *_flag("agrees"),
                    *_text("reason"),
                    *_whole("runs", "failed"),
                    *_real(f"relative_{THROUGHPUT}", f"furthest_{THROUGHPUT}"),
                    *_real(f"relative_{SIGNAL_DELAY}", f"furthest_{SIGNAL_DELAY}"),
                    *_real("scheduling_delay_p99_us", unit="us"),
                ),
            ),
            Table(
                "probe_runs",
                "a run of the probe, against runs alone",
                (
                    *_whole("level", "concurrency"),
                    *_real(f"relative_{THROUGHPUT}", f"relative_{SIGNAL_DELAY}"),
                    *_real("scheduling_delay_p99_us", unit="us"),
                ),
            ),
            Table(
                "scheduling_delays",
                "the scheduling delay that one wake-up in `one_in` reaches or exceeds",
                (
                    *_whole("one_in"),
                    *_real("delay_us", "least_us", "greatest_us", unit="us"),
                    *_whole("n_runs"),
                ),
            ),
            Table(
                "calibration",
                "a fitted parameter of the emulated host, and the fit: see calibration_trials",
                (
                    *_text("controller", "constant"),
                    *_real("low", "high"),
                    *_whole("trials", "rows"),
                ),
            ),
            Table(
                "calibration_trials",
                "a trial of that fit, the best first",
                (*_whole("trial"), *_real("value"), *_CONSTANTS),
            ),
            Table(
                "wake_spread",
                "how much runs vary, by the spread of the host's scheduling delay",
                (
                    *_real("wake_spread", "emulated_deviation", "real_deviation"),
                    *_flag("is_best"),
                ),
            ),
        ),
    ),
    Stage(
        "behaviour",
        (
            *("showcase", "real_showcase", "comparisons", "kernel", "studies", "published"),
            "hardening",
        ),
        (),
        (
            Table(
                "showcase",
                "one run with its link log; constants are JSON",
                (
                    *_text("run", "engine", "controller", "constants", "network", "network_title"),
                    *_real("throughput_mbps", "capacity_mbps", unit="Mbit/s"),
                    *_metrics(of=(QUEUEING_DELAY, SIGNAL_DELAY, POWER)),
                    *_real("utilization"),
                    *_real("mean_window_packets", unit="packets"),
                ),
            ),
            Table(
                "series",
                "a value of a quantity (see analysis.over_time) of a run of showcase, worst_cases "
                "or comparison_runs; flow: whose, if the run has flows by name",
                (
                    *_text("run"),
                    *_text("flow", optional=True),
                    *_text("quantity"),
                    *_real("time_s", unit="s"),
                    *_real("value"),
                ),
            ),
            Table(
                "comparisons",
                "settings under the same traffic, in virtual time or on the kernel's TCP",
                (
                    *_text("comparison", "engine", "title", "source"),
                    *_texts("wanted_engines", "traffic_titles", "network_titles", "controllers"),
                    *_whole("settings", "repeats", "runs", "failed"),
                ),
            ),
            Table(
                "comparison_figures",
                "the spread of a metric of a flow, a probe or the link (source) over replicates, "
                "in the metric's unit (analysis.metrics.FIGURES); shown: a summary has it",
                (
                    *_text("comparison", "engine", *_SETTING),
                    *_whole("trial"),
                    *_text("source", "metric"),
                    *_flag("shown"),
                    *_SPREAD,
                ),
            ),
            Table(
                "comparison_published",
                "a published number against our runs: inside their range, near it (5 %), outside, "
                "or contradicted by the source itself, which prints it elsewhere as an extreme; "
                "off: from the nearest run, relative; published_high: the end of a printed range",
                (
                    *_text("comparison"),
                    *_whole("number", "trial"),
                    *_text("label", "traffic", "network", "network_title", "source", "metric"),
                    *_real("published", "published_high", "step"),
                    *_whole("published_n", optional=True),
                    *_text("place", "remark", "position", "verdict"),
                    *_real("off"),
                    *_text("extreme", "extreme_is", optional=True),
                    *_texts("conflicts"),
                    *_text("same"),
                    *_whole("emulator_n", "kernel_n"),
                    *_beside("emulator", "kernel"),
                ),
            ),
            Table(
                "comparison_shares",
                "an endless flow's share of the throughput of all of them; Jain's index of all",
                (
                    *_text("comparison", "engine", *_SETTING),
                    *_whole("trial"),
                    *_text("flow"),
                    *_flag("under_study"),
                    *_whole("flows", "n"),
                    *_real("mean", "low", "high", "least", "greatest", "jains_index"),
                    *_real("utilization"),
                    *_real("queueing_delay_p95_ms", unit="ms"),
                ),
            ),
            Table(
                "comparison_epochs",
                "a window from one loss to the next; of CUBIC with W_max, its plateau, and whether "
                "fast convergence lowers the plateau of the next (RFC 9438, section 4.7)",
                (
                    *_text("comparison", "engine", "run", "flow"),
                    *_whole("epoch"),
                    *_real("start_s", "end_s", "convex_from_s", unit="s"),
                    *_real("bottom_packets", "top_packets", "plateau_packets", unit="packets"),
                    *_flag("fast"),
                ),
            ),
            Table(
                "comparison_runs",
                "the first run of a setting, whose flows are told over time in series",
                (
                    *_text("comparison", "engine", *_SETTING),
                    *_whole("trial"),
                    *_text("run"),
                    *_whole("flows"),
                ),
            ),
            Table(
                "network_sweeps",
                "a parameter of a network that a study varies alone; bdp_packets: the uplink's "
                "rate times the round-trip propagation delay, in packets of 1504 bytes",
                (
                    *_text(
                        "study", "title", "label", "network_title", "traffic_title", "parameter"
                    ),
                    *_whole("values", "runs"),
                    *_real("bdp_packets", unit="packets"),
                ),
            ),
            Table(
                "network_sweep_points",
                "a figure at a value of the parameter: see comparison_figures",
                (
                    *_text("study", "source", "metric"),
                    *_flag("shown"),
                    *_real("value"),
                    *_SPREAD,
                ),
            ),
            Table(
                "worst_cases",
                "the network (JSON: what was searched) on which a controller's power is least "
                "relative to the opponent's or, without one, the omniscient sender's; usual: the "
                "median trial; mean_power is over the trial's runs, metrics are of the first",
                (
                    *_text("search", "run", "controller", "constants"),
                    *_text("opponent", optional=True),
                    *_text("network"),
                    *_whole("trial"),
                    *_real("value", "usual"),
                    *_real("mean_power", "reference_power", unit="Mbit/s/s"),
                    *_real("capacity_mbps", unit="Mbit/s"),
                    *_metrics(of=(THROUGHPUT, SIGNAL_DELAY, QUEUEING_DELAY)),
                    *_real("utilization"),
                    *_flag("failed"),
                ),
            ),
            Table(
                "hardenings",
                "a controller tuned against its own worst cases: medians over the repeats, of the "
                "first round and of the last; milder: repeats whose last worst case is",
                (
                    *_text("hardening", "title", "controller"),
                    *_text("opponent", optional=True),
                    *_texts("network_titles"),
                    *_whole("tuning_trials", "worst_case_trials", "rounds", "repeats", "milder"),
                    *_real("worst_case_before", "worst_case_after", "own_before", "own_after"),
                ),
            ),
            Table(
                "hardening_rounds",
                "a round: power relative to the omniscient sender's on the tuning's own networks, "
                "and in the worst case that was found then; constants, network: JSON",
                (
                    *_text("hardening"),
                    *_whole("repeat", "round"),
                    *_real("own", "worst_case"),
                    *_text("constants", "network"),
                ),
            ),
        ),
    ),
    Stage(
        "inventory",
        (
            *("studies", "repeats", "comparisons", "kernel", "hold_out", "published", "added_runs"),
            "hardening",
            *("probe", "confirm", "real_studies", "real_repeats"),
        ),
        (),
        (
            Table(
                "inventory",
                "runs of a study or the like; busy ones met a busy host before; of the kind `not "
                "run`: an experiment in real mahimahi that has not run",
                (
                    *_text("name", "kind", "engine"),
                    *_texts("controllers", "network_titles"),
                    *_whole("settings", "runs", "failed", "busy"),
                ),
            ),
            Table(
                "constants",
                "the unit of a controller's parameter, as declared",
                _text("controller", "constant", "unit"),
            ),
            Table(
                NAMES,
                "a parameter or controller as the report prints it",
                _text("name", "printed"),
            ),
            Table(
                "exclusions",
                "runs that gave no result, grouped by reason",
                (
                    *_text("study", "controller", "network", "constants", "status", "reason"),
                    *_whole("runs"),
                ),
            ),
            Table(
                "settings_run",
                "a trial's setting on a network, and the first of its runs; table, row: what "
                "it replays; constants are JSON",
                (
                    *_text("study"),
                    *_whole("trial"),
                    *_text("table", optional=True),
                    *_whole("row", optional=True),
                    *_text("engine", "controller", "constants", "network"),
                    *_text("traffic", optional=True),
                    *_whole("runs", "seed"),
                    *_text("run_id"),
                ),
            ),
        ),
    ),
)

STAGES = {stage.name: stage for stage in _STAGES}
"""Every stage, by its name; none reads a table of a later one."""
TABLES = {table.name: table for stage in _STAGES for table in stage.tables}
"""Every table, by its name."""
