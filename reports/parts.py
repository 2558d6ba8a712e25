"""The parts of a report, by which its claims and its files are sorted."""

AT_A_GLANCE = "At a glance"
PUBLISHED = "What was published"
FOUND = "What was found"
ELSEWHERE = "Does it hold elsewhere"
BEHAVES = "How it behaves"
TRUSTED = "Can it be trusted"
APPENDIX = "Appendix"
PARTS = (AT_A_GLANCE, PUBLISHED, FOUND, ELSEWHERE, BEHAVES, TRUSTED, APPENDIX)

FIGURES = {
    AT_A_GLANCE: ("at-a-glance",),
    PUBLISHED: ("published-against-ours",),
    FOUND: (
        *("throughput-delay", "power-curve", "heat-map", "other-constant", "searches"),
        *("search-bracket", "search-contours", "search-curve"),
        *("search-front", "search-history", "search-slices"),
    ),
    ELSEWHERE: (
        *("plane", "held-out-gain", "held-out-map", "held-out-profiles", "held-out-ranks"),
        *("worst-case", "hardening"),
    ),
    BEHAVES: (
        *("run-over-time", "delay-distribution", "network-sweep"),
        *("comparison-figures", "comparison-flows", "comparison-shares", "comparison-windows"),
    ),
    TRUSTED: ("repeatability", "agreement", "probe", "waits"),
}
"""The kinds of figures in each part."""
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


def part_of_figure(kind: str) -> str:
    """Returns the part of a kind of figures: the appendix unless another names it."""
    return next((part for part, kinds in FIGURES.items() if kind in kinds), APPENDIX)


def part_of_table(name: str) -> str:
    """Returns the part that a table of reports.tables is in."""
    return next((part for part, begun in _TABLES.items() if name.startswith(begun)), APPENDIX)
