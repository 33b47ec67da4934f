"""Streams killed for real, with Spark at work; `script/crash --streams` does the same many times."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.killed_streams import kill_streams


@pytest.mark.own_process
@pytest.mark.usefixtures("spark")
def test_killed_streams_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    assert kill_streams(tmp_path, times=2, seed=1) > 1
