"""Kills journal writers at random moments and looks at what they leave: `journal_killing.py FOLDER ROUNDS SEED MODE`.

Each round forks a writer that opens the same journal, appends as fast as it can, and tells on a pipe what is committed;
it is killed with SIGKILL somewhere between its first moment and 60 ms. Prints one JSON line of what was seen.
"""

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path
from typing import Literal, cast

from journal_events import RUN_ID, kind_of, line

from hopline.errors import Unavailable
from hopline.journal import Journal, JournalOptions, JournalView

SIZES = (120, 300, 1000, 66_000)


def event(sequence: int) -> bytes:
    """The one event that may have this sequence."""
    return line(sequence, SIZES[sequence % 7 % 4], kind_of(sequence))


def write(folder: Path, options: JournalOptions, out: int) -> None:
    """Append until killed; 8 bytes on `out` for every commit."""
    journal: Journal | None = None

    def told() -> None:
        if journal is not None:
            os.write(out, journal.committed_sequence.to_bytes(8, "big"))

    if (folder / "store.json").exists():
        journal = Journal.open(folder, options, told)
    else:
        journal = Journal.create(folder, RUN_ID, options, told)
    while True:
        for _ in range(50):
            sequence = journal.next_sequence
            journal.append(event(sequence), kind=kind_of(sequence))
        while not journal.room():
            time.sleep(0.0005)


def killed_writer(folder: Path, options: JournalOptions, seconds: float) -> int:
    """Run one writer and kill it; the last sequence it told of."""
    told, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(told)
        try:
            write(folder, options, out)
        finally:
            os._exit(3)
    os.close(out)
    deadline = time.monotonic() + seconds
    heard = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([told], [], [], left)[0]:
            heard = (heard + os.read(told, 65536))[-16:]
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), f"the writer ended by itself with {status}"
    while data := os.read(told, 65536):
        heard = (heard + data)[-16:]
    os.close(told)
    whole = len(heard) // 8 * 8
    return int.from_bytes(heard[whole - 8 : whole], "big") if whole else 0


def look(folder: Path, after: int) -> int:
    """Read everything after a sequence and compare it; the last sequence there is."""
    view = JournalView.open(folder)
    cursor = after
    while (found := view.read(cursor)).count:
        assert found.first == cursor + 1
        rows = found.data.split(b"\n")[:-1]
        for sequence, row in enumerate(rows, found.first):
            assert row == event(sequence), f"event {sequence} is {row[:200]!r}"
        cursor = found.last
    assert cursor == view.last_sequence
    assert view.damage == []
    assert len(view.spine(cursor)) == cursor // 10
    view.close()
    return cursor


def main() -> None:
    """Kill and look, in turns; then open it once more and check it whole."""
    folder, rounds, seed, mode = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    options = JournalOptions(
        cast(Literal["normal", "full"], mode),
        reserve_bytes=0,
        segment_bytes=random.Random(seed).choice([1 << 20, 1 << 26]),
    )
    chance = random.Random(seed)
    seen, unborn, torn = 0, 0, 0
    for _ in range(rounds):
        told = killed_writer(folder, options, chance.uniform(0, 0.06))
        if not (folder / "store.json").exists():
            assert told == 0
            unborn += 1
            for path in sorted(folder.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            continue
        newest = max((path for path in (folder / "segments").iterdir() if path.stem.isdigit()), default=None)
        if newest is not None and newest.stat().st_size:
            with newest.open("rb") as file:
                file.seek(-1, 2)
                torn += file.read() != b"\n"
        # The last looked at are looked at again: opening for writing must not have touched them.
        last = look(folder, max(seen - 1000, 0))
        assert last >= told, f"{told} was committed and {last} is the last"
        seen = last
    try:
        journal = Journal.open(folder, options)
        assert journal.committed_sequence == seen
        assert not journal.close().unwritten_events
        assert look(folder, 0) == seen
    except Unavailable:
        assert seen == 0
    print(
        json.dumps(
            {
                "events": seen,
                "unborn": unborn,
                "torn": torn,
                "bytes": sum(p.stat().st_size for p in (folder / "segments").iterdir()),
            }
        )
    )


if __name__ == "__main__":
    main()
