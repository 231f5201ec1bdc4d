"""`hopline schema`: the client wire as JSON Schema."""

import json
from pathlib import Path

import click

NAMES = ("request", "response", "server_message", "event")


@click.command()
@click.argument("name", required=False, type=click.Choice(NAMES))
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Write NAME.json files there instead.")
def schema(name: str | None, folder: Path | None) -> int:
    """Print the client wire as JSON Schema.

    NAME is request, response, server_message or event; without it one object holds all four.
    """
    from hopline.wire.client.schema import documents

    found = documents()
    chosen = {name: found[name]} if name else found
    if folder is None:
        click.echo(json.dumps(chosen[name] if name else chosen, indent=2, ensure_ascii=False))
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    for title, document in chosen.items():
        (folder / f"{title}.json").write_text(schema_text(document), encoding="utf-8")
    return 0


def schema_text(document: "dict[str, object]") -> str:
    """A document as its file holds it."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
