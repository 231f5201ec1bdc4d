"""Whether a lease request is sound, before anything is decided about it (docs/wire/peer.md, "Fleet leases").

The owner is made of the session that the request names and the peer that its connection proved, never of more.
"""

import re
from dataclasses import dataclass

import msgspec

from hopline.fleet.leases.records import ADVISORY, EXCLUSIVE, Claim, owner_of
from hopline.wire.peer.leases import LeaseClaim, LeaseList, LeaseRelease
from hopline.wire.peer.texts import is_printable

MAX_ID_CHARACTERS = 96
MAX_SESSION_CHARACTERS = 128
MAX_VALUE_CHARACTERS = 512
MAX_REASON_CHARACTERS = 256
MAX_TTL_SECONDS = 7 * 86_400

Request = LeaseClaim | LeaseRelease | LeaseList

REQUESTS: dict[str, type[Request]] = {
    "lease_claim": LeaseClaim,
    "lease_release": LeaseRelease,
    "lease_list": LeaseList,
}
"""What an authority answers, by message type."""

_KIND = re.compile(r"[a-z0-9_-]{1,32}")


class _Asking(msgspec.Struct, frozen=True):
    request_id: str = ""


_decoders: dict[str, "msgspec.json.Decoder[Request]"] = {
    msg_type: msgspec.json.Decoder(payload) for msg_type, payload in REQUESTS.items()
}
_asking = msgspec.json.Decoder(_Asking)


@dataclass(frozen=True, slots=True)
class Unsound:
    """A request that is answered with `error` and nothing else (PL-LEASE-CHECKED)."""

    request_id: str
    """Empty when it is not sound itself."""
    message: str


@dataclass(frozen=True, slots=True)
class Release:
    """A checked `lease_release`."""

    lease_id: str
    owner: str


def read(msg_type: str, payload: bytes | msgspec.Raw) -> Request | Unsound:
    """The request in a payload; its values are not looked at yet."""
    try:
        return _decoders[msg_type].decode(payload)
    except (msgspec.MsgspecError, RecursionError) as error:
        message = f"{msg_type}: {error}"
    try:
        request_id = _asking.decode(payload).request_id
    except (msgspec.MsgspecError, RecursionError):
        request_id = ""
    return Unsound(request_id if _is_id(request_id) else "", message)


def check_claim(asked: LeaseClaim, peer: str) -> Claim | Unsound:
    """The claim of a session of `peer`, or what is wrong with it."""
    wrong = _wrong_id(asked.request_id, asked.lease_id) or _wrong_session(asked.session)
    if wrong is None and not _KIND.fullmatch(asked.kind):
        wrong = "kind must be 1 to 32 of a-z, 0-9, _ and -"
    if wrong is None and not (1 <= len(asked.value) <= MAX_VALUE_CHARACTERS and is_printable(asked.value)):
        wrong = f"value must be 1 to {MAX_VALUE_CHARACTERS} printable characters"
    if wrong is None and asked.mode not in (EXCLUSIVE, ADVISORY):
        wrong = f"mode must be {EXCLUSIVE} or {ADVISORY}"
    if wrong is None and not 1 <= asked.ttl_secs <= MAX_TTL_SECONDS:
        wrong = f"ttl_secs must be 1 to {MAX_TTL_SECONDS}"
    if wrong is None and asked.waiter_id is not None and not _is_id(asked.waiter_id):
        wrong = f"waiter_id must be 1 to {MAX_ID_CHARACTERS} printable characters without @"
    if wrong is not None:
        return _unsound(asked.request_id, wrong)
    return Claim(
        asked.lease_id,
        owner_of(asked.session, peer),
        asked.kind,
        asked.value,
        asked.mode,
        asked.ttl_secs,
        _reason(asked.reason),
        asked.wait,
        asked.waiter_id,
    )


def check_release(asked: LeaseRelease, peer: str) -> Release | Unsound:
    """The release by a session of `peer`, or what is wrong with it."""
    wrong = _wrong_id(asked.request_id, asked.lease_id) or _wrong_session(asked.session)
    return _unsound(asked.request_id, wrong) if wrong else Release(asked.lease_id, owner_of(asked.session, peer))


def check_list(asked: LeaseList) -> Unsound | None:
    """What is wrong with it."""
    wrong = _wrong_id(asked.request_id)
    return _unsound("", wrong) if wrong else None


def _reason(text: str | None) -> str | None:
    if text is None:
        return None
    return (
        "".join(one for one in text[: 4 * MAX_REASON_CHARACTERS] if is_printable(one))[:MAX_REASON_CHARACTERS] or None
    )


def _is_id(text: str) -> bool:
    return 1 <= len(text) <= MAX_ID_CHARACTERS and "@" not in text and is_printable(text)


def _wrong_id(request_id: str, lease_id: str | None = None) -> str | None:
    for name, text in (("request_id", request_id), ("lease_id", lease_id)):
        if text is not None and not _is_id(text):
            return f"{name} must be 1 to {MAX_ID_CHARACTERS} printable characters without @"
    return None


def _wrong_session(session: str) -> str | None:
    if 1 <= len(session) <= MAX_SESSION_CHARACTERS and "@" not in session and is_printable(session):
        return None
    return f"session must be 1 to {MAX_SESSION_CHARACTERS} printable characters without @"


def _unsound(request_id: str, message: str) -> Unsound:
    return Unsound(request_id if _is_id(request_id) else "", message)
