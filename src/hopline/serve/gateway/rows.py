"""What the listing says of one run. Pure.

Source: docs/wire/gateway.md, "The listing". Ours; beyond the seed.
"""

import msgspec

from hopline import roster
from hopline.records import ENDED


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run as the listing shows it."""

    id: str
    name: str
    status: str
    """As in the run's record, or `interrupted` when its server is gone and had not ended it."""
    live: bool
    """Whether its server lives."""
    command: list[str]
    cwd: str
    runner: str
    generation: int
    started_at: str
    ended_at: str | None
    exit_code: int | None
    signal: int | None
    waiting: str | None
    """What it waits for, in words; None when it does not wait."""
    bytes: int
    """Size of its journal."""
    rates: list[int]
    """Bytes recorded in each of the last slots, oldest first; empty when it is over."""
    descendants: str | None
    """What became of its last worker's processes: gone, remaining or unknown; None until they were looked for."""
    survivors: int
    """How many of them remained."""
    pty: bool
    """Whether its worker has a terminal, of `columns` by `rows`."""
    columns: int | None
    rows: int | None


class RunsFrame(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="runs"):
    """What has changed in the listing. One with no rows says only that the gateway is there."""

    full: bool
    """Whether `rows` are all there are: a reader forgets what it had."""
    hostname: str
    now: str
    """The gateway's time, RFC 3339, so that ages do not depend on the reader's clock."""
    rows: list[Row]
    removed: list[str]
    """Ids of runs that are no longer listed."""
    unreadable: list[str]
    """Ids of runs whose record cannot be understood."""
    older: int
    """How many older ended runs are kept and not listed."""


def row_of(seen: roster.Row) -> Row:
    """The row of a run."""
    record = seen.record
    over = record.status in ENDED or not seen.live
    return Row(
        id=record.id,
        name=record.name,
        status=seen.status,
        live=seen.live,
        command=record.command,
        cwd=record.cwd,
        runner=record.runner,
        generation=record.generation,
        started_at=record.started_at,
        ended_at=record.ended_at,
        exit_code=record.exit_code,
        signal=record.signal,
        waiting=None if over else record.waiting,
        bytes=seen.size or 0,
        rates=[] if over else list(seen.rates),
        descendants=record.descendants if over else None,
        survivors=record.survivors if over else 0,
        pty=record.pty,
        columns=record.columns,
        rows=record.rows,
    )


def changes(before: dict[str, Row], after: dict[str, Row]) -> tuple[list[Row], list[str]]:
    """(rows that are new or differ, ids that are gone) between two states of the listing."""
    return (
        [row for run_id, row in after.items() if before.get(run_id) != row],
        [run_id for run_id in before if run_id not in after],
    )
