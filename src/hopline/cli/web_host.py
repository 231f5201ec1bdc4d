"""The process behind `hopline web`: the gateway with what it needs of the system, until a signal ends it."""

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import hopline
from hopline.client.start import reopen
from hopline.clock import rfc3339
from hopline.serve.gateway.credentials import Credentials
from hopline.serve.gateway.dialing import UnixDialer
from hopline.serve.gateway.record import GatewayPlace, GatewayRecord, record_of
from hopline.serve.gateway.server import Gateway, GatewayOptions

DESCRIPTORS = 8192
"""What the soft limit on open files is raised to, where the hard one allows it: two a watched run."""

REAP_SECONDS = 5.0
"""How often read-only servers that have left are reaped."""

Announce = Callable[[GatewayRecord], None]


class Reopener:
    """Starts read-only servers of runs that have ended, and reaps those that have left. Called from threads."""

    def __init__(self) -> None:
        self._turn = Lock()

    def __call__(self, run_id: str) -> None:
        """See `dialing.Reopen`."""
        with self._turn:
            reopen(run_id).begin()

    def reap(self) -> None:
        """Collect children that have ended, but not while one is being started: its starter waits for it."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        finally:
            self._turn.release()


def host(
    place: GatewayPlace, credentials: Credentials, port: int, origins: tuple[str, ...], announce: Announce
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. `announce` is told where, once it listens. Raises Unavailable."""
    _allow_descriptors()
    options = GatewayOptions(
        port=port,
        web=Path(hopline.__file__).parent / "web",
        origins=origins,
        allowed_uids=frozenset({os.getuid(), 0}),
    )
    asyncio.run(_host(place, credentials, options, announce))


async def _host(place: GatewayPlace, credentials: Credentials, options: GatewayOptions, announce: Announce) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    started_at = rfc3339()
    reopener = Reopener()

    def keep(fresh: Credentials) -> None:
        place.keep(fresh)
        place.publish(record_of(gateway.port, fresh, started_at))

    gateway = Gateway(options, UnixDialer(reopener, options.limits), credentials, keep)
    await gateway.open()
    try:
        record = record_of(gateway.port, credentials, started_at)
        place.publish(record)
        announce(record)
        while not stopped.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REAP_SECONDS):
                    await stopped.wait()
            reopener.reap()
    finally:
        place.withdraw()
        await gateway.close()


def _allow_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
