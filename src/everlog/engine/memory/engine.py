"""The memory engine: the dictionary, the relations, and the threads that evaluate join plans.

It executes plans and knows no rule and no algorithm; planning (`planning/`) makes the plans. Joins of enough rows are
shared by `workers` threads: each takes a share of the drivers' rows and collects heads until its buffers are full; then
all heads are entered, again by all threads, and the joins go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial, reduce
from operator import ior
from threading import Lock
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import TRIPLE, Atom, Constant, Term, Variable
from everlog.datalog.values import RDF_TYPE, SAME_AS, Value, identity
from everlog.engine.algebra import Closed, Engine, FactSet, Region
from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.annotations import DenseAnnotation, RowAnnotation, SparseAnnotation
from everlog.engine.memory.facts.closed_facts import ClosedFacts, Closure, changed_facts
from everlog.engine.memory.facts.region_filters import RegionFilter
from everlog.engine.memory.facts.relation import Relation, Triples
from everlog.engine.memory.facts.rows import NO_ROWS, Rows, full_facts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.facts.table_entry import Entry
from everlog.engine.memory.joins.join_plan import Call, Literal, Worker
from everlog.engine.memory.term_kinds import BLANK, STRING
from everlog.errors import ArityMistake
from everlog.interrupts import Team, aside, look
from everlog.wording import counted


class CountingSink(Protocol):
    """A sink that can be emptied when it is full, and counts the bindings that it takes by worker."""

    @property
    def instances(self) -> list[int]: ...

    def flush(self) -> None: ...


class MemoryEngine(Engine):
    """Facts in memory, joined by compiled loops."""

    def __init__(self, dictionary: Dictionary | None = None, workers: int | None = None) -> None:
        self.workers = max(1, min(workers or os.cpu_count() or 1, tuning.MOST_WORKERS))
        self.shards = 1 << (self.workers - 1).bit_length()
        self.dictionary = Dictionary() if dictionary is None else dictionary
        self.derivations = 0
        self._relations: dict[str, Relation] = {}
        self._constants: dict[tuple[str, object], int] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._pool_of = 0
        """The process that has its threads."""
        self._workers = [Worker(number) for number in range(self.workers)]
        self._nullary: dict[str, tuple[Relation, Mapping[Table, Rows]]] = {}
        """The rows of facts of nullary predicates that were asked for; sets of them would have the engine in a circle."""
        self._regions: WeakKeyDictionary[Region, RegionFilter] = WeakKeyDictionary()
        self._region_literals: dict[Atom, Literal] = {}
        self.remembered: WeakKeyDictionary[MemoryFacts, dict[object, object]] = WeakKeyDictionary()
        """What is worth remembering about sets of facts, as long as somebody has them."""

    # ------------------------------------------------------------------------------------ relations and literals

    def relation(self, predicate: str, arity: int) -> Relation:
        """The relation of a predicate, made when it is first mentioned."""
        found = self._relations.get(predicate)
        if found is None:
            if predicate == TRIPLE and arity == 3:
                found = Triples(predicate, self.dictionary.encode_value(RDF_TYPE), self.shards)
            else:
                found = Relation(predicate, arity, self.shards)
            self._relations[predicate] = found
        elif found.arity != arity:
            raise ArityMistake(f"{predicate} has {counted(found.arity, 'argument')} elsewhere and {arity} here")
        return found

    def property_table(self, verb: Value) -> Table:
        """The table of the triples with a property."""
        table = self.relation(TRIPLE, 3).static({1: self.constant(verb)})
        assert table is not None, "triples are split by their properties"
        return table

    def ends(self, verb: Value, facts: MemoryFacts) -> Ids:
        """The subjects and objects of the triples with a property in a set: two rows of an array."""
        table = self.property_table(verb)
        found: Ids = full_facts(table, facts.rows(table), 3)[[0, 2]]
        return found

    def loops(self, verb: Value, facts: MemoryFacts) -> Ids:
        """The constants that are both subject and object of a triple with a property in a set."""
        left, right = self.ends(verb, facts)
        found: Ids = left[left == right]
        return found

    def different_names(self, pairs: Ids) -> NDArray[np.bool_]:
        """Which pairs, one per column, are of two strings, IRIs or blank nodes: only these can be made one."""
        kinds = self.dictionary.kinds(pairs)
        names = (kinds >= STRING) & (kinds <= BLANK) & (pairs != self.constant(SAME_AS))
        found: NDArray[np.bool_] = (pairs[0] != pairs[1]) & names.all(axis=0)
        return found

    def relations(self) -> Mapping[str, Relation]:
        return self._relations

    def literal(self, atom: Atom, numbers: Mapping[Variable, int], negative: bool = False) -> Literal:
        """An atom as the engine matches it, with numbers for its variables."""
        terms = tuple(self.term(term, numbers) for term in atom.terms)
        return Literal(self.relation(atom.predicate, len(terms)), terms, negative)

    def static(self, atom: Atom) -> Table:
        """The table of an atom whose facts are all those of a predicate or a property."""
        table = self.literal(atom, {term: place for place, term in enumerate(dict.fromkeys(atom.variables()))}).static
        assert table is not None, "an atom of one table"
        return table

    def term(self, term: Term, numbers: Mapping[Variable, int]) -> int:
        return ~self.constant(term.value) if isinstance(term, Constant) else numbers[term]

    def constant(self, value: Value) -> int:
        """The id of a value that is often asked for."""
        key = identity(value)
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = self.dictionary.encode_value(value)
        return known

    @contextmanager
    def scratch(self, without: str) -> Iterator[MemoryEngine]:
        """This engine, for a while: relations whose names start so are out of sight, new ones forgotten at the end."""
        before = self._relations, self.guard, self.derivations
        self._relations = {name: relation for name, relation in before[0].items() if not name.startswith(without)}
        self.guard = None  # an update may be under way, which is not to answer for this
        try:
            yield self
        finally:
            self._relations, self.guard, self.derivations = before

    # ------------------------------------------------------------------------------------ sets

    def empty(self) -> ComputedFacts:
        return ComputedFacts(self.within, {})

    def closing(self, I: FactSet, closures: Mapping[Atom, Closed]) -> MemoryFacts:
        known = {atom: closure for atom, closure in closures.items() if isinstance(closure, Closure)}
        return ClosedFacts(self, as_memory_facts(I), known) if known else as_memory_facts(I)

    def changed(
        self, then: FactSet, now: FactSet, explicit: tuple[FactSet, FactSet], sets: Sequence[FactSet]
    ) -> Sequence[FactSet]:
        if not isinstance(then, ClosedFacts) or not isinstance(now, ClosedFacts):
            return sets
        return changed_facts(self, then, now, explicit, sets)

    def union(self, sets: Iterable[ComputedFacts]) -> ComputedFacts:
        return reduce(ior, sets, self.empty())

    def annotation(self, sparse: bool = False) -> RowAnnotation:
        return (SparseAnnotation if sparse else DenseAnnotation)(self.within)

    def insert(self, predicate: str, facts: Ids, excluding: MemoryFacts | None = None) -> ComputedFacts:
        """The set of some facts, one per column of the array, without those in a set; they get rows if they have none."""
        parts: dict[Table, Rows] = {}
        for table, tuples, _ in self.relation(predicate, facts.shape[0]).split(facts):
            entry = Entry(table, 1, None if excluding is None else excluding.view(table))
            for lo in range(0, tuples.shape[1], tuning.ENTERED_FACTS):
                look()
                piece = np.ascontiguousarray(tuples[:, lo : lo + tuning.ENTERED_FACTS])
                entry.put(0, piece, piece.shape[1], np.arange(table.arity), NO_ROWS)
                entry.enter(self.parallel)
            parts[table] = entry.rows()
        return ComputedFacts(self.within, parts)

    def append(self, predicate: str, facts: Ids) -> ComputedFacts:
        """The set of some facts that are distinct and have no rows yet; nobody checks that."""
        parts: dict[Table, Rows] = {}
        for table, tuples, _ in self.relation(predicate, facts.shape[0]).split(facts):
            first = table.n
            table.append(tuples)
            parts[table] = row_sets.span(table, first, table.n)
        return ComputedFacts(self.within, parts)

    def insert_nullary(self, predicate: str) -> ComputedFacts:
        """The set of the one fact of a nullary predicate."""
        relation, rows = self._nullary.get(predicate, (None, None))
        if rows is None or relation is not self._relations.get(predicate):
            facts = self.insert(predicate, np.empty((0, 1), np.int32))
            rows = {table: facts.rows(table) for table in facts.tables()}
            self._nullary[predicate] = self._relations[predicate], rows
        return ComputedFacts(self.within, rows)

    def present(self, predicate: str, facts: Ids) -> ComputedFacts:
        """The set of those of some facts that have a row; nothing is stored."""
        parts: dict[Table, Rows] = {}
        for table, tuples, _ in self.relation(predicate, facts.shape[0]).split(facts):
            found = table.find(tuples)
            parts[table] = row_sets.listed(table, row_sets.distinct(table, found[found >= 0]))
        return ComputedFacts(self.within, {table: rows for table, rows in parts.items() if len(rows)})

    def columns(self, facts: MemoryFacts, predicate: str, arity: int = 0) -> Ids:
        """The facts of one predicate in a set, one per column of the array; of the given arity if there is none."""
        relation = self._relations.get(predicate)
        if relation is None:
            return np.empty((arity, 0), np.int32)
        mine = [table for table in facts.tables() if table.predicate == predicate]
        pieces = [aside(facts.size(table), table.full_facts, facts.tuples(table), relation.arity) for table in mine]
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate([np.empty((relation.arity, 0), np.int32), *pieces], axis=1)

    def arguments(self, facts: MemoryFacts, predicate: str, places: Sequence[int]) -> list[Ids]:
        """Some arguments of the facts of one predicate in a set, each an array that is not to be written to.

        All have the same order. Those of consecutive rows of a table are not copied.
        """
        mine = [table for table in facts.tables() if table.predicate == predicate]
        pieces = [table.arguments(facts.tuples(table), places) for table in mine]
        if len(pieces) == 1:
            return pieces[0]
        return [np.concatenate([NO_ROWS, *(piece[at] for piece in pieces)]) for at in range(len(places))]

    def meets(self, literal: Literal, region: Region) -> bool:
        """Whether a literal can match a fact of a region."""
        regional = self.within(region)
        return any(regional.decided(table) is not False for table in literal.tables())

    def region_literal(self, atom: Atom) -> Literal:
        """An atom of a region; a program that changes by a rule has regions of nearly the same atoms as before."""
        found = self._region_literals.get(atom)
        if found is None or found.relation is not self._relations.get(atom.predicate):
            numbers = {variable: number for number, variable in enumerate(atom.variables())}
            found = self._region_literals[atom] = self.literal(atom, numbers)
        return found

    def within(self, region: Region) -> RegionFilter:
        """What tells which facts are in a region."""
        found = self._regions.get(region)
        if found is None:
            found = self._regions[region] = RegionFilter(self, region)
        return found

    # ------------------------------------------------------------------------------------ evaluation

    def run(self, calls: Sequence[Call], sink: CountingSink, shared: bool = True) -> None:
        """Evaluates plans, each driven by the facts of a set; with `shared`, on all threads if there is enough to do."""
        tasks, total = [], 0
        for call in calls:
            for table, rows, lo, hi in call.driving():
                tasks.append((call, table, rows, lo, hi))
                total += hi - lo
        least, share = tuning.SHARED_DRIVER_ROWS, tuning.BINDINGS_PER_BLOCK
        # Threads take turns where each plan has few rows: to call kernels takes longer than these do.
        workers = self.workers if shared and total >= max(least, len(tasks) * (least >> 3)) else 1
        if workers == 1:
            for call, table, rows, lo, hi in tasks:
                look()
                for _ in call.plan.run(call, self._workers[0], table, rows, lo, hi):
                    self._enter(sink)
            self._enter(sink)
            return
        share = max(least, min(share, total // (8 * workers)))
        shares = (
            (call, table, rows, start, min(start + share, hi))
            for call, table, rows, lo, hi in tasks
            for start in range(lo, hi, share)
        )
        lock = Lock()
        running: list[Iterator[None] | None] = [None] * workers
        idle = [False] * workers

        def fill(worker: int) -> None:
            while True:
                current = running[worker]
                if current is None:
                    with lock:
                        piece = next(shares, None)
                    if piece is None:
                        idle[worker] = True
                        return
                    call, table, rows, lo, hi = piece
                    current = running[worker] = call.plan.run(call, self._workers[worker], table, rows, lo, hi)
                for _ in current:
                    return
                running[worker] = None
                self._guarded(sink)

        while not all(idle):
            look()
            self.parallel([partial(fill, worker) for worker in range(workers) if not idle[worker]], undoable=True)
            self._enter(sink)

    def _enter(self, sink: CountingSink) -> None:
        """Enters the heads that were found, with a look before and after at what is allowed."""
        self._guarded(sink, entered=False)
        sink.flush()
        self._guarded(sink)

    def _guarded(self, sink: CountingSink, entered: bool = True) -> None:
        if self.guard is not None:
            self.guard(sum(sink.instances), entered)

    def parallel(self, jobs: Sequence[Callable[[], None]], undoable: bool = False) -> None:
        """Runs jobs, the first one on this thread; raises what one of them raises, after all have ended.

        What is `undoable` may be given up while this thread waits for others.
        """
        if len(jobs) < 2:
            for job in jobs:
                job()
            return
        if self._pool is None or self._pool_of != os.getpid():
            # A forked process has none of the threads.
            self._pool, self._pool_of = ThreadPoolExecutor(self.workers - 1 or 1, "everlog"), os.getpid()
        team = Team()
        others = [self._pool.submit(team.run, job) for job in jobs[1:]]
        try:
            jobs[0]()
            for other in others if undoable else ():
                while not _ended(other):
                    look()
        except BaseException:
            team.give_up()
            raise
        finally:
            for other in others:
                other.exception()
            team.disband()
        for other in others:
            other.result()

    def bytes_of(self, predicate: str) -> int:
        relation = self._relations.get(predicate)
        return 0 if relation is None else sum(sum(table.nbytes().values()) for table in relation.tables())

    def forget(self, predicate: str) -> None:
        relation = self._relations.get(predicate)
        for table in () if relation is None else relation.tables():
            table.clear()


def _ended(job: Future[None]) -> bool:
    """Waits a while for a job to end."""
    try:
        job.exception(tuning.WAIT_SECONDS)
    except TimeoutError:
        return job.done()
    return True
