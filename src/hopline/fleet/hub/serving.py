"""One hub from its start to its end: settings, places, connections, rooms and control put together."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from hopline import __version__
from hopline.clock import rfc3339
from hopline.errors import HoplineError
from hopline.fleet.hub import discovery, listening
from hopline.fleet.hub.collection import Collection, host_name
from hopline.fleet.hub.control import ControlServer
from hopline.fleet.hub.hub import Hub
from hopline.fleet.hub.keys import FileKeys
from hopline.fleet.hub.links import HubLinks
from hopline.fleet.hub.pairing import Pairing
from hopline.fleet.hub.place import HubPlace
from hopline.fleet.hub.rooms import rooms
from hopline.fleet.hub.views import Views
from hopline.fleet.links.actions import HubOptions
from hopline.fleet.links.addresses import is_loopback
from hopline.settings import RelaySettings, home
from hopline.wire.hub.peers import HubRecord
from hopline.wire.peer.lan import Announcement
from hopline.wire.peer.limits import DEFAULT_PORT
from hopline.wire.peer.pairing import address_text, read_address

SEE_OFF_SECONDS = 0.2
"""How long what was written last may take to leave."""

log = logging.getLogger("hopline.hub")


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen. `explicit`: exactly there or not at all."""

    host: str
    port: int
    explicit: bool


class _Ended(Exception):
    """Cancels what is still under way; nobody is told."""


async def serve(place: HubPlace, relay: RelaySettings, listen: Listen, started: Callable[[HubRecord], None]) -> None:
    """Serve until a signal or `hub stop`. `started` is told once peers and commands can come.

    Raises HoplineError or OSError before `started` was called when something cannot be had.
    """
    try:
        await _serve(place, relay, listen, started)
    except BaseExceptionGroup as group:
        _, others = group.split(_Ended)
        if others is not None:
            _raise_told(others)


def _raise_told(group: BaseExceptionGroup[BaseException]) -> NoReturn:
    """What can be said in a sentence goes out alone."""
    first: BaseException = group.subgroup((HoplineError, OSError)) or group
    while isinstance(first, BaseExceptionGroup) and first is not group:
        first = first.exceptions[0]
    raise first


async def _serve(place: HubPlace, relay: RelaySettings, listen: Listen, started: Callable[[HubRecord], None]) -> None:
    keys = FileKeys(place.folder)
    identity = keys.identity(host_name())
    last = place.read()
    ports = listening.ports_to_try(listen.port, listen.explicit, _port_of(last))
    bound = listening.bound(listen.host, ports)
    port: int = bound.getsockname()[1]
    chosen = not listen.explicit and listen.port == DEFAULT_PORT and port != DEFAULT_PORT
    anywhere = listen.host in ("0.0.0.0", "::")  # noqa: S104  # compared, not bound
    local = is_loopback(listen.host)
    record = HubRecord(
        pid=os.getpid(),
        identity=identity,
        listen=address_text(listen.host, port),
        socket=str(place.socket_path),
        started_at=rfc3339(),
        home=str(home()),
        chosen_port=chosen,
        hopline_version=__version__,
    )
    options = HubOptions(
        version=__version__,
        max_peers=relay.max_peers,
        heartbeat_seconds=relay.heartbeat_interval_secs,
        listen_port=port if anywhere else None,
    )
    control_socket = place.bind()
    own_rooms = rooms(place.folder)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    announces = relay.lan_announce and not local
    async with asyncio.TaskGroup() as tasks:
        hub = Hub(identity, keys, options, tasks)
        links = HubLinks(hub)
        views = Views(hub, links, record, stopping.set, announces=announces)
        pairing = Pairing(hub, links, lambda: listening.reachable(listen.host, port))
        operations = views.operations() | pairing.operations()
        for room in own_rooms:
            room.attach(links)
            operations |= room.operations()
        control = ControlServer(operations, tasks)
        collection = Collection(
            hub.core.neighbours.collected,
            hub.core.neighbours.equipped,
            hub.core.neighbours.placed,
            lambda: listening.reachable(listen.host, port),
            hub.core.tell,
        )
        await hub.listen(bound)
        await control.listen(control_socket)
        place.publish(record)
        background = [hub.run(), collection.run(), *(room.run() for room in own_rooms)]
        if announces:
            background.append(discovery.announce(Announcement(identity, port, __version__)))
        running = [tasks.create_task(work) for work in background]
        started(record)
        await stopping.wait()
        log.info("%s ends", identity)
        await control.close()
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        with contextlib.suppress(TimeoutError):
            await asyncio.sleep(SEE_OFF_SECONDS)
        place.withdraw()
        raise _Ended


def _port_of(last: HubRecord | None) -> int | None:
    """Where the last hub of this home listened, if that was chosen for want of the usual port."""
    if last is None or not last.chosen_port:
        return None
    found = read_address(last.listen)
    return None if found is None else found[1]
