"""Two machines and their leases: what commands get, whatever the network does in between."""

import asyncio
import time
from contextlib import asynccontextmanager, suppress

import msgspec
import pytest
from lease_links import WALL, FakeLinks

from hopline.errors import Refused, Unavailable, UsageError
from hopline.fleet.errors import FeatureMissing, PeerUnreachable
from hopline.fleet.leases.holding import good_until
from hopline.fleet.leases.place import LeasePlace
from hopline.fleet.leases.records import seconds_of, stamp
from hopline.fleet.leases.renewal import living_owners
from hopline.fleet.leases.requester import LeaseUnknown
from hopline.fleet.leases.room import LeaseRoom
from hopline.settings import RelaySettings, Settings
from hopline.wire.hub.leases import AskAuthority, CheckPaths, ClaimLease, ListLeases, ReleaseLease
from hopline.wire.peer.negotiation import LEASE_FLEET

HOME, AWAY = "home-11111111", "away-22222222"


class Machine:
    """A lease room, and its operations as the control socket calls them."""

    def __init__(self, identity, folder, wire, authority):
        folder.mkdir(mode=0o700)
        self.config = folder / "config.toml"
        self.config.write_text("x")
        self.named = authority
        place = LeasePlace(self.config, lambda: Settings(relay=RelaySettings(lease_authority=self.named)))
        self.links = FakeLinks(identity, wire)
        self.room = LeaseRoom(folder, place)
        self.room._requester._pauses = (0.0, 0.0, 0.0)
        self.room.attach(self.links)
        self.operations = self.room.operations()
        self.news = []

    async def ask(self, op, args):
        operation = self.operations[op]
        assert isinstance(args, operation.args)
        return await operation.run(args, self.news.append)

    async def claim(self, value="src/**", session="s", **fields):
        return await self.ask(
            "lease.claim", ClaimLease(session=session, kind="path_glob", value=value, ttl_secs=60, **fields)
        )

    async def release(self, **fields):
        return await self.ask("lease.release", ReleaseLease(session="s", **fields))

    async def leases(self):
        return (await self.ask("lease.ls", ListLeases())).leases


@asynccontextmanager
async def machines(folder, authority=HOME, alone=False):
    wire = {}
    made = [Machine(HOME, folder / "home", wire, authority)]
    if not alone:
        made.append(Machine(AWAY, folder / "away", wire, authority))
    running = [asyncio.ensure_future(one.room.run()) for one in made]
    await asyncio.sleep(0)
    try:
        yield made
    finally:
        for task in running:
            task.cancel()
        for task in running:
            with suppress(asyncio.CancelledError):
                await task


def scenario(test):
    """Runs a coroutine test with its temporary folder."""

    def run(tmp_path):
        asyncio.run(asyncio.wait_for(test(tmp_path), 20))

    run.__name__ = test.__name__
    return run


async def until(condition):
    for _ in range(500):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to be")


@scenario
async def test_one_machine_alone_is_its_own_authority(folder):
    async with machines(folder, authority="", alone=True) as [home]:
        claimed = await home.claim()
        assert (claimed.outcome, claimed.authority) == ("granted", HOME)
        assert claimed.lease.owner_session_id == f"s@{HOME}"
        assert 58_000 < claimed.good_for_millis <= 60_000
        again = await home.claim(session="t")
        assert (again.outcome, again.way.holder) == ("conflict", f"s@{HOME}")
        assert (await home.release(lease_id=claimed.lease.id)).released == [claimed.lease.id]
        assert await home.leases() == []


@scenario
async def test_another_machine_is_refused_what_is_held_and_gets_it_with_a_higher_fence(folder):
    async with machines(folder) as [home, away]:
        first = await home.claim()
        refused = await away.claim("src/a.py")
        assert (refused.outcome, refused.way.holder, refused.way.holder_lease) == (
            "conflict",
            f"s@{HOME}",
            first.lease.id,
        )
        assert 0 < refused.way.ttl_left_millis <= 60_000
        await home.release(kind="path_glob", value="src/**")
        second = await away.claim("src/a.py")
        assert second.outcome == "granted"
        assert second.lease.fence > first.lease.fence
        assert second.lease.owner_session_id == f"s@{AWAY}"
        assert [one.id for one in await home.leases()] == [second.lease.id]


@scenario
async def test_who_waits_is_told_what_it_waits_for_and_gets_it_when_it_is_free(folder):
    async with machines(folder) as [home, away]:
        first = await away.claim()
        waiting = asyncio.ensure_future(home.claim(wait=True))
        await until(lambda: _true(home.news))
        assert home.news[0].way.holder == f"s@{AWAY}"
        await away.release(lease_id=first.lease.id)
        claimed = await waiting
        assert claimed.outcome == "granted"
        assert claimed.lease.fence > first.lease.fence


@scenario
async def test_who_waits_goes_on_when_the_authority_was_started_anew_and_is_told_of_the_lost_place(folder):
    async with machines(folder) as [home, away]:
        first = await home.claim()
        waiting = asyncio.ensure_future(away.claim(wait=True))
        await until(lambda: _true(away.news))
        home.room._authority._table = None  # waiters are kept in memory only
        await until(lambda: _true([one for one in away.news if "place" in (one.trouble or "")]))
        await home.release(lease_id=first.lease.id)
        assert (await waiting).outcome == "granted"


@scenario
async def test_who_waits_goes_on_when_the_authority_cannot_be_reached_for_a_while(folder):
    async with machines(folder) as [home, away]:
        first = await home.claim()
        waiting = asyncio.ensure_future(away.claim(wait=True))
        await until(lambda: _true(away.news))
        away.links.unreachable = True
        await until(lambda: _true([one for one in away.news if "cannot be reached" in (one.trouble or "")]))
        away.links.unreachable = False
        await home.release(lease_id=first.lease.id)
        assert (await waiting).outcome == "granted"


@scenario
async def test_a_wait_that_ends_while_nobody_answers_is_not_a_no(folder):
    async with machines(folder) as [home, away]:
        await home.claim()
        waiting = asyncio.ensure_future(away.claim(wait=True, wait_secs=0.5))
        await until(lambda: _true(away.news))
        away.links.unreachable = True
        with pytest.raises(PeerUnreachable):
            await waiting


@scenario
async def test_a_grant_tells_what_overlaps_it_when_that_is_asked(folder):
    async with machines(folder) as [home, away]:
        await home.claim("src/docs/", mode="advisory", reason="pages")
        await home.claim("web/", mode="advisory")
        await away.claim("src/mine", mode="advisory")
        assert (await away.claim()).overlaps == []
        told = (await away.claim("src/", overlaps=True)).overlaps
        assert [(one.resource_value, one.owner_session_id) for one in told] == [("src/docs/", f"s@{HOME}")]


@scenario
async def test_of_several_leases_of_one_thing_the_latest_is_released_and_the_rest_counted(folder):
    async with machines(folder) as [_, away]:
        first, second = [(await away.claim()).lease.id for _ in range(2)]
        let_go = await away.release(kind="path_glob", value="src/**")
        assert (let_go.released, let_go.left) == ([second], 1)
        let_go = await away.release(kind="path_glob", value="src/**")
        assert (let_go.released, let_go.left) == ([first], 0)


async def _true(value):
    return bool(value)


@scenario
async def test_a_wait_that_ends_without_the_lease_leaves_the_queue(folder):
    async with machines(folder) as [home, away]:
        await home.claim()
        began = time.monotonic()
        tried = await away.claim(wait=True, wait_secs=0.3)
        assert (tried.outcome, tried.way.holder) == ("conflict", f"s@{HOME}")
        assert time.monotonic() - began < 2
        await until(lambda: _true([kind for kind, _ in away.links.requests if kind == "lease_release"]))
        await home.release(kind="path_glob", value="src/**")
        assert (await home.claim(session="third")).outcome == "granted"


@scenario
async def test_a_claim_whose_asker_goes_away_is_released(folder):
    async with machines(folder) as [home, away]:
        await home.claim()
        waiting = asyncio.ensure_future(away.claim(wait=True))
        await until(lambda: _true(away.news))
        waiting.cancel()
        await until(lambda: _true([kind for kind, _ in away.links.requests if kind == "lease_release"]))
        await home.release(kind="path_glob", value="src/**")
        assert (await home.claim(session="third")).outcome == "granted"


@scenario
async def test_a_lost_answer_is_asked_for_again_and_makes_no_second_lease(folder):
    async with machines(folder) as [home, away]:
        away.links.lose_answers = 2
        claimed = await away.claim()
        assert claimed.outcome == "granted"
        assert [one.id for one in await home.leases()] == [claimed.lease.id]
        sent = [payload for kind, payload in away.links.requests if kind == "lease_claim"]
        assert len({one["request_id"] for one in sent}) == 3
        assert len({one["lease_id"] for one in sent}) == 1
        away.links.lose_answers = 1
        assert (await away.release(lease_id=claimed.lease.id)).released == [claimed.lease.id]


@scenario
async def test_no_answer_is_neither_yes_nor_no_and_what_may_have_been_granted_is_let_go(folder):
    """PL-LEASE-UNKNOWN."""
    async with machines(folder) as [home, away]:
        away.links.lose_answers = 4
        with pytest.raises(LeaseUnknown, match="did not answer"):
            await away.claim()
        await until(lambda: _none_left(home))
        assert LeaseUnknown.exit_status != Refused.exit_status


async def _none_left(machine):
    return await machine.leases() == []


@scenario
async def test_a_repeated_request_and_strange_answers_change_nothing(folder):
    async with machines(folder) as [home, away]:
        away.links.repeat = True
        away.links.stray = [
            ("lease_result", {"request_id": "somebody's", "outcome": "granted"}),
            ("lease_result", {"outcome": 7}),
            ("heartbeat", {}),
        ]
        claimed = await away.claim()
        assert claimed.outcome == "granted"
        assert len(await home.leases()) == 1


@scenario
async def test_an_authority_that_cannot_be_asked_grants_nothing(folder):
    async with machines(folder) as [home, away]:
        away.links.unreachable = True
        with pytest.raises(PeerUnreachable):
            await away.claim()
        away.links.unreachable = False
        home.links.features = home.links.features - {LEASE_FLEET}
        with pytest.raises(FeatureMissing, match=LEASE_FLEET):
            await away.claim()
        assert [kind for kind, _ in away.links.requests if kind == "lease_claim"] == []


@scenario
async def test_a_peer_that_was_not_named_here_gets_an_error_and_not_a_lease(folder):
    """PL-LEASE-PLACE."""
    async with machines(folder) as [home, away]:
        home.named = AWAY
        home.config.write_text("changed")
        with pytest.raises(Refused, match="not the lease authority by its own settings"):
            await away.claim()


@scenario
async def test_without_a_name_and_with_peers_the_refusal_says_what_to_write_where(folder):
    async with machines(folder, authority="") as [home, _]:
        with pytest.raises(UsageError) as refused:
            await home.claim()
        for words in ("hopline lease authority ID", "[relay] lease_authority", str(home.config), HOME, AWAY):
            assert words in str(refused.value)
        told = await home.ask("lease.authority", AskAuthority())
        assert (told.authority, told.configured, told.peers) == (None, "", [AWAY])
        home.named = "stranger-33333333"
        home.config.write_text("changed again")
        with pytest.raises(UsageError, match="neither this machine nor paired"):
            await home.claim()


@scenario
async def test_what_may_not_be_claimed_is_refused_with_the_reason(folder):
    async with machines(folder) as [_, away]:
        with pytest.raises(Refused, match="ttl_secs"):
            await away.ask("lease.claim", ClaimLease(session="s", kind="path_glob", value="x", ttl_secs=10**9))
        with pytest.raises(Refused, match="session"):
            await away.claim(session="a@b")


@scenario
async def test_only_the_holder_releases_and_each_refusal_has_its_own_sentence(folder):
    async with machines(folder) as [home, away]:
        claimed = await home.claim()
        for ask, words in (
            (away.release(lease_id=claimed.lease.id), "belongs to somebody else"),
            (away.release(lease_id="nothing"), "knows no lease"),
            (away.release(kind="path_glob", value="src/**"), f"s@{HOME} holds it"),
            (away.release(kind="path_glob", value="docs"), "holds no lease"),
        ):
            with pytest.raises(Refused, match=words):
                await ask
        await home.release(lease_id=claimed.lease.id)
        with pytest.raises(Refused, match="ended already"):
            await home.release(lease_id=claimed.lease.id)


@scenario
async def test_paths_are_held_by_others_exclusively_or_not_at_all(folder):
    async with machines(folder) as [home, away]:
        await home.claim("src/auth/**")
        await home.claim("docs/", mode="advisory")
        await away.claim("web/")
        paths = ["src/auth/a.py", "docs/x.md", "web/x", "src/main.py"]
        checked = await away.ask("lease.check", CheckPaths(session="s", paths=paths))
        assert [(one.path, one.lease.owner_session_id) for one in checked.held] == [("src/auth/a.py", f"s@{HOME}")]
        assert checked.owner == f"s@{AWAY}"
        other = await away.ask("lease.check", CheckPaths(session="other", paths=paths))
        assert [one.path for one in other.held] == ["src/auth/a.py", "web/x"]
        many = await away.ask("lease.check", CheckPaths(session="s", paths=[f"src/auth/{n}" for n in range(500)]))
        assert (len(many.held), many.more) == (200, 300)


@scenario
async def test_leases_last_while_their_session_is_heard_of_and_no_longer(folder):
    """PL-LEASE-RENEWED."""
    async with machines(folder) as [home, away]:
        claimed = await away.claim(session="run1")
        other = await away.claim("docs", session="run2")
        home.links.says(AWAY, "run1", at=time.monotonic() - 80)
        home.links.says(HOME, "run2", at=time.monotonic())
        home.room._authority._clock = _later(40)
        await home.room._renew()
        found = {one.id: seconds_of(one.expires_at) for one in await home.leases()}
        assert 38 <= found[claimed.lease.id] - seconds_of(claimed.lease.expires_at) <= 42
        assert found[other.lease.id] == seconds_of(other.lease.expires_at)
        home.links.says(AWAY, "run1", at=time.monotonic() - 91)
        home.room._authority._clock = _later(80)
        await home.room._renew()
        assert [one.id for one in await home.leases()] == [claimed.lease.id]
        home.room._authority._clock = _later(110)
        await home.room._renew()
        assert await home.leases() == []


def _later(seconds):
    from hopline.fleet.leases.authority import this_moment
    from hopline.fleet.leases.table import Moment

    def clock():
        moment = this_moment()
        return Moment(moment.wall_millis + seconds * 1000, moment.now + seconds)

    return clock


@scenario
async def test_an_authority_whose_database_is_damaged_says_so_until_it_is_moved_away(folder):
    async with machines(folder) as [home, away]:
        database = folder / "home" / "leases.db"
        database.write_bytes(b"somebody's notes\n" * 200)
        for machine in (home, away):
            with pytest.raises(Refused, match="move it away"):
                await machine.claim()
        database.unlink()
        assert (await away.claim()).outcome == "granted"


@scenario
async def test_an_authority_that_is_named_and_not_paired_is_told_apart_from_one_out_of_reach(folder):
    async with machines(folder, authority="stranger-33333333") as [_, away]:
        with pytest.raises(UsageError, match="neither this machine nor paired"):
            await away.claim()
        with pytest.raises(UsageError, match="neither this machine nor paired"):
            await away.leases()


@scenario
async def test_a_grant_that_does_not_say_until_when_is_none(folder):
    async with machines(folder) as [home, away]:
        answers = []

        async def odd(connection, envelope):
            request = msgspec.json.decode(envelope.payload)
            await connection.send("lease_result", {"request_id": request["request_id"], **answers[-1]})

        for msg_type in ("lease_claim", "lease_release"):
            home.links.handlers[msg_type] = odd
        for answer in (
            {"outcome": "granted"},
            {"outcome": "granted", "lease": {"id": "L1", "expires_at": "soon"}},
            {"outcome": "queued"},
        ):
            answers.append(answer)
            with pytest.raises(Unavailable, match="update it"):
                await away.claim()


def test_a_heartbeat_without_sessions_neither_renews_nor_clears():
    assert list(living_owners([("a", None)], 5.0)) == []


@scenario
async def test_the_leases_of_an_authority_survive_its_restart(folder):
    async with machines(folder) as [home, away]:
        claimed = await away.claim()
        home.room._writer.close()
        fresh = LeaseRoom(folder / "home", home.room._place)
        home.links.handlers.clear()
        fresh.attach(home.links)
        assert [one.id for one in await away.leases()] == [claimed.lease.id]
        assert (await away.claim("x")).lease.fence > claimed.lease.fence
        fresh._writer.close()


def test_an_answer_is_believed_from_when_it_was_asked_for_and_by_the_shorter_of_both_counts():
    """PL-LEASE-BELIEVED."""
    assert good_until(100.0, WALL // 1000 + 60, WALL) == 160.0
    assert good_until(100.0, WALL // 1000 + 60, WALL, 59_500) == 159.5
    assert good_until(100.0, WALL // 1000 - 60, WALL) == 100.0
    assert seconds_of(stamp(1_750_000_000)) == 1_750_000_000
    for text in ("", "2026-01-01", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+", "2026-13-01T00:00:00Z"):
        with pytest.raises(ValueError):
            seconds_of(text)
