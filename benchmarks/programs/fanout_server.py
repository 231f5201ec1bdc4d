"""`fanout_server.py FOLDER [EVENTS]`: hopline's part of the fan-out rows, in one process, until its stdin ends.

The journal, the subscriptions, the Unix carrier and the gateway of a run server, composed as in it; instead of a worker
a publisher's lines become events of 500 bytes, one a line, because a worker's output is cut by reads and not by lines.
Listens at FOLDER/s and on a port of loopback, takes lines at FOLDER/p, and has EVENTS events to begin with. One JSON
line on stdout once it serves.
"""

import asyncio
import gc
import json
import os
import sys
from pathlib import Path

from hopline.clock import rfc3339
from hopline.ids import new_run_id
from hopline.journal import Journal, JournalOptions
from hopline.run.channel import Channel
from hopline.run.commits import Commits
from hopline.run.fold import RunFold
from hopline.run.subscriptions import Subscriptions
from hopline.serve import memory, unix
from hopline.serve.gateway.credentials import KEY_BYTES, Credentials
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.gateway.server import Gateway, GatewayOptions
from hopline.serve.gateway.upstream import Upstream
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.requests import Subscribe
from hopline.wire.client.session import Received

EVENT_BYTES = 500
MAX_SUBSCRIBERS = 1200


class Output:
    """One line as an output event's content."""

    stream = "stdout"
    offset = 0
    raw = None
    content_json = b""


class Publisher(asyncio.Protocol):
    """Makes an event of each line.

    Args:
        journal: takes them.
        encoder: of the run.
    """

    def __init__(self, journal: Journal, encoder: EventEncoder) -> None:
        self._journal, self._encoder = journal, encoder
        self._rest = b""
        self._piece = Output()
        self._filling = EVENT_BYTES - 1 - len(encoder.output(1, rfc3339().encode(), 1, self._piece))

    def data_received(self, data: bytes) -> None:
        """Lines, cut anyhow."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        stamp = rfc3339().encode()
        for line in lines:
            self.publish(line, stamp)

    def publish(self, line: bytes, stamp: bytes) -> None:
        """Append one event; the sequence's further digits come out of the filling."""
        sequence = self._journal.next_sequence
        self._piece.content_json = line[: self._filling + 1 - len(str(sequence))]
        self._journal.append(self._encoder.output(sequence, stamp, 1, self._piece), kind="subprocess_output")


class InsideDialer:
    """Reaches the run in memory, as the gateway inside a run server does."""

    def __init__(self, listener: memory.MemoryListener) -> None:
        self._listener = listener

    async def dial(self, run_id: str) -> Upstream:
        """See Dialer."""
        return self._listener.connect()


async def serve(folder: Path, events: int) -> None:
    """From an empty journal to the end of stdin."""
    run_id = new_run_id()
    commits = Commits(lambda: journal.committed_sequence)
    journal = Journal.create(folder / "journal", run_id, JournalOptions(reserve_bytes=0), on_commit=commits.notify)
    subscriptions = Subscriptions(journal, run_id, RunFold(run_id))
    commits.listen(subscriptions.wake)
    publisher = Publisher(journal, EventEncoder(run_id))
    for _ in range(events):
        publisher.publish(b"x" * EVENT_BYTES, rfc3339().encode())
        if not journal.room():
            await commits.past(journal.committed_sequence, 5)
    while journal.committed_sequence < events:
        await commits.past(events - 1, 5)

    async def own(channel: Channel) -> None:
        item = await channel.next()
        if isinstance(item, Received) and isinstance(item.request, Subscribe):
            await subscriptions.serve(channel, item, item.request)

    unix.MAX_CONNECTIONS = memory.MAX_CONNECTIONS = MAX_SUBSCRIBERS
    async with asyncio.TaskGroup() as tasks:
        listener, inside = unix.UnixListener(own, tasks), memory.MemoryListener(own, tasks)
        await listener.listen(unix.bind(folder / "s"))
        loop = asyncio.get_running_loop()
        await loop.create_unix_server(lambda: publisher, str(folder / "p"))
        (folder / "index.html").touch()
        options = GatewayOptions(
            port=0, web=folder, single_run=run_id, limits=GatewayLimits(websockets=MAX_SUBSCRIBERS)
        )
        gateway = Gateway(options, InsideDialer(inside), Credentials("t0ken", bytes(KEY_BYTES)))
        await gateway.open()
        gc.freeze()
        print(json.dumps({"port": gateway.port, "store_id": journal.store_id}), flush=True)
        await loop.run_in_executor(None, os.read, 0, 1)
        listener.stop()
        listener.hang_up()
        inside.hang_up()
        await gateway.close()
    journal.close()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
