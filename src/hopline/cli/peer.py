"""`hopline peer`: pair with other machines, see who is connected, and what runs there."""

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hopline.cli.places import json_option

if TYPE_CHECKING:
    import msgspec

    from hopline.client.hub import HubClient
    from hopline.wire.hub.peers import Connected, Invitation

    T = TypeVar("T", bound=msgspec.Struct)

no_start_option = click.option("--no-start", is_flag=True, help="Do not start the hub when it does not run.")


@click.group()
def peer() -> None:
    """Pair with your other machines and see what runs on them."""


def _client(no_start: bool) -> "HubClient":
    from hopline.client.hub import HubClient

    return HubClient.open(start=not no_start)


def _ask(op: str, args: Any, result: "type[T]", no_start: bool) -> "T":
    with _client(no_start) as client:
        return client.call(op, args, result)


def _json(value: Any) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


@peer.command("id")
@no_start_option
@json_option
def show_id(no_start: bool, as_json: bool) -> int:
    """Print this machine's id."""
    from hopline.wire.hub.peers import Asked, Identity

    found = _ask("peer.id", Asked(), Identity, no_start)
    if as_json:
        _json(found)
    else:
        sys.stdout.write(found.identity + "\n")
    return 0


@peer.command()
@no_start_option
@json_option
def pair(no_start: bool, as_json: bool) -> int:
    """Make a pairing code and print what to run on the other machine.

    The code is good for one machine; the next `pair` or `invite` takes its place.
    """
    invitation = _invitation(no_start)
    if as_json:
        _json(invitation)
        return 0
    sys.stdout.write(
        f"code: {invitation.code}\n\non the other machine, either\n  hopline peer join {invitation.link}\nor\n"
        f"  hopline peer accept {invitation.code} {invitation.identity}\n  hopline peer connect {invitation.address}\n"
    )
    _warn_local(invitation)
    return 0


@peer.command()
@click.option("--qr", is_flag=True, help="Also draw the link as a QR code.")
@no_start_option
@json_option
def invite(qr: bool, no_start: bool, as_json: bool) -> int:
    """Print a link that pairs one other machine: there, `hopline peer join LINK`."""
    invitation = _invitation(no_start)
    if as_json:
        _json(invitation)
        return 0
    sys.stdout.write(f"{invitation.link}\n")
    if invitation.relay_code is not None:
        sys.stdout.write(f"or, to be read aloud: {invitation.relay_code}\n")
    else:
        sys.stdout.flush()
        sys.stderr.write(
            f"no code to be read aloud: it can hold an IPv4 address with a port from 9847 to 10102, "
            f"not {invitation.address}.\n"
        )
    if qr:
        import segno

        segno.make(invitation.link, error="m").terminal(out=sys.stdout, compact=True)
    _warn_local(invitation)
    return 0


def _invitation(no_start: bool) -> "Invitation":
    from hopline.wire.hub.peers import Asked, Invitation

    return _ask("peer.pair", Asked(), Invitation, no_start)


def _warn_local(invitation: "Invitation") -> None:
    if invitation.local_only:
        sys.stdout.flush()
        port = invitation.address.rpartition(":")[2]
        sys.stderr.write(
            f"this hub listens at {invitation.address}, so this works on this machine only; for others: "
            f"hopline hub stop, then hopline hub serve --listen 0.0.0.0:{port} (or listen_addr under [relay] in "
            "config.toml), and invite again.\n"
        )


@peer.command()
@click.argument("code", metavar="CODE")
@click.argument("name", metavar="PEER")
@click.option("--replace", is_flag=True, help="Give up the key of a machine that is paired already, at once.")
@no_start_option
@json_option
def accept(code: str, name: str, replace: bool, no_start: bool, as_json: bool) -> int:
    """Keep the pairing CODE of PEER, its whole id; `connect` proves it."""
    from hopline.wire.hub.peers import AcceptAsked, Accepted

    done = _ask("peer.accept", AcceptAsked(code=code, peer=name, replace=replace), Accepted, no_start)
    if as_json:
        _json(done)
    else:
        again = " in place of its old one" if done.replaced else ""
        sys.stdout.write(f"the key of {done.peer} is kept{again}; connect: hopline peer connect IP:PORT\n")
    return 0


@peer.command()
@click.argument("invitation", metavar="LINK")
@no_start_option
@json_option
def join(invitation: str, no_start: bool, as_json: bool) -> int:
    """Pair with the machine that gave LINK (cctl://...), or its relay code, and stay connected."""
    from hopline.wire.hub.peers import Connected, JoinAsked
    from hopline.wire.peer.pairing import address_text, parse_invite

    invite = parse_invite(invitation)
    if invite.peer is None:  # a relay code has no check of itself: a wrong letter may name another place
        sys.stderr.write(f"dialling {address_text(invite.host, invite.port)}\n")
        sys.stderr.flush()
    return _tell(_ask("peer.join", JoinAsked(invitation=invitation), Connected, no_start), as_json)


@peer.command()
@click.argument("address", metavar="HOST:PORT")
@no_start_option
@json_option
def connect(address: str, no_start: bool, as_json: bool) -> int:
    """Connect to the paired machine at HOST:PORT, an IP address, and stay connected; it is dialled from now on."""
    from hopline.wire.hub.peers import ConnectAsked, Connected

    return _tell(_ask("peer.connect", ConnectAsked(address=address), Connected, no_start), as_json)


def _tell(done: "Connected", as_json: bool) -> int:
    if as_json:
        _json(done)
    else:
        sys.stdout.write(f"connected to {done.peer} at {done.address}: proto {done.proto}, {done.framing}\n")
    return 0


@peer.command()
@no_start_option
@json_option
def ls(no_start: bool, as_json: bool) -> int:
    """List the paired machines: whether they are connected, how, and when they were last heard."""
    from hopline.wire.hub.peers import Asked, PeerList

    found = _ask("peer.list", Asked(), PeerList, no_start)
    if as_json:
        _json(found)
    else:
        from hopline.cli.peer_view import peers_table

        sys.stdout.write(peers_table(found))
    return 0


@peer.command()
@no_start_option
@json_option
def fleet(no_start: bool, as_json: bool) -> int:
    """Show every machine, its tools and the sessions that run there."""
    from hopline.wire.hub.peers import Asked, Fleet

    found = _ask("peer.fleet", Asked(), Fleet, no_start)
    if as_json:
        _json(found)
    else:
        from hopline.cli.peer_view import fleet_text

        sys.stdout.write(fleet_text(found))
    return 0


@peer.command()
@click.argument("name", metavar="PEER")
@no_start_option
@json_option
def forget(name: str, no_start: bool, as_json: bool) -> int:
    """Remove PEER's key and close its link; it must pair again to come back.

    PEER is a peer's id, or what it alone begins with.
    """
    from hopline.wire.hub.peers import ForgetAsked, Forgotten

    done = _ask("peer.forget", ForgetAsked(peer=name), Forgotten, no_start)
    if as_json:
        _json(done)
    else:
        sys.stdout.write(f"{done.peer} is forgotten\n")
    return 0


@peer.command()
@click.option("--seconds", default=6.0, show_default=True, type=click.FloatRange(0.1, 60), help="How long to listen.")
@no_start_option
@json_option
def discover(seconds: float, no_start: bool, as_json: bool) -> int:
    """Listen for hubs that announce themselves on the local network. What they say is not proven."""
    from hopline.wire.hub.peers import DiscoverAsked, Discovered

    found = _ask("peer.discover", DiscoverAsked(seconds=seconds), Discovered, no_start).found
    if as_json:
        _json(Discovered(found=found))
        return 0
    if not found:
        sys.stdout.write("nobody announces itself here; a hub does while it listens beyond 127.0.0.1\n")
        return 0
    from hopline.rendering import plain, table

    rows = [(one.peer, one.address, plain(one.version), "paired" if one.paired else "") for one in found]
    sys.stdout.write(table(("PEER", "ADDRESS", "VERSION", ""), rows))
    return 0
