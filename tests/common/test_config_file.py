"""Every error that pydantic can find in what a user writes is said in our own words."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from common.config_file import WORDS, check_config
from common.errors import KneepointError
from experiments.models.comparison import Repeat
from experiments.models.settings import Settings
from experiments.models.study import Study
from experiments.published import TableDescription
from networks.config import FetchSettings, Network, TraceCatalogue

MODELS: tuple[type[BaseModel], ...] = (
    *(FetchSettings, Network, Repeat, Settings, Study, TableDescription, TraceCatalogue),
)
OURS = {"missing", "value_error"}

# What pydantic-core says of each of its schemas, by the schema's type and its constraints.
ERRORS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "str": {"": ("string_type", "string_unicode"), "min_length": ("string_too_short",)},
    "int": {
        "": ("int_type", "int_parsing", "int_parsing_size", "int_from_float", "finite_number"),
        "ge": ("greater_than_equal",),
    },
    "float": {
        "": ("float_type", "float_parsing", "finite_number"),
        "gt": ("greater_than",),
        "ge": ("greater_than_equal",),
        "le": ("less_than_equal",),
    },
    "bool": {"": ("bool_type", "bool_parsing")},
    "literal": {"": ("literal_error",)},
    "tuple": {"": ("tuple_type",), "min_length": ("too_short",)},
    "dict": {"": ("dict_type",), "min_length": ("too_short",)},
    "model": {"": ("model_type",)},
    "model-fields": {"": ("missing", "model_type")},
    "union": {"": (), "custom_error_type": ("path_type",)},  # of a path: no other stands here
    "function-before": {"": ("value_error",)},
    "function-after": {"": ("value_error",)},
}
# These say nothing themselves; and the parts of a path say what their union says.
SILENT = {
    *("model-field", "default", "nullable", "definitions", "definition-ref", "no-info"),
    *("lax-or-strict", "json-or-python", "is-instance"),
}
CONSTRAINTS = {
    "custom_error_type",
    "min_length",
    "max_length",
    "pattern",
    "gt",
    "ge",
    "lt",
    "le",
    "multiple_of",
}
ZOO: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        2**70,
        10**5000,
        1e308,
        float("inf"),
        float("nan"),
        "",
        "x",
        "9" * 5000,
    ),
    *([], [[]], [None], ["x"], {}, {"x": 1}, {"x": None}, {"low": {}}, {1: 2}, b"x", "9" * 5000),
)


NO_CHECKS = (
    *("metadata", "serialization", "default", "expected", "json_schema"),
    "json_schema_input_schema",
)
"""Parts of a schema that check nothing."""


def schemas_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yields every schema within one of pydantic-core's."""
    if isinstance(schema, list | tuple):
        for part in schema:
            yield from schemas_in(part)
    elif isinstance(schema, Mapping):
        if isinstance(schema.get("type"), str):
            yield schema
        for key, part in schema.items():
            if key not in NO_CHECKS:
                yield from schemas_in(part)


def places_in(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """Yields the path of every field of a model and of the models within it."""
    for name, field in model.model_fields.items():
        yield (name,)
        annotation: Any = field.annotation
        for schema in schemas_in(TypeAdapter(annotation).core_schema):
            if schema["type"] == "model" and schema["cls"] is not model:
                yield from ((name, *rest) for rest in places_in(schema["cls"]))


@pytest.mark.parametrize("model", MODELS)
def test_every_kind_of_field_has_words_for_its_errors(model: type[BaseModel]) -> None:
    for schema in schemas_in(model.__pydantic_core_schema__):
        if schema["type"] in SILENT:
            continue
        assert schema["type"] != "union" or "custom_error_type" in schema, schema
        possible = ERRORS[schema["type"]]
        for constraint in ("", *(CONSTRAINTS & set(schema))):
            assert set(possible[constraint]) <= {*WORDS, *OURS}, schema


@pytest.mark.parametrize("model", MODELS)
def test_no_value_is_refused_in_pydantics_words(model: type[BaseModel]) -> None:
    refused = set()
    for path in [(), *dict.fromkeys(places_in(model))]:
        for value in ZOO:
            for wrapped in (value, [value], {"x": value}):
                data: Any = wrapped
                for name in reversed(path):
                    data = {name: data}
                try:
                    model.model_validate(data)
                except ValidationError as error:
                    refused |= {each["type"] for each in error.errors()}
                    with pytest.raises(KneepointError) as said:
                        check_config(data, model, Path("file.yaml"))
                    assert "Input should" not in str(said.value)
    assert refused <= {*WORDS, *OURS}
    assert len(refused) > 3


def test_every_word_is_needed() -> None:
    kinds = {kind for of in ERRORS.values() for each in of.values() for kind in each}
    assert set(WORDS) <= kinds


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize(
    ("model", "data", "key"),
    [
        (Network, {"duration_s": "?"}, "duration_s"),
        (Network, {"delay_ms": "?"}, "delay_ms"),
        (Network, {"uplink": {"constant_mbps": "?"}}, "uplink.constant_mbps"),
        (Network, {"uplink": {"trace": "a", "cut": {"end_s": "?"}}}, "uplink.cut.end_s"),
        (Study, {"constants": {"window": "?"}}, "constants.window"),
        (Study, {"space": {"window": {"low": 1, "high": "?"}}}, "space.window.high"),
        (Study, {"space": {"window": {"values": [1, "?"]}}}, "space.window.values.1"),
        (
            Repeat,
            {"published": [{"setting": 0, "metric": "power", "mean": "?", "source": "s"}]},
            "published.0.mean",
        ),
        (Settings, {"real_time": {"busy_us": "?"}}, "real_time.busy_us"),
        (TableDescription, {"constants": {"window": "?"}}, "constants.window"),
    ],
)
def test_number_must_be_finite(
    model: type[BaseModel], data: Mapping[str, Any], key: str, value: float
) -> None:
    def filled(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {name: filled(each) for name, each in part.items()}
        return [filled(each) for each in part] if isinstance(part, list) else _of(part, value)

    with pytest.raises(KneepointError, match=rf"{key}: {value!r} is invalid: it must be finite"):
        check_config(filled(data), model, Path("file.yaml"))


def _of(part: Any, value: float) -> Any:
    return value if part == "?" else part
