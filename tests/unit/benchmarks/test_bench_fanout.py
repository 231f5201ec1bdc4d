"""The fan-out rows' client and server: what is published is what is counted, on both transports."""

from pathlib import Path

import pytest
from benchmarks import fanout_servers
from benchmarks.context import Context, private_environment
from benchmarks.fanout_servers import Load, Measured, Serving
from benchmarks.watchers import BEHIND, come_back
from benchmarks.workloads import Programs

SUBSCRIBERS = 3


@pytest.fixture(name="context")
def _context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    folder = tmp_path_factory.mktemp("b")
    programs = Programs(folder)
    if programs.kind != "C":
        pytest.skip("no C compiler")
    return Context(folder, programs, private_environment(folder), 0.1, lambda _: None)


def loaded(context: Context, wire: str, load: Load) -> Measured:
    with fanout_servers.hopline(context, wire, pinned=False) as serving:
        return fanout_servers.loaded(context, serving, load)


@pytest.mark.parametrize("wire", ["unix", "web"])
def test_every_event_of_a_steady_load_is_delivered_to_everyone_and_timed(context: Context, wire: str) -> None:
    found = loaded(context, wire, Load(SUBSCRIBERS, rate=200, stalled=1, warm_seconds=0.3, seconds=1.0))
    # The first events measured were published before, and the last are under way.
    assert 0.5 * found.published * SUBSCRIBERS <= found.deliveries <= 1.5 * found.published * SUBSCRIBERS
    assert 0.5 * found.deliveries <= found.timed <= 1.5 * found.deliveries
    assert 0 < found.p50_ms <= found.p99_ms < 1000


@pytest.mark.parametrize("wire", ["unix", "web"])
def test_a_flood_keeps_within_its_window(context: Context, wire: str) -> None:
    found = loaded(context, wire, Load(SUBSCRIBERS, warm_seconds=0.1, seconds=0.4))
    behind = fanout_servers.WINDOW * SUBSCRIBERS
    assert found.deliveries > 0 and found.cpu_micros > 0
    assert abs(found.deliveries - found.published * SUBSCRIBERS) <= behind


def test_coming_back_takes_exactly_the_events_that_were_missed(context: Context) -> None:
    with fanout_servers.hopline(context, "unix", BEHIND + 5, pinned=False) as serving:
        assert come_back(serving, BEHIND + 5) > 0


def test_a_client_that_cannot_connect_says_so(context: Context, tmp_path: Path) -> None:
    nowhere = Serving("unix", 1, str(tmp_path / "s"), str(tmp_path / "p"))
    with pytest.raises(RuntimeError, match="fanout: "):
        fanout_servers.loaded(context, nowhere, Load(1))


def test_a_reference_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout_servers.shutil, "which", lambda *_, **__: None)
    with pytest.raises(fanout_servers.NotMeasured, match="redis-server is not installed"):
        fanout_servers.found("redis-server")
