"""RUN as commands take it, found once."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hopline.records import RunRecord

run_argument = click.argument("run", metavar="RUN")
"""A run's id, a unique beginning of one, a run's name, or @last."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def found(run: str) -> "RunRecord":
    """The record of RUN. Raises RunGone when nothing matches, UsageError when a prefix is ambiguous."""
    from hopline.records import resolve

    return resolve(run)
