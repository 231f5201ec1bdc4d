"""`hopline run`: start a run and show it live, or leave it to itself."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hopline.cli.places import on_terminal
from hopline.errors import HoplineError, UsageError
from hopline.ids import RunId, new_run_id

if TYPE_CHECKING:
    from hopline.client.start import ServerStart
    from hopline.records import RunSpec

RUNNERS = ("direct", "bwrap", "auto")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; None where it leaves it to the settings."""

    name: str | None
    cwd: str | None
    env: tuple[str, ...]
    detach: bool
    runner: str | None
    durability: str | None
    max_journal: str | None
    when_journal_full: str | None
    reserve: str | None
    as_json: bool
    pty: bool
    web: bool
    port: int | None
    origins: tuple[str, ...]
    command: tuple[str, ...]


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--name", metavar="NAME", help="Name to find the run by. Default: the program's.")
@click.option("--cwd", metavar="DIR", help="Folder to run in. Default: the current one.")
@click.option("--env", metavar="NAME=VALUE", multiple=True, help="Variable for the worker besides ours; repeatable.")
@click.option("--detach", is_flag=True, help="Do not watch: print the run's record as one JSON line.")
@click.option("--pty", is_flag=True, help="Give CMD a terminal of its own instead of pipes: for full-screen programs.")
@click.option("--web", is_flag=True, help="Serve this run's page on 127.0.0.1 too; its URL is printed once.")
@click.option("--port", type=click.IntRange(0, 65535), help="For --web. Default: any free one.")
@click.option("--origin", "origins", multiple=True, metavar="URL", help="For --web: another origin of the page.")
@click.option("--runner", type=click.Choice(RUNNERS), help="What encloses the worker and its descendants.")
@click.option("--durability", type=click.Choice(("normal", "full")), help="What recorded events survive.")
@click.option("--max-journal", metavar="SIZE", help="Bound on the run's journal, such as 2GiB.")
@click.option("--when-journal-full", type=click.Choice(("pause", "drop-oldest")), help="What happens at that bound.")
@click.option("--reserve", metavar="SIZE", help="Room to leave free on the journal's volume.")
@click.option("--json", "as_json", is_flag=True, help="Print the run's events as JSON lines instead of its output.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def run(**options: Any) -> int:
    """Start CMD under hopline and show it live.

    Every byte it writes is kept, whoever watches. Ctrl-C interrupts it, a second Ctrl-C within two seconds stops the
    run, Ctrl-\\ leaves it running and says how to come back. Exits with the status of CMD, or 128 + the signal that
    ended it.

    With --pty, on a terminal, every key goes to CMD as it is, Ctrl-C too; only Ctrl-\\ still leaves it running.
    """
    asked = Asked(**options)
    if asked.detach:
        server, spec = prepare(asked)
        from hopline.cli.listing import record_line

        sys.stdout.write(record_line(server.begin(spec)))
        return 0
    from hopline.cli.keys import KeySource
    from hopline.cli.steering import Key

    with KeySource() as keys:  # from here on Ctrl-C is for the worker, also while it is being started
        server, spec = prepare(asked)
        from hopline.cli import live
        from hopline.client.peers import LocalPeer

        raw = None
        if asked.pty and not asked.as_json and on_terminal():
            from hopline.cli.raw_seat import RawSeat
            from hopline.cli.raw_terminal import RawTerminal

            raw = RawSeat(RawTerminal())
        try:
            record = server.begin(spec)
        except HoplineError:
            if Key.INTERRUPT in keys.take():  # it reached the server too, before that was out of our terminal's reach
                raise KeyboardInterrupt from None
            raise
        if record.url is not None:
            sys.stderr.write(f"{record.url}\n")
        peer = LocalPeer(record)
        return live.watch(peer, live.Watch(as_json=asked.as_json, starter=True, raw=raw), keys)


def prepare(asked: Asked) -> "tuple[ServerStart, RunSpec]":
    """A server that has been started, and what it is to run. Raises when that is wrong; no server is left then."""
    from hopline.client.start import start_run

    run_id = new_run_id()
    # The server imports while we check what it is to run; refused, it is ended before it was told anything.
    server = start_run(run_id)
    try:
        return server, specification(asked, run_id)
    except BaseException:
        server.abandon()
        raise


def specification(asked: Asked, run_id: RunId) -> "RunSpec":
    """What is asked for, checked. Raises Unavailable and UsageError."""
    from hopline.cli import preflight
    from hopline.records import RunSpec
    from hopline.settings import load_settings, parse_reserve, parse_size

    settings = load_settings()
    if asked.port is not None and not asked.web:
        raise UsageError("--port is the port of --web; add --web.")
    if asked.origins and not asked.web:
        raise UsageError("--origin is an origin of --web; add --web.")
    columns, rows = _terminal_size()
    env = preflight.parse_env(asked.env)
    preflight.check_text([*asked.command, *env, *env.values(), asked.name or "", asked.cwd or ""])
    folder = preflight.checked_cwd(asked.cwd)
    preflight.check_program(asked.command[0], folder, preflight.worker_path(env))
    return RunSpec(
        id=run_id,
        name=preflight.checked_name(asked.name, asked.command[0]),
        command=list(asked.command),
        cwd=folder,
        env=env,
        runner=asked.runner or settings.runner,
        durability=asked.durability or settings.durability,
        journal_reserve=settings.journal_reserve if asked.reserve is None else parse_reserve(asked.reserve),
        max_journal=settings.max_journal if asked.max_journal is None else parse_size(asked.max_journal),
        when_journal_full=asked.when_journal_full or settings.when_journal_full,
        stop_grace_seconds=settings.stop_grace_seconds,
        unix_write_deadline_seconds=settings.unix_write_deadline_seconds,
        pty=asked.pty,
        web=asked.web,
        web_port=asked.port or 0,
        web_origins=preflight.checked_origins(asked.origins),
        columns=columns,
        rows=rows,
        attached=not asked.detach,
    )


def _terminal_size() -> tuple[int, int]:
    """The size of the terminal we are shown on, or the usual."""
    from hopline.cli.raw_terminal import terminal_size

    return terminal_size(next((fd for fd in (1, 0, 2) if os.isatty(fd)), -1))
