"""The one error hierarchy. A message names the value, the limit or state, and the next step for the person."""


class HoplineError(Exception):
    """Root of every error that hopline raises on purpose.

    `exit_status` is what the command line returns for it (DESIGN, "Command line").
    """

    exit_status = 1


class Misuse(HoplineError):
    """The caller broke the contract of an interface: our own bug, never a person's input."""


class Refused(HoplineError):
    """What was asked is not allowed or not possible in this state; `code` names the reason for programs.

    Args:
        message: one sentence and the next step, for a person.
        code: a diagnostic code of the client wire (docs/wire/client.md).
    """

    def __init__(self, message: str, *, code: str = "invalid_value") -> None:
        super().__init__(message)
        self.code = code


class UsageError(HoplineError):
    """The command, a setting or an argument is wrong; nothing was done."""

    exit_status = 2


class Unavailable(HoplineError):
    """The world did not provide something: no room, no descriptors, no permission, nobody listening."""


class RunGone(Unavailable):
    """No such run, or nothing listens for it."""

    exit_status = 4


class ConnectDenied(Unavailable):
    """The run exists but belongs to somebody else, or its folder is not private."""

    exit_status = 5


class ConnectFailed(Unavailable):
    """The run's socket answered with something other than a connection."""

    exit_status = 6


class Corrupt(HoplineError):
    """A journal holds bytes that no writer of ours produced; the message gives the file and the range."""
