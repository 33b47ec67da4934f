"""Decompositions are what the definition says, as narrow as can be, and cheap."""

from __future__ import annotations

from random import Random

import pytest

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Atom, Rule, Variable
from everlog.planning.decomposition.cardinality import Cardinalities, Estimate
from everlog.planning.decomposition.hypertree_search import Decomposition, Node, decompose, is_acyclic
from everlog.planning.decomposition.join_tree import join_tree
from everlog.planning.decomposition.size_estimates import Statistics
from support.decompositions import check_decomposition, clique, cycle, edge, flower, grid, path, petal, random_body

KNOWN: dict[str, tuple[list[Atom], int]] = {
    **{f"cycle {n}": (cycle(n), 2) for n in range(3, 11)},
    **{f"clique {n}": (clique(n), (n + 1) // 2) for n in range(3, 7)},
    **{f"path {n}": (path(n), 1) for n in (1, 2, 5, 10)},
    "star": ([edge("c", number) for number in range(10)], 1),
    "a triangle in one atom": ([*cycle(3), edge(0, 1, 2)], 1),
    "ternary and acyclic": ([edge(1, 2, 3), edge(3, 4, 5), edge(5, 6, 1), edge(1, 3, 5)], 1),
    "petals": (petal(4), 2),
    "flower": (flower(3), 2),
    "grid": (grid(3, 3), 2),
    "in two parts": ([*cycle(4), edge("a", "b")], 2),
    "without variables": ([edge(), edge("a"), edge()], 1),
    "a loop": ([edge("a", "a"), edge("a", "b")], 1),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_widths(name: str) -> None:
    atoms, width = KNOWN[name]
    found = decompose(atoms)
    check_decomposition(atoms, found)
    assert found.width == width


def test_random_hypergraphs() -> None:
    random = Random(7)
    widths = set()
    for _ in range(120):
        atoms = random_body(random, 8)
        found = decompose(atoms)
        check_decomposition(atoms, found)
        widths.add(found.width)
        assert (found.width == 1) == is_acyclic(atoms), atoms
    assert {1, 2} <= widths


def test_the_checker_finds_mistakes() -> None:
    x, y, z = (frozenset({Variable(name)}) for name in "012")
    atoms = cycle(3)
    right = decompose(atoms)
    check_decomposition(atoms, right)
    broken = [
        (Node(x | y, (0,), None), Node(y | z, (1,), 0)),
        (Node(x | y, (0,), None), Node(y | z, (1,), 0), Node(z | x, (2,), 1)),
        (Node(x | y | z, (0,), None), Node(y | z, (1,), 0), Node(z | x, (2,), 0)),
        (Node(x | y | z, (0, 1), None),),
        (Node(x, (0,), None), Node(x | y | z, (0, 1, 2), 0)),
    ]
    for nodes in broken:
        with pytest.raises(AssertionError):
            check_decomposition(atoms, Decomposition(nodes, 0.0))


def test_the_cheapest_of_the_narrowest() -> None:
    """The rule of *Hypertree* §3: two ways to cut a cycle of four in halves, one of them 300 times as expensive."""
    x, y, one, other = (Variable(name) for name in ("x", "y", "z1", "z2"))
    atoms = [Atom("CW", (x, one)), Atom("CA", (x, other)), Atom("PC", (one, y)), Atom("PC", (other, y))]
    works = Estimate(300_000, {x: 1_000, one: 300_000})
    writes = Estimate(300_000, {x: 1_000, other: 300_000})
    pairs = [Estimate(600_000, {middle: 600_000, y: 300}) for middle in (one, other)]
    found = decompose(atoms, frozenset((x, y)), Cardinalities([works, writes, *pairs]))
    check_decomposition(atoms, found)
    assert sorted(sorted(node.atoms) for node in found.nodes if len(node.atoms) == 2) == [[0, 2], [1, 3]]


def test_a_node_joins_what_its_variables_cover() -> None:
    """Two ways of three steps between `e` and `s`: the first and the last step of each cover the one between them."""
    e, s, *middle = (Variable(name) for name in "eslprq")
    atoms, sizes = [], []
    for near, far in (middle[:2], middle[2:]):
        atoms += [edge("e", near.name), edge(near.name, far.name), edge(far.name, "s")]
        sizes += [
            Estimate(4_500, {e: 4_500, near: 4_500}),
            Estimate(1_350_000, {near: 4_500, far: 30_000}),
            Estimate(30_000, {far: 30_000, s: 300}),
        ]
    costs = Cardinalities(sizes)
    found = decompose(atoms, frozenset((e, s)), costs)
    check_decomposition(atoms, found)
    assert sorted(sorted(node.atoms) for node in found.nodes if len(node.atoms) > 1) == [[0, 2], [3, 5]]
    head = Atom("h", (e, s))
    tree = join_tree(Rule(head, tuple(atoms)), found, "x", lambda atom: False, costs)
    assert {node.atoms for node in tree.nodes} == {tuple(atoms[:3]), tuple(atoms[3:])}
    assert [node.variables for node in tree.nodes] == [{e, s}, {e, s}]
    # A search for known `e` and `s`: one step from `e`, a hundred to `s`, one pair of them with a step between.
    assert tree.nodes[0].search == pytest.approx(1 + 1 + 100 + 1)


@pytest.mark.parametrize("name", ["cycle 10", "clique 5", "petals", "flower", "grid", "path 10", "star"])
def test_ten_atoms_take_a_few_steps(name: str) -> None:
    atoms, width = KNOWN[name]
    assert decompose(atoms, steps=4_000).width == width


def test_large_bodies_stay_whole_in_time() -> None:
    atoms = clique(8)
    found = decompose(atoms, steps=500)
    check_decomposition(atoms, found)
    assert len(found.nodes) == 1


def test_the_textbook() -> None:
    """The example of *Database Systems* 16.4: R(a, b), S(b, c), U(c, d) with their sizes and values."""
    a, b, c, d = (Variable(name) for name in "abcd")
    sizes = Cardinalities(
        [Estimate(1000, {a: 100, b: 20}), Estimate(2000, {b: 50, c: 100}), Estimate(5000, {c: 500, d: 200})]
    )
    assert sizes.joined([0, 1]).size == 40_000
    assert sizes.joined([0, 1, 2]).size == 400_000
    assert sizes.projection([0, 1], frozenset((a, b))).size == 2_000


def test_predicates_that_all_depend_on_each_other_are_estimated_once_each() -> None:
    """Following every way through twenty of them would take longer than anybody lives."""
    names = [f"p{number}" for number in range(20)]
    rules = [f"{one}(?x, ?y) :- {other}(?x, ?y) ." for one in names for other in names if one != other]
    program = parse_program("\n".join([*rules, "q(?x) :- p0(?x, ?y), p1(?y, ?z), p2(?z, ?x) ."]))
    statistics = Statistics(program.rules, lambda atom: Estimate(10.0, dict.fromkeys(atom.variables(), 5.0)))
    estimates = statistics.body(program.rules[-1].positive)
    assert all(each.size >= 10.0 for each in estimates.atoms)
