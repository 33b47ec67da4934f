"""Long lives of knowledge bases for as long as one likes; what `script/fuzz --long` runs.

    fuzzing.py [--engine memory|turns] [--minutes N] [--seed S] [--jobs N] [--updates N] [--kinds a,b]

A life has forty updates and more in memory, with failures, interrupts, compactions, stores and other rules in between. With
`turns` it is shorter, and every store may be opened by the other engine. Each is decided by a number that starts at the
seed. The first failure ends it: the life is made small and shown. Lives are shared by processes, each with its own Spark
session.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, fields, replace
from itertools import count
from pathlib import Path
from random import SystemRandom
from typing import Any, Final

from long_sequences.following import Tally, smallest, wrong
from long_sequences.scenarios import Interests, life

INTERESTS: Final = {
    "memory": Interests(updates=42, stores=0.005, failures=0.05, interrupts=0.04, rules=0.25),
    "turns": Interests(
        updates=8, stores=0.5, engines=("memory", "memory", "spark"), failures=0.05, interrupts=0.0, rules=0.4
    ),
}


def run(engine: str, seed: int, seconds: float, share: tuple[int, int], **interests: Any) -> tuple[Tally, str | None]:
    """Lives until time is up, and what went wrong in the last one."""
    from everlog.spark.session import start_session

    spark = start_session(brief=True)
    until, tally = time.monotonic() + seconds, Tally()
    folder = Path(tempfile.mkdtemp(prefix="everlog-fuzz-"))
    wanted = replace(INTERESTS[engine], **interests)
    for number in count(seed + share[0], share[1]):
        if time.monotonic() > until:
            break
        surroundings = {"tally": tally, "spark": spark, "folder": folder}
        one = life(number, wanted)
        found = wrong(one, **surroundings)
        if found is not None:
            small = smallest(one, **surroundings)
            return tally, f"life {number} is wrong: {found}\nmade small: {wrong(small, **surroundings)}\n{small}"
        shutil.rmtree(folder)
        folder.mkdir()
    shutil.rmtree(folder, ignore_errors=True)
    return tally, None


def together(tallies: list[Tally]) -> Tally:
    """What happened in several processes."""
    found = Tally()
    for one in tallies:
        for part in fields(Tally):
            mine, theirs = getattr(found, part.name), getattr(one, part.name)
            if part.name == "kinds":
                for kind, number in theirs.items():
                    mine[kind] = mine.get(kind, 0) + number
            else:
                setattr(found, part.name, max(mine, theirs) if part.name == "slowest" else mine + theirs)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", choices=sorted(INTERESTS), default="memory")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--updates", type=int)
    parser.add_argument("--kinds")
    parser.add_argument("--share", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.share is None:
        return _shared(arguments)
    interests: dict[str, Any] = {}
    if arguments.updates:
        interests["updates"] = arguments.updates
    if arguments.kinds:
        interests["kinds"] = tuple(arguments.kinds.split(","))
    share = arguments.share, arguments.jobs
    tally, found = run(arguments.engine, arguments.seed, 60 * arguments.minutes, share, **interests)
    print(json.dumps({"tally": asdict(tally), "wrong": found}))
    return 0 if found is None else 1


def _shared(arguments: argparse.Namespace) -> int:
    print(
        f"seed {arguments.seed}, {arguments.engine}, {arguments.minutes:g} minutes, {arguments.jobs} jobs", flush=True
    )
    command = [sys.executable, __file__, *sys.argv[1:], "--seed", str(arguments.seed)]
    jobs = [
        subprocess.Popen([*command, "--share", str(share)], stdout=subprocess.PIPE, text=True)
        for share in range(arguments.jobs)
    ]
    tallies, failed = [], False
    for job in jobs:
        text, _ = job.communicate()
        try:
            outcome = json.loads(text.splitlines()[-1])
        except (IndexError, ValueError):
            print(f"a process ended with {job.returncode} and said: {text}")
            failed = True
            continue
        tallies.append(Tally(**outcome["tally"]))
        if outcome["wrong"]:
            print(outcome["wrong"])
            failed = True
    tally = together(tallies)
    print(f"seed {arguments.seed}: {tally}, {'something is wrong' if failed else 'all right'}; {tally.kinds}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
