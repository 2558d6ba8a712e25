"""Reads YAML files into pydantic models; every mistake names file, key, value and remedy."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from search.errors import KneepointError


class ConfigModel(BaseModel):
    """Base of everything that a user writes in YAML: immutable, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        """Says what pydantic's own message leaves out: which keys there are."""
        if isinstance(data, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in known:
                    near = get_close_matches(str(key), known, n=1)
                    remedy = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
                    raise ValueError(f"unknown key {key!r}; {remedy}")
        return data


Model = TypeVar("Model", bound=BaseModel)


# Every job reads the whole configuration; libyaml takes a fraction of the time for it.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_Loader):  # type: ignore[misc, valid-type]
    """PyYAML lets the last of two equal keys win in silence; this refuses the second."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                problem = f"key {key!r} stands twice; remove one"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            keys.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path) -> Any:
    """Returns the content of a YAML file.

    Raises:
        KneepointError: the file is missing or is not YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _UniqueKeyLoader)  # noqa: S506 (safe)
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise KneepointError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise KneepointError(f"{path}{line}: {getattr(error, 'problem', error)}") from None


def read_config(path: Path, model: type[Model]) -> Model:
    """Reads and checks one configuration file.

    Raises:
        KneepointError: the file is missing, is not YAML, or does not fit the model.
    """
    return check_config(read_yaml(path), model, path)


def check_config(data: Any, model: type[Model], path: Path) -> Model:
    """Checks data that came out of the file `path` against a model.

    Raises:
        KneepointError: the data does not fit the model; the message lists every misfit.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = "; ".join(_describe(problem) for problem in error.errors())
        raise KneepointError(f"{path}: {problems}") from None


def _describe(problem: Any) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "missing":
        return f"{key}: is missing; add it"
    if problem["type"] == "value_error" and isinstance(problem["input"], Mapping):
        return f"{key}: {message}" if key else message  # the message quotes the part that is wrong
    return f"{key or 'content'}: {problem['input']!r} is refused: {message}"
