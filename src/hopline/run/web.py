"""The gateway inside one run's server (`hopline run --web`): the run's page, and its wire over WebSocket.

The same component as behind `hopline web`, over connections inside the process (docs/wire/gateway.md, "One run").
What it needs is imported only when it is asked for.
"""

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import hopline
from hopline.records import RunSpec
from hopline.run.recorder import Recorder
from hopline.serve.memory import MemoryClient

if TYPE_CHECKING:
    from hopline.serve.gateway.credentials import Credentials
    from hopline.serve.gateway.server import Gateway

Connect = Callable[[], MemoryClient]
"""Makes a connection to the run. Raises Unavailable."""


class RunWeb:
    """One run's gateway, if its spec wants one; the run's record tells its URL while it serves.

    Args:
        spec: whether, on which port, and for which origins.
        recorder: keeps the record.
        connect: see Connect.
    """

    def __init__(self, spec: RunSpec, recorder: Recorder, connect: Connect) -> None:
        self._spec = spec
        self._recorder = recorder
        self._connect = connect
        self._gateway: Gateway | None = None

    async def open(self) -> None:
        """Serve, and put the URL into the record, which is not written yet. Raises Unavailable without the port."""
        if not self._spec.web:
            return
        from hopline.serve.gateway.credentials import KEY_BYTES, TOKEN_BYTES, Credentials, new_token
        from hopline.serve.gateway.server import Gateway, GatewayOptions

        credentials = Credentials(new_token(secrets.token_bytes(TOKEN_BYTES)), secrets.token_bytes(KEY_BYTES))
        options = GatewayOptions(
            port=self._spec.web_port,
            web=Path(hopline.__file__).parent / "web",
            origins=tuple(self._spec.web_origins),
            single_run=self._spec.id,
            allowed_uids=frozenset({os.getuid(), 0}),
        )
        gateway = Gateway(options, InsideDialer(self._connect), credentials, self._keep)
        await gateway.open()
        self._gateway = gateway
        self._recorder.change(url=self._url(credentials))

    async def close(self) -> None:
        """End every connection within the gateway's bound; the URL leaves the record. Safe without `open`."""
        if self._gateway is None:
            return
        await self._gateway.close()
        self._recorder.change(url=None)
        with contextlib.suppress(OSError):  # a URL that leads nowhere does no harm
            self._recorder.publish()

    def _keep(self, fresh: "Credentials") -> None:
        """The token is replaced: the record tells the new one. Raises OSError, and then it tells the old one."""
        before = self._recorder.record.url
        self._recorder.change(url=self._url(fresh))
        try:
            self._recorder.publish()
        except OSError:
            self._recorder.change(url=before)
            raise

    def _url(self, credentials: "Credentials") -> str:
        assert self._gateway is not None
        return f"http://127.0.0.1:{self._gateway.port}/?token={credentials.token}#/runs/{self._spec.id}"


class InsideDialer:
    """Reaches the run in this process (`hopline.serve.gateway.upstream.Dialer`).

    Args:
        connect: see Connect.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def dial(self, run_id: str) -> MemoryClient:
        """See Dialer; the gateway asks for its one run only."""
        return self._connect()
