"""What did searches find, with which certainty, and what do fits to published tables recover?"""

from kneepoint.reports.parts import APPENDIX, DONE, FINDINGS, FOUND, NETWORKS, TRUSTED, WORKS
from kneepoint.runs.question import Question, Section, Stage

QUESTION = Question(
    sections=(
        Section(FOUND, 20),
        Section(FOUND, 5, "failures"),
        Section(TRUSTED, 40, "in_real_time"),
        Section(TRUSTED, 70, "fits"),
        Section(FINDINGS, 30, "finding"),
        Section(APPENDIX, 10, "explained"),
        Section(DONE, 20, "done"),
        Section(NETWORKS, 20, "networks"),
        Section(WORKS, 20, "works"),
    ),
    stages=(
        Stage(
            groups=(
                *("studies", "published", "repeats", "hold_out"),
                *("real_studies", "real_repeats"),
            ),
            tables=(
                "searches",
                "search_parameters",
                "search_networks",
                "search_trials",
                "search_failures",
                "recovery_rows",
            ),
        ),
    ),
    figures=("searches", "search-front", "search-pair", "search-slices"),
)
