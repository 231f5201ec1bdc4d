"""The run's journal, and what its writer thread tells the loop, as values."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

import msgspec

from hopline.errors import Unavailable, UsageError
from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions
from hopline.records import JOURNAL_FOLDER, RunSpec


class Waiting(msgspec.Struct, frozen=True):
    """Output is to be held back."""

    reason: str


class GoingOn(msgspec.Struct, frozen=True):
    """Output may go on."""


class Dropped(msgspec.Struct, frozen=True):
    """drop-oldest took these events away."""

    first: int
    last: int
    size: int


JournalFact = Waiting | GoingOn | Dropped


def create_journal(
    spec: RunSpec,
    folder: Path,
    on_commit: Callable[[], None],
    tell: Callable[[JournalFact], None],
    store_id: str = "",
) -> Journal:
    """A new journal as `spec` asks, going on with the store `store_id`. Both callbacks come from its writer thread.

    Raises UsageError for a word it does not know, Unavailable when it cannot be made or has no room from the start.
    """
    if spec.durability not in ("normal", "full") or spec.when_journal_full not in ("pause", "drop-oldest"):
        raise UsageError(
            f"durability {spec.durability!r} with when_journal_full {spec.when_journal_full!r}: "
            "write normal or full, and pause or drop-oldest."
        )
    options = JournalOptions(
        durability=cast(Literal["normal", "full"], spec.durability),
        reserve_bytes=spec.journal_reserve,
        max_bytes=spec.max_journal,
        when_full=cast(Literal["pause", "drop-oldest"], spec.when_journal_full),
    )
    journal = Journal.create(
        folder / JOURNAL_FOLDER,
        spec.id,
        options,
        on_commit=on_commit,
        on_state=lambda reason: tell(GoingOn() if reason is None else Waiting(reason)),
        on_dropped=lambda first, last, size: tell(Dropped(first, last, size)),
        store_id=store_id,
    )
    if not journal.room():
        journal.close()
        raise Unavailable(
            f"the volume of {folder} has less free room than the journal's reserve; free some (hopline prune), "
            "or set journal_reserve."
        )
    return journal
