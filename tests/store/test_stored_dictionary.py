"""Terms to ids and back, by Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from everlog.store import term_dictionary
from everlog.store.term_dictionary import Encoded, StoredDictionary
from support.reads import read_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.sources.read_facts import Read

XSD = "http://www.w3.org/2001/XMLSchema#"
NASTY = [
    '""',
    '" "',
    r'"a\tb\nc\r\"d\\"',
    '"\U0001f600é"',
    '"x"@en',
    '"x"@de',
    f'"1"^^<{XSD}integer>',
    f'"1.0E0"^^<{XSD}double>',
    f'"-0.0E0"^^<{XSD}double>',
    f'"0.0E0"^^<{XSD}double>',
    f'"1"^^<{XSD}decimal>',
    '"1"',
    f'"true"^^<{XSD}boolean>',
    '"true"',
    "<http://example.org/a>",
    '"http://example.org/a"',
    '"<http://example.org/a>"',
    f'"{"long " * 20_000}"',
]


def given(spark: SparkSession, **facts: list[tuple[str, ...]]) -> Read:
    return read_of(spark, facts, texts=True)


def rows(facts: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in facts.collect())


def dictionary_of(spark: SparkSession, size: int, *folders: Path) -> StoredDictionary:
    return StoredDictionary(spark, [str(folder) for folder in folders], size)


def terms(encoded: Encoded) -> dict[int, str]:
    return {row["id"]: row["term"] for row in encoded.new_terms.collect()}


def test_round_trip_of_nasty_terms(spark: SparkSession, tmp_path: Path) -> None:
    facts: dict[str, list[tuple[str, ...]]] = {
        "p": [*((term, NASTY[place - 1]) for place, term in enumerate(NASTY)), (NASTY[0], NASTY[-1])],
        "q": [(term,) for term in NASTY],
        "on": [(), ()],
    }
    encoded = dictionary_of(spark, 0).encode(given(spark, **facts), tmp_path / "terms")
    assert encoded.size == len(NASTY)
    assert sorted(terms(encoded)) == list(range(len(NASTY)))
    assert sorted(terms(encoded).values()) == sorted(NASTY)
    dictionary = dictionary_of(spark, encoded.size, tmp_path / "terms")
    for predicate in facts:
        expected = sorted(set(facts[predicate])) if predicate != "on" else [(True,)]
        assert rows(dictionary.decode(encoded.facts[predicate])) == expected


@pytest.mark.parametrize("held", [1, 1_000_000], ids=["many terms for a task", "few"])
def test_ids_never_change(spark: SparkSession, tmp_path: Path, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_dictionary, "TERMS_PER_PARTITION", held)
    first = dictionary_of(spark, 0).encode(given(spark, p=[("<a:a>", "<a:b>")]), tmp_path / "first")
    known = dictionary_of(spark, 2, tmp_path / "first")
    facts = given(spark, p=[("<a:b>", "<a:c>"), ("<a:d>", "<a:a>"), ("<a:b>", "<a:c>")])
    second = known.encode(facts, tmp_path / "second")
    assert sorted(terms(second)) == [2, 3]
    assert set(terms(second).values()) == {"<a:c>", "<a:d>"}
    texts = {**terms(first), **terms(second)}
    encoded = {tuple(texts[id] for id in row) for row in rows(second.facts["p"])}
    assert encoded == {("<a:b>", "<a:c>"), ("<a:d>", "<a:a>")}
    everything = dictionary_of(spark, 4, tmp_path / "first", tmp_path / "second")
    assert rows(everything.decode(second.facts["p"])) == [("<a:b>", "<a:c>"), ("<a:d>", "<a:a>")]
    found = everything.find(given(spark, p=[("<a:b>", "<a:c>"), ("<a:b>", "<a:new>")]))
    assert [tuple(texts[id] for id in row) for row in rows(found["p"])] == [("<a:b>", "<a:c>")]


def test_blank_nodes_are_named_after_their_ids(spark: SparkSession, tmp_path: Path) -> None:
    facts = given(spark, p=[("_:x", "_:y"), ("_:x", '"1"')])
    first = dictionary_of(spark, 0).encode(facts, tmp_path / "first")
    blank = {id: term for id, term in terms(first).items() if term.startswith("_:")}
    assert blank == {id: f"_:everlog{id}" for id in blank}
    assert len(blank) == 2
    known = dictionary_of(spark, 3, tmp_path / "first")
    ((x, _), (again, _)) = rows(first.facts["p"])
    assert x == again, "one label of one source is one node"
    more = given(spark, p=[(f"_:everlog{x}", "_:x"), ("_:everlog99", '"1"')])
    second = known.encode(more, tmp_path / "second")
    assert terms(second) == {3: "_:everlog3", 4: "_:everlog4"}, "a label of another source is another node"
    assert x in {row[0] for row in rows(second.facts["p"])}, "the name of a stored node is that node"
    assert rows(known.find(given(spark, p=[("_:x", "_:y")]))["p"]) == []


def test_nothing_to_encode(spark: SparkSession, tmp_path: Path) -> None:
    encoded = dictionary_of(spark, 0).encode(given(spark), tmp_path / "terms")
    assert (encoded.size, encoded.facts, terms(encoded)) == (0, {}, {})
    again = dictionary_of(spark, 0).encode(given(spark, on=[()]), tmp_path / "more")
    assert rows(again.facts["on"]) == [(True,)]
