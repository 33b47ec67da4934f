"""What a reasoner asks of an engine besides the algebra: rules compiled, facts encoded, listed, compared, kept.

Each engine has one `Backend`, and all that differs between engines when it comes to a knowledge base is in it. Three
forms of facts belong to an engine:

* a **Batch** is some facts as they were given, as ids, before they are a set of the engine;
* **Listed** are the facts of one predicate, as ids: an array in memory, on Spark a DataFrame or rows on the driver;
* a **Part** is a part of what an update changed: facts of all predicates, readable for as long as anybody wants to know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from everlog.datalog.syntax import Atom, BodyLiteral, Rule, Variable
from everlog.datalog.values import Value
from everlog.engine.algebra import Annotation, Classes, Counted, Engine, FactSet, Graphs, Matcher
from everlog.planning.compiled_program import Compiler
from everlog.planning.decomposition.decomposition_choice import Worth
from everlog.planning.decomposition.size_estimates import Explicit
from everlog.planning.literal_places import Place
from everlog.planning.modules.module_choice import Verdicts

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.sources.fact_columns import Columns
    from everlog.sources.read_facts import Read
    from everlog.store.commit import Writing
    from everlog.store.manifest import Layer
    from everlog.store.manifest import Part as Files
    from everlog.store.publishing.fact_files import FiledFacts

Batch = TypeVar("Batch")
Listed = TypeVar("Listed")
Part = TypeVar("Part")
Other = TypeVar("Other")

Which: TypeAlias = Literal["all", "explicit", "derived"]
Progress: TypeAlias = Callable[[int, int, int], None]
"""Called with the stratum, the round in it, and the number of new facts."""


@dataclass(frozen=True)
class Policy:
    """Where engines want to be treated differently."""

    counts_on_demand: bool
    """Whether derivations are counted once updates are frequent; and whether to count facts costs nothing."""
    tries_rules_before_chains: bool
    """Whether rules find a little sooner than a search does, so that both are tried; jobs cost the same for either."""
    decomposed_from: Worth | None = None
    """When decompositions pay, if not as in memory."""
    measures_rules_apart: bool = False
    """Whether rules can be evaluated one by one, to be measured, at about the cost of evaluating them together."""
    keeps_names_apart: bool = False
    """Whether updates go without rewriting as long as no two names are equal."""


@dataclass(frozen=True)
class Difference(Generic[Part]):
    """What an update changed: in the explicit facts `E`, in the materialisation `I`, and in `I ∖ E`."""

    explicit_added: Part
    explicit_deleted: Part
    added: Part
    deleted: Part
    derived_added: Part
    derived_deleted: Part

    def map(self, form: Callable[[Part], Other]) -> Difference[Other]:
        """The same facts in another form."""
        return Difference(*(form(getattr(self, part.name)) for part in fields(self)))


@dataclass(frozen=True)
class World(Generic[Batch, Listed, Part]):
    """What holds at a time: the explicit facts and the materialisation, in an engine, in the names of some classes."""

    backend: Backend[Batch, Listed, Part]
    E: FactSet
    I: FactSet
    names: Names[Batch, Listed, Part] | None = None

    @property
    def holding(self) -> FactSet:
        """The materialisation, or, as long as there is none, the explicit facts."""
        return self.I if self.I else self.E


@dataclass(frozen=True)
class KeptState:
    """What a materialisation keeps for updates, in the order in which a store has it."""

    I: FactSet
    """Of which the facts of hidden predicates are stored apart."""
    annotations: Sequence[tuple[str, tuple[int, ...], Annotation]]
    """The kind, the place in the trace, and the counts."""
    backbones: Sequence[FactSet]
    forgotten: Sequence[tuple[str, tuple[int, ...], Annotation]] = ()
    """What the last update left without counts."""
    backbones_before: Sequence[FactSet] = ()
    """As they were before the last update."""


@dataclass
class Recovered:
    """What was kept, read again: hidden facts, counts by kind, and by place for the trace, and backbones by number."""

    hidden: FactSet
    counts: dict[str, Counted] = field(default_factory=dict)
    backbones: dict[int, FactSet] = field(default_factory=dict)
    trace: dict[tuple[int, int], Counted] = field(default_factory=dict)
    stages: dict[int, Counted] = field(default_factory=dict)
    """For each stratum, the first iteration that derives a fact, as its count."""


@dataclass(slots=True, eq=False)
class Matching:
    """Atoms to be matched in facts, for the values of all their variables."""

    I: FactSet
    E: FactSet
    atoms: Sequence[Atom]
    variables: Sequence[Variable]
    check: Callable[[int], None]
    """Is told how many matches there are, and may raise."""
    seeds: Mapping[Variable, NDArray[np.int32]] = field(default_factory=dict)
    """Ids of which one match has one for each of these variables, row by row: other matches may be left out."""
    first: int | None = None
    """If there are more matches than that, so many are enough."""


Matched: TypeAlias = "tuple[int, NDArray[np.int32]]"


class Measured(ABC):
    """What an engine notes while it works."""

    progress: Progress

    def seconds(self) -> dict[str, float]:
        """What else took time, by a report's names for it."""
        return {}

    @abstractmethod
    def spark(self) -> dict[str, Any] | None:
        """What Spark did, if it did anything."""


class Backend(ABC, Generic[Batch, Listed, Part]):
    """An engine with everything around it that a reasoner needs."""

    name: str
    policy: Policy

    @property
    @abstractmethod
    def engine(self) -> Engine: ...

    # ------------------------------------------------------------------------------------ rules

    @abstractmethod
    def compiler(self) -> Compiler: ...

    @abstractmethod
    def matcher(self) -> Matcher: ...

    @abstractmethod
    def graphs(self) -> Graphs: ...

    def prepare(self, rules: Sequence[Rule]) -> None:
        """Is told which rules are about to be compiled."""

    @abstractmethod
    def statistics(self, given: FactSet) -> Explicit:
        """What is known of the facts that rules are applied to."""

    @abstractmethod
    def verdicts(self, rules: Sequence[Rule], given: FactSet) -> Verdicts:
        """Which modules of a program pay, judged by the facts that its rules are applied to."""

    @abstractmethod
    def literals(self, facts: FactSet, places: Collection[Place]) -> frozenset[Place]:
        """Those of some places at which a fact of a set has a literal."""

    @abstractmethod
    def measured(self, progress: Progress) -> Measured:
        """Begins to note what the engine does."""

    # ------------------------------------------------------------------------------------ facts in

    @abstractmethod
    def encoded(self, columns: Mapping[str, Columns], read: Read | None = None, add: bool = True) -> list[Batch]:
        """Facts as ids: columns of this process, and what was read. Nothing is stored but new terms.

        Without `add` there are none, and facts with an unknown term, which was read, are left out.
        """

    @abstractmethod
    def entered(self, batches: Sequence[Batch], excluding: FactSet | None = None) -> FactSet:
        """Facts as a set of the engine, without those of another set."""

    @abstractmethod
    def present(self, batches: Sequence[Batch]) -> FactSet:
        """Those of some facts that the engine knows at all."""

    @abstractmethod
    def predicates(self, batches: Sequence[Batch]) -> frozenset[str]:
        """Predicates that some facts may have."""

    @abstractmethod
    def fresh(self) -> Backend[Batch, Listed, Part]:
        """One in which everything is computed anew; ids mean the same there."""

    @abstractmethod
    def taken(self, facts: FactSet, other: Backend[Batch, Listed, Part], new: bool = True) -> FactSet:
        """Facts of visible predicates, a set of another engine, in this one; if they are `new`, it has none of them yet."""

    # ------------------------------------------------------------------------------------ facts out

    @abstractmethod
    def arities(self) -> dict[str, int]:
        """The visible predicates that facts may have."""

    @abstractmethod
    def counts(self, facts: FactSet) -> dict[str, int]:
        """How many facts of each visible predicate a set has."""

    @abstractmethod
    def count(self, facts: FactSet) -> int:
        """How many facts of visible predicates a set has."""

    @abstractmethod
    def listed(self, facts: FactSet, predicate: str, arity: int) -> Listed: ...

    @abstractmethod
    def size(self, listed: Listed) -> int:
        """How many facts those are."""

    @abstractmethod
    def first(self, listed: Listed, number: int, after: int | None = None) -> Listed:
        """Some of the facts, at most so many: those that cost least.

        If it is said `after` how many others they come, they are the next ones in the order of ids, which stays the same.
        """

    @abstractmethod
    def few(self, number: Callable[[], int]) -> bool:
        """Whether so many facts, if it matters how many, are few enough to be fetched directly."""

    @abstractmethod
    def table(self, listed: Listed, arity: int, few: bool = True) -> pa.Table:
        """Facts as an Arrow table of values."""

    @abstractmethod
    def rows(self, listed: Listed, arity: int, few: bool = True) -> list[tuple[Value, ...]]:
        """Facts as tuples of Python values."""

    @abstractmethod
    def texts(self, listed: Listed, spark: Callable[[], SparkSession]) -> DataFrame:
        """Facts in text form, with the names that stores have for blank nodes."""

    @abstractmethod
    def filed(self, listed: Mapping[str, tuple[Listed, int]], folder: Path) -> FiledFacts:
        """Facts by predicate, with its arity, as files of ids in a folder; blank nodes have the names of stores."""

    @abstractmethod
    def dataframe(self, listed: Listed, arity: int, spark: Callable[[], SparkSession]) -> DataFrame:
        """Facts in columns of Spark's types."""

    @abstractmethod
    def scratch(self) -> AbstractContextManager[Backend[Batch, Listed, Part]]:
        """The same facts without hidden ones, for a while; what is derived there is forgotten."""

    def narrowed(self, rules: Sequence[Rule], facts: FactSet) -> tuple[Sequence[Rule], FactSet]:
        """Rules that derive the same from other facts, in a scratch: all facts of closed relations need not be listed.

        They are applied once, or one after the other: none depends on its own head.
        """
        return rules, facts

    @abstractmethod
    def query_dictionary(self) -> tuple[Dictionary, bool]:
        """The dictionary of the ids that `matches` gives, and whether that is for one query, and takes new values."""

    @abstractmethod
    def batch(self, predicate: str, ids: NDArray[np.int32], dictionary: Dictionary) -> Batch:
        """Facts with one argument each, from ids of a dictionary that `query_dictionary` has given."""

    @abstractmethod
    def columns(self, listed: Listed, arity: int, dictionary: Dictionary) -> NDArray[np.int32]:
        """Facts as ids of such a dictionary, one fact per column."""

    @abstractmethod
    def matches(
        self, asked: Matching, dictionary: Dictionary, names: Names[Batch, Listed, Part] | None = None
    ) -> Matched:
        """The matches of some atoms: how many there are, and the values of their variables, one match per column.

        With `names`, facts are about representatives, and matches are in all names.
        """

    @abstractmethod
    def listed_matches(self, asked: Matching, names: Names[Batch, Listed, Part] | None = None) -> tuple[int, Listed]:
        """How many matches some atoms have, at least, and these where they are, as facts whose arguments are the variables.

        With `names`, facts are about representatives, and matches are in all names.
        """

    @abstractmethod
    def clashes(self, I: FactSet) -> list[str]:
        """What equality contradicts, where it is a matter of rules."""

    # ------------------------------------------------------------------------------------ what changes

    @abstractmethod
    def part(self, facts: FactSet) -> Part: ...

    @abstractmethod
    def sizes(self, part: Part) -> dict[str, int]:
        """How many facts of which visible predicates there are in a part of a change."""

    def part_size(self, part: Part) -> int:
        """How many facts of visible predicates there are in a part of a change."""
        return sum(self.sizes(part).values())

    @abstractmethod
    def part_listed(self, part: Part, predicate: str, arity: int) -> Listed: ...

    @abstractmethod
    def compared(
        self,
        then: World[Batch, Listed, Part],
        now: World[Batch, Listed, Part],
        deleted: Sequence[Batch],
        added: Sequence[Batch],
    ) -> Difference[Part]:
        """What is different between two worlds whose explicit facts differ by some batches at the most."""

    def mentions(self, verb: Value) -> int:
        """A number that grows when a triple with some property is derived that was not known."""
        return 0

    def wasteful(self, alive: int) -> bool:
        """Whether most of what the engine holds are facts that are gone."""
        return False

    # ------------------------------------------------------------------------------------ what is kept

    @abstractmethod
    def kept(self, state: KeptState) -> Mapping[str, Listed]:
        """What is kept for updates, as relations."""

    @abstractmethod
    def kept_change(
        self,
        state: KeptState,
        sets: Difference[FactSet] | None,
        kinds: frozenset[str],
        names: tuple[Names[Batch, Listed, Part], Names[Batch, Listed, Part]] | None = None,
        once: bool = True,
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """What was added since a store had what was noted, and what was deleted; None if that is not known.

        There was one update since, unless `once` is false, and it changed some sets. Rows are columns of arrays. `names`
        are those before and now, where constants are rewritten.
        """

    def note_stored(self, state: KeptState, names: Names[Batch, Listed, Part] | None = None) -> None:
        """Is told what a store has, if anything that comes later is to be compared with it."""

    @abstractmethod
    def recovered(self, kept: Mapping[str, Listed], kinds: frozenset[str], I: FactSet) -> Recovered:
        """What relations have kept, read again, for the kinds that somebody has a use for; and hidden facts."""

    @abstractmethod
    def shelf(self, writer: Writing) -> Shelf[Batch, Listed, Part]:
        """Where facts become files of a version."""

    @abstractmethod
    def encode_values(self, values: Sequence[Value]) -> list[int]:
        """The ids of some values, new ones if they have none."""

    def savepoint(self) -> Callable[[], None]:
        """A function that brings back what was known about the store before a version was written that came to nothing."""
        return lambda: None

    # ------------------------------------------------------------------------------------ equality

    @abstractmethod
    def names(self, classes: Classes | None = None) -> Names[Batch, Listed, Part]:
        """Facts in all names of some classes, else of constants that are all alone."""


class Names(ABC, Generic[Batch, Listed, Part]):
    """Classes of equal constants as they are seen from outside: what facts about representatives stand for.

    Of `c ≈ c` only what is explicit counts.
    """

    classes: Classes

    @abstractmethod
    def restore(self, pairs: Listed | None) -> None:
        """Makes classes of what `pairs` gave."""

    @abstractmethod
    def pairs(self) -> Listed:
        """The constants that others represent, with these."""

    @abstractmethod
    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        """A literal about representatives."""

    @abstractmethod
    def several(self) -> bool:
        """Whether there is a class of several constants."""

    @abstractmethod
    def sizes(self, E: FactSet, I: FactSet) -> Mapping[str, int]:
        """How many facts of each predicate there are."""

    @abstractmethod
    def listed(self, E: FactSet, I: FactSet, predicate: str, which: Which, arity: int) -> Listed:
        """The facts of a predicate."""

    @abstractmethod
    def answers(
        self,
        scratch: Backend[Batch, Listed, Part],
        found: FactSet,
        predicate: str,
        variables: Sequence[Variable],
        goal: Sequence[BodyLiteral],
        E: FactSet,
    ) -> list[tuple[Value, ...]]:
        """What facts of a predicate, about representatives, say about the variables of a goal."""

    @abstractmethod
    def changed(
        self,
        then: World[Batch, Listed, Part],
        now: World[Batch, Listed, Part],
        gone: FactSet,
        new: FactSet,
        minus: FactSet,
        plus: FactSet,
    ) -> Difference[Part]:
        """What an update did, in these names after it: `gone` and `new` to `I`, `minus` and `plus` to `E`.

        What it did to `I ∖ E` is in the names of representatives, as a store has it.
        """

    @abstractmethod
    def derived(self, batches: Sequence[Batch], E: FactSet, I: FactSet) -> int:
        """How many of some facts are not explicit and hold."""

    @abstractmethod
    def merged_apart(self, E: FactSet, I: FactSet) -> bool:
        """Whether somebody is different from itself in `I`, but for what `E` says without any equality."""

    @abstractmethod
    def clashes(self, I: FactSet) -> list[str]:
        """What these classes contradict, with facts that tell names apart in the names they were given."""


class Shelf(ABC, Generic[Batch, Listed, Part]):
    """A version of a store in the making: facts, terms and what is kept, as files."""

    @abstractmethod
    def write(
        self, section: str, layers: Sequence[Layer], added: Part, deleted: Part, arities: Mapping[str, int]
    ) -> tuple[Layer, ...]:
        """The layers of a section after a change of its facts."""

    @abstractmethod
    def since(
        self, section: str, layers: Sequence[Layer], facts: FactSet, arities: Mapping[str, int]
    ) -> tuple[Part, Part]:
        """What a section with some layers, as they were seen last, lacks of some facts, and what it has too much."""

    @abstractmethod
    def terms(self, parts: Sequence[Files], known: bool) -> tuple[Files, ...]:
        """The dictionary with the terms that are new; all terms, unless it is known."""

    @abstractmethod
    def kept(
        self,
        state: KeptState | None,
        names: Names[Batch, Listed, Part] | None,
        kept: Callable[[], Mapping[str, Listed]],
        layers: Sequence[Layer],
        arities: Mapping[str, int],
        kinds: frozenset[str],
    ) -> tuple[tuple[Layer, ...], dict[str, int]]:
        """The layers of all that is kept, and how many columns its relations have.

        It is compared with what there is in some layers. Without a state, it is what was stored before.
        """

    def done(self, E: FactSet, derived: FactSet) -> None:
        """Is told that a version has these facts, if it comes to be."""
