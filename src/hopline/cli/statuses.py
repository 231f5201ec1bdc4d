"""What the command line exits with, and what each status means: the table that the guide shows."""

DONE = 0
FAILED = 1
WRONG_USE = 2

UNDECIDED = 6
"""The machine that decides gave no usable answer."""

INTERRUPTED = 130
"""After Ctrl-C, and after a run that the second Ctrl-C stopped."""

PIPE_CLOSED = 141
"""Nobody reads our output any more: 128 + SIGPIPE."""

SIGNALLED = 128
"""Plus the signal's number, when a signal ended the worker of an attached run."""


def meanings() -> list[tuple[str, str]]:
    """(status, what it means), in the order of the guide's table. `hopline bridge` has its own, from 3 to 11."""
    from hopline.serve.bridge_outcomes import EXIT_STATUS

    names = {status: outcome.replace("_", " ") for outcome, status in EXIT_STATUS.items() if status}
    shared = {
        4: "there is no such run, or it has ended and what was asked needs a live one; `hub` and `peer`: no hub runs, "
        "or that machine is not paired",
        5: "the run, or the folder of its socket, belongs to somebody else or is open to others; `peer`: the other "
        "machine refused the key, or another one answered",
        6: "the run's server answered with something else than the client wire; `peer`: the other machine cannot be "
        "reached, or does not speak what this needs; `lease`: nobody could decide, or the answer is not known",
    }
    return [
        (
            str(DONE),
            "done; for `run` and `attach` also: the worker exited with 0, or the view was detached with Ctrl-\\",
        ),
        (
            str(FAILED),
            "it failed, as the sentence on stderr says; `doctor`: something is wrong and was not put right; "
            "`logs`: some of it is lost",
        ),
        (str(WRONG_USE), "wrong use: an option, an argument, a setting or an ambiguous RUN; nothing was done"),
        *((str(status), shared.get(status, f"`bridge` only: {name}")) for status, name in sorted(names.items())),
        ("the worker's", "`run` and `attach`, once the run has ended; a worker's own 1 to 255 looks like ours"),
        (
            "128 + signal",
            "`run` and `attach`: that signal ended the worker, or ended the view (143 SIGTERM, 129 SIGHUP)",
        ),
        (str(INTERRUPTED), "Ctrl-C; for `run` and `attach`: a second Ctrl-C stopped the run"),
        (str(PIPE_CLOSED), "nobody reads our output any more; an attached run goes on without us"),
    ]
