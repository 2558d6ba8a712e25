"""`make mahimahi-remove`: undoes what `make mahimahi` changed, and nothing else.

python3 -B -m engines.mahimahi.remove
"""

from contextlib import suppress

from common.errors import run_command_line
from engines.mahimahi.apt import finish_interrupted, read_plan
from engines.mahimahi.system import (
    IP_FORWARD,
    IP_FORWARD_AT_BOOT,
    RECORD,
    WRAPPER,
    Changes,
    require_root,
    run,
)


def main() -> None:
    """Takes no arguments; must be root. Undoes the recorded changes, last first."""
    require_root("make mahimahi-remove")
    changes = Changes.read()
    if not RECORD.exists():
        print("Nothing to undo: `make mahimahi` has changed nothing here.")
    if changes.wrapper:
        _unwrap_iptables(changes.alternative)
    if changes.ip_forward:
        print(f"Setting net.ipv4.ip_forward to {changes.ip_forward}, now and at boot")
        IP_FORWARD_AT_BOOT.unlink(missing_ok=True)
        IP_FORWARD.write_text(f"{changes.ip_forward}\n")
    if changes.packages:
        _remove_packages(changes)
    RECORD.unlink(missing_ok=True)
    for folder in (WRAPPER.parent, RECORD.parent):
        with suppress(OSError):  # not empty, or not there
            folder.rmdir()


def _unwrap_iptables(chosen_by_hand: str) -> None:
    query = run("update-alternatives", "--query", "iptables").splitlines()
    print(f"Removing {WRAPPER}, which was selected as iptables")
    if f"Value: {WRAPPER}" in query and f"Alternative: {chosen_by_hand}" in query:
        run("update-alternatives", "--set", "iptables", chosen_by_hand)
    if f"Alternative: {WRAPPER}" in query:
        run("update-alternatives", "--remove", "iptables", WRAPPER)
    WRAPPER.unlink(missing_ok=True)


def _remove_packages(changes: Changes) -> None:
    """Removes the packages, except those that the user wants or other packages need by now."""
    finish_interrupted()
    listing = run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n")
    installed = {line.split()[0] for line in listing.splitlines() if "not-inst" not in line}
    recorded = installed.intersection(changes.packages)
    wanted = set(run("apt-mark", "showmanual").split()).difference(changes.named)
    ours = recorded - wanted
    if not _removed_with(*ours) <= ours:
        ours = {name for name in ours if _removed_with(name) <= ours}
    if kept := recorded - ours:
        print(f"Keeping {' '.join(sorted(kept))}: installed on request since, or needed by others")
    if ours:
        print(f"Removing {len(ours)} packages: {' '.join(sorted(ours))}")
        run("apt-get", "purge", "--yes", *ours)


def _removed_with(*packages: str) -> set[str]:
    return set(read_plan(run("apt-get", "remove", "--simulate", *packages))[1])


if __name__ == "__main__":
    run_command_line(main)
