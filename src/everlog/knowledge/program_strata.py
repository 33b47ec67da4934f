"""A program as it is evaluated, for people: its strata, what they depend on, and the rules and modules of each.

Nothing is evaluated for it. Whether a module is used is decided when there are facts; a store's report tells which ones
were left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from everlog.datalog.printer import print_term
from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import TRIPLE, Aggregate, Atom, Constant, Negation, Program, Rule, parts
from everlog.datalog.values import RDF_TYPE
from everlog.knowledge.rule_texts import RuleTexts, is_hidden, purpose
from everlog.knowledge.settings import Settings
from everlog.planning.compiled_program import Stratification, stratified
from everlog.planning.literal_places import without_guards
from everlog.planning.modules.module_rules import Module, relation_name


@dataclass(frozen=True)
class RuleUnit:
    """Rules that are evaluated together: those of a module, or a single one; `kind` is as in a profile."""

    stratum: int
    kind: str
    rules: tuple[str, ...]
    why: str = ""
    """Why they are a module, or, of a module that was found and is not used, why not."""
    origins: tuple[str, ...] = ()
    """What rules come from that an ontology was translated to."""


@dataclass(frozen=True)
class StrataEdge:
    """Rules of the stratum `target` need facts of the stratum `source`: all of them, if they are negated or aggregated."""

    source: int
    target: int
    whole: bool


@dataclass(frozen=True)
class ProgramStrata:
    """What each stratum derives (relations as they are written), what depends on what, and the rules."""

    relations: Mapping[int, tuple[str, ...]]
    edges: tuple[StrataEdge, ...]
    units: tuple[RuleUnit, ...]


def program_strata(
    program: Program, options: Mapping[str, Any], left_out: Sequence[Mapping[str, Any]] = ()
) -> ProgramStrata:
    """The strata of a program with the options of a store; `left_out` are modules that its report says are not used."""
    settings = Settings(algorithm=options.get("algorithm", "auto"), modules=options.get("modules", "auto"))
    mode: Stratification = "single" if options.get("stratification") == "single" else "levels"
    strata, modules = stratified(without_guards(program.rules), mode, settings.kinds if settings.modular else ())
    texts = RuleTexts((rule for stratum in strata for rule in stratum.rules), program)
    unused = {(one["kind"], *one["predicates"]): one["why"] for one in left_out}
    home = {pattern(atom): stratum.index for stratum in strata for atom in stratum.patterns}
    named = cache(lambda atom: _relation(atom, program.prefixes))
    relations: dict[int, tuple[str, ...]] = {}
    edges: dict[StrataEdge, None] = {}
    units = []
    for stratum, some in zip(strata, modules, strict=True):
        relations[stratum.index] = tuple(
            dict.fromkeys(named(rule.head) for rule in stratum.rules if not is_hidden(rule))
        )
        for rule in stratum.rules:
            edges.update(dict.fromkeys(_edges(rule, stratum.index, home)))
        units += _units(stratum.index, stratum.rules, some, unused, texts, program)
    return ProgramStrata(relations, tuple(edges), tuple(units))


def _units(
    stratum: int,
    rules: Sequence[Rule],
    modules: Sequence[Module],
    unused: Mapping[tuple[str, ...], str],
    texts: RuleTexts,
    program: Program,
) -> list[RuleUnit]:
    reasons = {rule: "" for rule in rules}
    found = []
    for module in modules:
        why = unused.get((module.kind, *map(relation_name, module.heads)))
        if why is None:
            origins = _origins(module.rules, texts, program)
            shown = tuple(map(texts.text, module.rules))
            found.append(RuleUnit(stratum, module.kind, shown, module.why, origins))
            reasons = {rule: reason for rule, reason in reasons.items() if rule not in set(module.rules)}
        else:
            reasons.update(dict.fromkeys(module.rules, f"module {module.kind} is not used: {why}"))
    for rule, why in reasons.items():
        origins = _origins((rule,), texts, program)
        found.append(RuleUnit(stratum, purpose(rule), (texts.text(rule),), why, origins))
    return found


def _origins(rules: Sequence[Rule], texts: RuleTexts, program: Program) -> tuple[str, ...]:
    written = (texts.written(rule) for rule in rules if not is_hidden(rule))
    return tuple(program.origins[rule] for rule in written if rule in program.origins)


def _edges(rule: Rule, target: int, home: Mapping[Any, int]) -> list[StrataEdge]:
    found = []
    for literal in rule.body:
        whole = isinstance(literal, Negation | Aggregate)
        for part in parts(literal):
            if isinstance(part, Atom) and (source := home[pattern(part)]) != target:
                found.append(StrataEdge(source, target, whole))
    return found


def _relation(atom: Atom, prefixes: Mapping[str, str]) -> str:
    """What a relation is called: its predicate, or the property or the class of its triples."""
    if atom.predicate != TRIPLE or len(atom.terms) != 3:
        return atom.predicate
    _, verb, target = atom.terms
    if not isinstance(verb, Constant):
        return TRIPLE
    is_class = verb.value == RDF_TYPE and isinstance(target, Constant)
    return print_term(target if is_class else verb, prefixes)
