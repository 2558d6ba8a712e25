"""Fuzzes the files of users: the YAML files of every published schema, and the tables.

    python -m tests.fuzz.configuration --seconds 60

Any content is accepted or ends in a KneepointError of one line, in bounded time and memory.
Hypothesis reduces an input that breaks this property, and prints it.
"""

import argparse
import codecs
import copy
import json
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError
from kneepoint.networks.config import FetchSettings
from kneepoint.runs.load import load_workflow
from tests.conftest import ROOT
from tests.experiments.listing import CATALOGUE
from tests.experiments.test_config import KINDS, write_files

_TIME_LIMIT_S = 30
_MEMORY_LIMIT_BYTES = 2 * 2**30
_MAX_CHARACTERS = 2100

_SCHEMAS = {
    **{"config.yaml": "config", "traces.yaml": "traces", "studies": "study", "repeats": "repeat"},
    **{"comparisons": "comparison", "traffic": "traffic", "networks": "network"},
    "published": "published",
}
"""The schema of each file, or of the files of each folder."""

_UNREAD = ("traffic/alone.yaml", "studies/confirm.yaml", "text/intro.md")
FILES: Mapping[tuple[str, str], Any] = {
    (kind, name): content
    for kind, described in KINDS.items()
    if kind != "parts"
    for name, content in described["files"].values()
    if content and name not in _UNREAD
}
"""The sound configurations of mistakes.yaml: the content of each file, by kind and name."""

_WORDS = (
    *("wire", "router", "fixed_window", "window", "windows", "printed", "again", "web", "alone"),
    *("power", "throughput_mbps", "kbit/s", "packets", "droptail:packets=100", "codel:target=5"),
    *("event-loop:wake_us=5", "network.delay_ms", "host_latency_us", "mahimahi", "2.5 Mbit/s"),
    *("here.down", "0" * 64, "https://example.org/t", "log(power)", "linux", "1", "1e3", "nan"),
    *("", " ", "x" * 5000, "../x", "/", "-x", "--upload-pack=x", "$(touch x)", "a b", "a\nb"),
    *("a\0b", "{x}", "ä", "\u2028", "\ufeff", "\U0001f600", "~nobody-of-this-name", "true"),
)
_NUMBERS = (2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308, 1e-320, float("inf"), float("nan"))
_PIECES = (
    *("[", "]", "{", "}", ":", ": ", "- ", "? ", "&a ", "*a", "<<: *a", "!!int ", "!x ", "---"),
    *("|", ">", "'", '"', "#", "%YAML", "\n", "\r", "\t", "  ", ",", ".inf", ".nan", "~", "yes"),
    *("2020-13-45", "12:60:60", "0x", "0b_", "0o9", "1_0", "_", "=", "<<", "!!float x", "\0", "٣"),
    *('"\\ud800"', '"\\0"', "1e999", "1e-999", "0e99999999999999999999", "&a [*a]", "!!binary x"),
    *("[" * 200, "- " * 200, "9" * 5000, "x" * 200_000, "!!timestamp x"),
)
_ENCODINGS: tuple[Callable[[bytes], bytes], ...] = (
    lambda text: codecs.BOM_UTF8 + text,
    lambda text: text.decode(errors="replace").encode("utf-16"),
    lambda text: text.decode(errors="replace").encode("utf-16-be"),
    lambda text: "é".encode("latin-1") + text,
    lambda text: text.replace(b"\n", b"\r"),
    lambda text: text.replace(b"\n", b"\r\n"),
)

_WAYS = ((True, 0, 0), (False, 1, 0), (True, 1, 0), (False, 2, 0), (False, 0, 1), (False, 0, 3))
"""Whether keys follow the schema, number of changes, number of pieces of other files."""

_words = st.sampled_from(_WORDS) | st.text(max_size=8)
_leaves = st.one_of(
    *(st.none(), st.booleans(), st.integers(-2, 12), st.floats(), st.sampled_from(_NUMBERS)), _words
)
_values = st.recursive(
    _leaves,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(_words, parts, max_size=3),
    max_leaves=5,
)
_pieces = st.sampled_from([each.encode() for each in _PIECES]) | st.binary(max_size=3)


def allowed(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Draws values that a schema of pydantic allows, as far as a schema expresses it.

    Args:
        schema: the schema, or a part of it.
        parts: its $defs.
    """
    if "$ref" in schema:
        return st.deferred(lambda: allowed(parts[schema["$ref"].rpartition("/")[2]], parts))
    if "anyOf" in schema:
        return st.one_of([allowed(each, parts) for each in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if schema.get("type") == "integer":
        return st.integers(low, high)
    if schema.get("type") == "number":
        return st.floats(low, high, allow_nan=False, allow_infinity=False)
    if schema.get("type") == "array":
        items = [allowed(each, parts) for each in schema.get("prefixItems", [])]
        if items:
            return st.tuples(*items).map(list)
        least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
        return st.lists(allowed(schema.get("items", {}), parts), min_size=least, max_size=most)
    if schema.get("type") == "object":
        keys = {key: allowed(each, parts) for key, each in schema.get("properties", {}).items()}
        needed = {key: keys.pop(key) for key in schema.get("required", [])}
        if keys or needed:
            return st.fixed_dictionaries(needed, optional=keys)
        value = schema.get("additionalProperties")
        return st.dictionaries(_words, allowed(value or {}, parts), max_size=3)
    kinds = {"string": _words, "boolean": st.booleans(), "null": st.none()}
    return kinds.get(schema.get("type", ""), _values)


@cache
def _documents(name: str) -> st.SearchStrategy[dict[str, Any]]:
    schema = json.loads((ROOT / f"config/schemas/{name}.json").read_text())
    return allowed(schema, schema.get("$defs", {}))


def _places(part: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the path to each proper part of a document."""
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part):
        yield (*place, key)
        if isinstance(inner, dict | list):
            yield from _places(inner, (*place, key))


@st.composite
def _changed(draw: st.DrawFn, content: Any) -> Any:
    """Returns a document with one part replaced, removed or renamed."""
    *way, last = draw(st.sampled_from([*_places(content)]))
    changed = copy.deepcopy(content)
    part = reduce(getitem, way, changed)
    removed = part.pop(last)
    name = last if draw(st.integers(0, 9)) else draw(_leaves)
    if isinstance(part, list):
        part.insert(last, draw(_values))
    elif draw(st.integers(0, 9)):
        part[name] = draw(_values) if name is last else removed
    return changed


@st.composite
def inputs(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """Draws a changed file of a sound configuration: its kind, name and content."""
    kind, name = draw(st.sampled_from(list(FILES)))
    content = FILES[kind, name]
    of_schema, changes, pieces = draw(st.sampled_from(_WAYS))
    if isinstance(content, dict):
        if of_schema:
            other = list(draw(_documents(_SCHEMAS[name.partition("/")[0]])).items())
            content = content | dict(other[: draw(st.integers(1, 3))])
        for _ in range(changes):
            content = draw(_changed(content)) if content else content
        content = yaml.safe_dump(content, default_flow_style=draw(st.booleans()), sort_keys=False)
    text: bytes = content.encode(errors="replace")
    for _ in range(pieces):
        start, length = draw(st.integers(0, len(text))), draw(st.sampled_from((0, 1, 3, 20)))
        piece = draw(_pieces | st.integers(2, 50).map(text[start : start + length].__mul__))
        text = text[:start] + piece + text[start + length :]
    if draw(st.integers(0, 19)) == 19:
        text = draw(st.sampled_from(_ENCODINGS))(text)
    return kind, name, text


def check(folder: Path) -> None:
    """Reads a configuration as the workflow does.

    Raises:
        KneepointError: the configuration is invalid.
    """
    config = folder / "config.yaml"
    read_config(config, FetchSettings)
    load_workflow(config).check_against(CATALOGUE)


def write_all(folder: Path) -> None:
    """Writes the sound configurations, each in the folder of its kind."""
    for kind in {kind for kind, _ in FILES}:
        write_files(folder / kind, kind)


def run_one(folder: Path, name: str, content: bytes) -> str | None:
    """Reads a sound configuration with another content of one file, and restores the file.

    Returns the message of the KneepointError, if there is one.

    Raises:
        AssertionError: the message is not one line of bounded length.
    """
    path = folder / name
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        with bounded():
            check(folder)
    except KneepointError as error:
        message = str(error)
        assert message.isprintable(), message
        assert str(folder) in message[: len(str(folder))], message
        assert len(message) < _MAX_CHARACTERS, message
        return message
    finally:
        path.write_bytes(before)
    return None


@contextmanager
def bounded() -> Iterator[None]:
    """Raises an exception if the block takes too much time or memory."""

    def expire(*_: object) -> None:
        raise TimeoutError(f"took more than {_TIME_LIMIT_S} s")

    handler = signal.signal(signal.SIGALRM, expire)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY_LIMIT_BYTES, limits[1]))
    signal.alarm(_TIME_LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGALRM, handler)


def fuzz(folder: Path, tries: int, **more: Any) -> int:
    """Tries inputs in a folder of sound configurations; returns the number of accepted inputs.

    Args:
        folder: the output of write_all.
        tries: number of inputs.
        more: further settings of Hypothesis.

    Raises:
        AssertionError: an input breaks the property; Hypothesis prints it.
    """
    sound = 0

    @settings(
        max_examples=tries,
        database=None,  # inputs that once broke the property are among the tests
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **more,
    )
    @given(inputs())
    def accepted_or_refused(drawn: tuple[str, str, bytes]) -> None:
        nonlocal sound
        kind, name, content = drawn
        sound += run_one(folder / kind, name, content) is None

    accepted_or_refused()
    return sound


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long (%(default)s)")
    end_s = time.monotonic() + parser.parse_args().seconds
    tried = sound = 0
    with TemporaryDirectory() as folder:
        write_all(Path(folder))
        while time.monotonic() < end_s:
            sound += fuzz(Path(folder), 200)
            tried += 200
    print(f"configuration: {tried} inputs, of which {sound} are sound; none breaks anything")


if __name__ == "__main__":
    main()
