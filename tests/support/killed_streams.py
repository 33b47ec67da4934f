"""Streams that are killed in the middle of batches, again and again: each version is one batch, and nothing is lost.

    killed_streams.py [--times N] [--seed S]    kills streams N times at random moments; what `script/crash --streams` runs
    killed_streams.py work FOLDER               the stream: follows FOLDER/in into FOLDER/s.store

A process of the stream is killed and started anew. `FOLDER/in` gets a file every few moments, and each says which facts
come and which go, so that what the store should have follows from the files.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import everlog
from everlog.store.cleanup import committed_versions
from everlog.store.manifest import current_version, read_manifest

RULES = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
_NODES = 25
_LONGEST = 8.0
"""Seconds that a stream lives at most once it has begun, or once it has applied its first batch."""
_AT_ONCE = 0.3
"""So many streams do not live to see their first batch, or just so."""
_WAITING = 15
"""No more files are sent as long as so many wait."""


def work(folder: Path) -> None:
    """Follows a folder, in a process of its own, until somebody kills it."""
    from everlog.spark.session import start_session

    spark = start_session(master="local[1]", conf={"spark.driver.memory": "1g"}, brief=True)
    source = everlog.Source("edge", folder / "in", header=True, options={"maxFilesPerTrigger": 1})
    stream = everlog.stream(folder / "s.store", source, spark=spark, changes=folder / "changes")
    print("started", flush=True)
    stream.wait()


def kill_streams(folder: Path, times: int, seed: int, say: bool = False) -> int:
    """Kills a stream so many times; how many batches there were, every one of them a version, and nothing lost."""
    random, store = Random(seed), folder / "s.store"
    kb = everlog.KnowledgeBase(RULES)
    kb.add({"edge": [(0, 1)]})
    kb.materialise()
    kb.save(store)
    (folder / "in").mkdir()
    facts, sent = {(0, 1)}, 0
    while times > 0:
        process = subprocess.Popen(
            [sys.executable, __file__, "work", str(folder)], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            assert process.stdout is not None and process.stdout.readline() == "started\n"
            before, lives = current_version(store), random.uniform(0.0, _LONGEST)
            waits = random.random() > _AT_ONCE
            end = time.monotonic() + lives
            while time.monotonic() < end or waits:
                assert process.poll() is None, "the stream has ended by itself"
                if waits and current_version(store) > before:
                    waits, end = False, time.monotonic() + lives
                if sent - current_version(store) < _WAITING:
                    sent += 1
                    _send(folder / "in", sent, random, facts)
                time.sleep(random.uniform(0.0, 1.0))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        times -= 1
        _check_versions(store)
        if say:
            print(f"{times} to go: {sent} files sent, version {committed_versions(store)[-1]}", flush=True)
    _finish(folder)
    versions = committed_versions(store)[-1] - 1
    # Spark's list of files may be a file ahead of its batches when it is killed: then the next batch has two.
    assert 0 < versions <= sent
    found = everlog.open(store)
    assert set(found.rows("edge")) == facts
    again = everlog.KnowledgeBase(RULES)
    again.add({"edge": sorted(facts)})
    again.materialise()
    assert set(found.rows("reach")) == set(again.rows("reach"))
    assert len(list((folder / "changes").glob("*.jsonl"))) == versions
    return versions


def _send(folder: Path, number: int, random: Random, facts: set[tuple[int, int]]) -> None:
    lines = ["x,y,op"]
    for _ in range(random.randrange(1, 30)):
        edge = (random.randrange(_NODES), random.randrange(_NODES))
        gone = random.random() < 0.4
        (facts.discard if gone else facts.add)(edge)
        lines.append(f"{edge[0]},{edge[1]},{'delete' if gone else 'insert'}")
    new = folder / f".{number}.csv"
    new.write_text("\n".join(lines) + "\n")
    os.utime(new, (1e9 + number, 1e9 + number))  # files of one moment would come in any order
    new.rename(folder / f"{number:06}.csv")


def _check_versions(store: Path) -> None:
    """Every version is the next batch."""
    batches = [
        [one.batch for one in read_manifest(store, version).streams.values()] for version in committed_versions(store)
    ]
    assert batches == [[]] + [[number] for number in range(len(batches) - 1)], batches


def _finish(folder: Path) -> None:
    """What is left, without anybody being killed."""
    from everlog.spark.session import start_session

    source = everlog.Source("edge", folder / "in", header=True, options={"maxFilesPerTrigger": 1})
    stream = everlog.stream(folder / "s.store", source, spark=start_session(), once=True, changes=folder / "changes")
    assert stream.wait(600)
    _check_versions(folder / "s.store")


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill streams at random moments; check what is in the store.")
    parser.add_argument("--times", type=int, default=100, help="how many to kill (100)")
    parser.add_argument("--seed", type=int, default=0, help="for the moments (0)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="everlog-crash-") as place:
        sent = kill_streams(Path(place), given.times, given.seed, say=True)
    print(f"{given.times} streams killed, {sent} batches: each is one version, and the store has what was sent")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(Path(sys.argv[2]))
    else:
        main()
