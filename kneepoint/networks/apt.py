"""Runs apt in separate folders, with package sources of an older release."""

import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.programs import complaint, find_program, run_program

APT = Path("/etc/apt")
LAST_DEBIAN = "bullseye"
"""The last Debian release that packages mahimahi."""

Stanza = dict[str, str]

# Entries with these suites belong to Debian; third parties use other names or components.
_DEBIAN_SUITES = frozenset(
    "stable oldstable oldoldstable testing unstable sid "
    "buster bullseye bookworm trixie forky duke".split()
)
# sources.list(5): deb [option=value,value ...] URI SUITE COMPONENT...
_ONE_LINE = re.compile(
    r"^[ \t]*deb[ \t]+(?:\[([^]\n]*)\][ \t]*)?(?!cdrom:)(\S+)[ \t]+(\S+)[ \t]*([^#\n]*)",
    re.MULTILINE,
)
# A line with leading whitespace continues the field.
_FIELD = re.compile(r"^([^\s:#]+):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)
_SPELLED = {"arch": "architectures", "lang": "languages"}


def derive_entries(
    apt_folder: Path,
    suite: str,
    components: str = "main",
    from_suites: Set[str] = _DEBIAN_SUITES,
) -> str:
    """Returns deb822 source entries for `suite` with the mirrors and keys of this system.

    Entries of other vendors and of security and update suites do not count; raises KneepointError
    if no entry is left.
    """
    derived: dict[str, None] = {}
    for stanza in _read_entries(apt_folder):
        if (
            stanza.get("enabled", "yes").lower() in ("yes", "true", "1")
            and "deb" in stanza.get("types", "").split()
            and "main" in stanza.get("components", "").split()
            and not from_suites.isdisjoint(stanza.get("suites", "").split())
        ):
            entry = stanza | {"types": "deb", "suites": suite, "components": components}
            derived["".join(f"{field}: {value}\n" for field, value in entry.items())] = None
    if not derived:
        release = "a Debian release" if from_suites is _DEBIAN_SUITES else "/".join(from_suites)
        raise KneepointError(
            f"{apt_folder}: has no source entry of {release} from which to derive one of {suite}; "
            "add one, or choose another traces.source in the configuration"
        )
    return "\n".join(derived)


def _read_entries(apt_folder: Path) -> Iterator[Stanza]:
    """Yields all entries of sources.list and sources.list.d; names of fields are in lower case."""
    parts = apt_folder / "sources.list.d"
    for path in (apt_folder / "sources.list", *sorted(parts.glob("*.list"))):
        text = path.read_text(errors="replace") if path.is_file() else ""
        for options, uri, suites, components in _ONE_LINE.findall(text):
            stanza = {"types": "deb"}
            for name, _, value in (option.partition("=") for option in options.split()):
                field = name.lower()
                stanza[_SPELLED.get(field, field)] = value.replace(",", " ")
            yield stanza | {"uris": uri, "suites": suites, "components": components.strip()}
    for path in sorted(parts.glob("*.sources")):
        text = re.sub(r"^#.*\n", "", path.read_text(errors="replace"), flags=re.MULTILINE)
        for block in re.split(r"\n[ \t]*\n", text):
            yield {name.lower(): value.rstrip() for name, value in _FIELD.findall(block)}


def apt_get(folder: Path, entries: str, settings: Mapping[str, object]) -> list[str]:
    """Returns apt-get with its own sources, preferences, lists and cache in an empty folder.

    It reads the subfolders `sources`, where the entries (deb822) go, and `preferences`.
    """
    for name in ("sources", "preferences", "lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True)
    if entries:
        (folder / "sources/kneepoint.sources").write_text(entries)
    own = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": folder / "sources",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": folder / "preferences",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder,
        "Acquire::Languages": "none",
        "Acquire::Retries": 2,
        **settings,
    }
    return ["apt-get", "-q", *(f"-o{name}={value}" for name, value in own.items())]


def unpack_debian_package(name: str, work: Path, apt_folder: Path = APT) -> Path:
    """Unpacks a package of an older Debian release in an empty folder, without root.

    Returns the package's folder; raises KneepointError if it cannot be downloaded or unpacked.
    """
    for tool in ("apt-get", "dpkg"):
        find_program(tool, "this is not a Debian system; choose another traces.source")
    settings = {
        "Acquire::http::Timeout": 20,
        "Acquire::https::Timeout": 20,
        "APT::Sandbox::User": "",  # as root, apt would switch to a user without access
    }
    own = apt_get(work, derive_entries(apt_folder, LAST_DEBIAN), settings)
    # Ignore the exit status: some mirrors may lack the release.
    update = run_program([*own, "update"], work)
    download = run_program([*own, "download", name], work)
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
