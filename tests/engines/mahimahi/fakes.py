"""A machine of files and a few lines, on which mahimahi is installed and removed."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engines.mahimahi.diagnosis import Facts
from engines.mahimahi.system import System

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
NFT, LEGACY = "/usr/sbin/iptables-nft", "/usr/sbin/iptables-legacy"

# What apt would bring along. gcc comes with g++ on a developer's machine, and so is there.
NEEDS = {
    "mahimahi": ["libssl1.1", "mahimahi"],
    "gnuplot-nox": ["aglfn", "gnuplot-nox"],
    "iptables": ["libip6tc2", "iptables"],
    "iproute2": ["iproute2"],
}


class Machine:
    """Answers the commands of the installation as Debian 12 does, and takes them down.

    After `breaks_after` commands it raises KeyboardInterrupt, as if the user pressed Ctrl-C.
    """

    def __init__(self, root: Path) -> None:
        self.system = System(root, self.run)
        self.installed = {"bash", "iproute2"}
        self.manual = {"bash"}
        self.half_installed: set[str] = set()
        self.dependants: dict[str, list[str]] = {}  # packages of others, by what they need
        self.conflicts: list[str] = []  # packages that mahimahi cannot be installed beside
        self.alternatives = {LEGACY: 10, NFT: 20}
        self.chosen = ""  # by hand
        self.commands: list[list[str]] = []
        self.breaks_after = 1000
        self.refuses: Callable[[list[str]], str] = lambda _: ""  # returns a complaint
        for folder in ("etc/apt/sources.list.d", "proc/sys/net/ipv4"):
            (root / folder).mkdir(parents=True)
        (root / "etc/os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')
        (root / "etc/apt/sources.list").write_text("deb http://mirror.example bookworm main\n")
        self.system.ip_forward.write_text("0\n")

    def facts(self) -> Facts:
        wrapped = self.value == str(self.system.wrapper)
        there = "iptables" in self.installed and (not wrapped or self.system.wrapper.exists())
        program = self.system.wrapper if wrapped else Path("/usr/sbin/xtables-nft-multi")
        return replace(
            HEALTHY,
            missing=() if "mahimahi" in self.installed else ("mm-delay", "mm-link"),
            iptables=program if there else None,
            iptables_version=(1, 8, 9),
            ip_forward=self.system.ip_forward.read_text() == "1\n",
        )

    def state(self) -> object:
        """Everything that the installation may change."""
        files = {
            str(path): path.read_text() for path in self.system.root.rglob("*") if path.is_file()
        }
        return set(self.installed), dict(self.alternatives), self.chosen, files

    @property
    def value(self) -> str:
        return self.chosen or max(self.alternatives, key=lambda name: self.alternatives[name])

    def run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        if len(self.commands) >= self.breaks_after:
            raise KeyboardInterrupt
        self.commands.append(command)
        complaint = self.refuses(command)
        if complaint:
            return subprocess.CompletedProcess(command, 100, "", complaint)
        answer = getattr(self, "_" + command[0].replace("-", "_"))(command[1:])
        return subprocess.CompletedProcess(command, 0, answer or "", "")

    def _apt_get(self, words: list[str]) -> str:
        names = [word for word in words if word in self.installed | NEEDS.keys()]
        if "purge" in words:
            assert not self.half_installed & set(words)
            self.installed -= set(names)
        elif "remove" in words:
            assert "--simulate" in words
            others = [other for name in names for other in self.dependants.get(name, [])]
            return "".join(f"Remv {name} [1.0]\n" for name in [*names, *others])
        elif "install" in words:
            new = [p for name in names for p in NEEDS.get(name, []) if p not in self.installed]
            if "--simulate" in words:
                return "Inst libc6 [2.35] (2.36 Debian:12 [amd64])\n" + "".join(
                    [f"Inst {name} (1.0 Debian:11 [amd64])\n" for name in new]
                    + [f"Remv {name} [1.0]\n" for name in self.conflicts]
                )
            self.installed |= set(new)
            self.manual |= set(names)
        return ""

    def _apt_mark(self, words: list[str]) -> str:
        if words[0] == "auto":
            self.manual -= set(words[1:])
        return "\n".join(self.manual)

    def _dpkg(self, words: list[str]) -> None:
        if "--purge" in words:
            assert "--force-remove-reinstreq" in words
            self.installed -= set(words)
            self.half_installed -= set(words)
        else:
            assert words == ["--configure", "-a"]

    def _dpkg_query(self, _: list[str]) -> str:
        states = dict.fromkeys(self.installed, "installed")
        states |= dict.fromkeys(self.half_installed, "half-installed")
        return "old not-installed\n" + "".join(f"{n} {state}\n" for n, state in states.items())

    def _cc(self, words: list[str]) -> None:
        Path(words[words.index("-o") + 1]).write_text(" ".join(words))

    def _update_alternatives(self, words: list[str]) -> str:
        match words:
            case ["--query", "iptables"]:
                return self._query()
            case ["--install", "/usr/sbin/iptables", "iptables", path, priority, *_]:
                self.alternatives[path] = int(priority)
            case ["--set", "iptables", path]:
                assert path in self.alternatives
                self.chosen = path
            case ["--remove", "iptables", path]:
                del self.alternatives[path]
                self.chosen = "" if self.chosen == path else self.chosen
            case _:
                raise AssertionError(words)
        return ""

    def _query(self) -> str:
        listing = "".join(
            f"\nAlternative: {path}\nPriority: {priority}\n"
            f"Slaves:\n iptables-restore {path}-restore\n iptables-save {path}-save\n"
            for path, priority in self.alternatives.items()
        )
        best = max(self.alternatives, key=lambda name: self.alternatives[name])
        return (
            "Name: iptables\nLink: /usr/sbin/iptables\n"
            "Slaves:\n iptables-restore /usr/sbin/iptables-restore\n"
            " iptables-save /usr/sbin/iptables-save\n"
            f"Status: {'manual' if self.chosen else 'auto'}\nBest: {best}\nValue: {self.value}\n"
            + listing
        )
