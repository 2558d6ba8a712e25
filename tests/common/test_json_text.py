"""JSON without lost keys."""

import json

import pytest

from kneepoint.common.json_text import decoder, parse_json


@pytest.mark.parametrize("value", [{"a": [{"b": 1.5}, None]}, {}, [], "x", {"a": {"a": 1}}])
def test_a_value_is_that_of_the_standard_reader(value: object) -> None:
    assert parse_json(json.dumps(value)) == parse_json(json.dumps(value).encode("utf-16")) == value


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"x": {"b": 0, "a": 1, "a": 2}}]'])
def test_a_key_that_stands_twice_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="key 'a' appears twice"):
        parse_json(text)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_a_second_value_may_have_a_name_of_its_own() -> None:
    reader = decoder({"sum": "back", "size": "size"})
    assert reader.decode('{"sum": 1, "sum": 2}') == {"sum": 1, "back": 2}
    assert reader.decode('{"size": 1, "size": 2, "size": 3}') == {"size": 1}
    for text in ('{"sum": 1, "sum": 2, "sum": 3}', '{"a": 1, "a": 2}'):
        with pytest.raises(ValueError, match="twice"):
            reader.decode(text)
