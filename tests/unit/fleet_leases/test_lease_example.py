"""The worked example of fleet leases, and what it leaves open: docs/wire/peer.md, "Fleet leases"."""

from dataclasses import replace

from lease_tables import START, Clock, claim, owner, table_at

from hopline.fleet.leases.records import Outcome

A, B, C, D = (owner(name) for name in "abcd")


def test_the_worked_example_answers_as_it_is_written():
    """PL-LEASE-ONCE, PL-LEASE-QUEUE, PL-LEASE-SILENT."""
    table, clock = table_at(START), Clock()
    first = table.claim(claim("L1", A, "src/**"), clock.moment)
    assert (first.outcome, first.lease.fence) == (Outcome.GRANTED, START * 1000 + 1)
    clock.pass_seconds(10)
    again = table.claim(claim("L1", A, "src/**"), clock.moment)
    assert again == first

    refused = table.claim(claim("L2", B, "src/a.py"), clock.moment)
    assert (refused.outcome, refused.lease.owner, refused.lease.id) == (Outcome.CONFLICT, A, "L1")
    w1 = table.claim(claim("L2", B, "src/a.py", wait=True), clock.moment)
    assert (w1.outcome, w1.ahead) == (Outcome.QUEUED, None)
    w2 = table.claim(claim("L3", C, "src/**", wait=True), clock.moment)
    assert (w2.outcome, w2.lease.owner, w2.ahead) == (Outcome.QUEUED, A, None)
    assert table.claim(claim("L4", A, "src/x.py"), clock.moment).outcome is Outcome.GRANTED
    assert table.claim(claim("L5", B, "src/**", mode="advisory"), clock.moment).outcome is Outcome.GRANTED

    assert table.release(B, "L1", clock.moment).outcome is Outcome.NOT_OWNER
    assert table.release(A, "L4", clock.moment).outcome is Outcome.RELEASED
    assert table.release(A, "L1", clock.moment).outcome is Outcome.RELEASED
    assert table.release(A, "L1", clock.moment).outcome is Outcome.NOT_ACTIVE
    assert table.release(D, "L9", clock.moment).outcome is Outcome.NOT_FOUND

    polled = table.claim(claim("L3", C, "src/**", waiter_id=w2.waiter_id), clock.moment)
    assert (polled.outcome, polled.ahead, polled.waiter_id) == (Outcome.QUEUED, 1, w2.waiter_id)
    late = table.claim(claim("L6", D, "src/a.py"), clock.moment)
    assert (late.outcome, late.ahead, late.lease) == (Outcome.CONFLICT, 2, None)
    highest = table.last_fence
    won = table.claim(claim("L2", B, "src/a.py", waiter_id=w1.waiter_id), clock.moment)
    assert won.outcome is Outcome.GRANTED
    assert won.lease.fence > highest
    clock.pass_seconds(31)
    gone = table.claim(claim("L3", C, "src/**", waiter_id=w2.waiter_id), clock.moment)
    assert gone.outcome is Outcome.WAITER_GONE

    assert table.claim(claim("L1", A, "src/**"), clock.moment).outcome is Outcome.NOT_ACTIVE
    assert table.claim(claim("L1", B, "src/**"), clock.moment).outcome is Outcome.ERROR


def test_a_lease_lasts_through_the_second_it_expires_in_and_then_never_comes_back():
    """PL-LEASE-CLOCK, PL-LEASE-ENDED."""
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "x", ttl_secs=60), clock.moment)
    clock.pass_seconds(60)
    assert table.claim(claim("L2", B, "x"), clock.moment).outcome is Outcome.CONFLICT
    clock.pass_seconds(1)
    assert table.claim(claim("L2", B, "x"), clock.moment).outcome is Outcome.GRANTED
    table.renew([A], clock.moment)
    assert [one.id for one in table.list(clock.moment).leases] == ["L2"]
    assert table.release(A, "L1", clock.moment).outcome is Outcome.NOT_ACTIVE


def test_a_renewal_counts_the_ttl_from_then_on_even_when_the_clock_was_set_back():
    table, clock = table_at(START), Clock()
    lease = table.claim(claim("L1", A, "x", ttl_secs=60), clock.moment).lease
    clock.pass_seconds(40)
    table.renew([A, B], clock.moment)
    assert table.list(clock.moment).leases[0] == replace(lease, expires_at=START + 100)
    clock.pass_seconds(59)
    assert len(table.list(clock.moment).leases) == 1
    clock.wall_millis -= 600_000
    table.renew([A], clock.moment)
    clock.pass_seconds(61)
    assert table.list(clock.moment).leases == ()


def test_the_holder_named_is_the_one_that_expires_last_and_of_those_the_smallest_id():
    table, clock = table_at(START), Clock()
    for lease_id, value, ttl in (("L3", "src/c", 90), ("L2", "src/b", 90), ("L1", "src/a", 60)):
        table.claim(claim(lease_id, A, value, ttl_secs=ttl), clock.moment)
    assert table.claim(claim("L4", B, "src"), clock.moment).lease.id == "L2"


def test_a_repeated_claim_that_lost_its_answer_finds_its_place_again():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "x"), clock.moment)
    first = table.claim(claim("L2", B, "x", wait=True), clock.moment)
    table.claim(claim("L3", C, "x", wait=True), clock.moment)
    assert table.claim(claim("L2", B, "x", wait=True), clock.moment).waiter_id == first.waiter_id
    table.release(A, "L1", clock.moment)
    assert table.claim(claim("L3", C, "x", wait=True), clock.moment).ahead == 1
    assert table.claim(claim("L2", B, "x", wait=True), clock.moment).outcome is Outcome.GRANTED


def test_a_single_try_leaves_its_own_waiter_alone():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "x"), clock.moment)
    waiting = table.claim(claim("L2", B, "x", wait=True), clock.moment)
    clock.pass_seconds(20)
    assert table.claim(claim("L2", B, "x"), clock.moment).outcome is Outcome.CONFLICT
    clock.pass_seconds(11)
    polled = table.claim(claim("L2", B, "x", waiter_id=waiting.waiter_id), clock.moment)
    assert polled.outcome is Outcome.WAITER_GONE


def test_a_waiter_id_of_somebody_else_is_worth_nothing():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "x"), clock.moment)
    waiting = table.claim(claim("L2", B, "x", wait=True), clock.moment)
    stolen = table.claim(claim("L3", C, "x", waiter_id=waiting.waiter_id), clock.moment)
    assert stolen.outcome is Outcome.WAITER_GONE


def test_a_known_id_with_another_resource_is_an_error_while_it_is_held_and_while_it_waits():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "x"), clock.moment)
    table.claim(claim("L2", B, "x", wait=True), clock.moment)
    for other in (claim("L1", A, "y"), claim("L1", A, "x", mode="advisory"), claim("L2", B, "x", mode="advisory")):
        assert table.claim(other, clock.moment).outcome is Outcome.ERROR


def test_an_id_released_before_it_was_claimed_is_spent_for_that_owner_alone():
    table, clock = table_at(START), Clock()
    assert table.release(A, "L1", clock.moment).outcome is Outcome.NOT_FOUND
    assert table.claim(claim("L1", A, "x"), clock.moment).outcome is Outcome.NOT_ACTIVE
    assert table.claim(claim("L1", B, "x"), clock.moment).outcome is Outcome.GRANTED
    assert table.release(A, "L1", clock.moment).outcome is Outcome.NOT_OWNER


def test_leaving_the_queue_spends_the_id_for_everybody():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "x"), clock.moment)
    table.claim(claim("L2", B, "x", wait=True), clock.moment)
    assert table.release(C, "L2", clock.moment).outcome is Outcome.NOT_OWNER
    assert table.release(B, "L2", clock.moment).outcome is Outcome.RELEASED
    table.release(A, "L1", clock.moment)
    assert table.claim(claim("L2", B, "x"), clock.moment).outcome is Outcome.NOT_ACTIVE
    assert table.claim(claim("L2", C, "x"), clock.moment).outcome is Outcome.ERROR
    assert table.claim(claim("L3", C, "x"), clock.moment).outcome is Outcome.GRANTED


def test_a_peer_holds_512_leases_and_waits_for_64_and_no_more():
    """PL-LEASE-BOUNDS."""
    table, clock = table_at(START), Clock()
    table.claim(claim("L", B, "held"), clock.moment)
    for number in range(512):
        assert table.claim(claim(f"a{number}", A, f"p{number}/"), clock.moment).outcome is Outcome.GRANTED
    for number in range(64):
        queued = table.claim(claim(f"w{number}", A, "held", wait=True), clock.moment)
        assert queued.outcome is Outcome.QUEUED
    assert "512" in table.claim(claim("one more", A, "q"), clock.moment).message
    assert "512" in table.claim(claim("and another", A, "q", mode="advisory"), clock.moment).message
    assert "64" in table.claim(claim("one more", A, "held", wait=True), clock.moment).message
    assert table.claim(claim("M", C, "q"), clock.moment).outcome is Outcome.GRANTED


def test_ended_ids_are_remembered_a_week_and_4096_a_peer():
    table, clock = table_at(START), Clock()
    table.claim(claim("first", A, "x"), clock.moment)
    table.release(A, "first", clock.moment)
    assert table.claim(claim("first", A, "x"), clock.moment).outcome is Outcome.NOT_ACTIVE
    for number in range(4096):
        table.release(A, f"unknown{number}", clock.moment)
    assert table.claim(claim("first", A, "x"), clock.moment).outcome is Outcome.GRANTED
    table.release(A, "first", clock.moment)
    clock.pass_seconds(7 * 86_400)
    assert table.claim(claim("first", A, "x"), clock.moment).outcome is Outcome.NOT_ACTIVE
    clock.pass_seconds(1)
    assert table.claim(claim("first", A, "x"), clock.moment).outcome is Outcome.GRANTED


def test_kinds_never_meet_and_other_kinds_compare_whole_values():
    table, clock = table_at(START), Clock()
    table.claim(claim("L1", A, "main", kind="branch"), clock.moment)
    for other in (claim("L2", B, "main"), claim("L3", B, "main2", kind="branch"), claim("L4", B, "mai", kind="branch")):
        assert table.claim(other, clock.moment).outcome is Outcome.GRANTED
    assert table.claim(claim("L5", B, "main", kind="branch"), clock.moment).outcome is Outcome.CONFLICT


def test_many_short_lives_leave_nothing_behind_that_runs_out_later():
    table, clock = table_at(START), Clock()
    for number in range(500):
        table.claim(claim(f"L{number}", A, "x", ttl_secs=600), clock.moment)
        table.release(A, f"L{number}", clock.moment)
    table.claim(claim("kept", A, "x", ttl_secs=600), clock.moment)
    assert len(table._shelf._due) < 100
    clock.pass_seconds(601)
    assert table.list(clock.moment).leases == ()


def test_the_list_is_by_age_and_then_by_id():
    table, clock = table_at(START), Clock()
    for lease_id in ("b", "a"):
        table.claim(claim(lease_id, A, lease_id), clock.moment)
    clock.pass_seconds(1)
    table.claim(claim("0", A, "0"), clock.moment)
    assert [one.id for one in table.list(clock.moment).leases] == ["a", "b", "0"]
