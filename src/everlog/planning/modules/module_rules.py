"""Which rules of a stratum form modules: rules with far more instances than facts, for which there are better ways.

* `tc`: a transitive relation, `R(x, z) :- R(x, y), R(y, z)`;
* `stc`: one that is symmetric too, `R(y, x) :- R(x, y)`;
* `reach`: reachability along a relation of a lower stratum, `H(x, z) :- H(x, y), S(y, z)`, or with the step in front;
* `rch`: relations that regular chain rules derive together, where those above do not suffice (see `chain_rules.py`);
* `seq`: what follows what, `R(x, y) :- P(x), P(y), x < y, NOT EXISTS z IN (P(z), x < z, z < y)`.

Variables may have any names, body atoms any order, and a relation is a plain predicate or `triple` with a constant
property. Everything else stays in the generic module of the stratum.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias, get_args

from everlog.datalog.substitution import REMEMBERED, substitute_atom
from everlog.datalog.syntax import TRIPLE, Atom, Comparison, Constant, Rule, Term, Test, Variable
from everlog.datalog.values import RDF_TYPE
from everlog.errors import EverlogError
from everlog.planning.hidden_predicates import STEPS, spelled_out
from everlog.planning.modules.automata import regular_form
from everlog.planning.modules.chain_rules import ChainRule, Chains, Relation, chain_rule, chains, relation_key
from everlog.planning.modules.chain_rules import relation_of as _pair

Kind: TypeAlias = Literal["tc", "stc", "reach", "rch", "seq"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Identity: TypeAlias = tuple[str, tuple[Atom, ...]]
"""The kind of a module, its heads, and the hidden relations that it steps along."""


def kinds_of(modules: str | Iterable[str]) -> str:
    """What a user says about modules, in one form: `auto`, `off`, or kinds with commas between."""
    names = modules.split(",") if isinstance(modules, str) else list(modules)
    if names in (["auto"], ["off"]):
        return names[0]
    unknown = [name for name in names if name not in KINDS]
    if unknown or not names:
        raise EverlogError(f"modules={modules!r} is not supported; choose auto, off, or some of: {', '.join(KINDS)}")
    return ",".join(kind for kind in KINDS if kind in names)


@dataclass(frozen=True)
class Module:
    """Some rules, and the relations that they are about: `atom` is the head, `step` what leads on from it."""

    kind: Kind
    rules: tuple[Rule, ...]
    atom: Atom
    step: Atom
    backwards: bool = False
    """Steps come in front."""
    grounded: bool = True
    """No other recursive rule derives facts of the relation, so what it is fed with does not depend on it."""
    chains: Chains | None = None
    """The automata of an `rch`."""
    key: Variable | None = None
    """The variable of a `seq`'s `step` that has the keys by which its items are ordered; none if they are their own."""
    hidden: tuple[Rule, ...] = ()
    """The rules of hidden relations that its rules step along (`step_relations.py`), and of those that these negate."""

    @property
    def heads(self) -> tuple[Atom, ...]:
        return (self.atom,) if self.chains is None else self.chains.heads

    @property
    def steps(self) -> tuple[Rule, ...]:
        """The rules of hidden relations that its rules step along."""
        return tuple(rule for rule in self.hidden if rule.head.predicate.startswith(STEPS))

    @property
    def identity(self) -> Identity:
        """What no other module of a program has, and what is made of it again has, too."""
        return self.kind, (*self.heads, *(rule.head for rule in self.steps))

    @property
    def written(self) -> tuple[Rule, ...]:
        """Its rules as people know them."""
        definitions = {rule.head.predicate: rule for rule in self.hidden}
        return tuple(spelled_out(rule, definitions) for rule in self.rules)

    @property
    def why(self) -> str:
        """Why these rules are a module, and how facts are deleted from it."""
        moves = () if self.chains is None else self.chains.moves
        states = [f"{relation_name(head)} by {len(some)} states" for head, some in zip(self.heads, moves, strict=False)]
        said = {
            "tc": f"{relation_name(self.atom)} is transitive",
            "stc": f"{relation_name(self.atom)} is symmetric and transitive",
            "reach": f"{relation_name(self.atom)} goes on along "
            + ("what the rest of its rule connects" if self.steps else relation_name(self.step)),
            "rch": f"chain rules that are regular together: {', '.join(states)}",
            "seq": f"{relation_name(self.atom)} are neighbours in the order of {relation_name(self.step)}",
        }[self.kind]
        return said if self.grounded else f"{said}; other recursive rules derive its facts, too, so more is overdeleted"


def relation_name(atom: Atom) -> str:
    """What users call the relation of a binary atom: its predicate, or the property of its triples."""
    fixed = [str(term.value) for term in atom.terms if isinstance(term, Constant)]
    return fixed[0] if fixed else atom.predicate


def is_binary(atom: Atom) -> bool:
    """Whether an atom's facts can be the edges of a graph: those of a binary predicate, or of a property but rdf:type."""
    return _has_columns(atom, 2)


@lru_cache(REMEMBERED)
def _has_columns(atom: Atom, number: int) -> bool:
    """Whether an atom's facts are all those of a predicate, a property or a class, with so many columns."""
    variables = list(atom.variables())
    if len(variables) != number or len(set(variables)) != number:
        return False
    if atom.predicate != TRIPLE or len(atom.terms) != 3:
        return len(atom.terms) == number
    first, middle, _ = atom.terms
    is_class = isinstance(middle, Constant) and middle.value == RDF_TYPE
    return isinstance(middle, Constant) and isinstance(first, Variable) and is_class == (number == 1)


@dataclass
class _Found:
    """The rules about one relation that a module could have."""

    atom: Atom
    transitive: list[Rule] = field(default_factory=list)
    symmetric: list[Rule] = field(default_factory=list)
    linear: list[tuple[Rule, Atom, bool]] = field(default_factory=list)


def modules_of(rules: Sequence[Rule], inside: Callable[[Atom], bool], kinds: Collection[str]) -> list[Module]:
    """The modules, of some kinds, among the recursive rules of a stratum; `inside` tells whether an atom belongs to it."""
    found: dict[Relation, _Found] = {}
    for rule in rules:
        _look(rule, found, inside)
    candidates = [module for one in found.values() if is_binary(one.atom) and (module := _module(one)) is not None]
    modules, heads = [], Heads(rules)
    for module in candidates:
        fed = any(rule not in module.rules for rule in heads.deriving(module.atom))
        if module.kind in kinds and (not fed or module.kind != "reach"):
            modules.append(replace(module, grounded=not fed))
    if "rch" in kinds:
        more = list(_chained(rules, modules, inside, heads))
        theirs = {rule for module in more for rule in module.rules}
        modules = [*(module for module in modules if theirs.isdisjoint(module.rules)), *more]
    return modules


class Heads:
    """Rules by what their heads say."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules: dict[tuple[str, Term | None], list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(_about(rule.head), []).append(rule)

    def deriving(self, relation: Atom) -> Iterator[Rule]:
        """The rules that may derive facts of a predicate, or triples with a property."""
        known = dict.fromkeys((_about(relation), (relation.predicate, None)))
        return (rule for key in known for rule in self._rules.get(key, ()) if meets(rule.head, relation))


def _about(atom: Atom) -> tuple[str, Term | None]:
    """A predicate, and the property of triples if there is one."""
    verb = atom.terms[1] if atom.predicate == TRIPLE and len(atom.terms) == 3 else None
    return atom.predicate, verb if isinstance(verb, Constant) else None


def _chained(
    rules: Sequence[Rule], modules: Sequence[Module], inside: Callable[[Atom], bool], heads: Heads
) -> Iterator[Module]:
    """Modules of chain rules, for relations that other modules cannot have with all their recursive chain rules."""
    by_head: dict[Relation, list[ChainRule]] = {}
    for rule in rules:
        one = chain_rule(rule)
        if one is not None and all(map(is_binary, (rule.head, *rule.positive))):
            by_head.setdefault(one.head, []).append(one)
    special = {relation_key(module.atom): module for module in modules}
    wanted: list[Relation] = []
    for head, mine in by_head.items():
        have = special.get(head)
        loops = [
            one.rule for one in mine if one.recursive and len(one.word) > 1 and regular_form(head, one.word) is not None
        ]
        if loops and (have is None or not set(loops) <= set(have.rules)):
            wanted.append(head)
    for head in wanted:  # what they step along is theirs too, if chain rules derive it: it then gives its backbone only
        for one in by_head[head]:
            letters = (letter.relation for letter in one.word if letter.relation in by_head)
            wanted += [other for other in dict.fromkeys(letters) if other in special and other not in wanted]
    for together in _connected(wanted, by_head):
        planned = chains([one for head in together for one in by_head[head]], inside)
        if planned is None:
            continue
        plan, taken = planned
        own, relations = {one.rule for one in taken}, plan.letters_inside(True)
        fed = any(rule not in own for atom in relations for rule in heads.deriving(atom))
        ordered = tuple(rule for rule in rules if rule in own)
        yield Module("rch", ordered, plan.heads[0], plan.heads[0], grounded=not fed, chains=plan)


def _connected(heads: Sequence[Relation], by_head: Mapping[Relation, Sequence[ChainRule]]) -> list[list[Relation]]:
    """Heads in groups: those among whose letters another one is belong together."""
    letters = {head: {letter.relation for one in by_head[head] for letter in one.word} for head in heads}
    groups: list[list[Relation]] = []
    for head in heads:
        joined = [group for group in groups if any(one in letters[head] or head in letters[one] for one in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), head])
    return groups


def _look(rule: Rule, found: dict[Relation, _Found], inside: Callable[[Atom], bool]) -> None:
    head, body = _pair(rule.head), rule.positive
    if head is None or len(body) != len(rule.body):
        return
    pairs = [pair for atom in body if (pair := _pair(atom)) is not None]
    if len(pairs) != len(body):
        return
    relation, x, z = head
    one = found.setdefault(relation, _Found(rule.head))
    if len(body) == 1 and pairs[0] == (relation, z, x):
        one.symmetric.append(rule)
    elif len(body) == 2:
        for number in (0, 1):
            (left, a, b), (right, c, d) = pairs[number], pairs[1 - number]
            if (a, b, d) != (x, c, z) or len({x, b, z}) != 3:
                continue
            if left == right == relation:
                one.transitive.append(rule)
            elif left == relation and not inside(body[1 - number]):
                one.linear.append((rule, body[1 - number], False))
            elif right == relation and not inside(body[number]):
                one.linear.append((rule, body[number], True))
            return


def _module(found: _Found) -> Module | None:
    if found.transitive:
        kind: Kind = "stc" if found.symmetric else "tc"
        rules = (*found.transitive, *found.symmetric)
        return Module(kind, rules, found.atom, found.atom)
    if len(found.linear) == 1:
        rule, step, backwards = found.linear[0]
        if is_binary(step):
            return Module("reach", (rule,), found.atom, step, backwards)
    return None


def meets(head: Atom, relation: Atom) -> bool:
    """Whether an atom can have a fact of a relation, whose variables are different."""
    if head.predicate != relation.predicate:
        return False
    for term, fixed in zip(head.terms, relation.terms, strict=True):
        if term is not fixed and isinstance(fixed, Constant) and isinstance(term, Constant) and term != fixed:
            return False
    return True


def sequence(rule: Rule) -> Module | None:
    """The module of a sequencing rule; it is looked for before `NOT EXISTS` is rewritten.

    `R(x, y) :- P(x, k), P(y, l), k < l, NOT EXISTS z, m IN (P(z, m), k < m, m < l)` is one whose items have keys; where
    they are their own, `k` is `x`, `l` is `y`, and `m` is `z`.
    """
    head = _pair(rule.head)
    literals = len(rule.positive), len(rule.comparisons), len(rule.negative), len(rule.body)
    if head is None or literals != (2, 1, 1, 4):
        return None
    _, x, y = head
    negation, (k, l) = rule.negative[0], _lesser_first(rule.comparisons[0])
    columns = len(negation.local)
    if columns not in (1, 2) or len(negation.atoms) != 1 or not (isinstance(k, Variable) and isinstance(l, Variable)):
        return None
    item = negation.atoms[0]
    if not is_binary(rule.head) or not _has_columns(item, columns):
        return None
    if (k, l) != (x, y) if columns == 1 else len({x, y, k, l}) != 4:
        return None
    for z, m in ((negation.local[0], negation.local[-1]), (negation.local[-1], negation.local[0])):
        items = {substitute_atom(item, {z: end, m: key}) for end, key in ((x, k), (y, l))}
        compared = _less(rule.comparisons, {(k, l)}) and _less(negation.tests, {(k, m), (m, l)})
        if compared and {*rule.positive} == items and {*item.variables()} == {z, m}:
            return Module("seq", (rule,), rule.head, item, key=None if columns == 1 else m)
    return None


def _lesser_first(comparison: Comparison) -> tuple[Term, Term]:
    """The terms of a comparison by `<` or `>`, the lesser one first."""
    ends = comparison.left, comparison.right
    return ends if comparison.operator == "<" else ends[::-1]


def _less(tests: Sequence[Test], wanted: set[tuple[Variable, Variable]]) -> bool:
    """Whether comparisons say that one variable is less than another, for just some pairs."""
    said = {_lesser_first(one) for one in tests if isinstance(one, Comparison) and one.operator in ("<", ">")}
    return len(said) == len(tests) and said == wanted
