"""How a proof is compared: by a comparison that does not tell how much of it is right."""

import pytest

from hopline.wire.peer import proof as proofs

KEY = bytes(range(32))
NONCE = "5a" * 32


@pytest.mark.parametrize("claimed", ["", "0" * 64, proofs.proof(KEY, NONCE), proofs.proof(KEY, NONCE)[:-1], "é" * 64])
def test_every_comparison_of_a_proof_takes_constant_time(monkeypatch: pytest.MonkeyPatch, claimed: str) -> None:
    compared = []
    real = proofs.hmac.compare_digest

    def watched(expected: bytes, given: bytes) -> bool:
        compared.append((expected, given))
        return real(expected, given)

    monkeypatch.setattr(proofs.hmac, "compare_digest", watched)
    assert proofs.check(KEY, NONCE, claimed) == (claimed == proofs.proof(KEY, NONCE))
    assert compared == [(proofs.proof(KEY, NONCE).encode(), claimed.encode())]
