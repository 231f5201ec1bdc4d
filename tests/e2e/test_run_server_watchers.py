"""A thousand watchers of one run, and the descriptors that they take, which are not the worker's."""

import json
import resource
import socket
from contextlib import ExitStack

from cli_rig import hopline, wait_for_output

WATCHERS = 1000
FEW = 400
"""The usual soft limit is 1,024; less is given here, to see that it is raised and does not reach the worker."""


def test_a_thousand_watchers_are_served_and_the_worker_keeps_its_own_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    started = hopline(
        "run",
        "--detach",
        "--",
        "sh",
        "-c",
        "echo limit $(ulimit -Sn); read x; echo over; read y",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, hard)),
    )
    record = json.loads(started.stdout)
    wait_for_output(record["id"], f"limit {FEW}".encode())
    given = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as watchers:
        watchers.callback(resource.setrlimit, resource.RLIMIT_NOFILE, given)
        ends = [watchers.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(WATCHERS)]
        for end in ends:
            end.connect(record["socket_path"])  # blocking, because a full backlog refuses others
            end.settimeout(20)
            end.sendall(b'{"type":"subscribe"}\n')
        assert hopline("send", record["id"], "go").stderr == b""
        for end in ends:
            seen = b""
            while b"over\\n" not in seen:
                data = end.recv(1 << 16)
                assert data, seen[-200:]
                seen += data
