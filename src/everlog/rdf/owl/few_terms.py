"""The terms of a small document, or of one that somebody wants it of: of them more is derived than of others.

Some of what follows by the RDF-based semantics is about every two things: which literals differ (dt-diff), which classes
are disjoint because those above them are. Or it is about every way to write a value (dt-eq). Where documents have few
terms, that is few facts, and `rl_rules.py` has rules for them. Of others it is derived if that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from everlog.datalog.syntax import Atom, Constant, Term
from everlog.datalog.value_spaces import data_forms
from everlog.datalog.values import Value, identity

FEW: Final = "rl_few"
"""The predicate of those terms."""
FORM: Final = "rl_form"
"""The predicate of literals among them, and other ways to write their values."""
MOST_TERMS: Final = 100
"""So many terms a small document has at most."""
MOST_LITERALS: Final = 16
"""So many of them are literals at most; a value may be written in fourteen ways, and every two of them are compared."""


TOO_MANY: Final = (
    f"the documents have more than {MOST_TERMS} terms, or than {MOST_LITERALS} literals, so that some conclusions about "
    "every two of them are left out: differences (by dt-diff, disjoint classes, functional properties or what is denied), "
    "keys and disjointness of the classes below, all ways to write a literal (dt-eq), and reflexive properties of what is "
    "related to nothing; with --all-pairs, in Python all_pairs=True, they are derived, which may take long"
)
"""What is said then."""


def few_terms(triples: Iterable[tuple[Term, Term, Term]], all_pairs: bool = False) -> tuple[Atom, ...] | None:
    """Facts about all terms of some triples; None if there are too many, unless all pairs of them are wanted."""
    terms: dict[tuple[str, object], Constant] = {}
    for triple in triples:
        for term in triple:
            if isinstance(term, Constant):
                terms.setdefault(identity(term.value), term)
        if len(terms) > MOST_TERMS and not all_pairs:
            return None
    written = {term: forms for term in terms.values() if (forms := data_forms(term.value))}
    if len(written) > MOST_LITERALS and not all_pairs:
        return None
    return (*(Atom(FEW, (term,)) for term in terms.values()), *_forms(written))


def _forms(written: dict[Constant, list[Value]]) -> Iterator[Atom]:
    for term, forms in written.items():
        for form in forms:
            if identity(form) != identity(term.value):
                yield Atom(FORM, (term, Constant(form)))
