"""The twelve interop traps of the peer wire, each against a real hub, with the second speaker at the other end."""

import contextlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hub_machines import BEAT, Machine, befriend, machines, wait_for
from peer_errands import CHUNK, asked, chunks_of, claim, session, take_conversation
from peer_forms import proof_of
from peer_speaker import SECONDS, Denied, Ended, Line, Speaker, call, listening


@pytest.fixture(name="hub")
def _hub(private_place: Path) -> Iterator[Machine]:
    """A machine whose hub does not run yet, so that a test may still give it peers."""
    with machines(private_place, "hub", max_peers=8) as (machine,):
        yield machine


def modern(name: str = "modern-00000001", **options: Any) -> Speaker:
    return Speaker(name, **options)


def old(name: str = "old-00000001", **options: Any) -> Speaker:
    return Speaker(name, proto=0, **options)


def linked(hub: Machine, speaker: Speaker) -> Line:
    """A link that the speaker dialled, opened by its heartbeat, and answered."""
    line = speaker.dial(hub.address, hub.identity)
    line.send("heartbeat")
    line.expect("heartbeat")
    return line


# 1. Do not send across the ack.


@pytest.mark.parametrize("make", [old, modern])
def test_trap_1_the_hub_sends_nothing_behind_its_ack_until_the_dialler_has_spoken(hub: Machine, make: Any) -> None:
    speaker = make()
    befriend(hub, speaker)
    hub.start()
    with speaker.dial(hub.address, hub.identity) as line:
        line.send("heartbeat", {"sessions": []})
        line.expect("heartbeat", seconds=0.5)
        assert line.lost == b""
    with speaker.dial(hub.address, hub.identity) as silent:
        acked = time.monotonic()
        silent.expect("heartbeat", seconds=4)
        assert time.monotonic() - acked > 0.9
        assert silent.lost == b""


@pytest.mark.parametrize("make", [old, modern])
def test_trap_1_a_dialling_hub_sends_nothing_before_it_has_read_the_ack(hub: Machine, make: Any) -> None:
    speaker = make()
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.accept() as line:
            line.expect("heartbeat", seconds=1)
            assert line.lost == b""


@pytest.mark.parametrize("make", [old, modern])
def test_trap_1_the_hub_keeps_what_came_with_a_handshake_or_an_ack(hub: Machine, make: Any) -> None:
    dialler, host = make("dialler-00000001"), make("host-00000001", features=("unknown-ok", "lease-fleet"))
    with listening(host) as door:
        befriend(hub, dialler)
        befriend(hub, host, door.address)
        hub.start()
        line = Line(dialler, call(hub.address))
        nonce = line.challenged()
        offer = dialler.handshake(proof_of(dialler.keys[hub.identity], nonce)) | (
            {"features": []} if dialler.proto else {}
        )
        both = [dialler.message("handshake", offer), dialler.message("heartbeat", {"sessions": [session("early")]})]
        line.send_raw(b"".join(line.encoded(message) for message in both))
        far = door.pick_up()
        far.send("challenge", {"nonce": "ab" * 32}, from_peer="")
        assert far.handshake_frame()["msg_type"] == "handshake"
        status = {"status": "ok"} | ({"proto": 1, "features": []} if host.proto else {})
        both = [host.message("handshake_ack", status), host.message("heartbeat", {"sessions": [session("hasty")]})]
        far.send_raw(b"".join(far.encoded(message) for message in both))
        with line, far:
            wait_for(lambda: hub.session_ids(dialler.identity) == {"early"}, "what came with the handshake")
            wait_for(lambda: hub.session_ids(host.identity) == {"hasty"}, "what came with the ack")


# 2. Only heartbeat counts as liveness.


def test_trap_2_only_heartbeats_keep_a_link_alive_and_the_hub_sends_them(hub: Machine) -> None:
    chatty, quiet = modern("chatty-00000001"), old("quiet-00000001")
    befriend(hub, chatty)
    befriend(hub, quiet)
    hub.start()
    with linked(hub, chatty) as talk, linked(hub, quiet) as beat:
        started = time.monotonic()
        beats = 0
        with pytest.raises((Ended, OSError)):
            while time.monotonic() - started < 8 * BEAT:
                talk.send("task_status", {"task_id": "task_1_1"})
                beat.send("heartbeat")
                with pytest.raises(TimeoutError):
                    while talk.receive(0.1):
                        beats += 1
        lived = time.monotonic() - started
        assert 3 * BEAT - 0.5 <= lived < 6 * BEAT, lived
        assert beats >= 2
        beat.skipped.clear()
        beat.expect("heartbeat", seconds=3)
        assert hub.connected(quiet.identity)
        assert not hub.connected(chatty.identity)


# 3. A proto-0 reader ends at a type that it does not know.


def test_trap_3_a_proto_0_peer_is_asked_for_no_lease_and_an_unknown_type_does_not_end_ours(hub: Machine) -> None:
    speaker = old()
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.write_settings(lease_authority=speaker.identity)
        hub.start()
        with door.accept() as line:
            line.expect("heartbeat")
            line.send("heartbeat")
            refused = hub.spawn("lease", "claim", "path_glob:src/**")
            with door.accept() as errand, pytest.raises(Ended):
                errand.receive()
            told = refused.communicate(timeout=SECONDS)[1]
            assert refused.returncode not in (0, 1), "that is what a held lease says"
            assert b"lease" in told
            line.send("weather_report", {"sky": "clear"})
            line.send("heartbeat", {"sessions": [session("after")]})
            wait_for(lambda: hub.session_ids(speaker.identity) == {"after"}, "the frame behind the unknown type")


# 4. Message ids are deduplicated across all peers.


def test_trap_4_ids_of_ours_never_collide_and_a_repeated_one_is_applied_once(hub: Machine) -> None:
    speakers = [modern("left-00000001"), modern("right-00000001")]
    for speaker in speakers:
        befriend(hub, speaker)
    hub.write_settings(lease_authority=hub.identity)
    hub.start()
    ids = []
    for speaker in speakers:
        with speaker.dial(hub.address, hub.identity) as line:
            line.send("heartbeat")
            ids.append(line.receive()["id"])
            line.send("lease_list", {"request_id": "r"})
            ids.append(line.expect("lease_result")["id"])
    assert len(set(ids)) == 4
    assert all(re.fullmatch(r"msg_[0-9]{13}_[0-9a-f]{16}", each) for each in ids), ids
    with speakers[0].dial(hub.address, hub.identity, transient=True) as line:
        first = claim("L1", "src/**")
        line.send("lease_claim", first, id="msg_1_0")
        assert line.expect("lease_result")["payload"]["outcome"] == "granted"
        line.send("lease_claim", first, id="msg_1_0")
        line.send("lease_list", {"request_id": "last"})
        assert line.expect("lease_result")["payload"]["request_id"] == "last"


# 5. All five envelope keys are mandatory and typed.

GOOD = {"id": "msg_1_1", "msg_type": "heartbeat", "from_peer": "old-00000001", "timestamp": 1, "payload": {}}
BAD: dict[str, bytes] = {
    **{f"without {key}": json.dumps({k: v for k, v in GOOD.items() if k != key}).encode() for key in GOOD},
    "a float timestamp": json.dumps(GOOD | {"timestamp": 1.0}).encode(),
    "a negative timestamp": json.dumps(GOOD | {"timestamp": -1}).encode(),
    "a number as id": json.dumps(GOOD | {"id": 7}).encode(),
    "a null payload": json.dumps(GOOD | {"payload": None}).encode(),
    "a doubled key": json.dumps(GOOD).encode()[:-1] + b', "id": "msg_1_2"}',
    "an array": b"[]",
    "no UTF-8": json.dumps(GOOD).encode().replace(b"msg_1_1", b"\xff\xfe"),
}


def test_trap_5_every_envelope_key_is_mandatory_and_typed_and_others_are_ignored(hub: Machine) -> None:
    speaker = old()
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as line:
        line.send("heartbeat", {"sessions": [session("kept")]}, weather="fine")
        wait_for(lambda: hub.session_ids(speaker.identity) == {"kept"}, "the envelope with an unknown key")
        for wrong, body in BAD.items():
            with speaker.dial(hub.address, hub.identity) as bad:
                bad.send_raw(body + b"\n")
                assert bad.ends(3), f"the connection outlived {wrong}"


# 6. A blank line is end of stream.


def test_trap_6_a_blank_line_ends_the_stream(hub: Machine) -> None:
    speaker = old()
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as line:
        line.send_raw(b" \r\n")
        assert line.ends(2)
    wait_for(lambda: not hub.connected(speaker.identity), "the end of the link")


# 7. Do not stall inside a line.


@pytest.mark.parametrize("make", [old, modern])
def test_trap_7_a_frame_that_comes_in_pieces_over_many_ticks_is_kept(hub: Machine, make: Any) -> None:
    speaker = make()
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as line:
        frame = line.encoded(speaker.message("heartbeat", {"sessions": [session("whole")] * 20}))
        for piece in (frame[:1], frame[1:4], frame[4:9], frame[9:-1]):
            line.send_raw(piece)
            time.sleep(BEAT * 0.3)
        assert hub.session_ids(speaker.identity) == set()
        line.send_raw(frame[-1:])
        wait_for(lambda: hub.session_ids(speaker.identity) == {"whole"}, "the frame in pieces")


# 8. Failed proofs are counted by source.


def test_trap_8_five_failures_shut_out_one_liar_and_not_its_neighbours(hub: Machine) -> None:
    honest, liar = modern("honest-00000001"), modern("liar-00000001")
    befriend(hub, honest)
    befriend(hub, liar)
    hub.start()
    for _ in range(5):
        with pytest.raises(Denied):
            liar.dial(hub.address, hub.identity, key=bytes(32))
    with pytest.raises((Denied, Ended, OSError)):
        liar.dial(hub.address, hub.identity)
    for _ in range(3):
        call(hub.address).close()
    linked(hub, honest).close()


def test_trap_8_connect_stays_below_the_failures_that_a_listener_bears(hub: Machine) -> None:
    host = modern("host-00000001")
    for number in range(7):
        befriend(hub, modern(f"other-0000000{number}"))
    befriend(hub, host)
    hub.start()
    with listening(host) as door:
        asked_for = hub.spawn("peer", "connect", f"127.0.0.1:{door.port}")
        failures = 0
        for _ in range(10):
            try:
                line = door.accept(seconds=10)
            except Denied:
                failures += 1
                continue
            break
        with line:
            line.send("heartbeat")
            line.expect("heartbeat")
            told = asked_for.communicate(timeout=15)
        assert asked_for.returncode == 0, told
        assert failures < 5


# 9. A full listener accepts and closes without a byte.


def test_trap_9_a_full_hub_closes_before_its_ack_takes_errands_still_and_bears_a_silent_close(hub: Machine) -> None:
    first, second = modern("first-00000001"), modern("second-00000001")
    with listening(second) as door:
        befriend(hub, first)
        befriend(hub, second, door.address)
        hub.write_settings(max_peers=1)
        hub.start()
        door.pick_up().close()
        wait_for(lambda: hub.row(second.identity)["problem"], "a word about the silent close")
        with linked(hub, first):
            with pytest.raises(Ended):
                second.dial(hub.address, hub.identity)
            second.dial(hub.address, hub.identity, transient=True).close()


# 10. One bad unit voids the whole batch.


def test_trap_10_knowledge_of_any_kind_is_borne_and_none_is_sent(hub: Machine) -> None:
    speaker = modern()
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as line:
        unit = {"id": "ku_1_1", "scope": {"type": "universal"}, "content": {"type": "from the future"}}
        line.send("knowledge_sync", {"units": [unit, 7, None]})
        line.send("knowledge_request", {"since_epoch": 0})
        line.send("heartbeat", {"sessions": [session("after")]})
        wait_for(lambda: hub.session_ids(speaker.identity) == {"after"}, "the heartbeat behind the knowledge")
        line.send("lease_list", {"request_id": "last"})
        line.expect("lease_result")
        assert {each["msg_type"] for each in line.skipped} <= {"heartbeat"}


# 11. Chunks are exactly 524,288 raw bytes except the last.


def test_trap_11_chunks_have_the_one_size_that_receivers_take(hub: Machine, private_place: Path) -> None:
    speaker = modern()
    transcript = private_place / "big.jsonl"
    transcript.write_bytes(b'{"n": 1}\n' * 150_000)
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.accept() as link:
            link.send("heartbeat")
            sending = hub.spawn("session", "send", speaker.identity, "abc-1", "--transcript", str(transcript))
            with door.accept() as errand:
                placed = take_conversation(errand, private_place / "projects")
            told = sending.communicate(timeout=20)
            assert sending.returncode == 0, told
        assert placed.read_bytes() == transcript.read_bytes()


def test_trap_11_a_chunk_of_another_size_is_refused_and_nothing_is_placed(hub: Machine, private_place: Path) -> None:
    speaker = modern()
    befriend(hub, speaker)
    hub.start()
    chunks = chunks_of("abc-2", "/work/odd", b"x" * (CHUNK + 10))
    chunks[0]["data"] = chunks[0]["data"][:400]
    with speaker.dial(hub.address, hub.identity, transient=True) as line:
        for chunk in chunks:
            line.send("session_transfer", chunk)
        line.send("lease_list", {"request_id": "last"})
        with contextlib.suppress(Ended):  # it may close the connection
            line.expect("lease_result")
        assert [each["msg_type"] for each in line.skipped] == []
    assert list(private_place.rglob("abc-2.jsonl")) == []


# 12. Authentication is one-way: act on the authenticated id, never on what a frame says.


def test_trap_12_nobody_speaks_or_claims_in_the_name_of_another(hub: Machine) -> None:
    honest, liar = modern("honest-00000001"), modern("liar-00000001")
    befriend(hub, honest)
    befriend(hub, liar)
    hub.write_settings(lease_authority=hub.identity)
    hub.start()
    with linked(hub, honest) as line:
        line.send("heartbeat", {"sessions": [session("mine")]})
        with liar.dial(hub.address, hub.identity, transient=True) as errand:
            errand.send("lease_claim", claim("L1", "src/**"), from_peer=honest.identity)
            assert errand.ends(3)
        with liar.dial(hub.address, hub.identity, transient=True) as errand:
            stolen = claim("L2", "src/**", session=f"s1@{honest.identity}")
            assert asked(errand, "lease_claim", stolen)["outcome"] == "error"
        with liar.dial(hub.address, hub.identity, transient=True) as errand:
            plain = asked(errand, "lease_claim", claim("L3", "src/**"))
        assert plain["lease"]["owner_session_id"] == f"s1@{liar.identity}"
        wait_for(lambda: hub.session_ids(honest.identity) == {"mine"}, "the sessions of the honest one")


def test_trap_12_whoever_answers_in_the_place_of_a_known_peer_is_not_believed(hub: Machine) -> None:
    speaker = modern("wanted-00000001")
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.pick_up() as line:
            line.send("challenge", {"nonce": "ab" * 32}, from_peer="")
            line.handshake_frame()
            line.send("handshake_ack", {"status": "ok"}, from_peer="other-00000001")
            assert line.ends(3)
        wait_for(lambda: "other-00000001" in (hub.row(speaker.identity)["problem"] or ""), "the wrong one's name")
        assert not hub.connected(speaker.identity)
