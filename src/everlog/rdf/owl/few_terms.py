"""The terms of a small document: of them more is derived than of others.

Some of what follows by the RDF-based semantics is about every two things: which literals differ (dt-diff), which classes
are disjoint because those above them are. Or it is about every way to write a value (dt-eq). Where documents have few
terms, that is few facts, and `rl_rules.py` has rules for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from everlog.datalog.syntax import Atom, Constant, Term
from everlog.datalog.value_spaces import data_forms
from everlog.datalog.values import Value, identity

FEW: Final = "rl_few"
"""The predicate of a small document's terms."""
FORM: Final = "rl_form"
"""The predicate of a small document's literals and other ways to write their values."""
MOST_TERMS: Final = 100
"""So many terms a small document has at most."""
MOST_LITERALS: Final = 16
"""So many of them are literals at most; a value may be written in fourteen ways, and every two of them are compared."""


def few_terms(triples: Iterable[tuple[Term, Term, Term]]) -> tuple[Atom, ...]:
    """Facts about all terms of some triples; none if there are too many."""
    terms: dict[tuple[str, object], Constant] = {}
    for triple in triples:
        for term in triple:
            if isinstance(term, Constant):
                terms.setdefault(identity(term.value), term)
        if len(terms) > MOST_TERMS:
            return ()
    written = {term: forms for term in terms.values() if (forms := data_forms(term.value))}
    if len(written) > MOST_LITERALS:
        return ()
    return (*(Atom(FEW, (term,)) for term in terms.values()), *_forms(written))


def _forms(written: dict[Constant, list[Value]]) -> Iterator[Atom]:
    for term, forms in written.items():
        for form in forms:
            if identity(form) != identity(term.value):
                yield Atom(FORM, (term, Constant(form)))
