"""Fetches packages of an older Debian release with apt, into private folders, without root."""

from pathlib import Path

from common.errors import KneepointError
from common.programs import complaint, require_program, run_program
from networks.apt_sources import derive_entries

_SUITE = "bullseye"  # the last Debian release that carries mahimahi


def unpack_debian_package(name: str, apt_folder: Path, work: Path) -> Path:
    """Downloads and unpacks a package and returns its folder.

    Args:
        name: name of the package.
        apt_folder: apt's configuration on this system, /etc/apt.
        work: empty folder for everything that apt writes.

    Raises:
        KneepointError: this is not a Debian system, or the download failed.
    """
    for tool in ("apt-get", "dpkg"):
        require_program(tool, "this is not a Debian system; choose another traces.source")
    entries = derive_entries(apt_folder, _SUITE)
    for folder in ("lists/partial", "cache/archives/partial", "entries", "package"):
        (work / folder).mkdir(parents=True)
    (work / "entries/traces.sources").write_text(entries)
    apt_get = ["apt-get", "-q", *_apt_options(work)]
    # Ignore the exit status: some mirrors may lack the release.
    update = run_program([*apt_get, "update"], work)
    download = run_program([*apt_get, "download", name], work)
    package = next(work.glob(f"{name}_*.deb"), None)
    if package is None:
        raise KneepointError(
            f"apt-get could not download {name} ({complaint(update, download)}); "
            "check the network and the apt sources of this machine"
        )
    unpacking = run_program(["dpkg", "-x", str(package), "package"], work)
    if unpacking.returncode != 0:
        raise KneepointError(f"dpkg could not unpack {name} ({complaint(unpacking)}); try again")
    return work / "package"


def _apt_options(work: Path) -> list[str]:
    settings = {
        "Dir::State::Lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": work / "entries",
        "Dir::Etc::Preferences": "/dev/null",  # the user's pins do not apply here
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Acquire::http::Timeout": "20",
        "Acquire::https::Timeout": "20",
        "Acquire::Retries": "1",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "",  # as root, apt would switch to a user without access
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
