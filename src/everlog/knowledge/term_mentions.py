"""What is known about a term: the facts that mention it, by predicate and place; and of which facts an answer is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everlog import interrupts
from everlog.datalog.printer import print_atom
from everlog.datalog.reader import parse_goal
from everlog.datalog.substitution import substitute_atom
from everlog.datalog.syntax import Atom, Constant, Term, Variable
from everlog.datalog.values import Value
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.goals import answer_variables, named
from everlog.knowledge.questions import answers


@dataclass(frozen=True)
class Mention:
    """The facts of a predicate that have a term at a place: how many there are, and the first of them."""

    predicate: str
    place: int
    goal: str
    """Asks for all of them."""
    number: int
    facts: Sequence[tuple[Value, ...]]


def mentions(kb: KnowledgeBase, term: Value, most: int) -> list[Mention]:
    """Where facts mention a term, with at most so many facts of each predicate and place."""
    dictionary, grows = kb.reasoner.backend.query_dictionary()
    if not grows and dictionary.find_value(term) < 0:
        return []
    found = []
    with kb.during("a query"):
        for predicate in kb.predicates():
            arity = kb.arity(predicate) if kb.size(predicate) else 0
            for place in range(arity):
                interrupts.look()
                terms = [Constant(term) if at == place else Variable(f"x{at + 1}") for at in range(arity)]
                atom = Atom(predicate, tuple(terms))
                rows, number = answers(kb.reasoner.world, [atom], most)
                if rows:
                    goal = print_atom(atom, kb.program.prefixes)
                    facts = [(*row[:place], term, *row[place:]) for row in rows]
                    found.append(Mention(predicate, place, goal, number or len(rows), facts))
    return found


def facts_of_answer(kb: KnowledgeBase, goal: str, row: Mapping[str, Value]) -> list[Atom]:
    """The facts that an answer of a goal is made of; what is negated, tested or aggregated is none."""
    values: dict[Variable, Term] = {Variable(name): Constant(value) for name, value in row.items()}
    found: dict[Atom, None] = {}
    with kb.during("a query"):
        for literal in parse_goal(goal, kb.program.prefixes):
            if isinstance(literal, Atom):
                atom = substitute_atom(literal, values).mapped(named)
                variables = answer_variables([atom])
                rows = answers(kb.reasoner.world, [atom], 1)[0] if variables else [()]
                for some in rows:
                    found[substitute_atom(atom, dict(zip(variables, map(Constant, some), strict=True)))] = None
    return list(found)
