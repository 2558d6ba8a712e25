"""A search of one constant for its single peak."""

from collections.abc import Iterator

from reports.content import Section
from reports.discover import searches
from reports.sections import Context, search
from reports.subjects import ONE_PEAK

ORDER = 20


def compose(context: Context) -> Iterator[Section]:
    """One section for each such search."""
    for found in searches(context.results):
        if found.sampler in ONE_PEAK and not found.fit:
            yield search.section(context, found)
