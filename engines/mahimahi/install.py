"""`make mahimahi`: installs real mahimahi, changing only what is needed, and verifies it.

python3 -B -m engines.mahimahi.install
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from common.errors import KneepointError, run_command_line
from common.files import sha256_of
from engines.mahimahi import apt
from engines.mahimahi.diagnosis import (
    Facts,
    diagnose,
    iptables_is_strict,
    limit_of_machine,
    ordinary_user,
    read_facts,
)
from engines.mahimahi.proof import prove
from engines.mahimahi.system import Changes, System

WRAPPER_SOURCE = Path(__file__).with_name("iptables_wrapper.c")
_WRAPPER_PRIORITY = 5  # below all of Debian's, so that it is never selected automatically


def main() -> None:
    """Takes no arguments. If mahimahi works, it changes nothing and needs no root."""
    system = System()
    try:
        if Changes.read(system).installing:
            raise KneepointError("its installation was interrupted; run this again to resume")
        if wrapper_is_outdated(system):
            raise KneepointError(f"{system.wrapper} is another version; run this again")
        prove_here()
    except KneepointError as reason:
        print(f"Real mahimahi does not work here: {str(reason).partition('; ')[0]}")
    else:
        print("Real mahimahi works here; nothing to change")
        return
    require_root("make mahimahi")
    install(system, read_facts)
    prove_here()
    print("Real mahimahi works here; `make mahimahi-remove` undoes these changes")


def require_root(target: str) -> None:
    """Raises KneepointError unless we are root."""
    if os.geteuid() != 0:
        raise KneepointError(
            f"`{target}` changes the system, which needs root; run `sudo {target}`"
        )


def prove_here() -> None:
    """Raises KneepointError unless mahimahi works here."""
    diagnose()
    prove(ordinary_user())


def install(system: System, facts: Callable[[], Facts]) -> None:
    """Installs what mahimahi lacks.

    Args:
        system: the system to change.
        facts: reads the system's current facts.

    Raises:
        KneepointError: it cannot be installed, or could not work here.
    """
    limit = limit_of_machine(facts())
    if limit is not None:
        raise KneepointError(limit)
    install_missing_packages(system, facts())
    forward_packets(system, facts())
    wrap_iptables(system, facts())
    shutil.rmtree(system.package_cache, ignore_errors=True)


def install_missing_packages(system: System, facts: Facts) -> None:
    """Installs mahimahi and iptables if they are missing, after finishing interrupted work."""
    interrupted = Changes.read(system).installing
    if interrupted:
        install_packages(system, interrupted)
    elif facts.missing:
        # gnuplot would bring all of Qt; mm-throughput-graph works without it.
        install_packages(system, ["mahimahi", "gnuplot-nox", "iptables", "iproute2"])
    elif facts.iptables is None:
        install_packages(system, ["iptables"])


def install_packages(system: System, packages: list[str]) -> None:
    """Installs the first package and its dependencies, the others; records all new ones."""
    changes = Changes.read(system)
    interrupted = bool(changes.installing)
    if interrupted:
        apt.finish_interrupted(system)
    print(f"Fetching apt's lists into the temporary folder {system.package_cache}")
    apt.prepare_folders(system)
    plan = apt.plan_installation(system, packages, fix_broken=interrupted)
    changes.installing = packages
    changes.packages += [name for name in plan.new if name not in changes.packages]
    changes.named += [p for p in packages if p in plan.new and p not in changes.named]
    changes.write(system)
    if plan.new:
        print(f"Installing {len(plan.new)} packages: {' '.join(plan.new)}")
    if plan.upgraded:
        print(f"Upgrading dependencies: {' '.join(plan.upgraded)}")
    apt.install_packages(system, packages, fix_broken=interrupted)
    # What the user installs from now on is no longer `auto`, so the removal keeps it.
    marked = changes.packages if interrupted else changes.named
    others = [name for name in marked if name != packages[0]]
    if others:
        system.run_or_fail(["apt-mark", "auto", *others], "run this again to resume")
    changes.installing = []
    changes.named = [name for name in changes.named if name not in others]
    changes.write(system)


def forward_packets(system: System, facts: Facts) -> None:
    """Sets net.ipv4.ip_forward, now and at every boot: all other changes also survive a reboot."""
    if facts.ip_forward:
        return
    changes = Changes.read(system)
    changes.ip_forward = changes.ip_forward or system.ip_forward.read_text().strip()
    changes.write(system)
    print(f"Setting net.ipv4.ip_forward to 1, now and at boot ({system.ip_forward_at_boot})")
    system.ip_forward_at_boot.parent.mkdir(parents=True, exist_ok=True)
    comment = "# by Kneepoint's `make mahimahi`; `make mahimahi-remove` deletes it"
    system.ip_forward_at_boot.write_text(f"{comment}\nnet.ipv4.ip_forward=1\n")
    try:
        system.ip_forward.write_text("1\n")
    except OSError as error:
        raise KneepointError(
            f"net.ipv4.ip_forward cannot be set ({error.strerror}); a container must be started "
            "with --privileged or --sysctl net.ipv4.ip_forward=1"
        ) from None


def wrap_iptables(system: System, facts: Facts) -> None:
    """Places the current wrapper before an iptables that rejects mahimahi (see its source)."""
    is_needed = facts.iptables is None or iptables_is_strict(facts)
    if not is_needed and not wrapper_is_outdated(system):
        return
    query = read_query(
        system.run_or_fail(
            ["update-alternatives", "--query", "iptables"],
            "mahimahi needs the iptables of the package iptables",
        )
    )
    chosen = query["Value"]
    if shutil.which("cc") is None:
        install_packages(system, ["gcc", "libc6-dev"])
    changes = Changes.read(system)
    changes.wrapper = True
    if chosen == str(system.wrapper):  # our wrapper, but an earlier version or deleted
        wrapped_before = changes.alternative in query["Alternatives"].splitlines()
        chosen = changes.alternative if wrapped_before else query["Best"]
    elif query["Status"] == "manual":
        changes.alternative = chosen
    changes.wrapper_sha256 = ""  # until it is compiled
    changes.write(system)
    print(f"Compiling {system.wrapper}, which lets mahimahi call {chosen}")
    system.wrapper.parent.mkdir(parents=True, exist_ok=True)
    compile_wrapper(system, chosen)
    changes.wrapper_sha256 = sha256_of(WRAPPER_SOURCE.read_bytes())
    changes.write(system)
    print(f"Selecting it as iptables: update-alternatives --set iptables {system.wrapper}")
    remedy = "see update-alternatives --query iptables"
    system.run_or_fail(registration(system.wrapper, chosen, query), remedy)
    system.run_or_fail(["update-alternatives", "--set", "iptables", str(system.wrapper)], remedy)


def wrapper_is_outdated(system: System) -> bool:
    """Whether the installed wrapper was compiled from another version of its source."""
    recorded = Changes.read(system).wrapper_sha256
    return system.wrapper.exists() and recorded != sha256_of(WRAPPER_SOURCE.read_bytes())


def compile_wrapper(system: System, iptables: str) -> None:
    """Compiles the wrapper of the program `iptables`; it appears complete or not at all."""
    new = system.wrapper.with_suffix(".new")
    definition = f'-DIPTABLES="{iptables}"'
    system.run_or_fail(
        ["cc", "-O2", "-Wall", "-Werror", definition, "-o", str(new), str(WRAPPER_SOURCE)],
        "install a C compiler (Debian: apt-get install gcc libc6-dev)",
    )
    new.replace(system.wrapper)


def read_query(text: str) -> dict[str, str]:
    """Reads `update-alternatives --query`: its first paragraph, and the names in all others.

    That is `Alternatives`, a line each, and `SlavesOf:` each of them.
    """
    first, *others = [_read_paragraph(paragraph) for paragraph in text.split("\n\n")]
    slaves = {p["Alternative"]: p.get("Slaves", "") for p in others if p}
    named = {f"SlavesOf:{path}": lines for path, lines in slaves.items()}
    return first | named | {"Alternatives": "\n".join(slaves)}


def registration(wrapper: Path, wrapped: str, query: dict[str, str]) -> list[str]:
    """Returns the command that registers the wrapper, with the slaves of the wrapped program.

    Without them, selecting the wrapper would remove iptables-save and iptables-restore.
    """
    command = ["update-alternatives", "--install", query["Link"], query["Name"], str(wrapper)]
    command.append(str(_WRAPPER_PRIORITY))
    links = _read_slaves(query.get("Slaves", ""))
    for name, target in _read_slaves(query.get(f"SlavesOf:{wrapped}", "")).items():
        command += ["--slave", links[name], name, target]
    return command


def _read_slaves(lines: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in lines.splitlines() if line)


def _read_paragraph(text: str) -> dict[str, str]:
    """Reads `Field: value`; a line that begins with a blank continues the field."""
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(" "):
            fields[name] += line.strip() + "\n"
        else:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    return fields


if __name__ == "__main__":
    run_command_line(main)
