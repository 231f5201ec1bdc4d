"""The page's files: an index made once, so that a request can only name what was there; no link leads out.

Source: WG-INDEXED; frontend reference 9.1 (`/assets/*` needs no token and is guarded against symlink escape).
"""

import os
import stat
from pathlib import Path

from hopline.errors import Unavailable

CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
"""What is served, by suffix; any other file in the folder is not."""

MAX_ASSET_BYTES = 4 << 20


class Assets:
    """The static files below one folder.

    Args:
        folder: holds `index.html` and the assets.

    Raises Unavailable when there is no page in it.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()
        if not (self._root / "index.html").is_file():
            raise Unavailable(f"the page's files are not in {folder}; install hopline again.")
        self._files = {path.relative_to(self._root).as_posix(): path for path in self._candidates()}

    def names(self) -> list[str]:
        """Everything that is served, as URL paths below `/assets/`."""
        return sorted(self._files)

    def read(self, name: str) -> tuple[bytes, str] | None:
        """(body, content type) of an asset; None when there is no such asset, or it is no plain file of ours now."""
        path = self._files.get(name)
        body = None if path is None else self._contents(path)
        return None if path is None or body is None else (body, CONTENT_TYPES[path.suffix])

    def page(self) -> bytes | None:
        """The page itself; None when it has gone."""
        return self._contents(self._root / "index.html")

    def _candidates(self) -> list[Path]:
        found = []
        for parent, folders, files in os.walk(self._root, followlinks=False):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [Path(parent, name) for name in files if Path(name).suffix in CONTENT_TYPES and name[0] != "."]
        return [path for path in found if not path.is_symlink()]

    def _contents(self, path: Path) -> bytes | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_ASSET_BYTES:
                return None
            # A folder on the way may have become a link since the index was made.
            if not Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(self._root):
                return None
            return file.read(MAX_ASSET_BYTES)
