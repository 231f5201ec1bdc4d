"""Settings and places: what config.toml may say, and where state, sockets and settings live.

An unknown setting is an error that names the nearest known one. Environment: HOPLINE_HOME, HOPLINE_CONFIG and
XDG_RUNTIME_DIR name the folders (DESIGN, "Command line").
"""

import difflib
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hopline.errors import ConnectDenied, Unavailable, UsageError

MAX_SOCKET_PATH_BYTES = 107
"""Linux's bound on a Unix socket path (frontend reference 8.3)."""

MIN_JOURNAL_BYTES = 1_000_000
"""The smallest bound on a journal: that of one event. Under a smaller one, the events that tell what was dropped would
themselves push out others, without end."""

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """The table `[relay]` of config.toml: this machine's hub (docs/wire/peer.md, "Settings")."""

    listen_addr: str = "127.0.0.1"
    """Where the hub listens: an IP literal. 0.0.0.0 or :: for every interface."""
    listen_port: int = 9847
    """The hub's port; 0 for any free one."""
    max_peers: int = 8
    """Links to peers at once."""
    heartbeat_interval_secs: int = 30
    """Seconds between heartbeats; a peer silent for three of them is gone."""
    lan_announce: bool = True
    """Announce this hub on the local network while it listens beyond loopback."""
    lease_authority: str = ""
    """The id of the peer that keeps the fleet's leases; the same on every machine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What config.toml may hold; every field is a key of the same name.

    Sizes are bytes: a whole number, or a text such as "2GiB", "500MB".
    """

    runner: str = "direct"
    """Default runner of `hopline run`: direct, bwrap or auto."""
    durability: str = "normal"
    """normal: events survive any crash of hopline. full: fdatasync before publication; they survive power loss."""
    journal_reserve: int = -1
    """Bytes left free on the journal's volume; -1 means the smaller of 5 % and 2 GiB."""
    max_journal: int = 0
    """Default bound on one run's journal in bytes; 0 means none."""
    when_journal_full: str = "pause"
    """pause the worker, or drop-oldest segments, when max_journal is reached."""
    stop_grace_seconds: float = 1.0
    """How long a stopped worker may take to leave before it is killed."""
    unix_write_deadline_seconds: float = 0.0
    """How long a local client may take nothing of what is sent to it before it is cut; 0 means for ever."""
    relay: RelaySettings = RelaySettings()


_WORDS = {str: "text", int: "whole number", bool: "true or false"}
_RELAY_RANGES = {"listen_port": (0, 65535), "max_peers": (1, 256), "heartbeat_interval_secs": (1, 3600)}

MAX_SECONDS = 86_400
MAX_SIZE_BYTES = 2**63 - 1

_SECONDS = ("stop_grace_seconds", "unix_write_deadline_seconds")
_CHOICES = {
    "runner": ("direct", "bwrap", "auto"),
    "durability": ("normal", "full"),
    "when_journal_full": ("pause", "drop-oldest"),
}


def parse_size(text: str | int) -> int:
    """Bytes from 1000, "64k", "2GiB", "500MB". Raises UsageError on anything else."""
    if isinstance(text, int) and not isinstance(text, bool) and 0 <= text <= MAX_SIZE_BYTES:
        return text
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", str(text).strip().lower())
    if found is None:
        raise UsageError(f"{text!r} is not a size; write a number of bytes, or for example 500MB or 2GiB.")
    size = float(found[1]) * _UNITS[found[2] or ""]
    if size > MAX_SIZE_BYTES:
        raise UsageError(f"{str(text)[:40]!r} is more than any volume holds; write for example 500MB or 2GiB.")
    return int(size)


def parse_reserve(text: str | int) -> int:
    """As `parse_size`; also -1, the default that goes by the volume's size."""
    return -1 if text in (-1, "-1") else parse_size(text)


def check_journal_bound(size: int) -> None:
    """Raise UsageError when `size`, a `max_journal` in bytes, is neither 0 (none) nor at least the smallest bound."""
    if size and size < MIN_JOURNAL_BYTES:
        raise UsageError(
            f"a journal bound of {size} bytes is too small: one event may have {MIN_JOURNAL_BYTES}. "
            "Give --max-journal (or max_journal) 1MB or more, or 0 for none."
        )


def _is_span(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_SECONDS


def _check_known(key: str, known: list[str], source: str) -> None:
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known settings: {', '.join(known)}."
        raise UsageError(f"unknown setting {key!r} in {source}; {hint}")


def parse_relay(table: Any, source: str) -> RelaySettings:
    """The table `[relay]`. Raises UsageError that names the key and what it must be."""
    if not isinstance(table, dict):
        raise UsageError(f"relay = {table!r} in {source}; it must be a table: [relay]")
    kinds: dict[str, type] = {field.name: type(field.default) for field in fields(RelaySettings)}
    for key, value in dict[str, Any](table).items():
        _check_known(key, list(kinds), f"[relay] of {source}")
        kind, given = kinds[key], type(value)
        if given is not kind:
            raise UsageError(f"relay.{key} = {value!r} in {source}; it must be a {_WORDS[kind]}.")
        low, high = _RELAY_RANGES.get(key, (0, 0))
        if kind is int and not low <= value <= high:
            raise UsageError(f"relay.{key} = {value} in {source}; it must be from {low} to {high}.")
        if key == "listen_addr":
            _check_address(value, source)
        if key == "lease_authority" and not re.fullmatch(r"([A-Za-z0-9_-]{1,128})?", value):
            raise UsageError(
                f"relay.lease_authority = {value[:140]!r} in {source}; it must be the id of a machine, 1 to 128 of "
                "A-Z, a-z, 0-9, _ and -, as hopline peer id tells there."
            )
    return RelaySettings(**table)


def _check_address(text: str, source: str) -> None:
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        raise UsageError(f"relay.listen_addr = {text!r} in {source}; it must be an IP address.") from None


def parse_settings(table: dict[str, Any], source: str) -> Settings:
    """Settings from a parsed TOML table. Raises UsageError that names the key, its source and the nearest known key."""
    known = [field.name for field in fields(Settings)]
    values: dict[str, Any] = {}
    for key, value in table.items():
        _check_known(key, known, source)
        if key == "relay":
            values[key] = parse_relay(value, source)
            continue
        if key in _CHOICES and value not in _CHOICES[key]:
            raise UsageError(f"{key} = {value!r} in {source}; it must be one of {', '.join(_CHOICES[key])}.")
        try:
            if key == "journal_reserve":
                value = parse_reserve(value)
            if key == "max_journal":
                check_journal_bound(value := parse_size(value))
        except UsageError as error:
            raise UsageError(f"{key} in {source}: {error}") from None
        if key in _SECONDS and not _is_span(value):
            raise UsageError(f"{key} = {value!r} in {source}; it must be a number of seconds, 0 to {MAX_SECONDS}.")
        values[key] = value
    return Settings(**values)


def config_file() -> Path:
    """The settings file: HOPLINE_CONFIG, else config.toml in the platform's config folder."""
    if named := os.environ.get("HOPLINE_CONFIG"):
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("hopline") / "config.toml"


def load_settings() -> Settings:
    """The settings in force. A missing default file means the defaults; a missing HOPLINE_CONFIG is an error."""
    path = config_file()
    if not path.exists():
        if "HOPLINE_CONFIG" in os.environ:
            raise UsageError(f"HOPLINE_CONFIG names {path}, which does not exist.")
        return Settings()
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the settings in {path}: {error}") from error
    return parse_settings(table, str(path))


def home() -> Path:
    """Where runs are kept, absolute: HOPLINE_HOME, else the platform's state folder."""
    if named := os.environ.get("HOPLINE_HOME"):
        return _readable(Path(named).absolute(), "HOPLINE_HOME")
    from platformdirs import user_state_path

    return user_state_path("hopline")


def _readable(path: Path, named_by: str) -> Path:
    """Raises UsageError for a path that a record, which is JSON, could not hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{named_by} names {str(path)!r}, which is not UTF-8; name another folder.") from None
    return path


def runs_folder() -> Path:
    """The folder that holds one folder a run, named by run id."""
    return home() / "runs"


def fleet_folder() -> Path:
    """The folder that holds this machine's id, keys, leases and transfers. Not made here."""
    return home() / "fleet"


def runtime_folder() -> Path:
    """Where sockets live: $XDG_RUNTIME_DIR/hopline when absolute, else /tmp/hopline-<uid>. Not made here."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if base.startswith("/"):
        return _readable(Path(base), "XDG_RUNTIME_DIR") / "hopline"
    return Path(f"/tmp/hopline-{os.getuid()}")  # noqa: S108  # owner and mode are checked before use


def private_folder(path: Path) -> Path:
    """Make `path` with mode 0700 if absent and check that it is a real folder of ours that nobody else may enter.

    Raises ConnectDenied when it is a symlink, another user's, or open to group or others, and Unavailable when it
    cannot be made.
    """
    try:
        path.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        pass
    except OSError as error:
        raise Unavailable(f"cannot make the folder {path}: {error.strerror}; free or name another one.") from error
    status = path.lstat()
    if not path.is_dir() or path.is_symlink():
        raise ConnectDenied(f"{path} is not a plain folder; remove it and try again.")
    if status.st_uid != os.getuid():
        raise ConnectDenied(
            f"{path} belongs to user {status.st_uid}, not to you; set XDG_RUNTIME_DIR to a folder of yours."
        )
    if status.st_mode & 0o077:
        raise ConnectDenied(f"{path} is open to other users (mode {status.st_mode & 0o777:o}); run: chmod 700 {path}")
    return path


def socket_path(run_id: str) -> Path:
    """The control socket of a run. Raises UsageError when it is longer than the system allows, before any bind."""
    return _bindable(runtime_folder() / "runs" / run_id / "control.sock")


def hub_socket_path() -> Path:
    """The control socket of this home's hub. Raises UsageError as `socket_path`."""
    import hashlib

    name = hashlib.sha256(os.fsencode(home())).hexdigest()[:12]
    return _bindable(runtime_folder() / "hubs" / name / "control.sock")


def _bindable(path: Path) -> Path:
    if len(os.fsencode(path)) > MAX_SOCKET_PATH_BYTES:
        raise UsageError(
            f"the socket path {path} has {len(os.fsencode(path))} bytes and the system allows "
            f"{MAX_SOCKET_PATH_BYTES}; set XDG_RUNTIME_DIR to a shorter folder."
        )
    return path
