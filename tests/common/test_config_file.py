"""Numbers in configurations are finite; errors name file and key."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from kneepoint.common.config_file import check_config
from kneepoint.common.errors import KneepointError
from kneepoint.config.comparison import Repeat
from kneepoint.config.published import TableDescription
from kneepoint.config.study import Study
from kneepoint.networks.config import FetchSettings, Network, TraceCatalogue
from kneepoint.runs import settings

Settings = settings.model()
MODELS: tuple[type[BaseModel], ...] = (
    *(FetchSettings, Network, Repeat, Settings, Study, TableDescription, TraceCatalogue),
)
ZOO: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 2**70, 10**5000, 1e308, float("inf"), float("nan"), "", "x", b"x"),
    *("9" * 5000, [], [[]], [None], ["x"], {}, {"x": 1}, {"x": None}, {"low": {}}, {1: 2}),
)


def models_in(schema: Any) -> Iterator[type[BaseModel]]:
    """Yields every model within one of pydantic-core's schemas."""
    if isinstance(schema, list | tuple):
        for part in schema:
            yield from models_in(part)
    elif isinstance(schema, Mapping):
        if schema.get("type") == "model":
            yield schema["cls"]
        for key, part in schema.items():
            if key not in ("metadata", "serialization", "default", "expected"):
                yield from models_in(part)


def places_in(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """Yields the path of every field of a model and of the models within it."""
    for name, field in model.model_fields.items():
        yield (name,)
        annotation: Any = field.annotation
        for inner in models_in(TypeAdapter(annotation).core_schema):
            if inner is not model:
                yield from ((name, *rest) for rest in places_in(inner))


@pytest.mark.parametrize("model", MODELS)
def test_any_value_is_accepted_or_refused_in_one_line_with_its_file(model: type[BaseModel]) -> None:
    refused: set[str] = set()
    for path in [(), *dict.fromkeys(places_in(model))]:
        for value in ZOO:
            for wrapped in (value, [value], {"x": value}):
                data: Any = wrapped
                for name in reversed(path):
                    data = {name: data}
                try:
                    check_config(data, model, Path("file.yaml"))
                except KneepointError as error:
                    message = str(error)
                    assert message.startswith("file.yaml: ") and "\n" not in message
                    words = {"tuple", "dictionary"}  # Python's: a file has lists and mappings
                    assert words.isdisjoint(message.split())
                    refused.add(message)
    assert len(refused) > 3


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize(
    ("model", "path"),
    [
        (Network, ("duration_s",)),
        (Network, ("uplink", "constant_mbps")),
        (Study, ("parameters", "window")),
        (Study, ("space", "window", "high")),
        (Settings, ("real_time", "busy_us")),
    ],
)
def test_number_must_be_finite(model: type[BaseModel], path: tuple[str, ...], value: float) -> None:
    data: Any = value
    for name in reversed(path):
        data = {name: data}
    key = ".".join(path)
    with pytest.raises(KneepointError, match=rf"{key}: {value!r} is invalid: it must be a finite"):
        check_config(data, model, Path("file.yaml"))
