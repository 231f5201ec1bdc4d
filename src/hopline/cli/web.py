"""`hopline web`: the gateway to every run of this machine, and its page."""

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from hopline.cli.places import json_option
from hopline.errors import Unavailable

if TYPE_CHECKING:
    from hopline.serve.gateway.record import GatewayPlace, GatewayRecord

DEFAULT_PORT = 8765
RECORD_SECONDS = 5.0
"""How long a gateway that is starting may take to say where it is."""


@click.command()
@click.option("--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535), help="0 for any.")
@click.option("--no-open", is_flag=True, help="Print the URL and open no browser.")
@click.option("--origin", "origins", multiple=True, metavar="URL", help="Another origin the page is reached by.")
@click.option("--new-token", is_flag=True, help="Forget the token and every open page's session.")
@json_option
def web(port: int, no_open: bool, origins: tuple[str, ...], new_token: bool, as_json: bool) -> int:
    """Show every run of this machine in the browser, live, until Ctrl-C.

    It listens on 127.0.0.1 only, and answers only you. From another machine: ssh -L 8765:127.0.0.1:8765 HOST, with
    the same port at both ends.
    """
    from hopline.cli.preflight import checked_origins
    from hopline.serve.gateway.record import GatewayPlace

    allowed = tuple(checked_origins(origins))

    def announce(record: "GatewayRecord") -> None:
        _announce(record, as_json=as_json, browse=not no_open and not as_json)

    place = GatewayPlace()
    lock = place.hold_lock()
    if lock is None:
        record = _running(place)
        if not as_json:
            sys.stdout.write(f"hopline web is running already (pid {record.pid}).\n")
        announce(record)
        return 0
    try:
        from hopline.cli.web_host import host

        host(place, place.credentials(fresh=new_token), port, allowed, announce)
    finally:
        os.close(lock)
    return 0


def _running(place: "GatewayPlace") -> "GatewayRecord":
    """The record of the gateway that holds the lock."""
    deadline = time.monotonic() + RECORD_SECONDS
    while (record := place.read()) is None:
        if time.monotonic() > deadline:
            raise Unavailable("another hopline web is running and does not say where; end it and try again.")
        time.sleep(0.05)
    return record


def _announce(record: "GatewayRecord", *, as_json: bool, browse: bool) -> None:
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(record).decode() + "\n")
    else:
        sys.stdout.write(f"{record.url}\n")
    sys.stdout.flush()
    if browse and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        import webbrowser

        webbrowser.open(record.url)
