"""Links of the core on a clock of the test's: one a peer, alive by heartbeats alone, dialled again when lost."""

from itertools import pairwise

import pytest
from core_world import KEY, Node, World

from hopline.fleet.links.actions import DialOrder, Lost
from hopline.fleet.links.channels import newer_stays
from hopline.fleet.links.dedup import Seen
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer
from hopline.wire.peer.heartbeat import Capabilities, SessionRow, Tool


@pytest.fixture
def world() -> World:
    return World()


def two(world: World, *, both_dial: bool = False, **options: object) -> tuple[Node, Node]:
    """a-1 knows where b-2 is; with `both_dial` also the other way."""
    a = world.node("a-1", "10.0.0.1:9847", **options)
    b = world.node("b-2", "10.0.0.2:9847", **options)
    a.know(b, address=True)
    if both_dial:
        b.know(a, address=True)
    return a, b


def test_a_known_peer_is_dialled_at_the_first_tick(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    assert a.link(b) is not None
    assert b.link(a) is not None
    channel = a.core.link("b-2")
    assert channel is not None
    assert (channel.machine.proto, str(channel.machine.framing)) == (1, "frame-bin")


@pytest.mark.parametrize(
    ("own", "peer", "old_inbound", "new_inbound", "newer"),
    [
        ("a", "b", False, False, True),
        ("a", "b", True, True, True),
        ("a", "b", False, True, False),
        ("a", "b", True, False, True),
        ("b", "a", False, True, True),
        ("b", "a", True, False, False),
        ("Z", "a", True, False, True),
    ],
)
def test_of_two_live_links_opened_crosswise_the_lower_ids_stays(
    own: str, peer: str, old_inbound: bool, new_inbound: bool, newer: bool
) -> None:
    assert newer_stays(own, peer, old_inbound=old_inbound, new_inbound=new_inbound, old_alive=True) is newer
    assert newer_stays(own, peer, old_inbound=old_inbound, new_inbound=new_inbound, old_alive=False)


def test_two_that_dial_each_other_at_once_are_left_with_the_lower_ids_link(world: World) -> None:
    a, b = two(world, both_dial=True)
    a.automatic = b.automatic = False
    world.pass_time(1)
    (from_a,), (from_b,) = a.dials, b.dials
    lower, higher = world.connect(a, from_a), world.connect(b, from_b)
    world.settle()
    assert lower is not None
    assert higher is not None
    assert (a.link(b), b.link(a)) == lower
    assert set(higher) <= {*a.closed, *b.closed}
    world.pass_time(300)
    assert (a.link(b), b.link(a)) == lower


def test_a_replaced_link_is_closed_at_both_ends(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    before = a.link(b), b.link(a)
    after = world.order(a, b, DialOrder(KEY, "b-2"))
    assert (a.link(b), b.link(a)) == after
    assert before[0] in a.closed
    assert before[1] in b.closed


def test_a_link_without_heartbeats_for_more_than_three_intervals_is_dead(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    world.cut.add("b-2")
    world.pass_time(90)
    assert a.link(b) is not None
    world.pass_time(31)
    assert a.link(b) is None
    assert any("no heartbeat for" in note.text for note in a.notes)


def test_messages_other_than_heartbeats_do_not_keep_a_link_alive(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    conn = b.link(a)
    assert conn is not None
    channel = b.core.link("a-1")
    assert channel is not None
    channel.beat_at = float("inf")
    for _ in range(20):
        b.send(conn, "knowledge_request", {"since_epoch": 1})
        world.pass_time(5)
    assert a.link(b) is None or a.link(b) != conn
    assert any("no heartbeat for" in note.text for note in a.notes)


def test_a_link_lives_as_long_as_heartbeats_come(world: World) -> None:
    a, b = two(world, heartbeat_seconds=30.0)
    world.pass_time(1)
    before = a.link(b), b.link(a)
    world.pass_time(1000)
    assert (a.link(b), b.link(a)) == before


def test_a_closed_link_is_lost_at_once_and_dialled_again_after_a_second(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    conn = b.link(a)
    assert conn is not None
    b.core.hang_up(conn, "test", world.now)
    world.settle()
    assert a.link(b) is None
    world.pass_time(2)
    assert a.link(b) is not None


def test_waits_between_rounds_grow_from_five_seconds_to_a_minute(world: World) -> None:
    a, b = two(world)
    b.listens = "10.0.0.3:1"
    a.automatic = False
    tries = []
    for _ in range(300):
        world.pass_time(1)
        for dial in a.dials:
            tries.append(world.now)
            a.core.unreachable(dial.dial, "nobody", world.now)
        a.dials.clear()
    waits = [later - earlier for earlier, later in pairwise(tries)]
    assert waits[:6] == [5, 10, 20, 40, 60, 60]


def test_every_address_of_a_peer_is_tried_and_whoever_answers_must_be_it(world: World) -> None:
    a, b = two(world)
    other = world.node("c-3", "10.0.0.3:9847")
    a.know(other)
    other.keys.known["a-1"] = KEY
    a.keys.places["b-2"] = ["10.0.0.9:1", "10.0.0.3:9847", "10.0.0.2:9847"]
    world.pass_time(3)
    assert a.link(b) is not None


def test_a_refusal_is_not_repeated_within_a_minute(world: World) -> None:
    a, b = two(world)
    b.keys.known["a-1"] = bytes(32)
    a.automatic = False
    world.pass_time(1)
    world.connect(a, a.dials.pop())
    world.settle()
    world.pass_time(59)
    assert a.dials == []
    world.pass_time(2)
    assert len(a.dials) == 1
    course = a.core.plan.course("b-2")
    assert course is not None
    assert course.problem == "it refuses our key"


def test_no_more_peers_are_dialled_than_there_may_be_links(world: World) -> None:
    a = world.node("a-1", "10.0.0.1:9847", max_peers=2)
    for number in range(4):
        a.know(world.node(f"b-{number}", f"10.0.1.{number}:9847"), address=True)
    world.pass_time(120)
    assert len(a.core.linked) == 2


def test_a_peer_without_an_address_is_not_dialled(world: World) -> None:
    a, b = two(world)
    a.keys.places.clear()
    world.pass_time(100)
    assert a.link(b) is None
    a.keys.places["b-2"] = [b.listens]
    world.pass_time(6)
    assert a.link(b) is not None


def test_where_a_dialler_listens_is_learnt_only_when_it_listens_everywhere(world: World) -> None:
    _, b = two(world, listen_port=9000)
    world.pass_time(1)
    assert b.keys.places["a-1"] == ["10.0.0.1:9000"]
    c = world.node("c-3", "10.0.0.3:9847")
    c.know(b, address=True)
    world.pass_time(1)
    assert b.keys.places["c-3"] == []


def test_a_heartbeat_tells_sessions_tools_and_addresses(world: World) -> None:
    a, b = two(world)
    tools = {"git": Tool("present", "git version 2"), "bad name": Tool("present"), "gh": Tool("odd")}
    a.core.neighbours.equipped(Capabilities("9.9", "linux", "x86_64", tools))
    a.core.neighbours.placed(["10.0.0.1:7", "127.0.0.1:7", "nonsense", "0.0.0.0:7"])
    a.core.neighbours.collected([SessionRow(pid=1, project="p", session_id="run1")], world.now)
    world.pass_time(1)
    told = b.core.neighbours.of("a-1")
    assert told.sessions is not None
    assert told.sessions.session_ids == {"run1"}
    assert told.sessions.received_at == world.now
    assert told.capabilities is not None
    assert told.capabilities.tools == {"git": Tool("present", "git version 2"), "gh": Tool("missing")}
    assert told.version == "9.9"
    assert b.keys.places["a-1"] == ["10.0.0.1:7"]
    a.core.neighbours.collected([], world.now)
    a.core.tell(world.now)
    world.pass_time(1)
    told = b.core.neighbours.of("a-1")
    assert told.sessions is not None
    assert told.sessions.session_ids == frozenset()


def test_a_listener_sends_nothing_after_the_ack_before_the_first_frame_or_a_second(world: World) -> None:
    a, b = two(world)
    world.mute.add("a-1")
    world.pass_time(1)
    told = b.core.link("a-1")
    assert told is not None
    assert not told.machine.may_send
    assert b.send(told.conn, "knowledge_request", {"since_epoch": 2})
    assert a.delivered == []
    world.pass_time(1)
    assert told.machine.may_send
    assert [envelope.msg_type for _, _, envelope in a.delivered] == ["knowledge_request"]


def test_a_one_shot_is_never_the_link(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    before = a.link(b), b.link(a)
    left, right = world.order(a, b, DialOrder(KEY, "b-2", transient=True))
    assert isinstance(a.settled[left], Authenticated)
    assert (a.link(b), b.link(a)) == before
    assert a.send(left, "lease_list", {"request_id": "r"})
    assert b.delivered[-1][:2] == (right, "a-1")
    assert b.send(right, "lease_result", {"request_id": "r", "outcome": "list"})
    assert a.delivered[-1][:2] == (left, "b-2")
    assert before[0] not in a.closed


def test_a_one_shot_that_completes_no_frame_for_90_seconds_is_closed(world: World) -> None:
    a, b = two(world)
    _, right = world.order(a, b, DialOrder(KEY, "b-2", transient=True))
    world.pass_time(89)
    assert right not in b.closed
    world.pass_time(3)
    assert b.closed[right] == "a one-shot without a frame for 90 s"


def test_a_message_that_comes_again_is_delivered_once_and_another_peers_like_it_too(world: World) -> None:
    a, b = two(world)
    c = world.node("c-3", "10.0.0.3:9847")
    c.know(b, address=True)
    world.pass_time(2)
    for node in (a, c):
        node.core._state.entropy = lambda size: bytes(size)  # every id is the same
    for node in (a, a, c):
        conn = node.link(b)
        assert conn is not None
        assert node.send(conn, "knowledge_request", {"since_epoch": 0})
    assert [peer for _, peer, _ in b.delivered] == ["a-1", "c-3"]


def test_a_forgotten_peer_is_disconnected_and_not_dialled(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    del a.keys.known["b-2"]
    a.core.forget("b-2", world.now)
    world.settle()
    world.pass_time(60)
    assert a.link(b) is None
    assert a.core.plan.course("b-2") is None
    assert a.core.neighbours.of("b-2").sessions is None


@pytest.mark.parametrize(
    ("order", "outcome"),
    [
        (DialOrder(bytes(32), "b-2"), Denied("denied", "b-2")),
        (DialOrder(KEY, "d-4"), WrongPeer("d-4", "b-2")),
    ],
)
def test_an_order_is_told_how_its_opening_ended(world: World, order: DialOrder, outcome: object) -> None:
    a, b = two(world)
    left, _ = world.order(a, b, order)
    assert a.settled[left] == outcome
    assert left in a.closed


def test_an_order_whose_connection_is_cut_is_told_so(world: World) -> None:
    a, _ = two(world)
    a.core.ordered(77, "10.0.0.2:9847", "10.0.0.2", DialOrder(KEY), world.now)
    a.core.closed(77, "it was cut", world.now)
    world.settle()
    assert a.settled[77] == Lost("it was cut")


def test_a_pairing_keeps_its_key_under_the_id_that_answered(world: World) -> None:
    a, b = world.node("a-1", "10.0.0.1:9847"), world.node("b-2", "10.0.0.2:9847")
    b.keys.waiting = KEY
    world.order(a, b, DialOrder(KEY, None, keep=True))
    assert a.keys.known == {"b-2": KEY}
    assert b.keys.known == {"a-1": KEY}
    assert b.keys.waiting is None
    assert a.link(b) is not None
    assert any(note.text == "paired with a-1" for note in b.notes)


def test_the_dialler_may_be_the_one_whose_key_waits(world: World) -> None:
    a, b = world.node("a-1", "10.0.0.1:9847"), world.node("b-2", "10.0.0.2:9847")
    a.keys.waiting = b.keys.known["a-1"] = KEY
    world.order(a, b, DialOrder(KEY, None, pending=True))
    assert a.keys.known == {"b-2": KEY}
    assert a.keys.waiting is None


def test_a_dial_that_is_not_wanted_any_more_is_closed(world: World) -> None:
    a, b = two(world)
    a.automatic = False
    world.pass_time(1)
    (dial,) = a.dials
    a.core.forget("b-2", world.now)
    left, _ = world.connect(a, dial) or (0, 0)
    world.settle()
    assert a.closed[left] == "no longer wanted"
    a.core.unreachable(dial.dial, "nobody", world.now)
    assert a.link(b) is None


def test_what_comes_for_a_closed_connection_is_nothing(world: World) -> None:
    a, _ = two(world)
    a.core.received(99, b"x", world.now)
    a.core.ended(99, world.now)
    a.core.closed(99, "gone", world.now)
    a.core.hang_up(99, "gone", world.now)
    assert not a.core.send(99, "heartbeat", {}, world.now)
    assert a.core.take() == []
    assert a.core.identity == "a-1"


def test_a_hub_that_does_not_dial_waits_to_be_dialled(world: World) -> None:
    a, _ = two(world, dials=False)
    world.pass_time(30)
    assert a.dials == []
    assert a.core.linked == frozenset()


def test_frames_before_a_fault_are_delivered_and_the_link_ends(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    conn, other = a.link(b), b.link(a)
    assert conn is not None
    assert other is not None
    channel = a.core.channel(conn)
    assert channel is not None
    good = channel.machine.encode("knowledge_request", {"since_epoch": 7}, now_millis=1, entropy="0" * 16)
    b.core.received(other, good + b"\x00\x00\x00\x00", world.now)
    world.settle()
    assert [envelope.msg_type for _, _, envelope in b.delivered] == ["knowledge_request"]
    assert b.closed[other] == "a frame of length 0"
    assert any(note.level == "warning" and "a-1: a frame of length 0" in note.text for note in b.notes)


def test_an_unknown_type_is_told_once_a_peer_whatever_becomes_of_its_connections(world: World) -> None:
    a, b = two(world)
    for _ in range(3):
        world.pass_time(5)
        conn = a.link(b)
        assert conn is not None
        for _ in range(2):
            a.send(conn, "novelty", {"x": 1})
        a.core.hang_up(conn, "test", world.now)
        world.settle()
    assert b.delivered == []
    assert sum("novelty" in note.text for note in b.notes) == 1


def test_a_new_address_is_tried_at_once_when_somebody_says_so(world: World) -> None:
    a, b = two(world)
    a.keys.places["b-2"] = ["10.0.0.9:1"]
    world.pass_time(40)
    a.keys.places["b-2"] = [b.listens]
    a.core.plan.hurry("b-2", world.now)
    a.core.plan.hurry("nobody-1", world.now)
    world.pass_time(1)
    assert a.link(b) is not None
    a.core.plan.hurry("b-2", world.now)


def test_too_much_that_waits_for_the_first_frame_is_refused(world: World) -> None:
    a, b = two(world)
    world.mute.add("a-1")
    world.pass_time(1)
    conn = b.link(a)
    assert conn is not None
    assert [b.send(conn, "knowledge_request", {"since_epoch": 0}) for _ in range(66)] == [True] * 64 + [False] * 2


def test_dedup_forgets_the_oldest_id_first() -> None:
    seen = Seen()
    assert not any(seen.again("a", str(number)) for number in range(1000))
    assert seen.again("a", "0")
    assert not seen.again("a", "1000")
    assert not seen.again("a", "0")
    assert seen.again("a", "999")


def test_a_suspended_machine_finds_its_wall_clock_again(world: World) -> None:
    a, b = two(world)
    world.pass_time(1)
    a.core.tick(world.now, world.wall + 3_600_000)
    b.core.tick(world.now, world.wall)
    conn = a.link(b)
    assert conn is not None
    a.send(conn, "knowledge_request", {"since_epoch": 0})
    assert b.delivered[-1][2].timestamp == world.wall + 3_600_000
