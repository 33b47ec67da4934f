"""Classes of equal constants on Spark: facts stay where they are, the classes of several constants are on the driver.

What is renamed is small beside the facts, so that it is broadcast: a fact is rewritten by a look-up for each column. The
classes themselves are a dictionary from constants to representatives, and merging them is the driver's work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import pairwise

import numpy as np
from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.constants import replaced_in
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Rule, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value, term_order
from everlog.engine.algebra import Classes, FactSet, Images, Region
from everlog.engine.rule_constants import Vocabularies
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.driver_facts import DriverFacts, each_once
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.runs import Run, class_of
from everlog.engine.spark.facts.sets import EVERYTHING, ComputedFacts, SparkFacts, as_spark_facts, computed
from everlog.engine.spark.facts.sql_text import Table, select

Pairs = Sequence[tuple[int, int]]
ValuesOf = Callable[[Sequence[int]], Mapping[int, Value]]
"""The values that some ids stand for."""


class SparkClasses(Classes):
    """Classes of one Spark engine's constants; at first every constant is alone."""

    def __init__(self, engine: SparkEngine, values_of: ValuesOf) -> None:
        self._engine, self._values_of = engine, values_of
        self._values: dict[int, Value] = {}
        self._vocabularies = Vocabularies(lambda mentioned: list(map(engine.ids(mentioned).__getitem__, mentioned)))
        self.same, self.different = (engine.ids([Constant(verb)])[Constant(verb)] for verb in (SAME_AS, DIFFERENT_FROM))
        self._triple = engine.relation(TRIPLE, 3)
        self.represented: dict[int, int] = {}
        """The representative of each constant that another one represents."""
        self.members: dict[int, tuple[int, ...]] = {}
        """The constants of each class that has several, by its representative."""
        self.apart: Pairs = ()
        """Pairs of names that are never made one."""
        self._tables: dict[str, Run] = {}
        """The classes as Spark sees them, until they change."""

    def representative(self, one: int) -> int:
        return self.represented.get(one, one)

    def restore(self, represented: Mapping[int, int]) -> None:
        """Takes over classes that were there earlier; every constant was alone before."""
        self._know(set(represented.values()))
        for one, name in represented.items():
            self.members[name] = (*self.members.get(name, (name,)), one)
        self.represented = dict(represented)

    # ------------------------------------------------------------------------------------ merging

    def alone(self) -> SparkClasses:
        other = SparkClasses(self._engine, self._values_of)
        other._values, other._vocabularies = self._values, self._vocabularies
        return other

    def merge(self, facts: FactSet) -> bool:
        return bool(self._merged(self.ends(self.same, facts)))

    def separate(self, facts: FactSet) -> None:
        self.apart = self._between_names(self.ends(self.different, facts))

    def refused(self, facts: FactSet) -> ComputedFacts:
        pairs = self._between_names(self.ends(self.same, facts))
        return self._engine.listed({TRIPLE: [(left, self.same, right) for left, right in pairs]})

    def group(self, facts: FactSet, atom: Atom, value: Variable) -> tuple[ComputedFacts, bool]:
        places = {term: place for place, term in reversed([*enumerate(atom.terms)]) if isinstance(term, Variable)}
        column = places.pop(value)
        found = as_spark_facts(facts.within(Region((atom,))))
        pairs: list[tuple[int, int]] = []
        for values in self._grouped(found, column, list(places.values())):
            self._know(values)
            ordered = sorted(values, key=self._order_of)  # where not all can be one, it matters which are side by side
            pairs += pairwise(ordered)
        grown = self.named({self.representative(one) for one in self._merged(pairs)})
        return grown, all(self.representative(one) == self.representative(other) for one, other in pairs)

    def _grouped(self, facts: SparkFacts, value: int, others: Sequence[int]) -> list[list[int]]:
        """The arguments at a place, by those at others, where there are several."""
        local = facts.local()
        if local is not None:
            groups: dict[tuple[int, ...], set[int]] = {}
            for _, *arguments in local.tuples():
                groups.setdefault(tuple(arguments[place] for place in others), set()).add(arguments[value])
            return [list(group) for group in groups.values() if len(group) > 1]
        table = facts.table()
        if table is None:
            return []
        by = f" GROUP BY {', '.join(f'a{place}' for place in others)}" if others else ""
        query = f"SELECT collect_set(a{value}) FROM {table}{by} HAVING count(DISTINCT a{value}) > 1"
        return [list(row[0]) for row in self._engine.spark.sql(query).collect()]

    def _merged(self, pairs: Pairs) -> set[int]:
        """Makes the two sides of pairs one, where they can be; gives constants of the classes that grew."""
        named = self._between_names(pairs)
        ends = [(self.representative(left), self.representative(right)) for left, right in named]
        ends = [(left, right) for left, right in ends if left != right]
        if not ends:
            return set()
        self._know({one for pair in ends for one in pair})
        united = {one: {one} for pair in ends for one in pair}
        enemies: dict[int, set[int]] = defaultdict(set)
        for pair in self.apart:
            left, right = map(self.representative, pair)
            enemies[left].add(right)
            enemies[right].add(left)
        if enemies:
            ordered = (sorted(pair, key=self._order_of) for pair in ends)
            ends = sorted({(left, right) for left, right in ordered}, key=lambda pair: [*map(self._order_of, pair)])
        for one, other in ends:
            mine, theirs = united[one], united[other]
            if mine is not theirs and not any(enemies[end] & theirs for end in mine):
                if len(mine) < len(theirs):
                    mine, theirs = theirs, mine
                mine |= theirs
                united.update(dict.fromkeys(theirs, mine))
        groups = {id(group): group for group in united.values() if len(group) > 1}
        for group in groups.values():
            self._join(group)
        return set[int]().union(*groups.values())

    def _join(self, group: Collection[int]) -> None:
        """Makes one class of those that some constants represent."""
        least = min(group, key=self._order_of)
        members = tuple(one for name in group for one in self.members.pop(name, (name,)))
        self.represented.update((one, least) for one in members if one != least)
        self.members[least] = members
        self._tables = {}

    def _order_of(self, one: int) -> tuple[int, str]:
        return term_order(self._values[one])

    def _know(self, ids: Iterable[int]) -> None:
        missing = [one for one in ids if one not in self._values]
        if missing:
            self._values.update(self._values_of(missing))

    def _between_names(self, pairs: Pairs) -> Pairs:
        """Those of some pairs whose constants may be made one with others."""
        self._know({one for pair in pairs for one in pair})
        return [pair for pair in pairs if all(map(self._is_name, pair))]

    def _is_name(self, one: int) -> bool:
        return one != self.same and isinstance(self._values[one], (str, NamedNode, BlankNode))

    def ends(self, verb: int, facts: FactSet) -> list[tuple[int, int]]:
        """The two ends of the triples with a property, where they are not the same."""
        return [(left, right) for left, right in self._ends(verb, facts) if left != right]

    def selves(self, verb: int, facts: FactSet) -> list[int]:
        """The constants that are both ends of a triple with a property."""
        return [left for left, right in self._ends(verb, facts) if left == right]

    def _ends(self, verb: int, facts: FactSet) -> list[tuple[int, int]]:
        local = as_spark_facts(facts).local()
        if local is not None:
            triples = local.of(self._triple, 3)
            return sorted((left, right) for left, _, right in triples[triples[:, 1] == verb].tolist())
        table = as_spark_facts(facts).table({RELATION: class_of(self._triple), "a1": class_of(verb)})
        if table is None:
            return []
        query = f"SELECT a0, a2 FROM {table} WHERE {RELATION} = {self._triple} AND a1 = {verb}"
        return [(row[0], row[1]) for row in self._engine.spark.sql(query).collect()]

    # ------------------------------------------------------------------------------------ rewriting

    def outdated(self, facts: FactSet) -> ComputedFacts:
        return self.facts_mentioning(self.represented.keys(), facts, "gone")

    def facts_mentioning(self, ids: Set[int], facts: FactSet, kept: str | None = None) -> ComputedFacts:
        """Those of some facts that mention one of some constants; `kept` is a name under which these are remembered."""
        if not ids:
            return self._engine.empty()
        local = as_spark_facts(facts).local()
        if local is not None:
            mentioned = np.isin(local.rows[:, 1:], list(ids))
            return self._engine.local(local.chosen(np.flatnonzero(mentioned.any(axis=1))))
        table = as_spark_facts(facts).table()
        if table is None:
            return self._engine.empty()
        tests = " OR ".join(f"m{place}.id IS NOT NULL" for place in range(self._engine.width))
        return self._engine.computed(self._beside(table, self._listed(kept, {"id": ids}), ["l.*"], [f"({tests})"]))

    def _beside(
        self, table: Table, listed: Run, columns: Sequence[str], conditions: Sequence[str] = (), key: str = "id"
    ) -> Table:
        """Facts `l`, each with the rows `m0`, `m1`, … of a list that have its arguments as their key, if there are any."""
        names = [f"m{place}" for place in range(self._engine.width)]
        joins = "".join(f" LEFT JOIN {listed.view()} {name} ON {name}.{key} = l.a{name[1:]}" for name in names)
        return select(columns, f"{table} l{joins}", conditions, f"BROADCAST({', '.join(names)})")

    def _listed(self, kept: str | None, columns: Mapping[str, Iterable[int]]) -> Run:
        """Some numbers of the driver as a table."""
        run = self._tables.get(kept or "")
        if run is None:
            run = self._engine.few(list(columns), [np.array([*column], np.int64) for column in columns.values()])
            if kept is not None:
                self._tables[kept] = run
        return run

    def _renamed(self, table: Table, names: str = "a") -> Table:
        """Facts with a column for what each argument is rewritten to."""
        map = self._listed("map", {"id": self.represented.keys(), "name": self.represented.values()})
        renamed = [f"coalesce(m{place}.name, l.a{place}) AS {names}{place}" for place in range(self._engine.width)]
        return self._beside(table, map, [f"l.{RELATION}" if names == "a" else "l.*", *renamed])

    def normal(self, facts: FactSet) -> ComputedFacts:
        if not self.represented:
            return computed(facts)
        local = as_spark_facts(facts).local()
        if local is not None:
            return self._engine.local(each_once(self._image(local)))
        table = as_spark_facts(facts).table()
        return self._engine.empty() if table is None else self._engine.distinct(self._renamed(table))

    def _image(self, facts: DriverFacts) -> Rows:
        """What facts are rewritten to, one by one."""
        known = np.array(sorted(self.represented), np.int64)
        names = np.array([self.represented[one] for one in known.tolist()], np.int64)
        place = np.minimum(np.searchsorted(known, facts.rows), len(known) - 1)
        found = np.where(known[place] == facts.rows, names[place], facts.rows)
        found[:, 0] = facts.rows[:, 0]
        return found

    def images(self, facts: FactSet) -> SparkImages:
        return SparkImages(self, as_spark_facts(facts))

    def images_in(self, facts: SparkFacts, asked: SparkFacts) -> FactSet:
        """Those of some facts whose rewritten form is in a set."""
        if not self.represented:
            return facts & asked
        local, sought = facts.local(), asked.local()
        if local is not None and sought is not None:
            return self._engine.local(local.chosen(DriverFacts(self._image(local)).places_in(sought) >= 0))
        table = facts.table()
        if table is None:
            return self._engine.empty()
        keys = [f"l.{RELATION}", *(f"l.k{place}" for place in range(self._engine.width))]
        columns = fact_schema.columns(self._engine.width)
        found = asked.inside(self._renamed(table, "k"), keys, EVERYTHING, facts.at_most())
        return self._engine.empty() if found is None else self._engine.computed(select(columns, found))

    def of(self, facts: FactSet) -> ComputedFacts:
        if not self.members:
            return self._engine.empty()
        local = as_spark_facts(facts).local()
        if local is not None:
            mentioned = map(self.representative, np.unique(local.rows[:, 1:]).tolist())
            return self.named({name for name in mentioned if name in self.members})
        table = as_spark_facts(facts).table()
        if table is None:
            return self._engine.empty()
        classes = self._classes()
        ids = f"(SELECT explode(array({', '.join(fact_schema.arguments(self._engine.width))})) AS id FROM {table})"
        query = f"SELECT /*+ BROADCAST(m) */ DISTINCT m.name FROM {ids} l JOIN {classes.view()} m ON m.id = l.id"
        return self.named({row[0] for row in self._engine.spark.sql(query).collect()})

    def _classes(self) -> Run:
        """Every constant of a class of several, with its representative."""
        pairs = [(one, name) for name, members in self.members.items() for one in members]
        return self._listed("classes", {"id": [one for one, _ in pairs], "name": [name for _, name in pairs]})

    def named(self, ids: Iterable[int]) -> ComputedFacts:
        """The facts `c ≈ c` for some constants."""
        return self._engine.listed({TRIPLE: [(one, self.same, one) for one in ids]})

    def mentioning(self, classes: FactSet, facts: FactSet) -> ComputedFacts:
        return self.facts_mentioning(set(self.selves(self.same, classes)), facts)

    def whole(self, classes: FactSet, others: Classes) -> ComputedFacts:
        assert isinstance(others, SparkClasses)
        return self.named(
            name
            for name in self.selves(self.same, classes)
            if all(self.representative(one) == name for one in others.members.get(name, ()))
        )

    def departed(self, classes: FactSet, others: Classes) -> ComputedFacts:
        assert isinstance(others, SparkClasses)
        members = ((name, one) for name in self.selves(self.same, classes) for one in others.members.get(name, ()))
        return self.named(one for name, one in members if self.representative(one) != name)

    def split(self, classes: FactSet, others: Classes) -> SparkClasses:
        assert isinstance(others, SparkClasses)
        found = self.alone()
        found.apart, found.represented, found.members = self.apart, dict(self.represented), dict(self.members)
        for name in self.selves(self.same, classes):
            for one in found.members.pop(name, ()):
                found.represented.pop(one, None)
                if one in others.represented:
                    found.represented[one] = others.represented[one]
                if one in others.members:
                    found.members[one] = others.members[one]
        return found

    def rewritten(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        if not self.members:
            return rules
        known = self._vocabularies.of(rules)
        return known.rewritten([self.representative(one) for one in known.ids], self._replacement)

    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        """A literal about representatives."""
        return replaced_in(literal, self._replacement)

    def _replacement(self, constant: Constant) -> Constant:
        known = self._engine.ids([constant])[constant]
        return Constant(self._values[self.represented[known]]) if known in self.represented else constant

    # ------------------------------------------------------------------------------------ names again

    def changed(self, other: SparkClasses) -> set[int]:
        """The representatives, here or there, of classes that are not the same."""
        names = self.members.keys() | other.members.keys()
        return {one for one in names if {*self.members.get(one, ())} != {*other.members.get(one, ())}}

    def expanded(self, facts: FactSet) -> Table | None:
        """All facts that some facts about representatives stand for."""
        table = computed(facts).table()
        if table is None or not self.members:
            return table
        names = [f"coalesce(m{place}.id, l.a{place}) AS a{place}" for place in range(self._engine.width)]
        return self._beside(table, self._classes(), [f"l.{RELATION}", *names], key="name")

    def expanded_here(self, facts: FactSet, relation: int | None = None) -> DriverFacts | None:
        """The same, or those of one relation, on the driver, if it has the facts and can take what they stand for."""
        local = as_spark_facts(facts).local()
        if local is not None and relation is not None:
            local = local.chosen(local.rows[:, 0] == relation)
        if local is None or not self.members:
            return local
        rows, names = local.rows, np.array(sorted(self.members), np.int64)
        members = [self.members[name] for name in names.tolist()]
        ids = np.array([one for some in members for one in some], np.int64)
        starts = np.cumsum([0, *map(len, members)])
        for column in range(1, rows.shape[1]):
            place = np.minimum(np.searchsorted(names, rows[:, column]), len(names) - 1)
            several = names[place] == rows[:, column]
            sizes = np.where(several, starts[place + 1] - starts[place], 1)
            if not self._engine.driver.takes(int(sizes.sum())):
                return None
            # Each row as often as its argument has names, and the first place of those names.
            nth = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            first, several = np.repeat(starts[place], sizes), np.repeat(several, sizes)
            rows = np.repeat(rows, sizes, axis=0)
            rows[several, column] = ids[(first + nth)[several]]
        return DriverFacts(rows)

    def numbers(self, facts: FactSet) -> dict[int, int]:
        """How many facts of each relation, by its number, some facts about representatives stand for."""
        near = self.expanded_here(facts)
        if near is not None:
            return dict(zip(*(some.tolist() for some in np.unique(near.rows[:, 0], return_counts=True)), strict=True))
        table = computed(facts).table()
        if table is None:
            return {}
        if self.members:
            sizes = self._listed("sizes", {"id": self.members.keys(), "n": map(len, self.members.values())})
            product = " * ".join(f"coalesce(m{place}.n, 1L)" for place in range(self._engine.width))
            table = self._beside(table, sizes, [f"l.{RELATION}", f"{product} AS n"])
        number = "n" if self.members else "1"
        query = f"SELECT {RELATION}, sum({number}) FROM {table} GROUP BY {RELATION}"
        return {row[0]: int(row[1]) for row in self._engine.spark.sql(query).collect()}


class SparkImages(Images):
    """Facts by what they are rewritten to, found when they are asked for."""

    def __init__(self, classes: SparkClasses, facts: SparkFacts) -> None:
        self._classes, self._facts = classes, facts

    def of(self, facts: FactSet) -> FactSet:
        return self._classes.images_in(self._facts, as_spark_facts(facts))
