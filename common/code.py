"""Digests of code: equal digests imply equal results.

Digests ignore comments, docstrings, formatting and modules that the code does not import.
"""

import ast
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from common.files import sha256_of, write_whole

ROOT = Path(__file__).resolve().parent.parent

_REQUIREMENTS = "requirements.txt"
_OURS = hashlib.sha256(Path(__file__).read_bytes()).digest()
_FACTS = "build/code/modules.json"
_used: set[str] = set()
_CPP_SUFFIXES = (".cc", ".hh", ".h")
_CPP_COMMENT = r"//[^\n]*|/\*.*?\*/"
_CPP_TOKEN = re.compile(
    rf"(?P<comment>{_CPP_COMMENT})"
    r'|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|\.?\d(?:[eEpP][+-]|'?[\w.])*"
    r"|'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:\\\n|[^\n])*"
    r"|\w+|[^\w\s]",
    re.DOTALL | re.MULTILINE,
)


def digest_of_step(module: str) -> str:
    """Returns the digest of everything that determines what `python -m MODULE` computes.

    That is the module, those of this repository that it imports, directly or not, and the locked
    versions of the packages.
    """
    modules = [(name, _digest_of_module(name)) for name in sorted(modules_of(module))]
    return _joined([*modules, ("packages", digest_of_packages())])


def digest_of_packages() -> str:
    """Returns the digest of the locked versions of all packages."""
    text = (ROOT / _REQUIREMENTS).read_text(encoding="utf-8")
    locked = sorted(re.findall(r"^[a-z0-9][^ ;\\]*(?: *;[^\\\n]*)?", text, re.MULTILINE))
    return _joined([(line.strip(), "") for line in locked])


def digest_of_cpp(sources: Iterable[Path]) -> str:
    """Returns the digest of C++ sources and their build files; paths are relative to ROOT."""
    return _joined([(str(path), _digest_of_file(path)) for path in sorted(sources)])


def digest_of_files(paths: Iterable[str | Path]) -> str:
    """Returns the digest of the contents of files; missing files do not count."""
    return _joined(
        [(str(path), sha256_of(Path(path).read_bytes())) for path in paths if Path(path).is_file()]
    )


def note(
    name: str, digest: str, since_ns: int | None = None, folder: Path = Path("build/code")
) -> Path:
    """Returns a file that holds a digest and is rewritten only when the digest changes.

    A step of the workflow that has the file as its input runs when its code has changed.

    Args:
        name: of the step.
        digest: of its code.
        since_ns: how old the first note is; None: it is new.
        folder: of the notes.
    """
    path = folder / f"{name}.sha256"
    is_first = not path.is_file()
    if is_first or path.read_text() != f"{digest}\n":
        write_whole(path, f"{digest}\n")
        if is_first and since_ns is not None:
            os.utime(path, ns=(since_ns, since_ns))
    return path


def settle_note(
    path: Path, digest: str, files: Iterable[str | Path], is_all_made: bool = False
) -> None:
    """Writes into a note a digest of files that the workflow itself has just written.

    If the digest is another, the note is as old as the newest of the files: what was made of them
    since is up to date. If all that depends on them was made, some of it before the last of them,
    it is as old as the oldest.
    """
    if path.read_text() != f"{digest}\n":
        times_ns = [Path(file).stat().st_mtime_ns for file in files if Path(file).is_file()]
        time_ns = min(times_ns) if is_all_made else max(times_ns)
        write_whole(path, f"{digest}\n")
        os.utime(path, ns=(time_ns, time_ns))


def keep_facts() -> None:
    """Saves the digests of known files for the next process."""
    text = json.dumps({key: _kept_facts()[key] for key in sorted(_used)}, indent=0)
    path = ROOT / _FACTS
    if not path.is_file() or path.read_text() != text:
        write_whole(path, text)


def modules_of(module: str) -> frozenset[str]:
    """Returns the module and all of this repository that it imports, directly or not.

    Raises:
        ModuleNotFoundError: there is no such module.
    """
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
    """The code that runs when the module is imported, and the imports inside its functions."""
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
    """The names that a file imports, and its code's digest; cached, because parsing is slow."""
    content = path.read_bytes()
    key = hashlib.sha256(_OURS + content).hexdigest()
    _used.add(key)
    facts = _kept_facts().get(key)
    if facts is None:
        tree = ast.parse(content)
        facts = sorted(set(_imported_names(tree))), _joined((part, "") for part in _parts(tree))
        _kept_facts()[key] = facts
    return facts


@cache
def _kept_facts() -> dict[str, tuple[Sequence[str], str]]:
    try:
        kept = json.loads((ROOT / _FACTS).read_bytes())
        return {str(key): (list(names), str(digest)) for key, (names, digest) in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _imported_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, "imports are absolute here"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not _is_for_type_checkers(node):
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
    if not (ROOT / module.partition(".")[0] / "__init__.py").is_file():
        return None
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _digest_of_module(module: str) -> str:
    path = _path_of(module)
    assert path is not None
    return _facts_of(path)[1]


def _parts(node: object) -> Iterator[str]:
    """The structure of a syntax tree, the same for every version of Python.

    Expressions that are only a string, such as docstrings, are left out.
    """
    if isinstance(node, ast.AST):
        yield type(node).__name__
        for name, value in ast.iter_fields(node):
            if value not in (None, []) and name not in ("kind", "type_comment"):
                yield name
                yield from _parts(value)
        yield ")"
    elif isinstance(node, list):
        for each in node:
            if not (isinstance(each, ast.Expr) and _is_text(each.value)):
                yield from _parts(each)
        yield "]"
    else:
        yield repr(node)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _digest_of_file(path: Path) -> str:
    text = (ROOT / path).read_bytes().decode(errors="surrogateescape")
    if path.suffix in _CPP_SUFFIXES:
        text = "\n".join(_cpp_tokens(text))
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _cpp_tokens(text: str) -> Iterator[str]:
    for match in _CPP_TOKEN.finditer(text):
        token = match.group()
        if match["comment"] is None:
            is_directive = token.lstrip().startswith("#")
            yield re.sub(_CPP_COMMENT, "", token).strip() if is_directive else token


def _joined(parts: Iterable[tuple[str, str]]) -> str:
    text = "".join(f"{name}\0{digest}\n" for name, digest in parts)
    return hashlib.sha256(text.encode()).hexdigest()
