"""The Python side: exercises, links, and what the page is made of."""

import re
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.config_file import check_config, names_in, read_config
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import BUILT, SHIPPED
from kneepoint.common.programs import run_built
from kneepoint.networks.config import Synthetic
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.library import FILE, read_library
from kneepoint.tools.playground.page import MODULE, make_page, shipped_links

TASK: dict[str, Any] = {
    "title": "T",
    "text": "**Find** it <script>",
    "controllers": ["reno"],
    "start": {"controller": "reno", "set": {"alpha": 2}},
    "goals": [{"metric": "power", "at_least": 3}],
}


@pytest.mark.parametrize("name", names_in(SHIPPED / "exercises"))
def test_shipped_exercises_are_valid(name: str) -> None:
    exercise = read_config(SHIPPED / f"exercises/{name}.yaml", Exercise)
    shown = exercise.for_page()
    links = {"constant", *(link["name"] for link in shipped_links())}
    assert exercise.start.link in links and exercise.start.set.keys() <= {
        *(exercise.parameters or exercise.start.set)
    }
    assert shown["text"].startswith("<p>")


def test_exercise_becomes_html_and_changed_keys() -> None:
    shown = check_config(TASK, Exercise, Path("e.yaml")).for_page()
    assert "<strong>Find</strong>" in shown["text"] and "<script" not in shown["text"]
    assert shown["start"] == {"controller": "reno", "set": {"alpha": 2}}
    assert shown["hidden"] is None and shown["goals"][0]["beats"] is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"goals": [{"metric": "power"}]}, "at_least"),
        ({"goals": [{"metric": "power", "at_least": 1, "at_most": 2}]}, "at_most"),
        ({"goals": [{"metric": "speed", "at_least": 1}]}, "metric"),
        ({"goals": []}, "goals"),
        ({"controllers": ["cubic"]}, "reno"),
        ({"start": {"controller": "reno", "lnk": "constant"}}, "lnk"),
        ({"start": {"controller": "reno", "set": {"alpha": "much"}}}, "alpha"),
        ({"hidden": {"loss": 2}}, "loss"),
    ],
)
def test_wrong_exercises_are_refused_in_one_line(change: dict[str, Any], named: str) -> None:
    with pytest.raises(KneepointError, match=named) as refused:
        check_config(TASK | change, Exercise, Path("e.yaml"))
    assert str(refused.value).startswith("e.yaml") and "\n" not in str(refused.value)


def test_links_are_the_shipped_synthetic_ones() -> None:
    assert [link["name"] for link in shipped_links()] == names_in(SHIPPED / "networks")[
        slice(*_range_of("synthetic"))
    ]


def _range_of(prefix: str) -> tuple[int, int]:
    names = [name.startswith(prefix) for name in names_in(SHIPPED / "networks")]
    return names.index(True), len(names) - names[::-1].index(True)


def test_words_of_a_link_make_the_trace_of_its_network() -> None:
    link = Synthetic(seed=1, duration_s=2, start_rate_mbps=1, max_rate_mbps=3)
    program = BUILT / "synthesize"
    if not program.is_file():
        pytest.skip("NOT TESTED: no program; run `make build`")
    assert link.options[:4] == ["--seed", "1", "--duration-s", "2.0"]
    made, status, complaint = run_built(program, *link.options)
    assert (status, complaint) == (0, "") and made.endswith(b"\n2000\n")


def test_without_the_module_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match=f"{MODULE}.*make wasm"):
        make_page(build=tmp_path)
    (tmp_path / MODULE).write_bytes(b"\0asm")
    with pytest.raises(KneepointError, match="make wasm"):
        make_page(build=tmp_path)


def test_another_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"another")
    with pytest.raises(KneepointError, match="SHA-256"):
        read_library(tmp_path)


def test_page_is_one_small_file_that_asks_no_server(playground: str) -> None:
    assert len(playground.encode()) <= 700_000
    assert not re.search(r"\{\{ \w+ \}\}", playground)
    policy = re.search('Content-Security-Policy" content="([^"]+)"', playground)
    assert policy and "default-src 'none'" in policy[1] and "connect-src" not in policy[1]
    assert "http" not in policy[1]
