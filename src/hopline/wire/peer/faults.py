"""What ends a connection of the peer wire."""

from hopline.errors import HoplineError


class ProtocolFault(HoplineError):
    """The peer sent what is no frame of this wire. The message is the logged reason; it never escapes the machine."""

    @property
    def reason(self) -> str:
        """Why, in a few words."""
        return str(self)
