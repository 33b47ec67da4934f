"""Random programs and updates for as long as one likes; what `script/fuzz` runs.

    fuzzing.py [--engine memory|spark] [--minutes N] [--seed S]

Every case is decided by a number that starts at the seed, so that any of them can be run again alone. On the memory engine
each sequence of updates is followed by every algorithm, in turn with few and many threads and with blocks of two bindings;
on Spark, where a round takes long, many sequences are followed at once. The first failure is made small and shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import cycle, repeat
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any

from everlog import KnowledgeBase
from everlog.errors import EverlogError
from support.batches import joined
from support.cramped import cramped
from support.maintenance import CONFIGURATIONS, Mode, Truth, untrue, wrong
from support.sequences import Sequence, made, smallest_sequence

if TYPE_CHECKING:
    from support.on_spark import Expected

BATCHES = ((2_000, 20), (30, 2), (0, 1))
"""On Spark in turn: how many facts the driver takes, which is all that there are, some, or none; and how many sequences are
followed at once, fewer where each of their steps is a job."""


def numbered(number: int) -> Sequence:
    """The sequence with a number: mostly small, now and then larger."""
    random = Random(number)
    return made(random, rules=random.choice([3, 6, 6, 10]), updates=random.choice([5, 5, 8]))


class Fuzzer:
    def __init__(self, engine: str, seed: int, seconds: float) -> None:
        self._options: dict[str, Any] = {"engine": engine}
        self._batch, self._tiny = 1, 0
        self._turns = cycle(BATCHES)
        self._number = seed
        self._until = time.monotonic() + seconds
        self.sequences = self.updates = self.cases = 0

    def run(self) -> bool:
        """Until time is up; whether nothing was wrong."""
        while time.monotonic() < self._until:
            if self._options["engine"] == "spark":
                self._tiny, self._batch = next(self._turns)
            parts = [numbered(number) for number in range(self._number, self._number + self._batch)]
            followed = self._followed(parts[0] if self._batch == 1 else joined(parts))
            for configuration in CONFIGURATIONS:
                if time.monotonic() > self._until:
                    break
                with self._surroundings(self._number):
                    found = followed(configuration)
                if found is not None:
                    self._tell(parts, configuration, found)
                    return False
                self.cases += len(parts)
                if self._options["engine"] == "spark":
                    told = f"{len(parts)} from {self._number} on, {self._tiny} facts on the driver, {configuration}"
                    print(f"right: {told}; {self.cases} cases so far", flush=True)
                self.updates += sum(len(part.updates) for part in parts)
            self.sequences += len(parts)
            self._number += self._batch
        return True

    def _followed(self, sequence: Sequence) -> Callable[[tuple[str, Mode]], str | None]:
        """What is wrong with a way to follow a sequence."""
        if self._options["engine"] == "spark":
            from support.on_spark import Expected

            return partial(wrong_on_spark, Expected(sequence))
        truth = Truth(sequence)
        return lambda configuration: untrue(truth, [configuration], **self._options)

    def _surroundings(self, number: int) -> Any:
        if self._options["engine"] == "spark":
            return _driver_takes(self._tiny)
        self._options["workers"] = 1 + number % 2
        return cramped(2) if number % 5 == 0 else nullcontext()

    def _tell(self, parts: list[Sequence], configuration: tuple[str, Mode], found: str) -> None:
        print(f"case {self._number} is wrong: {found}", flush=True)
        for number, part in enumerate(parts, start=self._number):
            with self._surroundings(self._number):

                def fault(one: Sequence) -> str | None:
                    if self._options["engine"] == "spark":
                        return self._followed(one)(configuration)
                    return wrong(one, [configuration], **self._options)

                if fault(part) is not None:
                    small = smallest_sequence(part, lambda one: fault(one) is not None)
                    print(f"case {number} made small: {fault(small)}\n{small}")
                    return
        print("no part is wrong alone")


@contextmanager
def _driver_takes(rows: int) -> Iterator[None]:
    """Lets the Spark engine have sets of so many facts on the driver."""
    from everlog.engine.spark import tuning

    before, tuning.DRIVER_FACTS = tuning.DRIVER_FACTS, rows
    yield
    tuning.DRIVER_FACTS = before


def wrong_on_spark(expected: Expected, configuration: tuple[str, Mode]) -> str | None:
    """What is wrong with facts and counts when a knowledge base on Spark follows a sequence."""
    from everlog.spark.session import start_session
    from support.on_spark import follow

    algorithm, mode = configuration
    try:
        KnowledgeBase(expected.sequence.case.program, engine="memory").materialise()
    except EverlogError:
        return None  # no program at all, as can happen when one is made smaller
    try:
        follow(expected, start_session(brief=True), repeat(algorithm), algorithm, mode)
    except Exception as found:
        return f"{algorithm}, {mode}: {type(found).__name__}: {found}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", choices=["memory", "spark"], default="memory")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}, {arguments.engine} engine, {arguments.minutes:g} minutes", flush=True)
    fuzzer = Fuzzer(arguments.engine, arguments.seed, 60 * arguments.minutes)
    right = fuzzer.run()
    print(
        f"seed {arguments.seed}: {fuzzer.cases} cases ({fuzzer.sequences} sequences with {len(CONFIGURATIONS)} ways to "
        f"follow them; {fuzzer.updates} updates), {'all right' if right else 'the last one is wrong'}"
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
