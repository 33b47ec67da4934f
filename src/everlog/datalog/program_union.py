"""The union of programs."""

from __future__ import annotations

from types import MappingProxyType

from everlog.datalog.arities import check_arities
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Program, Rule


def union(*programs: Program) -> Program:
    """The rules, facts and prefixes of all programs. A prefix that two of them declare means what the first one says.

    >>> from everlog.datalog.reader import parse_program
    >>> union(parse_program("p(?x) :- q(?x) ."), parse_program("p(?y) :- q(?y) . q(1) ."))
    <Program: 1 rules, 1 facts>
    """
    rules: dict[Rule, Rule] = {}
    for rule in (rule for program in programs for rule in program.rules):
        rules.setdefault(canonical_rule(rule), rule)
    prefixes: dict[str, str] = {}
    for program in reversed(programs):
        prefixes |= program.prefixes
    facts = dict.fromkeys(fact for program in programs for fact in program.facts)
    origins: dict[Rule, str] = {}
    for program in reversed(programs):
        origins |= {rules.get(canonical_rule(rule), rule): origin for rule, origin in program.origins.items()}
    known = MappingProxyType(prefixes), MappingProxyType(origins)
    result = Program(tuple(rules.values()), tuple(facts), *known)
    check_arities(result)
    return result
