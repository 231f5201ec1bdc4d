"""The worker's environment."""

import os

from hopline.records import RunSpec

OURS = ("HOPLINE_SERVER", "HOPLINE_RUN", "HOPLINE_SESSION", "HOPLINE_GENERATION")
"""Names that say where in hopline a process stands; never inherited from outside."""

SIZES = ("COLUMNS", "LINES")
"""Names of a size that no longer holds once a terminal changes."""

USUAL_TERMINAL = "xterm-256color"
"""What a terminal is said to be when the starter's environment names none."""


def worker_environment(spec: RunSpec, generation: int) -> dict[str, str]:
    """The server's own environment, what the person added, and the names of run, lease session and generation.

    A worker with a terminal is told of no size but the terminal's own, and of a kind of terminal in any case.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    if spec.pty:
        inherited = {name: value for name, value in inherited.items() if name not in SIZES}
        if inherited.get("TERM", "dumb") in ("dumb", ""):
            inherited["TERM"] = USUAL_TERMINAL
    ours = {"HOPLINE_RUN": spec.id, "HOPLINE_SESSION": spec.id, "HOPLINE_GENERATION": str(generation)}
    return inherited | spec.env | ours
