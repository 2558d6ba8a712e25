"""Statistics: intervals, bootstrap, paired comparisons, ranks, robust estimators, posterior.

Each function is tested against SciPy or a published example.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
