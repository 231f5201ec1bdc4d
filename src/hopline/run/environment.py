"""The worker's environment."""

import os

from hopline.records import RunSpec

OURS = ("HOPLINE_SERVER", "HOPLINE_RUN", "HOPLINE_SESSION", "HOPLINE_GENERATION")
"""Names that say where in hopline a process stands; never inherited from outside."""


def worker_environment(spec: RunSpec, generation: int) -> dict[str, str]:
    """The server's own environment, what the person added, and the names of run, lease session and generation."""
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    ours = {"HOPLINE_RUN": spec.id, "HOPLINE_SESSION": spec.id, "HOPLINE_GENERATION": str(generation)}
    return inherited | spec.env | ours
