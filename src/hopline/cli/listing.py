"""`hopline ls`: the runs of this machine, and their records as JSON."""

import os
import sys

import click
import msgspec

from hopline.cli.places import json_option, ssh_option
from hopline.records import ENDED, RunRecord, is_live

RECENT = 10
"""How many ended runs are listed without --all."""


@click.command()
@ssh_option
@click.option("--all", "every", is_flag=True, help="Every run that is kept, not only the live and the latest.")
@json_option
def ls(host: str | None, every: bool, as_json: bool) -> int:
    """List live runs and the latest that ended, newest last.

    A run whose server was killed before the run ended is `interrupted`.
    """
    found, unverified = here(as_json) if host is None else elsewhere(host)
    kept = found if every else select(found)
    shown = [as_shown(record, live=live) for record, live in kept]
    if as_json:
        listing = {"version": 1, "instances": shown, "unverified": unverified}
        sys.stdout.write(msgspec.json.encode(listing).decode() + "\n")
        return 0
    if not shown:
        sys.stdout.write("no runs yet; start one: hopline run -- CMD\n")
        return 0
    sys.stdout.write(text(shown, _columns()))
    if hidden := len(found) - len(kept):
        from hopline.rendering import plural

        sys.stderr.write(f"{plural(hidden, 'older run')} not shown; all of them: hopline ls --all\n")
    return 0


def here(verify: bool) -> tuple[list[tuple[RunRecord, bool]], list[str]]:
    """The runs of this machine, oldest first, each with whether it lives; with `verify`, those that cannot be read."""
    from hopline.records import records

    return [(record, is_live(record.id)) for record in records()], unreadable() if verify else []


def elsewhere(host: str) -> tuple[list[tuple[RunRecord, bool]], list[str]]:
    """As `here`, for the runs of another machine. Raises Unavailable when it cannot be asked."""
    from hopline.client.host import HostChannel
    from hopline.client.targets import ssh_target

    channel = HostChannel(ssh_target(host, "@last"))
    try:
        listing = channel.runs()
    finally:
        channel.close()
    over = ENDED | {"interrupted"}
    return [(record, record.status not in over) for record in listing.records], listing.unverified


def select(found: list[tuple[RunRecord, bool]]) -> list[tuple[RunRecord, bool]]:
    """Every live run and the latest that are not, in the order given (oldest first)."""
    ended = [record.id for record, live in found if not live][-RECENT:]
    return [(record, live) for record, live in found if live or record.id in ended]


def as_shown(record: RunRecord, *, live: bool) -> RunRecord:
    """The record with the status that a person should see."""
    if record.status in ENDED or live:
        return record
    return msgspec.structs.replace(record, status="interrupted", waiting=None, url=None)


def record_line(record: RunRecord) -> str:
    """The record as one JSON line, its newline included."""
    return msgspec.json.encode(record).decode() + "\n"


def text(shown: list[RunRecord], columns: int) -> str:
    """The table, commands cut to `columns` when that is not 0."""
    from hopline.rendering import age, columns_of, command, plain, seconds_since, table

    rows = [
        (record.id, plain(record.name), status(record, short=True), age(seconds_since(record.started_at)))
        for record in shown
    ]
    head = ("RUN", "NAME", "STATUS", "AGE", "COMMAND")
    used = sum(max(columns_of(row[column]) for row in (*rows, head)) + 2 for column in range(4))
    width = max(10, columns - used - 1) if columns else 0
    return table(head, [(*row, command(record.command, width)) for row, record in zip(rows, shown, strict=True)])


def status(record: RunRecord, *, short: bool = False) -> str:
    """The status: `running`, `failed (7)`, `failed (SIGKILL)`; `running, held: ` and why, in two words when `short`."""
    if record.waiting and short:
        return f"{record.status}, held: {'journal bound' if 'bound' in record.waiting else 'no room'}"
    if record.waiting:
        from hopline.rendering import plain

        return f"{record.status}, held: {plain(record.waiting)}"
    if record.status not in ENDED:
        return record.status  # what is recorded of a worker is an earlier generation's
    if record.signal is not None:
        import signal

        try:
            return f"{record.status} ({signal.Signals(record.signal).name})"
        except ValueError:
            return f"{record.status} (signal {record.signal})"
    return f"{record.status} ({record.exit_code})" if record.exit_code else record.status


def unreadable() -> list[str]:
    """Ids of runs whose record is there and cannot be understood."""
    from hopline.errors import RunGone, Unavailable
    from hopline.records import read_record, run_ids

    found = []
    for run_id in sorted(run_ids()):
        try:
            read_record(run_id)
        except RunGone:
            continue
        except Unavailable:
            found.append(run_id)
    return found


def _columns() -> int:
    try:
        return os.get_terminal_size(1).columns
    except OSError:
        return 0
