"""`hopline bridge` and `hopline host`: a run's socket over stdin and stdout, one process a connection.

So they start fast: the plain forms go past the command line's parser and import little, and what an ended run needs
is imported when one is met.
"""

import socket
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hopline.errors import ConnectDenied, HoplineError, RunGone, UsageError
from hopline.serve.bridge import BridgeLimits
from hopline.serve.bridge_loop import copy
from hopline.serve.bridge_outcomes import ChannelEnd, Outcome, end_line
from hopline.serve.dialing import dial, dial_own
from hopline.serve.stdio import Output, closed_descriptors, ending_orderly, say

if TYPE_CHECKING:
    from hopline.records import RunRecord

DEFAULT_LIMITS = BridgeLimits()
USAGE_STATUS = 2
RETRY_SECONDS = 0.025
"""Pause between attempts while a run's server lives and does not listen: it is starting, or leaving."""


def bridge(arguments: list[str]) -> int:
    """`hopline bridge`. Returns the exit status; what is not a plain use of it is left to the parser."""
    match arguments:
        case ["--socket", path] if path:
            return bridge_socket(path)
        case [run] if run and not run.startswith("-"):
            return bridge_run(run)
    from hopline.cli.main import main

    return main(["bridge", *arguments])


def host(arguments: list[str], limits: BridgeLimits = DEFAULT_LIMITS) -> int:
    """`hopline host`. Returns the exit status."""
    if arguments:
        sys.stderr.write("hopline: host takes no arguments; it is asked on stdin (docs/wire/bridge.md).\n")
        return USAGE_STATUS

    def serve(out: Output) -> ChannelEnd:
        from hopline.serve.host import Host

        return Host(0, out, lambda run_id: dial_instance(run_id, limits), limits).serve()

    return over_stdio(serve)


def bridge_run(run: str, limits: BridgeLimits = DEFAULT_LIMITS) -> int:
    """Bridge to the run that RUN means. Returns the exit status."""
    return over_stdio(lambda out: _bridge(dial_run(run, limits), out, limits))


def bridge_socket(path: str, limits: BridgeLimits = DEFAULT_LIMITS) -> int:
    """Bridge to whoever listens at `path`; nothing is started. Returns the exit status."""
    return over_stdio(lambda out: _bridge(dial(path, limits), out, limits))


def dial_run(run: str, limits: BridgeLimits) -> socket.socket | ChannelEnd:
    """A connection to the run that RUN means, reopened read-only when it has ended. Raises UsageError."""
    from hopline.records import resolve

    return _dialled(lambda: resolve(run), limits)


def dial_instance(run_id: str, limits: BridgeLimits) -> socket.socket | ChannelEnd:
    """As `dial_run`, for a whole run id."""
    from hopline.records import read_record

    return _dialled(lambda: read_record(run_id), limits)


def _dialled(find: Callable[[], "RunRecord"], limits: BridgeLimits) -> socket.socket | ChannelEnd:
    from hopline.records import is_live

    try:
        record = find()
        path, deadline = record.socket_path, time.monotonic() + limits.connect_timeout_seconds
        while True:
            server = dial_own(path, limits)
            if not isinstance(server, ChannelEnd) or server.outcome is not Outcome.RUN_GONE:
                return server
            if time.monotonic() > deadline:
                return server
            if is_live(record.id):
                time.sleep(RETRY_SECONDS)
                continue
            from hopline.client.start import reopen

            path = reopen(record.id).begin().socket_path
    except UsageError:
        raise
    except RunGone as error:
        return ChannelEnd(Outcome.RUN_GONE, str(error))
    except (ConnectDenied, PermissionError) as error:
        return ChannelEnd(Outcome.CONNECT_DENIED, str(error))
    except (HoplineError, OSError) as error:
        return ChannelEnd(Outcome.CONNECT_FAILED, str(error))


def _bridge(dialled: socket.socket | ChannelEnd, out: Output, limits: BridgeLimits) -> ChannelEnd:
    return dialled if isinstance(dialled, ChannelEnd) else copy(dialled, 0, out, limits)


def over_stdio(body: Callable[[Output], ChannelEnd]) -> int:
    """`body` over fd 0 and 1, and what it came to: the line on stderr and the exit status."""
    if 1 in closed_descriptors():
        return 0

    def ended() -> int:
        out = Output(1)
        try:
            end = body(out)
        except UsageError as error:
            say(end_line("usage_error", USAGE_STATUS, str(error)))
            return USAGE_STATUS
        finally:
            out.close()
        say(end.line())
        return end.exit_status

    return ending_orderly(ended)
