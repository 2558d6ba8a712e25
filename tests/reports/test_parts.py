"""Every table is in a part of the report."""

from analysis.derived import WithDerived
from reports import parts
from reports.tables import tables
from tests.analysis import synthetic


def test_every_table_is_in_the_part_of_its_subject() -> None:
    names = [name for name, _ in tables(WithDerived(synthetic.analysed(synthetic.results())))]
    found = {name: parts.part_of_table(name) for name in names}
    assert not [name for name, part in found.items() if part == parts.APPENDIX]
    assert found["reports-beside-ours"] == parts.PUBLISHED
    assert found["held-out-gains"] == parts.ELSEWHERE
    assert found["tuning"] == parts.FOUND
