"""Digests of code: equal digests imply equal results.

Digests ignore comments, docstrings, formatting and modules that the code does not import.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from kneepoint.common.places import IS_INSTALLED, PACKAGE, TOOL

ROOT = PACKAGE.parent

_REQUIREMENTS = "requirements.txt"


def digest_of_step(*modules: str) -> str:
    """Returns the digest of all code that determines the results of a step.

    It covers the modules, all modules of this repository that they import, directly or not, and
    the locked versions of packages.
    """
    names = sorted(frozenset().union(*map(modules_of, modules)))
    found = [(name, _facts_of(path)[1]) for name in names if (path := _path_of(name))]
    return _joined([*found, ("packages", digest_of_packages())])


@cache
def digest_of_packages() -> str:
    """Returns the digest of the locked versions of all packages."""
    text = (TOOL / _REQUIREMENTS).read_text(encoding="utf-8")
    locked = sorted(re.findall(r"^[a-z0-9][^ ;\\\n]*(?: *;[^\\\n]*)?", text, re.MULTILINE))
    return _joined([(line.strip(), "") for line in locked])


def modules_of(module: str) -> frozenset[str]:
    """Returns the module and all modules of this repository that it imports, directly or not."""
    if _path_of(module) is None:
        raise ModuleNotFoundError(module)
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports_of(name)
    return frozenset(found)


@cache
def _imports_of(module: str) -> frozenset[str]:
    """Returns the modules and packages that this module runs at import or in a function."""
    path = _path_of(module)
    assert path is not None
    package, _, _ = module.rpartition(".")
    named = {package} if package else set()
    names, _ = _facts_of(path)
    for name in names:
        parts = name.split(".")
        named |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return frozenset(name for name in named if _path_of(name) is not None)


@cache
def _facts_of(path: Path) -> tuple[Sequence[str], str]:
    """Returns the names that a file imports, and the digest of its code."""
    tree = ast.parse(path.read_bytes())
    parts: list[str] = []
    _take_apart(tree, parts)
    return sorted(set(_imported_names(tree))), _joined((part, "") for part in parts)


def _imported_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, "imports are absolute here"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (isinstance(node, ast.expr) or _is_for_type_checkers(node)):
            yield from _imported_names(node)


def _is_for_type_checkers(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


@cache
def _path_of(module: str) -> Path | None:
    base = ROOT.joinpath(*module.split("."))
    top, _, _ = module.partition(".")
    is_beside = IS_INSTALLED and top != PACKAGE.name  # another package of the same environment
    if is_beside or not (ROOT / top / "__init__.py").is_file():
        return None
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _take_apart(node: object, parts: list[str]) -> None:
    """Appends the structure of a syntax tree, the same for every version of Python.

    Expression statements that are a string, such as docstrings, are left out.
    """
    if isinstance(node, ast.AST):
        parts.append(type(node).__name__)
        for name in node._fields:
            value = getattr(node, name, None)
            if value not in (None, []) and name not in ("kind", "type_comment"):
                parts.append(name)
                _take_apart(value, parts)
        parts.append(")")
    elif isinstance(node, list):
        for each in node:
            value = each.value if isinstance(each, ast.Expr) else None
            if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
                _take_apart(each, parts)
        parts.append("]")
    else:
        parts.append(repr(node))


def _joined(parts: Iterable[tuple[str, str]]) -> str:
    text = "".join(f"{name}\0{digest}\n" for name, digest in parts)
    return hashlib.sha256(text.encode()).hexdigest()
