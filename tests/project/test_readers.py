"""One reader of each format: other readers silently keep the last of two equal keys."""

import ast

import pytest

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
FILES = sorted(
    path for name in ("kneepoint", "reports", "search") for path in (ROOT / name).rglob("*.py")
)


@pytest.mark.parametrize("kind", READERS, ids=lambda kind: kind.split("/")[1])
def test_no_module_reads_by_itself(kind: str) -> None:
    calls = {}
    for path in FILES:
        name = str(path.relative_to(ROOT))
        tree = ast.parse(path.read_text())
        found = {ast.unparse(each) for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
        calls[name] = found & READERS[kind]
    assert calls.pop(kind)
    assert {name for name, found in calls.items() if found - {ELSEWHERE.get(name)}} == set()
