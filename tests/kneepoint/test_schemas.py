"""The schemas of the configuration are current, and every shipped file conforms to them."""

import json
from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs import schemas
from tests.conftest import ROOT

SHIPPED = sorted((ROOT / "config").rglob("*.yaml"))


def schema_of(path: Path) -> Path:
    """The schema that a file names in its first line."""
    return path.parent / path.read_text().splitlines()[0].partition("$schema=")[2]


@cache
def validator_of(schema: Path) -> Draft202012Validator:
    content = json.loads(schema.read_text())
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


@pytest.mark.parametrize("name", schemas.FILES)
def test_schema_is_that_of_the_models(name: str) -> None:
    """`python -m docs.schemas` writes them anew."""
    text = (schemas.FOLDER / f"{name}.json").read_text()
    assert text == schemas.text_of(schemas.FILES[name][0])


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_shipped_file_is_valid(path: Path) -> None:
    validator_of(schema_of(path)).validate(yaml.load(path.read_text(), yaml.CSafeLoader))


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("study", {"title": "t", "controller": "c", "networks": ["n"], "tabel": "x"}),
        ("study", {"title": "t", "controller": "c", "networks": []}),
        ("config", {"seed": -1}),
        ("network", {"title": "t"}),
        ("contest", {"title": "t", "public": "n", "unseen": ["m"], "engine": "kernel"}),
        ("entry", {"parameters": {"window": {"macro": "WINDOW"}}}),
    ],
)
def test_mistake_is_invalid(name: str, mistake: object) -> None:
    assert not validator_of(schemas.FOLDER / f"{name}.json").is_valid(mistake)
