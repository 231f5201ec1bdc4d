"""Pairing, as the command line asks for it: keys are made, accepted, proved and forgotten; each failure says why."""

import os
import time
from collections.abc import Callable

from hopline.errors import Refused, Unavailable, UsageError
from hopline.fleet.errors import NotPaired, PeerDenied, PeerUnreachable
from hopline.fleet.hub.hub import Hub, Outcome, connect_problem
from hopline.fleet.hub.links import HubLinks
from hopline.fleet.hub.peer_names import named_peer
from hopline.fleet.links.actions import DialOrder, Lost
from hopline.fleet.links.addresses import is_loopback, named, place_of
from hopline.fleet.ports import Operation, Progress
from hopline.wire.hub.peers import (
    AcceptAsked,
    Accepted,
    Asked,
    ConnectAsked,
    Connected,
    ForgetAsked,
    Forgotten,
    Invitation,
    JoinAsked,
)
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer
from hopline.wire.peer.identity import is_peer_id
from hopline.wire.peer.limits import DEFAULT_PORT, MAX_SHOWN_CHARACTERS
from hopline.wire.peer.opening import REFLECTED
from hopline.wire.peer.pairing import PREFIX_BYTES, Invite, code_of, key_of, link, parse_invite, prefix_of, relay_code

MAX_TRIES = 3
"""Keys proved to one listener by one `connect`: five failures within a minute would shut us out."""


class Pairing:
    """The operations.

    Args:
        hub: whose keys and connections they use.
        places: where others can connect, the best one first.
    """

    def __init__(self, hub: Hub, links: HubLinks, places: Callable[[], list[str]]) -> None:
        self._hub = hub
        self._links = links
        self._places = places

    def operations(self) -> dict[str, Operation]:
        """By name."""
        return {
            "peer.pair": Operation(Asked, self._pair),
            "peer.accept": Operation(AcceptAsked, self._accept),
            "peer.join": Operation(JoinAsked, self._join),
            "peer.connect": Operation(ConnectAsked, self._connect),
            "peer.forget": Operation(ForgetAsked, self._forget),
        }

    @property
    def _own(self) -> str:
        return self._hub.core.identity

    async def _pair(self, _asked: Asked, _progress: Progress) -> Invitation:
        prefix = os.urandom(PREFIX_BYTES)
        self._hub.keys.keep_pending(key_of(prefix))
        address = self._places()[0]
        place = place_of(address)
        assert place is not None, "we listen there"
        invite = Invite(*place, prefix, self._own)
        return Invitation(
            identity=self._own,
            code=code_of(prefix),
            link=link(invite),
            relay_code=relay_code(invite),
            address=address,
            local_only=is_loopback(place[0]),
        )

    async def _accept(self, asked: AcceptAsked, _progress: Progress) -> Accepted:
        self._check(asked.peer)
        key = key_of(prefix_of(asked.code))
        before = self._hub.keys.key(asked.peer)
        if before not in (None, key) and not asked.replace and self._proven(asked.peer):
            raise Refused(
                f"{asked.peer} is paired already, with another key, which stays; to pair anew: hopline peer forget "
                f"{asked.peer} (and there: hopline peer forget {self._own}), or --replace to give its key up at once.",
                code="paired_already",
            )
        self._hub.keys.keep(asked.peer, key)
        self._hub.keys.drop_pending()
        if before is not None and before != key:
            self._hub.core.forget(asked.peer, time.monotonic())
        self._hub.core.plan.hurry(asked.peer, time.monotonic())
        self._hub.tick()
        return Accepted(peer=asked.peer, replaced=before is not None and before != key)

    async def _join(self, asked: JoinAsked, _progress: Progress) -> Connected:
        invite = parse_invite(asked.invitation)
        if invite.hive is not None:
            raise UsageError("this link invites to a hive, which hopline does not join; ask for one of: relay invite")
        if invite.peer is not None:
            self._check(invite.peer)
        address = named(f"[{invite.host}]:{invite.port}" if ":" in invite.host else f"{invite.host}:{invite.port}", 0)
        self._check_elsewhere(address)
        key = key_of(invite.prefix)
        self._prepare(key)
        try:
            outcome = await self._opened(address, DialOrder(key, invite.peer, keep=True))
        finally:
            self._hub.keys.discard(key)
        return self._connected(address, outcome, invite.peer, "the invitation is wrong or was used already")

    async def _connect(self, asked: ConnectAsked, _progress: Progress) -> Connected:
        address = named(asked.address, DEFAULT_PORT)
        self._check_elsewhere(address)
        order = self._first_guess(address)
        if order is None:
            raise NotPaired("this machine is paired with nobody: there is no key to prove; pair: hopline peer pair")
        tried: set[bytes] = set()
        while True:
            outcome = await self._opened(address, order)
            tried.add(order.key)
            following = self._next_guess(outcome, tried)
            if following is None or len(tried) >= MAX_TRIES:
                return self._connected(address, outcome, None, "it knows no key of ours")
            order = following

    async def _forget(self, asked: ForgetAsked, _progress: Progress) -> Forgotten:
        peer = named_peer(asked.peer, self._links.peers())
        known = is_peer_id(peer) and self._hub.keys.forget(peer)
        if not known:
            raise NotPaired(f"{peer[:MAX_SHOWN_CHARACTERS]!r} is not paired; those that are: hopline peer ls")
        self._links.forget(peer)
        self._hub.core.forget(peer, time.monotonic())
        self._hub.pump()
        return Forgotten(peer=peer)

    def _check(self, peer: str) -> None:
        if not is_peer_id(peer):
            raise UsageError(f"{peer[:MAX_SHOWN_CHARACTERS]!r} is no peer's id; there: hopline peer id")
        if peer == self._own:
            raise UsageError(f"{peer} is this machine; run this on the other one.")

    def _check_elsewhere(self, address: str) -> None:
        if address in self._places():
            raise UsageError(_ourselves(address))

    def _proven(self, peer: str) -> bool:
        """Whether the key of that peer has ever opened a connection."""
        return self._hub.keys.meta(peer).last_seen is not None or peer in self._hub.core.linked

    def _prepare(self, key: bytes) -> None:
        try:
            self._hub.keys.prepare(key)
        except OSError as error:
            raise Unavailable(
                f"this machine cannot keep the key: {self._hub.keys.folder}: {error.strerror}; nobody was asked, so "
                "the invitation is still good: mend that and join again."
            ) from error

    def _first_guess(self, address: str) -> DialOrder | None:
        """The key of whoever was there last, else the one that waits to be claimed, else any."""
        keys = self._hub.keys
        peers = sorted(self._links.peers(), key=lambda peer: (address not in keys.addresses(peer), peer))
        if peers and address in keys.addresses(peers[0]):
            return self._of(peers[0])
        pending = keys.pending()
        if pending is not None:
            return DialOrder(pending, pending=True)
        return self._of(peers[0]) if peers else None

    def _next_guess(self, outcome: Outcome, tried: set[bytes]) -> DialOrder | None:
        """Whoever refused a key has said who it is."""
        if not isinstance(outcome, Denied):
            return None
        known = self._of(outcome.peer) if is_peer_id(outcome.peer) else None
        if known is not None and known.key not in tried:
            return known
        pending = self._hub.keys.pending()
        return DialOrder(pending, pending=True) if pending is not None and pending not in tried else None

    def _of(self, peer: str) -> DialOrder | None:
        key = self._hub.keys.key(peer)
        return None if key is None else DialOrder(key, peer)

    async def _opened(self, address: str, order: DialOrder) -> Outcome:
        place = place_of(address)
        assert place is not None, "it was named"
        most = self._hub.core.options.max_peers
        if order.expected not in self._hub.core.linked and len(self._hub.core.linked) >= most:
            raise Refused(f"this hub has {most} links, all that it may; raise max_peers under [relay], or forget one.")
        try:
            return (await self._hub.order(place, address, order))[1]
        except ConnectionRefusedError:
            raise PeerUnreachable(
                f"nothing listens at {address}; start the hub there: hopline hub serve --listen ADDR:PORT"
            ) from None
        except OSError as error:
            raise PeerUnreachable(
                f"{address} cannot be reached: {connect_problem(error)}; check the address, the network and firewalls."
            ) from None

    def _connected(self, address: str, outcome: Outcome, expected: str | None, why: str) -> Connected:
        match outcome:
            case Authenticated():
                self._hub.tick()
                found = self._hub.core.link(outcome.peer)
                return Connected(
                    peer=outcome.peer,
                    address=address,
                    proto=outcome.proto,
                    framing="ndjson" if found is None else str(found.machine.framing),
                    features=sorted(outcome.features),
                )
            case WrongPeer():
                raise PeerDenied(f"{outcome.peer} answered at {address}, not {outcome.expected}; ask for its address.")
            case Denied(peer=peer) if peer == self._own:
                raise UsageError(_ourselves(address))
            case Lost(reason=reason) if reason == REFLECTED:
                raise UsageError(_ourselves(address))
            case Denied():
                who = outcome.peer or "the hub"
                if expected is not None and outcome.peer not in ("", expected):
                    raise PeerDenied(f"{who} answered at {address}, not {expected}; ask for the address of {expected}.")
                why = f"{why}, or it still has an older key of this machine{_tired(address)}"
                raise PeerDenied(
                    f"{who} at {address} refused: {why}. There: hopline peer forget {self._own}, "
                    "then hopline peer invite for a new invitation."
                )
            case _:
                raise PeerUnreachable(
                    f"{address} broke off: {outcome.reason}. It may be full, or it shuts this machine out for a minute "
                    "after too many failed tries; wait a minute and try again."
                )


def _ourselves(address: str) -> str:
    return f"{address} is this machine; connect to the other one."


def _tired(address: str) -> str:
    """Over loopback an id that is shut out is refused like any other (PL-ONE-ANSWER)."""
    place = place_of(address)
    if place is None or not is_loopback(place[0]):
        return ""
    return ", or it shuts this one out after too many failed tries (then wait a minute and try again)"
