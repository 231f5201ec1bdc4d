"""The proof that a dialler holds the key (docs/wire/peer.md, "Proof")."""

import hashlib
import hmac

KEY_BYTES = 32
NONCE_BYTES = 32


def nonce_text(entropy: bytes) -> str:
    """The nonce of a challenge: 32 random bytes as 64 lowercase hex digits."""
    return entropy[:NONCE_BYTES].hex()


def proof(key: bytes, nonce: str) -> str:
    """HMAC-SHA256 over the text of the nonce, not the bytes it spells, as 64 lowercase hex digits (PL-PROOF)."""
    return hmac.new(key, nonce.encode(), hashlib.sha256).hexdigest()


def check(key: bytes, nonce: str, claimed: str) -> bool:
    """Whether `claimed` is the proof, in a time that does not tell how much of it is right. Letter case counts."""
    return hmac.compare_digest(proof(key, nonce).encode(), claimed.encode())
