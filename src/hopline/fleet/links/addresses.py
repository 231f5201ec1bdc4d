"""`address:port` as hubs exchange it, pure: IP literals only, IPv6 in brackets."""

from ipaddress import IPv6Address, ip_address

from hopline.errors import UsageError
from hopline.wire.peer.pairing import address_text, read_address


def place_of(text: str) -> tuple[str, int] | None:
    """Host and port; None for what is no address, and for one where nobody can be."""
    found = read_address(text)
    if found is None:
        return None
    literal = ip_address(found[0])
    return None if literal.is_unspecified or literal.is_multicast else found


def named(text: str, default_port: int) -> str:
    """What a person wrote as an address, in the one form; the port may be left out. Raises UsageError."""
    text = text.strip()
    try:
        bare = address_text(str(ip_address(text.removeprefix("[").removesuffix("]"))), default_port)
    except ValueError:
        bare = text
    found = place_of(bare)
    if found is None:
        raise UsageError(
            f"{text[:80]!r} is no address; write an IP address and a port, for example 192.168.1.50:{default_port}."
        )
    return address_text(*found)


def is_loopback(host: str) -> bool:
    """Whether only this machine is there. A host that is no IP literal is not."""
    try:
        literal = ip_address(host)
    except ValueError:
        return False
    return literal.is_loopback


def source_of(host: str) -> str:
    """The source of a connection in one form: without scope, and IPv4 that came mapped into IPv6 as IPv4."""
    literal = ip_address(host.partition("%")[0])
    mapped = literal.ipv4_mapped if isinstance(literal, IPv6Address) else None
    return str(mapped or literal)


def offered(texts: list[str], source: str, most: int) -> list[str]:
    """What a peer says it can be reached at, as far as it makes sense from here: sound, unique, at most `most`.

    Args:
        source: the address its connection has; loopback addresses count only when it is one too.
    """
    local = is_loopback(source)
    kept: dict[str, None] = {}
    for text in texts:
        found = place_of(text)
        if found is not None and (local or not is_loopback(found[0])):
            kept[address_text(*found)] = None
        if len(kept) == most:
            break
    return list(kept)
