"""A compiled program: its strata share out the rules and the facts."""

from __future__ import annotations

from hypothesis import Phase, given, settings

from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.planning.compiled_program import compile_program, prepared
from oracles import naive
from support.stored import facts_in, stored
from support.strategies import Case, cases


@settings(deadline=None, derandomize=True, max_examples=150, phases=[Phase.generate])
@given(cases())
def test_strata(case: Case) -> None:
    """Every rule and every fact belongs to one stratum; the head of a rule that fires to the rule's own."""
    engine = MemoryEngine(workers=1)
    known = naive.materialise(case.program.rules, case.explicit) | {naive.fact("unheard_of", 1)}
    facts = stored(engine, known)
    for stratification in ("levels", "single"):
        strata = compile_program(case.program.rules, MemoryCompiler(engine), stratification)
        rules = [rule for stratum in strata for rule in stratum.rules.rules]
        assert sorted(map(repr, rules)) == sorted(map(repr, prepared(case.program.rules)))
        shares = [facts_in(engine, facts.within(stratum.region)) for stratum in strata]
        assert sum(map(len, shares)) == len(known) and frozenset().union(*shares) == known
        assert naive.fact("unheard_of", 1) in shares[0]
        for stratum, share in zip(strata, shares, strict=True):
            assert {*stratum.recursive.rules} | {*stratum.nonrecursive.rules} == {*stratum.rules.rules}
            assert {*stratum.recursive.rules}.isdisjoint(stratum.nonrecursive.rules)
            heads = {
                naive.instance_of(rule.head, one)
                for rule in stratum.rules.rules
                for one in naive.instances(rule, known, known)
            }
            assert heads & known <= share
            for rule in stratum.nonrecursive.rules:
                for one in naive.instances(rule, known, known):
                    assert share.isdisjoint(naive.instance_of(atom, one) for atom in rule.positive)
