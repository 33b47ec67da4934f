"""What stores keep for updates: changes add up to the whole, and a restored state goes on as if it had never stopped."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from pyoxigraph import NamedNode

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.engine.memory.memory_backend import MemoryBackend
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.engine_choice import Engine
from everlog.knowledge.reasoner import Reasoner
from everlog.knowledge.saved_kinds import module_key
from support.compacting import compact
from support.kept_state import counts, stages, trace

PROGRAM = parse_program(
    """
    t(?x, ?y) :- e(?x, ?y), not b(?x) .
    t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .
    source(?x) :- e(?x, _), not e(_, ?x) .
    far(?x, ?y) :- source(?x), t(?x, ?y), NOT EXISTS ?z IN (t(?y, ?z)) .
    far(?x, ?z) :- far(?x, ?y), e(?z, ?y) .
    near(?x, ?y) :- e(?x, ?y), b(?y) .
    near(?y, ?x) :- near(?x, ?y) .
    near(?x, ?z) :- near(?x, ?y), near(?y, ?z) .
    near(?x, ?y) :- near(?x, ?z), far(?z, ?y) .
    """
)


def facts(random: Random, most: int) -> dict[str, list[tuple[int, ...]]]:
    return {
        "e": [(random.randrange(6), random.randrange(6)) for _ in range(random.randint(0, most))],
        "b": [(random.randrange(6),) for _ in range(random.randint(0, most // 4))],
    }


def columns(relations: dict[str, Any]) -> dict[str, set[tuple[int, ...]]]:
    found = {name: set(map(tuple, ids.T.tolist())) for name, ids in relations.items()}
    assert all(len(found[name]) == ids.shape[1] for name, ids in relations.items())
    return {name: rows for name, rows in found.items() if rows}


def restored(kb: KnowledgeBase, stored: dict[str, set[tuple[int, ...]]], algorithm: str) -> KnowledgeBase:
    before = kb.reasoner
    backend = MemoryBackend(1, before.engine.dictionary)  # type: ignore[attr-defined]
    E, derived = (
        backend.appended((name, before.listed(name, which, kb.arities[name])) for name in kb.predicates())
        for which in ("explicit", "derived")
    )
    I = E
    I |= derived
    kept = {name: np.array(sorted(rows), np.int32).T.copy() for name, rows in stored.items()}
    after = KnowledgeBase(PROGRAM, algorithm=algorithm, workers=1)
    after.restore(Reasoner(backend, E, I, lambda: kept, before.kept_kinds()), kb.arities, Engine("memory"))
    return after


@pytest.mark.parametrize("algorithm", ["auto", "dred", "dredc", "bfc", "counting"])
@pytest.mark.parametrize("seed", range(12))
def test_changes_add_up_and_can_be_restored(algorithm: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    if seed % 2:  # dead rows are left out as soon as there are more of them than of others
        monkeypatch.setattr("everlog.engine.memory.tuning.ROWS_WORTH_COMPACTING", 0)
    kb = KnowledgeBase(PROGRAM, algorithm=algorithm, workers=1)
    kb.add(facts(random, 12))
    kb.materialise()
    stored = columns(kb.reasoner.kept())
    for _ in range(5):
        kb.update(add=facts(random, 4), delete=facts(random, 5))
        change = kb.reasoner.kept_change()
        assert change is not None
        added, deleted = map(columns, change)
        for name, rows in deleted.items():
            assert rows <= stored[name]
            stored[name] -= rows
        for name, rows in added.items():
            assert rows.isdisjoint(stored.setdefault(name, set()))
            stored[name] |= rows
        stored = {name: rows for name, rows in stored.items() if rows}
        assert stored == columns(kb.reasoner.kept())
        if random.random() < 0.4:
            kb = restored(kb, stored, algorithm)
    fresh = KnowledgeBase(PROGRAM, algorithm=algorithm, workers=1)
    fresh.add({name: kb.rows(name, "explicit") for name in kb.predicates()})
    fresh.materialise()
    kb.update()
    assert {name: set(kb.rows(name)) for name in kb.predicates()} == {
        name: set(fresh.rows(name)) for name in kb.predicates()
    }
    for recursive in (False, True):
        if algorithm != "auto":  # which may have counted what a new one has not
            assert counts(kb, recursive) == counts(fresh, recursive)
    if algorithm == "counting":
        assert trace(kb) == trace(fresh)
        assert stages(kb) == stages(fresh)


def test_dead_rows_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.engine.memory.tuning.ROWS_WORTH_COMPACTING", 0)
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x) ."), algorithm="dredc", workers=1)
    kb.add({"q": [(number,) for number in range(100)]})
    kb.materialise()
    kb.update(delete={"q": [(number,) for number in range(80)]})
    assert sum(table.n for one in kb.reasoner.engine.relations().values() for table in one.tables()) == 40
    report = kb.update(add={"q": [(5,)]}, delete={"q": [(99,)]})
    assert (report.added, report.deleted) == (2, 2)
    assert sorted(kb.rows("p")) == sorted([(5,), *((number,) for number in range(80, 99))])


def test_deleting_what_only_follows_changes_nothing_and_is_said() -> None:
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x) ."), workers=1)
    kb.add({"q": [(1,), (2,)]})
    kb.materialise()
    report = kb.update(delete={"p": [(1,)], "q": [(3,)]})
    assert report.warnings == ["1 of the facts to be deleted are not explicit but follow from others, and stay"]
    assert (report.added, report.deleted) == (0, 0)


def test_starting_again_keeps_what_was_kept() -> None:
    kb = KnowledgeBase(PROGRAM, algorithm="counting", workers=1)
    kb.add({"e": [(1, 2), (2, 3), (3, 1)]})
    kb.materialise()
    assert kb.update(add={"e": [(3, 4)]}, algorithm="remat").algorithm == "remat"
    report = kb.update(delete={"e": [(1, 2)]})
    assert report.algorithm == "counting"
    assert set(kb.rows("t")) == {(2, 3), (3, 1), (3, 4), (2, 1), (2, 4)}


def test_counting_without_counts_is_refused_where_modules_are_stored() -> None:
    kb = KnowledgeBase(parse_program("t(?x, ?z) :- t(?x, ?y), t(?y, ?z) ."), workers=1)
    kb.add({"t": [(number, number + 1) for number in range(9)]})
    kb.materialise()
    assert [module.kind for module in kb.reasoner.materialisation.module_list()] == ["tc"]
    compact(kb)
    with pytest.raises(EverlogError, match="needs counts that are not kept"):
        kb.update(delete={"t": [(3, 4)]}, algorithm="counting")
    assert kb.update(delete={"t": [(3, 4)]}).deleted == 24


def test_modules_have_names_of_their_own() -> None:
    heads = [Atom("triple", (Variable("x"), Constant(one), Variable("y"))) for one in (NamedNode("a:p"), "<a:p>")]
    assert len({module_key("tc", (head,)) for head in heads}) == 2
    assert module_key("tc", (heads[0],)) == module_key("tc", (Atom("triple", (Variable("u"), *heads[0].terms[1:])),))


def test_an_algorithm_whose_counts_are_not_kept_is_refused() -> None:
    kb = KnowledgeBase(PROGRAM, workers=1)
    kb.add({"e": [(1, 2)]})
    kb.materialise()
    with pytest.raises(EverlogError, match=r"needs counts that are not kept: .* made with the algorithm dredc"):
        kb.update(delete={"e": [(1, 2)]}, algorithm="dredc")
    assert kb.rows("t") == [(1, 2)]
    assert kb.update(delete={"e": [(1, 2)]}).deleted > 0


def test_rules_about_equality_are_made_for_new_predicates_after_a_state_was_restored() -> None:
    """A state that was opened does not know yet which predicates its rules about equality are made for."""
    kb = KnowledgeBase(parse_program("?x = ?y :- same(?x, ?y) ."), equality="axioms", workers=1)
    kb.add({"same": [("a", "b")]})
    kb.materialise()
    compact(kb)
    kb.update(add={"p": [("a",)]})
    assert sorted(kb.rows("p")) == [("a",), ("b",)]
    kb.update(add={"q": [("b", "c")], "same": [("c", "d")]})
    assert len(kb.rows("q")) == 4


class _Failure(Exception):
    pass


def test_an_update_that_fails_brings_back_the_iterations_of_the_trace() -> None:
    """Iterations that the update had forgotten were stored twice afterwards."""
    kb = KnowledgeBase(
        parse_program("p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . q(?x) :- p(?x, 9) ."),
        algorithm="counting",
        workers=1,
    )
    kb.add({"e": [(number, number + 1) for number in range(9)]})
    kb.materialise()
    before = columns(kb.reasoner.kept())
    for call in range(1, 30):
        calls = iter(range(1, 1000))

        def progress(stratum: int, number: int, new: int) -> None:
            if next(calls) == call:  # noqa: B023
                raise _Failure

        try:
            kb.update(delete={"e": [(2, 3)]}, progress=progress)
        except _Failure:
            assert columns(kb.reasoner.kept()) == before
            compact(kb)
        else:
            break
    assert call > 5
    fresh = KnowledgeBase(kb.program, algorithm="counting", workers=1)
    fresh.add({"e": kb.rows("e")})
    fresh.materialise()
    assert trace(kb) == trace(fresh)


NEXT = "next(?x, ?y) :- b(?x), b(?y), ?x < ?y, NOT EXISTS ?z IN (b(?z), ?x < ?z, ?z < ?y) ."


def test_the_algorithm_of_an_update_does_not_decide_about_the_modules_of_a_stored_state() -> None:
    """Counting goes without modules; a stored state that was asked for it used to lose them, and what they stand for."""
    kb = KnowledgeBase(parse_program(NEXT), algorithm="dred", modules="seq", workers=1)
    kb.add({"b": [(3,), (5,), (7,)]})
    kb.materialise()
    compact(kb)
    with pytest.raises(EverlogError, match="needs counts that are not kept"):
        kb.update(algorithm="counting")
    report = kb.update(delete={"b": [(3,)]}, algorithm="auto")
    assert (report.added, report.deleted) == (0, 2)
    assert [module["kind"] for module in report.modules] == ["seq"]


def test_a_state_of_other_modules_is_computed_anew_where_they_stand_for_negation() -> None:
    kb = KnowledgeBase(parse_program(NEXT), algorithm="dred", modules="seq", workers=1)
    kb.add({"b": [(3,), (5,), (7,)]})
    kb.materialise()
    compact(kb)
    kb.settings = KnowledgeBase(parse_program(NEXT), algorithm="dred", modules="off").settings
    report = kb.update(delete={"b": [(3,)]})
    assert "other modules" in report.reasons[0]
    assert (report.added, report.deleted) == (0, 2)
    assert kb.update(add={"b": [(6,)]}).algorithm == "dred"
    assert sorted(kb.rows("next")) == [(5, 6), (6, 7)]


def test_extra_facts_about_classes_after_a_stored_state_was_asked_for_counting() -> None:
    """Counting goes without decompositions; a stored state that was asked for it counted derivations that it never had."""
    program = parse_program("""
        w(?x) :- u(?x), NOT EXISTS ?y, ?c IN ([?x, <http://x/p>, ?y], [?y, rdf:type, ?c]) .
        <http://x/D>[?y] :- [?x, <http://x/p>, ?y] .
    """)
    kb = KnowledgeBase(program, algorithm="dredc", hypertree="all", workers=1)
    a, b, d, p = (NamedNode(f"http://x/{name}") for name in "abdp")
    kb.add({"triple": [(d, p, a), (d, p, b)], "u": [(d,)]})
    kb.materialise()
    kb.update()
    compact(kb)
    with pytest.raises(EverlogError, match="needs counts"):
        kb.update(delete={"triple": [(d, p, a)]}, algorithm="counting")
    kb.update(delete={"triple": [(d, p, a)]}, algorithm="auto")
    assert kb.rows("w") == []
    assert kb.query("<http://x/D>[?x]") == [(b,)]


def test_rules_are_decomposed_as_they_were_when_derivations_were_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decomposed is decided by the facts at hand; those of a stored state are others than when it was computed."""
    from everlog.planning.decomposition import decomposition_choice as decomposing

    program = parse_program(
        "t(?x, ?z) :- e(?x, ?y), e(?y, ?z), e(?z, ?u), e(?u, ?v), e(?v, ?w), e(?w, ?x) . t(?x, ?y) :- f(?x, ?y) ."
    )
    cycle = [(1, 2), (2, 3), (3, 1)]
    for first, later in ((1e9, 0.0), (0.0, 1e9)):
        monkeypatch.setattr(decomposing, "IN_MEMORY", decomposing.Worth(cheaper=0.0, much=first))
        kb = KnowledgeBase(program, algorithm="dredc", workers=1)
        kb.add({"e": cycle, "f": [(1, 3)]})
        kb.materialise()
        stored = columns(kb.reasoner.kept())
        compact(kb)
        monkeypatch.setattr(decomposing, "IN_MEMORY", decomposing.Worth(cheaper=0.0, much=later))
        kb.update(add={"e": [(5, 6)]})
        added = columns(kb.reasoner.kept())
        assert {name: rows for name, rows in added.items() if name.endswith(":t")} == {
            name: rows for name, rows in stored.items() if name.endswith(":t")
        }
        kb.update(delete={"f": [(1, 3)]})
        assert sorted(kb.rows("t")) == [(1, 3), (2, 1), (3, 2)]
        kb.update(delete={"e": [(1, 2)]})
        assert kb.rows("t") == []
