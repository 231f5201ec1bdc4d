"""Two hubs in network namespaces of their own: the cable is pulled in the middle of a transfer, put back, finished."""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from cable import Cable, NoNamespaces, cable
from hub_machines import Machine, marry, wait_for

SIZE = 64_000_000
ENOUGH = 6_000_000


@pytest.fixture(name="far")
def _far(private_place: Path) -> Iterator[tuple[Cable, Machine, Machine]]:
    """The cable, and two paired machines at its ends whose hubs are linked."""
    try:
        laid = cable()
        between = laid.__enter__()
    except NoNamespaces as reason:
        pytest.skip(f"no network namespaces here: {reason}")
    ends = [
        Machine(private_place, name, prefix=prefix)
        for name, prefix in zip(("near", "far"), between.prefixes, strict=True)
    ]
    try:
        near, far = ends
        marry(near, far)
        far.start(f"{between.addresses[1]}:0")
        near.know(far.identity, bytes.fromhex((near.peers_folder / f"{far.identity}.key").read_text()), far.address)
        near.start(f"{between.addresses[0]}:0")
        wait_for(lambda: near.connected(far.identity), "the link")
        yield between, near, far
    finally:
        for machine in ends:
            machine.close()
        laid.__exit__(None, None, None)


def arriving(far: Machine) -> int:
    """Bytes of the part file."""
    return sum(path.stat().st_size for path in (far.fleet / "transfers").glob("*.part"))


def test_a_transfer_whose_cable_was_pulled_goes_on_when_it_is_back(
    far: tuple[Cable, Machine, Machine], private_place: Path
) -> None:
    between, near, other = far
    transcript = private_place / "big.jsonl"
    transcript.write_bytes(random.Random(7).randbytes(SIZE))
    words = ["session", "send", other.identity, "abc-1", "--transcript", str(transcript), "--remote-cwd", "/w"]
    sending = near.spawn(*words)
    wait_for(lambda: arriving(other) > ENOUGH, "the first megabytes")
    between.pull()
    assert sending.stderr is not None
    while b"cut, trying again" not in (line := sending.stderr.readline()):
        assert line, "the sender ended"
    wait_for(lambda: not near.connected(other.identity), "the loss of the link")
    assert list(other.user_home.rglob("abc-1.jsonl")) == []
    between.put_back()
    said = sending.communicate(timeout=60)
    assert sending.returncode == 0, said
    (placed,) = other.user_home.rglob("abc-1.jsonl")
    assert hashlib.sha256(placed.read_bytes()).digest() == hashlib.sha256(transcript.read_bytes()).digest()
    assert list((other.fleet / "transfers").glob("*.part")) == []


def test_a_cable_that_is_out_for_a_moment_costs_nothing_but_the_moment(
    far: tuple[Cable, Machine, Machine], private_place: Path
) -> None:
    between, near, other = far
    transcript = private_place / "big.jsonl"
    transcript.write_bytes(random.Random(8).randbytes(SIZE))
    sending = near.spawn(
        "session", "send", other.identity, "abc-2", "--transcript", str(transcript), "--remote-cwd", "/w"
    )
    wait_for(lambda: arriving(other) > ENOUGH, "the first megabytes")
    between.pull()
    held = arriving(other)
    between.put_back()
    said = sending.communicate(timeout=60)
    assert sending.returncode == 0, said
    assert held < SIZE
    (placed,) = other.user_home.rglob("abc-2.jsonl")
    assert placed.read_bytes() == transcript.read_bytes()
