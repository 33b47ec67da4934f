"""Checks proofs of a benchmark: instances of the program's rules, down to facts that are in the tables that were given.

Nothing is asked of the engine that found the proofs, but for patterns that are said to be absent. Paths are derived again,
from their steps alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from everlog import KnowledgeBase
from everlog.datalog.comparing import holds
from everlog.datalog.ntriples import write_term
from everlog.datalog.substitution import substitute_atom
from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Program, Variable
from everlog.explaining.proof import Absent, Chained, Derived, Given, Node, Path, Renamed, Tested, nodes, premises
from everlog.knowledge.questions import answers
from everlog.planning.equality_rules import is_equality


class WrongProof(AssertionError):
    """A proof that is none."""


def check_proofs(kb: KnowledgeBase, facts: Mapping[str, pa.Table], proofs: Sequence[Node]) -> int:
    """Raises `WrongProof` if one of some proofs is none; gives how many different facts they take for given."""
    rules = set(kb.program.rules)
    given: dict[Atom, None] = dict.fromkeys(kb.program.facts)
    wanted: dict[Atom, None] = {}
    for root in proofs:
        below: dict[int, set[Atom]] = {}
        for node in nodes(root):
            needed = {one for premise in premises(node) for one in (premise.fact, *below[id(premise)])}
            _require(node.fact not in needed, node, "is needed for itself")
            below[id(node)] = needed
            if isinstance(node, Given):
                wanted.setdefault(node.fact)
            elif isinstance(node, Derived):
                _require(node.rule in rules, node, "has a rule that is none")
                _check_instance(kb, node)
            elif isinstance(node, Renamed):
                original, *equal = premises(node)
                pairs = {frozenset(one.fact.terms[::2]) for one in equal}
                ends = zip(node.fact.terms, original.fact.terms, strict=True)
                different = {frozenset(pair) for pair in ends if pair[0] != pair[1]}
                _require(different == pairs and all(is_equality(one.fact) for one in equal), node, "is not renamed")
            elif isinstance(node, Chained):
                at = node.fact.terms[0]
                for step in premises(node):
                    one, _, other = step.fact.terms
                    _require(at in (one, other), node, "is not connected")
                    at = other if at == one else one
                _require(at == node.fact.terms[2], node, "does not come to its end")
            elif isinstance(node, Path):
                _require(
                    set(node.rules) <= rules and _follows(node), node, "does not follow from the steps of its path"
                )
            else:
                _require(False, node, "has no proof")
    asked = [fact for fact in wanted if fact not in given]
    known = _present(asked, facts)
    for fact in asked:
        if fact not in known:
            raise WrongProof(f"{fact} is not given")
    return len(wanted)


def _require(held: bool, node: Node, why: str) -> None:
    if not held:
        raise WrongProof(f"{node.fact} {why}")


def _check_instance(kb: KnowledgeBase, node: Derived) -> None:
    values: dict[Any, Any] = {Variable(name): Constant(value) for name, value in node.substitution.items()}
    _require(substitute_atom(node.rule.head, values) == node.fact, node, "is not the head of its rule")
    for literal, why in zip(node.rule.body, node.conditions, strict=True):
        if isinstance(literal, Atom):
            right = getattr(why, "fact", None) == substitute_atom(literal, values)
        elif isinstance(literal, Negation):
            right = isinstance(why, Absent) and not answers(kb.reasoner.world, why.negation.atoms)[0]
        elif isinstance(literal, Comparison):
            right = isinstance(why, Tested) and _compares(literal.mapped(lambda one: values.get(one, one)))
        else:
            right = not isinstance(why, Atom)
        _require(right, node, f"has a wrong reason for {literal}")


def _compares(test: Comparison) -> bool:
    left, right = test.terms
    return isinstance(left, Constant) and isinstance(right, Constant) and holds(test.operator, left.value, right.value)


def _follows(path: Path) -> bool:
    """Whether the rules of a path derive its fact from its steps."""
    program = Program(path.rules, tuple(one.fact for one in path.conditions))
    kb = KnowledgeBase(program, engine="memory", modules="off", workers=1)
    kb.materialise()
    values = tuple(term.value for term in path.fact.terms if isinstance(term, Constant))
    return values in kb.rows(path.fact.predicate)


def _present(facts: Iterable[Atom], tables: Mapping[str, pa.Table]) -> set[Atom]:
    """Those of some facts that tables have, found by their first columns."""
    found: set[Atom] = set()
    by_name: dict[str, list[Atom]] = {}
    for fact in facts:
        by_name.setdefault(fact.predicate, []).append(fact)
    for name, some in by_name.items():
        table = tables[name]
        keys = [tuple(_cell(table, place, term) for place, term in enumerate(fact.terms)) for fact in some]
        first = pa.array(list({key[0] for key in keys}))
        column = table.column(0)
        inside = pc.is_in(column.cast(first.type) if pa.types.is_dictionary(column.type) else column, first)
        rows = {tuple(row.values()) for row in table.filter(inside).to_pylist()}
        found |= {fact for fact, key in zip(some, keys, strict=True) if key in rows}
    return found


def _cell(table: pa.Table, place: int, term: Any) -> object:
    """A value as a table has it."""
    metadata = table.schema.field(place).metadata or {}
    return write_term(term.value) if metadata.get(b"everlog") == b"ntriples" else term.value
