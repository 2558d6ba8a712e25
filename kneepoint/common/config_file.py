"""Reads YAML files into pydantic models; every error names file, key, value and remedy."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.common.files import read_text

_MAX_BYTES = 2**20
_MAX_VALUES = 50_000
_MAX_DEPTH = 30
_MAX_DIGITS = 1000
"""Limits far above any handwritten file: nested aliases could exhaust the memory."""

_WORDS: Mapping[str, str] = {
    "a valid tuple|a valid list": "a list",
    "a valid dictionary( or instance of \\w+)?": "a mapping",
    "a valid integer": "a whole number",
    "a valid (number|boolean)": r"a \1",
    "a valid string": "text",
    ", unable to (parse|interpret) .*": "",
    "(Tuple|List|Dictionary) should": "it must",
    " after validation": "",
}
"""Patterns in pydantic's messages, and their replacements in the terms of YAML."""

_RENAMED = {"constants": "parameters", "constant": "parameter"}
"""The present names of keys that files for an earlier version may contain."""

_MAX_PROBLEMS = 5
_MAX_QUOTED = 80


class ConfigModel(BaseModel):
    """Base of all models of YAML files: immutable, finite numbers, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        """Names the known keys, which pydantic's own message omits."""
        if isinstance(data, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in known:
                    renamed = _RENAMED.get(str(key))
                    remedy = f"write {renamed}" if renamed in known else suggestion(str(key), known)
                    raise ValueError(f"unknown key {key!r}; {remedy}")
        return data


def names_in(folder: Path, suffix: str = ".yaml") -> list[str]:
    """Returns the sorted names, without suffix, of a folder's files with this suffix."""
    return sorted(path.stem for path in folder.glob(f"*{suffix}"))


def matching(pattern: str, meaning: str) -> AfterValidator:
    """Returns a validator of text against a pattern; `meaning` describes the pattern."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"it must be {meaning}")
        return text

    return AfterValidator(check)


Model = TypeVar("Model", bound=BaseModel)


# Every job reads the whole configuration; libyaml is several times faster.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TYPES = {f"tag:yaml.org,2002:{name}" for name in "null bool int float str seq map".split()}


class _MistakeError(Exception):
    """A construct that is valid YAML but not accepted, and its position."""

    def __init__(self, of: Any, problem: str) -> None:
        super().__init__(problem)
        self.line: int = of.start_mark.line + 1


class _PlainLoader(_Loader):  # type: ignore[misc, valid-type]
    """Accepts only values that JSON can express: dates are text, keys are text and unique.

    PyYAML silently keeps the last of two equal keys.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 (as PyYAML declares it)
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _TYPES]
        for first, resolvers in _Loader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node.tag not in _TYPES:
            raise _MistakeError(node, f"unknown tag {node.tag!r}; remove it")
        if isinstance(node, yaml.ScalarNode) and (bad := _UNPRINTABLE.search(node.value)):
            raise _MistakeError(node, f"has the control character {bad[0]!a}; remove it")
        kind = node.tag.rpartition(":")[2]
        try:
            if kind in ("int", "float") and len(node.value) > _MAX_DIGITS:
                # computing its value may take seconds: each part of 1:2:3 is multiplied by 60
                raise ValueError
            return super().construct_object(node, deep)
        except (ValueError, IndexError, OverflowError):
            raise _MistakeError(
                node, f"{quote(node.value)} is not a valid {kind}; correct it"
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _MistakeError(key_node, f"key {quote(key)} is not text; put it in quotes")
            if key in mapping:
                raise _MistakeError(key_node, f"key {quote(key)} appears twice; remove one")
            mapping[key] = self.construct_object(value_node, deep=deep)
        return mapping


class _TextLoader(_PlainLoader):
    """Reads every value except null as text: a commit that consists of digits is not a number."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:null"]
        for first, resolvers in _Loader.yaml_implicit_resolvers.items()
    }


def _check_size(text: str) -> None:
    """Refuses too many values, including repetitions by aliases, before constructing any."""
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    count = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = count - before
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                problem = f"alias {quote(event.anchor)} has no anchor before it; correct it"
                raise _MistakeError(event, problem)
            count += sizes[event.anchor]
        elif isinstance(event, yaml.NodeEvent):
            count += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append((event.anchor, count - 1))
            elif event.anchor:
                sizes[event.anchor] = 1
        if len(open_nodes) > _MAX_DEPTH or count > _MAX_VALUES:
            limits = f"{_MAX_DEPTH} levels, {_MAX_VALUES} values"
            raise _MistakeError(
                event, f"is nested too deeply or too long (at most {limits}); shorten it"
            )


def read_yaml(path: Path, *, as_text: bool = False) -> Any:
    """Returns the content of a YAML file; with `as_text`, every value except null is text.

    Raises KneepointError if the file is missing, too large or not YAML.
    """
    return parse_yaml(read_text(path, _MAX_BYTES), path, as_text=as_text)


def parse_yaml(text: str, path: Path, *, as_text: bool = False) -> Any:
    """Returns the content of YAML text (see read_yaml); errors name the file `path`."""
    try:
        _check_size(text)
        return yaml.load(text, _TextLoader if as_text else _PlainLoader)  # noqa: S506 (safe)
    except _MistakeError as error:
        raise KneepointError(f"{path}, line {error.line}: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        if mark and _has_tab(text, mark):
            raise KneepointError(
                f"{path}{line}: is indented by a tab, which YAML does not allow; use spaces"
            ) from None
        problem = error.problem or error.context
        raise KneepointError(f"{path}{line}: is not valid YAML ({problem}); correct it") from None
    except yaml.YAMLError as error:
        raise KneepointError(f"{path}: is not valid YAML ({error}); correct it") from None


def _has_tab(text: str, mark: Any) -> bool:
    """Returns whether the mistake is at a tab, or in a line that a tab indents."""
    line = "".join(text.splitlines()[mark.line : mark.line + 1])
    indent = line[: len(line) - len(line.lstrip())]
    return "\t" in indent + line[mark.column : mark.column + 1]


def read_config(path: Path, model: type[Model], *, as_text: bool = False) -> Model:
    """Reads and checks one configuration file (see read_yaml and check_config)."""
    return check_config(read_yaml(path, as_text=as_text), model, path)


def check_config(data: Any, model: type[Model], path: Path) -> Model:
    """Validates data from the file `path`; raises KneepointError, which lists the problems."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise KneepointError(f"{path}: {complaint_of(error)}") from None


def complaint_of(error: Exception) -> str:
    """Returns the problems of invalid data, with remedies."""
    if not isinstance(error, ValidationError):
        return str(error)
    found = error.errors(include_url=False)
    # pydantic also calls a list with invalid values too short.
    wrong = {each["loc"][:-1] for each in found}
    misfits = [m for m in found if m["type"] != "too_short" or m["loc"] not in wrong]
    problems = [_describe(misfit) for misfit in misfits[:_MAX_PROBLEMS]]
    if len(misfits) > _MAX_PROBLEMS:
        problems.append(f"and {len(misfits) - _MAX_PROBLEMS} more")
    return "; ".join(problems)


def _describe(misfit: ErrorDetails) -> str:
    key, value = ".".join(map(str, misfit["loc"])), misfit["input"]
    message = misfit["msg"].removeprefix("Value error, ").replace("Input should", "it must", 1)
    for pattern, words in _WORDS.items():
        message = re.sub(pattern, words, message)
    if misfit["type"] == "literal_error" and isinstance(value, str):
        message = suggestion(value, re.findall("'([^']*)'", misfit["ctx"]["expected"]))
    if misfit["type"] == "missing":
        return f"{key}: is missing; add it"
    if misfit["type"] == "value_error" and isinstance(value, Mapping):
        return f"{key}: {message}" if key else message  # the message quotes the wrong part
    return f"{key or 'content'}: {quote(value)} is invalid: {message}"


def quote(value: object) -> str:
    """Returns the repr of a value, shortened if long."""
    if isinstance(value, str | int | list | tuple) and not isinstance(value, bool):
        value = value[:_MAX_QUOTED] if not isinstance(value, int) else value
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = "a huge number"
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}..."
