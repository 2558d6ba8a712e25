"""Reads what the workflow wrote: studies, repetitions, the showcase run, published tables."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from common.errors import unusable
from engines.catalogue import Catalogue, load_catalogue
from experiments import config as configuration
from experiments.config import Workflow, load_workflow
from experiments.published import PublishedTable, load_table
from experiments.results import read_frame
from reports import labels
from reports.checks import STEP
from reports.frames import with_constants
from reports.link_log import LinkLog, read_link_log
from reports.real_results import (
    Confirmation,
    Probe,
    load_confirmation,
    load_if_there,
    load_probe,
    load_runs,
)
from reports.statistics import CONSTANT
from search.spaces import HOST, searched_ranges

EMULATE = Path("build/emulate")
EMULATOR: configuration.Engine = "emulator"
MAHIMAHI: configuration.Engine = "mahimahi"


@dataclass(frozen=True)
class Searched:
    """A constant that a study searched, and where."""

    name: str
    low: float
    high: float
    logarithmic: bool = False


@dataclass(frozen=True)
class Study:
    """One study's results, and what its configuration says of it.

    `trials` and `runs` follow the results schema; runs carry a column `constant_<name>` for each
    constant, and so do trials for those searched (a searched setting of the engine counts as one).
    `objective` is that of power (mean, worst, mean_log) or "misfit", to the tables `fit`;
    a `robust` one bounds the influence of a row.
    """

    name: str
    title: str
    controller: str
    networks: tuple[str, ...]
    sampler: str
    objective: str
    fit: tuple[str, ...]
    robust: bool
    searched: tuple[Searched, ...]
    compare: tuple[str, ...]
    seed: int
    trials: pd.DataFrame
    runs: pd.DataFrame

    @property
    def minimised(self) -> bool:
        """Whether a smaller value is better."""
        return bool(self.fit)

    @property
    def is_of_host(self) -> bool:
        """Whether it searches the emulated host, and nothing of a controller."""
        return all(each.name.startswith(HOST) for each in self.searched)


@dataclass(frozen=True)
class Repeats:
    """Settings that were run many times.

    `settings` has columns setting (unique over all repeats), controller, network, label; `runs` a
    column setting; `published` columns setting, metric, mean, standard_deviation, n, source.
    """

    name: str
    title: str
    settings: pd.DataFrame
    published: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Showcase:
    """One run with its link log."""

    controller: str
    constants: Mapping[str, float]
    network: str
    log: LinkLog


@dataclass(frozen=True)
class HoldOut:
    """Settings on held-out networks: frames as `experiments.hold_out` writes them.

    Settings have a column `constant_<name>` for each constant; networks a column title.
    """

    settings: pd.DataFrame
    networks: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Source:
    """Where a published table stands, what it holds, what of that is unsaid and fitted to it.

    `remark` is what its author says elsewhere.
    """

    text: str
    held: Mapping[str, float] = field(default_factory=dict)
    unstated: Mapping[str, str] = field(default_factory=dict)
    fitted: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Real:
    """What the host did in real time: all of it may be absent, and `missing` names what is.

    `measured` has the studies, the repetitions and the showcase of real mahimahi; `calibration` is
    the fit of the emulated host to real fixed windows, `delays` the waits for the processor that it
    takes from them, `spread` the fit of its differences between runs (see search.calibrate),
    `emulated` the runs of the confirmed settings on the host that these found; `again` has further
    real runs of settings that the emulator did not predict.
    """

    measured: "Results"
    probe: Probe | None = None
    confirmation: Confirmation | None = None
    calibration: Study | None = None
    delays: pd.DataFrame | None = None
    spread: pd.DataFrame | None = None
    emulated: pd.DataFrame | None = None
    again: pd.DataFrame | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Results:
    """All that a report is made of; compared by identity.

    Studies, repetitions and the showcase are all of one `engine`: `real` has those of mahimahi, if
    the configuration asks for any. `published` has columns table, row, controller, network,
    replayable, constant_*, the metrics, and step_<metric>, the worth of one in a metric's last
    printed digit; `sources`, `networks` and `units` give a table's source, a network's title and
    the unit of a (controller, constant).
    """

    studies: tuple[Study, ...] = ()
    repeats: tuple[Repeats, ...] = ()
    hold_out: HoldOut | None = None
    showcase: Showcase | None = None
    published: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"table": []}))
    sources: Mapping[str, Source] = field(default_factory=dict)
    networks: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[tuple[str, str], str] = field(default_factory=dict)
    engine: str = EMULATOR
    real: Real | None = None


def load(config: Path, emulate: Path = EMULATE) -> tuple[Workflow, Results]:
    """Reads the configuration and everything that the workflow made of it.

    Raises:
        KneepointError: the configuration is wrong, or a result is missing or damaged.
    """
    workflow, results = load_studies(config, emulate)
    return workflow, replace(
        results,
        repeats=_load_repeats(workflow, workflow.of_engine(EMULATOR)[1]),
        hold_out=_load_hold_out(workflow),
        showcase=_load_showcase(workflow, "showcase"),
        real=_load_real(workflow, results, load_catalogue(emulate)),
    )


def load_studies(config: Path, emulate: Path = EMULATE) -> tuple[Workflow, Results]:
    """Reads the configuration, the emulator's studies and the published tables: `load` in part.

    Raises:
        KneepointError: see `load`.
    """
    workflow = load_workflow(config)
    catalogue = load_catalogue(emulate)
    tables = [
        load_table(config, path.stem)
        for path in sorted((config.parent / "published").glob("*.yaml"))
    ]
    names, _ = workflow.of_engine(EMULATOR)
    return workflow, Results(
        studies=tuple(
            _load_study(workflow, name, workflow.studies[name], catalogue) for name in names
        ),
        published=published_frame(tables),
        sources={
            table.name: Source(
                table.description.source,
                table.description.constants,
                table.description.unstated,
                table.description.fitted,
                table.description.remark,
            )
            for table in tables
        },
        networks={name: network.title for name, network in workflow.networks.items()},
        units={
            (controller.name, constant.name): "" if constant.unit == "1" else constant.unit
            for controller in catalogue.controllers.values()
            for constant in controller.constants.values()
        },
    )


def _load_study(
    workflow: Workflow, name: str, study: configuration.Study, catalogue: Catalogue
) -> Study:
    folder = workflow.results / name
    trials = read_frame(folder / "trials.parquet")
    ranges = searched_ranges(study, catalogue.controller(study.controller, f"study {name}"))
    return Study(
        name=name,
        title=study.title,
        controller=study.controller,
        networks=study.networks,
        sampler=study.sampler.kind,
        objective=study.objective.power or "misfit",
        fit=study.objective.fit,
        robust=study.objective.robust,
        searched=tuple(
            Searched(column.removeprefix(CONSTANT), *searched.bounds, logarithmic)
            for column, (searched, _, logarithmic) in ranges.items()
        ),
        compare=workflow.tables_beside.get(name, ()),
        seed=_read_json(folder / "study.json")["seed"],
        trials=trials.rename(
            columns={name: CONSTANT + name for name in trials.columns if name.startswith(HOST)}
        ),
        runs=with_constants(read_frame(folder / "runs.parquet")),
    )


def _load_repeats(workflow: Workflow, chosen: Iterable[str]) -> tuple[Repeats, ...]:
    names = _setting_labels(workflow)
    found = []
    for name in chosen:
        repeat = workflow.repeats[name]
        runs = with_constants(read_frame(workflow.results / "repeats" / name / "runs.parquet"))
        keys = [f"{name}:{position}" for position in range(len(repeat.settings))]
        settings = pd.DataFrame(
            {
                "setting": keys,
                "controller": [setting.controller for setting in repeat.settings],
                "network": repeat.network,
                "label": [names[key] for key in keys],
            }
        )
        published = pd.DataFrame(
            [{**p.model_dump(), "setting": keys[p.setting]} for p in repeat.published],
            columns=["setting", "metric", "mean", "standard_deviation", "n", "source"],
        ).astype({"mean": float, "standard_deviation": float, "n": float})
        runs["setting"] = [keys[trial] for trial in runs["trial"]]
        found.append(Repeats(name, repeat.title, settings, published, runs))
    return tuple(found)


def _setting_labels(workflow: Workflow) -> dict[str, str]:
    """Each repeated setting by what sets it apart from the others of its controller."""
    settings = {
        f"{name}:{position}": setting
        for name, repeat in workflow.repeats.items()
        for position, setting in enumerate(repeat.settings)
    }
    return {
        key: labels.setting(setting.controller, _differing(setting, settings.values()))
        for key, setting in settings.items()
    }


def _differing(
    setting: configuration.Setting, others: Iterable[configuration.Setting]
) -> dict[str, float]:
    alike = [other.constants for other in others if other.controller == setting.controller]
    return {
        name: value
        for name, value in setting.constants.items()
        if any(other.get(name) != value for other in alike)
    }


def _load_hold_out(workflow: Workflow) -> HoldOut | None:
    if workflow.hold_out is None:
        return None
    settings, networks, runs = (
        read_frame(workflow.results / "hold_out" / f"{name}.parquet")
        for name in ("settings", "networks", "runs")
    )
    networks["title"] = [workflow.networks[name].title for name in networks["network"]]
    return HoldOut(with_constants(settings), networks, with_constants(runs))


def _load_showcase(workflow: Workflow, folder: str) -> Showcase | None:
    shown = workflow.settings.showcase
    if shown is None:
        return None
    log = read_link_log(workflow.results / folder / "uplink.log")
    return Showcase(shown.controller, shown.constants, shown.network, log)


def _load_real(workflow: Workflow, results: Results, catalogue: Catalogue) -> Real | None:
    """What is there of real time; None where the configuration asks for nothing."""
    folder, wanted = workflow.results, workflow.confirm
    studies, repeats = workflow.of_engine(MAHIMAHI)
    if not (workflow.probe or wanted or studies or repeats):
        return None
    finished = [name for name in studies if (folder / name / "study.json").exists()]
    repeated = [name for name in repeats if (folder / "repeats" / name / "runs.parquet").exists()]
    shown = (folder / "real_showcase" / "uplink.log").exists()
    measured = replace(
        results,
        engine=MAHIMAHI,
        studies=tuple(
            _load_study(workflow, name, workflow.studies[name], catalogue) for name in finished
        ),
        repeats=_load_repeats(workflow, repeated),
        showcase=_load_showcase(workflow, "real_showcase") if shown else None,
    )
    calibrated = wanted and (folder / "calibration" / "study.json").exists()
    real = Real(
        measured,
        probe=load_probe(folder / "probe", workflow.settings.real_time.busy_us),
        confirmation=load_confirmation(folder / "confirm"),
        calibration=_load_calibration(workflow, wanted, catalogue)
        if wanted and calibrated
        else None,
        delays=load_if_there(folder / "calibration" / "delays.parquet"),
        spread=load_if_there(folder / "calibration" / "spread.parquet"),
        emulated=load_runs(folder / "agreement" / "runs.parquet"),
        again=load_runs(folder / "again" / "runs.parquet"),
    )
    missing = [name for name in (*studies, *repeats) if name not in (*finished, *repeated)]
    if workflow.probe and real.probe is None:
        missing.append("probe")
    if wanted and real.confirmation is None:
        missing.append("confirm")
    return replace(real, missing=tuple(missing))


def _load_calibration(
    workflow: Workflow, wanted: configuration.Confirm, catalogue: Catalogue
) -> Study:
    """The fit of the emulated host, which no file of the configuration describes as a study."""
    fitted = configuration.calibrating(wanted)[0].controller
    study = configuration.Study(
        title="The emulated host, fitted to real fixed windows",
        controller=fitted,
        networks=(wanted.network,),
        host=wanted.calibration.host,
        objective=configuration.Objective(fit=("confirm",)),
    )
    return _load_study(workflow, "calibration", study, catalogue)


def published_frame(tables: Iterable[PublishedTable]) -> pd.DataFrame:
    """All rows of the tables, as `Results` describes them."""
    rows = [
        {
            "table": table.name,
            "row": row.number,
            "controller": table.description.controller,
            "network": table.description.network,
            "replayable": row.has_all_constants,
            **{CONSTANT + name: value for name, value in row.constants.items()},
            **row.metrics,
            **{STEP + metric: step for metric, step in row.steps.items()},
        }
        for table in tables
        for row in table.rows
    ]
    return pd.DataFrame(rows, columns=None if rows else ["table"])


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        assert isinstance(content.get("seed"), int)
    except OSError as error:
        raise unusable(path, error.strerror) from None
    except (ValueError, AssertionError):
        raise unusable(path, "it is damaged") from None
    return content
