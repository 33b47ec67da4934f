"""The rules of OWL 2 RL/RDF in full, tables 4 to 9 of the W3C's document, over triples: schema and data alike are facts.

Lists are walked cell by cell, from those that an axiom begins with, so that they may have any length and a cell belongs to
few of them (`rl_cell`). A chain is followed from its end (`rl_path`), a key is compared from its end (`rl_agree`), and so
is a conjunction (`rl_in_all`). What a property has to lead to is found before what leads there (`rl_filler`). `rl_alias` is
owl:sameAs between two names: replacing a name by itself says nothing.

Literals are subjects here, as in the W3C's rules. What they are is computed (`DATA_KIND`, `DATA_VALUE`: value_spaces.py).
Of dt-diff only that is derived which can matter: differences of literals that have other names, and contradictions.

Whatever is in owl:Nothing, or related by the empty properties, contradicts the ontology. It is not derived that it is in
every class as well, and related by every property, which would take long and say nothing.

Rules named `and …` are in no table. They hold in the RDF-based semantics and cost little. Those with `rl_few` would have
too many conclusions, and are about the terms of small documents alone, unless more is asked for (few_terms.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from everlog.datalog.constraints import VIOLATION
from everlog.datalog.syntax import Atom, Constant, Rule
from everlog.rdf.owl.tables import named_rules

_EQUALITY = """
# eq-sym
[?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .
# eq-trans
[?x, owl:sameAs, ?z] :- rl_alias(?x, ?y), rl_alias(?y, ?z) .
# eq-rep-s
[?y, ?p, ?o] :- rl_alias(?x, ?y), [?x, ?p, ?o] .
# eq-rep-p
[?s, ?q, ?o] :- rl_alias(?p, ?q), [?s, ?p, ?o] .
# eq-rep-o
[?s, ?p, ?y] :- rl_alias(?x, ?y), [?s, ?p, ?x] .
# eq-* replace a name by another
rl_alias(?x, ?y) :- [?x, owl:sameAs, ?y], FILTER(!SAMETERM(?x, ?y)) .
"""

_REFLEXIVITY = """
# eq-ref
[?s, owl:sameAs, ?s] :- [?s, ?p, ?o] .
[?p, owl:sameAs, ?p] :- [?s, ?p, ?o] .
[?o, owl:sameAs, ?o] :- [?s, ?p, ?o] .
"""

_LISTS = """
# lists that axioms begin with
rl_list(?l) :- [?x, owl:intersectionOf, ?l] .
rl_list(?l) :- [?x, owl:unionOf, ?l] .
rl_list(?l) :- [?x, owl:oneOf, ?l] .
rl_list(?l) :- [?x, owl:disjointUnionOf, ?l] .
rl_list(?l) :- [?x, owl:members, ?l] .
rl_list(?l) :- [?x, owl:distinctMembers, ?l] .
# the cells of a list, and its members
rl_cell(?l, ?l) :- rl_list(?l) .
rl_cell(?l, ?d) :- rl_cell(?l, ?c), [?c, rdf:rest, ?d] .
rl_member(?l, ?x) :- rl_cell(?l, ?c), [?c, rdf:first, ?x] .
"""

_PROPERTIES = """
# domains and ranges that say something
rl_domain(?p, ?c) :- [?p, rdfs:domain, ?c], ?c != owl:Thing, ?c != rdfs:Resource .
rl_range(?p, ?c) :-
    [?p, rdfs:range, ?c], ?c != owl:Thing, ?c != rdfs:Resource,
    FILTER(?p != rdf:type || (?c != rdfs:Class && ?c != owl:Class)) .
# prp-dom
[?x, a, ?c] :- rl_domain(?p, ?c), [?x, ?p, ?y] .
# prp-rng
[?y, a, ?c] :- rl_range(?p, ?c), [?x, ?p, ?y] .
# prp-fp
[?y, owl:sameAs, ?z] :- [?p, a, owl:FunctionalProperty], [?x, ?p, ?y], [?x, ?p, ?z], FILTER(!SAMETERM(?y, ?z)) .
# prp-ifp
[?x, owl:sameAs, ?y] :- [?p, a, owl:InverseFunctionalProperty], [?x, ?p, ?z], [?y, ?p, ?z], FILTER(!SAMETERM(?x, ?y)) .
# prp-symp
[?y, ?p, ?x] :- [?p, a, owl:SymmetricProperty], [?x, ?p, ?y] .
# prp-trp
[?x, ?p, ?z] :- [?p, a, owl:TransitiveProperty], [?x, ?p, ?y], [?y, ?p, ?z] .
# prp-spo1
[?x, ?q, ?y] :-
    [?p, rdfs:subPropertyOf, ?q], [?x, ?p, ?y], FILTER(!SAMETERM(?p, ?q)),
    ?q != owl:topObjectProperty, ?q != owl:topDataProperty, ?p != owl:bottomObjectProperty, ?p != owl:bottomDataProperty .
# prp-spo2
[?x, ?p, ?y] :- [?p, owl:propertyChainAxiom, ?l], [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?q], [?x, ?q, ?y] .
[?x, ?p, ?y] :- [?p, owl:propertyChainAxiom, ?l], rl_path(?l, ?x, ?y) .
rl_link(?l) :- [?p, owl:propertyChainAxiom, ?l] .
rl_link(?m) :- rl_link(?l), [?l, rdf:rest, ?m] .
rl_path(?l, ?x, ?z) :-
    rl_link(?l), [?l, rdf:rest, ?m], [?m, rdf:rest, rdf:nil], [?l, rdf:first, ?p], [?m, rdf:first, ?q],
    [?x, ?p, ?y], [?y, ?q, ?z] .
rl_path(?l, ?x, ?z) :- rl_link(?l), [?l, rdf:rest, ?m], [?l, rdf:first, ?p], [?x, ?p, ?y], rl_path(?m, ?y, ?z) .
# prp-eqp1
[?x, ?q, ?y] :- [?p, owl:equivalentProperty, ?q], [?x, ?p, ?y], FILTER(!SAMETERM(?p, ?q)) .
# prp-eqp2
[?x, ?p, ?y] :- [?p, owl:equivalentProperty, ?q], [?x, ?q, ?y], FILTER(!SAMETERM(?p, ?q)) .
# prp-inv1
[?y, ?q, ?x] :- [?p, owl:inverseOf, ?q], [?x, ?p, ?y] .
# prp-inv2
[?y, ?p, ?x] :- [?p, owl:inverseOf, ?q], [?x, ?q, ?y] .
# prp-key
[?x, owl:sameAs, ?y] :- [?c, owl:hasKey, ?l], rl_agree(?c, ?l, ?x, ?y) .
rl_key(?c, ?l) :- [?c, owl:hasKey, ?l] .
rl_key(?c, ?m) :- rl_key(?c, ?l), [?l, rdf:rest, ?m] .
rl_agree(?c, ?l, ?x, ?y) :-
    rl_key(?c, ?l), [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?p], [?x, ?p, ?z], [?y, ?p, ?z],
    [?x, a, ?c], [?y, a, ?c], FILTER(!SAMETERM(?x, ?y)) .
rl_agree(?c, ?l, ?x, ?y) :-
    rl_key(?c, ?l), [?l, rdf:rest, ?m], rl_agree(?c, ?m, ?x, ?y), [?l, rdf:first, ?p], [?x, ?p, ?z], [?y, ?p, ?z] .
# and everything is a thing, which other rules need not find out again
[?x, a, owl:Thing] :- [?x, owl:sameAs, ?x] .
[?x, a, rdfs:Resource] :- [?x, owl:sameAs, ?x] .
# and what is used as a property or a class is one
[?p, a, rdf:Property] :- [?x, ?p, ?y] .
[?c, a, owl:Class] :- [?x, a, ?c] .
# and reflexive properties, of what they relate, and of individuals that are said to be some
[?x, ?p, ?x] :- [?p, a, owl:ReflexiveProperty], [?x, ?p, ?y] .
[?y, ?p, ?y] :- [?p, a, owl:ReflexiveProperty], [?x, ?p, ?y] .
[?x, ?p, ?x] :- [?p, a, owl:ReflexiveProperty], [?x, a, owl:NamedIndividual] .
# and members of containers
[?p, a, rdfs:ContainerMembershipProperty] :-
    [?p, a, rdf:Property], FILTER(REGEX(STR(?p), "^http://www.w3.org/1999/02/22-rdf-syntax-ns#_[1-9][0-9]*$")) .
[?p, rdfs:subPropertyOf, rdfs:member] :- [?p, a, rdfs:ContainerMembershipProperty] .
# and keys and chains are of properties
[?p, a, rdf:Property] :- rl_key(?c, ?l), [?l, rdf:first, ?p] .
[?p, a, rdf:Property] :- rl_link(?l), [?l, rdf:first, ?p] .
"""

_CLASSES = """
# restrictions, with their properties
rl_some(?c, ?p, ?d) :- [?c, owl:someValuesFrom, ?d], [?c, owl:onProperty, ?p] .
rl_some(?c, ?p, owl:Thing) :- [?c, owl:minCardinality, ?n], ?n = 1, [?c, owl:onProperty, ?p] .
rl_some(?c, ?p, ?d) :- [?c, owl:minQualifiedCardinality, ?n], ?n = 1, [?c, owl:onProperty, ?p], [?c, owl:onClass, ?d] .
rl_some(?c, ?p, ?d) :- [?c, owl:minQualifiedCardinality, ?n], ?n = 1, [?c, owl:onProperty, ?p], [?c, owl:onDataRange, ?d] .
rl_all(?c, ?p, ?d) :- [?c, owl:allValuesFrom, ?d], [?c, owl:onProperty, ?p] .
rl_value(?c, ?p, ?v) :- [?c, owl:hasValue, ?v], [?c, owl:onProperty, ?p] .
rl_self(?c, ?p) :- [?c, owl:hasSelf, true], [?c, owl:onProperty, ?p] .
rl_most(?c, ?p, ?n) :- [?c, owl:maxCardinality, ?n], [?c, owl:onProperty, ?p] .
rl_most(?c, ?p, ?n) :- [?c, owl:cardinality, ?n], [?c, owl:onProperty, ?p] .
rl_most_of(?c, ?p, ?n, ?d) :- [?c, owl:maxQualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onClass, ?d] .
rl_most_of(?c, ?p, ?n, ?d) :- [?c, owl:maxQualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onDataRange, ?d] .
rl_most_of(?c, ?p, ?n, ?d) :- [?c, owl:qualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onClass, ?d] .
rl_most_of(?c, ?p, ?n, ?d) :- [?c, owl:qualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onDataRange, ?d] .
# cls-int1
[?x, a, ?c] :- [?c, owl:intersectionOf, ?l], rl_in_all(?l, ?x) .
[?x, a, ?c] :- [?c, owl:intersectionOf, rdf:nil], [?x, a, owl:Thing] .
rl_conjunction(?l) :- [?c, owl:intersectionOf, ?l] .
rl_conjunction(?m) :- rl_conjunction(?l), [?l, rdf:rest, ?m] .
rl_in_all(?l, ?x) :- rl_conjunction(?l), [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?c], [?x, a, ?c] .
rl_in_all(?l, ?x) :- rl_conjunction(?l), [?l, rdf:rest, ?m], rl_in_all(?m, ?x), [?l, rdf:first, ?c], [?x, a, ?c] .
# cls-int2
[?x, a, ?d] :- [?c, owl:intersectionOf, ?l], rl_member(?l, ?d), [?x, a, ?c] .
# cls-uni
[?x, a, ?c] :- [?c, owl:unionOf, ?l], rl_member(?l, ?d), [?x, a, ?d] .
# cls-svf1
[?x, a, ?c] :- rl_filler(?p, ?y, ?c), [?x, ?p, ?y] .
rl_filler(?p, ?y, ?c) :- rl_some(?c, ?p, ?d), [?y, a, ?d] .
# cls-svf2
[?x, a, ?c] :- rl_some(?c, ?p, owl:Thing), [?x, ?p, ?y] .
# cls-avf
[?y, a, ?d] :- rl_all(?c, ?p, ?d), [?x, a, ?c], [?x, ?p, ?y] .
# cls-hv1
[?x, ?p, ?v] :- rl_value(?c, ?p, ?v), [?x, a, ?c] .
# cls-hv2
[?x, a, ?c] :- rl_value(?c, ?p, ?v), [?x, ?p, ?v] .
# cls-maxc2
[?y, owl:sameAs, ?z] :-
    rl_most(?c, ?p, ?n), ?n = 1, [?x, a, ?c], [?x, ?p, ?y], [?x, ?p, ?z],
    FILTER(!SAMETERM(?y, ?z)) .
# cls-maxqc3
[?y, owl:sameAs, ?z] :-
    rl_most_of(?c, ?p, ?n, ?d), ?n = 1,
    [?x, a, ?c], [?x, ?p, ?y], [?y, a, ?d], [?x, ?p, ?z], [?z, a, ?d], FILTER(!SAMETERM(?y, ?z)) .
# cls-maxqc4
[?y, owl:sameAs, ?z] :-
    rl_most_of(?c, ?p, ?n, owl:Thing), ?n = 1,
    [?x, a, ?c], [?x, ?p, ?y], [?x, ?p, ?z], FILTER(!SAMETERM(?y, ?z)) .
# cls-oo
[?x, a, ?c] :- [?c, owl:oneOf, ?l], rl_member(?l, ?x) .
# and an enumeration of one
[?x, owl:sameAs, ?y] :-
    [?c, owl:oneOf, ?l], [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?y], [?x, a, ?c], FILTER(!SAMETERM(?x, ?y)) .
# and owl:hasSelf
[?x, ?p, ?x] :- rl_self(?c, ?p), [?x, a, ?c] .
[?x, a, ?c] :- rl_self(?c, ?p), [?x, ?p, ?x] .
# and two values that differ
[?x, a, ?c] :- rl_minimum(?c, ?p, ?n), ?n = 2, [?x, ?p, ?y], [?y, owl:differentFrom, ?z], [?x, ?p, ?z] .
# and owl:disjointUnionOf is a union
[?c, owl:unionOf, ?l] :- [?c, owl:disjointUnionOf, ?l] .
# and classes with the same members are made of the same
[?d, owl:intersectionOf, ?l] :- [?c, owl:intersectionOf, ?l], [?c, owl:equivalentClass, ?d] .
[?d, owl:unionOf, ?l] :- [?c, owl:unionOf, ?l], [?c, owl:equivalentClass, ?d] .
[?d, owl:oneOf, ?l] :- [?c, owl:oneOf, ?l], [?c, owl:equivalentClass, ?d] .
[?d, owl:complementOf, ?e] :- [?c, owl:complementOf, ?e], [?c, owl:equivalentClass, ?d] .
[?d, owl:disjointUnionOf, ?l] :- [?c, owl:disjointUnionOf, ?l], [?c, owl:equivalentClass, ?d] .
"""

_CLASS_AXIOMS = """
# cax-sco
[?x, a, ?d] :-
    [?c, rdfs:subClassOf, ?d], [?x, a, ?c], FILTER(!SAMETERM(?c, ?d)), ?d != owl:Thing, ?d != rdfs:Resource,
    ?c != owl:Nothing .
# cax-eqc1
[?x, a, ?d] :-
    [?c, owl:equivalentClass, ?d], [?x, a, ?c], FILTER(!SAMETERM(?c, ?d)), ?d != owl:Thing, ?d != rdfs:Resource .
# cax-eqc2
[?x, a, ?c] :-
    [?c, owl:equivalentClass, ?d], [?x, a, ?d], FILTER(!SAMETERM(?c, ?d)), ?c != owl:Thing, ?c != rdfs:Resource .
"""

_DATATYPES = """
# dt-type2
[?v, a, ?t] :- rl_kind(?v, ?k), rl_datatype(?k, ?t) .
rl_kind(?v, ?k) :- [?v, owl:sameAs, ?v], BIND(DATA_KIND(?v) AS ?k) .
# dt-eq
[?v, owl:sameAs, ?w] :- rl_written(?v), BIND(DATA_VALUE(?v) AS ?w), FILTER(!SAMETERM(?v, ?w)) .
[?v, owl:sameAs, ?w] :- rl_written(?v), BIND(DATA_FORM(?v) AS ?w), FILTER(!SAMETERM(?v, ?w)) .
rl_written(?v) :- rl_kind(?v, ?k), rl_many(?k) .
# dt-diff
[?v, owl:differentFrom, ?w] :- rl_named(?v, ?a), rl_named(?w, ?b), FILTER(!SAMETERM(?a, ?b)) .
rl_named(?v, ?a) :- rl_alias(?x, ?v), FILTER(!ISLITERAL(?x)), BIND(DATA_VALUE(?v) AS ?a) .
"""

_SCHEMA = """
# scm-cls
[?c, rdfs:subClassOf, ?c] :- [?c, a, owl:Class] .
[?c, owl:equivalentClass, ?c] :- [?c, a, owl:Class] .
[?c, rdfs:subClassOf, owl:Thing] :- [?c, a, owl:Class] .
[owl:Nothing, rdfs:subClassOf, ?c] :- [?c, a, owl:Class] .
# scm-sco
[?x, rdfs:subClassOf, ?z] :- [?x, rdfs:subClassOf, ?y], [?y, rdfs:subClassOf, ?z] .
# scm-eqc1
[?x, rdfs:subClassOf, ?y] :- [?x, owl:equivalentClass, ?y] .
[?y, rdfs:subClassOf, ?x] :- [?x, owl:equivalentClass, ?y] .
# scm-eqc2
[?x, owl:equivalentClass, ?y] :- [?x, rdfs:subClassOf, ?y], [?y, rdfs:subClassOf, ?x] .
# scm-op
[?p, rdfs:subPropertyOf, ?p] :- [?p, a, owl:ObjectProperty] .
[?p, owl:equivalentProperty, ?p] :- [?p, a, owl:ObjectProperty] .
# scm-dp
[?p, rdfs:subPropertyOf, ?p] :- [?p, a, owl:DatatypeProperty] .
[?p, owl:equivalentProperty, ?p] :- [?p, a, owl:DatatypeProperty] .
# scm-spo
[?x, rdfs:subPropertyOf, ?z] :- [?x, rdfs:subPropertyOf, ?y], [?y, rdfs:subPropertyOf, ?z] .
# scm-eqp1
[?x, rdfs:subPropertyOf, ?y] :- [?x, owl:equivalentProperty, ?y] .
[?y, rdfs:subPropertyOf, ?x] :- [?x, owl:equivalentProperty, ?y] .
# scm-eqp2
[?x, owl:equivalentProperty, ?y] :- [?x, rdfs:subPropertyOf, ?y], [?y, rdfs:subPropertyOf, ?x] .
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
    rl_value(?c, ?p, ?i),
    rl_value(?d, ?q, ?i), [?p, rdfs:subPropertyOf, ?q] .
# scm-svf1
[?c, rdfs:subClassOf, ?d] :-
    rl_some(?c, ?p, ?e),
    rl_some(?d, ?p, ?f), [?e, rdfs:subClassOf, ?f] .
# scm-svf2
[?c, rdfs:subClassOf, ?d] :-
    rl_some(?c, ?p, ?e),
    rl_some(?d, ?q, ?e), [?p, rdfs:subPropertyOf, ?q] .
# scm-avf1
[?c, rdfs:subClassOf, ?d] :-
    rl_all(?c, ?p, ?e),
    rl_all(?d, ?p, ?f), [?e, rdfs:subClassOf, ?f] .
# scm-avf2
[?d, rdfs:subClassOf, ?c] :-
    rl_all(?c, ?p, ?e),
    rl_all(?d, ?q, ?e), [?p, rdfs:subPropertyOf, ?q] .
# scm-int
[?c, rdfs:subClassOf, ?d] :- [?c, owl:intersectionOf, ?l], rl_member(?l, ?d) .
# scm-uni
[?d, rdfs:subClassOf, ?c] :- [?c, owl:unionOf, ?l], rl_member(?l, ?d) .
# and intersections, unions, enumerations and complements compared
[?d, rdfs:subClassOf, ?c] :- [?c, owl:intersectionOf, ?l], rl_below_all(?l, ?d) .
rl_below_all(?l, ?d) :- rl_conjunction(?l), [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?c], [?d, rdfs:subClassOf, ?c] .
rl_below_all(?l, ?d) :-
    rl_conjunction(?l), [?l, rdf:rest, ?m], rl_below_all(?m, ?d), [?l, rdf:first, ?c], [?d, rdfs:subClassOf, ?c] .
[?c, rdfs:subClassOf, ?d] :- [?c, owl:unionOf, ?l], rl_above_all(?l, ?d) .
rl_alternative(?l) :- [?c, owl:unionOf, ?l] .
rl_alternative(?m) :- rl_alternative(?l), [?l, rdf:rest, ?m] .
rl_above_all(?l, ?d) :- rl_alternative(?l), [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?c], [?c, rdfs:subClassOf, ?d] .
rl_above_all(?l, ?d) :-
    rl_alternative(?l), [?l, rdf:rest, ?m], rl_above_all(?m, ?d), [?l, rdf:first, ?c], [?c, rdfs:subClassOf, ?d] .
[?c, rdfs:subClassOf, ?d] :- [?c, owl:oneOf, ?l], rl_around_all(?l, ?d) .
rl_enumerated(?l) :- [?c, owl:oneOf, ?l] .
rl_enumerated(?m) :- rl_enumerated(?l), [?l, rdf:rest, ?m] .
rl_around_all(?l, ?d) :- rl_enumerated(?l), [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?x], [?x, a, ?d] .
rl_around_all(?l, ?d) :- rl_enumerated(?l), [?l, rdf:rest, ?m], rl_around_all(?m, ?d), [?l, rdf:first, ?x], [?x, a, ?d] .
[?c, rdfs:subClassOf, owl:Nothing] :- [?c, owl:unionOf, rdf:nil] .
[?c, rdfs:subClassOf, owl:Nothing] :- [?c, owl:oneOf, rdf:nil] .
[?c, rdfs:subClassOf, ?d] :- [?a, rdfs:subClassOf, ?b], [?c, owl:complementOf, ?b], [?d, owl:complementOf, ?a] .
# and restrictions compared
[?c, rdfs:subClassOf, ?d] :- rl_value(?c, ?p, ?v), rl_some(?d, ?p, ?e), [?v, a, ?e] .
[?c, rdfs:subClassOf, ?d] :- rl_self(?c, ?p), rl_self(?d, ?q), [?p, rdfs:subPropertyOf, ?q] .
[?c, rdfs:subClassOf, owl:Nothing] :- rl_some(?c, ?p, ?d), [?d, rdfs:subClassOf, owl:Nothing] .
[?c, rdfs:subClassOf, ?d] :- rl_least(?c, ?p, ?m), rl_minimum(?d, ?q, ?n), ?n <= ?m, [?p, rdfs:subPropertyOf, ?q] .
[?c, rdfs:subClassOf, ?d] :- rl_most(?c, ?p, ?m), rl_maximum(?d, ?q, ?n), ?m <= ?n, [?q, rdfs:subPropertyOf, ?p] .
rl_minimum(?c, ?p, ?n) :- [?c, owl:minCardinality, ?n], [?c, owl:onProperty, ?p] .
rl_maximum(?c, ?p, ?n) :- [?c, owl:maxCardinality, ?n], [?c, owl:onProperty, ?p] .
rl_least(?c, ?p, ?n) :- rl_minimum(?c, ?p, ?n) .
rl_least(?c, ?p, ?n) :- [?c, owl:cardinality, ?n], [?c, owl:onProperty, ?p] .
[?c, rdfs:subClassOf, ?d] :- rl_exact(?c, ?p, ?n, ?e), rl_exact(?d, ?p, ?n, ?e) .
rl_exact(?c, ?p, ?n, owl:Thing) :- [?c, owl:cardinality, ?n], [?c, owl:onProperty, ?p] .
rl_exact(?c, ?p, ?n, ?d) :- [?c, owl:qualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onClass, ?d] .
rl_exact(?c, ?p, ?n, ?d) :- [?c, owl:qualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onDataRange, ?d] .
[?c, rdfs:subClassOf, ?d] :-
    rl_least_of(?c, ?p, ?m, ?e), rl_minimum_of(?d, ?q, ?n, ?f), ?n <= ?m, [?p, rdfs:subPropertyOf, ?q],
    [?e, rdfs:subClassOf, ?f] .
[?c, rdfs:subClassOf, ?d] :-
    rl_most_of(?c, ?p, ?m, ?e), rl_maximum_of(?d, ?q, ?n, ?f), ?m <= ?n, [?q, rdfs:subPropertyOf, ?p],
    [?f, rdfs:subClassOf, ?e] .
rl_minimum_of(?c, ?p, ?n, ?d) :- [?c, owl:minQualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onClass, ?d] .
rl_minimum_of(?c, ?p, ?n, ?d) :-
    [?c, owl:minQualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onDataRange, ?d] .
rl_maximum_of(?c, ?p, ?n, ?d) :- [?c, owl:maxQualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onClass, ?d] .
rl_maximum_of(?c, ?p, ?n, ?d) :-
    [?c, owl:maxQualifiedCardinality, ?n], [?c, owl:onProperty, ?p], [?c, owl:onDataRange, ?d] .
rl_least_of(?c, ?p, ?n, ?d) :- rl_minimum_of(?c, ?p, ?n, ?d) .
rl_least_of(?c, ?p, ?n, ?d) :- rl_exact(?c, ?p, ?n, ?d) .
[?c, rdfs:subClassOf, ?d] :-
    rl_some(?c, ?p, ?e), [?e, owl:oneOf, ?l], [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?v], rl_value(?d, ?p, ?v) .
[?c, owl:complementOf, ?d] :- rl_all(?c, ?p, ?e), rl_some(?d, ?p, ?f), [?e, owl:complementOf, ?f] .
[?c, owl:complementOf, ?d] :- rl_most(?c, ?p, ?n), ?n = 0, rl_some(?d, ?p, owl:Thing) .
[?c, owl:complementOf, ?d] :- rl_most_of(?c, ?p, ?n, ?e), ?n = 0, rl_some(?d, ?p, ?e) .
# and domains and ranges as restrictions
[?c, rdfs:subClassOf, ?d] :- [?p, rdfs:domain, ?d], rl_some(?c, ?p, ?e) .
[?p, rdfs:domain, ?d] :- rl_some(?c, ?p, owl:Thing), [?c, rdfs:subClassOf, ?d] .
[?p, rdfs:range, ?d] :- rl_all(?c, ?p, ?d), [owl:Thing, rdfs:subClassOf, ?c] .
[?c, rdfs:subClassOf, ?d] :- rl_some(?c, ?p, owl:Thing), [?p, rdfs:range, ?e], rl_some(?d, ?p, ?e) .
[?p, rdfs:range, rdfs:Literal] :- [?p, a, owl:DatatypeProperty] .
# and restrictions that everything fulfils
[?p, a, owl:FunctionalProperty] :- [owl:Thing, rdfs:subClassOf, ?c], rl_most(?c, ?p, ?n), ?n <= 1 .
[?p, a, owl:InverseFunctionalProperty] :- [owl:Thing, owl:hasKey, ?l], [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?p] .
# and a part of a datatype
[?c, rdfs:subClassOf, ?d] :- [?c, owl:onDatatype, ?d] .
# and every property lies between the empty one and that of all pairs
[?p, rdfs:subPropertyOf, owl:topObjectProperty] :- [?p, a, rdf:Property] .
[owl:bottomObjectProperty, rdfs:subPropertyOf, ?p] :- [?p, a, rdf:Property] .
[?p, rdfs:subPropertyOf, owl:topDataProperty] :- [?p, a, owl:DatatypeProperty] .
[owl:bottomDataProperty, rdfs:subPropertyOf, ?p] :- [?p, a, owl:DatatypeProperty] .
# and chains of one or of itself
[?q, rdfs:subPropertyOf, ?p] :- [?p, owl:propertyChainAxiom, ?l], [?l, rdf:rest, rdf:nil], [?l, rdf:first, ?q] .
[?p, a, owl:TransitiveProperty] :-
    [?p, owl:propertyChainAxiom, ?l], [?l, rdf:first, ?p], [?l, rdf:rest, ?m],
    [?m, rdf:first, ?p], [?m, rdf:rest, rdf:nil] .
[?p, owl:propertyChainAxiom, ?l] :-
    [?p, a, owl:TransitiveProperty], [?l, rdf:first, ?p], [?l, rdf:rest, ?m], [?m, rdf:first, ?p], [?m, rdf:rest, rdf:nil] .
[?q, owl:propertyChainAxiom, ?l] :-
    [?p, owl:propertyChainAxiom, ?l], [?p, rdfs:subPropertyOf, ?q], ?q != owl:topObjectProperty, ?q != owl:topDataProperty .
# and every datatype has literals
[?d, rdfs:subClassOf, rdfs:Literal] :- [?d, a, rdfs:Datatype] .
# and what goes both ways
[?y, owl:differentFrom, ?x] :- [?x, owl:differentFrom, ?y] .
[?y, owl:disjointWith, ?x] :- [?x, owl:disjointWith, ?y] .
[?y, owl:propertyDisjointWith, ?x] :- [?x, owl:propertyDisjointWith, ?y] .
[?y, owl:complementOf, ?x] :- [?x, owl:complementOf, ?y] .
[?y, owl:inverseOf, ?x] :- [?x, owl:inverseOf, ?y] .
# and what holds of inverse properties
[?q, rdfs:range, ?c] :- [?p, owl:inverseOf, ?q], [?p, rdfs:domain, ?c] .
[?q, rdfs:domain, ?c] :- [?p, owl:inverseOf, ?q], [?p, rdfs:range, ?c] .
[?q, a, owl:InverseFunctionalProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:FunctionalProperty] .
[?q, a, owl:FunctionalProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:InverseFunctionalProperty] .
[?q, a, owl:TransitiveProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:TransitiveProperty] .
[?q, a, owl:SymmetricProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:SymmetricProperty] .
[?q, a, owl:AsymmetricProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:AsymmetricProperty] .
[?q, a, owl:ReflexiveProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:ReflexiveProperty] .
[?q, a, owl:IrreflexiveProperty] :- [?p, owl:inverseOf, ?q], [?p, a, owl:IrreflexiveProperty] .
[?r, rdfs:subPropertyOf, ?s] :- [?p, rdfs:subPropertyOf, ?q], [?p, owl:inverseOf, ?r], [?q, owl:inverseOf, ?s] .
[?p, owl:inverseOf, ?p] :- [?p, a, owl:SymmetricProperty] .
[?p, a, owl:SymmetricProperty] :- [?p, owl:inverseOf, ?p] .
[?r, owl:inverseOf, ?q] :- [?p, owl:inverseOf, ?q], [?p, owl:equivalentProperty, ?r] .
[?p, owl:propertyDisjointWith, ?q] :- [?p, a, owl:AsymmetricProperty], [?p, owl:inverseOf, ?q] .
[?p, a, owl:AsymmetricProperty] :- [?p, owl:propertyDisjointWith, ?q], [?p, owl:inverseOf, ?q] .
# and what holds of the properties below, or above
[?q, owl:propertyDisjointWith, ?r] :- [?q, rdfs:subPropertyOf, ?p], [?p, owl:propertyDisjointWith, ?r] .
[?q, a, owl:ReflexiveProperty] :- [?p, rdfs:subPropertyOf, ?q], [?p, a, owl:ReflexiveProperty] .
[?q, a, owl:TransitiveProperty] :- [?p, owl:equivalentProperty, ?q], [?p, a, owl:TransitiveProperty] .
[?q, a, owl:FunctionalProperty] :- [?q, rdfs:subPropertyOf, ?p], [?p, a, owl:FunctionalProperty] .
[?q, a, owl:InverseFunctionalProperty] :- [?q, rdfs:subPropertyOf, ?p], [?p, a, owl:InverseFunctionalProperty] .
[?q, a, owl:IrreflexiveProperty] :- [?q, rdfs:subPropertyOf, ?p], [?p, a, owl:IrreflexiveProperty] .
[?q, a, owl:AsymmetricProperty] :- [?q, rdfs:subPropertyOf, ?p], [?p, a, owl:AsymmetricProperty] .
[?p, a, owl:IrreflexiveProperty] :- [?p, a, owl:AsymmetricProperty] .
# and a complement is disjoint
[?x, owl:disjointWith, ?y] :- [?x, owl:complementOf, ?y] .
# and short lists spelt out
rl_length(rdf:nil, 0) :- [?x, ?p, rdf:nil] .
rl_length(?l, ?n) :- rl_length(?m, ?k), [?l, rdf:rest, ?m], ?k < 32, BIND(?k + 1 AS ?n) .
rl_two(?l, ?x, ?y) :-
    rl_apart(?l), rl_length(?l, ?n), rl_cell(?l, ?c), rl_length(?c, ?i), rl_cell(?l, ?d), rl_length(?d, ?k), ?i != ?k,
    FILTER(!SAMETERM(?c, ?d)), [?c, rdf:first, ?x], [?d, rdf:first, ?y] .
rl_apart(?l) :- [?a, a, owl:AllDifferent], [?a, owl:members, ?l] .
rl_apart(?l) :- [?a, a, owl:AllDifferent], [?a, owl:distinctMembers, ?l] .
rl_apart(?l) :- [?a, a, owl:AllDisjointClasses], [?a, owl:members, ?l] .
rl_apart(?l) :- [?a, a, owl:AllDisjointProperties], [?a, owl:members, ?l] .
rl_apart(?l) :- [?c, owl:disjointUnionOf, ?l] .
[?x, owl:differentFrom, ?y] :- [?a, a, owl:AllDifferent], [?a, owl:members, ?l], rl_two(?l, ?x, ?y) .
[?x, owl:differentFrom, ?y] :- [?a, a, owl:AllDifferent], [?a, owl:distinctMembers, ?l], rl_two(?l, ?x, ?y) .
[?x, owl:disjointWith, ?y] :- [?a, a, owl:AllDisjointClasses], [?a, owl:members, ?l], rl_two(?l, ?x, ?y) .
[?x, owl:propertyDisjointWith, ?y] :- [?a, a, owl:AllDisjointProperties], [?a, owl:members, ?l], rl_two(?l, ?x, ?y) .
[?x, owl:disjointWith, ?y] :- [?c, owl:disjointUnionOf, ?l], rl_two(?l, ?x, ?y) .
"""

_FEW = """
# dt-diff
rl_named(?v, ?a) :- rl_few(?v), BIND(DATA_VALUE(?v) AS ?a) .
# dt-eq
[?v, owl:sameAs, ?w] :- rl_form(?v, ?w) .
# and reflexive properties of everything
[?x, ?p, ?x] :- [?p, a, owl:ReflexiveProperty], rl_few(?x) .
# and keys and disjointness of what lies below
[?d, owl:hasKey, ?l] :- rl_few(?d), [?c, owl:hasKey, ?l], [?d, rdfs:subClassOf, ?c] .
[?c, owl:disjointWith, ?d] :- rl_few(?c), rl_few(?d), [?e, owl:disjointWith, ?d], [?c, rdfs:subClassOf, ?e] .
# and what cannot be one thing
rl_not(?x, ?c) :- rl_few(?x), [?c, owl:disjointWith, ?d], [?x, a, ?d] .
[?x, owl:differentFrom, ?y] :- rl_few(?x), rl_few(?y), rl_not(?x, ?c), [?y, a, ?c], FILTER(!SAMETERM(?x, ?y)) .
[?x, owl:differentFrom, ?y] :-
    rl_few(?x), rl_few(?y), [?p, a, owl:FunctionalProperty], [?x, ?p, ?v], [?v, owl:differentFrom, ?w], [?y, ?p, ?w] .
[?x, owl:differentFrom, ?y] :-
    rl_few(?x), rl_few(?y), [?p, a, owl:InverseFunctionalProperty], [?v, ?p, ?x], [?v, owl:differentFrom, ?w],
    [?w, ?p, ?y] .
[?x, owl:differentFrom, ?z] :-
    [?n, owl:sourceIndividual, ?x], [?n, owl:assertionProperty, ?p], [?n, owl:targetIndividual, ?y], rl_few(?z),
    [?z, ?p, ?y], FILTER(!SAMETERM(?x, ?z)) .
[?y, owl:differentFrom, ?z] :-
    [?n, owl:sourceIndividual, ?x], [?n, owl:assertionProperty, ?p], [?n, owl:targetIndividual, ?y], rl_few(?z),
    [?x, ?p, ?z], FILTER(!SAMETERM(?y, ?z)) .
"""

_CONTRADICTIONS = """
# eq-diff1: different things are one
false(?x) :- [?x, owl:differentFrom, ?y], [?x, owl:sameAs, ?y] .
false(?x) :- [?x, owl:differentFrom, ?x] .
# eq-diff2: members of owl:AllDifferent are one
false(?x) :- [?a, a, owl:AllDifferent], [?a, owl:members, ?l], rl_twice(?l, ?x) .
# eq-diff3: members of owl:AllDifferent are one
false(?x) :- [?a, a, owl:AllDifferent], [?a, owl:distinctMembers, ?l], rl_twice(?l, ?x) .
# prp-irp: an irreflexive property relates something to itself
false(?x) :- [?p, a, owl:IrreflexiveProperty], [?x, ?p, ?x] .
# prp-asyp: an asymmetric property holds both ways
false(?x) :- [?p, a, owl:AsymmetricProperty], [?x, ?p, ?y], [?y, ?p, ?x] .
# prp-pdw: disjoint properties have a pair in common
false(?x) :- [?p, owl:propertyDisjointWith, ?q], [?x, ?p, ?y], [?x, ?q, ?y] .
# prp-adp: disjoint properties have a pair in common
false(?x) :- rl_both(?c, ?d, ?x), rl_on(?c, ?d) .
# prp-npa1: a negative assertion does not hold
false(?x) :-
    [?n, owl:sourceIndividual, ?x], [?n, owl:assertionProperty, ?p], [?n, owl:targetIndividual, ?y], [?x, ?p, ?y] .
# prp-npa2: a negative assertion does not hold
false(?x) :- [?n, owl:sourceIndividual, ?x], [?n, owl:assertionProperty, ?p], [?n, owl:targetValue, ?y], [?x, ?p, ?y] .
# cls-nothing2: owl:Nothing is empty
false(?x) :- [?x, a, owl:Nothing] .
# cls-com: a class and its complement have something in common
false(?x) :- [?c, owl:complementOf, ?d], [?x, a, ?c], [?x, a, ?d] .
# cls-maxc1: there are more values than owl:maxCardinality allows
false(?x) :- rl_most(?c, ?p, ?n), ?n = 0, [?x, a, ?c], [?x, ?p, ?y] .
# cls-maxqc1: there are more values than owl:maxQualifiedCardinality allows
false(?x) :- rl_most_of(?c, ?p, ?n, ?d), ?n = 0, [?x, a, ?c], [?x, ?p, ?y], [?y, a, ?d] .
# cls-maxqc2: there are more values than owl:maxQualifiedCardinality allows
false(?x) :- rl_most_of(?c, ?p, ?n, owl:Thing), ?n = 0, [?x, a, ?c], [?x, ?p, ?y] .
# cax-dw: disjoint classes have something in common
false(?x) :- [?c, owl:disjointWith, ?d], [?x, a, ?c], [?x, a, ?d] .
# cax-adc: disjoint classes have something in common
false(?x) :- rl_common(?c, ?d, ?x), rl_on(?c, ?d) .
# dt-not-type: a literal is no value of its datatype
false(?v) :- rl_kind(?v, <urn:everlog:kind:ill-typed>) .
# and a literal is of a datatype that its value is not in
false(?v) :- rl_kind(?v, ?k), rl_outside(?k, ?t), [?v, a, ?t] .
# dt-diff: different values are one
false(?v) :- rl_alias(?v, ?w), BIND(DATA_VALUE(?v) AS ?a), BIND(DATA_VALUE(?w) AS ?b), FILTER(!SAMETERM(?a, ?b)) .
# and disjoint data ranges have something in common
false(?x) :- [?c, owl:datatypeComplementOf, ?d], [?x, a, ?c], [?x, a, ?d] .
# and the empty properties have no pairs
false(?x) :- [?x, owl:bottomObjectProperty, ?y] .
false(?x) :- [?x, owl:bottomDataProperty, ?y] .
"""

_CELLS = """
# what may stand in two cells of a list: one member, perhaps by two names, since a cell has all names of its member
rl_again(?l, ?c, ?d, ?x) :-
    rl_cell(?l, ?c), [?c, rdf:first, ?x], rl_cell(?l, ?d), [?d, rdf:first, ?x], FILTER(!SAMETERM(?c, ?d)) .
# or properties with a pair in common
rl_both(?c, ?d, ?x) :-
    [?a, a, owl:AllDisjointProperties], [?a, owl:members, ?l], rl_cell(?l, ?c), rl_cell(?l, ?d),
    FILTER(!SAMETERM(?c, ?d)), [?c, rdf:first, ?p], [?d, rdf:first, ?q], [?x, ?p, ?y], [?x, ?q, ?y] .
# or classes with something in common
rl_common(?c, ?d, ?x) :-
    [?a, a, owl:AllDisjointClasses], [?a, owl:members, ?l], rl_cell(?l, ?c), rl_cell(?l, ?d),
    FILTER(!SAMETERM(?c, ?d)), [?c, rdf:first, ?e], [?d, rdf:first, ?f], [?x, a, ?e], [?x, a, ?f] .
# two cells that have two names, and not one cell that has both: the list goes on from one to the other
rl_on(?c, ?e) :- rl_again(?l, ?c, ?d, ?x), [?c, rdf:rest, ?e] .
rl_on(?c, ?e) :- rl_both(?c, ?d, ?x), [?c, rdf:rest, ?e] .
rl_on(?c, ?e) :- rl_common(?c, ?d, ?x), [?c, rdf:rest, ?e] .
rl_on(?c, ?f) :- rl_on(?c, ?e), [?e, rdf:rest, ?f] .
rl_twice(?l, ?x) :- rl_again(?l, ?c, ?d, ?x), rl_on(?c, ?d) .
"""


def _contradictions() -> Iterator[tuple[str, Rule]]:
    for name, rule in named_rules(_CONTRADICTIONS):
        yield name, replace(rule, head=Atom(VIOLATION, (Constant(name), *rule.head.terms)))


@cache
def rl_rules(few: bool) -> tuple[tuple[str, Rule], ...]:
    """All rules, each with its name; those about every two of some terms if there are such (`few_terms.py`)."""
    texts = [_EQUALITY, _REFLEXIVITY, _LISTS, _PROPERTIES, _CLASSES, _CLASS_AXIOMS, _DATATYPES, _SCHEMA, _CELLS]
    texts += [_FEW] if few else []
    return (*(pair for text in texts for pair in named_rules(text)), *_contradictions())
