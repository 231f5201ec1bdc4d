"""The guide's examples, run."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from cli_rig import HOPLINE
from guide_examples import EXAMPLES

_VARYING = (
    (r"\b[0-9a-f]{12}\b", "RUN"),
    (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME"),
    (r"\b\d+@\d+\.\d\d\b", "PID@START"),
    (r"^  \d+ ", "  PID "),
    (r"\b\d+(\.\d)? k?B\b", "SIZE"),
    (r" [01]s  ", " AGE  "),
)


def same(text: str) -> str:
    """`text` with what differs from run to run taken out."""
    for pattern, word in _VARYING:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_guide_runs_as_it_is_shown(name: str, tmp_path: Path) -> None:
    script = ""
    for line in EXAMPLES[name].splitlines():
        if line.startswith("$ "):
            command = line.removeprefix("$ ")
            quoted = command.replace("'", "'\\''")
            script += f"s=$?; printf '%s\\n' '$ {quoted}'; (exit $s)\n{command}\n"
    path = f"{Path(HOPLINE).parent}{os.pathsep}{os.environ['PATH']}"
    shown = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert same(shown.stdout) == same(EXAMPLES[name])
