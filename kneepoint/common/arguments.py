"""Checks arguments of commands and `make`: a configuration, a number of cores, an output file."""

import os
import re
from difflib import get_close_matches
from pathlib import Path

from kneepoint.common.errors import KneepointError


def require_config(config: Path, where: str) -> None:
    """Raises KneepointError unless a configuration is a file; `where` names the argument."""
    if config.is_file():
        return
    if config.is_dir():
        folders, problem = [config], "is a folder; name the file in it"
    elif not config.parent.is_dir():
        folders, problem = [Path("config")], f"there is no folder {config.parent}"
    else:
        folders = list(dict.fromkeys((config.parent, Path("config"))))
        problem = "there is no such file"
    found = [path for folder in folders for path in sorted(folder.glob("*.yaml"))]
    by_name = {path.stem: str(path) for path in reversed(found) if path.name != "traces.yaml"}
    near = get_close_matches(config.stem, by_name, n=1) if config.parent in folders else []
    known = ", ".join(sorted(by_name.values())) or "none"
    remedy = f"did you mean {by_name[near[0]]!r}?" if near else f"known: {known}"
    raise KneepointError(f"{where} {config}: {problem}; {remedy}")


def require_cores(cores: str, where: str) -> None:
    """Raises KneepointError unless cores are `all` or at least 1; `where` names the argument."""
    if not re.fullmatch("all|0*[1-9][0-9]*", cores):
        raise KneepointError(f"{where} {cores}: not a number of cores; give all, or at least 1")


def require_place(path: Path, where: str) -> None:
    """Creates the folder of an output file; `where` names the argument.

    Raises:
        KneepointError: the folder cannot be created, or the file cannot be written.
    """
    if path.is_dir():
        raise KneepointError(f"{where} {path}: is a folder; name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the folder {path.parent} cannot be created ({error.strerror})"
        raise KneepointError(f"{where} {path}: {problem}; name another") from None
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise KneepointError(f"{where} {path}: not writable; name another file")
