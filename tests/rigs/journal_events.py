"""Events as a run records them, and journals full of them."""

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event

from hopline.journal import Journal, JournalOptions

RUN_ID = "0123456789ab"


def line(sequence: int, size: int = 120, kind: str = "subprocess_output") -> bytes:
    """One event of about `size` bytes, whose text tells its sequence."""
    head = b'{"protocol_version":1,"sequence":%d,"run_id":"%b","type":"%b","text":"%d ' % (
        sequence,
        RUN_ID.encode(),
        kind.encode(),
        sequence,
    )
    return head + b"x" * max(size - len(head) - 2, 0) + b'"}'


def kind_of(sequence: int) -> str:
    """Every tenth event is one of the spine."""
    return "run_status_changed" if sequence % 10 == 0 else "subprocess_output"


def lines(sequences: Iterable[int], size: int = 120) -> bytes:
    """What a slice of these events holds, kinds as `kind_of` says."""
    return b"".join(line(sequence, size, kind_of(sequence)) + b"\n" for sequence in sequences)


def append(journal: Journal, count: int, size: int = 120) -> None:
    """Append `count` events and wait until they are committed."""
    for _ in range(count):
        sequence = journal.next_sequence
        journal.append(line(sequence, size, kind_of(sequence)), kind=kind_of(sequence))
    wait_until(lambda: journal.committed_sequence == journal.last_sequence)


def fill(folder: Path, count: int, size: int = 120, segment_bytes: int = 1 << 26) -> None:
    """A closed journal of `count` events."""
    journal = Journal.create(folder, RUN_ID, JournalOptions(reserve_bytes=0, segment_bytes=segment_bytes))
    append(journal, count, size)
    assert not journal.close().unwritten_events


def segments(folder: Path) -> list[Path]:
    """The segment files, oldest first."""
    return sorted(path for path in (folder / "segments").iterdir() if path.stem.isdigit())


def dump(folder: Path) -> list[str]:
    """All that the index holds, schema included."""
    connection = sqlite3.connect(folder / "index.db")
    try:
        return [*connection.iterdump(), str(connection.execute("PRAGMA user_version").fetchone())]
    finally:
        connection.close()


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for another thread."""
    pause = Event()
    for _ in range(int(seconds * 1000)):
        if condition():
            return
        pause.wait(0.001)
    raise AssertionError("it did not happen")
