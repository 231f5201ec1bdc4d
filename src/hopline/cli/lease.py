"""`hopline lease`: who may write where, over all of a person's machines."""

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from hopline.cli.lease_guard import guard
from hopline.cli.lease_resource import claimable, parse_resource
from hopline.cli.lease_session import session_name, session_option, shared_name
from hopline.cli.lease_words import Queue, span, told
from hopline.cli.places import json_option
from hopline.cli.prune import parse_age
from hopline.cli.statuses import DONE, FAILED, UNDECIDED
from hopline.errors import HoplineError, Unavailable, UsageError

if TYPE_CHECKING:
    from hopline.wire.hub.leases import ClaimLease, LeaseClaimed

DEFAULT_TTL = "30m"
FOR_EVER = "for ever"
MAX_TTL_SECONDS = 7 * 86_400
MAX_REASON_CHARACTERS = 256

HUB_ENDS = "hub_ends"
"""The code of a hub's answer that will not come because it leaves."""
BACK_SECONDS = 10.0
"""How long a claim that waits gives a hub that left to be back, before it starts one itself."""
AGAIN_SECONDS = 0.5
"""Between two looks for a hub that left."""

no_start_option = click.option("--no-start", is_flag=True, help="Do not start this machine's hub.")


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
    """Claim KIND:VALUE, such as path_glob:src/auth/**. Exits with 1 when somebody else holds it, and only then.

    Values of path_glob overlap when one's part before the first wildcard begins with the other's; values of any other
    kind, such as branch:main, are the same or are not. A run's lease lasts as long as the run is alive; any other one
    until it is released or its time is over.
    """
    import msgspec

    from hopline.wire.hub.leases import ClaimLease

    kind, given = parse_resource(resource)
    value = claimable(kind, given)
    wait_secs = None if wait in (None, FOR_EVER) else _seconds("--wait", wait or "")
    waits = wait is not None and wait_secs != 0
    asked = ClaimLease(
        session=session_name(session),
        kind=kind,
        value=value,
        mode=mode,
        ttl_secs=_ttl(ttl),
        reason=_reason(reason),
        wait=waits,
        wait_secs=wait_secs if waits else None,
        overlaps=not as_json,
    )
    if value != given:
        resource = f"{kind}:{value}"
        sys.stderr.write(f"paths count from the top of the repository: {resource}\n")
    sys.stderr.write(shared_name(session))
    try:
        claimed = _claimed(asked, Queue(resource), start=not no_start)
    except HoplineError as error:
        if error.exit_status != FAILED:
            raise
        raise _Undecided(str(error)) from error
    if as_json:
        sys.stdout.write(msgspec.json.encode(claimed).decode() + "\n")
        return DONE if claimed.outcome == "granted" else FAILED
    return told(resource, claimed, waited=waits)


@lease.command()
@click.argument("which", metavar="LEASE|KIND:VALUE")
@session_option
@no_start_option
@json_option
def release(which: str, session: str | None, no_start: bool, as_json: bool) -> int:
    """Give back a lease, by its id or by what it is of; of several the latest."""
    import msgspec

    from hopline.client.hub import HubClient
    from hopline.rendering import plain
    from hopline.wire.hub.leases import LeaseReleased, ReleaseLease

    name = session_name(session)
    if ":" in which:
        kind, value = parse_resource(which)
        with contextlib.suppress(UsageError):
            value = claimable(kind, value)
        asked = ReleaseLease(session=name, kind=kind, value=value)
    else:
        asked = ReleaseLease(session=name, lease_id=which)
    with HubClient.open(start=not no_start) as hub:
        released = hub.call("lease.release", asked, LeaseReleased)
    if as_json:
        sys.stdout.write(msgspec.json.encode(released).decode() + "\n")
    else:
        sys.stdout.write(f"released {plain(', '.join(released.released))}\n")
    if released.left:
        sys.stderr.write(
            f"{plain(name)} still holds it {released.left} more times; release it again, or see: hopline lease ls\n"
        )
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


class _Undecided(HoplineError):
    """Whether the claim holds anything is not known, or nobody could decide it."""

    exit_status = UNDECIDED


def _claimed(asked: "ClaimLease", queue: Queue, *, start: bool) -> "LeaseClaimed":
    """Ask, and ask again when the hub leaves while the claim waits."""
    import time

    import msgspec

    from hopline.client.hub import HubClient, HubRefused
    from hopline.wire.hub.leases import LeaseClaimed, LeaseQueued

    began, limit, left_at = time.monotonic(), asked.wait_secs, None
    while True:
        now = time.monotonic()
        rest = None if limit is None else max(0.0, limit - (now - began))
        try:
            with HubClient.open(start=start and (left_at is None or now - left_at > BACK_SECONDS)) as hub:
                asked = msgspec.structs.replace(asked, wait_secs=rest)
                left_at = None
                return hub.call("lease.claim", asked, LeaseClaimed, (LeaseQueued, queue))
        except (Unavailable, HubRefused) as error:
            ended = isinstance(error, Unavailable) or error.code == HUB_ENDS
            if not (ended and queue.queued) or rest == 0:
                raise
            left_at = left_at or time.monotonic()
            queue.say("this machine's hub has left, and the place in the queue with it; claiming again when it is back")
            time.sleep(AGAIN_SECONDS if rest is None else min(AGAIN_SECONDS, rest))


def _ttl(text: str) -> int:
    import math

    seconds = _seconds("--ttl", text)
    if not 1 <= seconds <= MAX_TTL_SECONDS:
        raise UsageError(f"--ttl {text[:40]!r} is out of bounds; it is from 1s to 7d.")
    return math.ceil(seconds)


def _reason(text: str | None) -> str | None:
    if text is None or len(text) <= MAX_REASON_CHARACTERS:
        return text
    sys.stderr.write(f"the reason is cut at {MAX_REASON_CHARACTERS} characters\n")
    return text[:MAX_REASON_CHARACTERS]


def _seconds(option: str, text: str) -> float:
    return float(text) if text.replace(".", "", 1).isdigit() else parse_age(text, option)
