"""The parts of a report, which order its sections, claims and files."""

from functools import cache

from kneepoint.runs.question import questions

FINDINGS = "Findings"
"""The list of findings on the first page, outside the parts."""
DONE = "Done"
"""Words of the subtitle that name the work done."""
NETWORKS = "Networks"
"""Titles of the report's networks, one per line."""
WORKS = "Works"
"""Works that methods are based on, for the references."""
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
"""The ids of the parts' headings, in order."""
MIDDLE_PARTS = (PUBLISHED, FOUND, ELSEWHERE, BEHAVES, TRUSTED)
"""Parts that consist of questions' sections only."""


@cache
def sections(part: str) -> list[tuple[str, str]]:
    """Returns the sections of a part, or the findings, in their order: template and macro."""
    found = [
        (each.order, (f"questions/{name}/section.md.jinja", each.says))
        for name, question in questions().items()
        for each in question.sections
        if each.part == part
    ]
    return [section for _, section in sorted(found)]


def part_of_table(name: str) -> str:
    """Returns the part that an analysis table, or a table derived from one, belongs to."""
    from kneepoint.analysis.derived import question_of  # imports pandas

    question = question_of(name)
    return APPENDIX if question is None else questions()[question].sections[0].part
