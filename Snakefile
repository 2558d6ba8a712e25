# Builds the controllers, prepares networks, searches, repeats, audits, and writes the report.
#
#     snakemake --cores 2                                     everything of config/config.yaml
#     snakemake --cores 2 --configfile config/offline.yaml    without a network connection
#     snakemake --cores 2 results/<study>/study.json          one study
#     snakemake --cores 2 confirm                             real-time runs in real mahimahi

import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

from kneepoint.common import code
from kneepoint.networks.config import load_network, load_trace_catalogue, network_file
from kneepoint.networks.fetch import made_of
from kneepoint.common.files import keep_temporary_files, require_folder, sha256_of, write_whole
from kneepoint.common.project import enter, note_version, python_path, require_config_here
from kneepoint.common.locks import hold_workflow_lock
from kneepoint.common.places import BENCHMARKS, LOGS, PACKAGE, STATE
from kneepoint.common.made_by import RUNNER, read_made_by
from kneepoint.common.notes import (
    digest_of_input,
    is_sealed,
    settle,
    token,
)
from kneepoint.engines.built import (
    CORE,
    EMULATE,
    PROGRAMS,
    is_current,
    shared_object,
    source_of_controller,
    targets_of,
)
from kneepoint.engines.registry import DIAGNOSES
from kneepoint.common.job_errors import errors_of_jobs
from kneepoint.runs.check import load_checked
from kneepoint.runs.ray_executor import join
from kneepoint.common.errors import KneepointError, refuse
from kneepoint.common.interrupt import end_on_signals

# Rules pass the path of one configuration file to programs, so options on top would be lost.
if workflow.config_settings.config or len(workflow.overwrite_configfiles) > 1:
    refuse("give one --configfile and no --config: the programs read that file")
if workflow.cores is not None and workflow.cores < 1:
    refuse("--cores 0: no job could run; give at least 1, or all")
try:
    CONFIG = enter(Path(*workflow.overwrite_configfiles or [require_config_here("--configfile")]))
except KneepointError as error:
    refuse(error)
if re.search("[{}]", str(CONFIG.absolute())):
    place = CONFIG if re.search("[{}]", str(CONFIG)) else CONFIG.absolute()
    refuse(f"{place}: Snakemake does not support braces in paths; rename it")


workdir: Path.cwd()


# Validate the whole configuration before any work.
try:
    WORKFLOW, _ = load_checked(CONFIG)
    for folder in (STATE, LOGS, BENCHMARKS):
        require_folder(folder)
    note_version()
    TEMPORARY = keep_temporary_files("workflow")
except KneepointError as error:
    refuse(error)
RESULTS = WORKFLOW.results

OWN = WORKFLOW.own_sources

# Snakemake's own folder would outlive a killed process, and it is empty where jobs share its files.
with suppress(OSError):
    workflow.snakemake_tmp_dir.rmdir()

# Jobs ignore Ctrl-C; this process ends them and prints one message.
end_on_signals(TEMPORARY)
shell.prefix("trap '' INT; ")

# A job uses the `python`, `cmake` and `ninja` beside the Python that runs Snakemake, and one thread
# of linear algebra: jobs run side by side. The targets of the controllers are no parameter of
# build_core: other controllers are no reason to run it again.
os.environ.update(
    OPENBLAS_NUM_THREADS="1",
    PATH=f"{Path(sys.executable).parent}:{os.environ.get('PATH')}",
    KNEEPOINT_CORES=str(workflow.cores),
    KNEEPOINT_CONTROLLERS=" ".join(targets_of(WORKFLOW.controllers, OWN)),
    PYTHONPATH=python_path(),
)


report: PACKAGE / "workflow/captions/workflow.rst"


wildcard_constraints:
    controller=r"\w+",
    network=r"[a-z0-9_-]+",
    trace=r"[\w.-]+",


# The default profile disables Snakemake's own lock, which outlives a killed process.
onstart:
    global workflow_lock, cluster_lock
    # Again: Snakemake's own handler would wait for jobs that last hours.
    end_on_signals(TEMPORARY)
    try:
        workflow_lock = hold_workflow_lock()
        engines = {EXPERIMENTS[name].engine for name in wanted_in_real_time()}
        for engine in engines & DIAGNOSES.keys():
            DIAGNOSES[engine]()
        if WORKFLOW.settings.storage_url:
            from kneepoint.search.storage_copy import open_storage

            open_storage(WORKFLOW.settings.storage_url).engine.dispose()
        existing = join(WORKFLOW.ray_address) if WORKFLOW.ray_address else None
        cluster_lock = start_cluster(CLUSTER, workflow.cores, existing)
    except KneepointError as error:
        refuse(error)


# The report of `make confirm` includes the real results of this call, so that a plain call need not
# write it again.
onsuccess:
    if WORKFLOW.settings.storage_url:
        from kneepoint.search.storage_copy import write_to

        try:
            write_to(RESULTS, WORKFLOW.settings.storage_url)
        except KneepointError as error:
            refuse(error)
    if is_confirming():
        settle("real_results", REAL_TOKEN, digest_of(*REAL_MADE_BY))


# Print errors last, below Snakemake's list of job inputs.
onerror:
    print(*errors_of_jobs(log), sep="\n", file=sys.stderr)
    sys.exit(2)


include: PACKAGE / "workflow/common.smk"
include: PACKAGE / "workflow/experiments.smk"
include: PACKAGE / "workflow/build.smk"
include: PACKAGE / "workflow/traces.smk"
include: PACKAGE / "workflow/analysis.smk"
include: PACKAGE / "workflow/report.smk"


# Each experiment is a target of its own, so that deleted results are made again; a report that is
# still up to date would not request them.
rule all:
    default_target: True
    input:
        results_of(*names(False)),
        f"{RESULTS}/report.html",
        f"{RESULTS}/report.pdf",


rule probe:
    input:
        results_of(*(each.name for each in EXPERIMENTS.values() if each.phase == Phase.HOST)),


rule confirm:
    input:
        rules.all.input,
        results_of(*names(True)),
