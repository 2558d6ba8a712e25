"""On which network does a controller do worst?"""

from kneepoint.reports.parts import ELSEWHERE
from kneepoint.runs.question import Question, Section, Stage

QUESTION = Question(
    sections=(Section(ELSEWHERE, 20),),
    stages=(Stage(groups=("studies", "published"), tables=("worst_cases",)),),
    figures=("worst-case",),
)
