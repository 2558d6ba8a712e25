"""A storage that cannot be used is one line, without its password."""

import pytest

from common.errors import KneepointError
from search.storage_copy import open_storage

SECRET = "s3cret"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://bob:{SECRET}@[::1/db",
        f"postgresql://bob:{SECRET}@host:port/db",
        f"bob:{SECRET}@host/db",
        f"nosuch://bob:{SECRET}@host/db",
        f"nosuch://host/db?password={SECRET}",
        f"nosuch://bob:begins@{SECRET}@host/db",
        f"sqlite:///absent/{{}}/db?password={SECRET}",
        f"sqlite:////absent/db?{SECRET}=1&timeout={SECRET}",
    ],
)
def test_unusable_storage_is_one_line_without_secrets(url: str) -> None:
    with pytest.raises(KneepointError) as raised:
        open_storage(url)
    said = str(raised.value)
    assert said.startswith("storage")
    assert SECRET not in said
    assert "correct" in said
