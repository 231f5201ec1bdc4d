"""What may go wrong with another machine; each message says what to do next."""

from hopline.errors import Unavailable


class NotPaired(Unavailable):
    """No key for that id."""

    exit_status = 4


class PeerUnreachable(Unavailable):
    """No address of that peer answered."""

    exit_status = 6


class PeerDenied(Unavailable):
    """The peer answered and refused the key, or somebody else answered."""

    exit_status = 5


class FeatureMissing(Unavailable):
    """The peer does not speak what this needs; nothing was sent."""

    exit_status = 6
