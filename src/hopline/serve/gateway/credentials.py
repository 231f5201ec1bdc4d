"""The capability token and the browser session: made, checked, found in a request. Pure but for the random bytes given.

Source: frontend reference 9.2. Comparisons take the same time whatever differs.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN_BYTES = 32
KEY_BYTES = 32
NONCE_BYTES = 16

_SESSION = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")


def new_token(random: bytes) -> str:
    """A capability token from TOKEN_BYTES of random bytes."""
    return base64.urlsafe_b64encode(random).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves that a request is its user's.

    Attributes:
        token: the capability; whoever holds it may do everything here.
        session_key: signs browser sessions. They outlive a rotation of the token.
    """

    token: str = field(repr=False)
    session_key: bytes = field(repr=False)

    def holds(self, token: str) -> bool:
        """Whether `token` is the capability."""
        return hmac.compare_digest(_bytes(token), _bytes(self.token))

    def grant(self, nonce: bytes) -> str:
        """A browser session from NONCE_BYTES of random bytes."""
        return f"{nonce.hex()}.{self._mac(nonce)}"

    def granted(self, session: str) -> bool:
        """Whether `session` was granted with this key."""
        found = _SESSION.fullmatch(session)
        return found is not None and hmac.compare_digest(self._mac(bytes.fromhex(found[1])), found[2])

    def _mac(self, nonce: bytes) -> str:
        return hmac.new(self.session_key, nonce, hashlib.sha256).hexdigest()


def cookie_name(port: int) -> str:
    """The session cookie of the gateway on `port`; cookies do not tell ports apart, so the name does."""
    return f"hopline_gateway_{port}"


def cookie_values(headers: list[str], name: str) -> Iterator[str]:
    """Every value of a cookie in the Cookie headers of a request."""
    for header in headers:
        for part in header.split(";"):
            key, equals, value = part.strip().partition("=")
            if equals and key == name:
                yield value.strip('"')


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
