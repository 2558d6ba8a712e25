# What the engines need, and how their jobs are followed.


def built(*controllers):
    """Returns what a job needs of the controllers that it runs."""
    return [str(shared_object(name)) for name in sorted(set(controllers))]


STUDIES, REPEATS = WORKFLOW.of_engine("emulator")
REAL_STUDIES, REAL_REPEATS = WORKFLOW.of_engine("mahimahi")
REAL_PROGRAMS = ["build/sender", "build/receiver", "build/measure", "build/keep_awake"]
EMULATE_INPUT = ["build/emulate"]
REAL_INPUT = [*EMULATE_INPUT, *REAL_PROGRAMS]


def code_of(step):
    """Returns a file that changes when the code does by which `python -m STEP` computes."""
    return code.note(step, code.digest_of_step(step))


def prepared(*networks):
    """Returns the files of prepared networks."""
    files = ["network.json", "uplink.trace", "downlink.trace"]
    return expand("build/networks/{network}/{file}", network=networks, file=files)


def needs_of(engine, *controllers):
    """Returns what a job on an engine needs: the emulator always, for it lists the controllers."""
    if engine == "emulator":
        return [*EMULATE_INPUT, *built(*controllers)]
    probe = [f"{RESULTS}/probe/probe.json"] if WORKFLOW.probe else quiet()
    return [*REAL_INPUT, *built(*controllers), *probe]


def host_of(engine):
    """Returns how the host serves an engine: what a change of it touches is run again."""
    real_time = WORKFLOW.settings.real_time
    return None if engine == "emulator" else f"{real_time.busy_us} {real_time.keep_awake}"


def runs_of(job):
    """Returns the number of runs of a study or a repeat; None where the search ends by itself."""
    if job in WORKFLOW.repeats.values():
        return job.repeats * len(job.settings)
    tables = [job.table] if job.table else job.objective.fit
    return job.count_runs(sum(len(WORKFLOW.tables[table].replayable) for table in tables))


def executor_of(job):
    """Returns what executes a study or a repeat.

    Without Ray 300 runs of the emulator end before a job has attached to Ray, and a search that
    asks for a few runs at a time would wait for Ray each time.
    """
    runs = runs_of(job)
    is_short = runs is not None and runs <= 300
    return "serial" if job.engine == "emulator" and is_short else "ray"


def say(engine, log):
    """Returns where a job's words go: those of a job in real time to the terminal, too."""
    return f"> {log} 2>&1" if engine == "emulator" else f"> >(tee {log}) 2>&1"


def is_confirming():
    """Returns whether real runs are asked for, with everything that needs them."""
    return "confirm" in workflow.dag_settings.targets


def quiet():
    """Returns what is to be done before real runs that are asked for: they want a quiet machine."""
    if not is_confirming():
        return []
    folders = [*STUDIES, *(f"repeats/{name}" for name in REPEATS)]
    folders += ["hold_out"] if WORKFLOW.hold_out else []
    folders += ["showcase"] if WORKFLOW.showcase else []
    return made(*folders)


def made(*folders):
    """Returns what says of folders of results that they are complete."""
    return [f"{RESULTS}/{folder}/made_by.json" for folder in folders]


# Real runs by themselves, and what is made of them.
REAL_RUNS = [
    *(["probe"] if WORKFLOW.probe else []),
    *(["confirm"] if WORKFLOW.confirm else []),
    *(["real_showcase"] if WORKFLOW.showcase else []),
    *REAL_STUDIES,
    *(f"repeats/{name}" for name in REAL_REPEATS),
]
REAL_RESULTS = [*REAL_RUNS, *(["calibration", "again"] if WORKFLOW.confirm else [])]
# The report takes in what is there of them, and asks nobody to make it.
REAL_NOTE = code.note("real_results", code.digest_of_files(made(*REAL_RESULTS)))
