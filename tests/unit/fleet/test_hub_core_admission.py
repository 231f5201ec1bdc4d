"""Who may open a connection with the core: handshakes at once, failures of a source, rooms for links."""

import pytest
from core_world import KEY, Node, World

from hopline.fleet.links.actions import DialOrder, Lost
from hopline.fleet.links.admission import Failures
from hopline.wire.peer.events import Authenticated, Denied
from hopline.wire.peer.limits import MAX_HANDSHAKES

FAR = "203.0.113.7"
NEAR = "127.0.0.1"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def hub(world: World) -> Node:
    return world.node("hub-1", "10.0.0.1:9847")


def stranger(world: World, hub: Node, name: str = "x-9", *, paired: bool = False) -> Node:
    node = world.node(name, "")
    if paired:
        node.know(hub)
    return node


def fail(world: World, hub: Node, node: Node, source: str) -> object:
    left, _ = world.order(node, hub, DialOrder(bytes(32)), source)
    return node.settled[left]


def test_five_failures_within_a_minute_shut_a_source_out_until_a_minute_after_the_first(
    world: World, hub: Node
) -> None:
    bad, good = stranger(world, hub), stranger(world, hub, "g-2", paired=True)
    for _ in range(5):
        assert isinstance(fail(world, hub, bad, FAR), Denied)
        world.pass_time(2)
    conn = world.knock(hub, FAR)
    assert conn not in world.said
    assert conn in hub.closed
    left, _ = world.order(good, hub, DialOrder(KEY), FAR)
    assert isinstance(good.settled[left], Lost)
    left, _ = world.order(good, hub, DialOrder(KEY), "203.0.113.8")
    assert isinstance(good.settled[left], Authenticated)
    world.pass_time(51)
    left, _ = world.order(good, hub, DialOrder(KEY), FAR)
    assert isinstance(good.settled[left], Authenticated)


def test_on_loopback_only_the_id_that_failed_is_shut_out(world: World, hub: Node) -> None:
    bad, good = stranger(world, hub, "bad-1", paired=True), stranger(world, hub, "good-1", paired=True)
    for _ in range(5):
        assert isinstance(fail(world, hub, bad, NEAR), Denied)
    left, _ = world.order(bad, hub, DialOrder(KEY), NEAR)
    assert isinstance(bad.settled[left], Denied)
    left, _ = world.order(good, hub, DialOrder(KEY), NEAR)
    assert isinstance(good.settled[left], Authenticated)
    world.pass_time(61)
    left, _ = world.order(bad, hub, DialOrder(KEY), NEAR)
    assert isinstance(bad.settled[left], Authenticated)


def test_on_loopback_new_names_give_no_new_guesses_at_a_pairing_key(world: World, hub: Node) -> None:
    hub.keys.waiting = KEY
    for number in range(5):
        assert isinstance(fail(world, hub, stranger(world, hub, f"x-{number}"), NEAR), Denied)
    late = stranger(world, hub, "late-1")
    left, _ = world.order(late, hub, DialOrder(KEY), NEAR)
    assert isinstance(late.settled[left], Denied)
    assert hub.keys.waiting == KEY
    world.pass_time(61)
    left, _ = world.order(late, hub, DialOrder(KEY), NEAR)
    assert isinstance(late.settled[left], Authenticated)


def test_a_connection_that_says_nothing_costs_its_source_a_failure_and_is_closed_after_30_seconds(
    world: World, hub: Node
) -> None:
    conns = [world.knock(hub, FAR) for _ in range(5)]
    world.pass_time(30)
    assert not hub.closed
    world.pass_time(1)
    assert [hub.closed[conn] for conn in conns] == ["no handshake within 30 s"] * 5
    assert world.knock(hub, FAR) in hub.closed


def test_a_probe_that_only_connects_and_leaves_costs_nothing(world: World, hub: Node) -> None:
    for _ in range(20):
        hub.core.ended(world.knock(hub, FAR), world.now)
        world.settle()
    assert world.knock(hub, FAR) in world.said


def test_of_more_handshakes_than_may_be_under_way_the_greediest_sources_oldest_goes(world: World, hub: Node) -> None:
    other = world.knock(hub, "203.0.113.99")
    flood = [world.knock(hub, FAR) for _ in range(3 * MAX_HANDSHAKES)]
    assert hub.core.handshakes == MAX_HANDSHAKES
    assert other not in hub.closed
    assert set(hub.closed) == set(flood[: len(hub.closed)])
    good = stranger(world, hub, "g-2", paired=True)
    left, _ = world.order(good, hub, DialOrder(KEY), "203.0.113.98")
    assert isinstance(good.settled[left], Authenticated)


def test_links_beyond_max_peers_are_closed_without_an_ack_and_one_shots_are_not(world: World) -> None:
    hub = world.node("hub-1", "10.0.0.1:9847", max_peers=2)
    guests = [stranger(world, hub, f"g-{number}", paired=True) for number in range(3)]
    for guest in guests[:2]:
        world.order(guest, hub, DialOrder(KEY))
    left, _ = world.order(guests[2], hub, DialOrder(KEY))
    assert isinstance(guests[2].settled[left], Lost)
    left, _ = world.order(guests[2], hub, DialOrder(KEY, transient=True))
    assert isinstance(guests[2].settled[left], Authenticated)
    left, _ = world.order(guests[0], hub, DialOrder(KEY))
    assert isinstance(guests[0].settled[left], Authenticated)
    assert hub.core.linked == {"g-0", "g-1"}


def test_one_peer_has_sixteen_one_shots_at_most(world: World, hub: Node) -> None:
    guest = stranger(world, hub, paired=True)
    ends = [world.order(guest, hub, DialOrder(KEY, transient=True))[0] for _ in range(17)]
    assert [isinstance(guest.settled[end], Authenticated) for end in ends] == [True] * 16 + [False]


def test_a_fault_before_the_handshake_is_logged_counted_and_closed(world: World, hub: Node) -> None:
    for _ in range(5):
        conn = world.knock(hub, FAR)
        hub.core.received(conn, b"GET / HTTP/1.1\r\n\r\n", world.now)
        world.settle()
        assert conn in hub.closed
    assert any(FAR in note.text and note.level == "warning" for note in hub.notes)
    assert world.knock(hub, FAR) not in world.said


def test_a_nonce_of_ours_is_not_proved_for_somebody_else(world: World, hub: Node) -> None:
    """A peer that is dialled hands us the challenge that our own listener gave it."""
    guest = stranger(world, hub, paired=True)
    conn = world.knock(hub, FAR)
    hub.core.ordered(9999, "10.0.0.7:1", "10.0.0.7", DialOrder(KEY, guest.name), world.now)
    hub.core.received(9999, world.said[conn], world.now)
    world.settle()
    assert isinstance(hub.settled[9999], Lost)
    assert world.said.get(9999, b"") == b""


def test_single_failures_are_forgotten_one_by_one() -> None:
    failures = Failures()
    for at in (0.0, 50.0, 55.0, 58.0):
        failures.count("x", at)
    assert not failures.count("x", 61.0)
    assert failures.count("x", 62.0)
    assert failures.locked("x", 109.0)
    assert not failures.locked("x", 111.0)
    assert failures._failed == {}


def test_failures_are_remembered_of_a_bounded_number_of_sources() -> None:
    failures = Failures()
    for number in range(10_000):
        failures.count(f"10.0.{number // 256}.{number % 256}", float(number) / 1000)
    assert len(failures._failed) == 4096
