"""Loads and readers: the same bytes, the same counts and the same refusals, compiled or not."""

import json
import subprocess
from pathlib import Path

import pytest
from benchmarks.workloads import BLOCK_BYTES, LINE_BYTES, Programs, ansi_block, line_block


@pytest.fixture(params=[True, False], ids=["compiled", "python"])
def programs(request: pytest.FixtureRequest, tmp_path: Path) -> Programs:
    return Programs(tmp_path, compile_them=request.param)


def fed(argv: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(argv, input=data, capture_output=True, timeout=20, check=False)


def test_blocks_are_whole_lines_of_the_size_they_promise() -> None:
    assert len(ansi_block()) == BLOCK_BYTES
    assert ansi_block().endswith(b"\n")
    assert ansi_block().isascii()
    assert {len(line) + 1 for line in line_block().splitlines()} == {LINE_BYTES}


def test_a_flood_repeats_its_block_and_stops_by_itself(programs: Programs) -> None:
    done = subprocess.run(programs.flood("ansi", BLOCK_BYTES + 1000, 4096), capture_output=True, timeout=20, check=True)
    assert done.stdout == ansi_block() + ansi_block()[:1000]


def test_ticks_are_lines_that_carry_their_time(programs: Programs) -> None:
    done = subprocess.run(programs.ticks(200, 1000), capture_output=True, timeout=20, check=True)
    stamps = [int(line[2:22]) for line in done.stdout.splitlines()]
    assert (len(stamps), stamps) == (200, sorted(stamps))
    assert stamps[-1] - stamps[0] >= 150_000_000  # 199 ms are due; a late first tick takes its lateness off


def test_the_strict_reader_decodes_text_bytes_and_escapes(programs: Programs, tmp_path: Path) -> None:
    block = tmp_path / "own.block"
    block.write_bytes('\x1b[1m"q\\ é€😀\n\t/'.encode() + b"\xff\x00")
    frames = (
        b'{"kind":"worker_started","pid":7}\n'
        b'{"data":"\\u001b[1m\\"q\\\\ \\u00e9\xe2\x82\xac\\ud83d\\ude00\\n\\t\\/","kind":"stdout"}\r\n'
        b'{"kind":"stdout_bytes","data":"/wA="}\n'
        b'{"kind":"stdout_closed"}\n{"kind":"worker_exited","code":0}\n'
    )
    done = fed([*programs.reader, "frames", str(block)], frames)
    assert done.stderr == b""
    counted = json.loads(done.stdout)
    assert (counted["payload"], counted["wire"]) == (block.stat().st_size, len(frames))
    assert (counted["frames"], counted["outcome"]) == (5, "worker_exited")


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"stdout","data":"\\ud800"}',
        b'{"kind":"stdout","data":"\xff"}',
        b'{"kind":"stdout","data":"a\tb"}',
        b'{"kind":"worker_started","pid":1,"pid":1}',
        b'{"kind":"stdout"}',
        b'{"kind":"stdout_bytes","data":"x"}',
        b'{"kind":"stdout","data":"different"}',
        b'{"kind":"stdout","data":"x"} {}',
        b"[]",
        b'{"kind":"fatal","message":"no"}',
        b'{"kind":"worker_exited","code":0}\n{"kind":"stdout_closed"}',
    ],
)
def test_the_strict_reader_refuses_what_is_no_frame_or_other_bytes(
    programs: Programs, tmp_path: Path, line: bytes
) -> None:
    block = tmp_path / "own.block"
    block.write_bytes(b"xyz")
    assert (
        fed([*programs.reader, "frames", str(block)], line + b'\n{"kind":"worker_exited","code":0}\n').returncode == 1
    )


def test_a_stream_without_an_outcome_is_refused(programs: Programs) -> None:
    assert fed(programs.frames("ansi"), b'{"kind":"stdout_closed"}\n').returncode == 1
    assert fed(programs.frames("ansi"), b'{"kind":"worker_exited","code":0}').returncode == 1


def test_the_raw_reader_compares_and_the_discarding_one_counts(programs: Programs) -> None:
    good = ansi_block() + ansi_block()[:77]
    assert json.loads(fed(programs.raw("ansi"), good).stdout)["payload"] == len(good)
    assert fed(programs.raw("ansi"), b"other").returncode == 1
    assert json.loads(fed(programs.discard(), b"anything").stdout)["wire"] == 8
