"""The second speaker against the reference's vectors and against itself, so that it can be trusted against others."""

import threading
from pathlib import Path

import peer_forms
import pytest
from peer_errands import CHUNK, asked, chunks_of, claim, send_conversation, take_conversation
from peer_speaker import Denied, Ended, Line, Speaker, listening

KEY = peer_forms.VECTOR_KEY


def pair(dialler: Speaker, host: Speaker, **options: object) -> tuple[Line, Line]:
    """The two ends of one connection between two speakers, the dialler's first."""
    accepted: list[Line] = []
    with listening(host) as door:
        thread = threading.Thread(target=lambda: accepted.append(door.accept()))
        thread.start()
        try:
            near = dialler.dial(door.address, host.identity, **options)  # type: ignore[arg-type]  # a test's shorthand
        finally:
            thread.join()
    return near, accepted[0]


def two(dialler_proto: int = 1, host_proto: int = 1) -> tuple[Speaker, Speaker]:
    return (
        Speaker("left-00000001", {"right-00000002": KEY}, proto=dialler_proto),
        Speaker("right-00000002", {"left-00000001": KEY}, proto=host_proto),
    )


def test_the_speaker_makes_the_references_vectors() -> None:
    assert peer_forms.key_of_code(peer_forms.VECTOR_CODE) == KEY
    assert peer_forms.code_of_key(KEY) == peer_forms.VECTOR_CODE
    for nonce, proof in peer_forms.VECTOR_PROOFS.items():
        assert peer_forms.proof_of(KEY, nonce) == proof
    for (host, port), code in peer_forms.VECTOR_RELAY_CODES.items():
        assert peer_forms.relay_code_of(host, port, KEY) == code
        assert peer_forms.read_relay_code(code) == (host, port, KEY)
    for host in ("10.1.2.3", "fe80::1"):
        link = peer_forms.link_of("right-00000002", host, 9847, KEY)
        assert peer_forms.read_link(link) == ("right-00000002", host, 9847, KEY)
    assert peer_forms.slug_of("/Users/x/Sandbox/my_app/") == "-Users-x-Sandbox-my-app"
    assert peer_forms.slug_of("/") == "-"


@pytest.mark.parametrize("protos", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_two_speakers_of_any_protos_understand_each_other(protos: tuple[int, int]) -> None:
    near, far = pair(*two(*protos))
    with near, far:
        assert near.binary == far.binary == (protos == (1, 1))
        assert near.proto == far.proto == min(protos)
        for sender, taker in ((near, far), (far, near)):
            sender.send("heartbeat", {"sessions": [{"session_id": "s" * 4000}]})
            assert taker.expect("heartbeat")["payload"]["sessions"][0]["session_id"] == "s" * 4000
            assert taker.compressed == int(protos == (1, 1))


def test_a_speaker_denies_a_wrong_key() -> None:
    dialler, host = two()
    dialler.keys[host.identity] = bytes(32)
    with listening(host) as door:

        def refuse() -> None:
            with pytest.raises(Denied):
                door.accept()

        thread = threading.Thread(target=refuse)
        thread.start()
        with pytest.raises(Denied):
            dialler.dial(door.address, host.identity)
        thread.join()


def test_a_speaker_pairs_by_its_pending_key_once() -> None:
    dialler, host = two()
    host.keys, host.pending = {}, KEY
    near, far = pair(dialler, host)
    near.close()
    far.close()
    assert host.pending is None
    assert host.keys == {dialler.identity: KEY}


def test_a_forgetful_speaker_loses_what_came_with_the_ack() -> None:
    dialler, host = two()
    with listening(host) as door:

        def hasty() -> None:
            line = door.pick_up()
            line.send("challenge", {"nonce": "00" * 32}, from_peer="")
            line.handshake_frame()
            ack = host.message("handshake_ack", {"status": "ok", "proto": 1, "features": []})
            line.send_raw(line.encoded(ack) + line.encoded(host.message("heartbeat")))
            line.close()

        thread = threading.Thread(target=hasty)
        thread.start()
        with dialler.dial(door.address, host.identity) as line, pytest.raises(Ended):
            line.expect("heartbeat")
        thread.join()


def test_a_conversation_travels_between_speakers(tmp_path: Path) -> None:
    near, far = pair(*two(), transient=True)
    transcript = b'{"line":1}\n' * 100_000
    assert [len(chunk["data"]) for chunk in chunks_of("s", "/w", transcript)][:2] == [(CHUNK + 2) // 3 * 4] * 2
    placed: list[Path] = []
    with near, far:
        thread = threading.Thread(target=lambda: placed.append(take_conversation(far, tmp_path)))
        thread.start()
        answer = send_conversation(near, "abc-1", "/work/my_app", transcript)
        thread.join()
    assert far.transient
    assert placed[0].read_bytes() == transcript
    assert answer["path"] == str(tmp_path / "-work-my-app" / "abc-1.jsonl")


def test_a_lease_request_is_matched_with_its_answer() -> None:
    near, far = pair(*two(), transient=True)
    with near, far:

        def answer() -> None:
            request = far.expect("lease_claim")["payload"]
            far.send("lease_result", {"request_id": request["request_id"], "outcome": "conflict"})

        thread = threading.Thread(target=answer)
        thread.start()
        assert asked(near, "lease_claim", claim("L1", "src/**"))["outcome"] == "conflict"
        thread.join()


def test_a_proto_0_reader_ends_at_a_type_that_it_does_not_know() -> None:
    near, far = pair(*two(1, 0))
    with near, far:
        near.send("session_transfer", chunks_of("s", "/w", b"")[0])
        near.send("heartbeat")
        with pytest.raises(AssertionError, match="proto 0"):
            far.receive()
        with pytest.raises(Ended, match="still open"):
            far.receive()
