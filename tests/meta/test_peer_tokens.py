"""The decision tokens of docs/wire/peer.md: in the table, in the text, in the code, and in a test that shows each."""

import re
from pathlib import Path

from hopline.wire.peer import limits as code

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "wire" / "peer.md"
TOKEN = re.compile(r"\bPL-[A-Z0-9]+(?:-[A-Z0-9]+)*\b")
ROW = re.compile(r"^\| `(PL-[A-Z0-9-]+)` \| (.+) \|$", re.MULTILINE)


def tokens_in(*files: Path) -> set[str]:
    return {token for file in files for token in TOKEN.findall(file.read_text())}


def rows() -> list[tuple[str, str]]:
    return ROW.findall(PAGE.read_text())


def test_each_decision_of_the_peer_wire_has_one_row_of_one_sentence() -> None:
    names = [name for name, _ in rows()]
    assert len(set(names)) == len(names)
    assert [name for name, sentence in rows() if sentence.count(". ") or not sentence.endswith(".")] == []


def test_the_page_names_each_decision_of_the_peer_wire_where_it_explains_it() -> None:
    explained = set(TOKEN.findall(PAGE.read_text().split("## Decisions")[0]))
    assert explained == {name for name, _ in rows()}


def test_each_decision_of_the_peer_wire_is_named_where_the_code_takes_it() -> None:
    assert tokens_in(*(ROOT / "src").rglob("*.py")) == {name for name, _ in rows()}


def test_each_decision_of_the_peer_wire_is_named_by_a_test_that_shows_it() -> None:
    shown = tokens_in(
        *(path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "meta"),
        *(ROOT / "tests" / "conformance" / "peer").rglob("*.txt"),
    )
    assert shown == {name for name, _ in rows()}


def test_each_decision_of_one_connection_is_shown_by_a_scenario() -> None:
    """Those that take no bytes of a connection are shown by the tests of their modules."""
    elsewhere = {"PL-SALVAGE", "PL-ONE-DERIVATION", "PL-INVITE-FORM", "PL-DATAGRAM"}
    wire = tokens_in(*(ROOT / "src" / "hopline" / "wire" / "peer").rglob("*.py"))
    scenarios = tokens_in(*(ROOT / "tests" / "conformance" / "peer" / "scenarios").glob("*.txt"))
    assert wire - scenarios == elsewhere
    assert scenarios <= wire


def test_the_bounds_on_the_page_are_those_of_the_code() -> None:
    limits = PAGE.read_text().split("## Limits")[1].split("## Settings")[0]
    said = dict(re.findall(r"^\| (.+?) \| (.+) \|$", limits, re.MULTILINE))
    assert said["line, `len` of a binary frame"] == f"{code.MAX_LINE_BYTES // code.MIB} MiB"
    assert code.MAX_LINE_BYTES == code.MAX_FRAME_BYTES == code.MAX_BODY_BYTES + 1
    assert said["compressed from"] == f"{code.COMPRESS_FROM_BYTES:,} bytes"
    assert said["claim of a compressed frame"] == f"1,024 bytes to {code.MAX_RAW_BYTES // code.MIB} MiB"
    assert said["message id"] == f"{code.MAX_MESSAGE_ID_CHARACTERS} characters"
    assert said["peer id"] == f"{code.MAX_PEER_ID_CHARACTERS} characters"
    assert said["feature names of a peer, unknown types of a connection"] == str(code.MAX_FEATURES)
    assert said["other strings of a peer that are kept"] == f"{code.MAX_SHOWN_CHARACTERS} characters"
    assert said["tools, addresses of a heartbeat"] == f"{code.MAX_CAPABILITY_TOOLS}, {code.MAX_LISTEN_ADDRESSES}"
    assert said["announcement"] == f"{code.MAX_DATAGRAM_BYTES:,} bytes"
    times = (code.CONNECT_SECONDS, code.HANDSHAKE_SECONDS, code.WRITE_SECONDS)
    assert said["connect, read in the opening, write"] == ", ".join(f"{seconds:.0f} s" for seconds in times)
    assert said["listener holds back after the ack"] == f"{code.HOLD_SECONDS:.0f} s"
    heartbeat, dead = f"{code.HEARTBEAT_SECONDS:.0f} s", f"{code.DEAD_SECONDS:.0f} s"
    assert said["heartbeat; dead after; one-shot without a whole frame"] == f"{heartbeat}; {dead}; {dead}"
    assert said["one-shot that expects no answer stays open"] == f"{code.LINGER_SECONDS * 1000:.0f} ms"
    assert said["handshakes at once; peers"] == f"{code.MAX_HANDSHAKES}; {code.MAX_PEERS}"
    assert said["failures of a source"] == f"{code.FAILURES_PER_SOURCE} in {code.FAILURE_WINDOW_SECONDS:.0f} s"
    assert said["ids remembered"] == f"{code.DEDUP_IDS:,}"
    assert said["chunk of a transcript"] == f"{code.CHUNK_BYTES:,} bytes"
