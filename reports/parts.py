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
    PUBLISHED: (
        *("reports-", "measured-", "agreement-", "audit-"),
        *("grid-", "recovery"),
    ),
    FOUND: ("history-", "sweep-", "tuning"),
    ELSEWHERE: ("held-out-", "worst-cases", "hardening-"),
    BEHAVES: ("comparison-", "network-sweep-", "rates-", "real-rates-"),
    TRUSTED: ("repeatability", "emulated-", "confirmed-", "outside", "probe-", "scheduling-"),
}
"""How the names of the tables in each part begin."""


def part_of_table(name: str) -> str:
    """Returns the part that a table of reports.tables is in."""
    return next((part for part, begun in _TABLES.items() if name.startswith(begun)), APPENDIX)
