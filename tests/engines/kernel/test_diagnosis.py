from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.kernel import diagnosis
from kneepoint.engines.kernel.diagnosis import diagnose, missing_packages


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host on which the rig works: all its programs are there, and a device."""
    for name in diagnosis._PACKAGES:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(diagnosis, "SEARCH_PATH", f"{tmp_path}")
    monkeypatch.setattr(diagnosis, "TUN", tmp_path / "tun")
    (tmp_path / "tun").touch()
    return tmp_path


@pytest.mark.usefixtures("host")
def test_host_that_has_everything() -> None:
    diagnose()
    assert missing_packages() == []


def test_what_a_host_lacks_is_named(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr("os.access", lambda *_: False)
        other.setattr("shutil.which", lambda name, path: f"{path}/{name}")
        with pytest.raises(KneepointError, match=f"{host}/tun cannot be opened.*chmod"):
            diagnose()
    (host / "tun").unlink()
    with pytest.raises(KneepointError, match=f"{host}/tun is missing.*modprobe tun"):
        diagnose()
    (host / "unshare").write_text("#!/bin/sh\necho 'unshare: Not permitted' >&2; exit 1\n")
    with pytest.raises(KneepointError, match=r"namespaces \(unshare: Not permitted\); allow user"):
        diagnose()
    for name in ("ip", "tc", "ping"):
        (host / name).unlink()
    with pytest.raises(KneepointError, match=r"ip is not installed.*kernel-rig.*iproute2"):
        diagnose()
    assert missing_packages() == ["iproute2", "iputils-ping"]
