"""Fuzzes what a user writes: the YAML files of every model, and the tables.

    python -m tests.fuzz.configuration --seconds 60

Whatever the files hold, they are accepted or end in one KneepointError of one line, in bounded time
and memory. An input that breaks this is written to the terminal with the seed that made it.
"""

import argparse
import codecs
import itertools
import random
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError
from kneepoint.networks.config import FetchSettings
from kneepoint.runs.load import load_workflow
from tests.experiments.listing import CATALOGUE

_TIME_LIMIT_S = 30
_MEMORY_LIMIT_BYTES = 2 * 2**30
_MOST_CHARACTERS = 2100

_WINDOW = {"controller": "fixed_window", "parameters": {"window": 12}}
FILES: Mapping[str, Any] = {
    "config.yaml": {
        "seed": 1,
        "results": "results",
        "cache": "cache",
        "traces": {"source": "auto", "folder": "traces", "git_url": "https://example.org/t"},
        "studies": ["replay", "tuned", "fitted"],
        "repeats": ["again"],
        "hold_out": {"training": "wire", "networks": ["radio"], "repeats": 2},
        "showcase": {**_WINDOW, "network": "wire"},
        "real_time": {"busy_us": 1000, "probe": {**_WINDOW, "network": "wire", "duration_s": 2}},
        "confirm": {
            "network": "wire",
            "settings": [_WINDOW],
            "calibration": {"windows": [5, 10], "host": {"wake_us": {"values": [1, 2]}}},
        },
    },
    "traces.yaml": {"a.down": {"sha256": "0" * 64}, "a.up": {"sha256": "1" * 64}},
    "studies/replay.yaml": {
        "title": "Replay",
        "controller": "fixed_window",
        "networks": ["wire"],
        "table": "printed",
        "compare": ["printed"],
    },
    "studies/tuned.yaml": {
        "title": "Tuned",
        "controller": "fixed_window",
        "networks": ["wire"],
        "space": {"window": {"low": 1, "high": 100, "log": True}},
        "sampler": {"kind": "tpe", "trials": 20, "startup_trials": 5},
        "objective": {"power": "mean_log"},
        "runs_per_trial": 2,
    },
    "studies/fitted.yaml": {
        "title": "Fitted",
        "controller": "fixed_window",
        "networks": ["wire"],
        "host": {"host_latency_us": {"low": 0, "high": 900}},
        "objective": {"fit": ["printed"], "robust": False},
        "sampler": {"kind": "golden"},
    },
    "repeats/again.yaml": {
        "title": "Again",
        "network": "wire",
        "repeats": 3,
        "settings": [_WINDOW],
        "published": [
            {"setting": 0, "metric": "power", "mean": 9.5, "step": 0.1, "source": "a report"}
        ],
    },
    "networks/wire.yaml": {
        "title": "Wire",
        "uplink": {"constant_mbps": 12},
        "downlink": {"synthetic": {"seed": 1, "duration_s": 9, "start_rate_mbps": 1}},
        "duration_s": 10,
        "uplink_queue": "droptail:packets=100",
        "host_model": "event-loop:wake_us=5",
    },
    "networks/radio.yaml": {
        "title": "Radio",
        "uplink": {"trace": "a.down", "cut": {"start_s": 1, "end_s": 9}, "sha256": "2" * 64},
        "downlink": {"trace": "a.up"},
    },
    "published/printed.yaml": {
        "source": "Report 9, Table 1",
        "controller": "fixed_window",
        "network": "wire",
        "parameters": {"keepalive_ms": 1000},
        "unstated": {"keepalive_ms": "its author's code"},
        "columns": {
            "window": {"parameter": "window", "unit": "packets"},
            "kbps": {"metric": "throughput_mbps", "unit": "kbit/s"},
        },
        "ignore": ["note"],
    },
    "published/printed.csv": "window,kbps,note\n5,1050,\n,12.5,no parameters\n10,1930,no power\n",
}
FILES["networks/wire.yaml"]["downlink"]["synthetic"]["max_rate_mbps"] = 2

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1.5, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308, 1e-320),
    *(float("inf"), float("-inf"), float("nan"), "", " ", "x", "1", "1e3", "nan", "true", "null"),
    *("x" * 5000, "../x", "/", "-x", "--upload-pack=x", "$(touch x)", "a b", "a\nb", "a\0b", "{x}"),
    *("ä", "\u2028", "\ufeff", "\U0001f600", "~nobody-of-this-name", "window", "wire", "printed"),
    *([], [[]], [None], ["x"], [1, 1], ["wire", "wire"], {}, {"x": 1}, {"low": 1}, {"values": [1]}),
    *({"low": 2, "high": 1}, {"a\nb": 1}, {"kind": "grid"}, {"fit": 3}, "power", "mahimahi"),
)
_WORDS = (
    *("[", "]", "{", "}", ":", ": ", "- ", "? ", "&a ", "*a", "<<: *a", "!!int ", "!x ", "---"),
    *("|", ">", "'", '"', "#", "%YAML", "\n", "\r", "\t", "  ", ",", ".inf", ".nan", "~", "yes"),
    *("2020-13-45", "12:60:60", "0x", "0b_", "0o9", "1_0", "_", "=", "<<", "!!float x", "\0", "٣"),
    *('"\\ud800"', '"\\0"', "1e999", "1e-999", "0e99999999999999999999", "&a [*a]", "!!binary x"),
    *("[" * 200, "- " * 200, "9" * 5000, "x" * 200_000, "!!timestamp x"),
)
_TOKENS = (*(word.encode() for word in _WORDS), b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xc3")


def check(folder: Path) -> None:
    """Reads a configuration as the workflow does.

    Raises:
        KneepointError: something in it is wrong.
    """
    config = folder / "config.yaml"
    read_config(config, FetchSettings)
    load_workflow(config).check_against(CATALOGUE)


def write_all(folder: Path) -> None:
    """Writes the sound configuration that is mutated."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))


def run_one(folder: Path, name: str, content: bytes) -> str | None:
    """Puts other content into one file of a sound configuration, and takes it back.

    Returns the message of the KneepointError, if there is one.

    Raises:
        AssertionError: the message is not one line of bounded length.
    """
    path = folder / name
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        check(folder)
    except KneepointError as error:
        message = str(error)
        assert message.isprintable(), message
        assert str(folder) in message[: len(str(folder))], message
        assert len(message) < _MOST_CHARACTERS, message
        return message
    finally:
        path.write_bytes(before)
    return None


def mutate(seed: int) -> tuple[str, bytes]:
    """Returns the file and the content that a seed stands for."""
    generator = random.Random(seed)
    name = generator.choice(list(FILES))
    content = FILES[name]
    if isinstance(content, str):
        text = content.encode()
    else:
        if generator.random() < 0.6:
            for _ in range(generator.randint(1, 3)):
                content = _with_change(generator, content)
        text = yaml.safe_dump(
            content, default_flow_style=generator.random() < 0.3, sort_keys=False
        ).encode()
    if generator.random() < 0.6:
        for _ in range(generator.randint(1, 4)):
            text = _with_other_bytes(generator, text)
    return name, generator.choice(_ENCODINGS)(text) if generator.random() < 0.05 else text


def _with_change(generator: random.Random, content: Any) -> Any:
    """Replaces, removes or adds something at a random place."""
    if isinstance(content, dict) and content and generator.random() < 0.85:
        key = generator.choice(list(content))
        changed = dict(content)
        choice = generator.random()
        if choice < 0.1:
            del changed[key]
        elif choice < 0.2:
            other = generator.choice([*_VALUES[:24], str(key).upper(), str(key)[:-1], "x" * 300])
            changed[other] = changed.pop(key)
        else:
            changed[key] = _with_change(generator, content[key])
        return changed
    if isinstance(content, list) and content and generator.random() < 0.7:
        at = generator.randrange(len(content))
        return [*content[:at], _with_change(generator, content[at]), *content[at + 1 :]]
    return generator.choice(_VALUES)


def _with_other_bytes(generator: random.Random, text: bytes) -> bytes:
    start = generator.randint(0, len(text))
    end = min(len(text), start + generator.choice([0, 0, 1, 3, 20]))
    if generator.random() < 0.15:
        return text[:start] + text[start:end] * generator.randint(2, 50) + text[end:]
    return text[:start] + generator.choice(_TOKENS) + text[end:]


_ENCODINGS: tuple[Callable[[bytes], bytes], ...] = (
    lambda text: codecs.BOM_UTF8 + text,
    lambda text: text.decode(errors="replace").encode("utf-16"),
    lambda text: text.decode(errors="replace").encode("utf-16-be"),
    lambda text: "é".encode("latin-1") + text,
    lambda text: text.replace(b"\n", b"\r"),
    lambda text: text.replace(b"\n", b"\r\n"),
)


@contextmanager
def bounded() -> Iterator[None]:
    """Ends whatever takes too long or too much memory with an exception."""

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


def fuzz(folder: Path, seeds: Iterator[int], goes_on: Callable[[int], bool]) -> tuple[int, int]:
    """Tries seeds as long as `goes_on` says of their number so far; returns it, and of the sound.

    Raises:
        AssertionError: a seed breaks the property; the message has it and its input.
    """
    write_all(folder)
    sound = tried = 0
    while goes_on(tried):
        seed = next(seeds)
        name, content = mutate(seed)
        try:
            with bounded():
                sound += run_one(folder, name, content) is None
        except (Exception, RecursionError) as error:
            shown = content if len(content) < 2000 else content[:2000] + b"..."
            raise AssertionError(f"seed {seed}: {name}: {shown!r}: {error!r}") from error
        tried += 1
    return tried, sound


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long (%(default)s)")
    parser.add_argument("--seed", type=int, help="the first seed (the time)")
    arguments = parser.parse_args()
    first = time.time_ns() if arguments.seed is None else arguments.seed
    print(f"configuration: seeds from {first}", flush=True)
    deadline = time.monotonic() + arguments.seconds
    with TemporaryDirectory() as folder:
        tried, sound = fuzz(
            Path(folder), itertools.count(first), lambda _: time.monotonic() < deadline
        )
    print(f"configuration: {tried} inputs, of which {sound} are sound; none breaks anything")


if __name__ == "__main__":
    main()
