"""The hub's lock and record: whoever holds the lock is the hub; a record of nobody is no obstacle."""

import os
from pathlib import Path

import msgspec
import pytest

from hopline.client import hub_holder
from hopline.errors import HoplineError, Unavailable
from hopline.fleet.hub.place import HubPlace
from hopline.fleet.hub.serving import _port_of, _raise_told
from hopline.wire.hub.peers import HubRecord

RECORD = HubRecord(
    pid=1, identity="a-1", listen="127.0.0.1:4000", socket="/s", started_at="", home="", chosen_port=True
)


@pytest.fixture(name="place")
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubPlace:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return HubPlace()


@pytest.mark.parametrize("text", [b"", b"\x00\xff", b"{}", b"[1]", b'{"pid": "x"}'])
def test_a_record_that_makes_no_sense_is_none_and_is_replaced(place: HubPlace, text: bytes) -> None:
    (place.folder / "hub.json").write_bytes(text)
    assert place.read() is None
    place.publish(RECORD)
    assert place.read() == RECORD


def test_the_port_of_the_last_hub_counts_only_when_it_is_one() -> None:
    assert _port_of(RECORD) == 4000
    for listen in ("", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"):
        assert _port_of(msgspec.structs.replace(RECORD, listen=listen)) is None


def test_the_lock_alone_says_whether_a_hub_lives(place: HubPlace) -> None:
    assert not hub_holder.is_held()
    lock = place.hold_lock()
    assert lock is not None
    assert hub_holder.is_held()
    assert place.hold_lock() is None
    os.close(lock)
    assert not hub_holder.is_held()
    place.publish(RECORD)
    assert not hub_holder.is_held(), "the record of one that left"


def test_a_lock_that_cannot_be_made_is_a_sentence(place: HubPlace) -> None:
    (place.folder / "hub.lock").symlink_to("nowhere")
    with pytest.raises(Unavailable, match=r"cannot write .*/hub\.lock: .*HOPLINE_HOME"):
        place.hold_lock()


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), Unavailable("no.")])
def test_what_failed_in_one_of_the_hubs_tasks_is_told_alone(problem: OSError | HoplineError) -> None:
    with pytest.raises(type(problem)) as told:
        _raise_told(BaseExceptionGroup("tasks", [ValueError(), ExceptionGroup("inner", [problem])]))
    assert told.value is problem


def test_a_fault_of_ours_keeps_its_trace() -> None:
    group = ExceptionGroup("tasks", [ValueError("x")])
    with pytest.raises(ExceptionGroup) as told:
        _raise_told(group)
    assert told.value is group
