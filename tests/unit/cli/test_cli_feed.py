import os

from scripted_server import refused, response

from hopline.cli.feed import PIECE_BYTES, InputFeed


def run_to_the_end(feed: InputFeed) -> None:
    for _ in range(1000):
        if feed.wait_on() is None:
            return
        feed.step()
    raise AssertionError("the feed never ended")


def feed_of(server, data: bytes) -> InputFeed:
    source, sink = os.pipe()
    os.write(sink, data)
    os.close(sink)
    return InputFeed(server.connection, source)


def accepted(_request):
    return [response(ack={"action": "input", "status": "accepted"})]


def test_everything_is_forwarded_in_order_and_then_the_end(scripted) -> None:
    server = scripted(accepted)
    feed = feed_of(server, b"one\ntwo\n")
    run_to_the_end(feed)
    assert [(request.data(), request.close) for request in server.requests] == [(b"one\ntwo\n", False), (b"", True)]
    assert feed.finished
    assert feed.forwarded_bytes == 8


def test_bytes_that_are_no_text_go_as_they_are(scripted) -> None:
    server = scripted(accepted)
    run_to_the_end(feed_of(server, b"\xff\x00"))
    assert server.requests[0].bytes_base64 == b"\xff\x00"


def test_the_next_piece_is_not_read_before_the_last_one_is_accepted(scripted) -> None:
    server = scripted(accepted)
    source, sink = os.pipe()
    os.write(sink, b"a")
    feed = InputFeed(server.connection, source)
    assert feed.wait_on() == source
    feed.step()
    assert feed.wait_on() == server.connection.fileno()
    feed.step()
    assert feed.wait_on() == source
    os.close(sink)
    run_to_the_end(feed)
    os.close(source)


def test_a_worker_that_takes_no_more_ends_the_feed_quietly(scripted) -> None:
    server = scripted(lambda _: [refused("input_closed", "The worker's input is closed.")])
    feed = feed_of(server, b"x" * 10)
    run_to_the_end(feed)
    assert len(server.requests) == 1


def test_a_server_that_leaves_ends_the_feed_quietly(scripted) -> None:
    feed = feed_of(scripted(lambda _: []), b"x" * 10)
    run_to_the_end(feed)
    assert feed.finished


def test_input_that_cannot_be_read_counts_as_ended(scripted) -> None:
    server = scripted(accepted)
    folder = os.open("/", os.O_RDONLY)
    run_to_the_end(InputFeed(server.connection, folder))
    os.close(folder)
    assert [request.close for request in server.requests] == [True]


def test_a_piece_is_bounded(scripted) -> None:
    server = scripted(accepted)
    source = os.memfd_create("input")
    os.write(source, b"x" * (PIECE_BYTES + 1))
    os.lseek(source, 0, os.SEEK_SET)
    run_to_the_end(InputFeed(server.connection, source))
    os.close(source)
    assert [len(request.data()) for request in server.requests] == [PIECE_BYTES, 1, 0]
