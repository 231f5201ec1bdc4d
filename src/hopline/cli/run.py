"""`hopline run`: start a run and show it live, or leave it to itself."""

import sys

import click

from hopline.ids import new_run_id

RUNNERS = ("direct", "bwrap", "auto")


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--name", metavar="NAME", help="Name to find the run by. Default: the program's.")
@click.option("--cwd", metavar="DIR", help="Folder to run in. Default: the current one.")
@click.option("--env", metavar="NAME=VALUE", multiple=True, help="Variable for the worker besides ours; repeatable.")
@click.option("--detach", is_flag=True, help="Do not watch: print the run's record as one JSON line.")
@click.option("--runner", type=click.Choice(RUNNERS), help="What encloses the worker and its descendants.")
@click.option("--durability", type=click.Choice(("normal", "full")), help="What recorded events survive.")
@click.option("--max-journal", metavar="SIZE", help="Bound on the run's journal, such as 2GiB.")
@click.option("--when-journal-full", type=click.Choice(("pause", "drop-oldest")), help="What happens at that bound.")
@click.option("--reserve", metavar="SIZE", help="Room to leave free on the journal's volume.")
@click.option("--json", "as_json", is_flag=True, help="Print the run's events as JSON lines instead of its output.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def run(
    name: str | None,
    cwd: str | None,
    env: tuple[str, ...],
    detach: bool,
    runner: str | None,
    durability: str | None,
    max_journal: str | None,
    when_journal_full: str | None,
    reserve: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Start CMD under hopline and show it live.

    Every byte it writes is kept, whoever watches. Ctrl-C interrupts it, a second Ctrl-C within two seconds stops the
    run, Ctrl-\\ leaves it running and says how to come back. Exits with the status of CMD, or 128 + the signal that
    ended it.
    """
    from hopline.client.start import start_run

    run_id = new_run_id()
    # The server imports while we check what it is to run; refused, it is ended before it was told anything.
    server = start_run(run_id)
    try:
        from hopline.cli import preflight
        from hopline.records import RunSpec
        from hopline.settings import load_settings, parse_size

        settings = load_settings()
        worker_env = preflight.parse_env(env)
        preflight.check_text([*command, *worker_env, *worker_env.values(), name or "", cwd or ""])
        folder = preflight.checked_cwd(cwd)
        preflight.check_program(command[0], folder, preflight.worker_path(worker_env))
        spec = RunSpec(
            id=run_id,
            name=preflight.checked_name(name, command[0]),
            command=list(command),
            cwd=folder,
            env=worker_env,
            runner=runner or settings.runner,
            durability=durability or settings.durability,
            journal_reserve=settings.journal_reserve if reserve is None else parse_size(reserve),
            max_journal=settings.max_journal if max_journal is None else parse_size(max_journal),
            when_journal_full=when_journal_full or settings.when_journal_full,
            stop_grace_seconds=settings.stop_grace_seconds,
            attached=not detach,
        )
        if not detach:
            from hopline.cli import live
            from hopline.cli.keys import KeySource
    except BaseException:
        server.abandon()
        raise
    if not detach:
        with KeySource() as keys:  # from here on Ctrl-C is for the worker, also while it is being started
            return live.watch(server.begin(spec), live.Watch(as_json=as_json, starter=True), keys)
    record = server.begin(spec)
    from hopline.cli.listing import record_line

    sys.stdout.write(record_line(record))
    return 0
