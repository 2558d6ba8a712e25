"""Follows a page of the documentation as a reader would: commands, files and changes, in order.

A fenced block of `sh` is run. Any other block follows a sentence that ends in "save this as
`PATH`:" (a file), "add to `PATH`:" (keys at the end of a YAML file that has none of them) or
"change in `PATH`:" (lines of a diff).
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LEAD = re.compile(r"\b(save (?:this|it) as|add to|change in) `([^`]+)`:$", re.IGNORECASE)
_DOES: Mapping[str, Literal["save", "add", "change"]] = {
    "save this as": "save",
    "save it as": "save",
    "add to": "add",
    "change in": "change",
}


@dataclass(frozen=True)
class Step:
    """A step of the reader: runs `text`, or applies it to the file `path`."""

    does: Literal["run", "save", "add", "change"]
    text: str
    path: str = ""
    line: int = 0


def steps_of(page: Path) -> Iterator[Step]:
    """Yields the steps of a page; raises ValueError at a block without an instruction."""
    text, end = page.read_text(encoding="utf-8"), 0
    for block in _FENCE.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        lead = _LEAD.search(" ".join(text[end : block.start()].split()))
        end = block.end()
        if block[1] == "sh":
            yield Step("run", block[2], line=line)
        elif lead:
            yield Step(_DOES[lead[1].lower()], block[2], lead[2], line)
        else:
            raise ValueError(f"{page.name}, line {line}: says not what to do with the block")


def follow(page: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[Step]:
    """Yields each step, then executes it in a folder; commands keep their folder and variables.

    Raises:
        AssertionError: a command fails, or a change does not apply.
    """
    state = folder / ".state"
    state.write_text(f"cd {folder}\n")
    for step in steps_of(page):
        yield step
        where = f"{page.name}, line {step.line}"
        here = Path(_run(state, "pwd", environment, where).strip())
        if step.does == "run":
            _run(state, step.text, environment, where)
        elif step.does == "save":
            (here / step.path).parent.mkdir(parents=True, exist_ok=True)
            (here / step.path).write_text(step.text)
        elif step.does == "add":
            old = (here / step.path).read_text()
            twice = {*yaml.safe_load(old)} & {*yaml.safe_load(step.text)}
            assert not twice, f"{where}: {step.path} has {', '.join(twice)} already"
            (here / step.path).write_text(f"{old}\n{step.text}")
        else:
            _change(here / step.path, step.text, where)


def _run(state: Path, text: str, environment: Mapping[str, str], where: str) -> str:
    script = f"set -eu\n. {state}\n{text}\n{{ echo cd $PWD; export -p; }} > {state}\n"
    done = subprocess.run(
        ["bash", "-c", script],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{where}:\n{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _change(path: Path, diff: str, where: str) -> None:
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text()
    assert text.count(old) == 1, f"{where}: fits {text.count(old)} places of {path.name}:\n{old}"
    path.write_text(text.replace(old, new))
