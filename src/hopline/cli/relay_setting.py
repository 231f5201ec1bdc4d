"""Sets one key of `[relay]` in config.toml and leaves every other byte of the file as it is."""

import json
import os
import re
import tempfile
import tomllib
from pathlib import Path

from hopline.errors import UsageError

_RELAY = re.compile(r"^[ \t]*\[[ \t]*relay[ \t]*\][ \t]*(#.*)?$")
_TABLE = re.compile(r"^[ \t]*\[")


def set_relay(path: Path, key: str, value: str) -> None:
    """Write `key = "value"` into `[relay]` of the settings file, made if it is not there; "" takes the key away.

    Raises UsageError when the file is no TOML, or written so that it has to be edited by hand.
    """
    target = path.resolve()  # a link to where somebody keeps their settings stays one
    old = target.read_bytes().decode() if target.exists() else ""
    new = with_relay_key(old, key, value)
    if not _as_meant(old, new, key, value):
        wanted = f'{key} = "{value}"' if value else f"no {key}"
        raise UsageError(f"{path} says [relay] in a way that is not changed by program; write there by hand: {wanted}")
    if new == old:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(new)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(name, target)  # noqa: PTH105  # mkstemp gives a text
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def with_relay_key(text: str, key: str, value: str) -> str:
    """`text` with the key set, or without it when `value` is empty."""
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if _RELAY.match(line.rstrip("\r\n"))), None)
    written = f"{key} = {json.dumps(value)}"
    if start is None:
        if not value:
            return text
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[relay]\n{written}\n"
    end = next((at for at in range(start + 1, len(lines)) if _TABLE.match(lines[at])), len(lines))
    assignment = re.compile(rf"^([ \t]*{re.escape(key)}[ \t]*=[ \t]*)(\"[^\"\\]*\"|'[^']*')(.*)$", re.DOTALL)
    for at in range(start + 1, end):
        if (found := assignment.match(lines[at])) is not None:
            lines[at : at + 1] = [f"{found[1]}{json.dumps(value)}{found[3]}"] if value else []
            return "".join(lines)
    if value:
        if not lines[start].endswith("\n"):
            lines[start] += "\n"
        ending = "\r\n" if lines[start].endswith("\r\n") else "\n"
        lines.insert(start + 1, f"{written}{ending}")
    return "".join(lines)


def _as_meant(old: str, new: str, key: str, value: str) -> bool:
    """Whether `new` says what `old` does, but for this one key."""
    try:
        before = tomllib.loads(old)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the settings cannot be read: {error}") from error
    try:
        after = tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        return False
    expected = dict(before.get("relay", {})) | {key: value}
    if not value:
        del expected[key]
    said = after.pop("relay", {})
    before.pop("relay", None)
    return bool(said == expected and after == before)
