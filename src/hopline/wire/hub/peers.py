"""What is asked of the hub about itself and about peers, and what it answers (docs/wire/hub.md, "Peers")."""

import msgspec


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of an operation; without fields, of one that takes none."""


class HubRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A hub that serves: what `hub.json` holds, and the first line of `hopline hub serve --json`."""

    version: int = 1
    pid: int
    identity: str
    listen: str
    """`address:port`, IPv6 in brackets."""
    socket: str
    started_at: str
    home: str
    """Whose hub it is: HOPLINE_HOME."""
    chosen_port: bool = False
    """The usual port was taken, and another one was chosen."""
    hopline_version: str = ""


class HubServing(msgspec.Struct, frozen=True, tag_field="outcome", tag="serving"):
    """First line on the fd 1 of a hub that was started by a command."""

    record: HubRecord


class HubStatus(msgspec.Struct, frozen=True, kw_only=True):
    """`hub.status`."""

    record: HubRecord
    paired: int
    connected: int
    handshakes: int
    """Under way."""
    announces: bool
    """Whether it tells the local network of itself."""


class HubStopping(msgspec.Struct, frozen=True, kw_only=True):
    """`hub.stop`: it is leaving."""

    pid: int


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """`peer.id`."""

    identity: str
    listen: str


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """`peer.pair` and `peer.invite`: a key that waits to be claimed, in every form that can carry it."""

    identity: str
    code: str
    """16 hex digits, a dash every four."""
    link: str
    relay_code: str | None
    """None when the packed form cannot hold the address."""
    address: str
    """What the other machine connects to."""
    local_only: bool
    """The hub listens on loopback: the invitation works on this machine only."""


class AcceptAsked(Asked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`peer.accept`."""

    code: str
    peer: str
    replace: bool = False
    """Also when another key of that peer has been proven."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The key is kept; nobody has been spoken to yet."""

    peer: str
    replaced: bool
    """Another key for that id was there."""


class JoinAsked(Asked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`peer.join`: a link or a relay code."""

    invitation: str


class ConnectAsked(Asked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`peer.connect`."""

    address: str
    """`address:port`; the port may be left out."""


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """`peer.join` and `peer.connect`: the link is up and is dialled from now on."""

    peer: str
    address: str
    proto: int
    framing: str
    features: list[str]


class PeerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One paired machine."""

    peer: str
    state: str
    """connected, connecting, waiting (a next try is due) or disconnected (no address is known)."""
    proto: int | None = None
    framing: str | None = None
    """ndjson or frame-bin."""
    features: list[str] = []
    version: str | None = None
    address: str | None = None
    addresses: list[str] = []
    """Every known one, the newest first."""
    direction: str | None = None
    """out: we dialled. in: it did."""
    heard_seconds_ago: float | None = None
    """Since its last heartbeat."""
    last_seen: str | None = None
    """RFC 3339; the last time it was connected."""
    next_try_seconds: float | None = None
    problem: str | None = None
    """Why the last try failed."""
    sessions: int | None = None
    clock_seconds: float | None = None
    """How far its clock is ahead of ours, by its last heartbeat."""


class PeerList(msgspec.Struct, frozen=True, kw_only=True):
    """`peer.list`."""

    identity: str
    listen: str
    peers: list[PeerRow]
    pending: bool
    """A pairing key waits to be claimed."""


class FleetSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session that a machine runs."""

    session_id: str
    project: str
    status: str
    elapsed_secs: int | None = None
    cost_usd: float | None = None


class FleetMachine(msgspec.Struct, frozen=True, kw_only=True):
    """One machine and what it last told of itself."""

    peer: str
    here: bool
    state: str
    os: str | None = None
    arch: str | None = None
    version: str | None = None
    tools: list[str] = []
    """Those that are present, with their versions where known."""
    sessions: list[FleetSession] = []
    heard_seconds_ago: float | None = None


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """`peer.fleet`."""

    machines: list[FleetMachine]


class ForgetAsked(Asked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`peer.forget`."""

    peer: str


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """Its key is gone and its link closed."""

    peer: str


class DiscoverAsked(Asked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`peer.discover`."""

    seconds: float = 6.0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A hub that announces itself on the local network. Nothing of this is proven."""

    peer: str
    address: str
    version: str
    paired: bool


class Discovered(msgspec.Struct, frozen=True, kw_only=True):
    """`peer.discover`."""

    found: list[Found]
