"""Constraints: rules that must not fire.

A rule is a constraint if its head is `violation(…)` of any number of arguments, if it says that something is an
`rdfox:ConstraintViolation`, or if it has no head. A rule without a head gets one (`nameless_head` in `printer.py`), which
is printed as none. What shapes demand is a constraint, too: its head is `shacl_violation(…)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pyoxigraph import NamedNode

from everlog.datalog.printer import NAMELESS
from everlog.datalog.substitution import REMEMBERED
from everlog.datalog.syntax import TRIPLE, Atom, Constant, Program, Rule, Variable
from everlog.datalog.values import RDF_TYPE

VIOLATION: Final = "violation"
SHAPE_VIOLATION: Final = "shacl_violation"
OF_SHAPES: Final = "sh: "
"""What the names of predicates begin with that rules for shapes need for themselves."""

_RDFOX: Final = Constant(NamedNode("http://oxfordsemantic.tech/RDFox#ConstraintViolation"))
_TYPE: Final = Constant(RDF_TYPE)


@lru_cache(REMEMBERED)
def is_violation(atom: Atom) -> bool:
    """Whether facts of this form say that something is violated."""
    if atom.predicate == TRIPLE:
        return len(atom.terms) == 3 and atom.terms[1:] == (_TYPE, _RDFOX)
    return atom.predicate in (VIOLATION, SHAPE_VIOLATION) or NAMELESS.fullmatch(atom.predicate) is not None


def violation_patterns(program: Program) -> tuple[Atom, ...]:
    """The forms of facts by which a program says that something is violated, each once."""
    said = dict.fromkeys(map(_pattern, filter(is_violation, program.facts)))
    return tuple(dict.fromkeys((*_derived_violations(program.rules), *said)))


@lru_cache(16)
def _derived_violations(rules: tuple[Rule, ...]) -> tuple[Atom, ...]:
    """The forms of facts by which rules say so."""
    return tuple(dict.fromkeys(_pattern(rule.head) for rule in rules if is_violation(rule.head)))


def _pattern(head: Atom) -> Atom:
    if head.predicate == TRIPLE:
        return Atom(TRIPLE, (Variable("x"), _TYPE, _RDFOX))
    return Atom(head.predicate, tuple(Variable(f"x{place}") for place in range(len(head.terms))))


def is_of_shapes(rule: Rule) -> bool:
    """Whether a rule, or a fact as a rule without conditions, is what became of shapes."""
    return rule.head.predicate.startswith((OF_SHAPES, "shacl_"))
