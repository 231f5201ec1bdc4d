"""`hopline top`: the list of runs, live, on the whole terminal."""

from typing import TYPE_CHECKING

import click

from hopline.cli.places import on_terminal, ssh_option
from hopline.errors import UsageError

if TYPE_CHECKING:
    from hopline.cli.main import FullScreen


@click.command()
@ssh_option
@click.pass_obj
def top(full_screen: "FullScreen | None", host: str | None) -> int:
    """Show every run, live: what waits for you first, then what is wrong, then what runs.

    Enter opens one, `/` searches, `?` tells the keys, `q` leaves. Every run goes on.
    """
    if full_screen is None or not on_terminal():
        raise UsageError("top needs a terminal; list the runs with: hopline ls")
    return full_screen.show_runs(host)
