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
from kneepoint.runs.registry import (
    NETWORK_FILES,
    experiments_of,
    inputs_of,
    other_inputs,
)
from kneepoint.reports.figures import PART_OF, drawn, kind_of, module_of
from kneepoint.runs.question import FOLDER as QUESTIONS, Phase
from kneepoint.reports.parts import APPENDIX, AT_A_GLANCE, PARTS, part_of_table

# The workflow's one Ray writes this file when it is ready; `onstart` starts it.
CLUSTER = STATE / "cluster.json"
EXPERIMENTS = experiments_of(WORKFLOW)
REAL_PROGRAMS = {
    engine: [str(BUILT / name) for name in limits.programs] for engine, limits in LIMITS.items()
}
IS_CORE_BUILT = is_current(CORE, OWN, PROGRAMS)
HAS_RESULTS = any(Path(f"{RESULTS}/{name}/{MADE_BY}").exists() for name in EXPERIMENTS)


def code_of(*steps):
    """Returns a file that changes when the code of a step changes."""
    return note(".".join(steps), code.digest_of_step(*steps))


def code_of_controller(name):
    """Returns a file that changes when a controller must be built, or its source if it is gone."""
    source = source_of_controller(name, OWN)
    return note_build(name, OWN, [shared_object(name, OWN)]) if source.is_file() else source


def built(*controllers):
    """Returns the shared objects of the controllers that a job runs."""
    return made_each(str(shared_object(name, OWN)) for name in sorted(set(controllers)))


def when_built(*controllers):
    """Has Snakemake choose anew among jobs after a build: its bytes decide; returns no file.

    Without it, a job would run again because a program was built again, though to the same bytes. A
    job needs all controllers that stand behind its inputs.
    """
    if HAS_RESULTS and not IS_CORE_BUILT:
        checkpoints.build_core.get()
    for name in sorted(set(controllers)):
        if HAS_RESULTS and name not in CURRENT:
            of_kind = "build_own_controller" if is_own(name, OWN) else "build_controller"
            getattr(checkpoints, of_kind).get(controller=name)
    return []


def noted(paths):
    """Returns files of the configuration as the notes of what they say."""
    return [note_input(Path(path)) for path in paths]


def made(name, files):
    """Returns files that jobs make, with the note of their contents."""
    return [*files, note_files(name, files)]


def made_each(files):
    """Returns files that jobs make, each with a note of its own."""
    return [path for file in files for path in made(file, [file])]


def sha256_of_trace(name):
    """Returns the digest that traces.yaml lists for a trace, if it does."""
    catalogue = load_trace_catalogue(CONFIG)
    return catalogue[name].sha256 if name in catalogue else ""


def noted_network(name):
    """Returns the note of all that a network is prepared from."""
    digest = sha256_of(made_of(CONFIG, load_network(CONFIG, name)).encode())
    return note(f"networks/{name}", digest, network_file(CONFIG, name).stat().st_mtime_ns)


def fits_for(network):
    """Returns the study whose host a network has, if it names one."""
    study = load_network(CONFIG, network).host_from
    return [study] if study else []


def fitted_for(network):
    """Returns the study.json whose host a network has, if it names one."""
    return [f"{RESULTS}/{study}/study.json" for study in fits_for(network)]


def behind(*experiments):
    """Returns the controllers of experiments and of all those whose results they depend on."""
    found = set()
    for experiment in map(EXPERIMENTS.get, experiments):
        if experiment.needs_confirm or experiment.tables:
            return set(WORKFLOW.controllers)
        fits = [fit for network in experiment.networks for fit in fits_for(network)]
        found |= {*experiment.controllers, *behind(*experiment.needs, *fits)}
    return found


def prepared(*networks):
    """Returns the files of prepared networks."""
    return [
        file
        for network in networks
        for file in made(
            f"{NETWORKS}/{network}",
            [f"{NETWORKS}/{network}/{name}" for name in NETWORK_FILES],
        )
    ]


def results_of(*names):
    """Returns all files of experiments."""
    return [f"{RESULTS}/{name}/{file}" for name in names for file in EXPERIMENTS[name].files]


def made_results_of(*names):
    """Returns what results_of does, with notes."""
    return [file for name in names for file in made(f"{RESULTS}/{name}", results_of(name))]


@cache
def noted_made(name):
    """Returns the note that has an experiment made again if a file is not what it wrote.

    Nor do results count that are whole, but of other inputs, such as those of a backup.
    """
    folder = Path(f"{RESULTS}/{name}")
    try:
        made = read_made_by(folder)
        is_current = made is None or not (
            made.changed(folder)
            or made.inputs
            and other_inputs(made.inputs, inputs_of(WORKFLOW, EXPERIMENTS[name]))
        )
    except KneepointError:  # nobody knows what it wrote
        is_current = False
    return renew(place_of(f"{folder}/made"), results_of(name), is_current=is_current)


@cache
def noted_sealed(name):
    """Returns the note that has a job run again if a file is not what it wrote."""
    return renew(place_of(f"{name}/made"), [], is_current=is_sealed(name))


def noted_trace(name):
    """Returns the note that has a trace fetched again if it is not the one of traces.yaml."""
    path, listed = TRACES / name, sha256_of_trace(name)
    is_current = not path.is_file() or sha256_of(path.read_bytes()) == listed
    return renew(place_of(f"{path}/made"), [path], is_current=is_current)


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
    """Returns where a job's words go: those of a job in real time to the terminal, too."""
    log = f"{LOGS}/{experiment.rule}/{experiment.name}.log"
    is_shown = LIMITS[experiment.engine].is_real_time
    return f"> >(tee {log}) 2>&1" if is_shown else f"> {log} 2>&1"


def of(wildcards):
    """Returns the experiment of a job."""
    return EXPERIMENTS[wildcards.experiment]


def listed(folder, pattern):
    """Returns the note of all files of a folder, which changes, too, when one is gone."""
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    said = [f"{path} {digest_of_input(path)}" for path in files]
    newest_ns = max((path.stat().st_mtime_ns for path in files), default=None)
    return note(f"{folder}/all", sha256_of("\n".join(said).encode()), newest_ns)


PUBLISHED = listed(CONFIG.parent / "published", "*")
# The analysis includes the real results that exist, and requests none.
REAL_MADE_BY = [f"{RESULTS}/{name}/{MADE_BY}" for name in names(True)]
REAL_NOTE = note(f"{RESULTS}/real_results", digest_of_files(REAL_MADE_BY))


def wanted_in_real_time():
    """Returns the names of the real experiments that targets ask for."""
    targets = [str(target) for target in workflow.dag_settings.targets]
    return [
        name
        for name in names(True)
        if is_confirming() or any(target.startswith(f"{RESULTS}/{name}/") for target in targets)
    ]


def results_in(*groups):
    """Returns the files of groups of results (see kneepoint.analysis.schema)."""
    chosen = [each for each in EXPERIMENTS.values() if each.group in groups]
    real = [each.name for each in chosen if each.needs_confirm]
    files = made_results_of(*(each.name for each in chosen if not each.needs_confirm))
    files += [PUBLISHED] if "published" in groups else []
    if real and not wanted_in_real_time():
        return [*files, REAL_NOTE]
    return [*files, *results_of(*real)]


def analysed(tables):
    """Returns the files of tables."""
    return [f"{RESULTS}/{table}.parquet" for table in tables]


def numbered(part):
    """Returns a part of the report as a category, which Snakemake's report sorts by name."""
    return f"{list(PARTS).index(part) + 1}. {part}"


def question_of(figure):
    """Returns the question that a figure answers."""
    return drawn(kind_of(figure)).asks
