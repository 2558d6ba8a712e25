"""Identifiers in prose: `rtt_threshold_ms` becomes "RTT threshold", in ms."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kneepoint.common.units import suffix_of, unit_of

_ACRONYMS = (
    *("aimd", "rtt", "bbr", "timely", "tangra", "tcp", "tpe", "lte", "cubic", "ewma"),
    *("abc", "bic", "c4", "dalida", "ledbat", "pid"),
)
_PROPER = ("reno", "copa", "hybla", "prague", "sprout", "swift", "vegas", "verus", "vivace")
_SPELLED = {name: name.upper() for name in _ACRONYMS} | {name: name.title() for name in _PROPER}
_PUBLISHED = {
    **{"aimd_soph": "AIMDSoph", "fast_tcp": "FAST TCP", "bbr3": "BBRv3"},
    **{"ledbat_pp": "LEDBAT++", "sprout_ewma": "Sprout-EWMA"},
}
"""Names of controllers as their authors spell them."""
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
"""The text in place of a missing number."""


_own: dict[str, str] = {}


@contextmanager
def printed_as(names: Mapping[str, str]) -> Iterator[None]:
    """Makes `words` use the names of parameters and controllers that a report sets."""
    _own.update(names)
    try:
        yield
    finally:
        _own.clear()


def words(name: str) -> str:
    """Returns a name as words, without its unit: acronyms in capitals, proper names capitalised."""
    if known := _own.get(name) or _PUBLISHED.get(name):
        return known
    name = name.removeprefix("network_")
    parts = name.removesuffix(f"_{suffix_of(name)}").split("_")
    return " ".join(_SPELLED.get(part, part) for part in parts)


def sentence(name: str) -> str:
    """Returns `words` with a capital first letter."""
    text = words(name)
    return text if name in _own else text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """Returns a text for the middle of a sentence; an acronym at its start keeps its capitals."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def axis(name: str, given_unit: str = "") -> str:
    """Returns the label of an axis: words and unit."""
    shown = given_unit or unit_of(name)
    return f"{sentence(name)} ({shown})" if shown else sentence(name)


def number(value: float) -> str:
    """Formats a value without needless digits; a dash for a missing value."""
    if value != value:
        return DASH
    return f"{value:.4g}" if abs(value) < 10000 else f"{value:.0f}"


def parameters(values: Mapping[str, float]) -> str:
    """Formats parameters as `window 12, alpha 0.1`."""
    return ", ".join(f"{words(name)} {number(value)}" for name, value in values.items())


def parameters_with_units(values: Mapping[str, float], units: Mapping[str, str]) -> str:
    """Formats `window 12 packets, keepalive 80 ms`; units default to the names' suffixes."""
    return ", ".join(
        f"{words(name)} {number(value)} {units.get(name, unit_of(name))}".rstrip()
        for name, value in values.items()
    )


def differing(
    values: Mapping[str, float], others: Iterable[Mapping[str, float]]
) -> dict[str, float]:
    """Returns the parameters of a setting that differ in any of the other settings."""
    alike = list(others)
    return {
        name: value
        for name, value in values.items()
        if any(other.get(name) != value for other in alike)
    }


def setting(controller: str, values: Mapping[str, float]) -> str:
    """Formats a controller with parameters: `fixed window 12`, `AIMD RTT, alpha 1`."""
    name = words(controller)
    if len(values) == 1 and name.endswith(words(next(iter(values)))):
        return f"{name} {number(next(iter(values.values())))}"
    return f"{name}, {parameters(values)}" if values else name


def joined(items: list[str]) -> str:
    """Formats a list in prose: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def percent(ratio: float, decimals: int = 1, signed: bool = False) -> str:
    """Formats a ratio in per cent, with a real minus sign; a dash for a missing value."""
    if ratio != ratio:
        return DASH
    text = f"{100 * ratio:{'+' if signed else ''}.{decimals}f}"
    return minus(text) + "\N{NO-BREAK SPACE}%"


def minus(text: str) -> str:
    """Replaces the hyphen of a number by a minus sign; zero has no sign."""
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def is_known(value: Any) -> bool:
    """Returns whether a value is neither None nor NaN."""
    return value is not None and value == value


def fixed(value: float, decimals: int, sign: str = "") -> str:
    """Formats a number with these decimals and a real minus sign; a dash for a missing value."""
    return minus(f"{value:{sign}.{decimals}f}") if is_known(value) else DASH


def plus_minus(mean: float, half_width: float, decimals: int) -> str:
    """Formats a mean and half the width of its interval, as far as they are known."""
    text = fixed(mean, decimals)
    if not (is_known(mean) and is_known(half_width)):
        return text
    return f"{text}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{half_width:.{decimals}f}"


def count(n: int, noun: str, plural: str = "") -> str:
    """Formats a count with its noun: `1 run`, `2 runs`."""
    return f"{n} {noun}" if n == 1 else f"{n:,} {plural or noun + 's'}"


def agree(n: int, singular: str, plural: str) -> str:
    """Returns the singular or plural form for a number: `is` for 1, `are` for 2."""
    return singular if n == 1 else plural


def chance(margin: float, runs: int) -> str:
    """Returns the difference due to chance as a phrase: `0.4 % that chance explains ...`."""
    between = "two runs" if runs == 1 else f"two means of {runs} runs"
    return f"{percent(margin, 2 if margin < 0.001 else 1)} that chance explains between {between}"
