"""scp of one file through an sshd of the benchmark's own on loopback: what a copy between machines costs with ssh."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.context import Context
from benchmarks.fanout_servers import found, wait_listening
from benchmarks.lock_servers import free_port

Copy = Callable[[Path, Path], float]
"""Copy a file to a path on the other side; the seconds from the start of scp to its end."""


@contextmanager
def scp(context: Context) -> Iterator[Copy]:
    """A listening sshd with its defaults, keys and host key in a private folder."""
    with context.room("scp") as room, context.stage() as stage:
        daemon = found("sshd")
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where it gives up its rights
        for name in ("host", "user"):
            make = [found("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", room / name]
            subprocess.run(make, check=True, timeout=10)
        port = free_port()
        (room / "known").write_text(f"[127.0.0.1]:{port} {(room / 'host.pub').read_text()}")
        settings = {
            "ListenAddress": "127.0.0.1",
            "Port": port,
            "HostKey": room / "host",
            "AuthorizedKeysFile": room / "user.pub",
            "PidFile": "none",
            "StrictModes": "no",
            "UsePAM": "no",
            "PermitRootLogin": "prohibit-password",
            "Subsystem": "sftp internal-sftp",
        }
        (room / "config").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
        stage.start([daemon, "-D", "-e", "-f", room / "config"])
        wait_listening(str(port))
        options = [
            *("-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR"),
            *("-o", f"IdentityFile={room / 'user'}", "-o", f"UserKnownHostsFile={room / 'known'}"),
        ]

        def copy(source: Path, target: Path) -> float:
            started = time.monotonic()
            argv = [found("scp"), "-q", "-F", "/dev/null", "-P", str(port), *options, source, f"127.0.0.1:{target}"]
            ended = stage.finish(stage.start(argv), 120)
            seconds = time.monotonic() - started
            if ended.status != 0 or target.stat().st_size != source.stat().st_size:
                raise RuntimeError(f"scp ended with {ended.status}")
            return seconds

        yield copy
