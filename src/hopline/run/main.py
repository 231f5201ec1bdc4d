"""The run server's process: starts, says in one line whether it serves, and then belongs to no terminal.

    hopline run-server                 a RunSpec as one JSON line on fd 0
    hopline run-server --reopen ID     serve a finished run again, read-only

The first line on fd 1 is a StartReport. The starter makes the session (setsid); what is imported here is imported
while the starter still prepares the request.
"""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import time
from collections.abc import Callable

import msgspec

from hopline.errors import HoplineError, Misuse, Refused, RunGone, Unavailable, UsageError
from hopline.records import LOG_FILE, RunRecord, RunSpec, Started, StartFailed, is_live, read_record, shown_status
from hopline.run.places import RunPlaces, explained
from hopline.run.server import RunServer
from hopline.run.viewing import ViewServer
from hopline.settings import check_journal_bound, socket_path
from hopline.worker.descriptors import allow_many
from hopline.worker.survivors import become_subreaper

MAX_SPEC_BYTES = 16 << 20
VIEW_SECONDS = 3.0
"""How long another server of the run, which holds a lock, may take to come up or to leave."""
VIEW_POLL_SECONDS = 0.02

_MALLOC = ((-3, 32 << 20), (-1, 32 << 20), (-2, 4 << 20))
"""M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_TOP_PAD: frames of 1 MiB are made from memory that is kept, not mapped and
unmapped each time; worth a factor of four on replay."""

log = logging.getLogger(__name__)


def main(argv: list[str]) -> int:
    """Serve one run. Returns 1 when it could not be served; the report or server.log has said more by then.

    The process ends here with 0 when the run was served to its end.
    """
    signal.signal(signal.SIGHUP, lambda *_: None)  # not SIG_IGN, which the worker would inherit
    places: RunPlaces | None = None
    try:
        allow_many()
        match argv:
            case []:
                spec = _read_spec()
                places = RunPlaces(spec.id)
                become_subreaper()
                _keep_memory()
                asyncio.run(_serve_run(spec, places))
            case ["--reopen", run_id]:
                places = RunPlaces(run_id)
                _keep_memory()
                _reopen(run_id, places)
            case _:
                raise UsageError("usage: hopline run-server [--reopen RUN-ID]")
    except (HoplineError, OSError, RuntimeError, MemoryError) as error:
        if _detached:
            log.exception("the server failed")
            return 1
        _report(_failure(error))
        if places is not None:
            places.undo()
        return 1
    logging.shutdown()
    os._exit(0)  # nothing is left to clean up, and the lock says "live" until this process is gone


async def _serve_run(spec: RunSpec, places: RunPlaces) -> None:
    server = RunServer(spec, places)
    await server.run(_started(places))


def _reopen(run_id: str, places: RunPlaces) -> None:
    record = read_record(run_id)
    deadline = time.monotonic() + VIEW_SECONDS
    while True:
        if _listens(run_id):
            _report(Started(msgspec.structs.replace(record, status=shown_status(record))))
            return
        # Neither listening nor gone: the server that holds a lock is coming up or leaving.
        if not is_live(run_id) and places.claim_view():
            break
        if time.monotonic() >= deadline:
            raise Unavailable(f"the server of run {run_id} neither serves it nor leaves; look at it: hopline doctor")
        time.sleep(VIEW_POLL_SECONDS)
    asyncio.run(_serve_view(run_id, places))


async def _serve_view(run_id: str, places: RunPlaces) -> None:
    await ViewServer(run_id, places).run(_started(places))


def _keep_memory() -> None:
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for option, value in _MALLOC:
            library.mallopt(option, value)


def _listens(run_id: str) -> bool:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        return end.connect_ex(str(socket_path(run_id))) == 0


def _read_spec() -> RunSpec:
    received = b""
    while b"\n" not in received and len(received) <= MAX_SPEC_BYTES:
        data = os.read(0, 1 << 20)
        if not data:
            break
        received += data
    try:
        spec = msgspec.json.decode(received.partition(b"\n")[0], type=RunSpec)
    except msgspec.MsgspecError as error:
        raise UsageError(f"the request to start a run is not one: {error}") from error
    if not spec.command or not spec.id.isalnum():
        raise UsageError("the request to start a run names no command, or an id that is not letters and digits.")
    check_journal_bound(spec.max_journal)
    return spec


_detached = False


def _started(places: RunPlaces) -> Callable[[RunRecord], None]:
    def started(record: RunRecord) -> None:
        global _detached
        log_file = os.open(places.folder / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        _report(Started(record))
        _detached = True
        for source, target in ((nowhere, 0), (nowhere, 1), (log_file, 2)):
            os.dup2(source, target)
        os.close(nowhere)
        os.close(log_file)
        logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")

    return started


def _report(report: Started | StartFailed) -> None:
    rest = memoryview(msgspec.json.encode(report) + b"\n")
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        pass  # the starter has left; the run goes on without it


def _failure(error: Exception) -> StartFailed:
    match error:
        case OSError():
            told: HoplineError = explained(error)
        case HoplineError():
            told = error
        case MemoryError():
            told = Unavailable("cannot start the run's server: the system has no memory left; end something.")
        case _:
            told = Unavailable(
                f"cannot start the run's server: {error}; end something or raise the limits (ulimit -u)."
            )
    code = {
        UsageError: "invalid_value",
        RunGone: "not_found",
        Misuse: "operation_failed",
    }.get(type(told), told.code if isinstance(told, Refused) else "operation_failed")
    return StartFailed(code=code, message=str(told), exit_code=told.exit_status)
