"""Cases of OWL 2 RL: premises, one on a line, and what follows from them, or that they contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, NamedNode, RdfFormat, parse

import everlog
from everlog.datalog.printer import print_term
from everlog.datalog.syntax import Constant
from everlog.datalog.values import Value, identity, normalise
from support.ontology_texts import PREFIXES


@dataclass(frozen=True)
class Case:
    rule: str
    number: int
    premises: tuple[str, ...]
    conclusion: str | None
    """None if the premises contradict each other."""

    @property
    def without_one(self) -> Iterator[Case]:
        """The case with a premise less each, as far as it is told apart from the others by its names."""
        if '"' not in " ".join(self.premises) or self.conclusion is not None:
            for place in range(len(self.premises)):
                rest = (*self.premises[:place], *self.premises[place + 1 :])
                yield Case(f"{self.rule}-without-{place}", self.number, rest, self.conclusion)

    @property
    def names(self) -> str:
        return f"http://ex.org/{self.rule}/{self.number}/"

    def triples(self, text: str) -> list[tuple[Value, Value, Value]]:
        own = re.sub(r"@prefix : <[^>]*>", f"@prefix : <{self.names}>", PREFIXES)
        mark = f"{self.rule}{self.number}".replace("-", "")
        found = parse(own + text, format=RdfFormat.TURTLE)
        return [tuple(_own(term, mark) for term in (q.subject, q.predicate, q.object)) for q in found]  # type: ignore[misc]


def _own(term: object, mark: str) -> Value:
    return BlankNode(f"{mark}{term.value}") if isinstance(term, BlankNode) else normalise(term)


def read_cases(folder: Path) -> tuple[Case, ...]:
    """The cases of a folder's files, each named after its file."""
    found = []
    for path in sorted(folder.glob("*.ttl")):
        for number, text in enumerate(path.read_text().split("# premise\n")[1:]):
            premise, ends, rest = re.split(r"# (conclusion|contradiction)\n?", text)
            lines = tuple(premise.strip().splitlines())
            found.append(Case(path.stem, number, lines, rest if ends == "conclusion" else None))
    return tuple(found)


def follows(kb: everlog.KnowledgeBase, case: Case) -> bool:
    if case.conclusion is None:
        about = [row[1] for row in kb.rows("violation")]
        literals = {
            identity(term) for triple in case.triples("\n".join(case.premises)) for term in triple if is_literal(term)
        }
        return any(identity(one) in literals or case.names in str(one) for one in about)
    return bool(kb.query(goal(case.triples(case.conclusion))))


def is_literal(value: Value) -> bool:
    return not isinstance(value, NamedNode | BlankNode)


def goal(triples: Sequence[tuple[Value, Value, Value]]) -> str:
    """A question whose variables are the blank nodes."""

    def written(term: Value) -> str:
        return f"?{term.value}" if isinstance(term, BlankNode) else print_term(Constant(term), {})

    return ", ".join(f"[{', '.join(map(written, triple))}]" for triple in triples)
