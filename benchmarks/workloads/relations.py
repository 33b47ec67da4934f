"""Relations with chains, transitivity, symmetry and inverses, over generated data (*Modular*, section 11.2: Relations).

`relations` has the axioms of the OBO Relations Ontology as rules; `relations-made` those of an ontology that is generated,
for where that file is absent. In both, individuals lie in groups that do not meet, so that what follows grows with the
number of groups; inside of one, facts lead from smaller to larger numbers, and a few properties have most of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.data import data_file
from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.triples import triple_table
from everlog.datalog.printer import print_program
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import TRIPLE, Constant, Program
from everlog.datalog.values import RDF_TYPE
from everlog.rdf.owl.profiles import translate
from everlog.rdf.owl.reading import read_ontologies


def _relations(groups: int, individuals: int, facts: int, seed: int) -> Instance:
    program = translate(read_ontologies([data_file("ontologies/ro.owl")]), "L").program
    # Rules for what contradicts the ontology are no part of the paper's program, and neither are facts.
    rules = tuple(rule for rule in program.rules if rule.head.predicate == TRIPLE)
    return _over(Program(rules), groups, individuals, facts, seed)


def _made(properties: int, groups: int, individuals: int, facts: int, seed: int) -> Instance:
    if properties < 8:
        raise BenchmarkMistake("relations-made wants eight properties or more")
    return _over(parse_program("\n".join(_axioms(properties, seed))), groups, individuals, facts, seed)


def _axioms(properties: int, seed: int) -> list[str]:
    """Rules over `p0`, `p1`, …: in the proportions of the Relations Ontology, chains leading to smaller numbers.

    So relations are regular: a chain's head comes before its steps, but for the relation itself at one end.
    """
    random = np.random.default_rng(seed)
    rules = []
    for number in range(properties):
        head, kind = f"<r:p{number}>", random.random()
        if number + 1 < properties:
            below = [f"<r:p{int(one)}>" for one in random.integers(number + 1, properties, 3)]
            rules.append(f"[?x, {head}, ?y] :- [?x, {below[0]}, ?y] .")
            if random.random() < 0.25:
                first, second = (head, below[1]) if random.random() < 0.5 else (below[1], below[2])
                rules.append(f"[?x, {head}, ?z] :- [?x, {first}, ?y], [?y, {second}, ?z] .")
            if random.random() < 0.3:
                rules.append(f"[?y, {head}, ?x] :- [?x, {below[1]}, ?y] .")
        if kind < 0.1:
            rules.append(f"[?x, {head}, ?z] :- [?x, {head}, ?y], [?y, {head}, ?z] .")
        if kind < 0.02 or kind > 0.9:
            rules.append(f"[?y, {head}, ?x] :- [?x, {head}, ?y] .")
    return rules


def _over(program: Program, groups: int, individuals: int, facts: int, seed: int) -> Instance:
    """Facts of the properties that rules ask for."""
    if groups < 1 or individuals < 2 or facts < 1:
        raise BenchmarkMistake("relations want one group or more, of two individuals or more, and a fact or more")
    properties = _properties(program)
    if facts > individuals * (individuals - 1) // 2 * len(properties) // 4:
        raise BenchmarkMistake("relations want fewer facts in a group, or more individuals")
    random = np.random.default_rng(seed)
    weights = 1.0 / (1.0 + random.permutation(len(properties)))
    weights /= weights.sum()
    triples: list[tuple[str, str, str]] = []
    for group in range(groups):
        found: dict[tuple[int, int, int], None] = {}
        while len(found) < facts:
            ends = np.sort(random.integers(0, individuals, (2, facts)), axis=0) + group * individuals
            chosen = random.choice(len(properties), facts, p=weights)
            found |= {
                (x, p, y): None
                for x, p, y in zip(ends[0].tolist(), chosen.tolist(), ends[1].tolist(), strict=True)
                if x != y
            }
        triples += [(_NAME(x), properties[p], _NAME(y)) for x, p, y in list(found)[:facts]]
    return Instance(print_program(program), {TRIPLE: triple_table(triples)})


def _properties(program: Program) -> Sequence[str]:
    bodies = (atom.terms[1] for rule in program.rules for atom in rule.positive)
    named = {str(term.value) for term in bodies if isinstance(term, Constant) and term.value != RDF_TYPE}
    return sorted(named)


_NAME = "<http://example.org/i{}>".format
_SIZES = {"groups": 200, "individuals": 60, "facts": 120, "seed": 1}
RELATIONS = Workload(
    "relations", "the axioms of the Relations Ontology over groups of individuals with random facts", _SIZES, _relations
)
RELATIONS_MADE = Workload(
    "relations-made", "the same with an ontology that is generated", {"properties": 300, **_SIZES}, _made
)
