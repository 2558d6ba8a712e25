"""Templates, whose questions may be missing."""

import re

from kneepoint.analysis.derived import derived
from kneepoint.analysis.schema import TABLES
from kneepoint.reports.compose import TEMPLATES
from kneepoint.runs.question import FOLDER


def test_templates_ask_for_tables_that_somebody_makes() -> None:
    """`rows` of an unknown table are empty, as for a missing question."""
    templates = [*TEMPLATES.rglob("*.jinja"), *FOLDER.rglob("*.jinja")]
    asked = {
        name for path in templates for name in re.findall(r'rows\("(\w+)"\)', path.read_text())
    }
    assert len(asked) > 10
    assert asked <= {*TABLES, *derived()}
