import os
import pwd
from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import KneepointError
from engines.mahimahi.diagnosis import Facts, diagnose, ordinary_user, read_facts

HEALTHY = Facts(
    missing=(),
    without_set_uid=(),
    without_effect=(),
    no_new_privileges=False,
    capabilities=(1 << 41) - 1,
    ordinary_user_found=True,
    tun=True,
    iptables=Path("/usr/sbin/xtables-nft-multi"),
    iptables_version=(1, 8, 7),
    ip_forward=True,
)
MM_LINK = Path("/usr/bin/mm-link")


def test_diagnose_finds_nothing_on_a_healthy_machine() -> None:
    diagnose(HEALTHY)


@pytest.mark.parametrize(
    ("facts", "cause", "remedy"),
    [
        (replace(HEALTHY, missing=("mm-link",)), "mm-link is not on the PATH", "make mahimahi"),
        (replace(HEALTHY, without_set_uid=(MM_LINK,)), "is not set-uid root", "chmod u+s"),
        (
            replace(HEALTHY, without_effect=(MM_LINK,)),
            "mounted nosuid",
            "mount this file system with suid",
        ),
        (replace(HEALTHY, no_new_privileges=True), "no_new_privs", "outside this sandbox"),
        (replace(HEALTHY, capabilities=~(1 << 12)), "CAP_NET_ADMIN", "--privileged"),
        (replace(HEALTHY, capabilities=~(1 << 21)), "CAP_SYS_ADMIN", "--privileged"),
        (replace(HEALTHY, ordinary_user_found=False), "refuses to run as root", "with sudo"),
        (replace(HEALTHY, tun=False), "/dev/net/tun is missing", "modprobe tun"),
        (replace(HEALTHY, iptables=None), "iptables is not installed", "make mahimahi"),
        (replace(HEALTHY, iptables_version=(1, 8, 8)), "iptables 1.8.8 refuses", "make mahimahi"),
        (replace(HEALTHY, iptables_version=(1, 8, 11)), "iptables 1.8.11 refuses", "make mahimahi"),
        (replace(HEALTHY, ip_forward=False), "net.ipv4.ip_forward is 0", "make mahimahi"),
    ],
)
def test_diagnose_names_cause_and_remedy(facts: Facts, cause: str, remedy: str) -> None:
    with pytest.raises(KneepointError) as error:
        diagnose(facts)
    message = str(error.value)
    assert cause in message.partition("; ")[0]
    assert remedy in message.partition("; ")[2]
    assert "\n" not in message


def test_diagnose_takes_a_wrapper_of_iptables_for_the_cure() -> None:
    diagnose(replace(HEALTHY, iptables=Path("/opt/wrapper"), iptables_version=(1, 8, 9)))


def test_diagnose_names_what_cannot_be_cured_before_what_can() -> None:
    with pytest.raises(KneepointError, match="/dev/net/tun"):
        diagnose(replace(HEALTHY, tun=False, missing=("mm-delay",)))


def nobody(_: str) -> pwd.struct_passwd:
    return pwd.struct_passwd(("nobody", "x", 65534, 65533, "", "/", "/bin/false"))


@pytest.mark.parametrize(
    ("uid", "environment", "user"),
    [
        (1000, {}, None),
        (1000, {"SUDO_UID": "7", "SUDO_GID": "8"}, None),
        (0, {"SUDO_UID": "7", "SUDO_GID": "8"}, (7, 8)),
        (0, {"SUDO_UID": "0", "SUDO_GID": "0"}, (65534, 65533)),
        (0, {"SUDO_UID": "7"}, (65534, 65533)),
        (0, {"SUDO_UID": "-7", "SUDO_GID": "8"}, (65534, 65533)),
        (0, {}, (65534, 65533)),
    ],
)
def test_ordinary_user_is_who_called_sudo_or_nobody(
    uid: int, environment: dict[str, str], user: tuple[int, int] | None
) -> None:
    assert ordinary_user(uid, environment, nobody) == user


def test_ordinary_user_refuses_a_system_without() -> None:
    def no_such_user(name: str) -> pwd.struct_passwd:
        raise KeyError(name)

    with pytest.raises(KneepointError, match="has no user `nobody`; use sudo"):
        ordinary_user(0, {}, no_such_user)


def system_folder(root: Path, no_new_privileges: str = "0") -> None:
    for folder in ("proc/self", "proc/sys/net/ipv4", "dev/net", "usr/sbin", "bin"):
        (root / folder).mkdir(parents=True)
    (root / "proc/self/status").write_text(
        f"Name:\tpython3\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t{no_new_privileges}\n"
    )
    (root / "proc/sys/net/ipv4/ip_forward").write_text("0\n")
    (root / "dev/net/tun").touch()
    for name in ("usr/sbin/xtables-nft-multi", "bin/mm-link"):
        (root / name).write_text("#!/bin/sh\necho 'iptables v1.8.9 (nf_tables)'\n")
        (root / name).chmod(0o755)
    (root / "usr/sbin/iptables").symlink_to("xtables-nft-multi")


def test_read_facts_reads_the_system(tmp_path: Path) -> None:
    system_folder(tmp_path, no_new_privileges="1")
    facts = read_facts(tmp_path, search_path=str(tmp_path / "bin"))
    assert facts == Facts(
        missing=("mm-delay",),
        without_set_uid=(tmp_path / "bin/mm-link",),
        without_effect=facts.without_effect,  # that of the file system of the test
        no_new_privileges=True,
        capabilities=(1 << 41) - 1,
        ordinary_user_found=True,
        tun=True,
        iptables=tmp_path / "usr/sbin/xtables-nft-multi",
        iptables_version=(1, 8, 9),
        ip_forward=False,
    )


def test_read_facts_of_a_bare_system(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text("CapBnd:\t0000000000000000\n")
    facts = read_facts(tmp_path, search_path="")
    assert facts.missing == ("mm-delay", "mm-link")
    assert (facts.iptables, facts.iptables_version, facts.tun) == (None, (), False)
    assert facts.capabilities == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can make set-uid programs")
def test_read_facts_sees_the_set_uid_bit(tmp_path: Path) -> None:
    system_folder(tmp_path)
    (tmp_path / "bin/mm-link").chmod(0o4755)
    assert read_facts(tmp_path, search_path=str(tmp_path / "bin")).without_set_uid == ()
