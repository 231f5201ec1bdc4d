"""`hopline doctor` and `hopline prune` on runs whose server, worker or journal came to harm."""

import json
import os
import time
from pathlib import Path

import psutil
import pytest
from cli_rig import detached, hopline, one_sentence, shown, wait_for_output, wait_until_over, wait_until_unserved

SURVIVOR = "import os,time; os.fork() or (os.setsid(), os.closerange(0, 3), time.sleep(600))"


def diagnosis(*arguments: str) -> dict[str, list[dict[str, object]]]:
    return json.loads(hopline("doctor", "--json", *arguments).stdout)


def killed(name: str = "lost") -> dict[str, object]:
    """A run whose server was killed while its worker ran; the worker is gone by the time it is returned."""
    record = detached("--name", name, "--", "sh", "-c", "echo up; exec sleep 60")
    wait_for_output(name, b"up\n")
    os.kill(record["pid"], 9)
    deadline = time.monotonic() + 15
    while diagnosis(name)["orphans"] and time.monotonic() < deadline:
        time.sleep(0.05)
    return record


def test_a_survivor_is_named_at_the_end_listed_and_ended_by_pid_and_start_time() -> None:
    begun = time.monotonic()
    finished = hopline("run", "--name", "forks", "--", "python3", "-c", SURVIVOR)
    assert finished.returncode == 0
    assert time.monotonic() - begun < 8
    told = finished.stderr.decode()
    assert "hopline: the worker ended, but 1 process remains" in told
    (orphan,) = diagnosis()["orphans"]
    assert f"  {orphan['pid']} python3, started {orphan['started_at']}" in told
    assert f"  {orphan['pid']} python3 of run" in hopline("doctor").stdout.decode()
    end = f"{orphan['pid']}@{orphan['start_time']:.2f}"
    assert f"--end {end}" in told
    assert hopline("show", "forks").stdout.decode().count(end) == 1

    wrong = f"{orphan['pid']}@{float(orphan['start_time']) - 1:.2f}"
    assert "another's now" in one_sentence(hopline("doctor", "--end", wrong), 1)
    assert psutil.pid_exists(int(orphan["pid"]))
    assert hopline("doctor", "--end", end).stdout.startswith(b"ended: process")
    assert diagnosis()["orphans"] == []


def test_in_a_pid_namespace_the_survivor_is_gone() -> None:
    finished = hopline("run", "--runner", "bwrap", "--", "python3", "-c", SURVIVOR)
    assert (finished.returncode, finished.stderr) == (0, b"")
    assert shown()["worker"]["retired"]["descendants"]["state"] == "gone"
    assert diagnosis()["orphans"] == []


def test_a_killed_server_leaves_a_run_that_can_be_read_and_nothing_that_runs() -> None:
    record = killed()
    told = shown("lost")
    assert told["instance"]["status"] == "interrupted"
    assert hopline("logs", "lost", "--raw").stdout == b"up\n"
    assert b"interrupted" in hopline("ls").stdout
    found = diagnosis()
    assert found["orphans"] == []
    assert [journal["run_id"] for journal in found["journals"]] == [record["id"]]


def test_a_stale_socket_is_found_and_removed() -> None:
    record = killed()
    folder = Path(str(record["socket_path"])).parent
    found = diagnosis()
    assert found["stale_sockets"] == [str(folder)]
    assert hopline("doctor").returncode == 1
    repaired = hopline("doctor", "--repair")
    assert (repaired.returncode, repaired.stderr) == (0, b"")
    assert f"repaired     removed the stale socket {folder}" in repaired.stdout.decode()
    assert not folder.exists()
    assert hopline("logs", "lost", "--raw").stdout == b"up\n"


def test_a_torn_end_is_found_cut_and_said() -> None:
    hopline("run", "--name", "torn", "--", "echo", "kept")
    segment = max(Path(shown("torn")["instance"]["journal"]).glob("segments/*.jsonl"))
    whole = segment.read_bytes()
    segment.write_bytes(whole + b'{"protocol_version":1,"sequ')
    (journal,) = diagnosis("torn")["journals"]
    assert journal["torn_bytes"] == 27
    assert b"ends inside a line (27 bytes); cut it: hopline doctor" in hopline("doctor", "torn").stdout
    assert hopline("doctor", "torn", "--repair").returncode == 0
    assert segment.read_bytes() == whole
    assert hopline("doctor", "torn").returncode == 0


def test_a_lost_index_is_made_anew() -> None:
    hopline("run", "--name", "kept", "--", "echo", "kept")
    index = Path(shown("kept")["instance"]["journal"]) / "index.db"
    for path in index.parent.glob("index.db*"):
        path.unlink()
    assert diagnosis("kept")["journals"][0]["index"] == "missing"
    assert hopline("doctor", "kept", "--repair").returncode == 0
    assert index.exists()
    assert hopline("logs", "kept", "--raw").stdout == b"kept\n"


def test_damage_is_named_with_its_range_and_stepped_over() -> None:
    hopline("run", "--name", "hurt", "--", "echo", "kept")
    segment = max(Path(shown("hurt")["instance"]["journal"]).glob("segments/*.jsonl"))
    wait_until_unserved("hurt")
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[1] = b"#" * (len(lines[1]) - 1) + b"\n"
    segment.write_bytes(b"".join(lines))
    told = hopline("doctor", "hurt")
    assert told.returncode == 1
    assert f"at bytes {len(lines[0])} to {len(lines[0]) + len(lines[1])} of {segment}" in told.stdout.decode()
    assert hopline("logs", "hurt", "--raw").stdout == b"kept\n"


def test_a_journal_that_is_gone_is_named_without_a_traceback(private_place: Path) -> None:
    hopline("run", "--name", "gone", "--", "true")
    journal = Path(shown("gone")["instance"]["journal"])
    wait_until_unserved("gone")
    (journal / "store.json").unlink()
    told = hopline("doctor", "gone")
    assert told.returncode == 1
    assert b"Traceback" not in told.stderr
    assert str(journal) in told.stdout.decode()
    look = hopline("show", "gone")
    assert look.returncode == 0
    assert b"trouble" in look.stdout
    assert hopline("logs", "gone").returncode == 1


def test_a_record_that_cannot_be_read_is_named() -> None:
    hopline("run", "--name", "odd", "--", "true")
    record = Path(shown("odd")["instance"]["journal"]).with_name("record.json")
    run_id = record.parent.name
    record.write_text("{")
    told = hopline("doctor")
    assert told.returncode == 1
    assert str(record) in told.stdout.decode()
    assert "hopline doctor" in one_sentence(hopline("show", run_id), 1)
    assert json.loads(hopline("ls", "--json").stdout)["unverified"] == [run_id]


def test_a_start_that_was_cut_short_is_found_and_removed(private_place: Path) -> None:
    folder = private_place / "home" / "runs" / "abcdef012345"
    folder.mkdir(parents=True)
    (folder / "lock").touch()
    assert diagnosis()["half_made"] == [str(folder)]
    assert hopline("doctor", "--repair").returncode == 0
    assert not folder.exists()


def test_the_doctor_leaves_a_live_run_alone() -> None:
    record = detached("--name", "live", "--", "sh", "-c", "echo up; exec sleep 60")
    wait_for_output("live", b"up\n")
    found = hopline("doctor", "--repair")
    assert found.returncode == 0, found.stdout
    assert shown("live")["live"]
    assert Path(record["socket_path"]).exists()


def test_pruning_removes_what_ended_and_never_what_lives() -> None:
    hopline("run", "--name", "old", "--", "true")
    live = detached("--name", "live", "--", "sleep", "60")
    assert hopline("prune", "--yes").stdout == b"removed 0 runs, 0 B\n"
    would = hopline("prune", "--keep", "0", "--dry-run").stdout
    assert b"would remove 1 run," in would
    told = json.loads(hopline("prune", "--older-than", "0s", "--yes", "--json").stdout)
    assert [gone["id"] for gone in told["removed"]] != [live["id"]]
    assert len(told["removed"]) == 1
    assert shown("live")["live"]
    one_sentence(hopline("show", "old"), 4)


def test_pruning_spares_a_run_whose_processes_live() -> None:
    hopline("run", "--name", "forks", "--", "python3", "-c", SURVIVOR)
    assert hopline("prune", "--keep", "0", "--yes").stdout == b"removed 0 runs, 0 B\n"
    (orphan,) = diagnosis()["orphans"]
    hopline("doctor", "--end", f"{orphan['pid']}@{orphan['start_time']:.2f}")
    assert b"removed 1 run," in hopline("prune", "--keep", "0", "--yes").stdout


@pytest.mark.parametrize("megabytes", [100])
def test_a_flood_with_nobody_attached_finishes_and_its_end_is_at_hand(megabytes: int) -> None:
    size = megabytes * 1_000_000
    detached("--name", "flood", "--", "sh", "-c", f"yes | head -c {size}")
    assert wait_until_over("flood")["instance"]["status"] == "completed"
    took = []
    for _ in range(3):
        begun = time.monotonic()
        tail = hopline("attach", "flood", "--plain", "--tail", "10")
        took.append(time.monotonic() - begun)
        assert tail.stdout == b"y\n" * 10
    assert min(took) < 0.3, took
    assert len(hopline("logs", "flood", "--raw").stdout) == size
