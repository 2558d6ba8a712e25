"""Whether programs and controllers are built from the present sources."""

from pathlib import Path

import pytest

from kneepoint.common.files import sha256_of
from kneepoint.engines import built
from kneepoint.engines.built import CORE, MODULE, changed_files, out_of_date


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(built, "TOOL", tmp_path)
    monkeypatch.setattr(built, "BUILT", tmp_path / "build")
    monkeypatch.setattr(built, "EMULATE", tmp_path / "build/emulate")
    monkeypatch.setattr(built, "PROGRAMS", (str(tmp_path / "build/emulate"),))
    monkeypatch.setattr(built, "_ALL", tmp_path / "controllers")
    (tmp_path / "controllers/common").mkdir(parents=True)
    (tmp_path / "controllers/common/text.cc").write_text("// a source")
    (tmp_path / "controllers/build.sh").write_text("# a script")
    (tmp_path / "build/sources").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("kept", [0, 3, 64, 66, 70, 1000])
def test_a_note_that_was_cut_off_asks_for_a_build(folder: Path, kept: int) -> None:
    whole = "".join(f"{'0' * 64}  {path}\n" for path in ("controllers/common/text.cc", "gone.cc"))
    (folder / "build/sources" / CORE).write_text(whole[:kept])
    changed = changed_files(CORE, Path("own"))
    assert folder / "controllers/common/text.cc" in changed
    assert Path() not in changed
    assert out_of_date([], Path("own")) != []


def test_a_program_that_something_else_wrote_asks_for_a_build(folder: Path) -> None:
    paths = ("controllers/common/text.cc", "controllers/build.sh", "build/emulate")
    emulate = folder / "build/emulate"
    emulate.write_bytes(b"built")
    listed = "".join(f"{sha256_of((folder / path).read_bytes())}  {path}\n" for path in paths)
    (folder / "build/sources" / CORE).write_text(listed)
    assert out_of_date([], Path("own")) == []
    emulate.write_bytes(b"other")
    assert changed_files(CORE, Path("own")) == [emulate]
    assert out_of_date([], Path("own")) == [emulate]


def test_the_module_is_built_again_of_its_changed_sources(folder: Path) -> None:
    own = folder / "controllers/wasm/module.cc"
    own.parent.mkdir()
    own.write_text("// its own source")
    (folder / "controllers/tests").mkdir()
    (folder / "build" / MODULE).write_bytes(b"built")
    sources = ("controllers/common/text.cc", "controllers/build.sh", "controllers/wasm/module.cc")
    paths = (*sources, f"build/{MODULE}")
    listed = [f"{sha256_of((folder / path).read_bytes())}  {path}" for path in paths]
    (folder / "build/sources" / MODULE).write_text("\n".join(listed) + "\n")
    (folder / "controllers/tests/test_text.cc").write_text("// no part of it")
    assert changed_files(MODULE, Path("own")) == []
    own.write_text("// an edit")
    assert changed_files(MODULE, Path("own")) == [own]
