"""`hopline run` attached: what reaches whom, byte for byte, and with which exit status."""

import hashlib
import json
import os
import subprocess
import time

from cli_rig import HOPLINE, detached, hopline, shown, wait_for_output, wait_until_over


def test_both_streams_and_the_exit_status_are_the_workers() -> None:
    finished = hopline("run", "--", "sh", "-c", "printf out; printf err >&2; exit 7")
    assert (finished.stdout, finished.stderr, finished.returncode) == (b"out", b"err", 7)


def test_a_worker_that_was_signalled_gives_128_and_its_signal() -> None:
    finished = hopline("run", "--", "sh", "-c", "kill -TERM $$")
    assert finished.returncode == 128 + 15
    assert finished.stderr == b""


def test_every_byte_value_passes_both_ways() -> None:
    data = bytes(range(256)) * 3
    finished = hopline("run", "--", "cat", input=data)
    assert finished.stdout == data
    assert hopline("logs", "@last", "--raw").stdout == data
    assert finished.returncode == 0


def test_fifty_megabytes_of_noise_are_shown_and_given_back_exactly() -> None:
    command = [HOPLINE, "run", "--", "sh", "-c", "head -c 50000000 /dev/urandom; exit 7"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as watched:
        assert watched.stdout is not None
        seen = hashlib.file_digest(watched.stdout, "sha256")
        assert watched.wait() == 7
    with subprocess.Popen([HOPLINE, "logs", "@last", "--raw"], stdout=subprocess.PIPE) as replayed:
        assert replayed.stdout is not None
        assert hashlib.file_digest(replayed.stdout, "sha256").digest() == seen.digest()


def test_piped_input_reaches_the_worker_and_then_ends() -> None:
    text = b"".join(b"line %d\n" % number for number in range(100_000))
    assert hopline("run", "--", "wc", "-c", input=text).stdout.strip() == b"%d" % len(text)


def test_a_worker_that_reads_slowly_slows_whoever_writes() -> None:
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    with subprocess.Popen(
        [HOPLINE, "run", "--name", "slow", "--", "sh", "-c", "echo up; sleep 60"], stdin=source, stdout=subprocess.PIPE
    ) as watched:
        os.close(source)
        assert watched.stdout is not None
        assert watched.stdout.readline() == b"up\n"
        written = idle = 0
        while idle < 10:
            try:
                written += os.write(sink, b"x" * 65536)
                idle = 0
            except BlockingIOError:
                idle += 1
                time.sleep(0.05)
        assert written < 16 << 20
        os.close(sink)
        assert hopline("stop", "slow", "--grace", "0").returncode == 0
        assert watched.wait() == 137


def test_a_worker_that_takes_no_input_ends_as_it_would_have() -> None:
    with subprocess.Popen([HOPLINE, "run", "--", "true"], stdin=subprocess.PIPE) as watched:
        assert watched.wait(20) == 0


def test_the_worker_can_name_its_run_and_its_session() -> None:
    names = "$HOPLINE_RUN $HOPLINE_SESSION $HOPLINE_GENERATION ${HOPLINE_SERVER-none}"
    told = hopline("run", "--", "sh", "-c", f"echo {names}").stdout.split()
    run_id = shown()["instance"]["id"].encode()
    assert told[0] == run_id
    assert told[1]
    assert told[2:] == [b"1", b"none"]


def test_a_run_inside_a_run_names_itself() -> None:
    inner = f'{HOPLINE} run --name inner -- sh -c "echo \\$HOPLINE_RUN" </dev/null; echo $HOPLINE_RUN'
    own, outer = hopline("run", "--name", "outer", "--", "sh", "-c", inner).stdout.split()
    assert own.decode() == shown("inner")["instance"]["id"]
    assert outer.decode() == shown("outer")["instance"]["id"]


def test_folder_variables_and_name_are_as_asked(tmp_path) -> None:
    record = detached(
        "--cwd",
        str(tmp_path),
        "--env",
        "A=1",
        "--env",
        "B=x y",
        "--name",
        "mine",
        "--",
        "sh",
        "-c",
        'pwd; echo "$A $B"',
    )
    assert (record["name"], record["cwd"]) == ("mine", str(tmp_path))
    wait_until_over("mine")
    assert hopline("logs", "mine", "--raw").stdout == f"{tmp_path}\n1 x y\n".encode()


def test_the_record_of_a_detached_run_is_one_line_that_names_everything() -> None:
    started = hopline("run", "--detach", "--", "sleep", "60")
    assert started.stdout.count(b"\n") == 1
    record = json.loads(started.stdout)
    assert {"id", "run_id", "name", "status", "pid", "socket_path", "started_at", "command", "cwd", "journal"} <= set(
        record
    )
    (listed,) = json.loads(hopline("ls", "--json").stdout)["instances"]
    assert listed["id"] == record["id"]
    assert listed["status"] == "running"


def test_events_as_json_lines_are_those_of_the_journal() -> None:
    watched = hopline("run", "--json", "--", "echo", "x")
    lines = watched.stdout.splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert json.loads(lines[-1])["type"] == "run_finished"
    assert hopline("logs", "@last", "--json").stdout == watched.stdout


def test_a_reader_that_left_detaches_quietly_and_the_run_goes_on() -> None:
    command = (
        f"{HOPLINE} run --name piped -- sh -c 'yes | head -c 3000000; echo done >&2' </dev/null | head -c 1 >/dev/null"
    )
    told = subprocess.run(["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], capture_output=True, check=False)
    assert told.stdout == b"141\n"
    assert b"hopline" not in told.stderr
    assert wait_until_over("piped")["instance"]["status"] == "completed"
    assert len(hopline("logs", "piped", "--raw", "--stream", "stdout").stdout) == 3_000_000


def test_a_watcher_that_is_killed_leaves_the_run_alone() -> None:
    with subprocess.Popen(
        [HOPLINE, "run", "--name", "kept", "--", "sh", "-c", "echo up; sleep 0.5; echo over"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as watched:
        assert watched.stdout is not None
        assert watched.stdout.readline() == b"up\n"
        watched.kill()
    wait_for_output("kept", b"over\n")
    assert wait_until_over("kept")["instance"]["exit_code"] == 0


def test_a_lost_server_is_told_with_the_last_event_and_the_next_step() -> None:
    with subprocess.Popen(
        [HOPLINE, "run", "--name", "lost", "--", "sh", "-c", "echo up; sleep 60"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as watched:
        assert watched.stdout is not None
        assert watched.stderr is not None
        assert watched.stdout.readline() == b"up\n"
        os.kill(shown("lost")["instance"]["pid"], 9)
        told = watched.stderr.read().decode()
        assert watched.wait() == 1
    assert "server is gone; the last event here is" in told
    assert "hopline show" in told
    after = shown("lost")
    assert after["instance"]["status"] == "interrupted"
    assert after["last_sequence"] >= 6
    text = hopline("show", "lost").stdout.decode()
    assert f"recorded up to event {after['last_sequence']}" in text
