"""The annotations are right, and the stubs say what the compiled module has."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
HERE = Path(__file__).resolve().parents[1]


def test_mypy():
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_stubs(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "headway._headway", "--mypy-config-file",
               str(HERE / "pyproject.toml"), "--ignore-disjoint-bases"]
    # Elsewhere, where the installed module is found and not the sources.
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_counter_test_a_wrong_call_is_caught(tmp_path):
    code = tmp_path / "wrong.py"
    code.write_text("import headway\nheadway.Ring('24').run().rounds.upper()\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(code)], cwd=tmp_path, capture_output=True,
                          text=True)
    assert "Argument 1" in done.stdout and '"int" has no attribute "upper"' in done.stdout, done.stdout
