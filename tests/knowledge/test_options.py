"""The options of a knowledge base go through a store, whatever their types."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyoxigraph import BlankNode

import everlog
from everlog.datalog.reader import parse_program
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.saved_kinds import BY_KIND, BY_VALUE
from everlog.knowledge.settings import Settings
from everlog.store.manifest import manifest_path, read_manifest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = parse_program("t(?x, ?z) :- t(?x, ?y), t(?y, ?z) . u(?x) :- t(?x, ?y), t(?y, ?x) .")
OTHERS: dict[str, Any] = {
    "engine": "memory",
    "algorithm": "fbf:depth:2",
    "modules": ["tc", "reach"],
    "hypertree": "cyclic",
    "stratification": "single",
    "equality": "axioms",
    "checked": True,
    "max_rounds": 1000,
    "max_facts": 1_000_000,
    "constraints": "fail",
}
"""For each option a value that is not the default."""


def write_as_before(store: Path, changed: Callable[[str], str], **fields: Any) -> None:
    """Makes the manifest of the first version one of format 1, which has no checksums, with other fields."""
    manifest = manifest_path(store, 1)
    data = json.loads(changed(manifest.read_text()))
    for name in ("checksum", "fingerprints"):
        del data[name]
    manifest.write_text(json.dumps({**data, "format": 1, **fields}))


@pytest.mark.parametrize(
    "called", [KnowledgeBase, everlog.open, *(v for n, v in vars(KnowledgeBase).items() if n[0] != "_")]
)
def test_a_notebook_can_complete_every_option(called: Any) -> None:
    """No option hides behind `**`, also where a method is wrapped."""
    if callable(called):
        parameters = inspect.signature(called).parameters.values()
        assert not [one for one in parameters if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]


def test_the_options_are_those_of_the_settings() -> None:
    given = inspect.signature(KnowledgeBase).parameters
    for name, option in inspect.signature(Settings).parameters.items():
        assert given[name].kind is inspect.Parameter.KEYWORD_ONLY and given[name].default == option.default
    described = KnowledgeBase.__init__.__doc__ or ""
    assert all(f"            {name}: " in described for name in given)


def test_every_option_survives_a_store(spark: SparkSession, tmp_path: Path) -> None:
    elsewhere = {"self", "program", "workers", "memory", "spark", "scratch"}  # what a machine has
    options = inspect.signature(KnowledgeBase.__init__).parameters.keys() - elsewhere
    assert options == OTHERS.keys(), "an option is missing here"
    kb = everlog.KnowledgeBase(PROGRAM, spark=spark, **OTHERS)
    kb.add({"t": [(1, 2), (2, 3)]})
    store = tmp_path / "graph.store"
    kb.save(store)
    opened = everlog.open(store, spark=spark)
    assert opened.settings == kb.settings
    assert opened.options == kb.options
    opened.update(add={"t": [(3, 1)]})
    assert opened.size("t") == 9
    opened.save(store)
    assert everlog.open(store, spark=spark).settings == kb.settings


@pytest.mark.parametrize("options", [{"checked": False, "modules": "stc,tc"}, {"modules": ("seq",)}, {}])
def test_options_are_what_json_gives_back(options: dict[str, Any]) -> None:
    kb = everlog.KnowledgeBase(PROGRAM, **options)
    back = json.loads(json.dumps(kb.options))
    assert back == kb.options and back.keys() == OTHERS.keys() - {"max_rounds", "max_facts"}, "no limits"
    assert everlog.KnowledgeBase(PROGRAM, **back).settings == kb.settings


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ({"modules": "['tc', 'stc']", "checked": "False"}, {"modules": "tc,stc", "checked": False}),
        ({"modules": "('seq',)", "checked": "True"}, {"modules": "seq", "checked": True}),
        ({"modules": "auto", "algorithm": "counting"}, {"modules": "auto", "algorithm": "counting"}),
    ],
)
def test_options_as_earlier_stores_have_them(
    stored: dict[str, str], read: dict[str, Any], tmp_path: Path, spark: SparkSession
) -> None:
    kb = everlog.KnowledgeBase(PROGRAM, spark=spark)
    kb.add({"t": [(1, 2)]})
    store = tmp_path / "graph.store"
    kb.save(store)
    write_as_before(store, lambda text: text, options=stored)
    assert read_manifest(store, 1).options == read
    assert everlog.open(store, spark=spark).rows("t") == [(1, 2)]


def test_hidden_predicates_as_earlier_stores_name_them(tmp_path: Path, spark: SparkSession) -> None:
    """What is kept is not used, everything is computed anew with the next update, and counts are there again."""
    kb = everlog.KnowledgeBase(
        parse_program("p(?x) :- q(?x), not r(?x, _) . s(?x) :- q(?x), NOT EXISTS ?y IN (r(?y, ?x)) ."),
        spark=spark,
        algorithm="dredc",
    )
    kb.add({"q": [(1,), (2,), (3,)], "r": [(1, 2)]})
    store = tmp_path / "older.store"
    kb.save(store)
    hidden = sorted({name.partition(":")[2] for name in read_manifest(store, 1).state_arities if ":¬" in name})
    assert len(hidden) == 2
    write_as_before(store, lambda text: text.replace(hidden[0], "¬1").replace(hidden[1], "¬0"))
    for engine in ("memory", "spark"):
        opened = everlog.open(store, spark=spark, engine=engine)
        report = opened.update(delete={"r": [(1, 2)]})
        assert report.algorithm == "remat" and "an earlier Everlog" in report.reasons[0]
        assert sorted(opened.rows("p")) == sorted(opened.rows("s")) == [(1,), (2,), (3,)]
        if engine == "spark":
            continue
        assert opened.update(add={"r": [(3, 3)]}).algorithm == "dredc"
        assert sorted(opened.rows("p")) == sorted(opened.rows("s")) == [(1,), (2,)]


@pytest.mark.parametrize("program", ["big(?x) :- p(?x), ?x >= 2 .", "big(?x) :- p(?x) ."])
def test_comparisons_as_earlier_stores_made_them(tmp_path: Path, spark: SparkSession, program: str) -> None:
    """Where `=` meant the same term and dates had no order, rules that compare are computed anew; others go on."""
    kb = KnowledgeBase(parse_program(program), spark=spark)
    kb.add({"p": [(1,), (2,)]})
    store = tmp_path / "older.store"
    kb.save(store)
    kinds = read_manifest(store, 1).state_kinds
    assert BY_VALUE in kinds
    write_as_before(store, str, state_kinds=[kind for kind in kinds if kind != BY_VALUE])
    opened = everlog.open(store, spark=spark)
    report = opened.update(add={"p": [(3,)]})
    assert any("an earlier Everlog" in reason for reason in report.reasons) == (">=" in program)
    opened.save(store)
    assert BY_VALUE in read_manifest(store, 2).state_kinds


@pytest.mark.parametrize(
    ("program", "anew"),
    [
        ("m(MIN(?x)) :- p(?x) .", True),
        ("m(?n) :- AGGREGATE(p(?x) BIND MAX(?x) AS ?n) .", True),
        ("m(?x) :- p(?x) .", False),
    ],
)
def test_equal_numbers_as_earlier_stores_ordered_them(tmp_path: Path, program: str, anew: bool) -> None:
    """Where the least of equal numbers was that whose text is less, what rules choose is computed anew."""
    kb = KnowledgeBase(parse_program(program), engine="memory")
    kb.add({"p": [(15,), (15.0,)]})
    store = tmp_path / "older.store"
    kb.save(store)
    kinds = read_manifest(store, 1).state_kinds
    write_as_before(store, str, state_kinds=[kind for kind in kinds if kind != BY_KIND])
    opened = everlog.open(store, engine="memory")
    report = opened.update(add={"p": [(16,)]})
    assert any("an earlier Everlog" in reason for reason in report.reasons) == anew
    opened.save(store)
    assert BY_KIND in read_manifest(store, 2).state_kinds


def test_hidden_predicates_about_blank_nodes(tmp_path: Path, spark: SparkSession) -> None:
    """A store gives other names to blank nodes, and hidden predicates that mention one are called otherwise then."""
    kb = everlog.KnowledgeBase(parse_program("p(?x) :- q(?x), not r(?x, _:b1, _) ."), spark=spark)
    kb.add({"q": [("a",), ("c",)], "r": [("a", BlankNode("b1"), "z"), ("d", BlankNode("b1"), "z")]})
    kb.save(tmp_path / "graph.store")
    opened = everlog.open(tmp_path / "graph.store", spark=spark)
    report = opened.update(add={"q": [("d",)]})
    assert opened.rows("p") == [("c",)]
    assert "under other names" in report.reasons[0]


def test_a_program_may_be_its_text() -> None:
    kb = everlog.KnowledgeBase("q(?x) :- p(?x) . p(1) .")
    kb.materialise()
    assert kb.rows("q") == [(1,)]
    with pytest.raises(EverlogError, match="a program is text, or what parse_program returns, not a int"):
        everlog.KnowledgeBase(42)  # type: ignore[arg-type]
