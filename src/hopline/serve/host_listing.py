"""What the host program lists: the runs of this user, and the log streams of one."""

import msgspec

from hopline.errors import HoplineError, Refused, RunGone
from hopline.records import ENDED, RunRecord, is_live, read_record, run_ids, shown_status
from hopline.roster import journal_bytes
from hopline.serve.host_messages import Instances, InstancesList, Logs, LogsList, LogStream, RunOwner

OUTPUT_LOG = "output"
"""The one stream that a run has today: what its workers wrote, as journaled."""


def list_instances(request: InstancesList) -> Instances:
    """Every run that counts, oldest first. Liveness is asked of the lock, never of a pid."""
    found: list[RunRecord] = []
    unverified: list[str] = []
    for run_id in sorted(run_ids()):
        try:
            if request.all or is_live(run_id):
                record = read_record(run_id)
                status = shown_status(record)
                url = None if status == "interrupted" else record.url
                found.append(msgspec.structs.replace(record, status=status, url=url))
        except RunGone:
            continue  # its server has not written a record yet
        except (OSError, HoplineError):
            unverified.append(run_id)
    return Instances(instances=sorted(found, key=lambda record: (record.started_at, record.id)), unverified=unverified)


def list_logs(request: LogsList) -> Logs:
    """One page of the run's streams. Raises Refused when there is no such run, or the cursor is none of ours."""
    record = _record(request.run_id)
    if request.cursor is not None:
        raise Refused(f"the cursor {request.cursor[:80]!r} was not given by logs.list; leave it out.")
    streams = [_output_of(record)]
    if request.span_id is not None:
        streams = [stream for stream in streams if stream.owner.span_id == request.span_id]
    return Logs(run_id=record.run_id, streams=streams)


def _record(run_id: str) -> RunRecord:
    for known in run_ids():
        try:
            record = read_record(known)
        except HoplineError:
            continue
        if run_id in (record.id, record.run_id):
            return record
    raise Refused(f"there is no run {run_id[:80]!r}; ask instances.list.", code="not_found")


def _output_of(record: RunRecord) -> LogStream:
    return LogStream(
        log_id=OUTPUT_LOG,
        owner=RunOwner(),
        title=record.name,
        size_bytes=journal_bytes(record),
        complete=record.status in ENDED or not is_live(record.id),
        started_at=record.started_at,
        ended_at=record.ended_at,
    )
