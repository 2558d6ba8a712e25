"""The site: its links have targets, and its reference covers all declarations."""

import re
from pathlib import Path

import pytest

from docs.site import gather, reference
from kneepoint.analysis.schema import TABLES
from kneepoint.cli import commands
from kneepoint.common.errors import KneepointError
from kneepoint.engines.catalogue import Catalogue, load_catalogue
from tests.conftest import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    return load_catalogue(ROOT / "build/emulate")


def test_reference_has_whatever_is_declared(catalogue: Catalogue) -> None:
    controllers = reference.controllers_page(catalogue)
    assert set(catalogue.controllers) == _headings(controllers) - {"Controllers"}
    assert "| `rtt0_ms` | 25 | " in controllers
    configuration = reference.configuration_page()
    links = set(re.findall(r"\]\(#([a-z]+)\)", configuration))
    assert links and links <= {heading.lower() for heading in _headings(configuration)}
    assert all(f"| `{key}` |" in configuration for key in ("seed", "hold_out", "deadline"))
    tables = reference.tables_page()
    assert {f"{name}.parquet" for name in ("runs", *TABLES)} <= _headings(tables)
    assert "| `signal_delay_p95_ms` | double | ms |" in tables
    page = reference.commands_page(ROOT / "build")
    assert {f"kneepoint {name}" for name in (*commands(), "trace cut")} <= _headings(page)
    assert "Usage: kneepoint trace cut " in page and "\b" not in page


def _headings(page: str) -> set[str]:
    return set(re.findall(r"^#+ (.*)$", page, re.MULTILINE))


def test_every_page_is_there_and_every_link_leads_to_a_page(tmp_path: Path) -> None:
    texts = {"tables": "# A page\n"}
    pages = gather.gather(tmp_path / "pages", texts)
    names = {str(page.relative_to(tmp_path / "pages")) for page in pages}
    assert {"index.md", "tutorial.md", "how-to/add-a-question.md", "reference/tables.md"} < names
    assert len([name for name in names if name.startswith("how-to/")]) == 14
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).is_file(), f"{page.name}: {target}"
    contents = {name for each in gather.CONTENTS.values() for name in each}
    listed = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert listed <= contents


def test_each_controller_of_the_field_has_its_parameters(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    gather.gather(tmp_path, {}, {"hybla": "THE PARAMETERS", "The field": "no section"})
    (section,) = [part for part in _sections(tmp_path / "field.md") if "THE PARAMETERS" in part]
    assert section.startswith("hybla\n") and section.endswith("\n\nTHE PARAMETERS")
    told = {part.partition("\n")[0]: part for part in _sections(ROOT / "docs/field.md")}
    reports = told.pop("The contest reports' rules")
    others = {"# The field", "Figures", "Against published figures", "Beside QUIC stacks"}
    for name in told.keys() - others:
        assert name in catalogue.controllers and "Source: " in told[name]
    rows = set(re.findall(r"^\| `(\w+)` \|", reports, re.MULTILINE))
    assert (told.keys() - others) | rows == catalogue.controllers.keys() - {"rule"}
    assert "`rtt0_ms`" in reference.parameters(catalogue.controllers["hybla"])


def _sections(page: Path) -> list[str]:
    return [part.strip() for part in page.read_text().split("\n## ")]


def test_a_link_to_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("```\n[fine](absent.md)\n```\n[see](absent.md#there)\n")
    with pytest.raises(KneepointError) as error:
        gather.converted(tmp_path / "page.md")
    assert all(word in str(error.value) for word in ("page.md", "absent.md#there", "correct it"))


def test_page_named_as_one_of_the_generators_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    (docs / "images").mkdir(parents=True)
    (docs / "notebooks").mkdir()
    (docs / "search.md").write_text("# Searches\n")
    monkeypatch.setattr(gather, "DOCS", docs)
    with pytest.raises(KneepointError, match=r"search\.md: Sphinx has a page of that name"):
        gather.gather(tmp_path / "site", {})
