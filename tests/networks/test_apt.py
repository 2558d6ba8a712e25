from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.networks.apt import derive_entries


def apt_folder(tmp_path: Path, **files: str) -> Path:
    """Writes files of an apt folder; `x__list` stands for sources.list.d/x.list."""
    (tmp_path / "sources.list.d").mkdir()
    for name, content in files.items():
        if name == "sources_list":
            (tmp_path / "sources.list").write_text(content)
        else:
            (tmp_path / "sources.list.d" / name.replace("__", ".")).write_text(content)
    return tmp_path


def test_derive_entries_from_deb822(tmp_path: Path) -> None:
    folder = apt_folder(
        tmp_path,
        debian__sources="""\
# the mirror
Types: deb deb-src
URIs: http://mirror.example/debian
# a comment within
Suites: bookworm bookworm-updates
Components: main non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
""",
    )
    assert derive_entries(folder, "bullseye") == (
        "types: deb\n"
        "uris: http://mirror.example/debian\n"
        "suites: bullseye\n"
        "components: main\n"
        "signed-by: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def test_derive_entries_from_one_line_style(tmp_path: Path) -> None:
    folder = apt_folder(
        tmp_path,
        sources_list="""\
deb [arch=amd64,arm64 signed-by=/keys/a.gpg] http://mirror.example/debian trixie main contrib # ours
deb-src http://mirror.example/debian trixie main
# deb http://old.example/debian trixie main
deb http://mirror.example/debian trixie-updates main
deb cdrom:[Debian 13]/ trixie main
""",
    )
    assert derive_entries(folder, "bullseye") == (
        "types: deb\n"
        "architectures: amd64 arm64\n"
        "signed-by: /keys/a.gpg\n"
        "uris: http://mirror.example/debian\n"
        "suites: bullseye\n"
        "components: main\n"
    )


@pytest.mark.parametrize(
    "entry",
    [
        "deb http://other.example/debian bookworm stable\n",  # another vendor's component
        "deb http://other.example/apt cloud-sdk-bookworm main\n",  # another vendor's suite
        "deb http://mirror.example/ubuntu noble main universe\n",
        "deb http://other.example/flat ./\n",
        "",
    ],
)
def test_derive_entries_refuse_a_system_without_debian(tmp_path: Path, entry: str) -> None:
    folder = apt_folder(tmp_path, sources_list=entry)
    with pytest.raises(KneepointError, match="no source entry of a Debian release"):
        derive_entries(folder, "bullseye")
