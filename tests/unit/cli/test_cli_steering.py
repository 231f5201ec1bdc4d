from hopline.cli.steering import SECOND_WITHIN_SECONDS, Act, Key, Steering


def test_the_first_ctrl_c_interrupts() -> None:
    assert Steering().receive(Key.INTERRUPT, 10.0) is Act.INTERRUPT


def test_a_second_ctrl_c_within_two_seconds_stops_the_run() -> None:
    steering = Steering()
    steering.receive(Key.INTERRUPT, 10.0)
    assert steering.receive(Key.INTERRUPT, 10.0 + SECOND_WITHIN_SECONDS) is Act.STOP
    assert steering.stopping


def test_a_later_ctrl_c_only_interrupts_again_and_counts_as_the_first() -> None:
    steering = Steering()
    steering.receive(Key.INTERRUPT, 10.0)
    assert steering.receive(Key.INTERRUPT, 12.1) is Act.INTERRUPT
    assert not steering.stopping
    assert steering.receive(Key.INTERRUPT, 13.0) is Act.STOP


def test_ctrl_c_while_the_run_is_being_stopped_leaves() -> None:
    steering = Steering()
    for now in (1.0, 1.5):
        steering.receive(Key.INTERRUPT, now)
    assert steering.receive(Key.INTERRUPT, 60.0) is Act.ABANDON


def test_the_other_keys_mean_the_same_in_every_state() -> None:
    idle, interrupted, stopping = Steering(), Steering(), Steering()
    interrupted.receive(Key.INTERRUPT, 1.0)
    for now in (1.0, 1.5):
        stopping.receive(Key.INTERRUPT, now)
    for steering in (idle, interrupted, stopping):
        assert steering.receive(Key.QUIT, 2.0) is Act.DETACH
        assert steering.receive(Key.TERMINATE, 2.0) is Act.DISMISS
        assert steering.receive(Key.HANGUP, 2.0) is Act.VANISH
