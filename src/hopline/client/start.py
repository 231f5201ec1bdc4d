"""Starts run servers: the process comes first, what it is to do follows, so that both ends import at the same time."""

import msgspec

from hopline.client.spawning import DaemonStart, daemon_environment
from hopline.records import RunRecord, RunSpec, StartReport

_report: "msgspec.json.Decoder[StartReport]" = msgspec.json.Decoder(StartReport)


class ServerStart:
    """A run server that has been started and has not reported yet.

    The process is detached from the terminal at once; until it reports it is ours to end.

    Args:
        run_id: the run it will serve; stands in its environment, so that nobody takes it for a run's descendant.
        arguments: after `hopline run-server`.
    """

    def __init__(self, run_id: str, *arguments: str) -> None:
        self._daemon = DaemonStart("the run's server", ("run-server", *arguments), _environment(run_id))

    def begin(self, spec: RunSpec | None = None) -> RunRecord:
        """Hand over what to run and wait for the report. Returns the record of the run that now listens.

        Raises the error that the server reports, or Unavailable when it says nothing in time; then it is ended.
        """
        request = b"" if spec is None else msgspec.json.encode(spec) + b"\n"
        return self._daemon.report(request, _report.decode).record

    def abandon(self) -> None:
        """End the server before anything is asked of it."""
        self._daemon.abandon()


def start_run(run_id: str) -> ServerStart:
    """A server for a new run; `begin(spec)` tells it what to do."""
    return ServerStart(run_id)


def reopen(run_id: str) -> ServerStart:
    """A short-lived server that only replays the run; `begin()` waits for it. One that serves it already is found."""
    return ServerStart(run_id, "--reopen", run_id)


def _environment(run_id: str) -> dict[str, str]:
    return {**daemon_environment(), "HOPLINE_SERVER": run_id}
