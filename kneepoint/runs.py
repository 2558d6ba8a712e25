"""What `kneepoint run` and `kneepoint compare` share: making and describing a run's inputs."""

from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path

from common.config_file import read_config
from common.errors import KneepointError, suggestion
from common.files import sha256_of
from engines.base import EngineSettings, RunRecord, RunSpec, run_reliably
from engines.built import EMULATE, current_catalogue, out_of_date
from engines.catalogue import Catalogue, load_catalogue, own_sources, require_sources
from engines.named import settings_of
from experiments.models.settings import Settings
from experiments.workflow import Workflow
from kneepoint.workflow import make
from networks.config import known_networks, load_network, network_file
from networks.scenario import PreparedNetwork


def is_path(controller: str) -> bool:
    """Whether a controller is given by a shared object's path, not by name."""
    return "/" in controller or controller.endswith(".so")


def description_of(network: str) -> Path:
    """Returns the path of a prepared network's description."""
    return Path("build/networks") / network / "network.json"


def require_networks(config: Path, networks: Collection[str]) -> None:
    """Raises KneepointError unless each network is a file of config/networks."""
    for name in networks:
        source = network_file(config, name)
        if not source.is_file():
            near = suggestion(name, known_networks(config))
            raise KneepointError(f"{source}: unknown network {name!r}; {near}")


def is_prepared(config: Path, network: str) -> bool:
    """Whether a network is prepared as this configuration describes it.

    One whose host a study finds is left to Snakemake, which knows whether the study is up to date.
    """
    source = load_network(config, network)
    prepared = description_of(network).with_name("description.json")
    try:
        described = prepared.read_text(encoding="utf-8").strip()
    except OSError:
        return False
    return source.host_from is None and described == source.model_dump_json()


def make_what_is_missing(
    config: Path,
    networks: Collection[str],
    controllers: Collection[str],
    programs: Collection[Path] = (),
    *,
    where: str = "the command line",
    keep_going: bool = False,
) -> None:
    """Calls Snakemake, which takes seconds, only if a file is missing or older than its source.

    Args:
        config: configuration file of the workflow.
        networks: to prepare.
        controllers: to build; paths are skipped.
        programs: to build besides the emulator.
        where: what names the controllers.
        keep_going: make the rest if something fails.

    Raises:
        KneepointError: a network or a controller is unknown, or something cannot be made.
    """
    require_networks(config, networks)
    wanted = [program for program in programs if not program.exists()]
    wanted += [description_of(name) for name in networks if not is_prepared(config, name)]
    named = [name for name in controllers if not is_path(name)]
    require_sources(dict.fromkeys(named, where), own_sources(config))
    _build(config, named, "all", wanted, quiet=True, keep_going=keep_going)


def build_and_check(workflow: Workflow, cores: str, *, quiet: bool) -> None:
    """Builds the controllers of a configuration and checks it against what they declare.

    Raises:
        KneepointError: something cannot be built; a parameter is unknown, or a value or a unit of
            it is wrong.
    """
    _build(workflow.path, workflow.controllers, cores, quiet=quiet)
    catalogue = current_catalogue(workflow.controllers, workflow.own_sources)
    assert catalogue is not None
    workflow.check_against(catalogue)


def _build(
    config: Path,
    controllers: Collection[str],
    cores: str,
    further: Collection[Path] = (),
    *,
    quiet: bool,
    keep_going: bool = False,
) -> None:
    """Makes the emulator and controllers that are out of date, and further files."""
    wanted = [*out_of_date(controllers, own_sources(config)), *further]
    if wanted:
        make(config, wanted, cores, quiet, keep_going=keep_going)


def spec_of(
    settings: EngineSettings,
    controller: str,
    constants: Mapping[str, float],
    network: PreparedNetwork,
    seed: int,
    where: str,
) -> RunSpec:
    """Describes a run of a controller, by its name with all parameters, or by its path.

    Raises:
        KneepointError: the controller or a parameter is unknown, or a value is invalid.
    """
    if not is_path(controller):
        known = Catalogue.controller(load_catalogue(EMULATE), controller, where)
        return RunSpec.on(settings, known, known.complete(constants, where), network, seed)
    return RunSpec(
        engine=settings.engine,
        engine_sha256=settings.sha256,
        controller=str(Path(controller).resolve()),
        controller_sha256=_digest(Path(controller)),
        constants=constants,
        network=network,
        seed=seed,
    )


def constants_of(given: Mapping[str, str], where: str) -> dict[str, float]:
    """Returns parameters as numbers; raises KneepointError, beginning with `where`."""
    try:
        return {name: float(value) for name, value in given.items()}
    except ValueError:
        raise KneepointError(f"{where}: not NAME=VALUE with a numeric VALUE; correct it") from None


def _digest(path: Path) -> str:
    try:
        return sha256_of(path.read_bytes())
    except OSError as error:
        raise KneepointError(
            f"{path}: {error.strerror}; give the path of a shared object"
        ) from None


def run_once(settings: EngineSettings, spec: RunSpec) -> RunRecord:
    """Executes one run; raises KneepointError if the machine prevented it."""
    with closing(settings.open()) as engine:
        return without_fault(run_reliably(engine, spec))


def without_fault(record: RunRecord) -> RunRecord:
    """Returns the record; raises KneepointError if the machine prevented the run."""
    if record.status == "fault":
        raise KneepointError(f"the machine prevented a run from finishing: {record.reason}")
    return record


def engine_of(name: str, config: Path) -> EngineSettings:
    """Returns an engine by its name, as a configuration sets it."""
    real_time = read_config(config, Settings).real_time
    return settings_of(name, EMULATE.parent, real_time.busy_us, keep_awake=real_time.keep_awake)
