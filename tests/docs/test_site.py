"""The site: its links lead somewhere, and its reference has whatever is declared."""

import re
from pathlib import Path

import pytest

from analysis.schema import TABLES
from common.errors import KneepointError
from docs.site import gather, reference
from engines.catalogue import Catalogue, load_catalogue
from experiments.results import RUNS_SCHEMA
from experiments.schemas import FILES
from kneepoint.cli import _COMMANDS
from tests.conftest import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    return load_catalogue(ROOT / "build/emulate")


def test_every_controller_and_parameter_is_in_the_reference(catalogue: Catalogue) -> None:
    page = reference.controllers_page(catalogue)
    for controller in catalogue.controllers.values():
        assert f"\n## {controller.name}\n" in page
        for name, constant in controller.constants.items():
            assert f"| `{name}` | {constant.default:g} | {constant.low:g} to" in page


def test_every_key_of_the_configuration_is_in_the_reference() -> None:
    page = reference.configuration_page()
    headings = {heading.lower() for heading in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}
    for model in FILES.values():
        schema = model.model_json_schema()
        for part in (schema, *schema.get("$defs", {}).values()):
            for key, declared in part.get("properties", {}).items():
                assert f"| `{key}` | " in page
                assert " ".join(declared["description"].split()).replace("|", r"\|") in page
    links = set(re.findall(r"\]\(#([a-z]+)\)", page))
    assert links
    assert links <= headings


def test_every_column_is_in_the_reference() -> None:
    page = reference.tables_page()
    for name, declared in TABLES.items():
        section = page.split(f"\n### {name}.parquet\n")[1].split("\n### ")[0]
        for column in declared.columns:
            assert f"| `{column.name}` | {column.kind} | {column.unit} |" in section
    assert all(f"| `{field.name}` | {field.type} |" in page for field in RUNS_SCHEMA)


@pytest.mark.usefixtures("catalogue")
def test_every_command_is_in_the_reference() -> None:
    page = reference.commands_page(ROOT / "build")
    for name in _COMMANDS:
        assert f"\n## kneepoint {name}\n\n```text\nUsage: kneepoint {name} " in page
    assert "\n## kneepoint trace cut\n" in page
    assert "\n## build/emulate\n" in page
    assert "\b" not in page


def test_every_page_is_there_and_every_link_leads_to_a_page(tmp_path: Path) -> None:
    texts = {"tables": "# A page\n"}
    pages = gather.gather(tmp_path / "pages", texts)
    names = {str(page.relative_to(tmp_path / "pages")) for page in pages}
    assert {"index.md", "tutorial.md", "how-to/add-a-figure.md", "reference/tables.md"} < names
    assert len([name for name in names if name.startswith("how-to/")]) == 11
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
    for name in told.keys() - {"# The field", "Figures", "Against published figures"}:
        assert name in catalogue.controllers and "Source: " in told[name]
    assert "`rtt0_ms`" in reference.parameters(catalogue.controllers["hybla"])


def _sections(page: Path) -> list[str]:
    return [part.strip() for part in page.read_text().split("\n## ")]


def test_a_link_to_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("```\n[fine](absent.md)\n```\n[see](absent.md#there)\n")
    with pytest.raises(KneepointError) as error:
        gather.converted(tmp_path / "page.md")
    assert str(error.value) == "page.md: the link absent.md#there leads nowhere; correct it"


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
