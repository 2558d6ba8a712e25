"""The Python side: exercises, links, and the parts of the page."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from kneepoint.cli import kneepoint
from kneepoint.common.config_file import check_config, names_in, read_config
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import BUILT, SHIPPED
from kneepoint.common.programs import run_built
from kneepoint.engines.built import EMULATE, MODULE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.networks.config import Synthetic
from kneepoint.search.language import ARGUMENTS, OUTPUTS, SIGNALS, parse
from kneepoint.tools.playground import library, page
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.library import FOLDER, read_library
from kneepoint.tools.playground.links import shipped_links
from kneepoint.tools.playground.page import make_page
from kneepoint.tools.playground.rules import EXAMPLES, words
from tests.search.test_rules import LAW
from tests.tools.playground.conftest import TASK


@pytest.mark.parametrize("name", names_in(SHIPPED / "exercises"))
def test_shipped_exercises_are_valid(name: str) -> None:
    exercise = read_config(SHIPPED / f"exercises/{name}.yaml", Exercise)
    exercise.check_controllers(load_catalogue(EMULATE), name)
    assert exercise.start.set.keys() <= {*(exercise.parameters or exercise.start.set)}
    assert exercise.for_page()["text"].startswith("<p>")


def test_exercise_becomes_html_and_changed_keys() -> None:
    shown = check_config(TASK, Exercise, Path("e.yaml")).for_page()
    assert "<strong>Find</strong>" in shown["text"] and "<script" not in shown["text"]
    assert shown["start"] == TASK["start"]
    assert shown.keys() == TASK.keys() and shown["goals"] == ({"metric": "power", "at_least": 3},)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"goals": [{"metric": "power"}]}, "at_least"),
        ({"goals": [{"metric": "power", "at_least": 1, "at_most": 2}]}, "at_most"),
        ({"goals": [{"metric": "speed", "at_least": 1}]}, "metric"),
        ({"goals": []}, "goals"),
        ({"goals": [{"metric": "power", "beats": {"seed": 2}}]}, "controller"),
        ({"controllers": ["cubic"]}, "fixed_window"),
        ({"start": {"lnk": "constant"}}, "lnk"),
        ({"start": {"set": {"window": "much"}}}, "window"),
        ({"start": {"b": "reno"}}, "reno"),
        ({"start": {"link": "synthetic-slov"}}, "synthetic-slow"),
        ({"start": {"link": "file", "uplink": "trace"}}, "SHA-256"),
        ({"start": {"queue": "droptail:packet=9"}}, "packets"),
        ({"start": {"delay_ms": 0.5}}, "delay_ms"),
        ({"start": {"seed": 2**53}}, "seed"),
        ({"hidden": {"loss": 2}}, "loss"),
        ({"hidden": {"rule": "w = w", "controller": "rule"}}, "hidden"),
        ({"start": {"controller": "reno", "rule": "w = w"}}, "rule is for"),
        ({"start": {"controller": "rule", "rule": "w = x"}}, "start.rule.*x is neither"),
        ({"start": {"controller": "rule", "rule": "w = 5", "set": {"number_0": 6}}}, "number_0"),
        ({"hidden": {"host_model": "events"}}, "event-loop"),
        ({"hidden": {"set": {"window": 2}}}, "hidden: .*set"),
    ],
)
def test_wrong_exercises_are_refused_in_one_line(change: dict[str, Any], named: str) -> None:
    with pytest.raises(KneepointError, match=named) as refused:
        check_config(TASK | change, Exercise, Path("e.yaml"))
    assert str(refused.value).startswith("e.yaml") and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"controllers": ["fixed_window", "renoo"]}, "controllers: .*renoo"),
        ({"parameters": ["windo"]}, "parameters: .*windo"),
        ({"start": {"set": {"windo": 5}}}, "start: .*windo"),
        ({"start": {"set": {"window": -5}}}, "start: .*window = -5"),
        ({"start": {"sweep": "windo"}}, "start: sweep: .*windo"),
        ({"start": {"b": "timely", "b_set": {"window": 5}}}, "start: .*timely.*window"),
        ({"start": {"controller": "abc"}, "controllers": ["abc"]}, "start: .*marks"),
        ({"hidden": {"beside": "renoo"}}, "hidden: .*renoo"),
        (
            {"goals": [{"metric": "power", "beats": {"controller": "reno", "set": {"x": 1}}}]},
            "goals.0.beats: .*'x'",
        ),
    ],
)
def test_no_page_is_written_with_what_the_emulator_does_not_have(
    change: dict[str, Any], named: str, tmp_path: Path
) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(yaml.safe_dump(TASK | change))
    options = ["playground", "--into", str(tmp_path / "pages"), "--exercise", str(file)]
    answer = CliRunner().invoke(kneepoint, options)
    assert answer.exit_code != 0 and not (tmp_path / "pages").exists()
    assert re.match(f"{re.escape(str(file))}: {named}", str(answer.exception))


def test_links_are_the_shipped_synthetic_ones() -> None:
    files = sorted((SHIPPED / "networks").glob("synthetic*.yaml"))
    assert [link["name"] for link in shipped_links()] == [file.stem for file in files]


def test_words_of_a_link_make_the_trace_of_its_network() -> None:
    link = Synthetic(seed=1, duration_s=2, start_rate_mbps=1, max_rate_mbps=3)
    program = BUILT / "synthesize"
    if not program.is_file():
        pytest.skip("NOT TESTED: no program; run `make build`")
    assert link.options[:4] == ["--seed", "1", "--duration-s", "2.0"]
    made, status, complaint = run_built(program, *link.options)
    assert (status, complaint) == (0, "") and made.endswith(b"\n2000\n")


def test_the_editor_knows_examples_and_the_words_of_the_language() -> None:
    *short, found = EXAMPLES.values()
    assert found == LAW.strip()
    assert all(parse(rule).operators < parse(found).operators for rule in short)
    told = " ".join(words())
    assert all(name in told for name in (*SIGNALS, *OUTPUTS, *ARGUMENTS))


def test_without_module_or_library_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for reader in (page, library):
        monkeypatch.setattr(reader, "BUILT", tmp_path)
    with pytest.raises(KneepointError, match=f"{MODULE}.*make wasm"):
        make_page()
    with pytest.raises(KneepointError, match=f"{FOLDER}.*make wasm"):
        make_page(module="")


def test_another_library_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "LICENSE").write_bytes(b"another")
    monkeypatch.setattr(library, "BUILT", tmp_path)
    with pytest.raises(KneepointError, match="SHA-256"):
        read_library()


def test_page_is_one_small_file_that_asks_no_server(playground: str) -> None:
    assert len(playground.encode()) <= 600_000
    assert not re.search(r"\{\{ \w+ \}\}", playground)
    policy = re.search('Content-Security-Policy" content="([^"]+)"', playground)
    assert policy and "default-src 'none'" in policy[1] and "connect-src" not in policy[1]
    assert "http" not in policy[1]
