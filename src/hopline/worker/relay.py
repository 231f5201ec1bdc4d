"""The relay process: `hopline worker-relay [--no-sideband] [--patient] [--own-group] [--pty[=COLSxROWS]]
[--descriptors=N] [--] CMD ARG...`.

Protocol on fd 0 and 1, diagnostics on fd 2 (docs/wire/worker.md). The worker is started before anything heavy is
imported, so that it runs while the relay gets ready to listen.
"""

import os
import signal

from hopline.worker import relay_terminal
from hopline.worker.relay_launch import LaunchedWorker, LaunchFailed, launch

_OPTIONS = ("--no-sideband", "--patient", "--own-group")
_TERMINAL = "--pty"
_USUAL_SIZE = f"={relay_terminal.COLUMNS}x{relay_terminal.ROWS}"
_DESCRIPTORS = "--descriptors"
_USAGE = (
    "usage: hopline worker-relay [--no-sideband] [--patient] [--own-group] [--pty[=COLSxROWS]] [--descriptors=N] "
    "[--] CMD ARG..."
)


def main(argv: list[str]) -> int:
    """Start the worker and serve it to its end; the process then ends with the relay's exit status.

    Returns only when the arguments are wrong, with 2.

    Args:
        argv: what follows `worker-relay` on the command line.
    """
    _fill_standard_descriptors()
    options = set()
    terminal = None
    while argv and (argv[0] in _OPTIONS or argv[0].partition("=")[0] in (_TERMINAL, _DESCRIPTORS)):
        option = argv.pop(0)
        options.add(option)
        if option.startswith(_DESCRIPTORS):
            if not _limit_descriptors(option.removeprefix(_DESCRIPTORS + "=")):
                return _complain(f"{option} is no number of descriptors; {_USAGE}", 2)
        elif option not in _OPTIONS:
            terminal = relay_terminal.size_of(option.removeprefix(_TERMINAL) or _USUAL_SIZE)
            if terminal is None:
                return _complain(f"{option} is no size from 1x1 to 65535x65535; {_USAGE}", 2)
    if argv and argv[0] == "--":
        argv = argv[1:]
    elif argv and argv[0].startswith("-"):
        return _complain(f"unknown option {argv[0]}; {_USAGE}", 2)
    if not argv:
        return _complain(_USAGE, 2)
    # Like the seed's relay, a signal ends this one at once; Python would rather raise in the middle of a step.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sideband = "--no-sideband" not in options
    worker: LaunchedWorker | None = None
    failure = ""
    try:
        worker = launch(argv, sideband=sideband, own_group="--own-group" in options, terminal=terminal)
    except LaunchFailed as failed:
        failure = str(failed)
    try:
        return _serve(worker, failure, sideband=sideband, patient="--patient" in options)
    except BaseException:
        if worker is not None:  # a relay that breaks leaves no worker behind
            worker.end()
        raise


def _serve(worker: LaunchedWorker | None, failure: str, *, sideband: bool, patient: bool) -> int:
    import gc
    from time import monotonic

    from hopline.wire.worker.relay import RelayMachine
    from hopline.worker.relay_loop import RelayLoop

    # Freeing one large block teaches the allocator to keep such blocks instead of returning their pages each time.
    block = bytes(16 * 1024 * 1024)
    del block
    gc.freeze()
    terminal = worker is not None and worker.terminal
    machine = RelayMachine(sideband=sideband, patient=patient, terminal=terminal)
    if worker is None:
        machine.launch_failed(failure, monotonic())
    else:
        machine.started(worker.pid)
    finish = RelayLoop(machine, worker).run()
    if finish.message:
        _complain(finish.message, finish.status)
    os._exit(finish.status)  # nothing is left to clean up, and a generation's end waits for this process


def _fill_standard_descriptors() -> None:
    """Open what a careless parent closed, so that no pipe of ours takes its number."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _limit_descriptors(number: str) -> bool:
    """Ours and so the worker's soft limit; False when it is no number from 16 up."""
    from hopline.worker import descriptors

    if not (number.isascii() and number.isdigit() and len(number) < 10 and int(number) >= 16):
        return False
    descriptors.limit(int(number))
    return True


def _complain(message: str, status: int) -> int:
    os.write(2, f"hopline worker-relay: {message}\n".encode())
    return status
