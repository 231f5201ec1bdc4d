"""`hopline hub`: the hub of this machine, served in the foreground, looked at and ended."""

import os
import sys

import click

from hopline.cli.places import json_option

STOP_SECONDS = 15.0
"""How long a hub that was told to leave may take."""


@click.group()
def hub() -> None:
    """Serve, look at or end this machine's hub.

    The hub holds the links to your other machines. Commands that need it start it by themselves.
    """


@hub.command()
@click.option("--listen", metavar="ADDR:PORT", help="Where other machines connect; 0.0.0.0 or [::] for everywhere.")
@json_option
def serve(listen: str | None, as_json: bool) -> int:
    """Be the hub, in the foreground, until Ctrl-C or `hopline hub stop`.

    It listens on 127.0.0.1 and port 9847, or what [relay] in config.toml says; when that port is taken, on any free
    one. With --json the first line says who and where it is.
    """
    arguments = [*(["--listen", listen] if listen is not None else []), *(["--json"] if as_json else [])]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "hopline", "hub-server", *arguments])  # noqa: S606  # our own daemon, in our place


@hub.command()
@json_option
def status(as_json: bool) -> int:
    """Tell whether the hub runs, where it listens and how many machines are connected. Starts nothing."""
    from hopline.client.hub import HubClient
    from hopline.wire.hub.peers import Asked, HubStatus

    with HubClient.open(start=False) as client:
        found = client.call("hub.status", Asked(), HubStatus)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return 0
    from hopline.rendering import age, plural, seconds_since

    record = found.record
    sys.stdout.write(
        f"{record.identity} listens at {record.listen} (pid {record.pid}, {age(seconds_since(record.started_at))})\n"
        f"{found.connected} of {plural(found.paired, 'peer')} connected\n"
    )
    if record.chosen_port:
        sys.stdout.write("the usual port was taken by somebody else when it started\n")
    return 0


@hub.command()
@json_option
def stop(as_json: bool) -> int:
    """End the hub; its links close, its leases and transfers are kept on disk."""
    from hopline.client.hub import HubClient, HubGone
    from hopline.client.hub_holder import is_held
    from hopline.errors import Unavailable
    from hopline.wire.hub.peers import Asked, HubStopping

    try:
        client = HubClient.open(start=False)
    except HubGone:
        if is_held():
            raise
        return _stopped(None, as_json)
    with client:
        pid = client.call("hub.stop", Asked(), HubStopping).pid
        gone = client.left(STOP_SECONDS) and _exited(pid)
    if not gone:
        raise Unavailable(f"the hub (pid {pid}) is still leaving after {STOP_SECONDS:g} s; try: kill {pid}")
    return _stopped(pid, as_json)


def _stopped(pid: int | None, as_json: bool) -> int:
    if as_json:
        import json

        sys.stdout.write(json.dumps({"stopped": pid is not None, "pid": pid}) + "\n")
    else:
        sys.stdout.write("no hub runs here\n" if pid is None else f"stopped (pid {pid})\n")
    return 0


def _exited(pid: int) -> bool:
    """Wait for the process to end."""
    import select

    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    try:
        return bool(poller.poll(STOP_SECONDS * 1000))
    finally:
        os.close(descriptor)
