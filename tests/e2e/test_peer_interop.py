"""Every exchange of the peer wire between a real hub and the second speaker, each once on either side."""

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peer_forms
import pytest
from hub_machines import Machine, befriend, machines, wait_for
from peer_errands import asked, claim, send_conversation, session, take_conversation
from peer_speaker import SECONDS, Denied, Ended, Line, Speaker, listening

SPEAKERS = {
    "0.64": {"proto": 0},
    "0.78": {"proto": 0, "since_078": True},
    "proto 1": {},
    "proto 1 in lines": {"features": ("unknown-ok", "lease-fleet")},
}
SPEAKS = pytest.mark.parametrize("options", SPEAKERS.values(), ids=SPEAKERS)
TRANSFERS = pytest.mark.parametrize("options", list(SPEAKERS.values())[1:], ids=list(SPEAKERS)[1:])
TRANSCRIPT = b"".join(b'{"n": %d, "text": "as it was"}\n' % n for n in range(60_000))


@pytest.fixture(name="hub")
def _hub(private_place: Path) -> Iterator[Machine]:
    with machines(private_place, "hub") as (machine,):
        yield machine


def peer(name: str = "peer-00000001", **options: Any) -> Speaker:
    return Speaker(name, **options)


def linked(hub: Machine, speaker: Speaker) -> Line:
    line = speaker.dial(hub.address, hub.identity)
    line.send("heartbeat")
    line.expect("heartbeat")
    return line


def shown(hub: Machine, speaker: Speaker, framing: str) -> None:
    """`peer ls` says what was agreed."""
    row = wait_for(lambda: hub.connected(speaker.identity) and hub.row(speaker.identity), "the link in peer ls")
    assert row["proto"] == speaker.proto
    assert row["framing"] == framing
    assert set(row["features"]) == (set(speaker.features) if speaker.proto else set())


# Pairing.


@SPEAKS
def test_a_speaker_joins_by_the_hubs_invitation_and_nobody_joins_by_it_again(hub: Machine, options: Any) -> None:
    hub.start()
    invitation = hub.told("peer", "invite")
    identity, host, port, key = peer_forms.read_link(invitation["link"])
    assert (identity, host, port) == (hub.identity, *hub.address)
    assert peer_forms.key_of_code(invitation["code"]) == key
    speaker = peer(keys={hub.identity: key}, **options)
    with speaker.dial((host, port), identity) as line:
        line.send("heartbeat")
        line.expect("heartbeat")
        shown(hub, speaker, "frame-bin" if line.binary else "ndjson")
        kept = hub.peers_folder / f"{speaker.identity}.key"
        assert kept.read_text() == key.hex()
        assert kept.stat().st_mode & 0o777 == 0o600
        with pytest.raises(Denied):
            peer("late-00000001", keys={hub.identity: key}, **options).dial((host, port), identity)


def test_a_speaker_joins_by_the_code_of_peer_pair(hub: Machine) -> None:
    hub.start()
    key = peer_forms.key_of_code(hub.told("peer", "pair")["code"])
    linked(hub, peer(keys={hub.identity: key})).close()


@SPEAKS
def test_the_hub_joins_by_the_speakers_link(hub: Machine, options: Any) -> None:
    key = peer_forms.VECTOR_KEY
    speaker = peer(pending=key, **options)
    hub.start()
    with listening(speaker) as door:
        joining = hub.spawn("peer", "join", peer_forms.link_of(speaker.identity, *door.address, key))
        with door.accept() as line:
            line.expect("heartbeat")
            line.send("heartbeat")
            told = joining.communicate(timeout=SECONDS)
            assert joining.returncode == 0, told
            shown(hub, speaker, "frame-bin" if line.binary else "ndjson")


def test_the_hub_joins_by_the_speakers_relay_code(hub: Machine) -> None:
    key = peer_forms.VECTOR_KEY
    speaker = peer(pending=key)
    hub.start()
    for port in range(9850, 9870):
        try:
            door = speaker.listen(port=port)
        except OSError:
            continue
        break
    try:
        joining = hub.spawn("peer", "join", peer_forms.relay_code_of("127.0.0.1", door.port, key))
        with door.accept() as line:
            line.expect("heartbeat")
            assert joining.wait(SECONDS) == 0
        joining.communicate()
    finally:
        door.close()


def test_the_hub_accepts_a_code_and_connects(hub: Machine) -> None:
    speaker = peer(pending=peer_forms.VECTOR_KEY)
    hub.start()
    assert hub.run("peer", "accept", peer_forms.VECTOR_CODE, speaker.identity).returncode == 0
    with listening(speaker) as door:
        connecting = hub.spawn("peer", "connect", f"127.0.0.1:{door.port}")
        with door.accept() as line:
            line.expect("heartbeat")
            told = connecting.communicate(timeout=SECONDS)
            assert connecting.returncode == 0, told


def test_a_wrong_code_and_a_wrong_machine_are_told_apart(hub: Machine) -> None:
    hub.start()
    assert hub.run("peer", "accept", peer_forms.VECTOR_CODE, "peer-00000001").returncode == 0
    with listening(peer(pending=bytes(32))) as door:
        connecting = hub.spawn("peer", "connect", f"127.0.0.1:{door.port}")
        with pytest.raises(Denied):
            door.accept()
        denied = connecting.communicate(timeout=SECONDS)[1].decode()
    assert connecting.returncode not in (0, 2)
    with listening(peer("else-00000001", keys={hub.identity: peer_forms.VECTOR_KEY})) as door:
        connecting = hub.spawn(
            "peer", "join", peer_forms.link_of("peer-00000001", *door.address, peer_forms.VECTOR_KEY)
        )
        door.accept().close()
        wrong = connecting.communicate(timeout=SECONDS)[1].decode()
    assert connecting.returncode not in (0, 2)
    with listening(peer()) as door:
        address = f"127.0.0.1:{door.port}"
    unreachable = hub.run("peer", "connect", address).stderr.decode()
    assert "else-00000001" in wrong
    assert len({denied, wrong, unreachable}) == 3
    for told in (denied, wrong, unreachable):
        assert re.fullmatch(r"hopline: [^\n]+\n", told), told


# Links and heartbeats.


@SPEAKS
def test_a_link_that_the_speaker_dialled_carries_heartbeats_both_ways(hub: Machine, options: Any) -> None:
    speaker = peer(**options)
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as line:
        shown(hub, speaker, "frame-bin" if line.binary else "ndjson")
        line.send("heartbeat", {"sessions": [session("theirs")], "capabilities": 7, "listen_addrs": "none"})
        wait_for(lambda: hub.session_ids(speaker.identity) == {"theirs"}, "the speaker's session")
        line.send("heartbeat", {})
        line.send("heartbeat", {"sessions": []})
        wait_for(lambda: hub.session_ids(speaker.identity) == set(), "an empty list, which replaces")
    wait_for(lambda: not hub.connected(speaker.identity), "the end at FIN", seconds=2)


@pytest.mark.parametrize("options", [SPEAKERS["0.64"], SPEAKERS["proto 1"]], ids=["0.64", "proto 1"])
def test_a_link_that_the_hub_dialled_is_dialled_again_when_it_breaks(hub: Machine, options: Any) -> None:
    speaker = peer(**options)
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.accept() as line:
            line.send("heartbeat")
            line.expect("heartbeat")
            shown(hub, speaker, "frame-bin" if line.binary else "ndjson")
        with door.accept(seconds=15) as again:
            again.expect("heartbeat")
            shown(hub, speaker, "frame-bin" if again.binary else "ndjson")


def test_the_hubs_heartbeat_tells_its_runs_its_tools_and_where_it_listens(hub: Machine) -> None:
    speaker = peer()
    befriend(hub, speaker)
    hub.start()
    record = json.loads(hub.run("run", "--detach", "--name", "busy", "--", "sleep", "60").stdout)
    with linked(hub, speaker) as line:
        deadline = time.monotonic() + SECONDS
        while not (found := line.expect("heartbeat")["payload"].get("sessions")):
            assert time.monotonic() < deadline, "the run never appeared"
            line.send("heartbeat")
        (told,) = found
        assert told["session_id"] == record["id"]
        assert isinstance(told["pid"], int)
        assert isinstance(told["project"], str)
        assert told["status"] in ("Needs Input", "Processing", "Waiting", "Unknown", "Idle", "Finished")
        capabilities = next(beat["capabilities"] for beat in _payloads(line) if "capabilities" in beat)
        assert {"claudectl_version", "os", "arch", "tools"} <= set(capabilities)
        assert set(capabilities["tools"]) == {"claude", "git", "gh", "python3", "node", "docker"}
        assert all(tool["state"] in ("present", "missing") for tool in capabilities["tools"].values())
    hub.run("stop", record["id"], "--grace", "0")


def _payloads(line: Line) -> Iterator[dict[str, Any]]:
    while True:
        line.send("heartbeat")
        yield line.expect("heartbeat")["payload"]


def test_a_dialler_is_dialled_where_it_says_that_it_listens(hub: Machine) -> None:
    speaker = peer()
    befriend(hub, speaker)
    hub.start()
    with listening(speaker) as door:
        with speaker.dial(hub.address, hub.identity, listen_port=door.port) as line:
            line.send("heartbeat")
            line.expect("heartbeat")
            wait_for(lambda: f"127.0.0.1:{door.port}" in hub.row(speaker.identity)["addresses"], "the learnt address")
        with door.accept(seconds=15) as back:
            back.expect("heartbeat")


@pytest.mark.parametrize("name", ["aaa-00000001", "zzz-00000001"])
def test_of_two_connections_that_cross_the_one_of_the_lower_id_stays(hub: Machine, name: str) -> None:
    speaker = peer(name)
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.accept() as theirs:
            theirs.send("heartbeat")
            theirs.expect("heartbeat")
            with speaker.dial(hub.address, hub.identity) as mine:
                mine.send("heartbeat")
                stays, goes = (mine, theirs) if name < hub.identity else (theirs, mine)
                assert goes.ends(3)
                stays.send("heartbeat", {"sessions": [session("on")]})
                wait_for(lambda: hub.session_ids(name) == {"on"}, "a heartbeat by the connection that stays")
                row = hub.row(name)
                assert row["direction"] == ("in" if stays is mine else "out")


def test_a_newer_link_of_the_same_side_replaces_the_older_which_is_closed(hub: Machine) -> None:
    speaker = peer()
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as older, linked(hub, speaker) as newer:
        assert older.ends(2)
        newer.send("heartbeat", {"sessions": [session("newer")]})
        wait_for(lambda: hub.session_ids(speaker.identity) == {"newer"}, "the newer link's heartbeat")


def test_a_one_shot_is_never_the_link(hub: Machine) -> None:
    speaker = peer()
    befriend(hub, speaker)
    hub.start()
    with linked(hub, speaker) as line, speaker.dial(hub.address, hub.identity, transient=True) as errand:
        errand.send("heartbeat", {"sessions": [session("errand")]})
        errand.send("lease_list", {"request_id": "r"})
        errand.expect("lease_result")
        assert hub.session_ids(speaker.identity) == set()
        line.send("heartbeat")
        shown(hub, speaker, "frame-bin")


# Leases.


def test_a_speaker_claims_and_releases_at_the_hub(hub: Machine) -> None:
    """The worked example of the reference up to where somebody is silent for 31 s."""
    owners = {name: peer(f"{name}-00000001") for name in "abcd"}
    for speaker in owners.values():
        befriend(hub, speaker)
    hub.write_settings(lease_authority=hub.identity)
    hub.start()

    def ask(name: str, msg_type: str, payload: dict[str, Any]) -> dict[str, Any]:
        with owners[name].dial(hub.address, hub.identity, transient=True) as line:
            return asked(line, msg_type, payload)

    def want(name: str, lease_id: str, value: str, **changes: Any) -> dict[str, Any]:
        return ask(name, "lease_claim", claim(lease_id, value, ttl_secs=60, **changes))

    def leave(name: str, lease_id: str) -> str:
        payload = {"request_id": f"off-{lease_id}", "lease_id": lease_id, "session": "s1"}
        return str(ask(name, "lease_release", payload)["outcome"])

    first = want("a", "L1", "src/**")
    assert first["outcome"] == "granted"
    again = want("a", "L1", "src/**")
    assert again["lease"]["expires_at"] == first["lease"]["expires_at"]
    assert again["lease"]["fence"] == first["lease"]["fence"]
    blocked = want("b", "L2", "src/a.py")
    holder = f"s1@{owners['a'].identity}"
    assert (blocked["outcome"], blocked["holder"], blocked["holder_lease"]) == ("conflict", holder, "L1")
    first_in_line = want("b", "L2", "src/a.py", wait=True)
    assert (first_in_line["outcome"], first_in_line["poll_secs"]) == ("queued", 2)
    second_in_line = want("c", "L3", "src/**", wait=True)
    assert second_in_line["outcome"] == "queued"
    assert "ahead" not in second_in_line
    assert want("a", "L4", "src/x.py")["outcome"] == "granted"
    assert want("b", "L5", "src/**", mode="advisory")["outcome"] == "granted"
    assert [leave("b", "L1"), leave("a", "L4"), leave("a", "L1"), leave("a", "L1"), leave("d", "L9")] == [
        *("not_owner", "released", "released", "not_active", "not_found")
    ]
    behind = want("c", "L3", "src/**", wait=True, waiter_id=second_in_line["waiter_id"])
    assert (behind["outcome"], behind["ahead"]) == ("queued", 1)
    assert want("d", "L6", "src/a.py")["ahead"] == 2
    served = want("b", "L2", "src/a.py", wait=True, waiter_id=first_in_line["waiter_id"])
    assert served["outcome"] == "granted"
    assert served["lease"]["fence"] > first["lease"]["fence"]
    assert want("a", "L1", "src/**")["outcome"] == "not_active"
    assert want("b", "L1", "src/**")["outcome"] == "error"
    listed = ask("d", "lease_list", {"request_id": "all"})
    assert (listed["outcome"], {each["id"] for each in listed["leases"]}) == ("list", {"L2", "L5"})


def test_the_hub_claims_waits_and_releases_at_a_speaker(hub: Machine) -> None:
    speaker = peer()
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.write_settings(lease_authority=speaker.identity)
        hub.start()
        requests: list[dict[str, Any]] = []
        served = threading.Thread(target=_authority, args=(door, requests))
        served.start()
        done = hub.run("lease", "claim", "path_glob:src/**", "--ttl", "10m", "--session", "s7", "--wait", "--json")
        assert done.returncode == 0, done.stderr
        released = hub.run("lease", "release", requests[0]["lease_id"], "--session", "s7")
        assert released.returncode == 0, released.stderr
        served.join(SECONDS)
    claims = requests[:3]
    assert len({each["request_id"] for each in requests}) == len(requests)
    assert {each["lease_id"] for each in requests} == {claims[0]["lease_id"]}
    assert {(each["kind"], each["value"], each["session"], each["ttl_secs"]) for each in claims} == {
        ("path_glob", "src/**", "s7", 600)
    }
    assert ["waiter_id" in each for each in claims] == [False, True, True]
    assert all(each["wait"] is True for each in claims)


def _authority(door: Any, requests: list[dict[str, Any]]) -> None:
    """Queue the claim twice, grant it, then let it be released; by as many one-shots as it takes."""
    answers = [
        {"outcome": "queued", "waiter_id": "wt_" + "0" * 32, "holder": "x@y", "holder_lease": "L", "poll_secs": 1},
        {"outcome": "queued", "waiter_id": "wt_" + "0" * 32, "ahead": 1, "poll_secs": 1},
        {"outcome": "granted"},
        {"outcome": "released"},
    ]
    links: list[Line] = []
    line: Line | None = None
    try:
        while answers:
            if line is None:
                line = door.accept()
                if not line.transient:
                    links.append(line)
                    line.send("heartbeat")
                    line = None
                    continue
            try:
                asked_for = line.expect("lease_claim", "lease_release", seconds=5)
            except (Ended, TimeoutError):
                line.close()
                line = None
                continue
            payload = asked_for["payload"]
            requests.append(payload)
            answer = {"request_id": payload["request_id"], **answers.pop(0)}
            if answer["outcome"] == "granted":
                until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 600))
                answer["lease"] = {"id": payload["lease_id"], "expires_at": until}
            line.send("lease_result", answer)
        if line is not None:
            links.append(line)
    finally:
        for each in links:
            each.close()


# Conversations.


@TRANSFERS
def test_a_speaker_sends_a_conversation_to_the_hub(hub: Machine, options: Any) -> None:
    speaker = peer(**options)
    befriend(hub, speaker)
    hub.start()
    for _ in range(2):
        with speaker.dial(hub.address, hub.identity, transient=True) as line:
            answer = send_conversation(line, "abc-1", "/work/my app", TRANSCRIPT)
        assert Path(answer["path"]).read_bytes() == TRANSCRIPT
        assert Path(answer["path"]).parts[-2:] == ("-work-my-app", "abc-1.jsonl")
        assert "claude --resume abc-1 --fork-session" in answer["resume"]
    assert list((hub.fleet / "transfers").glob("*.part")) == []


@TRANSFERS
def test_the_hub_sends_a_conversation_to_a_speaker(hub: Machine, private_place: Path, options: Any) -> None:
    speaker = peer(**options)
    source = private_place / "talk.jsonl"
    source.write_bytes(TRANSCRIPT)
    with listening(speaker) as door:
        befriend(hub, speaker, door.address)
        hub.start()
        with door.accept() as link:
            link.send("heartbeat")
            words = ["session", "send", speaker.identity, "abc-1", "--transcript", str(source), "--remote-cwd", "/w/x"]
            sending = hub.spawn(*words)
            with door.accept_one_shot() as errand:
                placed = take_conversation(errand, private_place / "projects")
                told = sending.communicate(timeout=SECONDS)
            assert sending.returncode == 0, told
    assert placed.read_bytes() == TRANSCRIPT
    assert placed.parts[-2:] == ("-w-x", "abc-1.jsonl")
