"""Settings fitted to a table before anything else is compared."""

from collections.abc import Iterator

from reports.content import Section
from reports.discover import searches
from reports.sections import Context, search

ORDER = 15


def compose(context: Context) -> Iterator[Section]:
    """One section for each fit."""
    for found in searches(context.results):
        if found.fit:
            yield search.section(context, found)
