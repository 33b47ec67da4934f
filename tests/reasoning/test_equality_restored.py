"""What a store has of an r-materialisation: changes add up to the whole, and a restored state goes on with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from everlog.datalog.reader import parse_program
from everlog.engine.kept_kinds import CLASSES
from everlog.engine.memory.memory_backend import MemoryBackend
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.rewriting_reasoner import RewritingReasoner
from oracles.exchange import facts_of
from support.equalities import EqualityCase, if_defined, r_materialisation, random_case, rewritten, rows

Relations = dict[str, set[tuple[int, ...]]]


class Shelf:
    """The sections of a store, in sets."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._arities = dict(kb.arities)
        self.explicit, self.derived = self._whole(kb, "explicit"), self._whole(kb, "derived")
        self.kept = relations(kb.reasoner.kept())

    def follow(self, kb: KnowledgeBase) -> None:
        """Changes the sections as an update does, and compares them with what they should be."""
        state: Any = kb.reasoner
        self._arities, change = dict(kb.arities), state.difference
        applied(self.explicit, change.explicit_added, change.explicit_deleted)
        applied(self.derived, change.derived_added, change.derived_deleted)
        kept = state.kept_change()
        if kept is None:
            self.kept = relations(state.kept())
        else:
            applied(self.kept, *kept)
        assert self.explicit == self._whole(kb, "explicit")
        assert self.derived == self._whole(kb, "derived")
        assert self.kept == relations(state.kept())

    def opened(self, kb: KnowledgeBase, case: EqualityCase) -> KnowledgeBase:
        """A knowledge base with what is here."""
        backend = MemoryBackend(1, kb.reasoner.engine.dictionary)  # type: ignore[attr-defined]
        E, derived = (backend.appended(self._batches(section)) for section in (self.explicit, self.derived))
        I = E
        I |= derived
        state = RewritingReasoner.restored(
            backend,
            E,
            I,
            lambda: {name: array(found) for name, found in self.kept.items()},
            kb.reasoner.kept_kinds(),
            lambda: array(self.kept.get(CLASSES, set()), 2),
        )
        other = KnowledgeBase(case.program, engine="memory", equality="rewrite", workers=1)
        other._reasoner, other.arities, other._materialised = state, dict(self._arities), True
        return other

    def _whole(self, kb: KnowledgeBase, section: str) -> Relations:
        state: Any = kb.reasoner
        facts = state.E if section == "explicit" else state.derived()
        return relations({name: state.backend.listed(facts, name, kb.arities[name]) for name in kb.predicates()})

    def _batches(self, section: Relations) -> list[tuple[str, Any]]:
        return [(name, array(found, self._arities[name])) for name, found in section.items()]


def relations(found: dict[str, Any]) -> Relations:
    return {name: set(map(tuple, ids.T.tolist())) for name, ids in found.items() if ids.shape[1]}


def applied(section: Relations, added: dict[str, Any], deleted: dict[str, Any]) -> None:
    """What is deleted was there, and what is added was not."""
    for name, gone in relations(deleted).items():
        assert gone <= section[name]
        section[name] -= gone
    for name, new in relations(added).items():
        assert not new & section.get(name, set())
        section.setdefault(name, set()).update(new)
    for name in [name for name, found in section.items() if not found]:
        del section[name]


def array(found: set[tuple[int, ...]], arity: int = 0) -> Any:
    return np.array(sorted(found), np.int32).T.copy() if found else np.empty((arity, 0), np.int32)


@pytest.mark.parametrize("block", range(2))
def test_changes_add_up_and_can_be_restored(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if block:  # dead rows are left out as soon as there are more of them than of others
        monkeypatch.setattr("everlog.engine.memory.tuning.ROWS_WORTH_COMPACTING", 0)
    for seed in range(2000 + 12 * block, 2012 + 12 * block):
        check(random_case(seed, updates=3))


def check(case: EqualityCase) -> None:
    kb = if_defined(case)
    if kb is None:
        return
    shelf, explicit = Shelf(kb), case.facts
    for number, (add, delete) in enumerate(case.updates):
        if number != 1:  # otherwise it goes on as it is
            kb = shelf.opened(kb, case)
        kb.update(add=rows(add), delete=rows(delete))
        explicit = (explicit - delete) | add
        shelf.follow(kb)
        anew = rewritten(case, explicit)
        opened = shelf.opened(kb, case)
        assert facts_of(opened) == facts_of(anew), f"after {number}\n{case}"
        opened.update()  # brings in what is hidden
        for other in (kb, opened):
            assert facts_of(other) == facts_of(anew), f"after {number}\n{case}"
            assert facts_of(other, "derived") == facts_of(anew, "derived"), f"after {number}\n{case}"
            assert r_materialisation(other) == r_materialisation(anew), f"after {number}\n{case}"


def test_rows_of_facts_that_are_gone_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes that come and go leave rows behind, which are left out when they are the majority."""
    monkeypatch.setattr("everlog.engine.memory.tuning.ROWS_WORTH_COMPACTING", 0)
    kb = KnowledgeBase(parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k) ."), engine="memory", equality="rewrite")
    kb.add({"p": [(f"c{number}", f"v{number}") for number in range(20)], "key": [("c0", 0), ("c1", 0)]})
    kb.materialise()
    for number in range(1, 9):
        keys = {"key": [(f"c{number + more}", number) for more in range(8)]}
        kb.update(add=keys)
        kb.update(delete=keys)
        rows_now = sum(table.n for one in kb.reasoner.engine.relations().values() for table in one.tables())
        assert rows_now <= 2 * (22 + 23), "twice as many as E and I have"
        assert kb.size("p") == 22
