"""Digests of jobs' inputs and outputs, by which the workflow detects changes.

The parameters of a job contain the digests of its inputs, which Snakemake compares with its record
of the last run. .kneepoint/written/NAME.json contains the digest of each output, and of the code
that wrote it, for results of which Snakemake has no record.
"""

import csv
import io
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kneepoint.common.code import digest_of_step
from kneepoint.common.config_file import read_yaml
from kneepoint.common.errors import unusable
from kneepoint.common.files import read_json, sha256_of, write_whole
from kneepoint.common.places import STATE

Paths = Iterable[str | Path]


def record_of(name: str) -> Path:
    """Returns the path of the record of a job's outputs."""
    return STATE / "written" / f"{name.strip('/')}.json"


def digest_of_input(path: Path) -> str:
    """Returns the digest of a file's content; "" for a missing file.

    Comments and formatting of YAML and CSV files do not count.
    """
    if not path.is_file():
        return ""
    content: Any
    if path.suffix == ".yaml":
        content = read_yaml(path)
    elif path.suffix == ".csv":
        content = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig", "replace"))))
    else:
        return sha256_of(path.read_bytes())
    return sha256_of(json.dumps(content).encode())


def seal(name: str, files: Paths, *modules: str) -> None:
    """Records the digests of a job's outputs, and of the modules that wrote them."""
    written = {str(path): sha256_of(Path(path).read_bytes()) for path in files}
    record = {"modules": modules, "code_sha256": digest_of_step(*modules), "files": written}
    write_whole(record_of(name), json.dumps(record, indent=1) + "\n")


def is_sealed(name: str) -> bool:
    """Returns whether a job's outputs are unchanged, and written by this code.

    Without a record of the job the answer is True.
    """
    try:
        record = read_json(record_of(name))
        if record["code_sha256"] != digest_of_step(*record["modules"]):
            return False
        return all(_digest_of(Path(path)) == digest for path, digest in record["files"].items())
    except FileNotFoundError:
        return True
    except (AttributeError, KeyError, ModuleNotFoundError, OSError, TypeError, ValueError):
        return False


def require_sealed(name: str, path: Path) -> None:
    """Raises KneepointError if a file differs from the digest in the record of its job, if any."""
    try:
        digest = read_json(record_of(name))["files"][str(path)]
    except (KeyError, OSError, TypeError, ValueError):  # without a record; Snakemake uses is_sealed
        return
    if _digest_of(path) not in ("", digest):
        raise unusable(path, "it has changed since it was written")


def _digest_of(path: Path) -> str:
    """Returns the digest of a file's bytes; "" for a missing file."""
    return sha256_of(path.read_bytes()) if path.is_file() else ""


def token(name: str, digest: str) -> str:
    """Returns a word that changes with a digest; records both in .kneepoint/NAME."""
    try:
        word, _, known = (STATE / name).read_text().partition(" ")
    except (OSError, ValueError):
        known = ""
    if known != digest:
        word = str(time.time_ns())
        settle(name, word, digest)
    return word


def settle(name: str, word: str, digest: str) -> None:
    """Assigns a word to a new digest, so that files that depend on the word remain up to date."""
    write_whole(STATE / name, f"{word} {digest}")
