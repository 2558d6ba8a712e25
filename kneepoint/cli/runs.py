"""Making and describing the inputs of runs, for all commands that run controllers."""

import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from kneepoint.cli import path_in_project
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_bytes, sha256_of, wait_for_lock
from kneepoint.common.job_errors import errors_in
from kneepoint.common.notes import is_sealed
from kneepoint.common.places import LOGS, NETWORKS, OWN_CONTROLLERS, STATE, TOOL, TRACES
from kneepoint.common.project import note_version, own_sources
from kneepoint.config.workflow import Workflow
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec, run_reliably
from kneepoint.engines.built import (
    EMULATE,
    current_catalogue,
    is_own,
    out_of_date,
    shared_object,
    source_of_controller,
    targets_of,
)
from kneepoint.engines.catalogue import load_catalogue, require_sources
from kneepoint.engines.own import build_own
from kneepoint.engines.registry import settings_of
from kneepoint.networks.config import load_network
from kneepoint.networks.fetch import fetch, made_of
from kneepoint.networks.prepare import prepare
from kneepoint.networks.recordings import improbable, summarise
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.networks.traces import times_of
from kneepoint.runs.settings import read_settings
from kneepoint.search.language import RuleError, parse
from kneepoint.workflow.forecast import Forecast, spoken
from kneepoint.workflow.make import NotMadeError, make
from kneepoint.workflow.states import State, states_of


def is_path(controller: str) -> bool:
    """Returns whether a controller is given by the path of a shared object."""
    return "/" in controller or controller.endswith(".so")


def controller_given(text: str) -> str:
    """Returns a controller's name, or its path, which is relative to the folder of the call."""
    return str(path_in_project(Path(text)).absolute()) if is_path(text) else text


def description_of(network: str) -> Path:
    """Returns the path of a prepared network's description."""
    return NETWORKS / network / "network.json"


def prepared_network(network: str) -> PreparedNetwork:
    """Reads a prepared network."""
    return PreparedNetwork.load(description_of(network))


def is_prepared(config: Path, network: str) -> bool:
    """Returns whether a network is prepared from the current configuration and traces, by digests.

    False for a network with a host that a study finds: only Snakemake knows whether the study is up
    to date.

    Raises:
        KneepointError: the configuration has no such network, or the file of its recording is
            missing or has a digest that traces.yaml does not list.
    """
    source = load_network(config, network)
    prepared = description_of(network).with_name("description.json")
    try:
        described = prepared.read_text(encoding="utf-8").strip()
    except OSError:
        return False
    is_current = source.host_from is None and described == made_of(config, source)
    return is_current and is_sealed(str(NETWORKS / network))


def make_what_is_missing(
    config: Path,
    networks: Collection[str],
    controllers: Collection[str],
    programs: Collection[Path] = (),
    *,
    where: str = "the command line",
    keep_going: bool = False,
) -> None:
    """Builds programs and controllers and prepares networks that are missing; reports on stderr.

    Waits while another process builds or prepares in this project, which may make the same files.

    Args:
        config: configuration file of the project.
        networks: to prepare.
        controllers: to build; paths are skipped.
        programs: to build besides the emulator.
        where: the place that names the controllers, for errors.
        keep_going: whether to prepare the other networks if one cannot be prepared.

    Raises:
        KneepointError: a network or a controller is unknown, or something cannot be made.
    """
    note_version()
    own = own_sources(config)
    named = [name for name in controllers if not is_path(name)]
    require_sources(dict.fromkeys(named, where), own)

    def missing() -> tuple[list[Path], list[str]]:
        built = out_of_date(named, own) + [each for each in programs if not each.exists()]
        return built, [name for name in networks if not is_prepared(config, name)]

    if not any(missing()):
        return
    with _preparing():
        to_build, to_prepare = missing()
        if to_build:
            _build(to_build, named, own)
        problems = []
        for name in to_prepare:
            try:
                _prepare(config, name)
            except (KneepointError, NotMadeError) as error:
                problems.append(error)
                if not keep_going:
                    break
    _say_improbable(config, to_prepare)
    if problems:
        raise problems[0]


@contextmanager
def _preparing() -> Iterator[None]:
    """Holds the project's lock on building and preparing."""
    with wait_for_lock(STATE / "preparing.lock", "prepares here"):
        yield


def _build(wanted: Sequence[Path], controllers: Sequence[str], own: Path) -> None:
    """Builds programs and controllers; raises the error of the first that fails to compile."""
    print(f"building {', '.join(each.stem for each in wanted)}, once", file=sys.stderr, flush=True)
    shipped = [each for each in wanted if each.parent != OWN_CONTROLLERS]
    if shipped:
        log = LOGS / "build.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        targets = targets_of(controllers, own)
        with log.open("wb") as output:
            command = [str(TOOL / "controllers/build.sh"), "--", "programs", *targets]
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
            status = subprocess.run(
                command, stdout=output, stderr=output, env={**os.environ, "PATH": path}, check=False
            ).returncode
        if status != 0:
            raise KneepointError(errors_in(log)[0].removeprefix("error: "))
    for name in controllers:
        if shared_object(name, own) in wanted and is_own(name, own):
            build_own(source_of_controller(name, own))


def _prepare(config: Path, name: str) -> None:
    """Prepares a network, with the workflow if a study finds its host."""
    network = load_network(config, name)
    if network.host_from is not None:
        make(config, [description_of(name)], quiet=True)
        return
    if network.trace_names:
        fetch(config, network.trace_names, TRACES)
    prepare(config, name, NETWORKS / name)


def _say_improbable(config: Path, networks: Collection[str]) -> None:
    """Warns on stderr of prepared recordings that are probably not of a link (see improbable)."""
    for name in filter(lambda each: description_of(each).is_file(), networks):
        source = load_network(config, name)
        for direction, link in (("uplink", source.uplink), ("downlink", source.downlink)):
            trace = description_of(name).with_name(f"{direction}.trace")
            if link.trace and (doubt := improbable(summarise(times_of(trace.read_bytes())))):
                print(f"{name}: {direction}: trace {link.trace}: {doubt}", file=sys.stderr)


def make_checked(workflow: Workflow, targets: Sequence[Path], cores: str, *, quiet: bool) -> None:
    """Builds controllers, checks the configuration against their declarations, and makes targets.

    Without targets, makes everything.

    Raises:
        KneepointError: a controller cannot be built, a parameter is unknown, or its value or unit
            is wrong.
    """
    wanted = out_of_date(workflow.controllers, workflow.own_sources)
    forecast = None if quiet else Forecast(bool(wanted), is_whole=not targets)
    if forecast:
        _say_plan(wanted, states_of(workflow), forecast)
    if wanted:
        make(workflow.path, wanted, cores, quiet, forecast=forecast)
    catalogue = current_catalogue(workflow.controllers, workflow.own_sources)
    assert catalogue is not None
    workflow.check_against(catalogue)
    if forecast:
        forecast.is_building = False
    make(workflow.path, targets, cores, quiet, forecast=forecast)


def _say_plan(wanted: Sequence[Path], states: Sequence[State], forecast: Forecast) -> None:
    """Lists on stderr the steps to run, if any."""
    waiting = sum(state.state != "done" for state in states) if forecast.is_whole else 0
    built = (
        "a program or controller" if len(wanted) == 1 else f"{len(wanted)} programs and controllers"
    )
    what = [f"{built} to build"] if wanted else []
    what += [f"{waiting} of {len(states)} experiments to make"] if waiting else []
    if what:
        print(f"{', '.join(what)}: {spoken(forecast.left_s(states))}", file=sys.stderr, flush=True)


def spec_of(
    settings: EngineSettings,
    controller: str,
    parameters: Mapping[str, float],
    network: PreparedNetwork,
    seed: int,
    where: str,
) -> RunSpec:
    """Describes a run of a controller that is given by name or by path.

    Raises:
        KneepointError: the controller or a parameter is unknown, or a value is invalid.
    """
    if not is_path(controller):
        known = load_catalogue(EMULATE).controller(controller, where)
        return RunSpec.on(settings, known, known.complete(parameters, where), network, seed)
    path = Path(controller)
    digest = sha256_of(read_bytes(path, "give the path of a shared object"))
    name = str(path.resolve())
    return RunSpec(settings.engine, settings.sha256, name, digest, parameters, network, seed)


def parameters_of(given: Mapping[str, str], where: str) -> dict[str, float]:
    """Returns parameters as numbers; raises KneepointError, beginning with `where`.

    The value of `rule` is an expression, which the controller `rule` takes as several parameters.
    """
    try:
        numbers = {name: float(value) for name, value in given.items() if name != "rule"}
        return numbers | (parse(given["rule"]).parameters if "rule" in given else {})
    except RuleError as error:
        raise KneepointError(f"{where}: {error}") from None
    except ValueError:
        raise KneepointError(f"{where}: not NAME=VALUE with a numeric VALUE; correct it") from None


def run_once(settings: EngineSettings, spec: RunSpec) -> RunRecord:
    """Executes one run; raises KneepointError on a fault of the machine."""
    with closing(settings.open()) as engine:
        return without_fault(run_reliably(engine, spec))


def without_fault(record: RunRecord) -> RunRecord:
    """Returns the record; raises KneepointError on a fault of the machine."""
    if record.status == "fault":
        raise KneepointError(f"the machine prevented a run from finishing: {record.reason}")
    return record


def engine_of(name: str, config: Path) -> EngineSettings:
    """Returns the settings of an engine, as the configuration sets it."""
    real_time = read_settings(config).real_time
    return settings_of(name, EMULATE.parent, real_time.busy_us, keep_awake=real_time.keep_awake)
