"""How many descriptors a run server may have open: enough for its connections, and nothing that its worker inherits.

Programs close, or walk through, every number up to their soft limit, and some cannot use one past 1023; so the worker
gets the limit that the server was started with.
"""

import resource

MAX_DESCRIPTORS = 4096

_before: int | None = None


def allow_many() -> None:
    """Raise this process's soft limit to MAX_DESCRIPTORS, or as far as the hard limit permits. Never lowers it."""
    global _before
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        _before = soft


def of_worker() -> int | None:
    """The soft limit for a worker; None when it is this process's own."""
    return _before


def limit(soft: int) -> None:
    """Set this process's soft limit, at most its hard one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
