"""`hopline bridge` for the parser: its help, its usage errors, and the forms that are not taken at once."""

import click

from hopline.cli.bridge import bridge_run, bridge_socket


@click.command(
    epilog=(
        "Exit status: 0 the client closed, 3 the server closed, 4 no such run, 5 denied, 6 cannot connect, "
        "7 the server took nothing for 40 s, 8 stdout took nothing for 40 s, 9 socket error, 10 stdin or stdout "
        "error, 11 the server sent nothing for 7 days. Each but 0 is told as one JSON line on stderr: outcome, "
        "exit_status, detail."
    )
)
@click.argument("run", required=False)
@click.option("--socket", "path", metavar="PATH", help="Connect to this socket instead of a run; nothing is started.")
def bridge(run: str | None, path: str | None) -> int:
    """Copy bytes between stdin and stdout and a run's socket, unread.

    This is what `ssh HOST hopline bridge RUN` gives a remote frontend: the run's own wire. A run that has ended is
    reopened read-only.
    """
    if bool(run) == bool(path):
        raise click.UsageError("name a run, or a socket with --socket, and not both.")
    return bridge_socket(path) if path else bridge_run(run or "")
