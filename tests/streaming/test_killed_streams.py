"""A stream killed for real, with Spark at work, and one that goes on; `script/crash --streams` does the same many times."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.killed_streams import kill_streams


@pytest.mark.own_process
@pytest.mark.usefixtures("spark")
def test_a_killed_stream_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    """With this seed it is killed a second after its first batch."""
    assert kill_streams(tmp_path, times=1, seed=1) > 1
