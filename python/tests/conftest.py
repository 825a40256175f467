"""How much the tests do, and the command line, which Python's answers are compared with."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("HEADWAY_PROGRAM", ROOT / "target" / "debug" / "headway"))

# What testsuite/kit/src/tier.rs is for tests in Rust; this is the only place that reads it here.
TIERS = ["small", "large", "soak"]
TIER = os.environ.get("HEADWAY_TESTS") or "small"
if TIER not in TIERS:
    raise pytest.UsageError(f"HEADWAY_TESTS is `{TIER}`; it takes small, large or soak")


def pick(small, large, soak):
    """The number for this run's tier."""
    return (small, large, soak)[TIERS.index(TIER)]


# Files whose tests need packages that only the other tiers install, or start clusters.
collect_ignore = pick(
    ["test_cluster.py", "test_frames.py", "test_notebooks.py", "test_pm4py.py", "test_ray.py", "test_types.py"],
    ["test_ray.py"],
    [],
)

# The program is started for every example, which takes longer on a busy machine.
settings.register_profile("headway", deadline=None, max_examples=pick(5, 25, 500), derandomize=TIER != "soak",
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
        pytest.skip(f"there is no {PROGRAM}: cargo build -p headway")

    def run(*arguments, **more):
        command = [str(PROGRAM), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
        return Said(done)

    return run


@pytest.fixture(scope="session")
def root():
    return ROOT


def pytest_runtest_logreport(report):
    """A line as libtest prints it, from which the test command says how to repeat a failure."""
    if report.failed:
        print(f"\ntest {report.location[2].split('[')[0]} ... FAILED")
