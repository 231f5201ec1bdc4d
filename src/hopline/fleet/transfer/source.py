"""The transcript that is sent: as many bytes of it as there were when it was opened. Blocking; called in threads."""

import os
import stat
from pathlib import Path

from hopline.errors import Unavailable, UsageError
from hopline.fleet.transfer.plan import chunk_count, span
from hopline.fleet.transfer.transcript_files import digest_of
from hopline.rendering import size as readable


class TranscriptLost(Unavailable):
    """The file that was being sent is not what it was; trying again cannot help."""


class Source:
    """An open transcript. One that grows meanwhile is sent as it was; close it when it was.

    Args:
        path: absolute.
        max_bytes: a longer one is refused.

    Raises UsageError for what is no file or too long, Unavailable when it cannot be read.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise Unavailable(f"cannot read {path}: {error.strerror}; name a transcript with --transcript.") from error
        status = os.fstat(self._descriptor)
        self.size = status.st_size
        try:
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{path} is no plain file; name a transcript with --transcript.")
            if self.size > max_bytes:
                raise UsageError(
                    f"{path} has {readable(self.size)}, and {readable(max_bytes)} are sent at most; "
                    "give a larger --max-size."
                )
            self.digest = digest_of(self._descriptor, self.size)
        except BaseException:
            self.close()
            raise
        self.total = chunk_count(self.size)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)

    def read(self, seq: int) -> bytes:
        """The chunk `seq`. Raises TranscriptLost when the file has become shorter or cannot be read."""
        wanted = span(seq, self.size)
        try:
            data = os.pread(self._descriptor, wanted.length, wanted.offset)
        except OSError as error:
            raise TranscriptLost(f"cannot read the transcript any more: {error.strerror}.") from error
        if len(data) != wanted.length:
            raise TranscriptLost("the transcript became shorter while it was sent; send it again.")
        return data
