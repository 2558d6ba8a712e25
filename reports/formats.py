"""Numbers, names and lists as the report writes them: filters and functions of the templates."""

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record
from kneepoint.analysis.labels import DASH, fixed, is_known
from kneepoint.analysis.metrics import FIGURES, METRICS, in_steps
from kneepoint.common.json_text import parse_json
from kneepoint.common.units import unit_of
from kneepoint.reports.blocks import Column
from kneepoint.reports.templating import content, element, joined

_MAX_LISTED = 6
_NETWORK_PARAMETERS = {"network_queue_packets": "buffer"}


def times_100(ratio: float, decimals: int = 1, sign: str = "") -> str:
    """Returns a ratio in per cent without the sign %, for columns with this unit."""
    return fixed(100 * ratio, decimals, sign)


def signed_percent(ratio: float, decimals: int = 1) -> str:
    """Returns a ratio in per cent with its sign."""
    return labels.percent(ratio, decimals, signed=True)


def significant(value: float, digits: int) -> str:
    """Returns a number with these significant digits, without trailing zeros."""
    return f"{value:.{digits}g}"


def between(low: float, high: float, decimals: int | None = None) -> str:
    """Returns a range, `1.0 to 2.5`; a dash if it is unknown."""
    if not is_known(low):
        return DASH
    ends = [labels.number(end) if decimals is None else fixed(end, decimals) for end in (low, high)]
    return " to ".join(ends)


def signed_range(low: float, high: float) -> str:
    """Returns a range of ratios in per cent, `+1.0 to +2.5`; a dash if it is unknown."""
    ends = times_100(low, sign="+"), times_100(high, sign="+")
    return " to ".join(ends) if is_known(low) else DASH


def with_range(value: float, low: float, high: float) -> str:
    """Returns a value with two decimals and, if known, its range: `1.50 (1.00 to 2.00)`."""
    return fixed(value, 2) + (f" ({between(low, high, 2)})" if is_known(low) else "")


def times_100_with_range(ratio: float, low: float, high: float, sign: str = "") -> str:
    """Returns a ratio and, if known, its range in per cent without the sign %."""
    text, *ends = (times_100(each, 1, sign) for each in (ratio, low, high))
    return f"{text} ({' to '.join(ends)})" if is_known(low) else text


def range_in_brackets(low: float, high: float) -> str:
    """Returns ` (+1.0 to +2.5 %)` for a range of ratios; nothing if it is unknown."""
    if not (is_known(low) and is_known(high)):
        return ""
    return f" ({times_100(low, sign='+')} to {signed_percent(high)})"


def mean_with_range(line: Record, prefix: str = "") -> str:
    """Returns a mean of runs and, where they differ, their range: `20.1 (19.5 to 20.4)`.

    Args:
        line: a row with the columns mean, least, greatest and n, and the metric of a flow.
        prefix: prefix of these columns' names.
    """
    decimals = FIGURES[line["metric"]].decimals
    names = (f"{prefix}mean", f"{prefix}least", f"{prefix}greatest")
    mean, least, greatest = (fixed(line[name], decimals) for name in names)
    is_spread = line[prefix + "n"] > 1 and least != greatest
    return f"{mean} ({least} to {greatest})" if is_spread else mean


def published_range(line: Record) -> str:
    """Returns a published number of a flow, or its range, with the printed digits."""
    low, high = line["published"], line["published_high"]
    return " to ".join(in_steps(end, line["step"]) for end in (low, high) if is_known(end))


def flow_metric(line: Record) -> str:
    """Returns the source, name and unit of a flow's metric: `Video, mean RTT, ms`."""
    metric = FIGURES[line["metric"]]
    named = [labels.words(line["source"]), labels.lower_first(metric.title), metric.unit]
    return ", ".join(filter(None, named))


def with_unit(metric: str) -> str:
    """Returns a metric's name and unit: `Power, Mbit/s/s`."""
    return f"{METRICS[metric].title}, {METRICS[metric].unit}"


def column_of_metric(metric: str) -> Column:
    """Returns the column of a metric of runs."""
    return Column(METRICS[metric].title, METRICS[metric].unit)


def column_of_source(line: Record) -> Column:
    """Returns the column of a flow's metric, under the flow or probe that it comes from."""
    metric = FIGURES[line["metric"]]
    return Column(metric.title, metric.unit, labels.sentence(line["source"]))


def controller_with_power(setting: Record) -> str:
    """Returns a setting's controller with its power: `TIMELY (22.30 ± 0.12)`."""
    power = labels.plus_minus(setting["power"], setting["half_width"], 2)
    return f"{labels.words(setting['controller'])} ({power})"


def opponent_of(case: Record) -> str:
    """Returns the sender to which the power of a worst case is relative."""
    opponent = case["opponent"]
    return labels.words(opponent) if is_known(opponent) else "the omniscient sender"


def network_parameter(name: str) -> str:
    """Returns a parameter of a network or controller as words."""
    return _NETWORK_PARAMETERS.get(name, labels.words(name))


def parameters(values: Mapping[str, float] | str) -> str:
    """Returns parameters, which may be JSON, as text: `window 12, alpha 0.1`."""
    return labels.parameters(parsed(values))


def parsed(values: Mapping[str, float] | str) -> Mapping[str, float]:
    """Returns parameters as a mapping; the argument may be JSON."""
    found: Mapping[str, float] = parse_json(values) if isinstance(values, str) else values
    return found


def listed_values(values: Iterable[float]) -> str:
    """Lists values in prose; of more than _MAX_LISTED values, their number and range."""
    numbers = [labels.number(value) for value in sorted(values)]
    if len(numbers) <= _MAX_LISTED:
        return joined(numbers)
    return f"{len(numbers)} values, from {numbers[0]} to {numbers[-1]}"


def mid_sentence(title: str) -> str:
    """Returns a title for the middle of a sentence: with a leading article in lower case."""
    first, space, rest = title.partition(" ")
    return first.lower() + space + rest if first in ("A", "An", "The") else title


def work(authors: str, title: str, where: str, doi: str = "") -> Markup:
    """Returns a work that a method is based on, as an item of the references."""
    named = [authors.removesuffix("."), title, f"{where}, doi:{doi}" if doi else where]
    return element("li", f"{'. '.join(named)}.")


def reference(source: Record) -> Markup:
    """Returns a source that the report's configuration names, without a full stop.

    Args:
        source: the source's names, and either authors, title, year, doi and url, or the text
            `source`.
    """
    names = joined(source["names"])
    if "title" not in source:
        text = content(source["source"])
        is_named = source["source"].startswith(source["names"][0])
        return text if is_named else Markup("{}: {}").format(names, text)
    told = [", ".join(source["authors"]), source["title"], str(source["year"] or "")]
    doi = f"https://doi.org/{source['doi']}" if source["doi"] else ""
    links = [(doi, f"doi:{source['doi']}"), (source["url"], source["url"])]
    written = [element("a", text, href=target) for target, text in links if target]
    text = content(". ".join(filter(None, told)))
    return Markup("{}: {}").format(names, Markup(", ").join([text, *written]))


FILTERS: Mapping[str, Any] = {
    **{
        each.__name__: each
        for each in (
            controller_with_power,
            fixed,
            in_steps,
            labels.percent,
            labels.words,
            listed_values,
            mid_sentence,
            network_parameter,
            parameters,
            signed_percent,
            significant,
            times_100,
        )
    },
    "words_capitalised": labels.sentence,
    "unit": unit_of,
    "capital": lambda text: text[:1].upper() + text[1:],
    "us_to_ms": lambda microseconds: microseconds / 1000,
    "row_number": lambda row: row + 1,  # tables count rows from 0, readers from 1
    "distinct": lambda items: list(dict.fromkeys(items)),
    "from_json": parse_json,
}
FUNCTIONS: Mapping[str, Any] = {
    each.__name__: each
    for each in (
        between,
        column_of_metric,
        column_of_source,
        flow_metric,
        labels.chance,
        labels.plus_minus,
        mean_with_range,
        opponent_of,
        published_range,
        range_in_brackets,
        reference,
        signed_range,
        times_100_with_range,
        with_range,
        with_unit,
        work,
    )
}
