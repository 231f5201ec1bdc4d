"""The one entry point: hands the process to the command line, a server, the hub or a relay, importing only that one."""

import sys


class _FullScreen:
    """The full-screen view for the command line, imported when it is shown."""

    def show_run(self, run: str, host: str | None) -> int:
        from hopline.tui.main import show_run

        return show_run(run, host)

    def show_runs(self, host: str | None) -> int:
        from hopline.tui.main import show_runs

        return show_runs(host)


def main() -> int:
    """Run the part that argv[1] names. Returns the exit status, 130 for a Ctrl-C that nobody else took."""
    try:
        return _part()
    except KeyboardInterrupt:
        return 130


def _part() -> int:
    """Run the part that argv[1] names.

    The relay, the run server and the hub are daemons that start by entry point; a bridge starts once a connection and
    cannot wait for the parser; everything else is the command line.
    """
    match sys.argv[1:2]:
        case ["worker-relay"]:
            from hopline.worker.relay import main as relay

            return relay(sys.argv[2:])
        case ["run-server"]:
            from hopline.run.main import main as run_server

            return run_server(sys.argv[2:])
        case ["hub-server"]:
            from hopline.fleet.main import main as hub

            return hub(sys.argv[2:])
        case ["bridge"]:
            from hopline.cli.bridge import bridge

            return bridge(sys.argv[2:])
        case ["host"]:
            from hopline.cli.bridge import host

            return host(sys.argv[2:])
        case ["--version"] | ["-V"]:
            from hopline import __version__

            sys.stdout.write(f"hopline {__version__}\n")
            return 0
        case _:
            from hopline.cli.main import main as command_line

            return command_line(sys.argv[1:], _FullScreen())


if __name__ == "__main__":
    sys.exit(main())
