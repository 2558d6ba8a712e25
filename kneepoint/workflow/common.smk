# Helper functions of the rules.

from functools import cache

from kneepoint.analysis.schema import STAGES, TABLES
from kneepoint.common.made_by import NAME as MADE_BY
from kneepoint.engines.limits import LIMITS
from kneepoint.runs.cluster import start_cluster
from kneepoint.common.places import (
    BENCHMARKS,
    BUILT,
    LOGS,
    NETWORKS,
    OWN_CONTROLLERS,
    STATE,
    TOOL,
    TRACES,
)
from kneepoint.runs.registry import NETWORK_FILES, experiments_of
from kneepoint.runs.validity import complaints
from kneepoint.reports.figures import PART_OF, drawn, kind_of, module_of
from kneepoint.runs.question import FOLDER as QUESTIONS, Phase
from kneepoint.reports.parts import APPENDIX, AT_A_GLANCE, PARTS, part_of_table

# The workflow's one Ray writes this file when it is ready; `onstart` starts it.
CLUSTER = STATE / "cluster.json"
# A file newer than all results. It is written before Snakemake lists the folder, which happens
# once.
NOW = STATE / "now"
write_whole(NOW, f"{time.time_ns()}\n")
EXPERIMENTS = experiments_of(WORKFLOW)
REAL_PROGRAMS = {
    engine: [str(BUILT / name) for name in limits.programs] for engine, limits in LIMITS.items()
}


def again_unless(is_current):
    """Returns an input that makes a job run again, or none if its files are unchanged and of the present inputs.

    Snakemake itself notices all other changes: missing files, inputs newer than outputs, and changed digests among a
    job's parameters.
    """
    return [] if is_current else [NOW]


def source_if_gone(name):
    """Returns the source of a controller if it is missing, so that Snakemake reports it."""
    source = source_of_controller(name, OWN)
    return [] if source.is_file() else [source]


def built(*controllers):
    """Returns the shared objects of the controllers that a job runs."""
    return [str(shared_object(name, OWN)) for name in sorted(set(controllers))]


def digest_of(*paths):
    """Returns a digest of the content of files, without comments and layout."""
    said = [f"{path.name} {digest_of_input(path)}" for path in map(Path, paths)]
    return sha256_of("\n".join(said).encode())


def digest_of_folder(folder, pattern):
    """Returns a digest of the content of the files of a folder."""
    return digest_of(*sorted(folder.rglob(pattern)))


def sha256_of_trace(name):
    """Returns the digest of a trace in traces.yaml, or "" if it is not listed."""
    catalogue = load_trace_catalogue(CONFIG)
    return catalogue[name].sha256 if name in catalogue else ""


def digest_of_network(name):
    """Returns the digest of all inputs from which a network is prepared."""
    return sha256_of(made_of(CONFIG, load_network(CONFIG, name)).encode())


def fitted_for(network):
    """Returns the study.json of the study that a network names for its host, if any."""
    study = load_network(CONFIG, network).host_from
    return [f"{RESULTS}/{study}/study.json"] if study else []


def prepared(*networks):
    """Returns the files of prepared networks."""
    return [f"{NETWORKS}/{network}/{name}" for network in networks for name in NETWORK_FILES]


def results_of(*names):
    """Returns all files of experiments."""
    return [f"{RESULTS}/{name}/{file}" for name in names for file in EXPERIMENTS[name].files]


@cache
def is_valid(name):
    """Whether the files of an experiment are unchanged and belong to the present code, programs and inputs.

    Complete results may belong to other inputs, such as results from a backup, of which Snakemake has no record.
    """
    folder = Path(f"{RESULTS}/{name}")
    try:
        made = read_made_by(folder)
    except KneepointError:  # the origin of the results is unknown
        return False
    return made is None or not any(complaints(WORKFLOW, folder, made, EXPERIMENTS[name]))


def is_listed(trace):
    """Whether a trace has the digest of traces.yaml, or does not exist yet."""
    path = TRACES / trace
    return not path.is_file() or sha256_of(path.read_bytes()) == sha256_of_trace(trace)


def is_confirming():
    """Returns whether the target `confirm` requests real runs."""
    return "confirm" in workflow.dag_settings.targets


def names(is_real):
    """Returns the names of experiments."""
    return [each.name for each in EXPERIMENTS.values() if each.needs_confirm == is_real]


def before(experiment):
    """Returns the results that must exist first.

    With `confirm` these are the results of the previous phase, which waits for the phases before it. Without
    `confirm`, a real run waits for the measurement of the host alone, or, if cores determine the number of its
    slots, for nothing.
    """
    earlier = [each for each in EXPERIMENTS.values() if each.phase < experiment.phase]
    limits = LIMITS[experiment.engine]
    last = max((each.phase for each in earlier), default=None)
    if not is_confirming():
        last = Phase.HOST if limits.is_real_time and limits.runs_per_core is None else None
    return results_of(*(each.name for each in earlier if each.phase == last))


def host_of(experiment):
    """Returns the host settings of an engine; changing them makes its runs out of date."""
    real_time = WORKFLOW.settings.real_time
    keys = LIMITS[experiment.engine].host_settings
    return " ".join(str(getattr(real_time, key)) for key in keys) or None


def output_of(experiment):
    """Returns the redirection of a job's output: to a log, and in real time also to the terminal."""
    log = f"{LOGS}/{experiment.rule}/{experiment.name}.log"
    is_shown = LIMITS[experiment.engine].is_real_time
    return f"> >(tee {log}) 2>&1" if is_shown else f"> {log} 2>&1"


def of(wildcards):
    """Returns the experiment of a job."""
    return EXPERIMENTS[wildcards.experiment]


# The analysis includes existing real results, and requests none. `confirm` settles the token at its
# end: the report that it has written includes the results that it has made.
REAL_MADE_BY = [f"{RESULTS}/{name}/{MADE_BY}" for name in names(True)]
REAL_TOKEN = token("real_results", digest_of(*REAL_MADE_BY))


def wanted_in_real_time():
    """Returns the names of the real experiments that targets request."""
    targets = [str(target) for target in workflow.dag_settings.targets]
    return [
        name
        for name in names(True)
        if is_confirming() or any(target.startswith(f"{RESULTS}/{name}/") for target in targets)
    ]


def results_in(*groups):
    """Returns the files of groups of results (see kneepoint.analysis.schema), real results if this call makes them."""
    chosen = [each for each in EXPERIMENTS.values() if each.group in groups]
    return results_of(
        *(each.name for each in chosen if wanted_in_real_time() or not each.needs_confirm)
    )


def digest_of_read(*groups):
    """Returns digests of the analysis's inputs besides the results that this call makes."""
    real = [each for each in EXPERIMENTS.values() if each.group in groups and each.needs_confirm]
    published = digest_of_folder(CONFIG.parent / "published", "*") if "published" in groups else ""
    return [published, REAL_TOKEN if real else ""]


def analysed(tables):
    """Returns the files of tables."""
    return [f"{RESULTS}/{table}.parquet" for table in tables]


def numbered(part):
    """Returns a part of the report as a category, which Snakemake's report sorts by name."""
    return f"{list(PARTS).index(part) + 1}. {part}"


def question_of(figure):
    """Returns the question that a figure answers."""
    return drawn(kind_of(figure)).asks
