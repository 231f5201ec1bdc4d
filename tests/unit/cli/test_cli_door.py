"""The command line's door: hints name the whole command, and a reader that left is told by the status."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hopline.cli.main import main

HOPLINE = str(Path(sys.executable).with_name("hopline"))


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("hub", "serve", "--no-such"), "hopline hub serve --help"),
        (("peer", "no-such"), "hopline peer --help"),
        (("run",), "hopline run --help"),
        (("no-such",), "hopline --help"),
    ],
)
def test_wrong_use_names_the_help_of_the_command_that_was_meant(
    words: tuple[str, ...], hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 2
    assert capfd.readouterr().err.endswith(f"; see: {hint}\n")


def test_a_group_alone_says_what_it_has(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["hub"]) == 2
    assert capfd.readouterr().err == "hopline: say which: hopline hub serve, status, stop; see: hopline hub --help\n"


@pytest.mark.parametrize("words", [("--help",), ("peer", "--help"), ("ls", "--help"), ("schema",)])
def test_a_reader_that_left_is_told_by_the_status_alone(words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([HOPLINE, *words], stdout=writing, stderr=subprocess.PIPE, timeout=20, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_command_that_asks_the_hub_imports_neither_asyncio_nor_the_client_wire() -> None:
    told = "import sys, hopline.cli.peer, hopline.client.hub; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, timeout=20, check=True)
    names = done.stdout.decode().split()
    assert "hopline.client.hub" in names
    assert [name for name in names if name == "asyncio" or name.startswith("hopline.wire.client")] == []
