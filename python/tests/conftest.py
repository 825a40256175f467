"""The command line, which Python's answers are compared with."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("HEADWAY_PROGRAM", ROOT / "target" / "quick" / "headway"))

# The program is started for every example, which takes longer on a busy machine.
settings.register_profile("headway", deadline=None, max_examples=25, derandomize=True,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("headway")


class Said:
    """What the program printed and how it ended."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        assert self.code in (0, 1), self.err
        return json.loads(self.out)

    @property
    def failure(self):
        """Message and help of an error."""
        assert self.code == 2, (self.code, self.out, self.err)
        lines = self.err.splitlines()
        message = next(line[len("error: "):] for line in lines if line.startswith("error: "))
        helps = [line[len("help: "):] for line in lines if line.startswith("help: ")]
        return message, helps[0] if helps else None


@pytest.fixture(scope="session")
def headway_program():
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: cargo build --profile quick -p headway")

    def run(*arguments, **more):
        command = [str(PROGRAM), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
        return Said(done)

    return run


@pytest.fixture(scope="session")
def root():
    return ROOT


def pytest_terminal_summary(terminalreporter):
    """A line as cargo prints it, which the test command adds up."""
    count = {key: len(terminalreporter.stats.get(key, [])) for key in ("passed", "failed", "error", "skipped")}
    failed = count["failed"] + count["error"]
    verdict = "FAILED" if failed else "ok"
    terminalreporter.write_line(
        f"test result: {verdict}. {count['passed']} passed; {failed} failed; {count['skipped']} ignored"
    )
