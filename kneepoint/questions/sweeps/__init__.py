"""Where is power greatest over one parameter, or over two on a grid?"""

from kneepoint.reports.parts import FINDINGS, FOUND, NETWORKS
from kneepoint.runs.question import Question, Section, Stage

QUESTION = Question(
    sections=(
        Section(FOUND, 10),
        Section(FINDINGS, 40, "finding"),
        Section(NETWORKS, 10, "networks"),
    ),
    stages=(
        Stage(
            groups=("studies", "published", "repeats", "hold_out"),
            tables=("sweeps", "sweep_points", "grid_cells", "grid_effects"),
        ),
    ),
    figures=("throughput-delay", "power-curve", "heat-map"),
)
