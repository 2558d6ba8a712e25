"""The parts of a report, by which its claims and its files are sorted."""

from functools import cache

from kneepoint.runs.question import questions

FINDINGS = "Findings"
"""The list on the first page, of no part."""
DONE = "Done"
"""What was done, in a word or two of the subtitle."""
NETWORKS = "Networks"
"""Titles of the networks that a report is about, one a line."""
WORKS = "Works"
"""Works on which methods are based, among the references."""
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
    """Returns the part that a table of the analysis belongs to, or what is derived of tables."""
    from kneepoint.analysis.derived import question_of  # imports pandas

    question = question_of(name)
    return APPENDIX if question is None else questions()[question].sections[0].part
