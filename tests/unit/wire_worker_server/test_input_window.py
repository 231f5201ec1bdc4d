"""How much input may be unanswered."""

from hopline.wire.worker.input_window import INPUT_FRAME_BYTES, INPUT_WINDOW_BYTES, MAX_INPUT_FRAMES, InputWindow
from hopline.wire.worker.messages import Stdin, StdinBytes


def test_room_ends_at_the_window_and_comes_back_with_a_receipt() -> None:
    window = InputWindow()
    frames = 0
    while window.has_room(INPUT_FRAME_BYTES):
        window.frame(b"x" * INPUT_FRAME_BYTES)
        frames += 1
    assert frames * INPUT_FRAME_BYTES == INPUT_WINDOW_BYTES
    assert not window.has_room(1)
    assert window.answered(1, None)
    assert window.has_room(INPUT_FRAME_BYTES) and not window.has_room(INPUT_FRAME_BYTES + 1)


def test_many_small_frames_are_bounded_too() -> None:
    window = InputWindow()
    for _ in range(MAX_INPUT_FRAMES):
        assert window.has_room(1)
        window.frame(b"x")
    assert not window.has_room(1)


def test_input_goes_as_text_when_it_is_utf8_and_as_bytes_otherwise() -> None:
    window = InputWindow()
    assert window.frame("é".encode()) == Stdin(data="é", request_id=1)
    assert window.frame(b"\xff") == StdinBytes(data=b"\xff", request_id=2)


def test_a_receipt_that_answers_nothing_is_noticed() -> None:
    window = InputWindow()
    window.frame(b"x")
    assert window.answered(1, None)
    assert not window.answered(1, None) and not window.answered(7, None)


def test_the_first_error_is_kept() -> None:
    window = InputWindow()
    for _ in range(3):
        window.frame(b"x")
    window.answered(1, None)
    assert window.failure is None
    window.answered(2, "broken pipe")
    window.answered(3, "closed")
    assert window.failure == "broken pipe"


def test_the_window_is_empty_once_everything_sent_was_answered() -> None:
    window = InputWindow()
    assert window.empty
    sent = [window.frame(b"a"), window.frame(b"b")]
    for frame in sent:
        assert not window.empty
        window.answered(frame.request_id, None)
    assert window.empty
