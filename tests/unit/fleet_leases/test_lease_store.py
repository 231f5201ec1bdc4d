"""What the lease database keeps, and what happens when it cannot."""

import asyncio
import random
import resource
import sqlite3
import stat
import threading

import pytest
from lease_tables import START, Clock, claim, owner
from lease_world import OWNERS, VALUES, Disk

from hopline.errors import Corrupt, Unavailable
from hopline.fleet.leases import writer as lease_writer
from hopline.fleet.leases.authority import Authority
from hopline.fleet.leases.records import Saved, Spent
from hopline.fleet.leases.store import LeaseStore
from hopline.fleet.leases.table import LeaseTable
from hopline.fleet.leases.writer import LeaseWriter
from hopline.wire.peer.leases import LeaseClaim, LeaseList, LeaseRelease

MILLIS = START * 1000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "leases.db"


def test_a_new_database_is_private_and_starts_its_fence_at_the_time_it_was_made(path):
    store = LeaseStore.open(path, MILLIS)
    assert store.load() == Saved((), (), MILLIS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    store.close()
    again = LeaseStore.open(path, MILLIS + 5000)
    assert again.load().last_fence == MILLIS
    again.close()


def test_whatever_the_table_does_the_database_says_the_same_after_opening_it_again(path):
    dice, clock, disk = random.Random(11), Clock(), Disk(MILLIS)
    store = LeaseStore.open(path, MILLIS)
    table = LeaseTable(store.load(), dice.randbytes)
    for step in range(1500):
        who, number = dice.choice(OWNERS), dice.randint(max(0, step - 30), step)
        mode = dice.choice(["exclusive", "exclusive", "advisory"])
        match dice.randint(0, 5):
            case 0 | 1 | 2:
                wanted = claim(f"L{number}", who, dice.choice(VALUES), mode=mode, wait=dice.random() < 0.5)
                table.claim(wanted, clock.moment)
            case 3:
                table.release(who, f"L{number}", clock.moment)
            case 4:
                table.renew(dice.sample(OWNERS, 3), clock.moment)
            case 5:
                clock.pass_seconds(dice.choice([1, 10, 70, 90_000]))
        changes = table.take_changes()
        disk.commit(changes)
        store.commit(changes)
        if step % 300 == 299:
            store.fold()
            store.close()
            store = LeaseStore.open(path, MILLIS)
            found, expected = store.load(), disk.saved()
            assert found.leases == tuple(sorted(expected.leases, key=lambda one: one.fence))
            assert sorted(found.spent, key=repr) == sorted(expected.spent, key=repr)
            assert found.last_fence == table.last_fence
    store.close()


def test_the_fence_is_not_taken_back_when_every_row_that_carried_it_is_gone(path):
    """PL-LEASE-FENCE."""
    clock, store = Clock(), LeaseStore.open(path, MILLIS)
    table = LeaseTable(store.load(), random.Random(1).randbytes)
    table.claim(claim("L1", owner("a"), "x"), clock.moment)
    table.release(owner("a"), "L1", clock.moment)
    clock.pass_seconds(8 * 86_400)
    table.list(clock.moment)
    store.commit(table.take_changes())
    assert store.load() == Saved((), (), MILLIS + 1)
    store.close()


def test_a_commit_that_fails_leaves_nothing_of_itself(path):
    store = LeaseStore.open(path, MILLIS)
    twice = Spent("L1", owner("a"), START, waited=False)
    with pytest.raises(sqlite3.IntegrityError):
        store.commit([twice, twice])
    assert store.load().spent == ()
    store.commit([twice])
    assert store.load().spent == (twice,)
    store.close()


def test_a_file_that_is_no_database_is_said_to_be_damaged_and_left_alone(path):
    path.write_bytes(b"not a database, but somebody's file\n" * 100)
    before = path.read_bytes()
    with pytest.raises(Corrupt, match="move it away"):
        LeaseStore.open(path, MILLIS)
    assert path.read_bytes() == before


@pytest.mark.parametrize("room", [0, 4096, 20_000, 100_000, 600_000, 1_000_000])
def test_a_disk_that_is_full_at_the_first_opening_leaves_nothing_that_is_in_the_way_later(path, room):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with pytest.raises(Unavailable, match=rf"{path}.*make room"):
            LeaseStore.open(path, MILLIS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store = LeaseStore.open(path, MILLIS + 1)
    assert store.load().last_fence in (MILLIS, MILLIS + 1)
    store.close()


@pytest.mark.parametrize(
    "damage",
    ["DROP TABLE leases", "INSERT INTO leases VALUES (1, 'L', 'o', 'k', 'v', 'm', NULL, 1, 1, 1, 'odd', NULL)"],
)
def test_a_database_with_something_else_in_it_is_named_with_what_to_do(path, damage):
    LeaseStore.open(path, MILLIS).close()
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    connection.close()

    async def scenario():
        writer = LeaseWriter(lambda: LeaseStore.open(path, MILLIS))
        for _ in range(2):
            answer = await Authority(writer).answer("c-00000000", LeaseList("list"))
            assert answer.outcome == "error"
            assert f"{path} is no sound lease database" in answer.message
            assert "move it away" in answer.message
        writer.close()

    asyncio.run(scenario())


def test_a_database_of_a_newer_version_is_refused(path):
    LeaseStore.open(path, MILLIS).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(Unavailable, match="update"):
        LeaseStore.open(path, MILLIS)


def test_commits_do_not_make_the_log_longer_than_it_was_made(path):
    store = LeaseStore.open(path, MILLIS)
    log = path.with_name("leases.db-wal")
    long = log.stat().st_size
    for number in range(1000):
        store.commit([Spent(f"L{number}", owner("a"), START, waited=False)])
        if store.foldable:
            store.fold()
    assert log.stat().st_size == long
    store.close()


def asked(number, value="x", peer="a-00000000", **fields):
    return peer, LeaseClaim(f"r{number}", f"L{number}", "s", "path_glob", value, "exclusive", 60, **fields)


def test_an_authority_that_cannot_write_says_so_and_decides_anew_from_the_disk_when_it_can(path):
    stores = []

    def open_store():
        stores.append(LeaseStore.open(path, MILLIS))
        return stores[0]

    async def scenario():
        writer = LeaseWriter(open_store)
        authority = Authority(writer, lambda: Clock().moment)
        first = await authority.answer(*asked(1))
        (pages,) = stores[0]._connection.execute("PRAGMA page_count").fetchone()
        stores[0]._connection.execute(f"PRAGMA max_page_count = {pages}")
        long = "y" * 500
        for refused in range(2, 4000):
            answer = await authority.answer(*asked(refused, f"{refused}/{long}", f"b{refused}-00000000"))
            if answer.outcome != "granted":
                break
        assert answer.outcome == "error"
        assert f"cannot read or write {path}" in answer.message
        stores[0]._connection.execute("PRAGMA max_page_count = 1000000")
        listed = await authority.answer("c-00000000", LeaseList("list"))
        assert f"L{refused}" not in {one.id for one in listed.leases}
        assert listed.leases[0] == first.lease
        again = await authority.answer(*asked(refused, "again", "d-00000000"))
        assert again.outcome == "granted"
        assert again.lease.fence > max(one.fence for one in listed.leases)
        writer.close()

    asyncio.run(scenario())


def test_many_requests_at_once_share_commits_and_each_is_on_the_disk_when_it_is_answered(path):
    async def scenario():
        store = LeaseStore.open(path, MILLIS)
        commits = []
        real = store.commit
        store.commit = lambda changes: commits.append(len(changes)) or real(changes)
        writer = LeaseWriter(lambda: store)
        authority = Authority(writer, lambda: Clock().moment)

        async def one(number):
            answer = await authority.answer(*asked(number, f"{number}/"))
            reader = sqlite3.connect(path)
            rows = reader.execute("SELECT fence FROM leases WHERE id = ?", (f"L{number}",)).fetchall()
            reader.close()
            assert rows == [(answer.lease.fence,)]

        await asyncio.gather(*(one(number) for number in range(1000, 1200)))
        assert sum(commits) == 200
        assert len(commits) < 100
        writer.close()

    asyncio.run(scenario())


def test_a_read_is_not_answered_before_what_it_tells_is_on_the_disk(path):
    """PL-LEASE-DURABLE."""

    async def scenario():
        writer = LeaseWriter(lambda: LeaseStore.open(path, MILLIS))
        authority = Authority(writer, lambda: Clock().moment)
        await authority.answer(*asked(1))
        order = []

        async def noted(name, request):
            await authority.answer(*request)
            order.append(name)

        await asyncio.gather(
            noted("claim", asked(2, "z")),
            noted("its repeat", asked(2, "z")),
            noted("the conflict", asked(3, "z", "b-00000000")),
            noted("the list", ("c-00000000", LeaseList("r9"))),
        )
        assert order == ["claim", "its repeat", "the conflict", "the list"]
        writer.close()

    asyncio.run(scenario())


def stopped_store(path):
    """A store of which each commit tells that it has begun, and goes on when it may."""
    store, begun, may_write = LeaseStore.open(path, MILLIS), threading.Event(), threading.Event()
    real = store.commit

    def commit(changes):
        begun.set()
        assert may_write.wait(10)
        real(changes)

    store.commit = commit
    return store, begun, may_write


def test_a_request_given_up_by_its_asker_is_written_all_the_same(path):
    async def scenario():
        store, begun, may_write = stopped_store(path)
        writer = LeaseWriter(lambda: store)
        authority = Authority(writer, lambda: Clock().moment)
        first = asyncio.ensure_future(authority.answer(*asked(1)))
        assert await asyncio.to_thread(begun.wait, 10)
        task = asyncio.ensure_future(authority.answer(*asked(2, "z")))
        await asyncio.sleep(0)
        task.cancel()
        may_write.set()
        listed = await authority.answer("c-00000000", LeaseList("r9"))
        assert [one.id for one in listed.leases] == ["L1", "L2"]
        released = await authority.answer("a-00000000", LeaseRelease("r", "L2", "s"))
        assert released.outcome == "released"
        assert (await first).outcome == "granted"
        writer.close()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_a_disk_that_stands_still_does_not_stop_the_loop(path):
    async def scenario():
        store, begun, may_write = stopped_store(path)
        writer = LeaseWriter(lambda: store)
        await writer.load()
        first = writer.commit([])
        second = writer.commit([])
        assert begun.is_set()
        assert not first.done()
        assert not second.done()
        may_write.set()
        await asyncio.gather(first, second)
        writer.close()

    asyncio.run(scenario())


def test_a_disk_that_is_quick_has_written_when_the_commit_returns_once_a_turn(path, monkeypatch):
    monkeypatch.setattr(lease_writer, "WATCH_SECONDS", 10.0)

    async def scenario():
        settled = []
        writer = LeaseWriter(lambda: LeaseStore.open(path, MILLIS))
        writer.settled = lambda count, failure: settled.append((count, failure))
        await writer.load()
        for _ in range(3):
            first, second = writer.commit([]), writer.commit([])
            assert first.done()
            assert not second.done()
            await second
        assert settled == [(1, None)] * 6
        writer.close()

    asyncio.run(scenario())
