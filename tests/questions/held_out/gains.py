"""Simulated reports without a true gain: how often one claims a gain, and coverage of intervals.

    python -m tests.questions.held_out.gains 1000

Each configuration draws a shape, networks, seeds and controllers. A controller's true gain on a
network is drawn around the configuration's gain, which is zero, and each run around the network's
gain. The report's analysis computes the gains; a claim needs an interval over networks and a
corrected p value that both exclude zero. Interval and p value are compared with SciPy's, their
coverage with the truth.
"""

import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from kneepoint.questions.held_out import across
from kneepoint.questions.held_out.tables import SURE
from kneepoint.stats import Floats

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
SHAPES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(0, 1, shape),
    "heavy tails": lambda rng, shape: rng.standard_t(4, shape),
    "two kinds of link": lambda rng, shape: (
        rng.choice([-1.0, 1.0], shape) + rng.normal(0, 0.3, shape)
    ),
    "skewed": lambda rng, shape: (rng.gamma(4, 1, shape) - 4) / 2,
}
"""Distributions of a controller's gains over networks, with mean 0."""


def gains_of(rng: np.random.Generator, shape: str, controllers: int, networks: int) -> pd.DataFrame:
    """Returns the gains that the analysis finds without a true gain, each with SciPy's interval."""
    runs, spread = int(rng.integers(3, 9)), float(rng.uniform(0.05, 0.5))
    power = np.exp(rng.normal(-2, 0.7, (controllers, networks, 1)))
    truth = spread * SHAPES[shape](rng, (controllers, networks, 1))
    noise = [1 + 0.02 * rng.standard_normal((controllers, networks, runs)) for _ in range(2)]
    values = np.concatenate([power * noise[0], power * np.exp(truth) * noise[1]])
    place = range(controllers)
    pairs = {"published_trial": [*place], "tuned_trial": [controllers + at for at in place]}
    found = across.paired_gains(pd.DataFrame(pairs), values, range(2 * controllers))
    logs = np.log(values.mean(axis=2))
    judged = stats.ttest_1samp(logs[controllers:] - logs[:controllers], 0, axis=1)
    ends = judged.confidence_interval()
    return found.assign(judge_low=np.expm1(ends.low), judge_high=np.expm1(ends.high))


def simulate(configurations: int, seed: int = 1) -> dict[str, float]:
    """Returns shares: of configurations that claim `better` or `any` difference, of intervals over
    networks that cover zero gain (`covered`, also for each shape), of intervals over `seeds alone`
    that cover it; and the greatest difference from SciPy's ends (`off`).
    """
    rng, counts = np.random.default_rng(seed), Counter[str]()
    off = 0.0
    for number in range(configurations):
        shape = [*SHAPES][number % len(SHAPES)]
        found = gains_of(rng, shape, int(rng.integers(1, 14)), int(rng.integers(8, 21)))
        is_sure = found["gain_p"] <= SURE
        better, worse = is_sure & (found["gain_low"] > 0), is_sure & (found["gain_high"] < 0)
        counts["better"] += bool(better.any())
        counts["any"] += bool((better | worse).any())
        for name, low, high in (
            ("covered", "gain_low", "gain_high"),
            ("seeds alone", "seeds_low", "seeds_high"),
        ):
            inside = int(((found[low] <= 0) & (found[high] >= 0)).sum())
            counts[name] += inside
            counts[f"{name}, {shape}"] += inside
        counts["gains"] += len(found)
        counts[f"gains, {shape}"] += len(found)
        differences = (
            found[["gain_low", "gain_high"]].to_numpy() - found[["judge_low", "judge_high"]]
        )
        off = max(off, float(np.abs(differences).to_numpy().max()))
    shares = {name: counts[name] / configurations for name in ("better", "any")}
    for name in ("covered", "seeds alone"):
        shares[name] = counts[name] / counts["gains"]
    for shape in SHAPES:
        shares[f"covered, {shape}"] = counts[f"covered, {shape}"] / max(
            1, counts[f"gains, {shape}"]
        )
    return shares | {"off": off}


def main(configurations: int) -> None:
    """Prints the shares."""
    for name, share in simulate(configurations).items():
        print(f"{name:28} {share:.2g}" if name == "off" else f"{name:28} {100 * share:.1f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
