"""A real sshd of the test's own on 127.0.0.1: its keys, its port and its log are in a folder of the test's."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 10.0
SBIN = "/usr/sbin:/sbin"


class LoopbackSshd:
    """Runs until `close`. Raises AssertionError, with its log, when it does not come up.

    Args:
        place: a folder of its own.
    """

    def __init__(self, place: Path) -> None:
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:{SBIN}")
        assert program is not None, "sshd is missing; run: scripts/system-packages.sh"
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where it gives up its rights
        self._place = place
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / name], check=True, timeout=10)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (place / "config").write_text(self._config())
        key = (place / "host.pub").read_text()
        (place / "known").write_text(f"[127.0.0.1]:{self.port} {key}")
        self._log = (place / "log").open("wb")
        self._process = subprocess.Popen(
            [program, "-D", "-e", "-f", str(place / "config")], stdin=subprocess.DEVNULL, stderr=self._log
        )
        deadline = time.monotonic() + SECONDS
        while not self._listens():
            assert time.monotonic() < deadline, "sshd does not listen"
            time.sleep(0.01)

    @property
    def ssh(self) -> list[str]:
        """The command that reaches it: what HOPLINE_SSH would hold, without the host."""
        options = {
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "IdentityFile": self._place / "user",
            "UserKnownHostsFile": self._place / "known",
            "LogLevel": "ERROR",
        }
        found = ["ssh", "-F", "/dev/null", "-p", str(self.port)]
        for name, value in options.items():
            found += ["-o", f"{name}={value}"]
        return found

    def command(self, remote: list[str], redirect: str = "") -> list[str]:
        """`remote` on the other side, its words as they are; `redirect` for the shell there."""
        return [*self.ssh, "127.0.0.1", f"{shlex.join(remote)} {redirect}".strip()]

    def close(self) -> None:
        """End it; sessions end with their clients."""
        self._process.terminate()
        self._process.wait(SECONDS)
        self._log.close()

    def _listens(self) -> bool:
        assert self._process.poll() is None, (self._place / "log").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _config(self) -> str:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return "\n".join(
            [
                "ListenAddress 127.0.0.1",
                f"Port {self.port}",
                f"HostKey {self._place / 'host'}",
                f"AuthorizedKeysFile {self._place / 'user.pub'}",
                "PidFile none",
                "StrictModes no",
                "UsePAM no",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "PermitRootLogin prohibit-password",
                f"SetEnv PATH={path}",
                "",
            ]
        )
