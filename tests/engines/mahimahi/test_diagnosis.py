import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.mahimahi.diagnosis import Facts, diagnose, ordinary_user
from tests.conftest import ROOT
from tests.engines.real import real_engine

HEALTHY = Facts(
    missing=(),
    without_set_uid=(),
    without_effect=(),
    no_new_privileges=False,
    capabilities=(1 << 41) - 1,
    tun=True,
    iptables=Path("/usr/sbin/xtables-nft-multi"),
    iptables_version=(1, 8, 7),
    ip_forward=True,
)
MM_LINK = Path("/usr/bin/mm-link")


@pytest.mark.parametrize("iptables", ["/usr/sbin/xtables-nft-multi", "/opt/wrapper"])
def test_diagnose_finds_nothing_where_mahimahi_can_call_iptables(iptables: str) -> None:
    version = (1, 8, 7) if "xtables" in iptables else (1, 8, 9)
    diagnose(replace(HEALTHY, iptables=Path(iptables), iptables_version=version))


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
        # A defect of the machine is named before a defect of the installation.
        (
            replace(HEALTHY, tun=False, missing=("mm-delay",)),
            "/dev/net/tun is missing",
            "modprobe tun",
        ),
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


@pytest.mark.parametrize(
    ("uid", "sudo", "user"),
    [
        (1000, ("7", "8"), None),
        (0, ("7", "8"), (7, 8)),
        *((0, sudo, (65534, 65533)) for sudo in [("0", "0"), ("7", ""), ("-7", "8"), ("", "")]),
    ],
)
def test_ordinary_user_is_who_called_sudo_or_nobody(
    monkeypatch: pytest.MonkeyPatch, uid: int, sudo: tuple[str, str], user: tuple[int, int] | None
) -> None:
    nobody = pwd.struct_passwd(("nobody", "x", 65534, 65533, "", "/", "/bin/false"))
    monkeypatch.setattr(os, "getuid", lambda: uid)
    monkeypatch.setattr(pwd, "getpwnam", {"nobody": nobody}.__getitem__)
    for name, value in zip(("SUDO_UID", "SUDO_GID"), sudo, strict=True):
        monkeypatch.setenv(name, value)
    assert ordinary_user() == user


def test_system_without_an_ordinary_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)
    monkeypatch.delenv("SUDO_UID", raising=False)
    with pytest.raises(KneepointError, match="has no user `nobody`; use sudo"):
        diagnose(HEALTHY)


def diagnosis(*before: str, **environment: str) -> str:
    """Diagnoses this system, from a process that another program starts."""
    command = [*before, sys.executable, "-m", "kneepoint.engines.mahimahi.diagnosis"]
    result = subprocess.run(
        command, env={**os.environ, **environment}, cwd=ROOT, capture_output=True, text=True
    )
    return result.stderr


real_time = pytest.mark.real_time


@real_time
@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can drop capabilities")
def test_rights_that_this_process_lacks_are_seen() -> None:
    assert "no_new_privs" in diagnosis("setpriv", "--no-new-privs")
    assert "CAP_NET_ADMIN" in diagnosis("setpriv", "--bounding-set=-net_admin")


@real_time
@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can make set-uid programs")
def test_programs_that_are_missing_or_bear_no_set_uid_bit_are_seen(tmp_path: Path) -> None:
    real_engine()
    assert "mm-delay is not on the PATH" in diagnosis(PATH=str(tmp_path))
    for name in ("mm-delay", "mm-link"):
        shutil.copy("/bin/true", tmp_path / name)
        (tmp_path / name).chmod(0o4755 if name == "mm-delay" else 0o755)
    assert f"{tmp_path}/mm-link is not set-uid root" in diagnosis(PATH=str(tmp_path))
    (tmp_path / "mm-link").chmod(0o4755)
    assert diagnosis(PATH=str(tmp_path)) == ""
