"""Folders, locks and the socket of a run: what is refused, and that a failed start leaves nothing."""

import errno
from pathlib import Path

import pytest

from hopline.errors import ConnectDenied, Refused, Unavailable, UsageError
from hopline.records import hold_lock, is_live, run_folder
from hopline.run.places import RunPlaces, explained

RUN = "aaaaaaaaaaaa"


@pytest.fixture(autouse=True)
def places_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r").mkdir(mode=0o700)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "r"))


def test_a_claimed_folder_is_private_and_live() -> None:
    places = RunPlaces(RUN)
    places.claim_folder()
    assert run_folder(RUN).stat().st_mode & 0o777 == 0o700
    assert is_live(RUN)
    places.undo()


def test_a_second_server_for_one_run_is_refused() -> None:
    places = RunPlaces(RUN)
    places.claim_folder()
    second = RunPlaces(RUN)
    with pytest.raises(Unavailable, match="already has a server"):
        second.claim_folder()
    second.undo()
    assert run_folder(RUN).is_dir()
    places.undo()


def test_a_finished_run_is_not_overwritten() -> None:
    run_folder(RUN).mkdir(parents=True)
    places = RunPlaces(RUN)
    with pytest.raises(Refused, match="there is a run"):
        places.claim_folder()
    places.undo()
    assert run_folder(RUN).is_dir()


def test_a_failed_start_leaves_nothing(tmp_path: Path) -> None:
    places = RunPlaces(RUN)
    places.claim_folder()
    places.bind().close()
    assert places.socket_path is not None and places.socket_path.exists()
    places.undo()
    assert not run_folder(RUN).exists()
    assert not places.socket_path.parent.exists()


def test_a_socket_path_that_is_too_long_is_refused_before_any_bind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("d" * 100)))
    places = RunPlaces(RUN)
    with pytest.raises(UsageError, match="the system allows"):
        places.bind()
    places.undo()
    assert not (tmp_path / ("d" * 100)).exists()


def test_a_runtime_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r" / "hopline").mkdir(mode=0o755)
    (tmp_path / "r" / "hopline").chmod(0o755)
    with pytest.raises(ConnectDenied, match="open to other users"):
        RunPlaces(RUN).bind()


def test_one_view_of_a_run_at_a_time() -> None:
    run_folder(RUN).mkdir(parents=True)
    first, second = RunPlaces(RUN), RunPlaces(RUN)
    assert first.claim_view()
    assert not second.claim_view()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EIO])
def test_what_the_system_lacks_is_said_in_one_sentence(number: int) -> None:
    told = str(explained(OSError(number, "short", "/x")))
    assert told.startswith("cannot start the run's server: ") and "/x" in told and "\n" not in told


def test_a_lock_can_be_taken_again_after_its_holder_has_left() -> None:
    import os

    run_folder(RUN).mkdir(parents=True)
    os.close(hold_lock(RUN))
    assert not is_live(RUN)


def test_another_server_of_the_run_cannot_take_its_socket_away() -> None:
    first, second = RunPlaces(RUN), RunPlaces(RUN)
    first.bind().close()
    with pytest.raises(Unavailable, match="already has a server"):
        second.bind()
    second.undo()
    assert first.socket_path is not None and first.socket_path.exists()
    first.undo()
    second.bind().close()
    second.undo()


def test_a_socket_that_was_taken_away_is_bound_anew_with_or_without_its_folder() -> None:
    places = RunPlaces(RUN)
    places.bind().close()
    path = places.socket_path
    assert path is not None
    path.unlink()
    places.bind().close()
    path.unlink()
    path.parent.rmdir()
    places.bind().close()
    with pytest.raises(Unavailable, match="already has a server"):
        RunPlaces(RUN).bind()
    places.undo()
    assert not path.parent.exists()
