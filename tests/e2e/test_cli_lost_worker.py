"""A run whose relay was killed: nobody can tell how its worker ended, and that is said."""

import os
import signal
import subprocess
import time

import psutil
from cli_rig import HOPLINE, shown


def test_a_worker_that_is_lost_with_its_relay_is_said_in_one_sentence() -> None:
    """Without a terminal, where there is no last line that tells the outcome."""
    command = [HOPLINE, "run", "--name", "it", "--", "sh", "-c", "echo up; exec sleep 600"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watcher:
        assert watcher.stdout is not None
        assert watcher.stderr is not None
        assert watcher.stdout.readline() == b"up\n"
        while (worker := shown("it")["worker"]) is None:
            time.sleep(0.02)
        os.kill(psutil.Process(worker["pid"]).ppid(), signal.SIGKILL)
        told = watcher.stderr.read().decode()
        assert watcher.wait(20) == 1
    assert told.startswith("hopline: The worker was lost: nobody knows how it ended; look at it: hopline show ")
