"""Tells the local network of this hub, and listens for others; nothing is proven (docs/wire/peer.md, "Discovery")."""

import asyncio
import logging
import socket
from typing import Any, cast

from hopline.errors import Unavailable
from hopline.fleet.links.addresses import source_of
from hopline.wire.hub.peers import Found
from hopline.wire.peer.lan import Announcement, decode_announcement, encode_announcement
from hopline.wire.peer.limits import LAN_INTERVAL_SECONDS, LAN_PORT
from hopline.wire.peer.pairing import address_text

MAX_FOUND = 256
"""Announcing hubs that one scan keeps."""

log = logging.getLogger("hopline.hub.discovery")


async def announce(announcement: Announcement, target: tuple[str, int] = ("255.255.255.255", LAN_PORT)) -> None:
    """Broadcast it every 5 s until cancelled. The first failure in a row is logged."""
    datagram = encode_announcement(announcement)
    loop = asyncio.get_running_loop()
    failing = False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        while True:
            try:
                await loop.sock_sendto(end, datagram, target)
                failing = False
            except OSError as error:
                if not failing:
                    log.warning("cannot announce this hub on the local network: %s", error.strerror)
                failing = True
            await asyncio.sleep(LAN_INTERVAL_SECONDS)


class _Ear(asyncio.DatagramProtocol):
    def __init__(self, own: str) -> None:
        self._own = own
        self.found: dict[tuple[str, str], Announcement] = {}

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        announced = decode_announcement(data)
        if announced is None or announced.identity == self._own or len(self.found) >= MAX_FOUND:
            return
        address = address_text(source_of(cast(str, addr[0])), announced.port)
        self.found[announced.identity, address] = announced


async def scan(own: str, paired: frozenset[str], seconds: float, port: int = LAN_PORT) -> list[Found]:
    """Who announces itself within `seconds`, without ourselves. Raises Unavailable when nobody may listen there."""
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        end.bind(("", port))
    except OSError as error:
        end.close()
        raise Unavailable(
            f"cannot listen for hubs on UDP port {port}: {error.strerror}; who has it: ss -ulpn"
        ) from error
    transport, ear = await asyncio.get_running_loop().create_datagram_endpoint(lambda: _Ear(own), sock=end)
    try:
        await asyncio.sleep(seconds)
    finally:
        transport.close()
    return [
        Found(peer=peer, address=address, version=announced.version, paired=peer in paired)
        for (peer, address), announced in sorted(ear.found.items())
    ]
