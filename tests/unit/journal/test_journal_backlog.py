import threading

from journal_events import line

from hopline.journal.backlog import Backlog


def test_all_that_is_queued_is_taken_in_chunks_that_join_to_the_same_bytes() -> None:
    backlog = Backlog(chunk_bytes=1000)
    for sequence in range(1, 31):
        backlog.put(sequence, line(sequence, 200), "subprocess_output")
    chunks = backlog.take(0)
    assert chunks is not None
    assert b"".join(chunk.data for chunk in chunks) == b"".join(line(s, 200) + b"\n" for s in range(1, 31))
    assert all(len(chunk.data) <= 1000 + 201 for chunk in chunks)
    assert [chunk.first for chunk in chunks[1:]] == [chunk.last + 1 for chunk in chunks[:-1]]
    assert (chunks[0].first, chunks[-1].last) == (1, 30)
    assert backlog.take(0) == []


def test_an_event_longer_than_a_chunk_is_a_chunk_of_its_own() -> None:
    backlog = Backlog(chunk_bytes=100)
    for sequence in (1, 2, 3):
        backlog.put(sequence, line(sequence, 500), "subprocess_output")
    chunks = backlog.take(0)
    assert chunks is not None
    assert [(chunk.first, chunk.last) for chunk in chunks] == [(1, 1), (2, 2), (3, 3)]


def test_no_more_than_eight_chunks_are_taken_at_once() -> None:
    backlog = Backlog(chunk_bytes=100)
    for sequence in range(1, 21):
        backlog.put(sequence, line(sequence, 500), "subprocess_output")
    counts = [len(backlog.take(0) or []) for _ in range(4)]
    assert counts == [8, 8, 4, 0]


def test_spine_lines_are_told_apart_by_their_kind() -> None:
    backlog = Backlog()
    for sequence, kind in ((1, "run_started"), (2, "subprocess_output"), (3, "worker_exited")):
        backlog.put(sequence, line(sequence, kind=kind), kind)
    chunks = backlog.take(0)
    assert chunks is not None
    assert chunks[0].spine == ((1, "run_started"), (3, "worker_exited"))


def test_a_closed_backlog_gives_what_it_has_and_then_none() -> None:
    backlog = Backlog()
    backlog.put(1, line(1), "subprocess_output")
    backlog.close()
    assert len(backlog.take() or []) == 1
    assert backlog.take() is None


def test_a_waiting_writer_is_woken_by_an_event_and_by_closing() -> None:
    backlog = Backlog()
    taken: list[object] = []

    def writer() -> None:
        while (chunks := backlog.take()) is not None:
            taken.extend(chunks)

    thread = threading.Thread(target=writer)
    thread.start()
    for sequence in range(1, 501):
        backlog.put(sequence, line(sequence), "subprocess_output")
    backlog.close()
    thread.join(10)
    assert not thread.is_alive()
    assert sum(chunk.last - chunk.first + 1 for chunk in taken) == 500  # type: ignore[attr-defined]  # only chunks are put in
