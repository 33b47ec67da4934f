"""The memory engine as a reasoner uses it: facts are arrays of ids, one fact per column.

Computing everything anew happens in a new engine with the same dictionary: that is several times faster than in tables with
rows of facts that are gone, and the old engine has what was there before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog import interrupts
from everlog.datalog.syntax import HIDDEN, Atom, Constant, Rule
from everlog.datalog.values import Value
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.backend import (
    Backend,
    Difference,
    KeptState,
    Matched,
    Matching,
    Measured,
    Policy,
    Progress,
    Recovered,
)
from everlog.engine.kept_kinds import CLASSES
from everlog.engine.memory import clashes, kept_relations, names, tuning
from everlog.engine.memory.classes import MemoryClasses
from everlog.engine.memory.dictionary import NTRIPLES_METADATA, Dictionary, KnownLists
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.closed_facts import ClosedFacts
from everlog.engine.memory.facts.rows import Rows
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.graphs.graphs import MemoryGraphs
from everlog.engine.memory.joins.closed_atoms import Narrowing
from everlog.engine.memory.joins.match_columns import looked_up, match_columns, matched_again
from everlog.engine.memory.joins.matcher import MemoryMatcher
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.engine.memory.kernels.compiling import Compiled
from everlog.engine.memory.names import AnyNames, ByPredicate, MemoryBatch, MemoryNames, MemoryWorld, nonempty
from everlog.engine.memory.statistics import literal_columns, memory_facts
from everlog.planning.compiled_program import prepared
from everlog.planning.decomposition.decomposition_choice import TREES
from everlog.planning.decomposition.size_estimates import Explicit, Statistics
from everlog.planning.literal_places import Place
from everlog.planning.modules.module_choice import Joined, PathCounts, Verdicts, judged
from everlog.planning.modules.module_rules import Module, meets
from everlog.sources.fact_columns import Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.shelf import MemoryShelf
    from everlog.sources.read_facts import Read
    from everlog.store.commit import Writing
    from everlog.store.publishing.fact_files import FiledFacts


class MemoryBackend(Backend[MemoryBatch, Ids, ByPredicate]):
    """A memory engine; a new one unless it is given."""

    name = "memory"
    policy = Policy(
        counts_on_demand=True, tries_rules_before_chains=True, measures_rules_apart=True, keeps_names_apart=True
    )

    def __init__(
        self, workers: int | None = None, dictionary: Dictionary | None = None, engine: MemoryEngine | None = None
    ) -> None:
        self._compiled = Compiled()
        self._engine = MemoryEngine(dictionary, workers) if engine is None else engine
        self._listed: WeakKeyDictionary[Rows, tuple[Table, ref[Ids]]] = WeakKeyDictionary()
        """Facts of rows of a table, for as long as somebody has them."""

    @property
    def engine(self) -> MemoryEngine:
        return self._engine

    # ------------------------------------------------------------------------------------ rules

    def compiler(self) -> MemoryCompiler:
        return MemoryCompiler(self._engine)

    def matcher(self) -> MemoryMatcher:
        return MemoryMatcher(self._engine)

    def graphs(self) -> MemoryGraphs:
        return MemoryGraphs(self._engine)

    def statistics(self, given: FactSet) -> Explicit:
        return memory_facts(self._engine)

    def verdicts(self, rules: Sequence[Rule], given: FactSet) -> Verdicts:
        return partial(
            judged,
            facts=len(given),
            continued=partial(self._continued, rules, given),
            spread=partial(self._spread, rules, given),
            joined=self._joined(rules),
        )

    def _joined(self, rules: Sequence[Rule]) -> Joined:
        """How many facts some rules join, with how many matches, by estimates."""
        statistics = cache(lambda: Statistics(prepared(rules), memory_facts(self._engine)))

        def joined(rule: Rule) -> PathCounts:
            body = statistics().body(rule.positive)
            found = body.joined(range(len(rule.positive)))
            return PathCounts(round(sum(atom.size for atom in body.atoms)), round(found.size))

        return joined

    def _continued(self, rules: Sequence[Rule], given: FactSet, module: Module) -> PathCounts | None:
        """How many facts of a module's relation are continued by others, if it has no facts but explicit ones."""
        if any(meets(rule.head, module.atom) for rule in rules if rule not in module.rules):
            return None
        return PathCounts(*self.graphs().continued(module.atom, given))

    def _spread(self, rules: Sequence[Rule], given: FactSet, modules: Sequence[Module]) -> PathCounts | None:
        """How many ways there are to continue a fact of some chains by another one, if no other rules derive any."""
        own_rules = {rule for module in modules for rule in module.rules}
        plans = [module.chains for module in modules if module.chains is not None]
        letters = list(dict.fromkeys(atom for plan in plans for atom in plan.letters))
        backwards = any(letter % 2 for plan in plans for moves in plan.moves for move in moves for letter in move)
        if backwards or any(
            rule not in own_rules and any(meets(rule.head, atom) for atom in letters) for rule in rules
        ):
            return None
        return PathCounts(*self.graphs().spread(letters, given))

    def literals(self, facts: FactSet, places: Collection[Place]) -> frozenset[Place]:
        return literal_columns(self._engine, as_memory_facts(facts), places)

    def measured(self, progress: Progress) -> Measured:
        return _Compiling(self._compiled, progress)

    # ------------------------------------------------------------------------------------ facts in

    def encoded(self, columns: Mapping[str, Columns], read: Read | None = None, add: bool = True) -> list[MemoryBatch]:
        batches = [(predicate, self._ids(facts)) for predicate, facts in columns.items()]
        look_up = self._engine.dictionary.encode_ntriples if add else self._engine.dictionary.find_ntriples
        for predicate, block in () if read is None else read.blocks():
            if not len(block.numbers):
                batches.append((predicate, block.numbers[:, :1]))
                continue
            ids = look_up(block.texts)[block.numbers]
            batches.append((predicate, ids if add else ids[:, (ids >= 0).all(axis=0)]))
        return batches

    def _ids(self, facts: Columns) -> Ids:
        if not facts.columns:
            return np.empty((0, min(facts.height, 1)), np.int32)
        ids: Ids = np.empty((len(facts.columns), facts.height), np.int32)
        lists = KnownLists()
        for place, column in enumerate(facts.columns):
            ids[place] = column.encoded(self._engine.dictionary, lists)
        return ids

    def entered(self, batches: Iterable[MemoryBatch], excluding: FactSet | None = None) -> FactSet:
        known = None if excluding is None else as_memory_facts(excluding)
        return self._engine.union(self._engine.insert(*batch, excluding=known) for batch in batches)

    def appended(self, batches: Iterable[MemoryBatch]) -> FactSet:
        """Facts that are distinct and new: nothing has to be looked for."""
        return self._engine.union(self._engine.append(*batch) for batch in batches)

    def present(self, batches: Sequence[MemoryBatch]) -> FactSet:
        return self._engine.union(self._engine.present(*batch) for batch in batches)

    def predicates(self, batches: Sequence[MemoryBatch]) -> frozenset[str]:
        return frozenset(predicate for predicate, _ in batches)

    def fresh(self) -> MemoryBackend:
        after = MemoryBackend(engine=MemoryEngine(self._engine.dictionary, self._engine.workers))
        after._compiled = self._compiled
        return after

    def taken(self, facts: FactSet, other: Backend[MemoryBatch, Ids, ByPredicate], new: bool = True) -> FactSet:
        assert isinstance(other, MemoryBackend)
        columns = other.engine.columns
        batches = ((predicate, columns(as_memory_facts(facts), predicate)) for predicate in other.arities())
        return self.appended(batches) if new else self.entered(batches)

    def mentions(self, verb: Value) -> int:
        return self._engine.property_table(verb).n

    # ------------------------------------------------------------------------------------ facts out

    def arities(self) -> dict[str, int]:
        relations = self._engine.relations().items()
        return {name: relation.arity for name, relation in relations if not name.startswith(HIDDEN)}

    def counts(self, facts: FactSet) -> dict[str, int]:
        found: Counter[str] = Counter()
        for table in as_memory_facts(facts).tables():
            if not table.predicate.startswith(HIDDEN):
                found[table.predicate] += as_memory_facts(facts).size(table)
        return dict(found)

    def count(self, facts: FactSet) -> int:
        return sum(self.counts(facts).values())

    def listed(self, facts: FactSet, predicate: str, arity: int) -> Ids:
        return self._engine.columns(as_memory_facts(facts), predicate, arity)

    def size(self, listed: Ids) -> int:
        return int(listed.shape[1])

    def first(self, listed: Ids, number: int, after: int | None = None) -> Ids:
        if after is None:
            return listed[:, :number]
        return listed[:, np.lexsort(listed[::-1])[after : after + number]]

    def few(self, number: Callable[[], int]) -> bool:
        return True

    def table(self, listed: Ids, arity: int, few: bool = True) -> pa.Table:
        decode, n = self._engine.dictionary.decode_field, listed.shape[1]
        decoded = [interrupts.aside(n, decode, f"a{number}", column) for number, column in enumerate(listed)]
        if not decoded:
            # A table without columns has as many rows as the fact of a nullary predicate has times: one or none.
            return pa.Table.from_struct_array(pa.array([{}] * n, pa.struct([])))
        return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))

    def rows(self, listed: Ids, arity: int, few: bool = True) -> list[tuple[Value, ...]]:
        if listed.shape[0] == 0:
            return [()] * listed.shape[1]
        found: list[tuple[Value, ...]] = []
        for lo in range(0, listed.shape[1], tuning.DECODED_FACTS):
            interrupts.look()
            piece = listed[:, lo : lo + tuning.DECODED_FACTS]
            found.extend(zip(*(self._engine.dictionary.values(column) for column in piece), strict=True))
        return found

    def texts(self, listed: Ids, spark: Callable[[], SparkSession]) -> DataFrame:
        from everlog.spark.handover import to_spark
        from everlog.store.sections import stored_terms

        if not listed.shape[0]:
            return to_spark(spark(), pa.table({"present": pa.array([True] * listed.shape[1], pa.bool_())}))
        columns = {f"a{at}": stored_terms(self._engine.dictionary, column) for at, column in enumerate(listed)}
        return to_spark(spark(), pa.table(columns))

    def filed(self, listed: Mapping[str, tuple[Ids, int]], folder: Path) -> FiledFacts:
        from everlog.store.arrays import table_of
        from everlog.store.parquet_files import write_file
        from everlog.store.publishing.fact_files import FactFiles, FiledFacts, TermFiles
        from everlog.store.sections import stored_terms

        dictionary = self._engine.dictionary
        used = np.zeros(len(dictionary), np.bool_)
        facts = {}
        for number, (predicate, (ids, arity)) in enumerate(listed.items()):
            used[ids] = True
            facts[predicate] = FactFiles.of_table(table_of(ids), arity, folder / f"facts-{number}.parquet")
        ids = np.flatnonzero(used).astype(np.int32)
        terms = pa.table({"id": ids.astype(np.int64), "term": stored_terms(dictionary, ids)})
        return FiledFacts(facts, TermFiles((write_file(terms, folder / "terms.parquet"),), len(dictionary)))

    def dataframe(self, listed: Ids, arity: int, spark: Callable[[], SparkSession]) -> DataFrame:
        from everlog.sources.typed_columns import NTRIPLES
        from everlog.spark.handover import to_spark

        table = self.table(listed, arity)
        frame = to_spark(spark(), table)
        for field in table.schema:
            if field.metadata and NTRIPLES_METADATA.items() <= field.metadata.items():
                frame = frame.withMetadata(field.name, NTRIPLES)
        return frame

    @contextmanager
    def scratch(self) -> Iterator[MemoryBackend]:
        with self._engine.scratch(without=HIDDEN) as engine:
            yield MemoryBackend(engine=engine)

    def narrowed(self, rules: Sequence[Rule], facts: FactSet) -> tuple[Sequence[Rule], FactSet]:
        if not isinstance(facts, ClosedFacts):
            return rules, facts
        narrowing = Narrowing(self._engine, facts, unknown={rule.head.predicate for rule in rules})
        bodies = [narrowing.body(rule.body) for rule in rules]
        return [replace(rule, body=tuple(body)) for rule, body in zip(rules, bodies, strict=True)], narrowing.facts

    def query_dictionary(self) -> tuple[Dictionary, bool]:
        return self._engine.dictionary, False

    def batch(self, predicate: str, ids: Ids, dictionary: Dictionary) -> MemoryBatch:
        return predicate, ids[np.newaxis]

    def columns(self, listed: Ids, arity: int, dictionary: Dictionary) -> Ids:
        return listed

    def matches(self, asked: Matching, dictionary: Dictionary, names: AnyNames | None = None) -> Matched:
        if isinstance(asked.I, ClosedFacts):
            with self.scratch() as scratch:
                return scratch._narrowly_matched(asked, asked.I, dictionary)
        if names is None and not asked.seeds:
            guard, self._engine.guard = self._engine.guard, None
            try:
                facts = as_memory_facts(asked.I)
                known = matched_again(
                    self._engine, facts, tuple(asked.atoms), asked.variables, asked.check, asked.first
                )
            finally:
                self._engine.guard = guard
            if known is not None:
                return known
        if not _are_known(asked.atoms, dictionary):
            return 0, np.empty((len(asked.variables), 0), np.int32)
        if names is None and len(asked.atoms) == len(asked.seeds) == 1:  # a step of a path: no relation is new for that
            facts, atom = as_memory_facts(asked.I), asked.atoms[0]
            found = looked_up(self._engine, facts, atom, asked.variables, asked.seeds)
            if found is not None:
                asked.check(found.shape[1])
                return found.shape[1], found
        with self.scratch() as scratch:
            return scratch._matches(asked, names)

    def _narrowly_matched(self, asked: Matching, facts: ClosedFacts, dictionary: Dictionary) -> Matched:
        """Matches in facts of which some relations are closed; names are not rewritten then."""
        if not _are_known(asked.atoms, dictionary):
            return 0, np.empty((len(asked.variables), 0), np.int32)
        narrowing = Narrowing(self._engine, facts, asked.check)
        atoms = [atom for atom in narrowing.body(asked.atoms, asked.seeds) if isinstance(atom, Atom)]
        return self._matches(replace(asked, I=narrowing.facts, atoms=atoms), None)

    def _matches(self, asked: Matching, names: AnyNames | None) -> Matched:
        atoms, seeds, facts = asked.atoms, asked.seeds, as_memory_facts(asked.I)
        if names is not None:
            assert isinstance(names, MemoryNames)
            atoms, seeds = names.over_representatives(atoms, seeds)
        first = asked.first if names is None else None
        number, ids = match_columns(self._engine, facts, atoms, asked.variables, seeds, asked.check, first)
        if names is None:
            return number, ids
        ids = names.in_all_names(ids, asked.variables, asked.atoms, asked.E)
        asked.check(ids.shape[1])
        return ids.shape[1] if asked.variables else number, ids

    def listed_matches(self, asked: Matching, names: AnyNames | None = None) -> tuple[int, Ids]:
        return self.matches(asked, self._engine.dictionary, names)

    def clashes(self, I: FactSet) -> list[str]:
        return clashes.clashes(self._engine, as_memory_facts(I))

    # ------------------------------------------------------------------------------------ what changes

    def part(self, facts: FactSet) -> ByPredicate:
        names = {table.predicate for table in as_memory_facts(facts).tables() if not table.predicate.startswith(HIDDEN)}
        return nonempty((name, self._columns(as_memory_facts(facts), name)) for name in sorted(names))

    def _columns(self, facts: MemoryFacts, predicate: str) -> Ids:
        """The facts of a predicate; what an update has deleted and what of it was derived are often the same rows."""
        tables = [table for table in facts.tables() if table.predicate == predicate]
        if len(tables) != 1 or not isinstance(facts, ComputedFacts):
            return self._engine.columns(facts, predicate)
        rows = facts.rows(tables[0])
        table, known = self._listed.get(rows, (None, None))
        found = None if known is None or table is not tables[0] else known()
        if found is None:
            found = self._engine.columns(facts, predicate)
            self._listed[rows] = tables[0], ref(found)
        return found

    def sizes(self, part: ByPredicate) -> dict[str, int]:
        return {predicate: ids.shape[1] for predicate, ids in part.items()}

    def part_listed(self, part: ByPredicate, predicate: str, arity: int) -> Ids:
        return part.get(predicate, np.empty((arity, 0), np.int32))

    def compared(
        self, then: MemoryWorld, now: MemoryWorld, deleted: Sequence[MemoryBatch], added: Sequence[MemoryBatch]
    ) -> Difference[ByPredicate]:
        if then.names is not None and now.names is not None and (then.names.several() or now.names.several()):
            return names.compared(then, now, deleted, added)
        before, after = then.backend, now.backend
        assert isinstance(before, MemoryBackend)
        assert isinstance(after, MemoryBackend)
        gained, lost = after.apart(now.I, before, then.I)
        plus = after.missing(now.E, self.predicates(added), before, then.E)
        minus = before.missing(then.E, self.predicates(deleted), after, now.E)
        derived_added = after._derived(now, gained, plus, minus)
        return Difference(plus, minus, gained, lost, derived_added, before._derived(then, lost, minus, plus))

    def _derived(
        self, world: MemoryWorld, some: ByPredicate, explicit: ByPredicate, others: ByPredicate
    ) -> ByPredicate:
        """Which of `some` facts, that hold in one of two worlds alone, and of `others` follow there and are not explicit.

        Those of the first kind that are explicit are among `explicit`: where a predicate has none, nothing is looked up.
        """
        found: dict[str, Ids] = {}
        for name in dict.fromkeys(chain(some, others)):
            pieces = []
            if name in some:
                ids = some[name]
                pieces.append(ids[:, ~self.among(world.E, name, ids)] if name in explicit else ids)
            if name in others:
                pieces.append(others[name][:, self.among(world.I, name, others[name])])
            found[name] = np.concatenate(pieces, axis=1) if len(pieces) > 1 else pieces[0]
        return nonempty(found.items())

    def apart(self, facts: FactSet, other: MemoryBackend, others: FactSet) -> tuple[ByPredicate, ByPredicate]:
        """Facts that only a set has, and those that only a set of another engine has.

        The larger set is looked up in the smaller first: if it has as many facts in common as there are, that is all.
        """
        only: tuple[dict[str, Ids], dict[str, Ids]] = {}, {}
        for predicate, arity in {**other.arities(), **self.arities()}.items():
            interrupts.look()
            sides = [(self, facts), (other, others)]
            listed = [one._engine.columns(as_memory_facts(those), predicate, arity) for one, those in sides]
            first = int(listed[1].shape[1] > listed[0].shape[1])
            second = 1 - first
            interrupts.look()
            known, there = sides[second]
            ids = only[first][predicate] = listed[first][:, ~known.among(there, predicate, listed[first])]
            if listed[first].shape[1] - ids.shape[1] < listed[second].shape[1]:
                known, there = sides[first]
                only[second][predicate] = listed[second][:, ~known.among(there, predicate, listed[second])]
        return nonempty(only[0].items()), nonempty(only[1].items())

    def missing(self, facts: FactSet, predicates: Iterable[str], other: MemoryBackend, others: FactSet) -> ByPredicate:
        """Facts of some predicates that a set has and a set of another engine has not."""

        def missing(predicate: str) -> Ids:
            interrupts.look()
            ids = self._engine.columns(as_memory_facts(facts), predicate)
            interrupts.look()
            return ids[:, ~other.among(others, predicate, ids)]

        return nonempty((predicate, missing(predicate)) for predicate in predicates)

    def among(self, facts: FactSet, predicate: str, ids: Ids) -> NDArray[np.bool_]:
        """Which of some facts of a predicate are in a set."""
        inside = np.zeros(ids.shape[1], np.bool_)
        relation = self._engine.relations().get(predicate)
        if relation is not None and ids.shape[1]:
            for table, tuples, places in relation.split(ids):
                if as_memory_facts(facts).is_closed(table):
                    inside[places] = as_memory_facts(facts).holds(table, tuples)
                    continue
                if table.has_groups and as_memory_facts(facts).view(table).has_all(table.n):
                    inside[places[table.present(tuples)]] = True  # its rows need not be known
                    continue
                found = table.find(tuples)
                stored = np.flatnonzero(found >= 0)
                inside[places[stored]] = as_memory_facts(facts).contains(table, found[stored])
        return inside

    def wasteful(self, alive: int) -> bool:
        relations = [one for name, one in self._engine.relations().items() if not name.startswith(TREES)]
        rows = sum(table.n for relation in relations for table in relation.tables())
        return rows > tuning.ROWS_WORTH_COMPACTING and rows > 2 * alive

    # ------------------------------------------------------------------------------------ what is kept, and equality

    def kept(self, state: KeptState) -> ByPredicate:
        return kept_relations.whole(self._engine, state)

    def kept_change(
        self,
        state: KeptState,
        sets: Difference[FactSet] | None,
        kinds: frozenset[str],
        names: tuple[AnyNames, AnyNames] | None = None,
        once: bool = True,
    ) -> tuple[ByPredicate, ByPredicate] | None:
        if sets is None or not once:
            return None
        more, fewer = kept_relations.change(self._engine, state, sets.added, sets.deleted)
        if names is not None:
            before, now = names
            assert isinstance(before.classes, MemoryClasses)
            assert isinstance(now.classes, MemoryClasses)
            more[CLASSES] = now.classes.other_pairs(before.classes)
            fewer[CLASSES] = before.classes.other_pairs(now.classes)
        return more, fewer

    def recovered(self, kept: Mapping[str, Ids], kinds: frozenset[str], I: FactSet) -> Recovered:
        return kept_relations.recovered(self._engine, kept, kinds, I)

    def shelf(self, writer: Writing) -> MemoryShelf:
        from everlog.engine.memory.shelf import MemoryShelf

        return MemoryShelf(self, writer)

    def encode_values(self, values: Sequence[Value]) -> list[int]:
        found: list[int] = self._engine.dictionary.encode_values(values).tolist()
        return found

    def names(self, classes: Classes | None = None) -> MemoryNames:
        return MemoryNames(self, MemoryClasses(self._engine) if classes is None else classes)


def _are_known(atoms: Sequence[Atom], dictionary: Dictionary) -> bool:
    """Whether a dictionary has all constants of some atoms."""
    constants = (term.value for atom in atoms for term in atom.terms if isinstance(term, Constant))
    return all(dictionary.find_value(value) >= 0 for value in constants)


class _Compiling(Measured):
    """Kernels are compiled when they are first needed, which takes long and happens once."""

    def __init__(self, compiled: Compiled, progress: Progress) -> None:
        self._compiled, self.progress = compiled, progress

    def seconds(self) -> dict[str, float]:
        return {"compilation": self._compiled.seconds()}

    def spark(self) -> None:
        return None
