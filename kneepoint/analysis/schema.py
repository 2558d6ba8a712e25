"""The stages of the analysis, and the schema of each table that they write.

Questions declare most stages (see kneepoint.runs.question); the inventory has all runs. Delays are
95th percentiles. A relative difference is our value over the other value, minus 1.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kneepoint.common.notes import require_sealed
from kneepoint.runs.question import Stage, counts, stages

if TYPE_CHECKING:  # imports pyarrow, which the workflow's rules do not need
    from kneepoint.common.tables import Table, TableFolder

NAMES = "names"
"""The table that every figure reads besides its other tables."""

_INVENTORY = Stage(
    groups=("studies", "real_studies", *(name for each in counts() for name in each.groups)),
    tables=("inventory", "parameters", NAMES, "exclusions", "settings_run"),
    module="kneepoint.analysis.inventory",
)
STAGES: Mapping[str, Stage] = {**stages(), "inventory": _INVENTORY}
"""Every stage, by its name; no stage reads a table of a later stage."""
_STAGE_OF = {table: name for name, stage in STAGES.items() for table in stage.tables}


class _Tables(Mapping[str, "Table"]):
    """The schemas of all tables; a stage's module is imported at the first access."""

    def __getitem__(self, name: str) -> "Table":
        module = import_module(STAGES[_STAGE_OF[name]].module)
        found: Table = next(table for table in module.TABLES if table.name == name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_STAGE_OF)

    def __len__(self) -> int:
        return len(_STAGE_OF)


TABLES: Mapping[str, "Table"] = _Tables()
"""Every table, by its name."""


def tables_in(results: Path) -> "TableFolder":
    """Returns the tables in a folder of results; refuses a table changed since it was written."""
    from kneepoint.common.tables import TableFolder

    def check(path: Path) -> None:
        require_sealed(sealed_as(path.parent, _STAGE_OF[path.stem]), path)

    return TableFolder(results, TABLES, check)


def sealed_as(results: Path, stage: str) -> str:
    """Returns the name under which a stage records the digests of its tables."""
    return f"{results}/stages/{stage}"
