"""Which requests are sound, and how decisions are spelled."""

import json

import msgspec
import pytest
from lease_tables import START, Clock, claim, owner, table_at

from hopline.fleet.leases.answers import spelled
from hopline.fleet.leases.records import Claim
from hopline.fleet.leases.rules import Release, Unsound, check_claim, check_list, check_release, read
from hopline.wire.peer.leases import LeaseList, LeaseRelease

SOUND = {
    "request_id": "r1",
    "lease_id": "L1",
    "session": "s",
    "kind": "path_glob",
    "value": "src/**",
    "mode": "exclusive",
    "ttl_secs": 60,
}


def checked(**changed):
    fields = {name: value for name, value in (SOUND | changed).items() if value is not ...}
    asked = read("lease_claim", json.dumps(fields).encode())
    return asked if isinstance(asked, Unsound) else check_claim(asked, "a-12345678")


def test_the_owner_is_the_session_and_the_peer_that_was_proved():
    """PL-LEASE-OWNER."""
    assert checked(peer="b-12345678", from_peer="b-12345678", owner="x@b") == Claim(
        "L1", "s@a-12345678", "path_glob", "src/**", "exclusive", 60
    )
    released = check_release(LeaseRelease("r1", "L1", "s"), "a-12345678")
    assert released == Release("L1", "s@a-12345678")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lease_id", ...),
        ("lease_id", ""),
        ("lease_id", "x" * 97),
        ("lease_id", "a@b"),
        ("lease_id", "a\u2028"),
        ("session", ""),
        ("session", "x" * 129),
        ("session", "s@other"),
        ("session", "s\x1b[2J"),
        ("kind", ""),
        ("kind", "Path"),
        ("kind", "k" * 33),
        ("kind", "path_glob\n"),
        ("value", ""),
        ("value", "x" * 513),
        ("value", "a\nb"),
        ("mode", "shared_read"),
        ("ttl_secs", 0),
        ("ttl_secs", -1),
        ("ttl_secs", 604_801),
        ("ttl_secs", 60.0),
        ("ttl_secs", "60"),
        ("ttl_secs", True),
        ("ttl_secs", 2**70),
        ("wait", 1),
        ("waiter_id", ""),
        ("waiter_id", "w" * 97),
        ("value", 7),
        ("mode", ...),
    ],
)
def test_a_value_out_of_bounds_is_an_error_that_echoes_the_request(field, value):
    """PL-LEASE-CHECKED."""
    wrong = checked(**{field: value})
    assert isinstance(wrong, Unsound)
    assert wrong.request_id == "r1"
    assert field in wrong.message


@pytest.mark.parametrize("request_id", ["", "x" * 97, "a@b", "a\tb", 7, ..., None])
def test_a_request_id_that_is_not_sound_is_not_echoed(request_id):
    wrong = checked(request_id=request_id)
    assert isinstance(wrong, Unsound)
    assert wrong.request_id == ""


@pytest.mark.parametrize("payload", [b"", b"[]", b"7", b"{", b'{"a":' * 4000, b"\xff", b"null"])
def test_what_is_no_object_is_an_error(payload):
    for msg_type in ("lease_claim", "lease_release", "lease_list"):
        assert isinstance(read(msg_type, msgspec.Raw(payload)), Unsound)


def test_bounds_are_inclusive_and_count_characters():
    for fields in (
        {"value": "é" * 512},
        {"lease_id": "x" * 96, "session": "y" * 128, "kind": "z" * 32, "ttl_secs": 604_800},
        {"ttl_secs": 1, "waiter_id": "w" * 96, "wait": True, "unknown": {"a": 1}},
        {"reason": None, "waiter_id": None},
    ):
        assert isinstance(checked(**fields), Claim), fields


def test_a_reason_loses_its_controls_and_what_is_too_long():
    assert checked(reason="why\x1b[31m\nnot").reason == "why[31mnot"
    assert checked(reason="r" * 300).reason == "r" * 256
    assert checked(reason="\x00").reason is None
    assert isinstance(checked(reason=7), Unsound)


def test_list_and_release_are_checked_too():
    assert check_list(LeaseList("r1")) is None
    assert isinstance(check_list(LeaseList("a@b")), Unsound)
    assert isinstance(check_release(LeaseRelease("r1", "", "s"), "a"), Unsound)
    assert isinstance(check_release(LeaseRelease("r1", "L1", ""), "a"), Unsound)


def spell(decision, clock):
    return json.loads(msgspec.json.encode(spelled("r1", decision, clock.moment)))


def test_a_granted_lease_is_spelled_with_the_ten_keys_of_the_seed_and_ours():
    table, clock = table_at(START), Clock()
    clock.pass_seconds(0.25)
    assert spell(table.claim(claim("L1", owner("a"), "src/**"), clock.moment), clock) == {
        "request_id": "r1",
        "outcome": "granted",
        "lease": {
            "id": "L1",
            "owner_session_id": "s@a-12345678",
            "owner_agent": "claude-code",
            "resource_kind": "path_glob",
            "resource_value": "src/**",
            "mode": "exclusive",
            "reason": None,
            "acquired_at": "2025-06-15T15:06:40Z",
            "expires_at": "2025-06-15T15:07:40Z",
            "status": "active",
            "ttl_secs": 60,
            "fence": START * 1000 + 1,
            "ttl_left_millis": 59_750,
        },
    }


def test_a_refusal_names_the_holder_or_else_how_many_wait():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", owner("a"), "x"), clock.moment)
    assert spell(table.claim(claim("L2", owner("b"), "x"), clock.moment), clock) == {
        "request_id": "r1",
        "outcome": "conflict",
        "holder": "s@a-12345678",
        "holder_lease": "L1",
        "expires_at": "2025-06-15T15:07:40Z",
        "ttl_left_millis": 60_000,
    }
    queued = spell(table.claim(claim("L2", owner("b"), "x", wait=True), clock.moment), clock)
    assert queued["waiter_id"].startswith("wt_")
    assert len(queued["waiter_id"]) == 35
    assert queued["poll_secs"] == 2
    table.release(owner("a"), "L1", clock.moment)
    behind = spell(table.claim(claim("L3", owner("c"), "x"), clock.moment), clock)
    assert behind == {"request_id": "r1", "outcome": "conflict", "ahead": 1}


def test_a_list_is_cut_below_a_million_bytes_and_says_so():
    table, clock = table_at(START), Clock()
    for number in range(1500):
        value = f"{number}/" + "v" * 500
        table.claim(claim(f"L{number:04}", owner(f"p{number % 4}"), value, reason="r" * 256), clock.moment)
    answer = spelled("r1", table.list(clock.moment), clock.moment)
    assert answer.truncated is True
    assert 900_000 < len(msgspec.json.encode(answer)) < 1_001_000
    assert [one.id for one in answer.leases] == [f"L{number:04}" for number in range(len(answer.leases))]
    assert spelled("r1", table_at(START).list(clock.moment), clock.moment).leases == []
