"""*Equality*, Theorem 1 (2) and (3), by the rule instances that B/F≈ considers; and §3.1 step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pyoxigraph import NamedNode

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Rule
from everlog.datalog.values import SAME_AS
from everlog.engine.algebra import FactSet
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.reasoning.equality.bf_equality import Deletion
from oracles import naive
from support.equalities import if_defined, random_case
from support.stored import facts_in, stored

Considered = Counter[tuple[Rule, tuple[tuple[str, object], ...]]]


class Recording:
    """Compiles rules that note every instance which `apply` considers, and are the engine's otherwise."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._compiler = engine, MemoryCompiler(engine)

    def __call__(self, rules: Sequence[Rule]) -> Any:
        return _Noted(self._engine, self._compiler(rules), Counter())


class _Noted:
    def __init__(self, engine: Any, inner: Any, considered: Considered) -> None:
        self._engine, self._inner, self.considered = engine, inner, considered

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def apply(self, positive: FactSet, *more: Any, some: Any = (), **options: Any) -> FactSet:
        known, conditions = self._facts(positive), [(self._facts(P), self._facts(N)) for P, N in some]
        for rule in self._inner.rules:
            for one in naive.instances(rule, known, known, conditions):
                self.considered[rule, tuple(sorted(one.items()))] += 1
        before = self._engine.derivations
        found: FactSet = self._inner.apply(positive, *more, some=some, **options)
        assert self._engine.derivations - before <= sum(self.considered.values()), "more than by definition"
        return found

    def _facts(self, facts: FactSet) -> naive.Facts:
        return facts_in(self._engine, as_memory_facts(facts).computed())


class RecordedDeletion(Deletion):
    """B/F≈ whose rules note what they consider: `line_15`, and `lines_50_58` over all that γ makes of the program."""

    def __init__(self, before: Any, E: FactSet) -> None:
        before.compiler, before._known = Recording(before.engine), {}
        super().__init__(before, E)
        self.lines_50_58: Considered = Counter()
        self.line_15: Considered = self._doubting.considered  # type: ignore[attr-defined]

    def _saturate(self, facts: FactSet) -> None:
        compiler = self._before.compiler
        made: list[Any] = [self._proving.all]
        self._before.compiler = self._proving._compiler = lambda rules: made.append(compiler(rules)) or made[-1]  # type: ignore[attr-defined, func-returns-value, assignment]
        for noted in made:
            noted.considered.clear()
        super()._saturate(facts)
        self._before.compiler = self._proving._compiler = compiler  # type: ignore[attr-defined]
        for noted in made:
            self.lines_50_58 += noted.considered


def deleted(kb: Any, minus: naive.Facts) -> RecordedDeletion:
    """B/F≈ for some explicit facts, beside a knowledge base."""
    state = kb.reasoner
    gone = as_memory_facts(stored(state.engine, minus) & state.E).computed()
    deletion = RecordedDeletion(state._core.rewritten.copy(), state.E - gone)
    deletion.run(gone)
    return deletion


def test_no_instance_is_considered_twice() -> None:
    forward = doubted = 0
    for seed in range(5000, 5040):
        case = random_case(seed, updates=1)
        kb = if_defined(case)
        if kb is None:
            continue
        deletion = deleted(kb, case.updates[0][1])
        assert max(deletion.lines_50_58.values(), default=1) == 1, f"{deletion.lines_50_58}\n{seed} {case}"
        assert max(deletion.line_15.values(), default=1) == 1, f"{deletion.line_15}\n{seed} {case}"
        forward += len(deletion.lines_50_58)
        doubted += len(deletion.line_15)
    assert forward > 25 and doubted > 15, "they have something to consider"


def test_section_3_1_step_by_step() -> None:
    """Both classes are doubtful as a whole; γ merges nothing, so what is explicit is proved, and comes back."""
    program = """
        @prefix ex: <http://example.org/> .
        [?y1, owl:sameAs, ?y2] :- [?y1, ex:R, ?x], [?y2, ex:R, ?x] .
        [?y1, owl:sameAs, ?y2] :- [?x, ex:R, ?y1], [?x, ex:R, ?y2] .
    """
    a, b, c, d, R = (NamedNode(f"http://example.org/{name}") for name in "abcdR")
    kb: Any = KnowledgeBase(parse_program(program), engine="memory", equality="rewrite", workers=1)
    kb.add({"triple": [(a, R, b), (c, R, d), (a, R, d)]})
    kb.materialise()
    deletion = deleted(kb, frozenset([naive.fact("triple", a, R, d)]))

    def seen(facts: FactSet) -> naive.Facts:
        return facts_in(kb.reasoner.engine, as_memory_facts(facts).computed())

    doubtful = [naive.fact("triple", *row) for row in [(a, R, b), (a, SAME_AS, a), (b, SAME_AS, b)]]
    explicit = [naive.fact("triple", *row) for row in [(a, R, b), (c, R, d)]]
    assert seen(deletion.D) == seen(deletion.C) == frozenset(doubtful), "π(E⁻), and what it could have derived"
    assert seen(deletion.P) == frozenset(explicit), "line 40: what is explicit in the names of γ"
    assert deletion.γ.members == {}, "a ≈ c and b ≈ d have no proof"  # type: ignore[attr-defined]
    assert seen(deletion.S) == frozenset(doubtful[1:]), "so the classes are disproved"
    assert seen(deletion._before.I) == frozenset(explicit), "lines 18–21"
    assert deletion._before.classes.members == {}  # type: ignore[attr-defined]
