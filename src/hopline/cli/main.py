"""The command line's door: finds the command, runs it, and turns every failure into one sentence and an exit status.

A command's module is imported when that command runs, so that `hopline ls` never pays for `hopline doctor`.
"""

import errno
import os
import sys
from typing import Any, Protocol

import click

from hopline.cli.statuses import FAILED, INTERRUPTED, PIPE_CLOSED, WRONG_USE
from hopline.errors import HoplineError

COMMANDS = {
    "run": ("hopline.cli.run:run", "Start a run and show it live."),
    "ls": ("hopline.cli.listing:ls", "List runs, live ones and the latest that ended."),
    "show": ("hopline.cli.show:show", "Tell everything that is known of one run."),
    "top": ("hopline.cli.top:top", "Show every run live, on the whole terminal."),
    "attach": ("hopline.cli.attach:attach", "Watch a run live and steer it; replay one that ended."),
    "logs": ("hopline.cli.logs:logs", "Replay what a run's worker wrote."),
    "send": ("hopline.cli.control:send", "Write to the worker's standard input, or end it."),
    "interrupt": ("hopline.cli.control:interrupt", "Send SIGINT to the worker and say whether it was delivered."),
    "steer": ("hopline.cli.agents:steer", "Give a run's agent words to go by."),
    "pause": ("hopline.cli.agents:pause", "Pause a run at its agent's next boundary."),
    "resume": ("hopline.cli.agents:resume", "Let a paused run go on."),
    "restart": ("hopline.cli.control:restart", "Retire the worker and start its command again in the same run."),
    "stop": ("hopline.cli.control:stop", "End a run and say what became of its processes."),
    "web": ("hopline.cli.web:web", "Show every run of this machine in the browser."),
    "hub": ("hopline.cli.hub:hub", "Serve, look at or end the hub that links your machines."),
    "peer": ("hopline.cli.peer:peer", "Pair with your other machines and see what runs there."),
    "lease": ("hopline.cli.lease:lease", "Claim what you are about to change, on all your machines."),
    "session": ("hopline.cli.session:session", "Hand conversations to other machines, and list them."),
    "bridge": ("hopline.cli.bridge_command:bridge", "Copy a run's wire over stdin and stdout; for ssh."),
    "doctor": ("hopline.cli.doctor:doctor", "Look for orphans, stale sockets and broken journals."),
    "prune": ("hopline.cli.prune:prune", "Remove runs that ended long ago."),
    "schema": ("hopline.cli.schema:schema", "Print the client wire as JSON Schema."),
}
"""Every command: where it lives, and its line in the help."""


class Interrupted(HoplineError):
    """Ctrl-C ended a command that is not a live view."""

    exit_status = INTERRUPTED


class Commands(click.Group):
    """Loads a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"there is no command {args[0][:80]!r}{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted.") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="RUN is a run's id, a unique beginning of it, a run's name, or @last.",
)
@click.version_option(None, "-V", "--version", package_name="hopline", message="hopline %(version)s")
def hopline() -> None:
    """Run agents, REPLs and long commands where the code is; keep every byte; come back from anywhere."""


class FullScreen(Protocol):
    """The view that takes the whole terminal. It is handed in: one face does not import another."""

    def show_run(self, run: str, host: str | None) -> int:
        """Show RUN, here or on `host`. Returns the exit status."""

    def show_runs(self, host: str | None) -> int:
        """Show the list of runs, here or on `host`. Returns the exit status."""


def main(argv: list[str], full_screen: FullScreen | None = None) -> int:
    """Run one command. Returns its exit status; what goes wrong is one sentence on stderr.

    Args:
        full_screen: for commands that show one on a terminal; None when there is none to be had.
    """
    _open_standard_descriptors()
    try:
        status = _run(argv, full_screen)
        sys.stdout.flush()
    except HoplineError as error:
        return _fail(str(error), error.exit_status)
    except click.exceptions.NoArgsIsHelpError as error:
        group = error.ctx.command_path
        return _fail(f"say which: {group} {_choices(error.ctx)}; see: {group} --help", error.exit_code)
    except click.UsageError as error:
        asked = "hopline" if error.ctx is None else error.ctx.command_path
        return _fail(f"{_sentence(error.format_message())}; see: {asked} --help", error.exit_code)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except UnicodeEncodeError as error:
        return _fail(f"{str(error.object)[:80]!r} is not UTF-8; give it another name.", WRONG_USE)
    except (KeyboardInterrupt, EOFError, click.Abort):
        return _fail("interrupted.", INTERRUPTED)
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except OSError as error:
        return _fail(_told(error), FAILED)
    return status


def _run(argv: list[str], full_screen: FullScreen | None) -> int:
    # Not `hopline.main`: it makes a status of its own of a closed pipe.
    try:
        with hopline.make_context("hopline", list(argv or ["--help"]), obj=full_screen) as context:
            result: Any = hopline.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    return result if isinstance(result, int) else 0


def _fail(sentence: str, status: int) -> int:
    try:
        sys.stdout.flush()
    except OSError:
        _forget_stdout()
    try:
        mid_line = status == INTERRUPTED and sys.stderr.isatty()  # the terminal has just shown ^C
        sys.stderr.write(f"{chr(10) if mid_line else ''}hopline: {sentence}\n")
        sys.stderr.flush()
    except OSError:
        pass
    return status


def _choices(context: click.Context) -> str:
    command = context.command
    return ", ".join(command.list_commands(context)) if isinstance(command, click.Group) else "..."


def _sentence(message: str) -> str:
    """click's message as the first half of ours: no capital, no full stop."""
    return (message[:1].lower() + message[1:]).rstrip(".")


def _told(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT if not where:  # only what is written without a path: what we print
            return f"cannot write to standard output: {error.strerror}; make room where it goes."
        case errno.ENOSPC | errno.EDQUOT:
            step = "make room, for example: hopline prune"
        case errno.EMFILE | errno.ENFILE | errno.EAGAIN | errno.ENOMEM:
            step = "end something or raise the limits (ulimit -n, -u)"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            step = "check who owns it and its mode"
        case errno.ENOENT | errno.ENOTDIR | errno.ELOOP | errno.ENAMETOOLONG:
            step = "check what HOPLINE_HOME and XDG_RUNTIME_DIR name"
        case _:
            step = "hopline doctor can look at the runs"
    return f"{where}{error.strerror or error}; {step}."


def _forget_stdout() -> None:
    """Nobody reads it: keep the interpreter from complaining about that at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _open_standard_descriptors() -> None:
    """Give 0, 1 and 2 a place when the caller closed them, so that no pipe or socket of ours takes their numbers."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "w" if descriptor else "r", closefd=False))
