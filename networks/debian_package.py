"""Packages of an older Debian release, fetched by apt into private folders, without root."""

from pathlib import Path

from common.errors import KneepointError
from common.programs import complaint, require_program, run_program
from networks.apt_sources import debian_entries

_SUITE = "bullseye"  # the last Debian release that carries mahimahi


def unpack_debian_package(name: str, apt_folder: Path, work: Path) -> Path:
    """Downloads a package and returns the folder that it is unpacked into.

    Args:
        name: the package.
        apt_folder: the sources of apt on this system, /etc/apt.
        work: an empty folder for everything that apt writes.

    Raises:
        KneepointError: this is no Debian system, or the package cannot be had.
    """
    for tool in ("apt-get", "dpkg"):
        require_program(tool, "this is no Debian system; take another source of traces")
    entries = debian_entries(apt_folder, _SUITE)
    for folder in ("lists/partial", "cache/archives/partial", "entries", "package"):
        (work / folder).mkdir(parents=True)
    (work / "entries/traces.sources").write_text(entries)
    apt_get = ["apt-get", "-q", *_apt_options(work)]
    # Its exit status says too little: one mirror of several may have no such release.
    update = run_program([*apt_get, "update"], work)
    download = run_program([*apt_get, "download", name], work)
    package = next(work.glob(f"{name}_*.deb"), None)
    if package is None:
        raise KneepointError(
            f"apt-get could not download it ({complaint(update, download)}); "
            "check the network and the apt sources of this machine"
        )
    unpacking = run_program(["dpkg", "-x", str(package), "package"], work)
    if unpacking.returncode != 0:
        raise KneepointError(f"dpkg could not unpack it ({complaint(unpacking)}); try again")
    return work / "package"


def _apt_options(work: Path) -> list[str]:
    settings = {
        "Dir::State::Lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": work / "entries",
        "Dir::Etc::Preferences": "/dev/null",  # a pin against old releases is not about us
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Acquire::http::Timeout": "20",
        "Acquire::https::Timeout": "20",
        "Acquire::Retries": "1",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "",  # as root, apt would change to a user who cannot write here
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
