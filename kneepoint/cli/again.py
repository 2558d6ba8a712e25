"""`kneepoint again`: repeats a run of the results and compares it with the recorded metrics."""

from pathlib import Path
from typing import Any

import click
import pyarrow.compute as pc

from kneepoint.cli import common_options, print_result, subcommand
from kneepoint.cli.runs import make_what_is_missing, run_once
from kneepoint.common.columns import columns
from kneepoint.common.errors import KneepointError
from kneepoint.common.made_by import require_as_written
from kneepoint.common.places import NETWORKS
from kneepoint.common.tables import read
from kneepoint.config.workflow import Workflow
from kneepoint.engines.base import COUNTS, RUN_METRICS, RunSpec
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import known_networks
from kneepoint.runs.job import Job
from kneepoint.runs.load import load_workflow
from kneepoint.runs.recorded import spec_of
from kneepoint.runs.results import RUNS

SHORTEST = 6
"""The minimum number of digits of an id, because fewer digits may match several runs."""
COMPARED = (*RUN_METRICS, *COUNTS)

Row = dict[str, Any]


@subcommand("""
    kneepoint again RUN_ID
    kneepoint again RUN_ID --json | jq .same
""")
@click.argument("run_id")
@common_options
def command(run_id: str, config: Path, as_json: bool) -> None:
    """Repeat the run RUN_ID of the results and compare it with the recorded metrics.

    RUN_ID is the id of a run in a table runs.parquet of the results, or its first digits; numbers
    in the report link to these ids. In virtual time, a repeated run has identical metrics, and the
    exit status is 1 if a metric differs. In real time, metrics vary from run to run. A run is not
    repeated if its controller, network or engine has changed since.
    """
    if len(run_id) < SHORTEST:
        raise KneepointError(f"{run_id}: too short; give at least {SHORTEST} digits of the id")
    workflow = load_workflow(config)
    recorded = _find(workflow, run_id)
    network = recorded["network"]
    networks = [network] if network in known_networks(config) else []
    make_what_is_missing(config, networks, [recorded["controller"]], where=f"run {run_id}")
    build = EMULATE.parent
    job = Job(workflow, load_catalogue(EMULATE), build, NETWORKS, workflow.results, cores=1)
    spec = spec_of(job, recorded)
    record = run_once(job.engine(recorded["engine"]), spec)
    pairs = {name: (recorded[name], getattr(record, name)) for name in COMPARED}
    same = record.status == recorded["status"] and all(a == b for a, b in pairs.values())
    described = {
        "run_id": spec.run_id,
        **{name: recorded[name] for name in ("study", "trial", "run", "engine", "seed")},
        "controller": spec.controller,
        "parameters": dict(spec.parameters),
        "network": spec.network.name,
        "traffic": recorded["traffic"],
        "recorded": {"status": recorded["status"], **{k: v for k, (v, _) in pairs.items()}},
        "again": {"status": record.status, **{k: v for k, (_, v) in pairs.items()}},
        "same": same,
    }
    text = _text(spec, recorded, pairs, same=same)
    print_result(described, text, as_json, ok=same or LIMITS[spec.engine].is_real_time)


def _find(workflow: Workflow, run_id: str) -> Row:
    """Returns the run whose id has this prefix.

    Raises:
        KneepointError: no run or several runs match.
    """
    found: dict[str, Row] = {}
    for path in sorted(workflow.results.glob("**/runs.parquet")):
        table = read(path, RUNS)
        rows = table.filter(pc.starts_with(table["run_id"], run_id)).to_pylist()
        if rows:
            require_as_written(path)
        found |= {row["run_id"]: row for row in rows}
    if not found:
        raise KneepointError(f"{workflow.results}: no run has an id that begins with {run_id}")
    if len(found) > 1:
        ids = ", ".join(sorted(each[:16] for each in found))
        raise KneepointError(f"{run_id}: several runs have such an id; give more digits: {ids}")
    return found.popitem()[1]


def _text(spec: RunSpec, row: Row, pairs: dict[str, tuple[Any, Any]], *, same: bool) -> str:
    parameters = ", ".join(f"{name} = {value:g}" for name, value in spec.parameters.items())
    head = (
        f"{spec.controller} on {spec.network.name}, {spec.engine}, seed {spec.seed}: "
        f"{row['study']}, trial {row['trial']}, run {row['run']}\n{parameters}"
    )
    rows = [("", "recorded", "again")]
    rows += [(name, f"{a:g}", f"{b:g}") for name, (a, b) in pairs.items() if None not in (a, b)]
    verdict = "the same to the last digit" if same else "not the same"
    return f"{head}\n\n{columns(rows)}\n\n{verdict}"
