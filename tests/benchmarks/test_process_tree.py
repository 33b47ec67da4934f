"""What a command costs, with all that it starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.process_tree import processor_seconds, run_tree
from everlog.errors import Failure

BUSY = "import time\nwhile time.process_time() < {seconds}: pass"
LEAVES = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', '''{BUSY.format(seconds=0.4)}''']); print(7)"


def test_a_process_that_outlives_a_command_counts() -> None:
    cost = run_tree([sys.executable, "-c", LEAVES], {"NAME": "value"}, memory=True)
    assert cost.output == "7\n"
    assert cost.processor >= 0.4
    assert cost.peak_bytes > 1 << 20


def test_a_command_that_fails_is_a_failure() -> None:
    with pytest.raises(Failure, match="failed: oops"):
        run_tree([sys.executable, "-c", "import sys; sys.exit('oops')"])


def test_processor_seconds_are_those_of_children_too() -> None:
    before = processor_seconds()
    subprocess.run([sys.executable, "-c", BUSY.format(seconds=0.3)], check=True)
    assert processor_seconds() - before >= 0.25
