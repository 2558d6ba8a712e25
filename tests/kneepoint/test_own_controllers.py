"""Messages of commands about a project's own controllers that cannot be used."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.experiments.wire import write
from tests.kneepoint.conftest import ENVIRONMENT, ask, refused
from tests.programs import run_kneepoint

EMPTY = "int nothing;\n"
MISNAMED = "Bad-Name"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose controllers declare nothing, fail to compile or have a wrong name."""
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    folder = tmp_path_factory.mktemp("project")
    write(folder / "config.yaml", {"seed": 1})
    for name, text in (("empty", EMPTY), ("unbuilt", EMPTY), (MISNAMED, EMPTY)):
        write_source(folder, name, text)
    return folder


def write_source(folder: Path, name: str, text: str) -> None:
    path = folder / f"controllers/{name}.cc"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def run(project: Path, name: str, **environment: str) -> str:
    """Returns the last line of a run that fails."""
    words = ("run", name, "--network", "synthetic-fast")
    result = run_kneepoint(*words, cwd=project, **ENVIRONMENT, **environment)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


def test_a_controller_is_named_by_its_source(project: Path) -> None:
    said = run(project, "empty")
    assert "controllers/empty.cc" in said and ".so" not in said
    assert "controllers/Bad-Name.cc" in run(project, MISNAMED)


def test_others_are_used_beside_a_misnamed_one(project: Path) -> None:
    result = ask(project, "run", "timely", "--network", "synthetic-fast")
    assert (result.returncode, result.stderr.count("Bad-Name")) == (0, 0)
    assert "unknown controller" in refused(
        project, "run", "none-such", "--network", "synthetic-fast"
    )


def test_list_has_those_that_cannot_be_used(project: Path) -> None:
    run(project, "empty")
    listed = json.loads(ask(project, "list", "controllers", "--json").stdout)["controllers"]
    problems = {each["name"]: each["problem"] for each in listed}
    assert problems["timely"] is None
    for name in ("empty", "unbuilt", MISNAMED):
        assert f"controllers/{name}.cc" in problems[name]
        (line,) = re.findall(rf"^  {name} .*", ask(project, "list", "controllers").stdout, re.M)
        assert line.endswith(problems[name])
    assert not (project / ".kneepoint/controllers/unbuilt.so").exists()


def test_a_path_is_from_where_the_command_is_called(project: Path) -> None:
    below = project / "below"
    below.mkdir()
    shutil.copy(ROOT / "build/controllers/fixed_window.so", below)
    on = ("--network", "synthetic-fast")
    assert ask(below, "run", "fixed_window.so", *on).returncode == 0
    assert ask(below, "compare", "./fixed_window.so", "reno", *on, "--runs", "2").returncode == 0


@pytest.mark.parametrize("compiler", ["false", "ls --no-such-option"])
def test_a_compiler_that_fails_is_named(project: Path, compiler: str) -> None:
    said = run(project, "unbuilt", CXX=compiler)
    assert "controllers/unbuilt.cc" in said
    assert compiler in said and re.search(r"\b[12]\b", said)


WINDOW = """
#include "../shared/its window.hh"
#include "algorithms/registry.hh"
namespace kneepoint {
namespace {
struct FixedWindow final : Controller {
  explicit FixedWindow(Parameters& parameters) : Controller(parameters, 1000) {}
  double window() const override { return WINDOW; }
  void on_ack(const Ack&) override {}
};
const Registration<FixedWindow> registration{"NAME", "a window", "here"};
}  // namespace
}  // namespace kneepoint
"""


def test_a_header_of_the_project_is_a_source(project: Path) -> None:
    header = project / "shared/its window.hh"
    header.parent.mkdir()
    write_source(project, "windowed", WINDOW.replace("NAME", "windowed"))
    words = ("run", "windowed", "--network", "synthetic-fast", "--json")

    def packets(window: int) -> int:
        header.write_text(f"#define WINDOW {window}\n")
        result = ask(project, *words)
        return int(json.loads(result.stdout)["packets_sent"])

    assert packets(5) < packets(20)
    assert ask(project, *words).stderr == ""
    noted = project / ".kneepoint/controllers/windowed.sources"
    assert "exports.map" in noted.read_text()  # what the linker read
    for damaged in (b"\xff\xfe", b""):
        noted.write_bytes(damaged)
        assert "windowed" in ask(project, *words).stderr
    header.unlink()
    assert "its window.hh" in run(project, "windowed")
