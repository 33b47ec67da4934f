"""A knowledge base lives a life, and is held to the truth after everything that happens.

Facts are those that clingo finds, and the naive evaluator where that is quick, or the one for rules that compute. Reports
and changes say what changed. What is kept for updates is what a knowledge base has that starts again with the same facts.
An update that is refused, fails or is interrupted leaves everything as it was; one that is interrupted may also be done.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import everlog
from everlog import EverlogError, KnowledgeBase, Report
from everlog.datalog.printer import print_program, print_rule
from everlog.datalog.syntax import Program, Rule
from long_sequences.scenarios import Compaction, Event, Life, Storing, Update, shown
from long_sequences.surroundings import surrounded
from oracles import clingo_oracle, computing, equality, naive
from oracles.naive import Facts
from support.compacting import compact
from support.equalities import r_materialisation, rows
from support.maintenance import check_backbones

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CHECK_KEPT = 7
"""After so many updates, what is kept is compared with starting again."""

_BY_FORCE = 25
"""Up to so many facts in all the naive evaluator is asked, too."""

_COMPUTING = ("computing", "literals", "literals, equality")
"""Kinds of programs that clingo has no words for."""


class Untrue(AssertionError):
    """Something is not as it should be."""


class _Injected(Exception):
    """A failure on purpose."""


@dataclass
class Tally:
    """What has happened in all lives so far."""

    lives: int = 0
    updates: int = 0
    refused: int = 0
    failures: int = 0
    interrupts: int = 0
    stores: int = 0
    compactions: int = 0
    rules: int = 0
    slowest: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.lives} lives, {self.updates} updates, {self.refused} refused, {self.failures} failures, "
            f"{self.interrupts} interrupts, {self.stores} stores, {self.compactions} compactions, "
            f"{self.rules} changes of rules; "
            f"the slowest life took {self.slowest:.1f} s"
        )


class Follower:
    """Lives a life."""

    def __init__(
        self, life: Life, tally: Tally | None = None, spark: SparkSession | None = None, folder: Path | None = None
    ) -> None:
        self.life, self.tally = life, tally or Tally()
        self._spark, self._folder = spark, folder
        self._program = life.program
        self._named = {print_rule(rule): rule for rule in self._program.rules}
        self._truth: dict[tuple[Facts, frozenset[Rule]], Facts] = {}
        self._explicit = life.facts | naive.facts(self._program.facts)
        self._took = 0.0
        self._place: Path | None = None

    def live(self) -> None:
        """Raises `Untrue`, or whatever else goes wrong."""
        with surrounded(self.life.surroundings):
            begun = perf_counter()
            self._live()
            self.tally.lives += 1
            self.tally.slowest = max(self.tally.slowest, perf_counter() - begun)
            self.tally.kinds[self.life.kind] = self.tally.kinds.get(self.life.kind, 0) + 1

    def _live(self) -> None:
        self.kb = KnowledgeBase(self._program, engine="memory", **self.life.options)
        self.kb.add(rows(self.life.facts))
        self.kb.materialise()
        self._check("at the start")
        since = 0
        for number, event in enumerate(self.life.events, 1):
            self._happens(event, f"after event {number}")
            since += isinstance(event, Update)
            if since % _CHECK_KEPT == 0:
                self._check_kept(f"after event {number}")
        self._check_kept("in the end")

    def _happens(self, event: Event, when: str) -> None:
        if isinstance(event, Compaction):
            if not self._is_on_spark():
                compact(self.kb)
                self.tally.compactions += 1
                self._check(when)
        elif isinstance(event, Storing):
            self._store(event)
            self._check(when)
            self._check_kept(when)
        else:
            self._update(event, when)

    # ------------------------------------------------------------------------------------ updates

    def _update(self, event: Update, when: str) -> None:
        before, after = self._explicit, event.applied(self._explicit)
        report: Report | None = None
        if event.waits:
            self.kb.add(rows(event.add))
        given = {"add": {} if event.waits else rows(event.add), "delete": rows(event.delete)}
        old = self._program
        if event.rules is not None:
            wanted = tuple(rule for text, rule in self._named.items() if text in event.rules)
            given |= {
                "add_rules": Program(tuple(rule for rule in wanted if rule not in old.rules)),
                "delete_rules": Program(tuple(rule for rule in old.rules if rule not in wanted)),
            }
            self._program = replace(old, rules=wanted)
            self.tally.rules += 1
        begun = perf_counter()
        if event.fails_at is not None:
            report = self._failing(event, given, old, when)
        elif event.interrupted is not None:
            report = self._interrupted(event, given, (before, old), after, when)
        else:
            report = self._asked(given, event.algorithm, when)
        self._took = perf_counter() - begun
        self._explicit = after
        self.tally.updates += 1
        self._check(when)
        if report is not None:
            self._check_report(report, (before, old), after, event, when)

    def _asked(self, given: dict[str, Any], algorithm: str | None, when: str, progress: Any = None) -> Report:
        """An update; where an algorithm is refused for want of counts, by another one."""
        for name in (algorithm, "auto"):
            try:
                return self.kb.update(**given, algorithm=name, progress=progress)
            except EverlogError as refusal:
                if "needs counts that are not kept" not in str(refusal):
                    raise
                if name is None:
                    raise Untrue(f"{when}: the knowledge base's own algorithm is refused") from refusal
                self.tally.refused += 1
                if not self._is_on_spark() and not given.keys() & {"add_rules", "delete_rules"}:
                    self._check(f"{when}, refused")
        raise Untrue(f"{when}: auto is refused")

    def _failing(self, event: Update, given: dict[str, Any], old: Program, when: str) -> Report:
        """Fails at one call of `progress`, or at each of them in turn, and is then done."""
        assert event.fails_at is not None
        at = event.fails_at or 1
        while True:
            calls = 0

            def progress(stratum: int, number: int, new: int) -> None:
                nonlocal calls
                calls += 1
                if calls == at:  # noqa: B023
                    raise _Injected

            try:
                report = self._asked(given, event.algorithm, when, progress)
            except _Injected:
                self.tally.failures += 1
                self._check(f"{when}, failed at {at}", old)
                if event.fails_at:
                    return self._asked(given, event.algorithm, when)
                at += 1
            else:
                return report

    def _interrupted(
        self, event: Update, given: dict[str, Any], at_first: tuple[Facts, Program], after: Facts, when: str
    ) -> Report | None:
        assert event.interrupted is not None
        before, old = at_first
        rules = self.kb.program.rules
        with suppress(KeyboardInterrupt), _interrupt_after(max(1e-5, event.interrupted * self._took)):
            return self._asked(given, event.algorithm, when)
        self.tally.interrupts += 1
        found = self._facts("explicit")
        if found not in (before, after):
            raise Untrue(
                f"{when}: interrupted, explicit facts are neither the old nor the new ones: "
                f"{shown(found - before - after)} are in none, {shown((before & after) - found)} in both"
            )
        changed = self.kb.program.rules != rules
        if changed or found == after != before or (found == after and not self.kb._pending and event.rules is None):
            if changed != (set(self._program.rules) != set(old.rules)):
                raise Untrue(f"{when}: interrupted, facts are the new ones and rules are not, or the other way round")
            return None
        self._check(f"{when}, interrupted", old)
        return self._asked(given, event.algorithm, when)

    # ------------------------------------------------------------------------------------ stores

    def _store(self, event: Storing) -> None:
        assert self._folder is not None
        if self._place is None:
            self._place = self._folder / f"{id(self)}.store"
        self.kb.save(self._place)
        self.kb = everlog.open(self._place, spark=self._spark, engine=event.engine, workers=1)
        self.tally.stores += 1

    def _is_on_spark(self) -> bool:
        return self.kb.reasoner.backend.name == "spark"

    # ------------------------------------------------------------------------------------ the truth

    def _expected(self, explicit: Facts, program: Program | None = None) -> Facts:
        program = program or self._program
        rules, key = program.rules, (explicit, frozenset(program.rules))
        if key not in self._truth:
            evaluate = computing.materialise if self.life.kind in _COMPUTING else clingo_oracle.materialise
            if self.life.options["equality"] == "off":
                found = evaluate(rules, explicit)
                if (
                    self.life.kind not in _COMPUTING
                    and len(found) <= _BY_FORCE
                    and naive.materialise(rules, explicit) != found
                ):
                    raise Untrue("the oracles do not agree")
            else:
                found = equality.materialise(program, explicit, evaluate)
            self._truth[key] = found
        return self._truth[key]

    def _facts(self, which: str = "all") -> Facts:
        if self._is_on_spark() and which == "all":
            from support.on_spark import all_facts

            if self.life.options["equality"] != "rewrite":
                return all_facts(self.kb)
        kb = self.kb
        found = [naive.fact(name, *row) for name in kb.predicates() for row in kb.rows(name, which)]  # type: ignore[arg-type]
        if len(found) != len(set(found)):
            raise Untrue("a fact occurs twice")
        return frozenset(found)

    def _check(self, when: str, program: Program | None = None) -> None:
        expected, found = self._expected(self._explicit, program), self._facts()
        self._same(f"facts {when}", found, expected)
        if self._is_on_spark():
            return
        if len(self._truth) % 5 == 0:
            self._same(f"explicit facts {when}", self._facts("explicit"), self._explicit)
            self._same(f"derived facts {when}", self._facts("derived"), expected - self._explicit)
        size = sum(map(self.kb.size, self.kb.predicates()))
        if size != len(expected):
            raise Untrue(f"{when}: size is {size} instead of {len(expected)}")

    @staticmethod
    def _same(what: str, found: Facts, expected: Facts) -> None:
        if found != expected:
            raise Untrue(f"{what}: {shown(found - expected)} too many, {shown(expected - found)} missing")

    def _check_report(
        self, report: Report, before: tuple[Facts, Program], after: Facts, event: Update, when: str
    ) -> None:
        old, new = self._expected(*before), self._expected(after)
        wanted = (len(new - old), len(old - new), len(after), len(new))
        found = (report.added, report.deleted, report.facts["explicit"], report.facts["total"])
        if found != wanted:
            raise Untrue(f"{when}: the report says {found} instead of {wanted} (added, deleted, explicit, total)")
        if self._is_on_spark():
            return
        changes = {name: self.kb.changes(name) for name in self.kb.predicates()}
        for place, expected in ((0, new - old), (1, old - new)):
            number = sum(tables[place].num_rows for tables in changes.values())
            if number != len(expected):
                raise Untrue(f"{when}: changes have {number} facts instead of {len(expected)}")

    def _check_kept(self, when: str) -> None:
        """Compares what is kept with a knowledge base that starts again."""
        if self._is_on_spark():
            return
        if self.kb.reasoner.materialisation is None:
            self.kb.update(algorithm="auto")
            self._check(f"{when}, after an empty update")
        options = dict(self.life.options)
        anew = KnowledgeBase(self._program, engine="memory", **options)
        anew.add(rows(self._explicit))
        anew.materialise()
        mine, fresh = self.kb.reasoner.materialisation, anew.reasoner.materialisation
        if mine is None or fresh is None:
            return
        if options["equality"] == "rewrite":
            if r_materialisation(self.kb) != r_materialisation(anew):
                raise Untrue(f"{when}: representatives {r_materialisation(self.kb)} are not {r_materialisation(anew)}")
            return
        if options["equality"] == "off":
            check_backbones(self.kb)
        if _shape(mine) == _shape(fresh):
            names = mine.kept.names() & fresh.kept.names()
            kept, wanted = (_kept(kb, names) for kb in (self.kb, anew))
            if kept != wanted:
                wrong = [name for name in {**kept, **wanted} if kept.get(name) != wanted.get(name)]
                told = [f"{name}: {kept.get(name)} instead of {wanted.get(name)}" for name in wrong]
                raise Untrue(f"{when}: kept {'; '.join(told)}")


def _shape(materialisation: Any) -> object:
    """The modules and decompositions that a materialisation has."""
    return (
        sorted((module.kind, repr(module.heads)) for module in materialisation.module_list()),
        [sorted(repr(tree.rule) for tree in stratum.trees) for stratum in materialisation.strata],
    )


def _kept(kb: KnowledgeBase, names: frozenset[str]) -> dict[str, set[tuple[object, ...]]]:
    """What a store would have of hidden facts and of some counts, in values."""
    state: Any = kb.reasoner
    found = {}
    for name, ids in state.kept().items():
        kind, _, predicate = name.partition(":")
        if kind == "hidden" or kind in names:
            arity = state.engine.relations()[predicate].arity
            value = state.engine.dictionary.value
            rows = {(*(naive.key(value(one)) for one in row[:arity]), *row[arity:]) for row in ids.T.tolist()}
            if rows:
                found[name] = rows
    return found


@contextmanager
def _interrupt_after(seconds: float) -> Iterator[None]:
    """Sends this process an interrupt after some time, unless the block has ended by then."""
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def wrong(life: Life, **surroundings: Any) -> str | None:
    """What goes wrong in a life, in a line; None if nothing does."""
    try:
        Follower(life, **surroundings).live()
    except KeyboardInterrupt:
        raise
    except BaseException as found:
        return f"{type(found).__name__}: {found}"
    return None


def smallest(life: Life, **surroundings: Any) -> Life:
    """A life without what does not matter for what goes wrong in it."""

    def fails(one: Life) -> bool:
        found = wrong(one, **surroundings)
        return found is not None and not found.startswith(("UnsafeRule", "NotStratifiable", "SyntaxMistake"))

    life = _fewer_events(life, fails)
    for rule in life.program.rules:
        program = life.program
        kept = replace(program, rules=tuple(other for other in program.rules if other != rule))
        fewer = replace(life, text=print_program(kept))
        life = fewer if fails(fewer) else life
    for fact in sorted(life.facts, key=repr):
        fewer = replace(life, facts=life.facts - {fact})
        life = fewer if fails(fewer) else life
    for number, event in enumerate(life.events):
        if isinstance(event, Update):
            life = _smaller_update(life, number, fails)
    return _fewer_events(life, fails)


def _fewer_events(life: Life, fails: Any) -> Life:
    size = max(1, len(life.events) // 2)
    while size:
        start = 0
        while start < len(life.events):
            fewer = replace(life, events=life.events[:start] + life.events[start + size :])
            if fails(fewer):
                life = fewer
            else:
                start += size
        size //= 2
    return life


def _smaller_update(life: Life, number: int, fails: Any) -> Life:
    for name in ("add", "delete"):
        for fact in sorted(getattr(life.events[number], name), key=repr):
            event = life.events[number]
            other = replace(event, **{name: getattr(event, name) - {fact}})
            fewer = replace(life, events=(*life.events[:number], other, *life.events[number + 1 :]))
            life = fewer if fails(fewer) else life
    return life
