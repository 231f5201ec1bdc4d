"""RUN as commands take it, found once."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hopline.client.peers import Peer
    from hopline.records import RunRecord

run_argument = click.argument("run", metavar="RUN")
"""A run's id, a unique beginning of one, a run's name, or @last."""

ssh_option = click.option("--ssh", "host", metavar="HOST", help="On HOST, which ssh reaches, instead of this machine.")
"""Another machine's run, through `hopline bridge` there."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def found(run: str) -> "RunRecord":
    """The record of RUN. Raises RunGone when nothing matches, UsageError when a prefix is ambiguous."""
    from hopline.records import resolve

    return resolve(run)


def on_terminal() -> bool:
    """Whether a full-screen view can be shown: input and output are a terminal, and it can do more than print."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")


def peer(run: str, host: str | None = None) -> "Peer":
    """RUN, and how to reach it. Raises as `found` does; with `host` also Unavailable when it cannot be asked."""
    from hopline.client.peers import LocalPeer, SshPeer

    return LocalPeer(found(run)) if host is None else SshPeer(host, run)
