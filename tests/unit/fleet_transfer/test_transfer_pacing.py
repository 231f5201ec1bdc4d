"""When chunks are compressed on their way."""

import pytest

from hopline.fleet.transfer.packing import FAST_PATH, WINDOW_BYTES, Pacing
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.negotiation import FEATURES, FRAME_BIN, SESSION_LZ4, SESSION_RAW


class Path:
    """A path of so many bytes a second, and whoever sends on it; compressed chunks are a quarter."""

    def __init__(self, bytes_a_second: float, features: frozenset[str] = FEATURES) -> None:
        self.bytes_a_second = bytes_a_second
        self.now = 100.0
        self.pacing = Pacing(features, self.now)

    def send(self, chunks: int = 100) -> list[bool]:
        """Which of these chunks were compressed."""
        packed = []
        for _ in range(chunks):
            packed.append(self.pacing.packing)
            sent = CHUNK_BYTES // 4 if packed[-1] else CHUNK_BYTES
            self.now += sent / self.bytes_a_second
            self.pacing.sent(CHUNK_BYTES, sent, self.now)
        return packed


def test_chunks_stay_as_they_are_once_a_path_has_shown_that_it_is_fast() -> None:
    packed = Path(10 * FAST_PATH).send()
    assert packed == sorted(packed, reverse=True)
    assert sum(packed) == 4 * WINDOW_BYTES // CHUNK_BYTES


def test_a_slow_path_is_packed_for_all_the_time() -> None:
    assert all(Path(FAST_PATH / 10).send(1000))


def test_a_path_that_is_fast_only_for_what_is_packed_is_tried_once() -> None:
    packed = Path(FAST_PATH / 2).send(1000)
    assert packed.count(False) == WINDOW_BYTES // CHUNK_BYTES
    assert all(packed[-900:])


def test_a_path_that_becomes_slow_is_packed_again() -> None:
    path = Path(10 * FAST_PATH)
    assert not path.send()[-1]
    path.bytes_a_second = FAST_PATH / 10
    assert path.send()[-1]


@pytest.mark.parametrize("lacking", [FRAME_BIN, SESSION_RAW])
def test_where_bytes_would_be_base64_they_are_packed_whatever_the_path(lacking: str) -> None:
    assert all(Path(10 * FAST_PATH, FEATURES - {lacking}).send())


def test_nothing_is_packed_where_it_was_not_agreed() -> None:
    assert not any(Path(FAST_PATH / 10, FEATURES - {SESSION_LZ4}).send())
