"""Rules of the page's editor: examples, and the words of the language."""

from collections.abc import Iterable, Mapping

from kneepoint.search.language import ARGUMENTS, OUTPUTS, SIGNALS, Dimension

EXAMPLES: Mapping[str, str] = {
    "Two steps": "w = w + 0.1 if rtt < 40 else w - 0.5",
    "A target for the delay": """\
target = 30
w = w + 2 * w ** -0.5 * clip((target - owd) / target, -2, 1)
keepalive = 60""",
    "Found by a search": """\
q = 0.64 * owd + 0.36 * rtt
a = ewma(q, 0.76)
t = 10.6 * exp(clip(0.36 * log((rate(0.7) + 0.01) / (rate(5.7) + 0.01)), -1, 1))
e = (t - a - 3 * ewma(abs(q - a), 0.83)) / t
w = w + 1.5 * w ** -0.5 if e > 0 else w - 0.3 * (1 + 0.27 * min(-e, 8)) * w ** -0.25
window = w * exp(0.07 * clip((t - q) / t, -3, 1))
keepalive = 29""",
}
"""Texts by titles; docs/how-to/evolve-a-rule.md explains the last."""

_UNITS: Mapping[Dimension, str] = {"ms": "ms", "packets": "packets", "rate": "packets per ms"}


def words() -> list[str]:
    """Returns lines for readers who write a rule."""
    functions = (f"{name}({', '.join('xyz'[:count])})" for name, count in ARGUMENTS.items())
    return [
        f"Signals: {_named(SIGNALS.items())}.",
        f"A rule sets w or window, and may set others: {_named(OUTPUTS.items())}.",
        f"Operations: + - * / **, x if a > b else y, {', '.join(functions)}.",
        "ewma(x, y) averages x with the weight y, change(x) is the difference from the previous "
        "acknowledgment, rate(x) counts acknowledgments per ms over about x seconds.",
    ]


def _named(quantities: Iterable[tuple[str, Dimension]]) -> str:
    return ", ".join(f"{name} ({_UNITS[dimension]})" for name, dimension in quantities)
