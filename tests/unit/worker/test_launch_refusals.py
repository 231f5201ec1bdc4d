"""The relay's command line, and what is said when it cannot be started."""

import errno
import os
import resource

import pytest

from hopline.errors import HoplineError, Refused, Unavailable
from hopline.worker import descriptors
from hopline.worker.launch import explained, relay_command


def test_the_relay_is_isolated_from_the_workers_python() -> None:
    command = relay_command(["prog", "--version"], sideband=False)
    assert command[1:4] == ["-I", "-S", "-c"]
    assert command[-6:] == ["--patient", "--own-group", "--no-sideband", "--", "prog", "--version"]
    assert "--no-sideband" not in relay_command(["prog"], sideband=True)


def test_a_worker_gets_the_descriptors_that_its_server_was_started_with(monkeypatch: pytest.MonkeyPatch) -> None:
    given = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(descriptors, "_before", None)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, given[1]))
        descriptors.allow_many()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(descriptors.MAX_DESCRIPTORS, given[1])
        assert "--descriptors=300" in relay_command(["prog"], sideband=False)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, given)


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [
        (errno.EAGAIN, Unavailable, "cannot start a process"),
        (errno.EMFILE, Unavailable, "cannot start a process"),
        (errno.ENFILE, Unavailable, "cannot start a process"),
        (errno.ENOMEM, Unavailable, "cannot start a process"),
        (errno.E2BIG, Refused, "too long"),
        (errno.ENOENT, Unavailable, "cannot start bwrap"),
    ],
)
def test_what_kept_a_launcher_from_starting_is_one_sentence(number: int, kind: type[HoplineError], said: str) -> None:
    refusal = explained(OSError(number, os.strerror(number), "bwrap"), "bwrap", "/tmp")
    assert type(refusal) is kind and said in str(refusal)


def test_a_folder_that_is_not_there_is_named() -> None:
    error = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/gone")
    assert str(explained(error, "python", "/gone")) == (
        "cannot enter /gone: No such file or directory; start the run in a folder that is there."
    )
