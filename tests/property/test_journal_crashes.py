"""Whatever happens to a journal, it reads as a prefix of what was appended, and holds all that was committed."""

import contextlib
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journal_events import RUN_ID, dump, kind_of, line, segments, wait_until

from hopline.journal import EventStore, Journal, JournalOptions, JournalView
from hopline.journal.repair import check, repair

SIZES = st.lists(st.sampled_from([100, 130, 400, 3000, 300_000]), max_size=12)


@dataclass(frozen=True)
class Append:
    """Commit events of these sizes."""

    sizes: list[int]


@dataclass(frozen=True)
class Reopen:
    """Close, and open again."""


@dataclass(frozen=True)
class Crash:
    """End with the last of what was being written cut anywhere, and the index in some state."""

    sizes: list[int]
    share: float
    index: str


STEPS = st.lists(
    st.one_of(
        st.builds(Append, SIZES),
        st.builds(Reopen),
        st.builds(Crash, SIZES, st.floats(0, 1), st.sampled_from(["as it is", "gone", "old", "noise"])),
    ),
    max_size=8,
)


@dataclass
class Model:
    """A journal on disk and the events it must hold."""

    folder: Path
    options: JournalOptions
    events: list[bytes] = field(default_factory=list)

    def make(self, sizes: list[int]) -> list[bytes]:
        first = len(self.events) + 1
        return [line(sequence, size, kind_of(sequence)) for sequence, size in enumerate(sizes, first)]

    def append(self, journal: Journal, sizes: list[int]) -> None:
        for event in self.make(sizes):
            journal.append(event, kind=kind_of(journal.next_sequence))
            self.events.append(event)
        wait_until(lambda: journal.committed_sequence == len(self.events))

    def crash(self, journal: Journal, step: Crash, old: Path) -> None:
        """Leave the files as a killed writer could have left them, with part of one more batch."""
        batch = b"".join(event + b"\n" for event in self.make(step.sizes))
        cut = batch[: int(len(batch) * step.share)]
        copy = self.folder.with_name("copy")
        shutil.copytree(self.folder, copy, copy_function=copy_if_there)
        journal.close()
        shutil.rmtree(self.folder)
        copy.rename(self.folder)
        with segments(self.folder)[-1].open("ab") as file:
            file.write(cut)
        self.events += cut.split(b"\n")[:-1]
        index = self.folder / "index.db"
        match step.index:
            case "gone":
                for path in self.folder.glob("index.db*"):
                    path.unlink()
            case "old" if old.exists():
                for path in self.folder.glob("index.db*"):
                    path.unlink()
                shutil.copy(old, index)
            case "noise":
                index.write_bytes(b"noise" * 1000)

    def holds(self, store: EventStore) -> None:
        whole = b"".join(event + b"\n" for event in self.events)
        for max_bytes in (500, 1 << 20):
            parts, cursor = [], 0
            while (found := store.read(cursor, max_bytes=max_bytes)).count:
                assert found.first == cursor + 1
                parts.append(found.data)
                cursor = found.last
            assert b"".join(parts) == whole
            assert cursor == len(self.events) == store.committed_sequence
        assert store.spine(10**9) == [event for s, event in enumerate(self.events, 1) if not s % 10]
        assert store.damage == []


def copy_if_there(source: str, target: str) -> None:
    """The writer may be at its index, whose files come and go."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, segment_bytes=st.sampled_from([1500, 20_000, 500_000, 1 << 26]), full=st.booleans())
def test_no_committed_event_is_lost_and_none_is_made_up(steps: list[object], segment_bytes: int, full: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        options = JournalOptions("full" if full else "normal", reserve_bytes=0, segment_bytes=segment_bytes)
        model = Model(Path(place) / "journal", options)
        old = Path(place) / "old.db"
        journal = Journal.create(model.folder, RUN_ID, options)
        store_id = journal.store_id
        for step in steps:
            match step:
                case Append(sizes):
                    model.append(journal, sizes)
                case Reopen():
                    journal.close()
                    shutil.copy(model.folder / "index.db", old)
                    journal = Journal.open(model.folder, options)
                case Crash():
                    model.crash(journal, step, old)
                    view = JournalView.open(model.folder)
                    model.holds(view)
                    view.close()
                    journal = Journal.open(model.folder, options)
            model.holds(journal)
        journal.close()
        view = JournalView.open(model.folder)
        model.holds(view)
        assert view.store_id == store_id
        view.close()
        assert check(model.folder).sound
        fresh = dump(model.folder)
        repair(model.folder, live=False, rebuild=True)
        assert dump(model.folder) == fresh


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    sizes=st.lists(st.sampled_from([100, 130, 400, 3000]), min_size=1, max_size=60),
    harm=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=400)), min_size=1, max_size=3),
    indexed=st.booleans(),
    max_bytes=st.sampled_from([1, 700, 1 << 20]),
)
def test_damage_takes_no_sound_event_with_it_and_is_never_an_event(
    sizes: list[int], harm: list[tuple[float, bytes]], indexed: bool, max_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as place:
        options = JournalOptions(reserve_bytes=0, segment_bytes=8000)
        model = Model(Path(place) / "journal", options)
        journal = Journal.create(model.folder, RUN_ID, options)
        model.append(journal, sizes)
        journal.close()
        touched = overwrite(model, harm)
        if not indexed:
            (model.folder / "index.db").unlink()
        view = JournalView.open(model.folder)
        read: dict[int, bytes] = {}
        cursor = 0
        while (found := view.read(cursor, max_bytes=max_bytes)).count:
            rows = found.data.splitlines()
            assert len(rows) == found.count
            assert found.last > cursor
            read.update({int(row[33:].split(b",")[0]): row for row in rows})
            cursor = found.last
        lost = {s for item in view.damage for s in range(item.first_sequence, item.last_sequence + 1)}
        sound = {s for s in range(1, len(sizes) + 1) if s not in touched}
        for sequence in sound & read.keys():
            assert read[sequence] == model.events[sequence - 1]
        # A line may be taken by its neighbour when the newline between them went, or when its sequence was forged.
        assert {s for s in sound if s not in read} <= {s + step for s in touched for step in (-1, 0, 1)}
        missing = set(range(1, view.last_sequence + 1)) - read.keys()
        assert missing <= lost
        view.close()


def overwrite(model: Model, harm: list[tuple[float, bytes]]) -> set[int]:
    """Put bytes over the segments; the sequences of the lines they touch."""
    touched: set[int] = set()
    paths = segments(model.folder)
    for share, noise in harm:
        path = paths[int(share * (len(paths) - 1))]
        data = bytearray(path.read_bytes())
        start = int(share * (len(data) - 1))
        end = min(start + len(noise), len(data))
        data[start:end] = noise[: end - start]
        path.write_bytes(data)
        sequence, offset = int(path.stem), 0
        while offset < end:
            size = len(model.events[sequence - 1]) + 1
            if offset + size > start:
                touched.add(sequence)
            offset += size
            sequence += 1
    return touched
