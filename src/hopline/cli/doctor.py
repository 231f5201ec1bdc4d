"""`hopline doctor`: what no live run owns any more, what is wrong with journals, and putting both in order."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from hopline.cli import diagnosis
from hopline.cli.diagnosis import JournalHealth, Orphan, Unreachable
from hopline.cli.listing import unreadable
from hopline.cli.places import found, json_option
from hopline.errors import HoplineError, Refused, Unavailable, UsageError
from hopline.records import RECORD_FILE, is_live, run_folder, run_ids
from hopline.rendering import plain, plural, size
from hopline.settings import load_settings


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What `doctor --json` prints."""

    version: int = 1
    orphans: list[Orphan]
    unreachable: list[Unreachable] = []
    """Live runs whose servers do not answer."""
    stale_sockets: list[str]
    half_made: list[str]
    """Folders of runs whose server ended before it had begun."""
    unreadable: list[str] = []
    """Records that are there and cannot be understood; their journals are looked at all the same."""
    journals: list[JournalHealth]
    repaired: list[str] = []
    """What --repair did, in words."""

    @property
    def sound(self) -> bool:
        """Whether nothing is left to do."""
        litter = self.orphans or self.unreachable or self.stale_sockets or self.half_made or self.unreadable
        return not litter and all(journal.sound for journal in self.journals)


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--repair", is_flag=True, help="Cut torn ends, bring indexes up to date, remove what is left behind.")
@click.option(
    "--end",
    "ends",
    metavar="PID@START",
    multiple=True,
    help="End this process, as the doctor named it: SIGTERM, then SIGKILL; repeatable. With RUN, all: every survivor.",
)
@json_option
def doctor(run: str | None, repair: bool, ends: tuple[str, ...], as_json: bool) -> int:
    """Look for processes that outlived their run, stale sockets and broken journals; of RUN or of all runs.

    Every byte of every journal is read. Nothing is changed without --repair or --end, and a live run never is.
    Exits with 1 when something is wrong and was not put right.
    """
    import logging

    logging.getLogger("hopline.journal").addHandler(logging.NullHandler())  # what it finds stands in the diagnosis
    if "all" in ends and run is None:
        raise UsageError("--end all goes with a RUN, whose survivors it ends; name one: hopline doctor RUN --end all")
    if ends:
        return end_processes(named_by(run, ends))
    only = run_id_of(run) if run is not None else None
    findings = diagnose(only, repair=repair)
    if as_json:
        sys.stdout.write(msgspec.json.encode(findings).decode() + "\n")
    else:
        sys.stdout.write(text(findings))
    return 0 if findings.sound else 1


def diagnose(only: str | None, *, repair: bool) -> Diagnosis:
    """Look at everything, or at one run, and put in order what may be when `repair` says so."""
    progress = Progress()
    orphans = diagnosis.orphans(only)
    sockets = diagnosis.stale_sockets(only)
    half_made = diagnosis.half_made() if only is None else []
    skip = {folder.name for folder in half_made}
    chosen = [only] if only is not None else sorted(set(run_ids()) - skip)
    journals = [diagnosis.look_at(run_id, progress) for run_id in chosen]
    repaired: list[str] = []
    if repair:
        for folders, what in ((sockets, "stale socket"), (half_made, "half-made run")):
            gone = [folder for folder in folders if diagnosis.remove(folder)]
            folders[:] = [folder for folder in folders if folder not in gone]
            repaired += [f"removed the {what} {folder}" for folder in gone]
        for place, before in enumerate(journals):
            after = journals[place] = diagnosis.mend(before, progress)
            if before.torn_bytes and not after.torn_bytes:
                repaired.append(f"cut {plural(before.torn_bytes, 'byte')} of an unfinished line from {before.run_id}")
            if before.index != after.index:
                repaired.append(f"made the index of {before.run_id} anew, it was {before.index}")
    progress.finish()
    return Diagnosis(
        orphans=orphans,
        unreachable=diagnosis.unreachable(only),
        stale_sockets=[_shown(folder) for folder in sockets],
        half_made=[_shown(folder) for folder in half_made],
        unreadable=[str(run_folder(one) / RECORD_FILE) for one in unreadable() if only in (None, one)],
        journals=journals,
        repaired=repaired,
    )


def _shown(folder: Path) -> str:
    """A path that JSON can hold."""
    return os.fsencode(folder).decode("utf-8", "backslashreplace")


def text(findings: Diagnosis) -> str:
    """The diagnosis for a person: a line a matter, what was found beneath it, each with its next step."""
    lines = [f"orphans      {plural(len(findings.orphans), 'process') if findings.orphans else 'none'}"]
    lines += [
        f"  {orphan.pid} {plain(orphan.name)} of run {plain(orphan.run_id)}, started {orphan.started_at}"
        f" · end it: hopline doctor --end {orphan.pid}@{orphan.start_time:.2f}"
        for orphan in findings.orphans
    ]
    if findings.unreachable:
        lines.append(f"servers      {len(findings.unreachable)} cannot be asked")
        lines += [f"  {plain(one.run_id)}: {one.reason}" for one in findings.unreachable]
    lines.append(f"sockets      {len(findings.stale_sockets) or 'none'} left behind")
    lines += [f"  {path} · remove it: hopline doctor --repair" for path in findings.stale_sockets]
    if findings.half_made:
        lines.append(f"half-made    {plural(len(findings.half_made), 'run')} that never began")
        lines += [f"  {path} · remove it: hopline doctor --repair" for path in findings.half_made]
    if findings.unreadable:
        lines.append(f"records      {len(findings.unreadable)} cannot be read")
        lines += [f"  {path} · keep its journal folder, or remove the whole run's" for path in findings.unreadable]
    broken = [journal for journal in findings.journals if not journal.sound]
    total = size(sum(journal.bytes for journal in findings.journals))
    lines.append(f"journals     {len(findings.journals)} read ({total}), {len(broken) or 'none'} with trouble")
    for journal in broken:
        lines += [f"  {journal.run_id}: {matter}" for matter in matters(journal)]
    lines += [f"repaired     {what}" for what in findings.repaired]
    return "\n".join(lines) + "\n"


def matters(journal: JournalHealth) -> list[str]:
    """What is wrong with one journal, a sentence each."""
    step = f"hopline doctor {journal.run_id} --repair"
    findings = []
    if journal.trouble is not None:
        findings.append(journal.trouble)
    if journal.torn_bytes:
        findings.append(f"ends inside a line ({plural(journal.torn_bytes, 'byte')}); cut it: {step}")
    if journal.index != "current":
        findings.append(f"its index is {journal.index}; make it anew: {step}")
    if journal.end_missing is not None:
        findings.append(journal.end_missing)
    return [*findings, *journal.damage]


def run_id_of(run: str) -> str:
    """The id that RUN means, also of a run whose record cannot be read. Raises as `records.resolve` does."""
    every = run_ids()
    return run if run in every and run in unreadable() else found(run).id


def named_by(run: str | None, ends: Sequence[str]) -> list[str]:
    """Every PID@START of `ends`, with `all` replaced by what is found of the run now, each once."""
    named = [end for end in ends if end != "all"]
    if "all" in ends and run is not None:
        from hopline.worker import survivors

        run_id = run_id_of(run)
        if is_live(run_id):
            raise Refused(f"run {run_id} lives; end it first: hopline stop {run_id}", code="run_live")
        named += [f"{one.pid}@{one.start_time:.2f}" for one in survivors.find(run_id).processes]
        if not named:
            sys.stdout.write(f"no process of run {run_id} is found\n")
    return list(dict.fromkeys(named))


def end_processes(named: Sequence[str]) -> int:
    """End each in turn; one that cannot be ended does not keep the others. Raises the first error at the end."""
    trouble: HoplineError | None = None
    for one in named:
        try:
            end_process(one)
        except (Refused, Unavailable) as error:
            trouble = trouble or error
    if trouble is not None:
        raise trouble
    return 0


def end_process(named: str) -> int:
    """End the process that `PID@START` names. Returns 0 when it is gone; raises UsageError, Refused, Unavailable."""
    from hopline.worker import survivors

    pid, at, start = named.partition("@")
    try:
        wanted = int(pid), float(start)
    except ValueError:
        raise UsageError(f"--end {named!r} is not PID@START; copy it from: hopline doctor") from None
    if not at or wanted[0] <= 1:
        raise UsageError(f"--end {named!r} is not PID@START; copy it from: hopline doctor")
    ending = survivors.end(*wanted, load_settings().stop_grace_seconds)
    match ending.state:
        case "other":
            raise Refused(
                f"process {pid} did not start at {start}: the pid is another's now; look again: hopline doctor"
            )
        case "denied":
            raise Unavailable(f"you may not signal process {pid}; ask its owner to end it.")
        case "remaining":
            raise Unavailable(
                f"process {pid} runs on after SIGKILL; the system holds it, look at: ps -o stat,wchan {pid}"
            )
        case "gone":
            sys.stdout.write(f"gone: process {pid} had ended already\n")
        case "ended":
            sys.stdout.write(f"ended: process {pid}, by signal {ending.signal}\n")
    return 0


class Progress:
    """How far the reading is, on a terminal's stderr; silent elsewhere."""

    def __init__(self) -> None:
        self._shown = os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb"
        self._dirty = False

    def __call__(self, run_id: str, done: int, total: int) -> None:
        """Show where the reading of `run_id` is."""
        if self._shown and total:
            sys.stderr.write(f"\r\x1b[Kreading {run_id}: {size(done)} of {size(total)}")
            sys.stderr.flush()
            self._dirty = True

    def finish(self) -> None:
        """Take the line away."""
        if self._dirty:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
