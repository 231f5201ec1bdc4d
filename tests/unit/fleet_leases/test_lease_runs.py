"""What runs held is given back once they have ended."""

import asyncio

from hopline.errors import Unavailable
from hopline.fleet.leases.runs import RunLeases
from hopline.wire.peer.leases import Lease

RUN, OTHER = "0123456789ab", "ba9876543210"


def lease(identity: str, owner: str) -> Lease:
    return Lease(
        id=identity,
        owner_session_id=owner,
        owner_agent="claude-code",
        resource_kind="x",
        resource_value="1",
        mode="exclusive",
        reason=None,
        acquired_at="2026-01-01T00:00:00Z",
        expires_at="2026-01-01T01:00:00Z",
        status="active",
    )


class Desk:
    """A list of leases, what was released, and how each run stands."""

    def __init__(self, *held: Lease) -> None:
        self.held: list[Lease] | None = list(held)
        self.ended: dict[str, bool | None] = {}
        self.released: list[tuple[str, str]] = []
        self.away = False
        self.runs = RunLeases(self._list, self._release, lambda run: self.ended.get(run))

    async def _list(self) -> list[Lease] | None:
        if self.away:
            raise Unavailable("nobody is there; try again.")
        return self.held

    async def _release(self, lease_id: str, session: str) -> None:
        if self.away:
            raise Unavailable("nobody is there; try again.")
        self.released.append((lease_id, session))


def test_a_lease_is_given_back_when_its_run_has_ended_and_not_before() -> None:
    async def scene() -> None:
        desk = Desk()
        desk.ended = {RUN: False, OTHER: True}
        desk.runs.note("l1", RUN)
        desk.runs.note("l2", OTHER)
        await desk.runs.give_back()
        assert desk.released == [("l2", OTHER)]
        desk.ended[RUN] = True
        await desk.runs.give_back()
        await desk.runs.give_back()
        assert desk.released == [("l2", OTHER), ("l1", RUN)]

    asyncio.run(scene())


def test_what_a_person_or_a_forgotten_run_holds_is_left_alone() -> None:
    async def scene() -> None:
        desk = Desk()
        desk.runs.note("l1", "root-pts0")
        desk.runs.note("l2", RUN)
        await desk.runs.give_back()
        desk.ended[RUN] = True
        await desk.runs.give_back()
        assert desk.released == []

    asyncio.run(scene())


def test_a_release_that_fails_is_tried_again() -> None:
    async def scene() -> None:
        desk = Desk()
        desk.ended[RUN] = True
        desk.runs.note("l1", RUN)
        desk.away = True
        await desk.runs.give_back()
        assert desk.released == []
        desk.away = False
        await desk.runs.give_back()
        assert desk.released == [("l1", RUN)]

    asyncio.run(scene())


def test_a_hub_that_starts_learns_what_its_runs_hold_already() -> None:
    async def scene() -> None:
        desk = Desk(lease("l1", f"{RUN}@here-1"), lease("l2", f"{OTHER}@there-2"))
        desk.ended = {RUN: True, OTHER: True}
        desk.away = True
        assert not await desk.runs.learn("here-1")
        desk.away = False
        assert await desk.runs.learn("here-1")
        await desk.runs.give_back()
        assert desk.released == [("l1", RUN)]
        desk.held = None
        assert not await desk.runs.learn("here-1")

    asyncio.run(scene())


def test_what_was_released_by_its_owner_is_not_released_again() -> None:
    async def scene() -> None:
        desk = Desk()
        desk.ended[RUN] = True
        desk.runs.note("l1", RUN)
        desk.runs.forget("l1")
        await desk.runs.give_back()
        assert desk.released == []

    asyncio.run(scene())
