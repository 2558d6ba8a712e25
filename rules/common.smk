# Helper functions of the rules.

from analysis.schema import NAMES, STAGES, TABLES
from common.made_by import NAME as MADE_BY
from experiments.cluster import start_cluster
from experiments.models.study import EMULATOR, KERNEL, MAHIMAHI
from experiments.planners.comparisons import FOLDERS
from experiments.registry import (
    AGREEMENT,
    COMPARISON,
    HARDENING,
    REPLICATES,
    STUDY,
    WORST_CASE,
    experiments_of,
)
from reports.figures import READS, kind_of

# The workflow's one Ray writes this file when it is ready; `onstart` starts it.
CLUSTER = Path("build/cluster.json")
EXPERIMENTS = experiments_of(WORKFLOW)
REAL_PROGRAMS = {
    "mahimahi": ["build/sender", "build/receiver", "build/measure", "build/keep_awake"],
    "kernel": ["build/delay_line"],
}


def code_of(step):
    """Returns a file that changes when the code of a step changes."""
    return code.note(step, code.digest_of_step(step))


def code_of_controller(name):
    """Returns what code_of does, of a controller's source; the configuration need not name it."""
    sources = controller_sources(name, WORKFLOW.own_sources)
    if name not in CONTROLLER_CODE and sources[0].is_file():
        CONTROLLER_CODE[name] = note_sources(f"controller.{name}", sources)
    return CONTROLLER_CODE.get(name, sources[0])


def built(*controllers):
    """Returns the shared objects of the controllers that a job runs."""
    return [str(shared_object(name)) for name in sorted(set(controllers))]


def fitted_for(network):
    """Returns the study.json whose host a network has, if it names one."""
    study = load_network(CONFIG, network).host_from
    return [f"{RESULTS}/{study}/study.json"] if study else []


def prepared(*networks):
    """Returns the files of prepared networks."""
    files = ["network.json", "uplink.trace", "downlink.trace"]
    return expand("build/networks/{network}/{file}", network=networks, file=files)


def results_of(*names):
    """Returns all files of experiments."""
    return [f"{RESULTS}/{name}/{file}" for name in names for file in EXPERIMENTS[name].files]


def is_confirming():
    """Returns whether the target `confirm` requests real runs."""
    return "confirm" in workflow.dag_settings.targets


def names(is_real, *kinds):
    """Returns the names of experiments, of all kinds or of some."""
    found = [each for each in EXPERIMENTS.values() if not kinds or each.kind in kinds]
    return [each.name for each in found if each.is_real == is_real]


def before(experiment):
    """Returns the results that must exist first.

    Real runs need a quiet machine and a known number of slots; those on the kernel's TCP by themselves
    do without the probe, which needs mahimahi. Analyses of real runs wait until all real runs have
    ended, because they would disturb them.
    """
    if not experiment.is_real:
        return []
    if experiment.engine == EMULATOR:
        others = [name for name in names(True) if EXPERIMENTS[name].engine != EMULATOR]
        later = ["again"]
        return results_of(*set(others).difference(later)) if is_confirming() else []
    waits = experiment.engine == MAHIMAHI or is_confirming()
    if "probe" in EXPERIMENTS and experiment.name != "probe" and waits:
        return results_of("probe")
    return results_of(*names(False)) if is_confirming() else []


def host_of(experiment):
    """Returns the host settings of an engine; changing them makes its runs out of date."""
    real_time = WORKFLOW.settings.real_time
    settings = {
        MAHIMAHI: f"{real_time.busy_us} {real_time.keep_awake}",
        KERNEL: f"{real_time.busy_us}",
    }
    return settings.get(experiment.engine)


def output_of(experiment):
    """Returns where a job's words go: those of a job in real time to the terminal, too."""
    log = f"logs/{experiment.rule}/{experiment.name}.log"
    return f"> >(tee {log}) 2>&1" if experiment.engine != EMULATOR else f"> {log} 2>&1"


def of(wildcards):
    """Returns the experiment of a job."""
    return EXPERIMENTS[wildcards.experiment]


def listed(name, folder, pattern):
    """Returns the files of a folder of the configuration, and a note that changes when one is gone."""
    files = sorted(str(path) for path in (CONFIG.parent / folder).glob(pattern))
    return [*files, code.note(name, code.digest_of_files(files))]


PUBLISHED = listed("published", "published", "*")
# The analysis includes the real results that exist, and requests none.
REAL_MADE_BY = [f"{RESULTS}/{name}/{MADE_BY}" for name in names(True)]
REAL_NOTE = code.note("real_results", code.digest_of_files(REAL_MADE_BY))


def group_of(experiment):
    """Returns the group of results to which the analysis counts an experiment."""
    groups = {
        STUDY: "studies",
        WORST_CASE: "studies",
        HARDENING: "hardening",
        REPLICATES: "repeats",
        AGREEMENT: "calibration",
    }
    if experiment.kind == COMPARISON:
        return FOLDERS[experiment.engine]
    group = groups.get(experiment.kind, experiment.name)
    return f"real_{group}" if experiment.is_real and group in ("studies", "repeats") else group


def wanted_in_real_time():
    """Returns the names of the real experiments that targets ask for."""
    targets = [str(target) for target in workflow.dag_settings.targets]
    return [
        name
        for name in names(True)
        if is_confirming() or any(target.startswith(f"{RESULTS}/{name}/") for target in targets)
    ]


def asks_for_real():
    """Returns whether a target is made of real runs."""
    return bool(wanted_in_real_time()) or is_confirming()


def results_in(*groups):
    """Returns the files of groups of results (see analysis.schema)."""
    chosen = [each for each in EXPERIMENTS.values() if group_of(each) in groups]
    real = [each.name for each in chosen if each.is_real]
    files = results_of(*(each.name for each in chosen if not each.is_real))
    files += PUBLISHED if "published" in groups else []
    if real and not asks_for_real():
        return [*files, REAL_NOTE]
    return [*files, *results_of(*real)]


def analysed(tables):
    """Returns the files of tables."""
    return [f"{RESULTS}/{table}.parquet" for table in tables]


def module_of(kind):
    """Returns the module of reports.figures that draws a kind of figure."""
    return kind.replace("-", "_")
