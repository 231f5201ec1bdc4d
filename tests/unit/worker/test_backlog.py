"""Reports are told in order, at once or after a hold."""

import asyncio
from collections.abc import Callable

from hopline.wire.worker.messages import Ready, WorkerExited
from hopline.wire.worker.output import OutputChunk
from hopline.wire.worker.reports import Report
from hopline.worker.backlog import Backlog


def chunk(offset: int) -> OutputChunk:
    return OutputChunk("stdout", offset, 1, b"abc", b"YQ==")


def on_a_loop(test: Callable[[], None]) -> None:
    async def body() -> None:
        test()

    asyncio.run(body())


def test_reports_are_told_at_once_unless_held() -> None:
    def test() -> None:
        told: list[Report] = []
        backlog = Backlog(told.append)
        backlog.add(chunk(0))
        backlog.pass_on()
        assert told == [chunk(0)] and backlog.empty.is_set() and backlog.size == 0
        backlog.holding = True
        for report in (chunk(1), Ready(), chunk(2)):
            backlog.add(report)
        backlog.pass_on()
        assert told == [chunk(0)] and not backlog.empty.is_set()
        assert backlog.size == 14
        backlog.release()
        assert told == [chunk(0), chunk(1), Ready(), chunk(2)]
        assert backlog.empty.is_set() and backlog.size == 0

    on_a_loop(test)


def test_a_hold_from_inside_stops_at_once_and_a_release_from_inside_goes_on() -> None:
    def test() -> None:
        told: list[Report] = []

        def tell(report: Report) -> None:
            told.append(report)
            if report == chunk(1):
                backlog.holding = True
            if report == chunk(2):
                backlog.holding = True
                backlog.release()

        backlog = Backlog(tell)
        for report in (chunk(0), chunk(1), chunk(2), WorkerExited(code=0)):
            backlog.add(report)
        backlog.pass_on()
        assert told == [chunk(0), chunk(1)]
        backlog.release()
        assert told == [chunk(0), chunk(1), chunk(2), WorkerExited(code=0)]

    on_a_loop(test)
