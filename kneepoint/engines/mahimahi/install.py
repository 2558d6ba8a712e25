"""`make mahimahi`: installs and configures real mahimahi, and verifies it; --remove undoes this.

python3 -B -m kneepoint.engines.mahimahi.install [--remove]
"""

import re
import socket
import sys
from contextlib import suppress
from subprocess import TimeoutExpired

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import write_whole
from kneepoint.engines.mahimahi.diagnosis import (
    User,
    diagnose,
    iptables_is_strict,
    ordinary_user,
    read_facts,
    require_machine,
)
from kneepoint.engines.mahimahi.processes import (
    delete_rules_of_the_dead,
    end_session,
    start_as_ordinary_user,
)
from kneepoint.engines.mahimahi.run_folder import RunFolder, run_folder
from kneepoint.engines.system import (
    IP_FORWARD,
    IP_FORWARD_AT_BOOT,
    RECORD,
    WRAPPER,
    Changes,
    install_packages,
    remove_packages,
    require_root,
    run,
)

# mahimahi is set-user-id root and calls iptables with its caller's real user id, which iptables
# refuses from 1.8.8 on (exit status 111). The wrapper has no set-id bit: without root it is the
# plain iptables. It drops the caller's environment, from which iptables would take the path of its
# libraries.
WRAPPER_SCRIPT = """\
#!/usr/bin/env -S -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -p
[ "$(id -u)" != 0 ] || exec setpriv --reuid=0 --regid=0 --clear-groups {iptables} "$@"
exec {iptables} "$@"
"""


_TIME_LIMIT_S = 20
_TRACE = b"10\n"  # an opportunity every 10 ms

# bash can send datagrams.
_SENDER = "for _ in {{1..10}}; do echo > /dev/udp/$MAHIMAHI_BASE/{port}; sleep 0.1; done"


def main() -> None:
    """Installs or removes. If mahimahi works, installing changes nothing and needs no root."""
    if sys.argv[1:] == ["--remove"]:
        remove()
        return
    try:
        prove_here()
    except KneepointError as reason:
        print(f"Real mahimahi does not work here: {str(reason).partition('; ')[0]}")
    else:
        print("Real mahimahi works here; nothing to change")
        return
    require_root("make mahimahi")
    install()
    prove_here()
    print("Real mahimahi works here; `make mahimahi-remove` undoes these changes")


def prove_here() -> None:
    """Raises KneepointError unless mahimahi works here."""
    diagnose()
    prove(ordinary_user())


def prove(user: User | None) -> None:
    """Raises KneepointError unless mahimahi carries datagrams for about a second, as `user`."""
    with run_folder("proof", user) as folder:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
            outside.bind(("", 0))
            outside.setblocking(False)
            _run_mahimahi(user, folder, _SENDER.format(port=outside.getsockname()[1]))
            arrived = 0
            with suppress(BlockingIOError):
                while outside.recv(1500):
                    arrived += 1
        check_proof(arrived, folder.read("work/uplink.log"))


def check_proof(arrived: int, log: str) -> None:
    """Raises KneepointError unless datagrams arrived, and the link's log has their departures."""
    departures = sum(" - " in line and line[0] != "#" for line in log.splitlines())
    if not 0 < arrived <= departures:
        raise KneepointError(
            f"mahimahi runs, but {arrived} datagrams came out of it and its log has {departures} "
            "departures; check the firewall of this machine (allow UDP from 100.64.0.0/10), and "
            "whether another program called mm-link is on the PATH"
        )


def _run_mahimahi(user: User | None, folder: RunFolder, inside: str) -> None:
    trace = str(folder.add("trace", _TRACE))
    words = ["mm-delay", "20", "mm-link", trace, trace, f"--uplink-log={folder.work}/uplink.log"]
    words += ["--", "bash", "-c", inside]
    with (folder.path / "output").open("xb") as output:
        process = start_as_ordinary_user(words, user, folder.work, output)
    try:
        status = process.wait(_TIME_LIMIT_S)
    except TimeoutExpired:
        raise KneepointError(
            f"a run of mahimahi did not end within {_TIME_LIMIT_S} s; "
            "try again when this machine is less busy"
        ) from None
    finally:
        end_session(process)
        delete_rules_of_the_dead()
    if status != 0:
        words = folder.read("output").strip().splitlines()[-1:]
        raise KneepointError(
            f"a run of mahimahi fails ({''.join(words) or f'exit status {status}'}); "
            "docs/real-runs.md, Install it, lists its requirements"
        )


def install() -> None:
    """Installs and configures mahimahi; raises KneepointError if this machine cannot run it."""
    facts = read_facts()
    require_machine(facts)
    if facts.missing:
        # gnuplot would bring all of Qt; mm-throughput-graph works without it.
        install_packages("mahimahi", "gnuplot-nox", "iptables", "iproute2")
    elif facts.iptables is None:
        install_packages("iptables")
    facts = read_facts()
    if not facts.ip_forward:
        Changes.record(ip_forward=Changes.read().ip_forward or IP_FORWARD.read_text().strip())
        print(f"Setting net.ipv4.ip_forward to 1, now and at boot ({IP_FORWARD_AT_BOOT})")
        comment = "# by Kneepoint's `make mahimahi`; `make mahimahi-remove` deletes it"
        write_whole(IP_FORWARD_AT_BOOT, f"{comment}\nnet.ipv4.ip_forward=1\n")
        try:
            IP_FORWARD.write_text("1\n")
        except OSError as error:
            raise KneepointError(
                f"net.ipv4.ip_forward cannot be set ({error.strerror}); a container must be "
                "started with --privileged or --sysctl net.ipv4.ip_forward=1"
            ) from None
    if facts.iptables is None or iptables_is_strict(facts):
        wrap_iptables()


def wrap_iptables() -> None:
    """Places the wrapper before an iptables that rejects mahimahi."""
    query = run("update-alternatives", "--query", "iptables", remedy="install the package iptables")
    group = dict(re.findall(r"^(Status|Best|Value): (.*)", query, re.MULTILINE))
    is_registered = group["Value"] == str(WRAPPER)  # but the file has been removed
    chosen = group["Best"] if is_registered else group["Value"]
    by_hand = group["Status"] == "manual" and not is_registered
    Changes.record(wrapper=True, **({"alternative": chosen} if by_hand else {}))
    print(f"Selecting {WRAPPER} as iptables, which lets mahimahi call {chosen}")
    write_whole(WRAPPER, WRAPPER_SCRIPT.format(iptables=chosen))
    WRAPPER.chmod(0o755)
    # A priority below all of Debian's: it is never selected automatically.
    place = ["/usr/sbin/iptables", "iptables", str(WRAPPER), "5"]
    # Without slaves, selecting it would remove iptables-save and iptables-restore.
    for name in ("save", "restore"):
        place += ["--slave", f"/usr/sbin/iptables-{name}", f"iptables-{name}", f"{chosen}-{name}"]
    run("update-alternatives", "--install", *place)
    run("update-alternatives", "--set", "iptables", WRAPPER)


def remove() -> None:
    """Undoes the recorded changes, last first, and nothing else."""
    require_root("make mahimahi-remove")
    changes = Changes.read()
    if not RECORD.exists():
        print("Nothing to undo: `make mahimahi` has changed nothing here.")
    if changes.wrapper:
        print(f"Removing {WRAPPER}, which was selected as iptables")
        query = run("update-alternatives", "--query", "iptables").splitlines()
        if f"Value: {WRAPPER}" in query and f"Alternative: {changes.alternative}" in query:
            run("update-alternatives", "--set", "iptables", changes.alternative)
        if f"Alternative: {WRAPPER}" in query:
            run("update-alternatives", "--remove", "iptables", WRAPPER)
        WRAPPER.unlink(missing_ok=True)
    if changes.ip_forward:
        print(f"Setting net.ipv4.ip_forward to {changes.ip_forward}, now and at boot")
        IP_FORWARD_AT_BOOT.unlink(missing_ok=True)
        IP_FORWARD.write_text(f"{changes.ip_forward}\n")
    if changes.packages:
        remove_packages(changes)
    RECORD.unlink(missing_ok=True)
    for folder in (WRAPPER.parent, RECORD.parent):
        with suppress(OSError):  # not empty, or not there
            folder.rmdir()


if __name__ == "__main__":
    run_command_line(main)
