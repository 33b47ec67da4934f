"""The algebra between algorithms and engines: everything that an algorithm does with facts.

An algorithm of `reasoning/` is written against these protocols and nothing else; an engine implements them.

* A **FactSet** is a finite set of ground facts over any predicates, as a value. `X | Y`, `X - Y` and `X & Y` are *views*:
  they cost nothing and are tested fact by fact where a match needs them. `X.plus(Y)`, `X.minus(Y)` and `X.common(Y)`
  *compute* a new set. `X |= Y`, `X -= Y` and `X &= Y` do the same and rebind `X`; no other name of the old set sees it.
  Asking a view for its size or for emptiness, or driving a match by it, computes it too, once.
* A **Counted** set is a multiset: `+` is ⊕ and `-` is ⊖.
* An **Annotation** gives every fact an integer; `between` turns it into a view.
* **Rules** are a part of a compiled program; `apply` is `inst_r[I⁺, I⁻ : P₁, N₁ : …]` of *Revisited* (65) for all of them
  at once, each instance considered once.
* **Classes** are representatives of equal constants; they rewrite facts and rules.
* `match` evaluates labelled literals, and **Bindings** are what it finds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everlog.datalog.syntax import Atom, Comparison, Rule, Variable


@dataclass(frozen=True, eq=False)
class Region:
    """The instances of some atoms (`Out^s`); with `rest`, also all facts that are no instance of those `elsewhere`."""

    patterns: tuple[Atom, ...]
    rest: bool = False
    elsewhere: tuple[Atom, ...] = ()


class FactSet(ABC):
    """A set of facts, computed or not."""

    @abstractmethod
    def __or__(self, other: FactSet) -> FactSet: ...

    @abstractmethod
    def __sub__(self, other: FactSet) -> FactSet: ...

    @abstractmethod
    def __and__(self, other: FactSet) -> FactSet: ...

    @abstractmethod
    def __ior__(self, other: FactSet) -> FactSet: ...

    @abstractmethod
    def __isub__(self, other: FactSet) -> FactSet: ...

    @abstractmethod
    def __iand__(self, other: FactSet) -> FactSet: ...

    def plus(self, other: FactSet) -> FactSet:
        """`X ∪ Y`, computed."""
        return self.__ior__(other)

    def minus(self, other: FactSet) -> FactSet:
        """`X ∖ Y`, computed."""
        return self.__isub__(other)

    def common(self, other: FactSet) -> FactSet:
        """`X ∩ Y`, computed."""
        return self.__iand__(other)

    @abstractmethod
    def __bool__(self) -> bool: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def within(self, region: Region) -> FactSet:
        """The facts of a region such as `Out^s`, computed."""

    @property
    def base(self) -> FactSet:
        """The set without facts of closed relations that only follow from others."""
        return self

    @property
    def closures(self) -> Mapping[Atom, Closed]:
        """The relations that are closed, by their atoms."""
        return {}


class Closed(ABC):
    """All facts of a relation that is closed, such as a transitive one, in less room than they take one by one."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def nbytes(self) -> int:
        """The memory in use."""


class Closing(ABC):
    """Closes a relation, and keeps it closed: its facts are all that a backbone `X` and steps `T` lead to."""

    @abstractmethod
    def closed(self, X: FactSet, T: FactSet, always: bool = False, asked: bool = False) -> Closed | None:
        """What they lead to; None if that takes no less room than its facts do, unless it is wanted `always`.

        If it is `asked` about by rules, it has to be larger, since these are slower then if they ask for most of it.
        """

    @abstractmethod
    def changed(self, before: Closed, X: FactSet, T: FactSet, come: FactSet, gone: FactSet) -> Closed:
        """What they lead to now, after facts of `X` or `T` have come and gone."""


class Counted(ABC):
    """A multiset of facts; multiplicities are positive."""

    @abstractmethod
    def __add__(self, other: Counted | FactSet) -> Counted: ...

    @abstractmethod
    def __sub__(self, other: Counted | FactSet) -> Counted: ...

    @abstractmethod
    def __bool__(self) -> bool: ...

    @abstractmethod
    def support(self) -> FactSet:
        """The facts that occur at all."""

    @abstractmethod
    def total(self) -> int:
        """The sum of the multiplicities."""


class Annotation(ABC):
    """An integer for every fact, 0 unless it was set."""

    @abstractmethod
    def set(self, facts: FactSet, value: int) -> None: ...

    @abstractmethod
    def add(self, facts: Counted | FactSet, sign: int = 1) -> None: ...

    @abstractmethod
    def assign(self, facts: FactSet, other: Annotation) -> None:
        """Takes over the values that another annotation gives to some facts."""

    @abstractmethod
    def savepoint(self) -> Callable[[], None]:
        """A function that brings back the values of now; only that of the latest savepoint may be called."""

    @abstractmethod
    def nbytes(self) -> int:
        """The memory in use; 0 where that is unknown."""

    @abstractmethod
    def between(self, least: int, greatest: int) -> FactSet:
        """The view of all facts whose annotation lies between two bounds, to be intersected with a set."""

    @abstractmethod
    def counted(self, facts: FactSet) -> Counted:
        """Each fact as often as its annotation says; those with none or a negative one are left out."""


Some = tuple[FactSet, FactSet]
"""`(P, N)`: a positive body fact must be in `P`, or a negative one in `N`."""


@dataclass(frozen=True)
class Labelled:
    """A literal to match: a positive one in its view, a negative one outside."""

    atom: Atom
    view: FactSet
    negative: bool = False


class Bindings(ABC):
    """The matches of a conjunction, found when a projection asks for them."""

    @abstractmethod
    def facts(self, atom: Atom, excluding: FactSet | None = None) -> FactSet:
        """The instances of an atom over the conjunction's variables, but for those in a set; it may be a hidden one."""


class Rules(ABC):
    """Some rules of a compiled program."""

    @property
    @abstractmethod
    def rules(self) -> Sequence[Rule]: ...

    @abstractmethod
    def apply(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
        excluding: FactSet | None = None,
    ) -> FactSet:
        """The heads of `inst_r[positive, negative : some…]`, for all rules, as a set.

        `P ⊆ positive` and `N ∩ negative = ∅` are required of every condition. Heads in `excluding` are considered and not
        returned. Of several conditions the smallest drives the joins and the others filter; a range of an annotation never
        drives.
        """

    @abstractmethod
    def apply_counted(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
    ) -> Counted:
        """The heads of the instances that `apply` considers, as a multiset: one occurrence for each instance."""

    @abstractmethod
    def provable(self, heads: FactSet, positive: FactSet, negative: FactSet | None = None) -> FactSet:
        """The facts among `heads` that some instance derives; one instance is considered for each."""

    @abstractmethod
    def premises(self, heads: FactSet, positive: FactSet, negative: FactSet, region: Region) -> FactSet:
        """The positive body facts, within a region, of the instances whose head is among `heads`."""


class Paths(ABC):
    """The facts of one binary atom that steps of another lead on: `X ∪ X·T ∪ X·T·T ∪ …`."""

    @abstractmethod
    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> FactSet:
        """The facts that `X` and the steps `T` lead to, but for those in a set."""

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> FactSet:
        """What `facts` gives, where all facts that the sets `before` led to are known to be in `excluding`."""
        return self.facts(X, T, excluding)

    @abstractmethod
    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that `X` and `T` do not lead to."""

    def fewer(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], facts: FactSet) -> FactSet:
        """What `outside` gives, for facts that the sets `before` are known to have led to."""
        return self.outside(X, T, facts)


class Cliques(ABC):
    """The facts of one binary atom that connect everything that some of them connect."""

    @abstractmethod
    def joined(self, X: FactSet, more: FactSet, excluding: FactSet) -> FactSet:
        """The facts between what `X` leaves apart and `more` connects, but for those in a set."""

    @abstractmethod
    def outside(self, X: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts whose ends `X` does not connect."""

    @abstractmethod
    def around(self, X: FactSet, edges: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts whose ends `X` connects to an end of some edges."""


class Engine(ABC):
    """Sets of facts, and the number of rule instances considered so far."""

    derivations: int
    guard: Callable[[int, bool], None] | None = None
    """Called now and then while rules are applied; it may raise.

    It is told the instances that are not in `derivations` yet, and whether the facts that they derive have been entered."""

    @abstractmethod
    def empty(self) -> FactSet: ...

    @abstractmethod
    def annotation(self, sparse: bool = False) -> Annotation:
        """No fact has a value of its own yet; `sparse` says that few ever will."""

    def closing(self, I: FactSet, closures: Mapping[Atom, Closed]) -> FactSet:
        """A set with all facts of some relations that are closed, of which it has those that are not derived by that."""
        assert not closures, "an engine without closures"
        return I

    def changed(
        self, then: FactSet, now: FactSet, explicit: tuple[FactSet, FactSet], sets: Sequence[FactSet]
    ) -> Sequence[FactSet]:
        """What came to `I` and went, and what came to `I ∖ E` and went, between two sets with closed relations.

        Some facts became `explicit`, others are so no longer; the `sets` are what happened to what is listed.
        """
        return sets

    def bytes_of(self, predicate: str) -> int:
        """The memory that the facts of a predicate take; 0 where that is unknown."""
        return 0

    def forget(self, predicate: str) -> None:  # noqa: B027
        """Gives back the memory of a hidden predicate's facts, which no set has any more; elsewhere that is of no use."""


class Images(ABC):
    """A set of facts that can be looked up by what they are rewritten to."""

    @abstractmethod
    def of(self, facts: FactSet) -> FactSet:
        """Those of the facts whose rewritten form is in a set of facts about representatives."""


class Classes(ABC):
    """Classes of constants that are one, and their representatives: `π` of *Equality*, least in the order of terms.

    A class of several constants, represented by `c`, is named by the fact `c ≈ c`. `normal` is `π(·)`.
    """

    @abstractmethod
    def alone(self) -> Classes:
        """New classes for the same engine, in which every constant is still alone."""

    @abstractmethod
    def merge(self, facts: FactSet) -> bool:
        """Makes the ends of equalities one, where they can be; tells whether a class has grown."""

    @abstractmethod
    def separate(self, facts: FactSet) -> None:
        """Keeps apart, from now on, the names that owl:differentFrom tells apart in some facts."""

    @abstractmethod
    def refused(self, facts: FactSet) -> FactSet:
        """Those of some facts about representatives that are equalities of names which are kept apart."""

    @abstractmethod
    def group(self, facts: FactSet, atom: Atom, value: Variable) -> tuple[FactSet, bool]:
        """Makes the values of a variable one where facts of an atom differ in nothing else.

        Gives the classes that grew, and whether all such values are one now: some cannot be.
        """

    @abstractmethod
    def outdated(self, facts: FactSet) -> FactSet:
        """Those of some facts that mention a constant which another one represents."""

    @abstractmethod
    def normal(self, facts: FactSet) -> FactSet: ...

    @abstractmethod
    def images(self, facts: FactSet) -> Images: ...

    @abstractmethod
    def of(self, facts: FactSet) -> FactSet:
        """The classes of several constants that facts about representatives mention."""

    @abstractmethod
    def mentioning(self, classes: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that mention the representative of one of some classes."""

    @abstractmethod
    def whole(self, classes: FactSet, others: Classes) -> FactSet:
        """Those of some classes of `others` whose members are all in one class here, too."""

    @abstractmethod
    def departed(self, classes: FactSet, others: Classes) -> FactSet:
        """The members of some classes of `others` whom their representative does not represent here, each as `p ≈ p`."""

    @abstractmethod
    def split(self, classes: FactSet, others: Classes) -> Classes:
        """A copy of these classes, in which some are taken apart again into what they are in `others`."""

    @abstractmethod
    def rewritten(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """Rules about representatives; those that are asked for again, while nothing has changed, are the same tuple."""


class Neighbours(ABC):
    """The facts of one binary atom whose ends follow each other in the order of the values that a unary atom has."""

    @abstractmethod
    def facts(self, P: FactSet, excluding: FactSet) -> FactSet:
        """The pairs of neighbours among the values of `P`, but for those in a set."""

    @abstractmethod
    def outside(self, P: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts whose ends are no neighbours among the values of `P`."""


class Groups(ABC):
    """What groups of facts have: the facts of one atom by those of another, its members, that agree in some variables."""

    @abstractmethod
    def facts(self, members: FactSet) -> FactSet:
        """The facts about the groups that some members are; these are all members of their groups."""

    @abstractmethod
    def continued(self, old: FactSet, come: FactSet, gone: FactSet) -> FactSet:
        """The facts about groups after members came and went, given those before, where these tell them.

        `come` and `gone` may have members of other groups, too.
        """


class Steps(NamedTuple):
    """Facts of an atom that lead from the group at one of its variables to that at another, and may add something."""

    atom: Atom
    facts: FactSet
    start: Variable
    end: Variable
    added: Variable | None


class Forest(ABC):
    """Best facts that steps lead to, and what each follows from; an update of them costs what it changes.

    It is told what has gone, then what has come; after `None`, or anything that was raised, it is of no use any more.
    """

    @abstractmethod
    def lost(self, gone: Sequence[Steps], candidates: FactSet, facts: FactSet, groups: Atom) -> FactSet | None:
        """The groups that lost their best facts with some steps, and those that lost candidates or given facts.

        None if it takes less to settle everything again.
        """

    @abstractmethod
    def resettled(self, candidates: FactSet, facts: FactSet, come: Sequence[Steps]) -> tuple[FactSet, FactSet] | None:
        """The best facts that groups had, and those that they have, given what comes.

        Candidates and facts are all that the lost groups have, and what is new for others. The groups are those that
        were lost and whichever else have changed. None if everything has to be settled again.
        """

    def nbytes(self) -> int:
        """The memory in use."""
        return 0


class BestFacts(ABC):
    """The best of facts that agree in all but one term: facts of an atom, and candidates of another with the same terms."""

    @abstractmethod
    def best(self, candidates: FactSet, facts: FactSet) -> FactSet:
        """The best of each group, as facts."""

    @abstractmethod
    def kinds(self, candidates: FactSet, facts: FactSet) -> frozenset[str]:
        """The kinds of numbers that are among the values: `integer`, `double`, and `other`."""

    def settled(
        self, candidates: FactSet, facts: FactSet, steps: Sequence[Steps]
    ) -> tuple[FactSet, Forest | None] | None:
        """The best facts that follow from candidates and facts by steps; None if they are not found that way.

        Groups have one term. With the facts comes what is worth keeping for updates, if it is.
        """
        return None


Moves = tuple[Sequence[Mapping[int, int]], frozenset[int]]
"""A deterministic automaton: for each state, the first being the start, what letters lead to; and the final states.

The letters of a sequence of atoms have the numbers 0, 2, 4, …, and those for steps backwards 1, 3, 5, …
"""


class Chains(ABC):
    """The facts of some heads whose ends a path connects that an automaton accepts, over `X` and `T`."""

    @abstractmethod
    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> FactSet:
        """All facts of the heads that paths over `X` and `T` connect, but for those in a set."""

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> FactSet:
        """What `facts` gives, where `X` and all facts that the sets `before` led to are known to be in `excluding`."""
        return self.facts(X, T, excluding)

    @abstractmethod
    def through(self, X: FactSet, T: FactSet, changed: FactSet, excluding: FactSet) -> FactSet | None:
        """The facts whose first ends have a path through some `changed` facts; None if there are too many such ends."""

    @abstractmethod
    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that are not in `X` and that no path over `X` and `T` connects."""

    @abstractmethod
    def around(self, X: FactSet, T: FactSet, changed: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts whose first ends have a path through some `changed` facts."""


class Graphs(ABC):
    """The graphs and orders that modules ask for."""

    @abstractmethod
    def paths(self, atom: Atom, step: Atom, backwards: bool = False) -> Paths:
        """Paths of the facts of an atom; `backwards`, steps are put before them."""

    @abstractmethod
    def cliques(self, atom: Atom) -> Cliques: ...

    def closing_paths(self, atom: Atom, step: Atom, backwards: bool = False) -> Closing | None:
        """What keeps the relation of an atom closed along steps; None where all facts are listed."""
        return None

    def closing_cliques(self, atom: Atom) -> Closing | None:
        """What keeps a symmetric and transitive relation closed; None where all facts are listed."""
        return None

    @abstractmethod
    def keyed_neighbours(self, atom: Atom, item: Atom, key: Variable) -> Neighbours:
        """Neighbours among the values of a binary atom by their keys, which stand at one of its variables."""

    @abstractmethod
    def chains(self, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]) -> Chains:
        """Paths over some letters that automata accept, one for each head."""

    @abstractmethod
    def neighbours(self, atom: Atom, item: Atom) -> Neighbours:
        """Neighbours among the values of `item`, as facts of an atom."""

    @abstractmethod
    def best_facts(self, rule: Rule) -> BestFacts:
        """The best facts of groups, for a rule that chooses them."""

    @abstractmethod
    def groups(self, rule: Rule) -> Groups:
        """Groups, for a rule whose body is an aggregate of one atom with one result."""


class Matcher(ABC):
    """Conjunctive queries outside of rules."""

    @abstractmethod
    def match(self, literals: Sequence[Labelled], comparisons: Sequence[Comparison] = ()) -> Bindings:
        """The matches of labelled literals; each match once."""
