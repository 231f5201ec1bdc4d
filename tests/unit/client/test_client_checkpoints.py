"""A deferred list of executions: whole or not at all, and every way it can go wrong."""

import dataclasses
from collections.abc import Callable

import msgspec
import pytest
from client_batches import OTHER_STORE, STORE, batch, execution, parts_of

from hopline.client import checkpoints
from hopline.client.checkpoints import CheckpointAssembler, Fault
from hopline.client.items import Executions
from hopline.wire.client.checkpoint import ActiveExecutionsChunk
from hopline.wire.client.streams import EventBatch

EXECUTIONS = [execution("exec-1", "über " * 40), execution("exec-2", "\N{GRINNING FACE}" * 30)]
CURSOR = {"through_sequence": 7, "store_id": STORE, "history_after_sequence": 2}
DIGEST, PARTS = parts_of(EXECUTIONS, 100, **CURSOR)


def deferred(digest: str = DIGEST, through: int = 7) -> EventBatch:
    return batch(
        [through],
        active_executions=None,
        active_executions_checkpoint_id=digest,
        history_after_sequence=2,
        through_sequence=through,
    )


def changed(chunk: ActiveExecutionsChunk, **fields: object) -> ActiveExecutionsChunk:
    return msgspec.structs.replace(chunk, **fields)


def decoded(outcome: object) -> list[object]:
    assert isinstance(outcome, Executions)
    return [msgspec.json.decode(raw) for raw in outcome.executions]


def test_an_ordinary_batch_carries_its_list() -> None:
    raw = [msgspec.Raw(msgspec.json.encode(one)) for one in EXECUTIONS]
    assert decoded(CheckpointAssembler().batch(batch([1], active_executions=raw))) == EXECUTIONS


def test_the_parts_of_a_deferred_list_make_it_with_the_last_one() -> None:
    assembler = CheckpointAssembler()
    assert assembler.batch(deferred(through=3)) is None
    assert assembler.batch(deferred()) is None
    assert len(PARTS) > 3
    for part in PARTS[:-1]:
        assert assembler.chunk(part) is None
    whole = assembler.chunk(PARTS[-1])
    assert decoded(whole) == EXECUTIONS
    assert isinstance(whole, Executions)
    assert whole.through_sequence == 7


def test_an_empty_list_may_be_deferred() -> None:
    digest, parts = parts_of([], 100, **CURSOR)
    assembler = CheckpointAssembler()
    assembler.batch(deferred(digest))
    assert decoded(assembler.chunk(parts[0])) == []


@pytest.mark.parametrize("superseding", [deferred(), batch([8])])
def test_another_batch_supersedes_a_transfer_and_its_late_parts_are_a_fault(superseding: EventBatch) -> None:
    assembler = CheckpointAssembler()
    assembler.batch(deferred())
    assembler.chunk(PARTS[0])
    assert not isinstance(assembler.batch(superseding), Fault)
    assert isinstance(assembler.chunk(PARTS[1]), Fault)


def test_a_superseded_transfer_is_sent_again_from_its_first_part() -> None:
    assembler = CheckpointAssembler()
    assembler.batch(deferred())
    assembler.chunk(PARTS[0])
    assembler.batch(deferred())
    for part in PARTS[:-1]:
        assert assembler.chunk(part) is None
    assert decoded(assembler.chunk(PARTS[-1])) == EXECUTIONS


FAULTS: dict[str, Callable[[], list[ActiveExecutionsChunk]]] = {
    "gap": lambda: [PARTS[0], PARTS[2]],
    "duplicate": lambda: [PARTS[0], PARTS[0]],
    "late start": lambda: [PARTS[1]],
    "other identity": lambda: [changed(PARTS[0], checkpoint_id="0" * 64)],
    "other cursor": lambda: [PARTS[0], changed(PARTS[1], through_sequence=8)],
    "other store": lambda: [changed(PARTS[0], store_id=OTHER_STORE)],
    "other floor": lambda: [changed(PARTS[0], history_after_sequence=0)],
    "other number of parts": lambda: [PARTS[0], changed(PARTS[1], parts=len(PARTS) + 1)],
    "the first part alone": lambda: [changed(PARTS[0], parts=1)],
    "other content": lambda: [*PARTS[:-1], changed(PARTS[-1], payload="]")],
    "lone surrogate": lambda: [changed(PARTS[0], parts=1, payload="\ud800")],
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_does_not_belong_is_a_fault_and_ends_the_transfer(name: str) -> None:
    assembler = CheckpointAssembler()
    assembler.batch(deferred())
    *before, wrong = FAULTS[name]()
    for part in before:
        assert assembler.chunk(part) is None
    assert isinstance(assembler.chunk(wrong), Fault)
    assert isinstance(assembler.chunk(PARTS[len(before)]), Fault)


@pytest.mark.parametrize("parts", [0, 1])
def test_another_message_within_a_transfer_is_a_fault(parts: int) -> None:
    assembler = CheckpointAssembler()
    assert assembler.other() is None
    assembler.batch(deferred())
    for part in PARTS[:parts]:
        assembler.chunk(part)
    assert isinstance(assembler.other(), Fault)
    assert assembler.other() is None


@pytest.mark.parametrize("checkpoint_id", [None, "short", "G" * 64])
def test_a_deferred_batch_names_a_digest(checkpoint_id: str | None) -> None:
    assembler = CheckpointAssembler()
    wrong = msgspec.structs.replace(deferred(), active_executions_checkpoint_id=checkpoint_id)
    assert isinstance(assembler.batch(wrong), Fault)


def test_a_batch_with_a_list_defers_nothing() -> None:
    wrong = batch([1], active_executions_checkpoint_id=DIGEST)
    assert isinstance(CheckpointAssembler().batch(wrong), Fault)


@pytest.mark.parametrize("content", [{"a": 1}, [1], [{"execution_id": "x"}]])
def test_what_is_no_list_of_executions_is_a_fault_although_its_digest_fits(content: object) -> None:
    digest, parts = parts_of(content, 100, **CURSOR)  # type: ignore[arg-type]  # wrong on purpose
    assembler = CheckpointAssembler()
    assembler.batch(deferred(digest))
    assert isinstance(assembler.chunk(parts[0]), Fault)


def test_a_list_over_the_bound_is_a_fault_before_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MAX_CHECKPOINT_BYTES", 250)
    assembler = CheckpointAssembler()
    assembler.batch(deferred())
    outcomes = [assembler.chunk(part) for part in PARTS[:3]]
    assert [type(outcome) for outcome in outcomes[:2]] == [type(None), type(None)] or isinstance(outcomes[1], Fault)
    assert any(isinstance(outcome, Fault) for outcome in outcomes)


@pytest.mark.parametrize(
    "fields",
    [{"part": 256}, {"parts": 257}, {"parts": 0}, {"payload": ""}, {"payload": "x" * 65_537}, {"checkpoint_id": "x"}],
)
def test_a_part_outside_its_bounds_is_refused_by_the_decoder(fields: dict[str, object]) -> None:
    encoded = msgspec.json.encode(changed(PARTS[0], **fields))
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(encoded, type=ActiveExecutionsChunk)


def test_a_fault_says_how() -> None:
    fault = CheckpointAssembler().chunk(PARTS[0])
    assert isinstance(fault, Fault)
    assert dataclasses.asdict(fault)["reason"] == "a part of a checkpoint came without its batch"
