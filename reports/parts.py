"""The parts of a report, by which its claims and its files are sorted."""

AT_A_GLANCE = "At a glance"
PUBLISHED = "What was published"
FOUND = "What was found"
ELSEWHERE = "Does it hold elsewhere"
BEHAVES = "How it behaves"
TRUSTED = "Can it be trusted"
APPENDIX = "Appendix"
PARTS = (AT_A_GLANCE, PUBLISHED, FOUND, ELSEWHERE, BEHAVES, TRUSTED, APPENDIX)

_TABLES = {
    PUBLISHED: ("audit", "recovery"),
    FOUND: ("sweep", "grid", "search"),
    ELSEWHERE: ("held_out", "generality", "worst_cases", "hardening"),
    BEHAVES: ("comparison", "network_sweep", "traffic", "showcase", "series"),
    TRUSTED: (
        *("repeatability", "agreement", "confirmed", "again"),
        *("probe", "scheduling", "calibration", "wake"),
    ),
}
"""How the names of the tables in each part begin."""


def part_of_table(name: str) -> str:
    """Returns the part that a table of the analysis belongs to."""
    return next((part for part, begun in _TABLES.items() if name.startswith(begun)), APPENDIX)
