"""Student's t distribution, without SciPy, which takes a second to import."""

import math
from functools import cache


def student_t_cdf(t: float, degrees: int) -> float:
    """P(T <= t) for a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    theta = math.atan(abs(t) / math.sqrt(degrees))
    odd = degrees % 2
    term, total = (math.cos(theta), 0.0) if odd else (1.0, 0.0)
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= math.cos(theta) ** 2 * k / (k + 1)
    within = 2 / math.pi * (theta + math.sin(theta) * total) if odd else math.sin(theta) * total
    return 0.5 + math.copysign(within / 2, t)


@cache
def student_t_quantile(probability: float, degrees: int) -> float:
    """The t with P(T <= t) = probability, for 0.5 <= probability < 1."""
    low, high = 0.0, 1.0
    while student_t_cdf(high, degrees) < probability:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if student_t_cdf(middle, degrees) < probability else (low, middle)
        )
    return high
