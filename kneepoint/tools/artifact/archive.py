"""The artifact of a report: an RO-Crate 1.1 in a zip archive, the same bytes for the same results.

It contains the report, its tables and their inputs, and the claims with the commands that check
them, for an artifact committee. Traces are not part of the archive, which lists their addresses and
digests.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rocrate.model import ContextEntity, Person
from rocrate.rocrate import ROCrate

from kneepoint.analysis.frames import Record, records
from kneepoint.analysis.schema import TABLES, tables_in
from kneepoint.common.config_file import parse_yaml
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import private_folder, read_json, sha256_of, write_whole
from kneepoint.common.made_by import NAME as MADE_BY
from kneepoint.common.places import TOOL
from kneepoint.config.workflow import Workflow
from kneepoint.networks.config import load_trace_catalogue
from kneepoint.reports.provenance import input_files
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of
from kneepoint.tools.artifact.claims import claims

_REPORTS = ("report.html", "report.pdf", "provenance.json")
_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
}
_MADE = {
    "claims.csv": "The claims of the report, with the command that checks each",
    "README.md": "How to rerun the report and check its claims, which it lists",
}
_LICENCE = "https://spdx.org/licenses/MIT"
_OLDEST = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive can state."""


def write_artifact(config: Path, into: Path) -> None:
    """Writes the archive.

    Raises:
        KneepointError: the report is missing, or results or configuration have changed since.
    """
    workflow = load_workflow(config)
    provenance = _provenance(workflow)
    own = workflow.settings.report
    title = own.title if own else "Congestion control on emulated links"
    found = claims(tables_in(workflow.results), provenance["config"])
    files = {name: path.read_bytes() for name, path in sorted(_files(workflow).items())}
    files["claims.csv"] = found.to_csv(index=False, lineterminator="\n").encode()
    files["README.md"] = _readme(title, provenance, found).encode()
    with private_folder("crate") as folder:
        _crate(workflow, provenance, title, files).metadata.write(folder)
        files["ro-crate-metadata.json"] = next(folder.iterdir()).read_bytes()
    write_whole(into, _zipped(files))


def _provenance(workflow: Workflow) -> Mapping[str, Any]:
    """Returns the report's provenance; requires that the report is complete and up to date."""
    folder = workflow.results
    for name in _REPORTS:
        if not (folder / name).is_file():
            raise KneepointError(f"{folder / name}: no report yet; `kneepoint report` makes it")
    for name, experiment in experiments_of(workflow).items():
        if not experiment.needs_confirm and not (folder / name / MADE_BY).is_file():
            raise KneepointError(f"{folder / name}: not finished; `kneepoint report` finishes it")
    provenance: Mapping[str, Any] = read_json(folder / "provenance.json")
    made_of = {
        f"{folder / each['name']}/runs.parquet": each["runs_sha256"]
        for each in provenance["results"]
    }
    for name, path in input_files(workflow).items():
        made_of[str(path)] = provenance["sha256"].get(name, "")
    for made, digest in made_of.items():
        if not Path(made).is_file() or sha256_of(Path(made).read_bytes()) != digest:
            raise KneepointError(
                f"{made}: differs from the report's input; `kneepoint report` updates the report"
            )
    return provenance


def _files(workflow: Workflow) -> dict[str, Path]:
    """Returns the archived files by their paths in the archive."""
    folder = workflow.results
    found = [folder / name for name in _REPORTS]
    found += [path for name in TABLES if (path := folder / f"{name}.parquet").is_file()]
    found += [*folder.glob("tables/*.csv"), *folder.glob("figures/*/*.svg")]
    for name in experiments_of(workflow):
        found += [*(folder / name).glob("*.parquet"), *(folder / name).glob("*.json")]
    return {
        **{name: TOOL / name for name in ("LICENSE", "CITATION.cff")},
        **{f"results/{path.relative_to(folder)}": path for path in found},
        **input_files(workflow),
    }


def _readme(title: str, provenance: Mapping[str, Any], found: pd.DataFrame) -> str:
    listed = "\n".join(f"| {' | '.join(_cells(row))} |" for row in records(found))
    return f"""# {title}

`results/report.html` and `results/report.pdf` are the report. `results/` has its tables, and
`results/provenance.json` the versions and digests of its inputs. `ro-crate-metadata.json` describes
every file.

## Rerun it

In Kneepoint's repository at commit {provenance["commit"] or "(not recorded)"}, with the files of
this archive beside it:

    {provenance["command"]}

The command fetches the traces, whose digests are in `ro-crate-metadata.json`, and makes the same
tables, byte for byte, on any machine. Wall times and runs in real time differ.

## Claims

The value that a command prints must lie within the tolerance. Each claim names its part of the
report and rests on the table `results/TABLE.parquet`. `kneepoint again RUN_ID` repeats any run.

| claim | part of the report | table | value | tolerance | command |
| --- | --- | --- | --- | --- | --- |
{listed}
"""


def _cells(row: Record) -> Iterator[str]:
    unit = f" {row['unit']}" if row["unit"] else ""
    values = [f"{row[name]:.6g}" for name in ("value", "low", "high")]
    tolerance = "exact" if row["low"] == row["high"] else f"{values[1]} to {values[2]}{unit}"
    tolerance = f"above {values[1]}" if values[2] == "inf" else tolerance
    text = (row["claim"], row["part"], row["table"], f"{values[0]}{unit}", tolerance)
    yield from (each.replace("|", r"\|") for each in (*text, f"`{row['command']}`"))


def _crate(
    workflow: Workflow, provenance: Mapping[str, Any], title: str, files: Mapping[str, bytes]
) -> ROCrate:
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms = {"sha256": "https://schema.org/sha256"}
    crate.name = title
    crate.description = "A report on congestion control on emulated links, with its inputs."
    crate.datePublished = provenance["committed"] or "1980-01-01"
    licence = {"@type": "CreativeWork", "name": "MIT License", "url": _LICENCE}
    crate.license = crate.add(ContextEntity(crate, _LICENCE, licence))
    citation = parse_yaml(files["CITATION.cff"].decode(), Path("CITATION.cff"))
    own = workflow.settings.report
    authors = own.authors if own and own.authors else [each["name"] for each in citation["authors"]]
    people = [
        crate.add(Person(crate, f"#author-{number}", {"name": name}))
        for number, name in enumerate(authors, 1)
    ]
    crate.root_dataset["author"] = people if len(people) > 1 else people[0]
    entities = {
        name: crate.add_file(io.BytesIO(content), name, properties=_described(name, content))
        for name, content in files.items()
    }
    inputs = [entity for name, entity in entities.items() if not name.startswith("results/")]
    program = {
        "@type": "SoftwareApplication",
        "name": citation["title"],
        "version": provenance["commit"] or citation["version"],
        "license": crate.license,
    }
    rerun = {
        "@type": "CreateAction",
        "name": "The report",
        "description": provenance["command"],
        "instrument": crate.add(ContextEntity(crate, "#kneepoint", program)),
        "object": [*inputs, *_traces(crate, workflow)],
        "result": [entities[f"results/{name}"] for name in _REPORTS],
    }
    crate.root_dataset["mentions"] = crate.add(ContextEntity(crate, "#rerun", rerun))
    return crate


def _described(name: str, content: bytes) -> dict[str, Any]:
    kind = _TYPES.get(Path(name).suffix, "text/plain")
    table = TABLES.get(Path(name).stem) if name.count("/") == 1 and "results/" in name else None
    said = table.meaning if table else _MADE.get(name)
    return {
        "name": name,
        "encodingFormat": kind,
        "contentSize": str(len(content)),
        "sha256": sha256_of(content),
        **({"description": said} if said else {}),
    }


def _traces(crate: ROCrate, workflow: Workflow) -> Iterator[ContextEntity]:
    """Lists the traces, which others publish, by address and digest."""
    catalogue = load_trace_catalogue(workflow.path)
    source = workflow.settings.traces
    for name in sorted({each for n in workflow.networks.values() for each in n.trace_names}):
        digest = {"@type": "CreativeWork", "name": name, "sha256": catalogue[name].sha256}
        if source.source != "folder":
            digest["url"] = f"{source.git_url}/raw/{source.git_commit}/traces/{name}"
        yield crate.add(ContextEntity(crate, f"#trace-{name}", digest))


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _OLDEST)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()
