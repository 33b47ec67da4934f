"""The OWL 2 RL/RDF rules that are about no single axiom: eq-* (equality) and scm-* (the schema), as rules over triples.

Left out, because they only repeat what is known: reflexive conclusions (eq-ref, scm-cls and scm-op's `c ⊑ c`) and
conclusions about owl:Thing and owl:Nothing. Lists (scm-int, scm-uni) are walked with rdf:rest.
"""

from __future__ import annotations

from functools import cache

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Rule

_EQUALITY = """
# eq-sym
[?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .
# eq-trans
[?x, owl:sameAs, ?z] :- [?x, owl:sameAs, ?y], [?y, owl:sameAs, ?z], ?x != ?z .
# eq-rep-s
[?y, ?p, ?o] :- [?x, owl:sameAs, ?y], [?x, ?p, ?o], ?p != owl:sameAs .
# eq-rep-p
[?s, ?q, ?o] :- [?p, owl:sameAs, ?q], [?s, ?p, ?o], ?q != owl:sameAs .
# eq-rep-o
[?s, ?p, ?y] :- [?x, owl:sameAs, ?y], [?s, ?p, ?x], ?p != owl:sameAs .
"""

_SCHEMA = """
# scm-sco
[?x, rdfs:subClassOf, ?z] :- [?x, rdfs:subClassOf, ?y], [?y, rdfs:subClassOf, ?z], ?x != ?z .
# scm-eqc1
[?x, rdfs:subClassOf, ?y] :- [?x, owl:equivalentClass, ?y], ?x != ?y .
[?y, rdfs:subClassOf, ?x] :- [?x, owl:equivalentClass, ?y], ?x != ?y .
# scm-eqc2
[?x, owl:equivalentClass, ?y] :- [?x, rdfs:subClassOf, ?y], [?y, rdfs:subClassOf, ?x], ?x != ?y .
# scm-spo
[?x, rdfs:subPropertyOf, ?z] :- [?x, rdfs:subPropertyOf, ?y], [?y, rdfs:subPropertyOf, ?z], ?x != ?z .
# scm-eqp1
[?x, rdfs:subPropertyOf, ?y] :- [?x, owl:equivalentProperty, ?y], ?x != ?y .
[?y, rdfs:subPropertyOf, ?x] :- [?x, owl:equivalentProperty, ?y], ?x != ?y .
# scm-eqp2
[?x, owl:equivalentProperty, ?y] :- [?x, rdfs:subPropertyOf, ?y], [?y, rdfs:subPropertyOf, ?x], ?x != ?y .
# scm-dom1
[?p, rdfs:domain, ?d] :- [?p, rdfs:domain, ?c], [?c, rdfs:subClassOf, ?d] .
# scm-dom2
[?q, rdfs:domain, ?c] :- [?p, rdfs:domain, ?c], [?q, rdfs:subPropertyOf, ?p] .
# scm-rng1
[?p, rdfs:range, ?d] :- [?p, rdfs:range, ?c], [?c, rdfs:subClassOf, ?d] .
# scm-rng2
[?q, rdfs:range, ?c] :- [?p, rdfs:range, ?c], [?q, rdfs:subPropertyOf, ?p] .
# scm-hv
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:hasValue, ?i], [?c, owl:onProperty, ?p],
    [?d, owl:hasValue, ?i], [?d, owl:onProperty, ?q], [?p, rdfs:subPropertyOf, ?q], ?c != ?d .
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:hasValue, ?i], [?c, owl:onProperty, ?p],
    [?d, owl:hasValue, ?i], [?d, owl:onProperty, ?p], ?c != ?d .
# scm-svf1
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:someValuesFrom, ?e], [?c, owl:onProperty, ?p],
    [?d, owl:someValuesFrom, ?f], [?d, owl:onProperty, ?p], [?e, rdfs:subClassOf, ?f], ?c != ?d .
# scm-svf2
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:someValuesFrom, ?e], [?c, owl:onProperty, ?p],
    [?d, owl:someValuesFrom, ?e], [?d, owl:onProperty, ?q], [?p, rdfs:subPropertyOf, ?q], ?c != ?d .
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:someValuesFrom, ?e], [?c, owl:onProperty, ?p],
    [?d, owl:someValuesFrom, ?e], [?d, owl:onProperty, ?p], ?c != ?d .
# scm-avf1
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:allValuesFrom, ?e], [?c, owl:onProperty, ?p],
    [?d, owl:allValuesFrom, ?f], [?d, owl:onProperty, ?p], [?e, rdfs:subClassOf, ?f], ?c != ?d .
# scm-avf2
[?d, rdfs:subClassOf, ?c] :-
    [?c, owl:allValuesFrom, ?e], [?c, owl:onProperty, ?p],
    [?d, owl:allValuesFrom, ?e], [?d, owl:onProperty, ?q], [?p, rdfs:subPropertyOf, ?q], ?c != ?d .
[?c, rdfs:subClassOf, ?d] :-
    [?c, owl:allValuesFrom, ?e], [?c, owl:onProperty, ?p],
    [?d, owl:allValuesFrom, ?e], [?d, owl:onProperty, ?p], ?c != ?d .
# scm-int
[?c, rdfs:subClassOf, ?d] :- [?c, owl:intersectionOf, ?l], list_member(?l, ?d) .
# scm-uni
[?d, rdfs:subClassOf, ?c] :- [?c, owl:unionOf, ?l], list_member(?l, ?d) .
# the members of a list
list_member(?l, ?d) :- [?l, rdf:first, ?d] .
list_member(?l, ?d) :- [?l, rdf:rest, ?m], list_member(?m, ?d) .
"""


def named_rules(text: str) -> tuple[tuple[str, Rule], ...]:
    """Rules with the comment before them."""
    found: list[tuple[str, Rule]] = []
    for block in text.split("# ")[1:]:
        name, _, rules = block.partition("\n")
        found += [(name, rule) for rule in parse_program(rules).rules]
    return tuple(found)


@cache
def equality_rules() -> tuple[tuple[str, Rule], ...]:
    """The rules eq-*, each with its name."""
    return named_rules(_EQUALITY)


@cache
def schema_rules() -> tuple[tuple[str, Rule], ...]:
    """The rules scm-*, each with its name."""
    return named_rules(_SCHEMA)
