"""A rule by its hypertree decomposition: Add, Del and Red of *Hypertree* (Algorithms 3–6) as a module of the framework.

Each node `p` of the tree has its *instantiations*: for a node of one atom the facts of that atom, which are not copied; for
others the facts of a hidden atom (`inst_p^I`), which are kept between updates. A change of facts changes nodes (in-node
evaluation) and then the heads that follow from some changed node (cross-node evaluation, `crossnode.py`), with the labels
(8) for additions and (10) for deletions: each node in turn is matched in what changed, the nodes before it with additions
or before deletions, and those after it the other way round.

It departs from the paper as follows. A node without atoms of the head's stratum is exact: only what has no derivation left
goes away. Where its atom has all variables of the node, each instantiation has one derivation. Elsewhere derivations, the
paper's oracle, are counted when a deletion first concerns so many that to look for one of each would take longer. A head is
rederived by a match of the nodes with the deleted heads; the paper counts the derivations of heads, so that none could be
projected away. Negations are matched in the nodes; what no node covers is tested at the root, and drives a match like a
node when it changes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from everlog.datalog.printer import print_atom, print_rule
from everlog.engine.algebra import Annotation, Engine, FactSet, Labelled, Matcher, Region, Rules
from everlog.planning.compiled_program import Compiler
from everlog.planning.decomposition.join_tree import JoinTree, TreeNode
from everlog.reasoning.kept import NEVER, Tallied
from everlog.reasoning.modules.crossnode import Active, CrossNode
from everlog.reasoning.modules.module import Module, Oracle, Update, restoring

_DEAR = 1.0
"""What a step of a search for a derivation costs, compared with counting one: what is expected to cost less is done."""


class _Changed(NamedTuple):
    """The instantiations of a node that came or went, and all of them before and after; each with its size."""

    delta: tuple[FactSet, int]
    before: tuple[FactSet, int]
    after: tuple[FactSet, int]


class Atomic:
    """A node of one atom: its instantiations are facts of the materialisation, of which only the number is kept.

    Of the arguments of `gained` and `lost`, here and in `Joined`, `P` are the facts that matter to positive atoms: those
    that came, or that went. `N` are the others, those that went, or came, which matter to negated atoms.
    """

    def __init__(self, node: TreeNode) -> None:
        self.node = node
        self._region = Region((node.atom,))
        self._size = 0

    def gained(self, now: FactSet, P: FactSet, N: FactSet) -> _Changed:
        new = P.within(self._region)
        size = len(new)
        return _Changed((new, size), (now - P, self._size), (now, self._size + size))

    def lost(self, now: FactSet, negative: FactSet, P: FactSet, N: FactSet) -> _Changed:
        gone = P.within(self._region)
        size = len(gone)
        return _Changed((gone, size), (now | P, self._size), (now, self._size - size))

    def facts(self, now: FactSet) -> tuple[FactSet, int]:
        return now, self._size

    def commit(self, changed: _Changed) -> None:
        self._size = changed.after[1]

    def nbytes(self) -> int:
        return 0

    def savepoint(self) -> Callable[[], None]:
        return restoring(self)


class Joined:
    """A node of several atoms; its instantiations are facts of a hidden atom, which the rule of the node derives."""

    def __init__(self, node: TreeNode, rules: Rules, engine: Engine) -> None:
        self.node, self._rules, self._engine = node, rules, engine
        self.inst = self._again = self._nothing = engine.empty()
        self.counts: Annotation | None = None

    def gained(self, now: FactSet, P: FactSet, N: FactSet) -> _Changed:
        """The change by instantiations that are new since `P` came, which is in `now`, and `N` went."""
        some = () if P is now else ((P, N),)
        new = Tallied(self._rules, self.counts).heads(1, now, some=some, excluding=self.inst)
        return self._changed(new, self.inst | new, len(self.inst) + len(new))

    def lost(self, now: FactSet, negative: FactSet, P: FactSet, N: FactSet) -> _Changed:
        """The change by instantiations that are lost since `P` went, which is not in `now`, and `N` came.

        The negated facts of such an instantiation were outside of `negative`.
        """
        gone = Tallied(self._rules, self.counts).heads(-1, now | P, negative, some=((P, N),)).common(self.inst)
        if not self.node.unique and gone:
            if self.node.recursive:
                self._again |= gone
            else:
                gone -= self._derived(gone, now, negative | N)
        return self._changed(gone, self.inst - gone, len(self.inst) - len(gone))

    def _derived(self, facts: FactSet, now: FactSet, negative: FactSet) -> FactSet:
        """Those of some instantiations that have a derivation left."""
        if self.counts is None:
            if _DEAR * len(facts) * self.node.search <= len(self.inst):
                return self._rules.provable(facts, now, negative)
            self.counts = self._counted(now, negative)
        return facts & self.counts.between(1, NEVER)

    def _counted(self, now: FactSet, negative: FactSet) -> Annotation:
        """How many derivations every instantiation has; that serves all later updates, and is no cost of this one."""
        engine, counts = self._engine, self._engine.annotation()
        before = engine.guard, engine.derivations
        engine.guard = None
        try:
            counts.add(self._rules.apply_counted(now, negative))
        finally:
            engine.guard, engine.derivations = before
        return counts

    def _changed(self, delta: FactSet, after: FactSet, size: int) -> _Changed:
        return _Changed((delta, len(delta)), (self.inst, len(self.inst)), (after, size))

    def facts(self, now: FactSet) -> tuple[FactSet, int]:
        """All of them, and how many there are."""
        return self.inst, len(self.inst)

    def commit(self, changed: _Changed) -> None:
        """Takes over a change, when the heads that follow from it are known."""
        if changed.after[1] > changed.before[1]:
            self.inst |= changed.delta[0]
        elif changed.delta[1]:
            self.inst -= changed.delta[0]

    def again(self, now: FactSet, negative: FactSet) -> None:
        """Takes back what went and has a derivation left (Algorithm 6, lines 1, 2, 5 and 6)."""
        if self._again:
            self.inst |= self._derived(self._again, now, negative)
        self._again = self._nothing

    def nbytes(self) -> int:
        return self._engine.bytes_of(self.node.atom.predicate) + (0 if self.counts is None else self.counts.nbytes())

    def savepoint(self) -> Callable[[], None]:
        undo, undo_counts = restoring(self), None if self.counts is None else self.counts.savepoint()

        def undo_all() -> None:
            undo()
            if undo_counts is not None:
                undo_counts()

        return undo_all


class Decomposed(Module):
    """One rule by its join tree."""

    kind = "hypertree"
    keeps_nodes: bool

    def __init__(self, tree: JoinTree, engine: Engine, matcher: Matcher) -> None:
        super().__init__(tree.rule.head, engine.empty())
        self.tree = tree
        self._across = CrossNode(tree, engine, matcher)
        self._heads = Region((tree.rule.head,))

    def _tests(self, negative: FactSet) -> list[Labelled]:
        """What is tested at the root: negated atoms, outside of a set."""
        return [Labelled(atom, negative, negative=True) for atom in self.tree.negative]

    @abstractmethod
    def _stored(self) -> Iterable[tuple[int, int]]:
        """For each node the number of its instantiations, and their memory."""

    def described(self) -> dict[str, object]:
        nodes = [
            {
                "atoms": [print_atom(atom) for atom in node.atoms],
                "variables": [variable.name for variable in node.atom.variables()],
                "facts": facts,
                "bytes": nbytes,
            }
            for node, (facts, nbytes) in zip(self.tree.nodes, self._stored(), strict=True)
        ]
        rule = print_rule(self.tree.rule)
        return {"rule": rule, "width": self.tree.width, "kept": self.keeps_nodes, "nodes": nodes}


class Hypertree(Decomposed):
    """One rule by its join tree, whose nodes are kept between updates."""

    keeps_nodes = True

    def __init__(self, tree: JoinTree, engine: Engine, compiled: Compiler, matcher: Matcher) -> None:
        super().__init__(tree, engine, matcher)
        self.nodes = [
            Atomic(node) if node.rule is None else Joined(node, compiled([node.rule]), engine) for node in tree.nodes
        ]

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        return self._gained(now, update.more, update.fewer)

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        return self._gained(now, Δ, self._nothing) if self.tree.recursive else self._nothing

    def _gained(self, now: FactSet, P: FactSet, N: FactSet) -> FactSet:
        """Algorithm 3: what follows since `P` came, which is in `now`, and `N` went."""
        return self._crossed([node.gained(now, P, N) for node in self.nodes], True, self._tests(now), N, now)

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        return self._lost(now, update.then, update.fewer, update.more, oracle)

    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        if not self.tree.recursive:
            return self._nothing
        return self._lost(now, update.then_or_now, Δ, self._nothing, oracle)

    def _lost(self, now: FactSet, negative: FactSet, P: FactSet, N: FactSet, oracle: Oracle) -> FactSet:
        """Algorithm 5: what may not follow since `P` went, which is not in `now`, and `N` came."""
        changes = [node.lost(now, negative, P, N) for node in self.nodes]
        lost = self._crossed(changes, False, self._tests(negative), N, None).common(now)
        return lost.minus(oracle(lost)) if lost else lost

    def rederive(self, update: Update, now: FactSet, deleted: FactSet) -> FactSet:
        """Algorithm 6."""
        for node in self.nodes:
            if isinstance(node, Joined):
                node.again(now, update.then_or_now)
        mine = deleted.within(self._heads)
        if not mine:
            return mine
        every = Active([node.facts(now) for node in self.nodes])
        return self._across.heads(every, [*self._tests(update.then_or_now), Labelled(self.tree.rule.head, mine)])

    def _crossed(
        self,
        changes: Sequence[_Changed],
        growing: bool,
        tests: Sequence[Labelled],
        N: FactSet,
        excluding: FactSet | None,
    ) -> FactSet:
        """The heads of the matches that have some change of a node, or a fact of `N` for a negated atom of the root.

        The nodes take over their changes then.
        """
        found = self._nothing
        for number, changed in enumerate(changes):
            if changed.delta[1]:
                labelled = [
                    changed.delta if place == number else other.after if (place < number) == growing else other.before
                    for place, other in enumerate(changes)
                ]
                found |= self._across.heads(Active(labelled, number), tests, excluding)
        for number, atom in enumerate(self.tree.negative):
            facts = N.within(Region((atom,)))
            if facts:
                others = [*tests[:number], *tests[number + 1 :], Labelled(atom, facts)]
                found |= self._across.heads(Active([changed.after for changed in changes]), others, excluding)
        for node, changed in zip(self.nodes, changes, strict=True):
            node.commit(changed)
        return found

    def rebuild(self, I: FactSet) -> None:
        for node in self.nodes:
            node.commit(node.gained(I, I, self._nothing))

    def savepoint(self) -> Callable[[], None]:
        undo = [node.savepoint() for node in self.nodes]

        def undo_all() -> None:
            for one in undo:
                one()

        return undo_all

    def nbytes(self) -> int:
        """The memory of all nodes."""
        return sum(node.nbytes() for node in self.nodes)

    def _stored(self) -> Iterable[tuple[int, int]]:
        return ((node.facts(self._nothing)[1], node.nbytes()) for node in self.nodes)
