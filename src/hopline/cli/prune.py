"""`hopline prune`: remove runs that ended long ago. A live run is never touched: its lock is asked, and then held."""

import re
import sys
import time

import click

from hopline.cli.places import json_option
from hopline.errors import UsageError
from hopline.records import ENDED, RunRecord, is_live

DEFAULT_AGE = "30d"
LEAVE_SECONDS = 2.0
"""How long the server of a run that has just ended may take to leave."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


@click.command()
@click.option("--older-than", metavar="AGE", help="Runs that ended longer ago, such as 30d or 12h. Default: 30d.")
@click.option("--keep", metavar="N", type=click.IntRange(min=0), help="Whatever their age, keep the N newest runs.")
@click.option("--dry-run", is_flag=True, help="Only tell what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def prune(older_than: str | None, keep: int | None, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Remove the journals and records of runs that have ended.

    With --keep alone every run but the N newest goes. Runs that live, and those whose processes still do, stay.
    """
    import msgspec

    from hopline.cli.show import folder_bytes
    from hopline.records import records, run_folder
    from hopline.rendering import plain, plural, size

    older = parse_age(older_than or ("0s" if keep is not None else DEFAULT_AGE))
    from hopline.cli.diagnosis import marked_runs

    busy = marked_runs()
    chosen = [one for one in choose(list(records()), older, keep or 0) if one.id not in busy]
    sizes = {record.id: folder_bytes(run_folder(record.id)) for record in chosen}
    total = f"{plural(len(chosen), 'run')}, {size(sum(sizes.values()))}"
    if not dry_run and not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"nobody is there to ask whether {total} may go; say --yes, or look first with --dry-run.")
    if chosen and not dry_run and not yes:
        click.confirm(f"remove {total}?", abort=True, err=True)
    removed = [record.id for record in chosen if dry_run or remove(record.id)]
    if as_json:
        listing = {
            "version": 1,
            "dry_run": dry_run,
            "removed": [{"id": run_id, "bytes": sizes[run_id]} for run_id in removed],
        }
        sys.stdout.write(msgspec.json.encode(listing).decode() + "\n")
        return 0
    for record in chosen:
        if record.id in removed:
            sys.stdout.write(f"{record.id}  {record.status:<11}  {size(sizes[record.id]):>8}  {plain(record.name)}\n")
    freed = sum(sizes[run_id] for run_id in removed)
    verb = "would remove" if dry_run else "removed"
    sys.stdout.write(f"{verb} {plural(len(removed), 'run')}, {size(freed)}\n")
    return 0


def choose(every: list[RunRecord], older_seconds: float, keep: int) -> list[RunRecord]:
    """The runs to remove, of `every` run given oldest first.

    Args:
        older_seconds: a run that ended less long ago stays.
        keep: this many of the newest stay.
    """
    from hopline.rendering import seconds_since

    old = every[: max(0, len(every) - keep)]
    return [
        record
        for record in old
        if seconds_since(record.ended_at or record.started_at) >= older_seconds and not _lives(record)
    ]


def _lives(record: RunRecord) -> bool:
    """Whether a server holds the run; one whose run has ended gets a moment to leave."""
    deadline = time.monotonic() + (LEAVE_SECONDS if record.status in ENDED else 0)
    while (live := is_live(record.id)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return live


def remove(run_id: str) -> bool:
    """Remove a run's folders while holding its lock, so that no server can come up in them. False when one did."""
    import shutil

    from hopline.errors import Unavailable
    from hopline.records import hold_lock, run_folder
    from hopline.settings import runtime_folder

    try:
        lock = hold_lock(run_id)
    except Unavailable:
        return False
    import os

    try:
        shutil.rmtree(runtime_folder() / "runs" / run_id, ignore_errors=True)
        shutil.rmtree(run_folder(run_id))
    finally:
        os.close(lock)
    return True


def parse_age(text: str, option: str = "--older-than") -> float:
    """Seconds from `90s`, `15m`, `12h`, `30d` or `2w`. Raises UsageError that names the option."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip().lower())
    if found is None:
        raise UsageError(f"{option} {text!r} is not a time; write for example 90s, 12h, 30d or 2w.")
    return float(found[1]) * _UNITS[found[2]]
