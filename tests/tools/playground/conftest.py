from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.config_file import check_config, read_config
from kneepoint.common.places import BUILT, SHIPPED
from kneepoint.engines.built import MODULE
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.library import FOLDER
from kneepoint.tools.playground.page import make_page
from tests.browser import chromium
from tests.browser.devtools import Page, browser


def require_module() -> None:
    if not all((BUILT / name).exists() for name in (MODULE, FOLDER)):
        pytest.skip("NOT TESTED: no module; run `make wasm`")


@pytest.fixture(scope="session")
def playground() -> str:
    """The page as HTML."""
    require_module()
    return make_page()


def exercise_page(name: str) -> str:
    """The page of a shipped exercise."""
    require_module()
    return make_page(read_config(SHIPPED / f"exercises/{name}.yaml", Exercise))


TASK: dict[str, Any] = {
    "title": "T",
    "text": "**Find** it <script>",
    "controllers": ["fixed_window", "timely"],
    "start": {"controller": "fixed_window", "set": {"window": 60}},
    "goals": [{"metric": "power", "at_least": 3}],
}


def page_of(task: dict[str, Any]) -> str:
    """The page of an exercise, given the content of its file."""
    require_module()
    return make_page(check_config(task, Exercise, Path("task.yaml")))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    chromium.program()
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def url(playground: str, tmp_path: Path) -> str:
    path = tmp_path / "playground.html"
    path.write_text(playground, encoding="utf-8")
    return path.as_uri()
