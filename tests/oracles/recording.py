"""An engine that is too slow for anything but the truth: the algebra over Python sets and ground rule instances.

The algorithms of `reasoning/` are written against the algebra alone, so they run on it as they are. Every rule instance
that a call considers is remembered, in order and by phase, which is what the papers' theorems speak about. It also holds
algorithms to the algebra's terms: what may be asked of a call, and that sets are values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import Annotation, Counted, Engine, FactSet, Region, Rules, Some
from everlog.knowledge.materialisation import Materialisation
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.algorithms import algorithm
from everlog.reasoning.change import Change
from oracles.ground import Ground, Instance, Record
from oracles.naive import Fact, Facts


class Known(FactSet):
    """A set of facts."""

    def __init__(self, engine: RecordingEngine, facts: Iterable[Fact]) -> None:
        self.engine = engine
        self.facts = frozenset(facts)

    def __or__(self, other: FactSet) -> FactSet:
        return Known(self.engine, self.facts | facts_of(other))

    def __sub__(self, other: FactSet) -> FactSet:
        return Known(self.engine, (fact for fact in self.facts if not contains(other, fact)))

    def __and__(self, other: FactSet) -> FactSet:
        return Known(self.engine, (fact for fact in self.facts if contains(other, fact)))

    __ior__, __isub__, __iand__ = __or__, __sub__, __and__

    def __bool__(self) -> bool:
        return bool(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def within(self, region: Region) -> FactSet:
        return Known(self.engine, self.engine.within(self.facts, region))


class Between(FactSet):
    """The facts whose annotation lies in a range, whatever it will be when it is asked for; it lists nothing."""

    def __init__(self, values: Values, least: int, greatest: int) -> None:
        self._values, self._least, self._greatest = values, least, greatest

    def contains(self, fact: Fact) -> bool:
        return self._least <= self._values.of(fact) <= self._greatest

    def __and__(self, other: FactSet) -> FactSet:
        return other & self

    def _refused(self, *_: object) -> FactSet:
        raise AssertionError("a range of an annotation is to be intersected with a set")

    __or__ = __sub__ = __ior__ = __isub__ = __iand__ = within = _refused

    def __bool__(self) -> bool:
        raise AssertionError("a range of an annotation has no facts of its own")

    def __len__(self) -> int:
        raise AssertionError("a range of an annotation has no facts of its own")


def facts_of(some: FactSet) -> Facts:
    assert isinstance(some, Known), "this set has to be a list of facts"
    return some.facts


def contains(some: FactSet, fact: Fact) -> bool:
    return some.contains(fact) if isinstance(some, Between) else fact in facts_of(some)


class Multiset(Counted):
    def __init__(self, engine: RecordingEngine, counts: Counter[Fact]) -> None:
        self.engine = engine
        self.counts = counts

    def __add__(self, other: Counted | FactSet) -> Counted:
        return Multiset(self.engine, self.counts + counts_of(other))

    def __sub__(self, other: Counted | FactSet) -> Counted:
        return Multiset(self.engine, self.counts - counts_of(other))

    def __bool__(self) -> bool:
        return bool(self.counts)

    def support(self) -> FactSet:
        return Known(self.engine, self.counts)

    def total(self) -> int:
        return self.counts.total()


def counts_of(some: Counted | FactSet) -> Counter[Fact]:
    return some.counts if isinstance(some, Multiset) else Counter(facts_of(some))  # type: ignore[arg-type]


class Values(Annotation):
    def __init__(self) -> None:
        self.values: dict[Fact, int] = {}

    def of(self, fact: Fact) -> int:
        return self.values.get(fact, 0)

    def set(self, facts: FactSet, value: int) -> None:
        self.values.update(dict.fromkeys(facts_of(facts), value))

    def add(self, facts: Counted | FactSet, sign: int = 1) -> None:
        for fact, times in counts_of(facts).items():
            self.values[fact] = self.of(fact) + sign * times

    def assign(self, facts: FactSet, other: Annotation) -> None:
        assert isinstance(other, Values)
        self.values.update({fact: other.of(fact) for fact in facts_of(facts)})

    def savepoint(self) -> Callable[[], None]:
        before = dict(self.values)

        def undo() -> None:
            self.values = before

        return undo

    def nbytes(self) -> int:
        return 0

    def between(self, least: int, greatest: int) -> FactSet:
        return Between(self, least, greatest)

    def counted(self, facts: FactSet) -> Counted:
        assert isinstance(facts, Known)
        return Multiset(facts.engine, +Counter({fact: self.of(fact) for fact in facts.facts}))


class GroundRules(Rules):
    """Some ground rules; what they consider is remembered by their engine."""

    def __init__(self, engine: RecordingEngine, instances: Sequence[Instance]) -> None:
        self._engine, self._instances = engine, instances
        self._positive = frozenset(fact for one in instances for fact in one.positive)
        self._negative = frozenset(fact for one in instances for fact in one.negative)

    @property
    def rules(self) -> Sequence[Rule]:
        return self._instances  # type: ignore[return-value]

    def _considered(
        self, positive: FactSet, negative: FactSet | None, some: Sequence[Some] = (), heads_in: FactSet | None = None
    ) -> list[Instance]:
        outside = positive if negative is None else negative
        for P, N in some:
            # Only facts that these rules mention are of interest.
            if isinstance(P, Known):
                assert all(contains(positive, fact) for fact in P.facts & self._positive), "P ⊆ I⁺"
            assert not any(contains(outside, fact) for fact in facts_of(N) & self._negative), "N ∩ I⁻ = ∅"
        inside, barred = facts_of(positive), facts_of(outside)
        return [
            one
            for one in self._instances
            if one.positive <= inside
            and one.negative.isdisjoint(barred)
            and all(_meets(one, condition) for condition in some)
            and (heads_in is None or contains(heads_in, one.head))
        ]

    def apply(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
        excluding: FactSet | None = None,
    ) -> FactSet:
        found = self._engine.consider("apply", self._considered(positive, negative, some))
        heads = Known(self._engine, (one.head for one in found))
        return heads if excluding is None else heads - excluding

    def apply_counted(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
    ) -> Counted:
        found = self._engine.consider("apply", self._considered(positive, negative, some))
        return Multiset(self._engine, Counter(one.head for one in found))

    def provable(self, heads: FactSet, positive: FactSet, negative: FactSet | None = None) -> FactSet:
        first: dict[Fact, Instance] = {}
        for one in self._considered(positive, negative, heads_in=heads):
            first.setdefault(one.head, one)
        self._engine.consider("provable", first.values())
        return Known(self._engine, first)

    def premises(self, heads: FactSet, positive: FactSet, negative: FactSet, region: Region) -> FactSet:
        # Only instances with a premise in the region are of interest: the rules are recursive ones.
        found = self._engine.consider("premises", self._considered(positive, negative, heads_in=heads))
        return Known(self._engine, self._engine.within({fact for one in found for fact in one.positive}, region))


def _meets(one: Instance, condition: Some) -> bool:
    P, N = condition
    return any(contains(P, fact) for fact in one.positive) or any(contains(N, fact) for fact in one.negative)


class RecordingEngine(Engine):
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._regions: dict[int, int] = {}
        self.considered: list[Instance] = []
        self.operations: list[str] = []
        """By which operation of the algebra each instance was considered."""
        self.strata = tuple(self._stratum(index, instances) for index, instances in ground.strata())

    def _stratum(self, index: int, instances: list[Instance]) -> CompiledStratum:
        region = Region(())
        self._regions[id(region)] = index
        return CompiledStratum(
            index,
            GroundRules(self, instances),
            GroundRules(self, [one for one in instances if one.recursive]),
            GroundRules(self, [one for one in instances if not one.recursive]),
            region,
        )

    @property
    def derivations(self) -> int:  # type: ignore[override]
        return len(self.considered)

    def consider(self, operation: str, instances: Iterable[Instance]) -> list[Instance]:
        found = list(instances)
        self.considered += found
        self.operations += [operation] * len(found)
        return found

    def within(self, facts: Collection[Fact], region: Region) -> set[Fact]:
        return self._ground.within(facts, self._regions[id(region)])

    def empty(self) -> FactSet:
        return Known(self, ())

    def annotation(self, sparse: bool = False) -> Annotation:
        return Values()


class Recorded:
    """A materialisation on the recording engine, updated by the algorithms as they are."""

    def __init__(self, ground: Ground, name: str, E: Facts) -> None:
        self._engine = RecordingEngine(ground)
        self._algorithm = algorithm(name)
        explicit = Known(self._engine, E)
        self._materialisation = Materialisation(
            self._engine.strata, self._engine, explicit, self._algorithm.keeps & self._algorithm.needs
        )
        self._materialisation.materialise(_quiet)

    @property
    def explicit(self) -> Facts:
        return facts_of(self._materialisation.E)

    def update(self, minus: Facts, plus: Facts) -> Record:
        """What an update considered, by phase."""
        record = Record()
        engine = self._engine
        with _phases(record, engine):
            self._materialisation.update(Known(engine, minus), Known(engine, plus), self._algorithm, _quiet)
        record.after = facts_of(self._materialisation.I)
        return record


@contextmanager
def _phases(record: Record, engine: RecordingEngine) -> Iterator[None]:
    """Notes the instances that `Change` considers under the phase that it names."""
    original = Change.phase

    @contextmanager
    def phase(self: Change, name: str) -> Iterator[None]:
        start = len(engine.considered)
        with original(self, name):
            yield
        record.note(name, engine.considered[start:])
        for one, operation in zip(engine.considered[start:], engine.operations[start:], strict=True):
            record.operations.setdefault((name, operation), []).append(one)

    Change.phase = phase  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Change.phase = original  # type: ignore[method-assign]


def _quiet(stratum: int, number: int, facts: int) -> None:
    """Says nothing."""
