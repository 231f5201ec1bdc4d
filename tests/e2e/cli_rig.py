"""Runs the installed command, plainly or on a terminal of its own."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

HOPLINE = str(Path(sys.executable).with_name("hopline"))
DEADLINE_SECONDS = 30.0


def hopline(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """The finished command, its standard input empty unless given."""
    options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run([HOPLINE, *arguments], capture_output=True, timeout=DEADLINE_SECONDS, check=False, **options)


def detached(*arguments: str) -> dict[str, Any]:
    """The record of a run started with --detach."""
    started = hopline("run", "--detach", *arguments)
    assert started.returncode == 0, started.stderr
    record: dict[str, Any] = json.loads(started.stdout)
    return record


def shown(run: str = "@last") -> dict[str, Any]:
    """What `show --json` says."""
    told: dict[str, Any] = json.loads(hopline("show", run, "--json").stdout)
    return told


def wait_until_over(run: str = "@last") -> dict[str, Any]:
    """Follow the run to its end; what `show --json` says then."""
    hopline("logs", run, "-f", "--json")
    return shown(run)


def wait_for_output(run: str, text: bytes) -> None:
    """Until the run has written `text`."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while text not in hopline("logs", run, "--raw").stdout:
        assert time.monotonic() < deadline, f"{text!r} never came"
        time.sleep(0.02)


def wait_until_unserved(run: str) -> None:
    """Until no short-lived server keeps the ended run's journal open."""
    path = Path(shown(run)["instance"]["socket_path"])
    deadline = time.monotonic() + DEADLINE_SECONDS
    while path.exists():
        assert time.monotonic() < deadline, "the run's server never left"
        time.sleep(0.05)


def one_sentence(finished: "subprocess.CompletedProcess[bytes]", status: int) -> str:
    """The one line on stderr of a command that failed with `status`; nothing else was said."""
    told = finished.stderr.decode()
    assert finished.returncode == status, told
    assert finished.stdout == b""
    assert re.fullmatch(r"hopline: [^\n]+\n", told), told
    return told


class Terminal:
    """A command on a terminal of 80x24, as its session's foreground job.

    Args:
        arguments: after the program's name.
        program: what runs there.
        env: changes to the environment; None removes a variable.
        redirected: descriptors that are not the terminal, as for Popen.
    """

    def __init__(
        self,
        *arguments: str,
        program: str = HOPLINE,
        env: dict[str, str | None] | None = None,
        **redirected: Any,
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        variables = {**os.environ, "TERM": "xterm-256color", **(env or {})}
        self.received = b""
        self._seen = 0
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("terminal_job.py")), program, *arguments],
            **{"stdin": slave, "stdout": slave, "stderr": slave, **redirected},
            env={name: value for name, value in variables.items() if value is not None},
            start_new_session=True,
        )
        os.close(slave)

    def type(self, data: bytes) -> None:
        """As if typed: control characters become signals."""
        os.write(self._master, data)

    def read_until(self, text: bytes) -> None:
        """Wait until the screen has been sent `text`, in what was not waited for before."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (at := self.received.find(text, self._seen)) < 0:
            assert self._read(deadline - time.monotonic()), f"{text!r} never came; the screen got {self.received!r}"
        self._seen = at + len(text)

    def finish(self) -> int:
        """Read to the end. Returns the exit status."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(DEADLINE_SECONDS)

    def hang_up(self) -> int:
        """Close the terminal under the command. Returns its exit status."""
        os.close(self._master)
        self._master = -1
        return self.process.wait(DEADLINE_SECONDS)

    def close(self) -> None:
        """End what is still there."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        if self._master >= 0:
            os.close(self._master)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self.received += data
        return bool(data)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def visible(data: bytes) -> bytes:
    """What is left when the terminal's escape sequences are taken away."""
    return re.sub(rb"\x1b(\[[0-9;?]*[A-Za-z]|[78D])", b"", data)
