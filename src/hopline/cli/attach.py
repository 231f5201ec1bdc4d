"""`hopline attach`: watch a run from where it is, live or ended."""

import sys
from typing import TYPE_CHECKING

import click

from hopline.cli.places import on_terminal, peer, run_argument, ssh_option

if TYPE_CHECKING:
    from hopline.cli.main import FullScreen

TERMINAL_TAIL_LINES = 1000
"""What a terminal gets of the past unless --tail says otherwise."""


@click.command()
@run_argument
@ssh_option
@click.option("--plain", is_flag=True, help="The output as it is, without a full-screen view.")
@click.option("--raw", is_flag=True, help="Sit at the terminal of a worker that has one: every key goes to it.")
@click.option("--tail", metavar="N", type=click.IntRange(min=0), help="Plain, beginning with the last N lines.")
@click.pass_obj
def attach(
    full_screen: "FullScreen | None", run: str, host: str | None, plain: bool, raw: bool, tail: int | None
) -> int:
    """Watch RUN live and steer it; of a run that ended, replay the output.

    A terminal shows it full-screen; `?` tells the keys. Exits with the worker's status once it has ended.

    With --plain, and where there is no terminal, the output comes as it is. Without --tail everything is replayed
    first; a terminal begins with the last 1000 lines. What you type goes to the worker. Ctrl-C interrupts it, a second
    Ctrl-C within two seconds stops the run, Ctrl-\\ detaches.

    With --raw, for a run started with --pty, this terminal becomes the worker's: it gets this one's size and draws
    anew, every key goes to it, Ctrl-C too, and only Ctrl-\\ detaches. Of several so attached the last size holds.
    """
    if raw and (plain or tail is not None):
        raise click.UsageError("--raw excludes --plain and --tail")
    if full_screen is not None and not plain and not raw and tail is None and on_terminal():
        return full_screen.show_run(run, host)
    there = peer(run, host)
    if raw:
        from hopline.cli.raw_attach import attach_raw

        return attach_raw(there)
    connection = there.dial()
    from hopline.cli import live
    from hopline.cli.keys import KeySource
    from hopline.client.facts import RunFacts, exit_status, fold_all
    from hopline.client.history import bearings, last_lines

    if tail is None and sys.stdout.isatty():
        tail = TERMINAL_TAIL_LINES
    if tail is None:
        connection.close()
        with KeySource() as keys:
            return live.watch(there, live.Watch(), keys)
    here = bearings(connection)
    known = fold_all(RunFacts(), here.events)
    with there.dial() as queries:
        pieces = last_lines(queries, here.sequence, tail)
    if (status := live.show_pieces(pieces)) is not None:
        return status
    if known.ended is None:
        with KeySource() as keys:
            return live.watch(there, live.Watch(after=here.sequence, store_id=here.store_id, known=known), keys)
    return exit_status(known)
