"""The scripted server as a fixture."""

from collections.abc import Callable, Iterator

import pytest
from scripted_server import Answering, Scripted


@pytest.fixture
def scripted() -> Iterator[Callable[[Answering], Scripted]]:
    """Makes servers; each is gone at the end of the test."""
    made: list[Scripted] = []

    def make(script: Answering) -> Scripted:
        made.append(Scripted(script))
        return made[-1]

    yield make
    for server in made:
        server.finish()
