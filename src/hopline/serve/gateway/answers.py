"""What the gateway says over plain HTTP: status, headers and body as values; and the headers of every answer. Pure.

Source: frontend reference 9.4; Trusted Types (WG-NO-MARKUP) and the Cross-Origin headers are beyond it.
"""

from dataclasses import dataclass, field
from http import HTTPStatus

from hopline.serve.gateway.access import Denied
from hopline.serve.gateway.credentials import cookie_name
from hopline.serve.gateway.origins import Admission

SERVER_HEADER = "Hopline-WebSocket"
SESSION_HEADER = "X-Hopline-Browser-Session"

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; Content-Length and the common headers are added when it is written."""

    status: HTTPStatus
    body: bytes
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = field(default=())


def common_headers(admission: Admission) -> tuple[tuple[str, str], ...]:
    """The headers of every answer: nothing is cached, framed, sniffed, referred to, or loaded from elsewhere."""
    policy = "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "font-src 'none'",
            f"connect-src 'self' {' '.join(admission.socket_sources())}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "object-src 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types lit-html",
        )
    )
    return (
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Security-Policy", policy),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
    )


def denial(denied: Denied) -> Answer:
    """The answer to a request that was refused."""
    headers = (("Allow", "GET"),) if denied.status is HTTPStatus.METHOD_NOT_ALLOWED else ()
    return Answer(denied.status, f"{denied.reason}\n".encode("utf-8", "replace"), TEXT, headers)


def health() -> Answer:
    """The gateway is there."""
    return Answer(HTTPStatus.OK, b"hopline-ok\n")


def rotated() -> Answer:
    """The token was replaced; the new one is in the gateway's record."""
    return Answer(HTTPStatus.OK, b"hopline-capability-rotated\n")


def not_rotated(reason: str) -> Answer:
    """The record could not be written, so the token stays as it was."""
    return Answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"The token was not replaced: {reason}\n".encode())


def page(body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """The page itself."""
    return Answer(HTTPStatus.OK, body, HTML, headers)


def session_headers(port: int, session: str, cross_origin: str | None) -> tuple[tuple[str, str], ...]:
    """What grants a browser session; the CORS headers only for an allowed Origin that the request came with."""
    granted = (
        ("Set-Cookie", f"{cookie_name(port)}={session}; Path=/; HttpOnly; SameSite=Strict"),
        (SESSION_HEADER, session),
    )
    if cross_origin is None:
        return granted
    return (
        *granted,
        ("Access-Control-Allow-Origin", cross_origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Access-Control-Expose-Headers", SESSION_HEADER),
        ("Vary", "Origin"),
    )
