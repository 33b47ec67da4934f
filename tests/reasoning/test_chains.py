"""Regular chains: their automata, what is found, and that they are right over sequences of updates."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from test_modules import truth

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.graphs import chains as memory_chains
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.planning.compiled_program import compile_program, found_modules
from everlog.planning.modules.automata import Automaton, Letter, TooLarge, Word, automata, inverse, regular_form
from everlog.planning.modules.chain_rules import chain_rule, regular
from everlog.planning.modules.module_rules import KINDS
from oracles.exchange import facts_of
from support.chain_programs import CHAINS
from support.compacting import compact
from support.maintenance import check_backbones
from support.module_programs import PROGRAMS, some_facts

Rules = dict[str, list[Word[str]]]


def word(text: str) -> Word[str]:
    """`ab-` is `a`, and then `b` backwards."""
    found: list[Letter[str]] = []
    for sign in text:
        found = [*found[:-1], found[-1].inverse()] if sign == "-" else [*found, Letter(sign)]
    return tuple(found)


def unfoldings(rules: Rules, head: str, most: int) -> set[Word[str]]:
    """All words up to a length that rules turn into a letter, by trying (Definition 26)."""
    found = waiting = {word(head)}
    while waiting:
        more = set()
        for one in waiting:
            for place, letter in enumerate(one):
                for body in rules.get(letter.relation, ()):
                    whole = (*one[:place], *(inverse(body) if letter.backwards else body), *one[place + 1 :])
                    if len(whole) <= most:
                        more.add(whole)
        waiting = more - found
        found = found | more
    return found


@pytest.mark.parametrize(
    ("rules", "order"),
    [
        ({"r": ["rr"]}, "r"),
        ({"r": ["rr"], "s": ["sr"]}, "rs"),  # Example 29
        ({"t": ["w"], "r": ["tv"]}, "tr"),  # Example 31
        ({"r": ["rs", "tr", "uv"]}, "r"),
        ({"r": ["rr", "rs-"], "u": ["r-s", "ru"]}, "ru"),
        ({"r": ["r-", "rs"]}, "r"),
        ({"r": ["r-", "rr", "st"]}, "r"),
        ({"a": ["ab", "cb"], "r": ["ra", "a-r", "bb"], "s": ["rr-", "as"]}, "ars"),
        ({"r": ["rs", "sss"]}, "r"),
    ],
)
def test_automata_accept_unfoldings(rules: dict[str, list[str]], order: str) -> None:
    words: Rules = {head: [word(one) for one in bodies] for head, bodies in rules.items()}
    letters = sorted({letter.relation for bodies in words.values() for one in bodies for letter in one} | set(order))
    made = automata(words, list(order))
    most = 4 if len(letters) < 4 else 3
    signs = [Letter(letter, back) for letter in letters for back in (False, True)]
    for head, automaton in made.items():
        assert isinstance(automaton, Automaton)
        assert 0 not in automaton.finals
        expected = {one for one in unfoldings(words, head, most + 2) if len(one) <= most}
        accepted = {one for size in range(1, most + 1) for one in product(signs, repeat=size) if automaton.accepts(one)}
        assert accepted == expected, head


def test_automata_are_small() -> None:
    """Figure 1 of *Modular* has two states each; so has the automaton of many ways to say the same."""
    made = automata({"r": [word("rr")], "s": [word("sr")]}, ["r", "s"])
    assert [len(made[head].moves) for head in "rs"] == [2, 2]
    [same] = automata({"r": [word("rr"), word("rs"), word("sr"), word("ss"), word("s")]}, ["r"]).values()
    assert len(same.moves) == 2
    with pytest.raises(TooLarge):
        automata({"r": [word("r" + 70 * "a")]}, ["r"])


def test_what_is_regular() -> None:
    assert regular_form("r", word("rr")) == () == regular_form("r", word("r-"))
    assert regular_form("r", word("rst")) == ("s", "t") == regular_form("r", word("s-tr"))
    for bad in ("r", "srs", "rsr", "r-s", "rrr", "sr-"):
        assert regular_form("r", word(bad)) is None
    rules = parse_program(
        "r(?x, ?z) :- r(?x, ?y), s(?y, ?z) . s(?x, ?z) :- s(?x, ?y), r(?y, ?z) . s(?x, ?z) :- s(?x, ?y), s(?y, ?z) . "
        "r(?x, ?w) :- s(?x, ?y), r(?y, ?z), s(?z, ?w) . r(?x, ?y) :- s(?y, ?x) ."
    ).rules
    chained = [one for rule in rules if (one := chain_rule(rule)) is not None]
    taken, order = regular(chained)
    assert [chained.index(one) for one in taken] == [0, 2, 4], "s cannot be above r, too"
    assert [relation[0] for relation in order] == ["s", "r"]


@pytest.mark.parametrize(
    ("rule", "letters"),
    [
        ("r(?a, ?d) :- u(?c, ?d), s(?a, ?b), t(?c, ?b) .", ["s", "t-", "u"]),
        ("r(?a, ?b) :- s(?b, ?a) .", ["s-"]),
        ("[?a, p, ?c] :- [?a, q, ?b], r(?b, ?c) .", ["triple", "r"]),
        ("r(?a, ?c) :- s(?a, ?b), t(?b, ?c), u(?a, ?c) .", None),
        ("r(?a, ?c) :- s(?a, ?b), t(?b, ?a), u(?a, ?c) .", None),
        ("r(?a, ?c) :- s(?a, ?b), t(?b, ?c), u(?d, ?e) .", None),
        ("r(?a, ?a) :- s(?a, ?b), t(?b, ?a) .", None),
        ("r(?a, ?c) :- s(?a, ?b), t(?b, ?c), ?a != ?c .", None),
        ("r(?a, ?c) :- s(?a, ?b), t(?b, ?c, ?c) .", None),
    ],
)
def test_what_a_chain_rule_is(rule: str, letters: list[str] | None) -> None:
    found = chain_rule(parse_program(rule).rules[0])
    said = found and [f"{letter.relation[0]}{'-' * letter.backwards}" for letter in found.word]
    assert said == letters


WAYS = ["as a whole", "from sources", "by visits"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CHAINS)
def test_sequences_of_updates(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way goes with each algorithm, by turns: with half of them in every sequence."""
    if way == "as a whole":
        monkeypatch.setattr(tuning, "SEARCHED_SOURCES_SHARE", 1000)
    if way == "from sources":
        monkeypatch.setattr(tuning, "SEARCHED_SOURCES_SHARE", 0)
    if way == "by visits":
        monkeypatch.setattr(tuning, "GRAPH_BYTES", 0)
        monkeypatch.setattr(tuning, "PAIRS_AT_A_TIME", 8)
    program = parse_program(CHAINS[name])
    for seed in range(3):
        for algorithm in ("dred", "fbf", "dredc", "auto")[(seed + WAYS.index(way)) % 2 :: 2]:
            random = Random(f"{name} {seed}")
            nodes = random.randint(2, 7)
            mode = random.choice(["levels", "single"])
            modules = random.choice(["auto", "rch,tc,stc"])
            kb = KnowledgeBase(
                program, algorithm=algorithm, stratification=mode, workers=1, modules=modules, checked=True
            )
            kb.add(some_facts(random, 14, nodes))
            kb.materialise()
            for _ in range(5):
                kb.update(add=some_facts(random, 4, nodes), delete=some_facts(random, 6, nodes))
                assert facts_of(kb) == truth(program, kb), (name, seed, algorithm, mode)
                check_backbones(kb)


@pytest.mark.parametrize("name", CHAINS)
def test_chains_are_found(name: str) -> None:
    found = {kind for mode in ("levels", "single") for kind in kinds(parse_program(CHAINS[name]), mode)}
    assert "rch" in found


def kinds(program: Program, mode: str) -> list[str]:
    engine = MemoryEngine(workers=1)
    strata = compile_program(program.rules, MemoryCompiler(engine), mode, KINDS)  # type: ignore[arg-type]
    return [module.kind for stratum in strata for module in stratum.modules]


def test_example_29() -> None:
    """*Modular*, Example 29: two rules in one module, each with the same backbone."""
    n, m = 9, 5
    program = parse_program("r(?x, ?z) :- r(?x, ?y), r(?y, ?z) . s(?x, ?z) :- s(?x, ?y), r(?y, ?z) .")
    assert kinds(program, "single") == ["rch"]
    kb = KnowledgeBase(program, stratification="single", workers=1, modules=["rch"])
    kb.add({"r": [(i, i + 1) for i in range(1, n)], "s": [(100 + k, 1) for k in range(m)]})
    report = kb.materialise()
    assert report.derivations["materialise"] == 0, "no rule instance is considered"
    [module] = report.modules
    assert (module["kind"], module["predicates"]) == ("rch", ["r", "s"])
    assert len(module["rules"]) == 2 and "r by 2 states, s by 2 states" in module["why"]  # type: ignore[arg-type, operator]
    assert set(kb.rows("r")) == {(i, j) for i in range(1, n) for j in range(i + 1, n + 1)}
    assert set(kb.rows("s")) == {(100 + k, j) for k in range(m) for j in range(1, n + 1)}
    kb.update(delete={"r": [(4, 5)]})
    assert set(kb.rows("s")) == {(100 + k, j) for k in range(m) for j in range(1, 5)}
    kb.update(add={"r": [(2, 7)]})
    assert set(kb.rows("s")) == {(100 + k, j) for k in range(m) for j in (1, 2, 3, 4, 7, 8, 9)}


def test_example_31() -> None:
    """*Modular*, Example 31: what was derived through a fact that is gone gives nothing with what is added."""
    program = parse_program(
        "s(?x, ?y) :- u(?x, ?y) . t(?x, ?y) :- s(?x, ?y) . w(?x, ?y) :- u(?x, ?y) . t(?x, ?y) :- w(?x, ?y) . "
        "r(?x, ?z) :- t(?x, ?y), v(?y, ?z) . r(?x, ?z) :- r(?x, ?y), o(?y, ?z) . t(?x, ?y) :- t(?x, ?z), o(?z, ?y) ."
    )
    kb = KnowledgeBase(program, stratification="single", algorithm="dredc", workers=1, modules="rch")
    kb.add({"u": [("a", "b")], "v": [("b", "c")]})
    report = kb.materialise()
    assert [module["kind"] for module in report.modules] == ["rch"]
    assert set(kb.rows("r")) == {("a", "c")}
    kb.update(delete={"u": [("a", "b")]}, add={"v": [("b", "d")]})
    assert facts_of(kb) == truth(program, kb)
    assert kb.rows("r") == kb.rows("t") == []


def test_chains_that_derive_little_are_left_to_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse_program(CHAINS["two steps"])
    few = {"e": [(i, i + 100) for i in range(90)], "v": [(i, i + 200) for i in range(5)], "t": [(300, 0), (301, 7)]}

    def products(*_: object) -> None:
        raise AssertionError("the product was searched")

    with monkeypatch.context() as patch:
        for name in ("facts", "more", "through"):
            patch.setattr(memory_chains.MemoryChains, name, products)
        kb = KnowledgeBase(program, workers=1)
        kb.add(few)
        report = kb.materialise()
    assert report.modules == [] and report.left_out[0]["predicates"] == ["t"]
    assert "short" not in report.left_out[0]["why"], "that was not known beforehand"
    kb.update(delete={"t": [(300, 0)]}, add={"t": [(302, 1)]})
    assert facts_of(kb) == truth(program, kb)
    forced = KnowledgeBase(program, workers=1, modules="rch")
    forced.add(few)
    assert [module["kind"] for module in forced.materialise().modules] == ["rch"]
    forced.update(delete={"t": [(300, 0)]}, add={"t": [(302, 1)]})
    assert facts_of(forced) == facts_of(kb)


def test_what_users_say_about_modules() -> None:
    program = parse_program("t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .")
    for modules, kinds in (("auto", ["tc"]), ("off", []), ("stc,tc", ["tc"]), (["seq"], []), (["tc"], ["tc"])):
        kb = KnowledgeBase(program, modules=modules, workers=1)  # type: ignore[arg-type]
        kb.add({"t": [(1, 2), (2, 3)]})
        assert [module["kind"] for module in kb.materialise().modules] == kinds
    for wrong in ("on", "tc,of", [], ""):
        with pytest.raises(EverlogError, match="choose auto, off, or some of: tc, stc"):
            KnowledgeBase(program, modules=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*CHAINS, *PROGRAMS])
def test_what_rules_alone_tell(name: str) -> None:
    """What `info` shows are the modules that an engine finds."""
    program = parse_program({**CHAINS, **PROGRAMS}[name])
    for mode in ("levels", "single"):
        found = found_modules(program.rules, mode)  # type: ignore[arg-type]
        assert [module.kind for module in found] == kinds(program, mode)
        assert all(module.why and module.rules for module in found)
    assert all(module.kind == "tc" for module in found_modules(program.rules, "levels", ["tc"]))


@pytest.mark.parametrize("name", CHAINS)
def test_backbones_are_kept(name: str) -> None:
    """What a store keeps of chains, and that they were left to rules, is enough to go on with."""
    program = parse_program(CHAINS[name])
    for modules in ("auto", "rch,tc"):
        random = Random(name)
        kb = KnowledgeBase(program, stratification="single", workers=1, modules=modules)
        kb.add(some_facts(random, 20, 6))
        before = kb.materialise().modules
        compact(kb)
        for _ in range(3):
            report = kb.update(add=some_facts(random, 4, 6), delete=some_facts(random, 6, 6), algorithm="dred")
            assert facts_of(kb) == truth(program, kb), (name, modules)
        assert report.modules == before
        check_backbones(kb)
