"""What a run server says of input, of its start and of its socket, where the easy answer would be wrong."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from run_servers import ENDS, RunningServer, eventually, start_report


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as end:
        return end.connect_ex(str(path)) == 0


def test_input_that_fits_the_worker_is_delivered_and_more_is_only_accepted() -> None:
    server = RunningServer("sleep", "60")
    with server.dial() as control:
        assert control.ask(type="command.input", text="a line\n")["ack"]["status"] == "delivered"
        assert control.ask(type="command.input", text="x" * 500_000)["ack"]["status"] == "accepted"
        control.ask(type="command.stop", grace_ms=0)
    assert server.leaves() == 0


def test_input_for_a_worker_that_closed_it_is_refused_at_the_first_try() -> None:
    server = RunningServer("sh", "-c", "exec <&-; echo closed; sleep 60")
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        watcher.events_until("subprocess_output")
        answer = control.ask(type="command.input", text="a line\n")
        assert (answer["ok"], answer["diagnostic"]["code"]) == (False, "input_closed")
        control.ask(type="command.stop", grace_ms=0)
    assert server.leaves() == 0


def test_a_socket_that_vanished_is_made_anew_and_clients_that_were_there_stay() -> None:
    server = RunningServer("sh", "-c", "read -r line; echo got $line")
    path = Path(server.record["socket_path"])
    with server.dial() as watcher:
        watcher.subscribe()
        shutil.rmtree(path.parent.parent)
        eventually(lambda: connects(path))
        with server.dial() as control:
            answer = control.ask(type="command.input", text="this\n")
            assert answer["ok"], answer["error"]
        events = watcher.events_until(*ENDS)
    assert [event["data"]["content"] for event in events if event["type"] == "subprocess_output"] == ["got this\n"]
    assert server.leaves() == 0
    assert not path.exists()


def test_no_worker_is_started_for_a_run_whose_record_cannot_be_written(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    script = (
        "import asyncio, errno, hopline.run.recorder as recorder\n"
        "from hopline.records import RunSpec\n"
        "from hopline.run.places import RunPlaces\n"
        "from hopline.run.server import RunServer\n"
        "def full(record):\n"
        "    raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "recorder.write_record = full\n"
        "places = RunPlaces('aa00')\n"
        f"spec = RunSpec(id='aa00', name='x', command=['touch', {str(mark)!r}], cwd='/')\n"
        "async def serve():\n"
        "    await RunServer(spec, places).run(lambda record: print('served'))\n"
        "try:\n"
        "    asyncio.run(serve())\n"
        "except OSError as error:\n"
        "    print(errno.errorcode[error.errno])\n"
        "    places.undo()\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20, check=True)
    assert told.stdout == "ENOSPC\n"
    assert not mark.exists()
    assert not (Path(os.environ["HOPLINE_HOME"]) / "runs" / "aa00").exists()


def test_a_bound_below_one_event_is_refused_before_anything_is_made() -> None:
    run_id = os.urandom(6).hex()
    spec = f'{{"id":"{run_id}","name":"x","command":["true"],"cwd":"/","max_journal":1000}}\n'.encode()
    report, process = start_report(stdin=spec)
    assert (report["outcome"], report["exit_code"], process.wait(15)) == ("failed", 2, 1)
    assert "too small" in report["message"]
    assert not (Path(os.environ["HOPLINE_HOME"]) / "runs" / run_id).exists()
