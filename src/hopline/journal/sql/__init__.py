"""The index's SQL, kept as SQL: one file of named queries, the schema, and one file a migration."""

import functools
from importlib.resources import files


def script(name: str, package: str = __name__) -> str:
    """The text of a .sql file of this folder, or of another package's."""
    return (files(package) / f"{name}.sql").read_text(encoding="utf-8")


@functools.cache
def queries(package: str = __name__) -> dict[str, str]:
    """Every query by its name; the comment after the name is its purpose and stays with it."""
    found = {}
    for part in script("queries", package).split("-- name: ")[1:]:
        name, _, text = part.partition("\n")
        found[name.strip()] = text.strip()
    return found
