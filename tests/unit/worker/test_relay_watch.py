"""The relay's poll object and its pipes, on real descriptors."""

import os
import select
import time
from collections.abc import Iterator

import pytest

from hopline.worker.relay_pipes import PIPE_BYTES, PipeGrowth, pipe_size
from hopline.worker.relay_watch import FLOOD_READS, LARGE_READ_BYTES, Watch


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for fd in ends:
        os.close(fd)


def test_only_what_is_wanted_is_polled(pipe: tuple[int, int]) -> None:
    read, write = pipe
    watch = Watch()
    watch.want({write: select.POLLOUT, read: select.POLLIN})
    assert watch.wait(0) == {write: select.POLLOUT}
    watch.want({read: select.POLLIN})
    assert watch.wait(0) == {}
    os.write(write, b"x")
    assert watch.wait(None) == {read: select.POLLIN}
    watch.forget(read)
    watch.forget(read)
    assert watch.wait(0) == {}


def test_small_reads_that_hardly_wait_are_a_flood(pipe: tuple[int, int]) -> None:
    read, write = pipe
    watch = Watch()
    watch.want({read: select.POLLIN})
    os.write(write, b"x")
    for _ in range(FLOOD_READS):
        watch.read(64)
        watch.wait(0)
    assert not watch.flooded
    watch.read(64)
    assert watch.flooded
    os.read(read, 1)
    watch.wait(0)
    assert not watch.flooded


def test_lines_that_come_one_by_one_are_never_a_flood(pipe: tuple[int, int]) -> None:
    watch = Watch()
    watch.want({pipe[0]: select.POLLIN})
    for _ in range(1000):
        watch.read(64)
        watch.wait(0)
        assert not watch.flooded


def test_large_reads_are_no_flood_of_small_ones() -> None:
    watch = Watch()
    for _ in range(100):
        watch.read(64)
    watch.read(LARGE_READ_BYTES)
    assert not watch.flooded


def test_gathering_waits_for_anything_but_raw_output_and_polls_it_again_afterwards(pipe: tuple[int, int]) -> None:
    read, write = pipe
    other_read, other_write = os.pipe()
    try:
        watch = Watch()
        watch.want({read: select.POLLIN, other_read: select.POLLIN})
        os.write(write, b"x")
        begun = time.monotonic()
        watch.gather([read, 999])
        assert time.monotonic() - begun >= 0.0009
        os.write(other_write, b"x")
        watch.gather([read])
        assert watch.wait(0) == {read: select.POLLIN, other_read: select.POLLIN}
    finally:
        os.close(other_read)
        os.close(other_write)


def test_a_pipe_grows_once_and_nothing_else_does(pipe: tuple[int, int]) -> None:
    growth = PipeGrowth()
    assert growth.grow(pipe[1])
    assert pipe_size(pipe[0]) == PIPE_BYTES
    assert not growth.grow(pipe[1])
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        assert not growth.grow(null)
    finally:
        os.close(null)
