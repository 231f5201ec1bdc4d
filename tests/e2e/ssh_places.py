"""HOPLINE_SSH for a test's sshd: what runs behind it gets the test's own places, which sshd does not pass on."""

import os
import shlex

from loopback_sshd import LoopbackSshd

PLACES = ("HOPLINE_HOME", "XDG_RUNTIME_DIR", "HOPLINE_CONFIG")


def ssh_here(sshd: LoopbackSshd) -> str:
    """The command, as a person would export it."""
    places = [f"{name}={os.environ[name]}" for name in PLACES]
    return shlex.join([*sshd.ssh, "127.0.0.1", "env", *places])
