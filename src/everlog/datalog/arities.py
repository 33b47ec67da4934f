"""One predicate, one number of arguments. `triple` has three."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import TRIPLE, Atom, Program, Rule, parts
from everlog.errors import ArityMistake

_NO_PLACES: Mapping[Rule | Atom, str] = MappingProxyType({})


def check_arities(program: Program, places: Mapping[Rule | Atom, str] = _NO_PLACES) -> None:
    """Raise `ArityMistake` if a predicate occurs with two arities; `places` says where rules and facts stand."""
    first: dict[str, tuple[int, Rule | Atom]] = {}

    def described(arity: int, statement: Rule | Atom) -> str:
        rule = Rule(statement, ()) if isinstance(statement, Atom) else statement
        text = print_rule(rule, program.prefixes)
        where = f" at {places[statement]}" if statement in places else ""
        return f"{arity} in `{text}`{where}"

    for statement, atom in _atoms(program):
        arity = len(atom.terms)
        known, earlier = first.setdefault(atom.predicate, (arity, statement))
        if known != arity:
            raise ArityMistake(
                f"the predicate '{atom.predicate}' has two numbers of arguments: {described(known, earlier)}, and "
                f"{described(arity, statement)}; give it one, or use two names"
            )
        if atom.predicate == TRIPLE and arity != 3:
            raise ArityMistake(
                f"the predicate '{TRIPLE}' is for RDF and has 3 arguments, but {described(arity, statement)}; "
                "use another name"
            )


def program_arities(program: Program) -> dict[str, int]:
    """The number of arguments of every predicate that a program mentions."""
    return {atom.predicate: len(atom.terms) for _, atom in _atoms(program)}


def _atoms(program: Program) -> Iterator[tuple[Rule | Atom, Atom]]:
    """The atoms of a program, each with the fact or the rule that it stands in."""
    yield from ((fact, fact) for fact in program.facts)
    for rule in program.rules:
        for literal in (rule.head, *rule.body):
            yield from ((rule, part) for part in parts(literal) if isinstance(part, Atom))
