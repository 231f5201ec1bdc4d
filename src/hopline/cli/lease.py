"""`hopline lease`: who may write where, over all of a person's machines."""

import sys
from typing import TYPE_CHECKING

import click

from hopline.cli.lease_guard import guard
from hopline.cli.lease_session import session_name, session_option
from hopline.cli.places import json_option
from hopline.cli.prune import parse_age
from hopline.cli.statuses import DONE, FAILED
from hopline.errors import Unavailable, UsageError

if TYPE_CHECKING:
    from hopline.wire.hub.leases import LeaseClaimed, LeaseQueued

DEFAULT_TTL = "30m"
FOR_EVER = "for ever"

no_start_option = click.option("--no-start", is_flag=True, help="Do not start this machine's hub.")


class LeaseHeld(Unavailable):
    """Somebody else holds it, or waits for it in front."""


@click.group()
def lease() -> None:
    """Claim what you are about to change, so that nobody else changes it meanwhile.

    Claims of all your machines are kept by one of them: hopline lease authority.
    """


lease.add_command(guard)


@lease.command()
@click.argument("resource", metavar="KIND:VALUE")
@click.option(
    "--ttl", metavar="TIME", default=DEFAULT_TTL, help=f"How long, such as 90s or 2h. Default: {DEFAULT_TTL}."
)
@click.option(
    "--mode",
    type=click.Choice(["exclusive", "advisory"]),
    default="exclusive",
    help="advisory tells others and keeps nobody out.",
)
@click.option("--reason", metavar="TEXT", help="Shown to whoever is refused or lists leases.")
@click.option(
    "--wait",
    metavar="[TIME]",
    is_flag=False,
    flag_value=FOR_EVER,
    help="Queue while it is held, at most so long. First come, first served.",
)
@session_option
@no_start_option
@json_option
def claim(
    resource: str,
    ttl: str,
    mode: str,
    reason: str | None,
    wait: str | None,
    session: str | None,
    no_start: bool,
    as_json: bool,
) -> int:
    """Claim KIND:VALUE, such as path_glob:src/auth/**. Exits with 1 when somebody else holds it.

    Values of path_glob overlap when one's part before the first wildcard begins with the other's; values of any other
    kind, such as branch:main, are the same or are not. A run's lease lasts as long as the run is alive; any other one
    until it is released or its time is over.
    """
    import msgspec

    from hopline.client.hub import HubClient
    from hopline.wire.hub.leases import ClaimLease, LeaseClaimed, LeaseQueued

    kind, value = parse_resource(resource)
    asked = ClaimLease(
        session=session_name(session),
        kind=kind,
        value=value,
        mode=mode,
        ttl_secs=max(1, round(_seconds("--ttl", ttl))),
        reason=reason,
        wait=wait is not None,
        wait_secs=None if wait in (None, FOR_EVER) else _seconds("--wait", wait or ""),
    )
    with HubClient.open(start=not no_start) as hub:
        claimed = hub.call("lease.claim", asked, LeaseClaimed, (LeaseQueued, _Queue(resource)))
    if as_json:
        sys.stdout.write(msgspec.json.encode(claimed).decode() + "\n")
        return DONE if claimed.outcome == "granted" else FAILED
    return _told(resource, claimed, waited=wait is not None)


@lease.command()
@click.argument("which", metavar="LEASE|KIND:VALUE")
@session_option
@no_start_option
@json_option
def release(which: str, session: str | None, no_start: bool, as_json: bool) -> int:
    """Give back a lease, by its id or by what it is of."""
    import msgspec

    from hopline.client.hub import HubClient
    from hopline.rendering import plain
    from hopline.wire.hub.leases import LeaseReleased, ReleaseLease

    name = session_name(session)
    if ":" in which:
        kind, value = parse_resource(which)
        asked = ReleaseLease(session=name, kind=kind, value=value)
    else:
        asked = ReleaseLease(session=name, lease_id=which)
    with HubClient.open(start=not no_start) as hub:
        released = hub.call("lease.release", asked, LeaseReleased)
    if as_json:
        sys.stdout.write(msgspec.json.encode(released).decode() + "\n")
    else:
        sys.stdout.write(f"released {plain(', '.join(released.released))}\n")
    return DONE


@lease.command("ls")
@no_start_option
@json_option
def ls(no_start: bool, as_json: bool) -> int:
    """List the leases in force on all machines, oldest first."""
    import msgspec

    from hopline.client.hub import HubClient
    from hopline.rendering import plain, table
    from hopline.wire.hub.leases import LeaseListing, ListLeases

    with HubClient.open(start=not no_start) as hub:
        found = hub.call("lease.ls", ListLeases(), LeaseListing)
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return DONE
    if not found.leases:
        sys.stdout.write(f"no leases; {plain(found.authority)} keeps them\n")
        return DONE
    rows = [
        (
            plain(f"{one.resource_kind}:{one.resource_value}"),
            plain(one.mode),
            plain(one.owner_session_id),
            span(one.ttl_left_millis, one.expires_at),
            str(one.fence) if one.fence is not None else "?",
            plain(one.id),
            plain(one.reason or ""),
        )
        for one in found.leases
    ]
    sys.stdout.write(table(("RESOURCE", "MODE", "HOLDER", "LEFT", "FENCE", "LEASE", "REASON"), rows))
    if found.truncated:
        sys.stderr.write("there are more leases than one answer holds.\n")
    return DONE


@lease.command()
@click.argument("peer", metavar="[ID]", required=False)
@click.option("--unset", is_flag=True, help="Name none. A machine without peers is then its own.")
@no_start_option
@json_option
def authority(peer: str | None, unset: bool, no_start: bool, as_json: bool) -> int:
    """Tell which machine keeps the leases, or make ID that machine, as seen from here.

    Say the same on every machine. It is written to config.toml as [relay] lease_authority.
    """
    import msgspec

    from hopline.cli.relay_setting import set_relay
    from hopline.client.hub import HubClient
    from hopline.settings import config_file
    from hopline.wire.hub.leases import AskAuthority, LeaseAuthority

    if peer is not None and unset:
        raise UsageError("name a machine or --unset, not both.")
    with HubClient.open(start=not no_start) as hub:
        known = hub.call("lease.authority", AskAuthority(), LeaseAuthority)
        if peer is not None or unset:
            if peer is not None and peer not in (known.identity, *known.peers):
                names = ", ".join([f"{known.identity} (this machine)", *known.peers])
                raise UsageError(f"{peer[:128]!r} is neither this machine nor paired with it; known: {names}.")
            set_relay(config_file(), "lease_authority", peer or "")
            known = hub.call("lease.authority", AskAuthority(), LeaseAuthority)
    if as_json:
        sys.stdout.write(msgspec.json.encode(known).decode() + "\n")
        return DONE
    if known.authority is None:
        names = ", ".join([f"{known.identity} (this machine)", *known.peers])
        said = f"{known.configured} is named and not known here" if known.configured else "none is named"
        sys.stdout.write(f"no machine keeps the leases: {said}; hopline lease authority ID, of {names}\n")
        return FAILED
    here = " (this machine)" if known.authority == known.identity else ""
    why = "" if known.configured else ", since it has no peers"
    sys.stdout.write(f"{known.authority}{here} keeps the leases{why}\n")
    if peer is not None and known.peers:
        sys.stdout.write(f"say so on the others too: hopline lease authority {known.authority}\n")
    return DONE


def parse_resource(text: str) -> tuple[str, str]:
    """KIND and VALUE. Raises UsageError."""
    import re

    kind, colon, value = text.partition(":")
    if not colon or not value or not re.fullmatch(r"[a-z0-9_-]{1,32}", kind):
        raise UsageError(f"{text[:80]!r} is not KIND:VALUE; write for example path_glob:src/auth/** or branch:main")
    return kind, value


def span(left_millis: int | None, expires_at: str | None) -> str:
    """How much longer, as the authority says; from the clock of this machine when it says only until when."""
    from hopline.rendering import age

    if left_millis is not None:
        return age(left_millis / 1000)
    if expires_at is None:
        return "?"
    import time

    from hopline.clock import parse_rfc3339

    try:
        return age(parse_rfc3339(expires_at) - time.time())
    except ValueError:
        return "?"


class _Queue:
    """Says what a claim waits for, again when that changes."""

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._said = ""

    def __call__(self, news: "LeaseQueued") -> None:
        from hopline.rendering import plain, plural

        way = news.way
        holder = plain(f"held by {way.holder} (lease {way.holder_lease})") if way.holder else ""
        said = holder or f"{plural(way.ahead or 1, 'claim')} in front"
        if said != self._said:
            left = f" for {span(way.ttl_left_millis, way.expires_at)} unless released or renewed" if holder else ""
            sys.stderr.write(f"waiting for {plain(self._resource)}: {said}{left}\n")
            sys.stderr.flush()
        self._said = said


def _told(resource: str, claimed: "LeaseClaimed", *, waited: bool) -> int:
    import shlex

    from hopline.rendering import age, plain, plural

    quoted = plain(shlex.quote(resource))
    resource = plain(resource)
    if claimed.lease is not None:
        import time

        good = (claimed.good_for_millis or 0) / 1000
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + good))
        fence = "unknown" if claimed.lease.fence is None else claimed.lease.fence
        sys.stdout.write(f"granted {resource} until {until} ({age(round(good))})\n")
        sys.stdout.write(f"  lease {plain(claimed.lease.id)}  fence {fence}\n")
        return DONE
    way = claimed.way
    step = "try again later" if waited else f"wait for it: hopline lease claim {quoted} --wait"
    if way is not None and way.holder is not None:
        left = span(way.ttl_left_millis, way.expires_at)
        holder = plain(f"{way.holder} holds it (lease {way.holder_lease})")
        raise LeaseHeld(f"{resource} is not free: {holder} until {plain(way.expires_at or '?')}, {left} more; {step}")
    raise LeaseHeld(f"{resource} is not free: {plural((way and way.ahead) or 1, 'claim')} waiting in front; {step}")


def _seconds(option: str, text: str) -> float:
    return float(text) if text.replace(".", "", 1).isdigit() else parse_age(text, option)
