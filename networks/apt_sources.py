"""Derives apt source entries for an older release from those of this system."""

from collections.abc import Iterator, Set
from pathlib import Path

from common.errors import KneepointError

Stanza = dict[str, str]

# Entries with these suites belong to Debian; third parties use other names or components.
_DEBIAN_SUITES = frozenset(
    "stable oldstable oldoldstable testing unstable sid "
    "buster bullseye bookworm trixie forky duke".split()
)


def derive_entries(
    apt_folder: Path,
    suite: str,
    components: str = "main",
    from_suites: Set[str] = _DEBIAN_SUITES,
) -> str:
    """Returns deb822 source entries for `suite` with the mirrors and keys of this system.

    The function skips entries of other vendors and of security and update suites.

    Raises:
        KneepointError: the system has no entry of one of `from_suites`.
    """
    derived: list[str] = []
    for stanza in _read_entries(apt_folder):
        suites = stanza.get("suites", "").split()
        if (
            stanza.get("enabled", "yes").lower() in ("yes", "true", "1")
            and "deb" in stanza.get("types", "").split()
            and "main" in stanza.get("components", "").split()
            and not from_suites.isdisjoint(suites)
        ):
            entry = stanza | {"types": "deb", "suites": suite, "components": components}
            text = "".join(f"{field}: {value}\n" for field, value in entry.items())
            if text not in derived:
                derived.append(text)
    if not derived:
        release = "a Debian release" if from_suites is _DEBIAN_SUITES else "/".join(from_suites)
        raise KneepointError(
            f"{apt_folder}: has no source entry of {release}, from which that of {suite} would be "
            "derived; add one, or choose another traces.source in the configuration"
        )
    return "\n".join(derived)


def _read_entries(apt_folder: Path) -> list[Stanza]:
    """Returns all entries of sources.list and sources.list.d, fields in lower case."""
    entries: list[Stanza] = []
    parts = apt_folder / "sources.list.d"
    for path in (apt_folder / "sources.list", *sorted(parts.glob("*.list"))):
        if path.is_file():
            entries.extend(_parse_one_line_style(path.read_text(errors="replace")))
    for path in sorted(parts.glob("*.sources")):
        entries.extend(_parse_deb822_style(path.read_text(errors="replace")))
    return entries


def _parse_one_line_style(text: str) -> Iterator[Stanza]:
    """Parses `deb [option=value,value ...] URI SUITE COMPONENT...` (sources.list(5))."""
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        kind, _, rest = line.partition(" ")
        if kind not in ("deb", "deb-src"):
            continue
        stanza: Stanza = {"types": kind}
        rest = rest.strip()
        if rest.startswith("["):
            options, _, rest = rest[1:].partition("]")
            for option in options.split():
                name, _, value = option.partition("=")
                field = {"arch": "architectures", "lang": "languages"}.get(name.lower(), name)
                stanza[field.lower()] = value.replace(",", " ")
        words = rest.split()
        if len(words) >= 2 and not words[0].startswith("cdrom:"):
            stanza |= {"uris": words[0], "suites": words[1], "components": " ".join(words[2:])}
            yield stanza


def _parse_deb822_style(text: str) -> Iterator[Stanza]:
    """Parses stanzas of `Field: value`; a line with leading whitespace continues the field."""
    stanza: Stanza = {}
    field = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if stanza:
                yield stanza
            stanza, field = {}, ""
        elif line[0] in " \t" and field:
            stanza[field] += f"\n{line}"
        elif ":" in line:
            name, _, value = line.partition(":")
            field = name.strip().lower()
            stanza[field] = value.strip()
