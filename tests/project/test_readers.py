"""One reader of each format: others keep the last of two equal keys without a word."""

import ast

import pytest

from tests.conftest import ROOT

READERS = {
    "common/json_text.py": {"json.loads", "json.load"},
    "common/config_file.py": {"yaml.load", "yaml.safe_load"},
    "common/csv_text.py": {"csv.reader", "csv.DictReader"},
}
ELSEWHERE = {
    "contest/aliases.py": "csv.reader",  # its header must be what it writes
    "common/notes.py": "csv.reader",  # of which only a digest is made
}
PACKAGES = ("analysis", "common", "contest", "engines", "experiments", "kneepoint", "networks")
FILES = sorted(
    path for name in (*PACKAGES, "reports", "search") for path in (ROOT / name).rglob("*.py")
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
