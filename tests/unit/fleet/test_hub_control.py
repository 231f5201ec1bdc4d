"""The control socket and the client that asks it: each over a real Unix socket."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from hopline.client.hub import HubClient, HubGone, HubRefused
from hopline.errors import Refused, UsageError
from hopline.fleet.hub.control import ControlServer
from hopline.fleet.ports import Operation, Progress
from hopline.serve.unix import bind
from hopline.wire.hub import frames


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: int


class Answer(msgspec.Struct, frozen=True):
    number: int


class Kept:
    """What operations leave behind for the test to see."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.cancelled = threading.Event()
        self.finished = threading.Event()

    async def double(self, args: Asked, progress: Progress) -> Answer:
        for number in range(args.number):
            progress(Answer(number))
        return Answer(args.number * 2)

    async def refuse(self, args: Asked, progress: Progress) -> Answer:
        raise Refused(f"{args.number} is refused; ask for less.", code="too_much")

    async def misuse(self, args: Asked, progress: Progress) -> Answer:
        raise UsageError("not like that.")

    async def break_down(self, args: Asked, progress: Progress) -> Answer:
        raise ZeroDivisionError

    async def wait(self, args: Asked, progress: Progress) -> Answer:
        self.begun.set()
        try:
            await asyncio.sleep(args.number)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        self.finished.set()
        return Answer(0)


@contextmanager
def served(path: Path) -> Iterator[Kept]:
    kept = Kept()
    operations = {
        "test.double": Operation(Asked, kept.double),
        "test.refuse": Operation(Asked, kept.refuse),
        "test.misuse": Operation(Asked, kept.misuse),
        "test.break": Operation(Asked, kept.break_down),
        "test.wait": Operation(Asked, kept.wait),
        "test.persist": Operation(Asked, kept.wait, outlives_asker=True),
    }
    ready, stop = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        async with asyncio.TaskGroup() as tasks:
            server = ControlServer(operations, tasks)
            await server.listen(bind(path))
            ready.set()
            await stop.wait()
            await server.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield kept
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with served(tmp_path / "control.sock") as kept:
        yield kept


@pytest.fixture
def dial(tmp_path: Path) -> Callable[[], HubClient]:
    def connected() -> HubClient:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(10)
        connection.connect(str(tmp_path / "control.sock"))
        return HubClient(connection)

    return connected


def test_an_operation_is_answered_after_its_progress(kept: Kept, dial: Callable[[], HubClient]) -> None:
    seen: list[int] = []
    with dial() as hub:
        for _ in range(2):
            answer = hub.call("test.double", Asked(3), Answer, (Answer, lambda news: seen.append(news.number)))
            assert answer == Answer(6)
    assert seen == [0, 1, 2] * 2


@pytest.mark.parametrize(
    ("op", "status", "code", "sentence"),
    [
        ("test.refuse", 1, "too_much", "7 is refused; ask for less."),
        ("test.misuse", 2, "failed", "not like that."),
        ("test.break", 1, "failed", "test.break failed inside the hub: ZeroDivisionError(); see hub.log."),
        ("test.none", 1, "invalid_value", "the hub knows no operation 'test.none'; restart it: hopline hub stop"),
    ],
)
def test_a_refusal_keeps_its_sentence_its_status_and_its_code(
    kept: Kept, dial: Callable[[], HubClient], op: str, status: int, code: str, sentence: str
) -> None:
    with dial() as hub:
        with pytest.raises(HubRefused) as refusal:
            hub.call(op, Asked(7), Answer)
        assert (str(refusal.value), refusal.value.exit_status, refusal.value.code) == (sentence, status, code)
        assert hub.call("test.double", Asked(0), Answer) == Answer(0)


def test_arguments_that_do_not_fit_are_wrong_use(kept: Kept, dial: Callable[[], HubClient]) -> None:
    with dial() as hub, pytest.raises(HubRefused, match="other") as refusal:
        hub.call("test.double", msgspec.defstruct("Other", [("other", int)])(1), Answer)
    assert refusal.value.exit_status == 2


def test_an_operation_ends_with_its_asker(kept: Kept, dial: Callable[[], HubClient]) -> None:
    with dial() as hub:
        hub._connection.sendall(frames.encode(frames.HubRequest("test.wait", msgspec.Raw(b'{"number":60}'))))
        assert kept.begun.wait(10)
    assert kept.cancelled.wait(10)


def test_an_operation_that_outlives_its_asker_goes_on(kept: Kept, dial: Callable[[], HubClient]) -> None:
    with dial() as hub:
        hub._connection.sendall(frames.encode(frames.HubRequest("test.persist", msgspec.Raw(b'{"number":0}'))))
        assert kept.begun.wait(10)
    assert kept.finished.wait(10)


@pytest.mark.parametrize("line", [b"{}\n", b"nonsense\n", b"x" * (frames.MAX_LINE_BYTES + 1)])
def test_a_line_that_is_no_request_is_refused_and_the_connection_ends(
    kept: Kept, dial: Callable[[], HubClient], line: bytes
) -> None:
    hub = dial()
    received = b""
    with hub._connection as connection:
        try:
            connection.sendall(line)
            while data := connection.recv(1 << 16):
                received += data
        except ConnectionError:
            pass  # it had said why before it stopped reading
    assert b'"error"' in received


def test_a_hub_that_ends_says_so_to_whoever_waits_and_hangs_up(tmp_path: Path) -> None:
    with served(tmp_path / "control.sock") as kept:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(str(tmp_path / "control.sock"))
        connection.sendall(frames.encode(frames.HubRequest("test.wait", msgspec.Raw(b'{"number":60}'))))
        assert kept.begun.wait(10)
    with connection, connection.makefile("rb") as lines:
        (line,) = lines.readlines()
    error = frames.decode_reply(line).error
    assert error is not None
    assert (error.code, error.exit_status) == ("hub_ends", 1)
    assert "before it answered test.wait" in error.message


def test_without_a_hub_and_without_leave_to_start_one_the_next_step_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    with pytest.raises(HubGone, match="hopline hub serve"):
        HubClient.open(start=False)
