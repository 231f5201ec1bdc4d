"""A journal on a volume that fills: `journal_full_disk.py SCENARIO MOUNTPOINT`, inside a mount namespace of its own.

Mounts a tmpfs of 16 MiB at MOUNTPOINT, plays the scenario, and prints one JSON line of what was seen.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from journal_events import RUN_ID, kind_of, line, segments, wait_until

from hopline.errors import Unavailable
from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.repair import check

SIZE = 5000
FULL = "the journal cannot be written (No space left on device); it goes on when there is room"


def put(journal: Journal, count: int) -> None:
    """Append without asking for room."""
    for _ in range(count):
        sequence = journal.next_sequence
        journal.append(line(sequence, SIZE, kind_of(sequence)), kind=kind_of(sequence))


def flood(journal: Journal, until: Callable[[], bool]) -> None:
    """Append as a well-behaved owner does, as long as there is room."""
    for _ in range(100_000):
        if until():
            return
        if journal.room():
            put(journal, 1)
        else:
            time.sleep(0.001)
    raise AssertionError("it did not happen")


def whole(folder: Path, last: int) -> None:
    """The journal reads as the events 1 to `last`."""
    view = JournalView.open(folder)
    cursor = 0
    while (found := view.read(cursor)).count:
        assert found.data == b"".join(line(s, SIZE, kind_of(s)) + b"\n" for s in range(found.first, found.last + 1))
        cursor = found.last
    assert cursor == last == view.last_sequence, (cursor, last, view.last_sequence)
    view.close()


def ballast(place: Path, size: int) -> Path:
    """A file that takes up room."""
    path = place / "ballast"
    path.write_bytes(b"\1" * size)
    return path


def goes_on_when_there_is_room(place: Path, durability: str) -> dict[str, object]:
    """Fill the volume, see the journal wait, make room, see it go on."""
    told: list[str | None] = []
    weight = ballast(place, 8 << 20)
    options = JournalOptions("full" if durability == "full" else "normal", reserve_bytes=0)
    journal = Journal.create(place / "journal", RUN_ID, options, on_state=told.append)
    flood(journal, lambda: told[-1:] == [FULL])
    stopped_at = journal.committed_sequence
    assigned = journal.last_sequence
    put(journal, 10)
    time.sleep(0.6)
    # What can still be put in is put in, in whole lines; nothing else is there.
    assert journal.committed_sequence < assigned
    for path in segments(place / "journal"):
        assert path.read_bytes()[-1:] == b"\n"
    committed = journal.committed_sequence
    whole(place / "journal", committed)
    weight.unlink()
    wait_until(lambda: told[-1] is None)
    wait_until(journal.room)
    assert journal.committed_sequence == assigned + 10
    put(journal, 10)
    report = journal.close()
    assert not report.unwritten_events
    whole(place / "journal", assigned + 20)
    assert check(place / "journal").sound
    return {"told": told, "stopped_at": stopped_at}


def says_what_it_could_not_write(place: Path, durability: str) -> dict[str, object]:
    """Close while the volume is full."""
    ballast(place, 10 << 20)
    options = JournalOptions("full" if durability == "full" else "normal", reserve_bytes=0)
    journal = Journal.create(place / "journal", RUN_ID, options)
    put(journal, 2000)
    wait_until(lambda: not journal.room())
    started = time.monotonic()
    report = journal.close(0.7)
    seconds = time.monotonic() - started
    assert 0.5 < seconds < 3, seconds
    committed = journal.committed_sequence
    assert report.first_unwritten == committed + 1
    assert report.unwritten_events == 2000 - committed
    assert report.unwritten_bytes == (SIZE + 1) * report.unwritten_events
    whole(place / "journal", committed)
    (place / "ballast").unlink()
    again = Journal.open(place / "journal", options)
    assert again.next_sequence == committed + 1
    put(again, 5)
    again.close()
    whole(place / "journal", committed + 5)
    return {"reason": report.reason}


def leaves_the_reserve(place: Path, durability: str) -> dict[str, object]:
    """The default reserve is left free by an owner that asks, and its own last events still go in."""
    told: list[str | None] = []
    journal = Journal.create(place / "journal", RUN_ID, JournalOptions(), on_state=told.append)
    flood(journal, lambda: bool(told))
    wait_until(lambda: journal.committed_sequence == journal.last_sequence)
    free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
    put(journal, 20)
    wait_until(lambda: journal.committed_sequence == journal.last_sequence)
    assert not journal.close().unwritten_events
    whole(place / "journal", journal.last_sequence)
    return {"told": told, "free": free}


def is_not_made(place: Path, durability: str) -> dict[str, object]:
    """No journal is made where nothing fits, and nothing is left of the attempt."""
    ballast(place, 15 << 20)
    with (place / "rest").open("wb", buffering=0) as file:
        try:
            while file.write(b"\1" * 4096):
                pass
        except OSError:
            pass
    try:
        Journal.create(place / "journal", RUN_ID)
    except Unavailable as error:
        return {"said": str(error), "left": sorted(path.name for path in place.iterdir())}
    raise AssertionError("it was made")


SCENARIOS: dict[str, Callable[[Path, str], dict[str, object]]] = {
    function.__name__: function
    for function in (goes_on_when_there_is_room, says_what_it_could_not_write, leaves_the_reserve, is_not_made)
}


def main() -> None:
    """Mount, play, print."""
    place = Path(sys.argv[2])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=True)
    print(json.dumps(SCENARIOS[sys.argv[1]](place, sys.argv[3])))


if __name__ == "__main__":
    main()
