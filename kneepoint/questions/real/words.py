"""What the templates call by the question's name."""

from kneepoint.questions.real.confirmed import CALIBRATION as CALIBRATION
from kneepoint.questions.real.confirmed import NEAR as NEAR
from kneepoint.questions.real.tables import CERTAINTY as CERTAINTY
from kneepoint.questions.real.tables import GOAL as GOAL
from kneepoint.questions.real.tables import GOAL_MS as GOAL_MS
