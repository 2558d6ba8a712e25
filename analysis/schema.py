"""The stages of the analysis, what each reads, and the schema of each table that it writes.

Delays are 95th percentiles. A relative difference is ours over theirs, less one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.metrics import METRICS, POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from common.tables import Column, Kind, Table
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


Columns = tuple[Column, ...]


def _table(name: str, meaning: str, *columns: Columns) -> Table:
    return Table(name, meaning, sum(columns, ()))


def _columns(kind: Kind, names: Iterable[str], optional: bool = False, unit: str = "") -> Columns:
    return tuple(Column(name, kind, unit, optional) for name in names)


def _text(*names: str, optional: bool = False) -> Columns:
    return _columns("text", names, optional)


def _texts(*names: str) -> Columns:
    return _columns("texts", names)


def _whole(*names: str, optional: bool = False) -> Columns:
    return _columns("whole", names, optional)


def _real(*names: str, unit: str = "") -> Columns:
    return _columns("real", names, unit=unit)


def _flag(*names: str, optional: bool = False) -> Columns:
    return _columns("flag", names, optional)


def _metrics(*prefixes: str, of: Iterable[str] = UNITS) -> Columns:
    """A column for each metric, in its unit."""
    return tuple(Column(p + name, "real", UNITS[name]) for p in prefixes or ("",) for name in of)


def _ratios(*prefixes: str) -> Columns:
    """A column without a unit for each metric."""
    return _real(*(prefix + name for prefix in prefixes for name in UNITS))


NAMES = "names"
"""The table that every figure reads besides its own."""

_CONSTANTS = _real("constant_*")
_SHOWN = _metrics(of=(THROUGHPUT, SIGNAL_DELAY, POWER))
_SPREAD = (
    *_whole("n"),
    *_real("mean", "standard_deviation", "cv", "low", "high", "least", "greatest"),
)
_SETTING = _text("label", "traffic", "traffic_title", "network", "network_title") + _whole("trial")
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

_AUDIT = (
    _table(
        "audit",
        "a published row and the mean of our runs; comparison is reports or measured",
        AUDIT,
        _text("report", "kind"),
        _whole("mark"),
        _text("controller", "network"),
        _flag("replayable"),
        _CONSTANTS,
        _real("step_*"),
        _metrics("published_", "ours_", "deviation_", "least_", "greatest_"),
        # An interval that holds one more run of ours, on the network's host or on any that its fit
        # leaves open.
        _metrics("low_", "high_", "host_low_", "host_high_", "difference_"),
        _ratios("relative_"),
        # What we ran of a row: of several settings the nearest, and what is its own.
        _whole("runs", "settings", "failed"),
        _text("constants", "nearest", "failure"),
        _text("name", "agreement", "checks", "wrong"),
        # The share of draws of our runs that leave the row as near as it is; whether the verdict is
        # clear.
        _real("sure"),
        _flag("clear"),
        _flag("within", optional=True),
    ),
    _table(
        "audit_evidence",
        "evidence for a verdict: a check that contradicts the row (its kind), a difference, or "
        "another explanation; numbers are in the unit of the metric",
        _text("comparison", "table"),
        _whole("row"),
        _text("kind"),
        _text("metric", optional=True),
        # By how much the metric is off, and where the check begins to speak, as differences of
        # logarithms.
        _real("size", "limit"),
        # What the other numbers of the row, its neighbours along a constant or throughput, or one
        # more run of ours allow; NaN: no bound. Of a selection, from how many runs.
        _real("low", "high"),
        _text("along", optional=True),
        # The row that it repeats, of the same table, or that it conflicts with.
        _text("other_table", optional=True),
        _whole("other_row", optional=True),
        _real("other_published", "other_ours"),
        # The relative standard deviation of our runs, the median size of the relative differences
        # of the table's other rows, and how probable it is that one of its numbers is so far off if
        # all are of one kind; missing above 1 %.
        _real("variation", "usual", "p"),
        _texts("constants"),
        _text("remark", optional=True),
    ),
    _table(
        "audit_tables",
        "a published table on its own network: its source, how many rows agree, how many have each "
        "verdict; or its replay on another, which gives no verdict; host_fitted: the network's "
        "host was fitted to the table",
        _text("comparison", "table", "report", "source", "held", "unstated"),
        _text("selected", optional=True),
        _text("network", "network_title"),
        _flag("own", "host_fitted"),
        _whole("rows", "compared", "within"),
        _ratios("median_", "worst_"),
        _whole(*VERDICTS),
    ),
)

_SWEEPS = (
    _table(
        "sweeps",
        "a parameter that studies vary alone: its best value, and how sure that is; tables: "
        "published ones to compare it with",
        _text("sweep", "controller", "network", "network_title", "constant", "unit"),
        _texts("tables"),
        _whole("studies", "values", "runs"),
        _real("least", "greatest", "best_value"),
        _SHOWN,
        _text("best_study"),
        _whole("best_trial", "best_runs"),
        _real("half_width", "margin"),
    ),
    _table(
        "sweep_points",
        "a value of a swept parameter and the mean of its runs",
        _text("sweep"),
        _real("value"),
        _whole("runs"),
        _metrics(),
        _flag("best", "tied"),
    ),
    _table(
        "grid_cells",
        "a cell of a full grid over two parameters, x_name and y_name, on a network: power, ours "
        "and published; networks: of its study",
        _text("grid", "title", "controller", "network", "network_title"),
        _whole("networks"),
        _text("x_name", "y_name", "x_unit", "y_unit"),
        _text("table", "report", optional=True),
        _real("y", "x"),
        # The published row, and one unit in its last digit, where only one is of the cell.
        _whole("row", optional=True),
        _real("ours", "published", "step", unit="Mbit/s/s"),
        _real("relative"),
        _flag("agrees", optional=True),
    ),
    _table(
        "grid_effects",
        "the effect of a further parameter within a cell; mean is over the cells",
        _text("grid", "constant", "unit"),
        _whole("group"),
        _real("value"),
        _real("power", unit="Mbit/s/s"),
        _real("relative", "mean"),
    ),
)

_SEARCHES = (
    _table(
        "searches",
        "an adaptive search: its best trial, how sure that is, what a sweep found; tunes: for the "
        "power of a controller alone on its network; keeping: bounds, JSON; stopped: by a race "
        "over pairs of network and seed; beyond: a bound",
        _text("search", "engine", "title", "controller"),
        _texts("networks", "network_titles"),
        _text("sampler", "objective"),
        _texts("fit"),
        _flag("robust"),
        _text("traffic", "expression", optional=True),
        _text("keeping"),
        _flag("tunes"),
        _whole("searched", "trials", "runs", "failed", "best_trial"),
        _whole("stopped", "beyond", "pairs"),
        _real("bound_ms", "omniscient_ms", unit="ms"),
        _real("omniscient_mbps", unit="Mbit/s"),
        _real("hypervolume", "best_value"),
        _SHOWN,
        _whole("best_runs"),
        _real("margin"),
        _whole("ties", "near"),
        _text("sweep", optional=True),
        _flag("sweep_agrees", optional=True),
        _real("emulated_power", unit="Mbit/s/s"),
        _text("surface_x", "surface_y", optional=True),
    ),
    _table(
        "search_constants",
        "a searched parameter: its range, its best value, its importance by PED-ANOVA and by "
        "fANOVA; of a fit, the interval to which the rows of its tables pin it down",
        _text("search", "constant", "unit"),
        _real("low", "high"),
        _flag("logarithmic"),
        _real("best", "near_low", "near_high", "importance", "fanova"),
        _real("pinned_low", "pinned_high", "pinned_share"),
        _text("verdict", optional=True),
        _whole("fitted_rows", optional=True),
    ),
    _table(
        "search_networks",
        "the best trial of a search on one of its networks, and the published best there",
        _text("search", "network", "network_title"),
        _whole("runs", "failed"),
        _SHOWN,
        # With fresh seeds, and half its 95 % interval; missing where none ran.
        _real("fresh_power", "fresh_half_width", unit="Mbit/s/s"),
        _text("published_table", "published_report", optional=True),
        _whole("published_row", optional=True),
        _text("published_constants", optional=True),
        _real("published_power", "published_ours", unit="Mbit/s/s"),
        _real("gain"),
    ),
    _table(
        "search_trials",
        "a trial; rank is among those that have a value. Of a search for a front, metrics are over "
        "its networks, and the knee has the most power; of one for a single peak, low and high are "
        "where that can be after a new evaluation",
        _text("search"),
        _whole("trial"),
        _real("value"),
        _flag("failed", "stopped", "beyond"),
        _real("best_so_far"),
        _flag("improved", "measured"),
        _whole("rank", optional=True),
        _SHOWN,
        _CONSTANTS,
        _flag("on_front", "knee", optional=True),
        _real("low", "high"),
    ),
    _table(
        "recovery_rows",
        "a fitted row and the best trial of its fit",
        _text("search", "table"),
        _whole("line"),
        _CONSTANTS,
        _metrics("published_", "ours_"),
        _ratios("relative_"),
    ),
)

_HELD_OUT = (
    _table(
        "held_out_settings",
        "a distinct setting; power relative to the omniscient bound. Of the best ones, which were "
        "repeated, also their ranks and 95 % intervals, over other seeds on the same networks, of "
        "held_out and of the interquartile mean of all runs (middle)",
        _whole("trial"),
        _text("controller", "origin"),
        _flag("best"),
        _text("study"),
        _text("table", optional=True),
        _whole("row", optional=True),
        _text("constants"),
        _real("published_power", "study_power", unit="Mbit/s/s"),
        _whole("study_runs"),
        _CONSTANTS,
        _real("training", "held_out"),
        _whole("training_rank", "held_out_rank", "gap", optional=True),
        _text("label", optional=True),
        _whole("repeats", optional=True),
        _real("held_out_low", "held_out_high", "middle", "middle_low", "middle_high"),
    ),
    _table(
        "held_out_gains",
        "what a tuned setting changes against its controller's best published one; printed: the "
        "best that a report prints for the training network; trials, searched: of its search",
        _text("controller"),
        _text("published_study", "published_table", "published_constants", optional=True),
        _text("tuned_study", "tuned_table", "tuned_constants", optional=True),
        _whole("published_trial", "published_row", "tuned_trial", "tuned_row", optional=True),
        _whole("better", "worse", optional=True),
        _real("published_power", "published_half_width", unit="Mbit/s/s"),
        _real("tuned_power", "tuned_half_width", unit="Mbit/s/s"),
        _real("tuned_study_power", unit="Mbit/s/s"),
        _real("training_gain", "margin", "held_out_gain"),
        # Of held_out_gain: its 95 % interval, and the p value corrected by Holm.
        _real("gain_low", "gain_high", "gain_p"),
        _text("printed_table", optional=True),
        _whole("printed_row", "trials", optional=True),
        _real("printed_power", unit="Mbit/s/s"),
        _texts("searched"),
    ),
    _table(
        "held_out_profiles",
        "the share of held-out networks on which one of the best settings is within a factor of "
        "the best, with its 95 % interval",
        _whole("trial"),
        _real("factor", "share", "low", "high"),
    ),
    _table(
        "held_out_duels",
        "a tuned setting against another: on how many of the held-out networks its mean power is "
        "greater, and the p value of the difference over all of them, by Holm",
        _whole("trial", "other", "networks", "ahead"),
        _real("p"),
    ),
    _table(
        "held_out_networks",
        "a network with its omniscient bound, the setting that comes nearest, and the studies that "
        "searched it",
        _text("network", "title"),
        _flag("is_training"),
        _texts("searched_by"),
        _real("capacity_mbps", unit="Mbit/s"),
        _metrics(of=(SIGNAL_DELAY, POWER)),
        _real("nearest"),
        _text("nearest_label"),
    ),
    _table(
        "held_out_power",
        "one of the best settings on a network: mean power, in which a failed run counts 0, and "
        "relative to the bound; of the runs that succeeded, throughput, delay, power and, of "
        "single runs in Mbit/s and ms, covariance; whether it is on the Pareto front and its knee",
        _whole("trial"),
        _text("network"),
        _whole("runs"),
        _real("power", "standard_deviation", unit="Mbit/s/s"),
        _real("relative"),
        _whole("succeeded", optional=True),
        _metrics(of=(THROUGHPUT, SIGNAL_DELAY)),
        _real("succeeded_power", unit="Mbit/s/s"),
        _real("throughput_variance", "covariance", "delay_variance"),
        _flag("on_front", "knee", optional=True),
    ),
    _table(
        "generality",
        "a setting tuned on several networks against one tuned on the training network alone: "
        "power relative to its, with 95 % intervals; p of held-out by Holm",
        _text("controller", "specialist", "generalist"),
        _whole("networks"),
        _texts("network_titles"),
        _real("training_change", "training_low", "training_high", "training_p"),
        _real("held_out_change", "held_out_low", "held_out_high", "held_out_p"),
    ),
)

_REPEATABILITY = (
    _table(
        "repeatability_runs",
        "a run of a repeated setting; whose is emulator, mahimahi or calibrated",
        _text("whose", "setting", "label"),
        _metrics(),
    ),
    _table(
        "repeatability_published",
        "a published mean of a repeated setting",
        _text("whose", "setting", "metric", "source"),
        _real("published_mean", "published_standard_deviation", "published_n"),
        # One unit in the last printed digit of either.
        _real("published_step", "published_standard_deviation_step"),
    ),
)

_REAL = (
    _table(
        "agreement",
        "the emulator against real mahimahi, and why a real mean lies outside",
        _BESIDE_REAL,
        _EXPLAINED,
    ),
    _table(
        "agreement_settings",
        "a setting that ran in real mahimahi; constants are JSON",
        _whole("trial"),
        _text("controller", "network", "constants"),
        _texts("origins", "rows"),
        _text("name", "label"),
        _texts("varied"),
        _whole("runs"),
    ),
)

_AGAIN = (
    _table(
        "again",
        "a real mean outside its prediction interval, and the mean of further runs",
        _BESIDE_REAL,
        _text("label"),
        _whole("again_n"),
        _real("again_mean"),
        _EXPLAINED,
    ),
)

_HOST = (
    _table(
        "probe",
        "a run of the probe, its differences from runs alone, and its level: so many runs at once, "
        "and whether they agree with runs alone; slots: what the host takes of its cores; a run "
        "beyond busy_us is repeated",
        _whole("level", "concurrency"),
        _flag("agrees"),
        _text("reason", "controller"),
        _flag("failed"),
        _real(f"relative_{THROUGHPUT}", f"relative_{SIGNAL_DELAY}"),
        _real("scheduling_delay_p99_us", "busy_us", unit="us"),
        _whole("slots", "cores"),
    ),
    _table(
        "scheduling_delays",
        "the scheduling delay that one wake-up in `one_in` reaches or exceeds",
        _whole("one_in"),
        _real("delay_us", "least_us", "greatest_us", unit="us"),
        _whole("n_runs"),
    ),
    _table(
        "calibration",
        "a trial of the fit of the emulated host to so many rows, the best first",
        _whole("trial"),
        _real("value"),
        _text("controller"),
        _whole("rows"),
        _CONSTANTS,
    ),
    _table(
        "wake_spread",
        "how much runs vary, by the spread of the host's scheduling delay",
        _real("wake_spread", "emulated_deviation", "real_deviation"),
        _flag("is_best"),
    ),
)

_BEHAVIOUR = (
    _table(
        "showcase",
        "one run with its link log; constants are JSON",
        _text("run", "engine", "controller", "constants", "network", "network_title"),
        _real("throughput_mbps", "capacity_mbps", unit="Mbit/s"),
        _metrics(of=(QUEUEING_DELAY, SIGNAL_DELAY, POWER)),
        _real("utilization"),
        _real("mean_window_packets", unit="packets"),
    ),
    _table(
        "series",
        "a value of a quantity (see analysis.over_time) of a run of showcase, worst_cases or "
        "comparison_runs; flow: whose, if the run has flows by name",
        _text("run"),
        _text("flow", optional=True),
        _text("quantity"),
        _real("time_s", unit="s"),
        _real("value"),
    ),
    _table(
        "traffic_figures",
        "the spread of a metric of a flow, a probe or the link (source) over replicates, in the "
        "metric's unit (analysis.metrics.FIGURES), in a comparison, or in a study that varies a "
        "parameter of its network, which has this value; shown: a summary has it; bdp_packets: the "
        "uplink's rate times the round-trip propagation delay, in packets of 1504 bytes",
        _text("comparison", "engine"),
        _SETTING,
        _text("source", "metric"),
        _flag("shown"),
        _SPREAD,
        _text("parameter", optional=True),
        _real("value"),
        _real("bdp_packets", unit="packets"),
    ),
    _table(
        "comparison_published",
        "a published number against our runs: inside their range, near it (5 %), outside, or "
        "contradicted by the source itself, which prints it elsewhere as an extreme; off: from the "
        "nearest run, relative; published_high: the end of a printed range",
        _text("comparison"),
        _whole("number", "trial"),
        _text("label", "traffic", "network", "network_title", "source", "metric"),
        _real("published", "published_high", "step"),
        _whole("published_n", optional=True),
        _text("place", "remark", "position", "verdict"),
        _real("off"),
        _text("extreme", "extreme_is", optional=True),
        _texts("conflicts"),
        _text("same"),
        _whole("emulator_n", "kernel_n"),
        _real("emulator_mean", "emulator_least", "emulator_greatest"),
        _real("kernel_mean", "kernel_least", "kernel_greatest"),
    ),
    _table(
        "comparison_shares",
        "an endless flow's share of the throughput of all of them; Jain's index of all",
        _text("comparison", "engine"),
        _SETTING,
        _text("flow"),
        _flag("under_study"),
        _whole("flows", "n"),
        _real("mean", "low", "high", "least", "greatest", "jains_index"),
        _real("utilization"),
        _real("queueing_delay_p95_ms", unit="ms"),
    ),
    _table(
        "comparison_runs",
        "the first run of a setting (constants: JSON), whose flows are told over time in series",
        _text("comparison", "engine"),
        _SETTING,
        _text("run", "constants"),
        _whole("flows"),
    ),
    _table(
        "worst_cases",
        "the network (JSON: what was searched) on which a controller's power is least relative to "
        "the opponent's or, without one, the omniscient sender's; usual: the median trial; "
        "mean_power is over the trial's runs, metrics are of the first",
        _text("search", "run", "controller", "constants"),
        _text("opponent", optional=True),
        _text("network"),
        _whole("trial"),
        _real("value", "usual"),
        _real("mean_power", "reference_power", unit="Mbit/s/s"),
        _real("capacity_mbps", unit="Mbit/s"),
        _metrics(of=(THROUGHPUT, SIGNAL_DELAY, QUEUEING_DELAY)),
        _real("utilization"),
        _flag("failed"),
    ),
    _table(
        "hardening_rounds",
        "a round of tuning a controller against its own worst cases: power relative to the "
        "omniscient sender's on the tuning's own networks, and in the worst case that was found "
        "then, relative to the opponent's; constants, network: JSON",
        _text("hardening"),
        _whole("repeat", "round"),
        _real("own", "worst_case"),
        _text("constants", "network"),
        _text("title", "controller"),
        _text("opponent", optional=True),
        _texts("network_titles"),
        _whole("tuning_trials", "worst_case_trials"),
    ),
)

_INVENTORY = (
    _table(
        "inventory",
        "runs of a study, a comparison or the like; busy ones met a busy host before; of the kind "
        "`not run`: an experiment in real mahimahi that has not run; source, wanted_engines, "
        "traffic_titles: of a comparison",
        _text("name", "kind", "engine", "title"),
        _texts("controllers", "network_titles"),
        _whole("settings", "runs", "failed", "busy"),
        _text("source", optional=True),
        _texts("wanted_engines", "traffic_titles"),
    ),
    _table(
        "constants",
        "the unit of a controller's parameter, as declared",
        _text("controller", "constant", "unit"),
    ),
    _table(NAMES, "a parameter or controller as the report prints it", _text("name", "printed")),
    _table(
        "exclusions",
        "runs that gave no result, grouped by reason",
        _text("study", "controller", "network", "constants", "status", "reason"),
        _whole("runs"),
    ),
    _table(
        "settings_run",
        "a trial's setting on a network, and the first of its runs; table, row: what it replays; "
        "constants are JSON",
        _text("study"),
        _whole("trial"),
        _text("table", optional=True),
        _whole("row", optional=True),
        _text("engine", "controller", "constants", "network"),
        _text("traffic", optional=True),
        _whole("runs", "seed"),
        _text("run_id"),
    ),
)

_OF_EMULATOR = ("studies", "published", "repeats", "hold_out")
_OF_MAHIMAHI = ("real_studies", "real_repeats")
_STAGES = (
    Stage("audit", ("studies", "published", "added_runs"), (), _AUDIT),
    Stage("sweeps", _OF_EMULATOR, (), _SWEEPS),
    Stage(
        "searches",
        (*_OF_EMULATOR, *_OF_MAHIMAHI),
        ("audit", "sweeps", "sweep_points"),
        _SEARCHES,
    ),
    Stage("held_out", ("hold_out", "studies", "published"), (), _HELD_OUT),
    Stage("repeatability", ("repeats", "real_repeats", "calibration"), (), _REPEATABILITY),
    Stage("agreement", ("confirm", "calibration"), (), _REAL),
    Stage("again", ("calibration", "again"), ("agreement", "agreement_settings"), _AGAIN),
    Stage("host", ("probe", "calibration"), (), _HOST),
    Stage(
        "behaviour",
        ("showcase", "real_showcase", "comparisons", "kernel", "studies", "published", "hardening"),
        (),
        _BEHAVIOUR,
    ),
    Stage(
        "inventory",
        (
            *("studies", "repeats", "comparisons", "kernel", "hold_out", "published", "added_runs"),
            *("hardening", "probe", "confirm", *_OF_MAHIMAHI),
        ),
        (),
        _INVENTORY,
    ),
)

STAGES = {stage.name: stage for stage in _STAGES}
"""Every stage, by its name; none reads a table of a later one."""
TABLES = {table.name: table for stage in _STAGES for table in stage.tables}
"""Every table, by its name."""
