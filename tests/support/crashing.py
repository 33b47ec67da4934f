"""Kills writers of a store, with Spark and all, and looks at what is left. Also a command:

    crashing.py [--times N] [--seed S]     kills N writers at random moments; what `script/crash` runs
    crashing.py work STORE VERSIONS        the writer: brings a store to a version, one update after the other

What a version holds follows from its number, so a store can be checked without knowing what happened to it.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import everlog
from everlog.store.cleanup import remove_unnamed
from everlog.store.lock import locked
from everlog.store.manifest import NoStore
from everlog.store.versions import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.sources.read_facts import Read

PROGRAM = everlog.parse_program("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
_WIDTH = 30


def edges(version: int) -> set[tuple[int, int]]:
    """The explicit facts of a version: a chain that moves on by three with every version."""
    return {(one, one + 1) for one in range(3 * version, 3 * version + _WIDTH)}


# The writer


def work(store: Path, versions: int) -> None:
    """Brings a store to a version, and says on standard output what it does."""
    from everlog.knowledge.stores import init_store, update_store
    from everlog.spark.session import start_session

    def say(step: str) -> None:
        print(step, flush=True)

    spark = start_session(master="local[1]", conf={"spark.driver.memory": "1g"}, brief=True)
    say("started")
    try:
        version = Store.open(store).manifest.version
    except NoStore:
        init_store(store, PROGRAM, _read(spark, edges(1)), spark=spark, on_step=say)
        version = 1
    while version < versions:
        before, version = version, version + 1
        added, deleted = edges(version) - edges(before), edges(before) - edges(version)
        update_store(store, _read(spark, added), _read(spark, deleted), spark=spark, on_step=say)
    say("done")


def _read(spark: SparkSession, facts: set[tuple[int, int]]) -> Read:
    sys.path.append(str(Path(__file__).parents[1]))
    from support.reads import read_of

    return read_of(spark, {"edge": sorted(facts)})


# The killer


def killed(store: Path, versions: int, when: Callable[[str], bool], after: float = 0.0) -> str:
    """Kills a writer some seconds after it says something; gives what it said last ("done" if it was faster)."""
    command = [sys.executable, __file__, "work", str(store), str(versions)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = ""
        for line in writer.stdout:
            said = line.strip()
            if when(said):
                time.sleep(after)
                break
        else:
            assert writer.wait() == 0, f"the writer failed after it said {said!r}"
        writer.send_signal(signal.SIGKILL)
    return said


def check(store: Path) -> int:
    """Fails unless the store is whole; gives its version, 0 if it was never finished."""
    try:
        version = Store.open(store).manifest.version
    except NoStore:
        return 0
    kb = everlog.open(store)
    assert set(kb.rows("edge")) == edges(version), f"version {version} has other explicit facts"
    again = everlog.KnowledgeBase(PROGRAM)
    again.add({"edge": sorted(edges(version))})
    again.materialise()
    assert set(kb.rows("reach")) == set(again.rows("reach")), f"version {version} has other derived facts"
    return version


def leftovers(store: Path) -> list[Path]:
    """Removes what no version names, as the next writer would, and gives it; in the end there is nothing.

    That can take a moment, since the Java of a killed writer notices late that it is alone.
    """
    found: list[Path] = []
    deadline = time.monotonic() + 60
    with locked(store):
        while more := remove_unnamed(store):
            found += more
            assert time.monotonic() < deadline, f"there is always more: {more}"
            time.sleep(0.1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill writers of a store at random moments; check what is left.")
    parser.add_argument("--times", type=int, default=20, help="how many writers to kill (20)")
    parser.add_argument("--seed", type=int, default=0, help="for the moments (0)")
    given = parser.parse_args()
    random = Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="everlog-crash-") as folder:
        version, number, lost, moments = 0, 0, 0, {}
        store = Path(folder, "0")
        while number < given.times:
            if version >= 12 or random.random() < 0.2:  # a new store, so that making one is killed too
                version, store = 0, Path(folder, str(number))
            # Any step may be the one, and any moment of it.
            skipped = random.randrange(6)
            steps = iter(range(skipped))
            moment = random.uniform(0.0, 1.5)
            said = killed(store, version + 3, lambda line, steps=steps: next(steps, None) is None, moment)
            reached = check(store)
            assert version <= reached <= version + 3, f"from version {version} to {reached}"
            number, version = number + 1, reached
            lost += len(leftovers(store)) if store.exists() else 0
            moments[said] = moments.get(said, 0) + 1
            print(f"{number:4}  killed {moment:.2f} s into '{said}': version {reached}, whole", flush=True)
    print(f"{number} writers killed, every store whole; {lost} leftover files removed. Killed in: {moments}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
