"""What `hopline peer ls` and `hopline peer fleet` show."""

from hopline.rendering import age, plain, seconds_since, table
from hopline.wire.hub.peers import Fleet, PeerList, PeerRow

MUCH_CLOCK_SECONDS = 60.0
"""A clock that is off by more is told."""


def peers_table(found: PeerList) -> str:
    """The paired machines, one a line."""
    if not found.peers:
        return "no peers yet; pair with one: hopline peer pair\n"
    head = ("PEER", "STATE", "PROTO", "FRAMING", "ADDRESS", "HEARD", "")
    rows = [
        (
            row.peer,
            row.state,
            "" if row.proto is None else str(row.proto),
            row.framing or "",
            row.address or "",
            _heard(row),
            plain(_remark(row)),
        )
        for row in found.peers
    ]
    return table(head, rows)


def _heard(row: PeerRow) -> str:
    if row.heard_seconds_ago is not None:
        return f"{age(row.heard_seconds_ago)} ago"
    return "never" if row.last_seen is None else f"{age(seconds_since(row.last_seen))} ago"


def _remark(row: PeerRow) -> str:
    if row.clock_seconds is not None and abs(row.clock_seconds) > MUCH_CLOCK_SECONDS:
        return f"its clock is {age(abs(row.clock_seconds))} {'ahead' if row.clock_seconds > 0 else 'behind'}"
    if row.state == "connected":
        return ""
    if row.state == "disconnected":
        return "no address is known: hopline peer connect IP:PORT"
    following = "" if row.next_try_seconds is None else f"next try in {age(row.next_try_seconds)}"
    return "; ".join(part for part in (row.problem, following) if part)


def fleet_text(found: Fleet) -> str:
    """Every machine, its tools and what runs there."""
    parts = []
    for machine in found.machines:
        system = " ".join(part for part in (machine.os, machine.arch) if part)
        about = ", ".join(part for part in ("this machine" if machine.here else machine.state, system) if part)
        parts.append(f"{machine.peer} ({about})\n")
        if machine.tools:
            parts.append(f"  tools: {plain(', '.join(machine.tools))}\n")
        rows = [
            (f"  {one.session_id}", one.project, one.status, age(one.elapsed_secs or 0)) for one in machine.sessions
        ]
        parts.append(table(("  SESSION", "PROJECT", "STATUS", "AGE"), rows) if rows else "  no sessions\n")
    return "".join(parts)
