"""The hub's process.

hopline hub-server [--listen ADDR:PORT] [--json]   in the foreground, its log on stderr
hopline hub-server --detached                      started by a command: reports in one line on fd 1, logs to hub.log
"""

import asyncio
import errno
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hopline.errors import HoplineError, Unavailable, UsageError
from hopline.fleet.hub.log import log_to_stderr
from hopline.fleet.hub.place import HubPlace
from hopline.records import StartFailed
from hopline.settings import RelaySettings, fleet_folder, load_settings
from hopline.wire.hub.peers import HubRecord, HubServing
from hopline.wire.peer.limits import DEFAULT_PORT

if TYPE_CHECKING:
    from hopline.fleet.hub.serving import Listen

STARTING_SECONDS = 5.0
"""How long a hub that holds the lock may take to serve, or to leave."""
POLL_SECONDS = 0.02


def main(argv: list[str]) -> int:
    """Be the hub. Returns the exit status; the report or stderr has said what went wrong by then."""
    os.umask(0o077)
    if argv == ["--detached"]:
        return _detached()
    try:
        return _foreground(*_options(argv))
    except HoplineError as error:
        sys.stderr.write(f"hopline: {error}\n")
        return error.exit_status
    except OSError as error:
        sys.stderr.write(f"hopline: the hub cannot run: {_told(error)}\n")
        return 1


def _options(argv: list[str]) -> tuple[str | None, bool]:
    listen: str | None = None
    as_json = False
    rest = list(argv)
    while rest:
        match rest.pop(0):
            case "--json":
                as_json = True
            case "--listen" if rest:
                listen = rest.pop(0)
            case other:
                raise UsageError(f"{other!r} is no option of the hub; see: hopline hub serve --help")
    return listen, as_json


def _foreground(listen: str | None, as_json: bool) -> int:
    place = HubPlace()
    lock = place.hold_lock()
    if lock is None:
        record = place.read()
        told = "" if record is None else f" (pid {record.pid}, {record.listen})"
        raise Unavailable(f"a hub of this home runs already{told}; end it with: hopline hub stop")
    log_to_stderr(colour=sys.stderr.isatty() and not os.environ.get("NO_COLOR"), brief=True)

    def started(record: HubRecord) -> None:
        if record.chosen_port:
            _log.warning("port %s is taken; another one was chosen", DEFAULT_PORT)
        _log.info("%s listens at %s", record.identity, record.listen)
        if as_json:
            sys.stdout.write(msgspec.json.encode(record).decode() + "\n")
            sys.stdout.flush()

    try:
        _run(place, listen, started)
    finally:
        os.close(lock)
    return 0


def _detached() -> int:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _leave_folder()
    serving = False

    def started(record: HubRecord) -> None:
        nonlocal serving
        log_file = place.open_log()
        serving = True
        _report(HubServing(record))
        nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for source, target in ((nowhere, 0), (nowhere, 1), (log_file, 2)):
            os.dup2(source, target)
        os.close(nowhere)
        os.close(log_file)
        log_to_stderr(colour=False, brief=False)
        _log.info("%s listens at %s", record.identity, record.listen)

    try:
        place = HubPlace()
        deadline = time.monotonic() + STARTING_SECONDS
        while (lock := place.hold_lock(patience=0)) is None:
            record = place.read()
            if record is not None and place.answers(record):
                _report(HubServing(record))
                return 0
            if time.monotonic() > deadline:
                raise Unavailable("another hub holds this home and does not serve; see: hopline hub status")
            time.sleep(POLL_SECONDS)
        _run(place, None, started)
        os.close(lock)
    except (HoplineError, OSError) as error:
        if serving:
            _log.exception("the hub failed")
        elif isinstance(error, HoplineError):
            _report(StartFailed(code="operation_failed", message=str(error), exit_code=error.exit_status))
        else:
            _report(StartFailed(code="operation_failed", message=f"cannot start the hub: {_told(error)}"))
        return 1
    return 0


def _told(error: OSError) -> str:
    where = error.filename or fleet_folder()
    room = error.errno in (errno.ENOSPC, errno.EDQUOT)
    step = "make room there" if room else "the hub needs a home that it can write to (HOPLINE_HOME)"
    return f"{where}: {error.strerror or error}; {step}."


def _leave_folder() -> None:
    """Keep no file system busy that the starter stood on; places that were named from there stay what they are."""
    for name in ("HOPLINE_HOME", "HOPLINE_CONFIG"):
        if named := os.environ.get(name):
            os.environ[name] = str(Path(named).absolute())
    os.chdir("/")


def _run(place: HubPlace, listen: str | None, started: Callable[[HubRecord], None]) -> None:
    from hopline.fleet.hub.serving import serve
    from hopline.worker.descriptors import allow_many

    relay = load_settings().relay
    allow_many()
    gc.freeze()
    asyncio.run(serve(place, relay, _where(relay, listen), started))


def _where(relay: RelaySettings, listen: str | None) -> "Listen":
    from hopline.fleet.hub.serving import Listen

    if listen is None:
        return Listen(relay.listen_addr, relay.listen_port, explicit=False)
    from ipaddress import ip_address

    host, colon, port = listen.rpartition(":")
    if listen.endswith("]") or not colon or (listen.count(":") > 1 and not host.endswith("]")):
        host, port = listen, str(relay.listen_port)
    try:
        literal = ip_address(host.removeprefix("[").removesuffix("]"))
        number = int(port)
    except ValueError:
        number, literal = -1, None
    if literal is None or not 0 <= number < 65536:
        raise UsageError(f"--listen {listen!r} is no ADDR:PORT; write for example 0.0.0.0:{DEFAULT_PORT}.")
    return Listen(str(literal), number, explicit=True)


def _report(report: HubServing | StartFailed) -> None:
    try:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)  # the starter has left; the hub serves the next one


_log = logging.getLogger("hopline.hub")
