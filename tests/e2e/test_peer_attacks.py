"""What hostile or broken peers get: the connection closed with a reason in the log, nothing written, nobody disturbed.

docs/attacks.md, "The peer wire", names these tests.
"""

import contextlib
import json
import re
import socket
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lz4.block
import pytest
from hub_machines import Machine, befriend, machines, wait_for
from peer_errands import asked, chunks_of, claim, session
from peer_forms import proof_of
from peer_speaker import MAX_FRAME, MAX_RAW, Denied, Ended, Line, Speaker, call, frames_of, listening

ATTACKERS = 120
GIANT = "g" * 5000


class Scene:
    """A hub, a bystander whose link is up all the time, and attackers that are paired."""

    def __init__(self, hub: Machine, bystander: Line, attackers: list[Speaker]) -> None:
        self.hub = hub
        self.bystander = bystander
        self._attackers = attackers
        self._beats = 0

    def attacker(self) -> Speaker:
        """One that has done nothing yet."""
        return self._attackers.pop()

    def link(self) -> Line:
        """The link of a fresh attacker, in binary frames."""
        line = self.errand(transient=False)
        line.send("heartbeat")
        line.expect("heartbeat")
        return line

    def errand(self, *, transient: bool = True) -> Line:
        """A one-shot of a fresh attacker."""
        return self.attacker().dial(self.hub.address, self.hub.identity, transient=transient)

    def undisturbed(self) -> None:
        """The bystander's link still carries what it says, soon."""
        self._beats += 1
        self.bystander.send("heartbeat", {"sessions": [session(f"beat-{self._beats}")]})
        name = self.bystander.speaker.identity
        wait_for(lambda: self.hub.session_ids(name) == {f"beat-{self._beats}"}, "the bystander's heartbeat", 5)

    def files(self) -> dict[str, bytes]:
        """What the hub keeps, without when a peer was last seen and what its database writes by itself."""
        found = {}
        for root in (self.hub.fleet, self.hub.user_home):
            for path in root.rglob("*"):
                if path.is_file() and path.suffix not in (".meta", ".log", ".db", ".db-wal", ".db-shm"):
                    found[str(path)] = path.read_bytes()
        return found

    def logged(self, before: int, *words: str) -> str:
        """What the log gained, once it has all these words."""
        return str(
            wait_for(lambda: all(w in self.hub.log[before:] for w in words) and self.hub.log[before:], f"{words}")
        )


@pytest.fixture(name="scene", scope="module")
def _scene() -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="hl-") as folder, machines(Path(folder), "hub") as (hub,):
        bystander = Speaker("bystander-00000001")
        attackers = [Speaker(f"attacker-{number:08x}") for number in range(ATTACKERS)]
        for speaker in (bystander, *attackers):
            befriend(hub, speaker)
        hub.write_settings(lease_authority=hub.identity, heartbeat_interval_secs=5, max_peers=32)
        hub.start()
        with bystander.dial(hub.address, hub.identity) as line:
            line.send("heartbeat")
            yield Scene(hub, line, attackers)


@pytest.fixture(autouse=True)
def _nothing_is_written_and_nobody_is_disturbed(scene: Scene) -> Iterator[None]:
    before = scene.files()
    yield
    scene.undisturbed()
    assert scene.files() == before


# The handshake.

PROOFS: dict[str, Callable[[str], Any]] = {
    "of another key": lambda proof: proof_of(bytes(32), "0" * 64),
    "in capitals": str.upper,
    "short by its last character": lambda proof: proof[:-1],
    "with something behind it": lambda proof: proof + "0",
    "right but for its last character": lambda proof: proof[:-1] + ("0" if proof[-1] != "0" else "1"),
    "empty": lambda proof: "",
    "a number": lambda proof: 7,
    "null": lambda proof: None,
    "not ASCII": lambda proof: "é" * 64,
}


def opened(scene: Scene, speaker: Speaker) -> tuple[Line, str]:
    """A connection that got its challenge: and the right proof for it."""
    line = Line(speaker, call(scene.hub.address))
    return line, proof_of(speaker.keys[scene.hub.identity], line.challenged())


@pytest.mark.parametrize("wrong", PROOFS.values(), ids=PROOFS)
def test_a_wrong_proof_is_denied(scene: Scene, wrong: Callable[[str], Any]) -> None:
    before = len(scene.hub.log)
    line, proof = opened(scene, scene.attacker())
    with line:
        line.send("handshake", line.speaker.handshake(wrong(proof)))
        answer = line.handshake_frame()
        assert (answer["payload"]["status"], answer["from_peer"]) == ("denied", scene.hub.identity)
        assert line.ends(2)
    scene.logged(before, line.speaker.identity)


def test_a_proof_that_was_seen_before_is_denied(scene: Scene) -> None:
    speaker = scene.attacker()
    line, proof = opened(scene, speaker)
    line.send("handshake", speaker.handshake(proof))
    assert line.handshake_frame()["payload"]["status"] == "ok"
    line.close()
    again, _ = opened(scene, speaker)
    with again:
        again.send("handshake", speaker.handshake(proof))
        assert again.handshake_frame()["payload"]["status"] == "denied"


@pytest.mark.parametrize("claimed", ["../../etc/passwd", "_pending", "a" * 129, "\x1b[31mred"])
def test_an_id_that_is_none_or_is_not_paired_is_denied_like_a_wrong_proof(scene: Scene, claimed: str) -> None:
    speaker = Speaker("nobody-00000001", keys={scene.hub.identity: bytes(32)})
    before = len(scene.hub.log)
    line, proof = opened(scene, speaker)
    with line:
        line.send("handshake", speaker.handshake(proof), from_peer=claimed)
        assert line.handshake_frame()["payload"] == {"status": "denied"}
        assert line.ends(2)
    assert "\x1b" not in scene.hub.log[before:]


@pytest.mark.parametrize("first", ["heartbeat", "weather_report", "handshake_ack", "session_transfer"])
def test_another_type_before_the_handshake_opens_nothing(scene: Scene, first: str) -> None:
    line, _ = opened(scene, scene.attacker())
    with line:
        line.send(first, {"status": "ok"})
        assert line.ends(2)


def test_our_own_challenge_is_not_answered_when_it_comes_back(private_place: Path) -> None:
    """Else whoever is dialled could have the hub prove itself to the hub."""
    speaker = Speaker("mirror-00000001")
    with machines(private_place, "hub") as (hub,), listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.pick_up() as dialled, Line(speaker, call(hub.address)) as inward:
            nonce = inward.challenged()
            dialled.send("challenge", {"nonce": nonce}, from_peer="")
            with pytest.raises(Ended):
                dialled.handshake_frame()
        assert "a nonce of our own" in hub.log


# Frames.


def raw_frame(length: int, flags: int, body: bytes) -> bytes:
    return struct.pack(">IB", length, flags) + body


def compressed(claimed: int, block: bytes) -> bytes:
    return raw_frame(5 + len(block), 1, struct.pack("<I", claimed) + block)


def flagged(scene: Scene, flags: int) -> bytes:
    """A frame that would be sound with no flag set."""
    body = sound(scene, 10)
    return raw_frame(1 + len(body), flags, body)


def block_of(data: bytes) -> bytes:
    packed: bytes = lz4.block.compress(data, store_size=False)
    return packed


def sound(scene: Scene, size: int) -> bytes:
    """A heartbeat of the right sender, of about so many bytes."""
    message = {"id": f"msg_1_{size}", "msg_type": "heartbeat", "from_peer": "", "timestamp": 1, "payload": {}}
    return json.dumps(message | {"padding": "p" * size}).encode()


FRAMES: dict[str, Callable[[Scene], bytes]] = {
    "of length 0": lambda scene: raw_frame(0, 0, b""),
    "of length 1, which has no body": lambda scene: raw_frame(1, 0, b""),
    "over 1 MiB": lambda scene: raw_frame(MAX_FRAME + 1, 0, b"x" * 64),
    "of 4 GiB": lambda scene: raw_frame(0xFFFFFFFF, 0, b"x" * 64),
    **{
        f"with reserved bit {bit}": lambda scene, bit=bit: flagged(scene, 1 << bit)  # type: ignore[misc]  # bound now
        for bit in range(1, 8)
    },
    "compressed without a block": lambda scene: raw_frame(4, 1, b"\0\0\4"),
    "a bomb that says 4 MiB and 1": lambda scene: compressed(MAX_RAW + 1, block_of(b" " * (MAX_RAW + 1))),
    "a bomb that says 4 GiB": lambda scene: compressed(0xFFFFFFFF, block_of(b" " * 4096)),
    "that expands past what it says": lambda scene: compressed(1024, block_of(b" " * MAX_RAW)),
    "that expands to less than it says": lambda scene: compressed(MAX_RAW, block_of(sound(scene, 2000))),
    "compressed although it is short": lambda scene: compressed(len(sound(scene, 500)), block_of(sound(scene, 500))),
    "truncated inside its block": lambda scene: compressed(2000, block_of(sound(scene, 1900))[:-7]),
    "noise as a block": lambda scene: compressed(2000, bytes(range(256)) * 4),
    "no JSON": lambda scene: frames_of(b"hello"),
    "an id that is a number": lambda scene: frames_of(sound(scene, 1).replace(b'"msg_1_1"', b"7")),
    "an id that is a list": lambda scene: frames_of(sound(scene, 1).replace(b'"msg_1_1"', b"[]")),
    "half a surrogate pair in its id": lambda scene: frames_of(sound(scene, 1).replace(b"msg_1_1", b"\\ud800")),
    "an id of 100,000 characters": lambda scene: frames_of(sound(scene, 1).replace(b"msg_1_1", b"m" * 100_000)),
    "nested 100,000 deep": lambda scene: frames_of(b'{"payload":' * 50_000 + b"{}" + b"}" * 50_000, compress=False),
    "in the name of the bystander": lambda scene: frames_of(
        sound(scene, 1).replace(b'"from_peer": ""', b'"from_peer": "bystander-00000001"')
    ),
}


REASONS = {
    "of ": "a frame of length ",
    "over ": "a frame of length ",
    "with reserved bit ": "reserved flags ",
    "a bomb ": "a compressed frame that claims ",
    "compressed although ": "a compressed frame that claims ",
    "in the name ": "a frame in another's name: bystander-00000001",
}
"""What the log says of frames whose names begin so; of the others it says something."""


@pytest.mark.parametrize(("name", "frame"), FRAMES.items(), ids=FRAMES)
def test_a_frame_that_breaks_the_rules_closes_its_link_with_a_logged_reason(
    scene: Scene, name: str, frame: Callable[[Scene], bytes]
) -> None:
    before = len(scene.hub.log)
    with scene.link() as line:
        assert line.binary
        line.send_raw(frame(scene) + line.encoded(line.speaker.message("heartbeat", {"sessions": [session("behind")]})))
        assert line.ends(2)
    said = scene.logged(before, f"{line.speaker.identity}: ", "; closed")
    reason = next((told for start, told in REASONS.items() if name.startswith(start)), "")
    assert re.search(rf"{line.speaker.identity}: {reason}.*; closed", said), said
    assert scene.hub.session_ids(line.speaker.identity) == set()


def test_a_gigabyte_without_a_newline_ends_after_its_first_mebibytes(scene: Scene) -> None:
    for authenticated in (False, True):
        speaker = scene.attacker()
        speaker.features = ("unknown-ok",)
        line = speaker.dial(scene.hub.address, scene.hub.identity) if authenticated else opened(scene, speaker)[0]
        resident = _peak(scene.hub.pid)
        taken = 0
        block = b"x" * MAX_FRAME
        with line, pytest.raises(OSError):
            while taken < 1 << 30:
                line.send_raw(block)
                taken += len(block)
        assert taken < 32 * MAX_FRAME
        assert _peak(scene.hub.pid) - resident < 16e6


def _peak(pid: int) -> float:
    """VmHWM in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def test_half_a_frame_and_then_silence_is_dropped_by_the_dead_rule(private_place: Path) -> None:
    with machines(private_place, "strict") as (hub,):
        speaker = Speaker("silent-00000001")
        befriend(hub, speaker)
        hub.start()
        with speaker.dial(hub.address, hub.identity) as line:
            line.send("heartbeat")
            line.send_raw(line.encoded(speaker.message("heartbeat", {"sessions": []}))[:20])
            started = time.monotonic()
            assert line.ends(8)
            assert time.monotonic() - started > 2
        assert "silent-00000001" in hub.log


def test_unknown_types_are_skipped_and_logged_once_whatever_they_are_called(scene: Scene) -> None:
    before = len(scene.hub.log)
    with scene.link() as line:
        for _ in range(50):
            line.send("weather_report", {"sky": "clear"})
            line.send(GIANT, {})
            line.send("\x1b[31m\nhopline: forged line", {})
        line.send("heartbeat", {"sessions": [session("alive")]})
        wait_for(lambda: scene.hub.session_ids(line.speaker.identity) == {"alive"}, "the frame behind them")
    said = scene.logged(before, "weather_report")
    assert said.count("weather_report") == 1
    assert GIANT not in said
    assert "\x1b" not in said
    assert "\nhopline: forged" not in said


# What the rooms are told.

PATHS = {
    "an id with a way up": {"session_id": "../../../tmp/evil"},
    "an id with a slash": {"session_id": "a/b"},
    "an id of dots": {"session_id": ".."},
    "an empty id": {"session_id": ""},
    "a giant id": {"session_id": "s" * 129},
    "an id that is a number": {"session_id": 7},
    "an id with a NUL": {"session_id": "a\0b"},
    "a relative cwd": {"cwd": "work/there"},
    "a giant cwd": {"cwd": "/" + "w" * 100_000},
    "a cwd with a NUL": {"cwd": "/w\0x"},
    "a digest that is a path": {"digest": "../" * 21 + "x"},
    "a digest in capitals": {"digest": "A" * 64},
    "no total": {"total": 0},
    "a seq past its total": {"seq": 5},
    "more than the bound": {"total": 4_000_000_000, "seq": 0},
    "data that is no base64": {"data": "!!!!"},
}


@pytest.mark.parametrize("changes", PATHS.values(), ids=PATHS)
def test_a_chunk_that_lies_about_its_place_is_not_kept(scene: Scene, changes: dict[str, Any]) -> None:
    (chunk,) = chunks_of("honest", "/work/there", b"{}\n")
    with scene.errand() as line:
        line.send("session_transfer", chunk | changes)
        line.send("lease_list", {"request_id": "behind"})
        with contextlib.suppress(Ended):  # it may close the connection
            line.expect("lease_result")
        assert line.skipped == []


def test_a_cwd_with_ways_up_stays_below_the_folder_of_conversations(private_place: Path) -> None:
    with machines(private_place, "hub") as (hub,):
        speaker = Speaker("up-00000001")
        befriend(hub, speaker)
        hub.start()
        (chunk,) = chunks_of("s1", "/../../../../tmp/evil/..", b"{}\n")
        with speaker.dial(hub.address, hub.identity, transient=True) as line:
            line.send("session_transfer", chunk)
            line.send("lease_list", {"request_id": "behind"})
            with contextlib.suppress(Ended):  # it may close the connection
                line.expect("lease_result")
        for answer in line.skipped:
            path = Path(answer["payload"]["path"])
            assert path.parent.parent == hub.user_home / ".claude" / "projects"
            assert path.resolve() == path
        assert list(Path("/tmp").glob("evil*")) == []


def test_a_lease_is_the_authenticated_peers_whatever_its_payload_says(scene: Scene) -> None:
    for changes in (
        {"session": "s1@bystander-00000001"},
        {"session": "s1", "peer": "bystander-00000001", "owner_session_id": "s1@bystander-00000001"},
    ):
        with scene.errand() as line:
            wanted = claim(f"L-{line.speaker.identity}", f"only/{line.speaker.identity}/**", **changes)
            result = asked(line, "lease_claim", wanted)
            if "@" in str(changes["session"]):
                assert result["outcome"] == "error"
            else:
                assert result["lease"]["owner_session_id"] == f"s1@{line.speaker.identity}"


def test_nobody_releases_the_lease_of_another(scene: Scene) -> None:
    with scene.errand() as mine:
        assert asked(mine, "lease_claim", claim("L-mine", "mine/**"))["outcome"] == "granted"
        with scene.errand() as theirs:
            off = {"request_id": "r", "lease_id": "L-mine", "session": "s1"}
            assert asked(theirs, "lease_release", off)["outcome"] == "not_owner"
            forged = off | {"session": f"s1@{mine.speaker.identity}"}
            assert asked(theirs, "lease_release", forged)["outcome"] in ("error", "not_owner")


# Floods.


def test_a_flood_of_connections_leaves_room_for_an_honest_one(scene: Scene) -> None:
    flood: list[socket.socket] = []
    try:
        for _ in range(100):
            flood.append(call(scene.hub.address))
        scene.undisturbed()
        started = time.monotonic()
        scene.errand().close()
        assert time.monotonic() - started < 2
        assert scene.hub.told("hub", "status")["handshakes"] <= 16
    finally:
        for each in flood:
            each.close()


def test_a_flood_of_wrong_proofs_shuts_out_its_id_and_no_other(scene: Scene) -> None:
    liar = scene.attacker()
    answers = []
    for _ in range(20):
        try:
            liar.dial(scene.hub.address, scene.hub.identity, key=bytes(32))
        except (Denied, Ended, OSError) as error:
            answers.append(type(error).__name__)
    assert len(answers) == 20
    with pytest.raises((Denied, Ended, OSError)):
        liar.dial(scene.hub.address, scene.hub.identity)
    scene.errand().close()
