"""The parts of a report, by which its claims and its files are sorted."""

from dataclasses import replace
from functools import cache
from itertools import chain

from kneepoint.runs.question import Section, questions

FINDINGS = "Findings"
"""The list on the first page, of no part."""
AT_A_GLANCE = "At a glance"
PUBLISHED = "What was published"
FOUND = "What was found"
ELSEWHERE = "Does it hold elsewhere"
BEHAVES = "How it behaves"
TRUSTED = "Can it be trusted"
APPENDIX = "Appendix"
PARTS = {
    AT_A_GLANCE: "glance",
    PUBLISHED: "published",
    FOUND: "found",
    ELSEWHERE: "elsewhere",
    BEHAVES: "behaviour",
    TRUSTED: "trust",
    APPENDIX: "appendix",
}
"""In their order, with the names of their headings."""
BETWEEN = (PUBLISHED, FOUND, ELSEWHERE, BEHAVES, TRUSTED)
"""Those that are sections and nothing else."""

_SECTIONS = (
    Section(FINDINGS, 60, "parts/accuracy.md.jinja"),
    Section(TRUSTED, 20, "parts/agreement.md.jinja"),
    Section(TRUSTED, 50, "parts/host.md.jinja"),
)
_TABLES = {
    TRUSTED: (
        *("agreement", "confirmed", "again"),
        *("probe", "scheduling", "calibration", "wake"),
    ),
}
"""How the names of the tables in each part begin."""


@cache
def sections(part: str) -> list[str]:
    """Returns the templates of the sections of a part, or of the findings, in their order."""
    found = list(_SECTIONS)
    for name, question in questions().items():
        found += [
            replace(each, template=f"questions/{name}/{each.template}")
            for each in question.sections
        ]
    found.sort(key=lambda each: each.place)
    return [each.template for each in found if each.part == part]


def part_of_table(name: str) -> str:
    """Returns the part that a table of the analysis belongs to, or what is derived of tables."""
    of_tables = (
        question.sections[0].part
        for question in questions().values()
        if any(name in stage.tables for stage in question.stages)
    )
    begun = (part for part, begun in _TABLES.items() if name.startswith(begun))
    return next(chain(of_tables, begun), APPENDIX)
