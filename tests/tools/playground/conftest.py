import pytest

from kneepoint.common.config_file import read_config
from kneepoint.common.places import BUILT, SHIPPED
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.library import FILE
from kneepoint.tools.playground.page import MODULE, make_page


def require_module() -> None:
    if not all((BUILT / name).is_file() for name in (MODULE, FILE)):
        pytest.skip("NOT TESTED: no module; run `make wasm`")


@pytest.fixture(scope="session")
def playground() -> str:
    """The page as HTML."""
    require_module()
    return make_page()


def exercise_page(name: str) -> str:
    """The page of a shipped exercise."""
    require_module()
    return make_page(read_config(SHIPPED / f"exercises/{name}.yaml", Exercise))
