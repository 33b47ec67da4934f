"""Two writers killed for real, with Spark at work; `script/crash` does the same many times."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.crashing import check, killed, leftovers


@pytest.mark.own_process
def test_killed_writers_leave_whole_stores(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert killed(store, 1, lambda said: said == "writing facts") == "writing facts"
    assert check(store) == 0, "a store that was never finished is none"
    # The next writer takes over what the first left, finishes, and is killed while it updates.
    seen: list[str] = []
    killed(store, 3, lambda said: seen.append(said) or seen.count("writing what changed") == 2, after=0.2)
    version = check(store)
    assert version in (2, 3)
    leftovers(store)
    assert check(store) == version
