"""`hopline logs`: replay what a worker wrote, exactly."""

import click

from hopline.cli.places import peer, run_argument, ssh_option


@click.command()
@run_argument
@ssh_option
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends.")
@click.option("--raw", is_flag=True, help="Exactly the worker's bytes, and nothing else, on standard output.")
@click.option("--json", "as_json", is_flag=True, help="The recorded events as JSON lines.")
@click.option("--after", metavar="SEQ", type=click.IntRange(min=0), help="Begin after this event.")
@click.option(
    "--tail", metavar="N", type=click.IntRange(min=0), help="Begin with the last N lines; events with --json."
)
@click.option("--stream", type=click.Choice(("stdout", "stderr")), help="Only this stream of the worker's.")
def logs(
    run: str,
    host: str | None,
    follow: bool,
    raw: bool,
    as_json: bool,
    after: int | None,
    tail: int | None,
    stream: str | None,
) -> int:
    """Replay what the worker of RUN wrote: its stdout on stdout, its stderr on stderr.

    With --raw both go to stdout in the order they were recorded, byte for byte.
    """
    if raw and as_json:
        raise click.UsageError("--raw and --json exclude one another")
    if after is not None and tail is not None:
        raise click.UsageError("--after and --tail exclude one another")
    if as_json and stream is not None:
        raise click.UsageError("--stream does not go with --json; filter the events, for example with jq")
    there = peer(run, host)
    connection = there.dial()
    from hopline.cli import replay

    return replay.replay(
        there,
        connection,
        replay.Replay(follow=follow, raw=raw, as_json=as_json, after=after or 0, tail=tail, stream=stream),
    )
