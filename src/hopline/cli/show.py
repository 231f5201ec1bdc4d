"""`hopline show`: everything that is known of one run, and what that rests on."""

import sys
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from hopline.cli.listing import as_shown, status
from hopline.cli.places import found, json_option, run_argument
from hopline.cli.statuses import DONE, FAILED
from hopline.client import dial, facts
from hopline.client.history import bearings
from hopline.errors import HoplineError
from hopline.records import ENDED, RunRecord, is_live
from hopline.rendering import age, command, plain, seconds_since, size
from hopline.wire.client.payloads import Descendant, Descendants, WorkerRetired


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What `show --json` prints."""

    version: int = 1
    instance: RunRecord
    live: bool
    last_sequence: int | None
    """Up to which event the run is recorded; null when its journal could not be served."""
    store_id: str | None
    journal_bytes: int
    worker: facts.Worker | None
    """The newest generation, with what became of it and its descendants."""
    ended: str | None
    """The event that ended the run."""
    reason: str | None
    trouble: str | None
    """Why the journal could not be served, or that it does not hold the run's end."""
    end_missing: bool = False
    """The record says that the run ended and the journal does not: events are lost."""


@click.command()
@run_argument
@json_option
def show(run: str, as_json: bool) -> int:
    """Tell what RUN is, how it stands, and what is proven about its worker and its descendants.

    For a run whose server was killed: up to which event it is recorded. Exits with 1 when the journal of a run that
    ended does not hold its end.
    """
    findings = find(found(run))
    sys.stdout.write(msgspec.json.encode(findings).decode() + "\n" if as_json else text(findings))
    return FAILED if findings.end_missing else DONE


def find(record: RunRecord) -> Findings:
    """Ask the run, reopened when it has ended, and look at its folder."""
    live = is_live(record.id)
    known, sequence, store_id, trouble = facts.RunFacts(), None, None, None
    try:
        here = bearings(dial(record))
        known, sequence, store_id = facts.fold_all(known, here.events), here.sequence, here.store_id
    except HoplineError as error:
        trouble = str(error)
    missing = not live and record.status in ENDED and sequence is not None and known.ended is None
    if missing and sequence is not None:
        trouble = facts.end_missing(record.status, sequence)
    return Findings(
        instance=as_shown(record, live=live),
        live=live,
        last_sequence=sequence,
        store_id=store_id,
        journal_bytes=folder_bytes(Path(record.journal)),
        worker=known.worker if live or known.ended else _left_behind(record.id, known.worker),
        ended=known.ended,
        reason=known.reason,
        trouble=trouble,
        end_missing=missing,
    )


def _left_behind(run_id: str, worker: facts.Worker | None) -> facts.Worker | None:
    """The worker of a run whose server is gone, with what is found of its processes now."""
    if worker is None or worker.retired is not None:
        return worker
    from hopline.worker import survivors

    found = survivors.find(run_id)
    how = f"{found.how}, looked at now" if found.processes else f"none found by {found.how}, looked at now"
    processes = [msgspec.convert(one, Descendant, from_attributes=True) for one in found.processes]
    descendants = Descendants(state=found.state, processes=processes)
    retired = WorkerRetired(generation=worker.generation, runner=worker.runner or "", how=how, descendants=descendants)
    return replace(worker, retired=retired)


def text(findings: Findings) -> str:
    """The findings for a person, a line a fact."""
    record, worker = findings.instance, findings.worker
    since = seconds_since(record.started_at)
    events = "?" if findings.last_sequence is None else str(findings.last_sequence)
    rows = [
        ("run", f"{record.id} ({plain(record.name)})"),
        ("status", _status(findings)),
        ("command", command(record.command)),
        ("cwd", plain(record.cwd)),
        ("server", f"pid {record.pid} on {plain(record.hostname)}" if findings.live else "none"),
        ("started", f"{record.started_at} ({age(since)} ago)"),
    ]
    if record.ended_at is not None:
        rows.append(("ended", f"{record.ended_at} (after {age(since - seconds_since(record.ended_at))})"))
    rows.append(("worker", _worker(findings) + _about(worker)))
    if worker is not None:
        rows.append(("descendants", facts.descendants_sentence(worker)))
    rows.append(("journal", f"{events} events, {size(findings.journal_bytes)} in {record.journal}"))
    if findings.trouble is not None:
        rows.append(("trouble", f"{findings.trouble} Look at it: hopline doctor {record.id}"))
    rows.append(("next", f"hopline {'attach' if findings.live else 'logs'} {record.id}"))
    lines = [f"{name:<12} {value}" for name, value in rows]
    if worker is not None and worker.retired is not None:
        lines += facts.survivor_lines(record.id, worker.retired.descendants)
    return "\n".join(lines) + "\n"


def folder_bytes(folder: Path) -> int:
    """The bytes of the files beneath `folder`."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total


def _status(findings: Findings) -> str:
    shown = status(findings.instance)
    if findings.instance.status == "interrupted":
        upto = "" if findings.last_sequence is None else f"; it is recorded up to event {findings.last_sequence}"
        return f"{shown}: its server is gone and had not ended it{upto}"
    return f"{shown}: {findings.reason}" if findings.reason else shown


def _worker(findings: Findings) -> str:
    if findings.worker is None and findings.live:
        return "not started yet" if findings.trouble is None else "unknown: the server could not be asked"
    return facts.newest_worker_sentence(findings.worker, findings.ended)


def _about(worker: facts.Worker | None) -> str:
    if worker is None:
        return ""
    about = [f"generation {worker.generation}"]
    if worker.pid is not None:
        about.append(f"pid {worker.pid}")
    if worker.runner is not None:
        about.append(f"runner {worker.runner}")
    return f" ({', '.join(about)})"
