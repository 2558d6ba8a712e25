"""Statistics: intervals, bootstrap, paired comparisons, ranks, robust estimators, posteriors.

Functions are tested against SciPy or published examples.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
