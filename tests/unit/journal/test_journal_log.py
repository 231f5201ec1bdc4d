import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from journal_events import line

from hopline.journal.catalogue import Segment
from hopline.journal.log import SegmentLog, split
from hopline.journal.window import Chunk


def chunk(first: int, last: int) -> Chunk:
    rows = b"".join(line(sequence) + b"\n" for sequence in range(first, last + 1))
    return Chunk(first, last, rows, ((first, "run_started"), (last, "worker_exited")))


def log_in(folder: Path, *, durable: bool = False) -> SegmentLog:
    (folder / "segments").mkdir()
    return SegmentLog(folder, Segment(1, folder / "segments" / f"{1:020d}.jsonl", 0), durable=durable)


def commit(log: SegmentLog, chunks: Sequence[Chunk]) -> int:
    done = log.append(chunks)
    log.segment.size += done
    return done


def limited(monkeypatch: pytest.MonkeyPatch, room: int, step: int) -> None:
    """Writes go `step` bytes at a time, and fail once the file has `room` bytes."""
    real = os.pwrite

    def pwritev(descriptor: int, buffers: Sequence[bytes], offset: int) -> int:
        data = b"".join(buffers)[: max(min(step, room - offset), 0)]
        if not data:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data, offset)

    monkeypatch.setattr(os, "pwritev", pwritev)


def test_chunks_follow_one_another_in_the_file(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    commit(log, [chunk(1, 5), chunk(6, 6)])
    commit(log, [chunk(7, 1999)])
    assert log.segment.path.read_bytes() == chunk(1, 1999).data
    log.close()


def test_more_chunks_than_one_call_takes_are_written_whole(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    commit(log, [chunk(sequence, sequence) for sequence in range(1, 3000)])
    assert log.segment.path.read_bytes() == chunk(1, 2999).data
    log.close()


@pytest.mark.parametrize("step", [1, 100, 121, 122, 1000])
def test_short_writes_go_on_where_they_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    limited(monkeypatch, 1 << 30, step)
    log = log_in(tmp_path)
    commit(log, [chunk(1, 3), chunk(4, 4), chunk(5, 9)])
    assert log.segment.path.read_bytes() == chunk(1, 9).data
    log.close()


@pytest.mark.parametrize("lines_that_fit", range(10))
@pytest.mark.parametrize("more", [0, 1, 60])
def test_a_full_volume_keeps_whole_lines_and_cuts_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines_that_fit: int, more: int
) -> None:
    chunks = [chunk(1, 3), chunk(4, 4), chunk(5, 9)]
    fits = len(chunk(1, lines_that_fit).data)
    total = len(chunk(1, 9).data)
    limited(monkeypatch, fits + more, 70)
    log = log_in(tmp_path)
    if not lines_that_fit:
        with pytest.raises(OSError, match="No space left"):
            commit(log, chunks)
    else:
        assert commit(log, chunks) == min(fits, total)
        head, rest = split(chunks, fits)
        assert b"".join(part.data for part in head) == chunk(1, lines_that_fit).data
        assert head[-1].last == lines_that_fit
        assert [row for part in (*head, *rest) for row in part.spine] == [row for part in chunks for row in part.spine]
        assert not rest or rest[0].first == lines_that_fit + 1
        monkeypatch.undo()
        if rest:
            commit(log, rest)
        assert log.segment.path.read_bytes() == chunk(1, 9).data
    assert log.segment.path.stat().st_size == log.segment.size
    log.close()


def test_what_could_not_be_made_durable_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_in(tmp_path, durable=True)
    commit(log, [chunk(1, 3)])

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", broken)
        with pytest.raises(OSError, match="Input/output error"):
            commit(log, [chunk(4, 6)])
    assert log.segment.path.read_bytes() == chunk(1, 3).data
    commit(log, [chunk(4, 6)])
    assert log.segment.path.read_bytes() == chunk(1, 6).data
    log.close()


def test_a_new_segment_takes_over_or_the_old_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_in(tmp_path, durable=True)
    commit(log, [chunk(1, 3)])

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(OSError, match="Input/output error"):
            log.turn(4)
    assert log.segment.first == 1
    segment = log.turn(4)
    commit(log, [chunk(4, 5)])
    assert segment.path.name == f"{4:020d}.jsonl"
    assert segment.path.read_bytes() == chunk(4, 5).data
    log.close()
