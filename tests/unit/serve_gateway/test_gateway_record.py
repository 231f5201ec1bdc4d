"""The gateway's files are private, and a restarted gateway knows its pages again."""

import os
from pathlib import Path

import pytest

from hopline.errors import ConnectDenied, Unavailable
from hopline.serve.gateway.credentials import Credentials
from hopline.serve.gateway.record import GatewayPlace, record_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    return tmp_path / "hopline"


def test_one_gateway_at_a_time_holds_the_lock(folder: Path) -> None:
    first, second = GatewayPlace(), GatewayPlace()
    held = first.hold_lock()
    assert held is not None
    assert second.hold_lock() is None
    os.close(held)
    again = second.hold_lock()
    assert again is not None
    os.close(again)


def test_the_next_gateway_has_the_same_secrets_unless_told_otherwise(folder: Path) -> None:
    first = GatewayPlace().credentials()
    assert GatewayPlace().credentials() == first
    fresh = GatewayPlace().credentials(fresh=True)
    assert fresh.token != first.token
    assert fresh.session_key != first.session_key


@pytest.mark.parametrize("content", [b"", b"{}", b'{"token":"short","session_key":"AAAA"}', b"\xff"])
def test_secrets_that_cannot_be_read_are_replaced(folder: Path, content: bytes) -> None:
    place = GatewayPlace()
    (folder / "web.key").write_bytes(content)
    assert len(place.credentials().token) == 43


def test_record_and_secrets_are_private_and_the_record_goes_with_the_gateway(folder: Path) -> None:
    place = GatewayPlace()
    record = record_of(8765, place.credentials(), "2026-01-01T00:00:00.000Z")
    assert place.read() is None
    place.publish(record)
    assert place.read() == record
    assert record.url == f"http://127.0.0.1:8765/?token={record.token}"
    for name in ("web.json", "web.key"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    place.withdraw()
    assert place.read() is None
    place.withdraw()


def test_a_record_that_cannot_be_understood_is_said(folder: Path) -> None:
    place = GatewayPlace()
    (folder / "web.json").write_text("{")
    with pytest.raises(Unavailable, match=r"web\.json"):
        place.read()


def test_a_runtime_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConnectDenied, match="not a plain folder"):
        GatewayPlace()


def test_a_link_in_place_of_the_record_is_not_written_through(folder: Path, tmp_path: Path) -> None:
    place = GatewayPlace()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (folder / "web.json.new").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"):
        place.publish(record_of(1, Credentials("t", b"k"), "now"))
    assert victim.read_text() == "mine"
