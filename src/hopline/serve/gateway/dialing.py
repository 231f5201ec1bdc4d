"""Dials runs through their Unix sockets; a run that has ended is reopened read-only by whoever can start processes."""

import asyncio
import os
from collections.abc import Callable

from hopline.errors import ConnectDenied, ConnectFailed, Unavailable
from hopline.records import is_live, read_record
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.gateway.upstream import LineUpstream, Upstream

Reopen = Callable[[str], None]
"""Starts a read-only server for a run that has ended, or finds the one there is; returns once it listens. It blocks and
is called in a thread. Raises HoplineError."""

NOBODY = -1
"""The owner of a socket that nobody has accepted (unix(7), SO_PEERCRED)."""

RETRY_SECONDS = 0.05
"""Between two attempts while a server is starting, or leaving to make room for the next."""


class UnixDialer:
    """Connects to the sockets that the runs' records name.

    Args:
        reopen: see Reopen.
        limits: how long a dial may take, and the bounds of what it gives.
    """

    def __init__(self, reopen: Reopen, limits: GatewayLimits) -> None:
        self._reopen = reopen
        self._limits = limits
        self._reopening: dict[str, asyncio.Lock] = {}

    async def dial(self, run_id: str) -> Upstream:
        """See Dialer. Raises RunGone, ConnectDenied, ConnectFailed, or what reopening raises."""
        path = (await asyncio.to_thread(read_record, run_id)).socket_path
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._limits.dial_seconds
        while (upstream := await self._connect(path)) is None:
            if loop.time() >= deadline:
                raise ConnectFailed(f"run {run_id} does not answer at {path}; look at it: hopline doctor {run_id}")
            if await asyncio.to_thread(is_live, run_id):
                await asyncio.sleep(RETRY_SECONDS)
            elif (upstream := await self._reopened(run_id, path)) is not None:
                break
        return upstream

    async def _connect(self, path: str) -> Upstream | None:
        """None when nothing listens there yet, or not any more."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._limits.dial_seconds):
                _, upstream = await loop.create_unix_connection(lambda: LineUpstream(self._limits), path)
        except TimeoutError:
            raise ConnectFailed(f"{path} did not answer within {self._limits.dial_seconds:g} s; try again.") from None
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        except PermissionError:
            raise ConnectDenied(f"you may not connect to {path}; it belongs to somebody else.") from None
        except OSError as error:
            raise ConnectFailed(f"cannot connect to {path}: {error.strerror or error}") from error
        return upstream if _is_owned(upstream, path) else None

    async def _reopened(self, run_id: str, path: str) -> Upstream | None:
        """One at a time a run; whoever waited for another's turn finds the server that it brought."""
        lock = self._reopening.setdefault(run_id, asyncio.Lock())
        try:
            async with lock:
                if (upstream := await self._connect(path)) is not None:
                    return upstream
                await asyncio.to_thread(self._reopen, run_id)
                return await self._connect(path)
        except OSError as error:
            raise Unavailable(f"run {run_id} cannot be reopened: {error.strerror or error}") from error
        finally:
            if not lock.locked():
                self._reopening.pop(run_id, None)


def _is_owned(upstream: LineUpstream, path: str) -> bool:
    """The path was looked up and not given, so whoever serves there must be this user or root. Raises ConnectDenied.

    False when it is not connected at all: asyncio takes a full backlog for a connection that is under way.
    """
    owner = upstream.owner()
    if owner in (os.getuid(), 0):
        return True
    upstream.close()
    if owner == NOBODY:
        return False
    raise ConnectDenied(f"{path} is served by user {owner}, not by you; set XDG_RUNTIME_DIR.")
