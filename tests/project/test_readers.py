"""One reader of each format: other readers silently keep the last of two equal keys."""

import ast

from tests.conftest import ROOT

READERS = {
    "kneepoint/common/json_text.py": {"json.loads", "json.load"},
    "kneepoint/common/config_file.py": {"yaml.load", "yaml.safe_load"},
    "kneepoint/common/csv_text.py": {"csv.reader", "csv.DictReader"},
}
ELSEWHERE = {
    "kneepoint/tools/contest/aliases.py": "csv.reader",  # its header must equal the written header
    "kneepoint/common/notes.py": "csv.reader",  # only for a digest
}
NAMES = {reader.partition(".")[2] for readers in READERS.values() for reader in readers}
FILES = sorted(
    path for name in ("kneepoint", "reports", "search") for path in (ROOT / name).rglob("*.py")
)


def test_no_module_reads_by_itself() -> None:
    calls: dict[str, set[str]] = {}
    for path in FILES:
        attributes = (each for each in ast.walk(ast.parse(path.read_text())) if is_call(each))
        calls[str(path.relative_to(ROOT))] = {ast.unparse(each) for each in attributes}
    for kind, readers in READERS.items():
        assert calls.pop(kind) & readers
        others = {name for name, found in calls.items() if found & readers - {ELSEWHERE.get(name)}}
        assert others == set(), kind


def is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in NAMES
