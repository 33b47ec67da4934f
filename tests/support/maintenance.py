"""Holds updates to the truth: what is materialised, what is kept, which rule instances were considered.

The truth about a sequence of updates comes from clingo and the naive evaluator, which know no updates, and from ground
rules (`oracles/ground.py`), on which the algorithms themselves are run and recorded (`oracles/recording.py`). What a
knowledge base says must be the same to the number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any, Final, Literal

from everlog import KnowledgeBase, Report
from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import HIDDEN
from everlog.datalog.values import normalise
from everlog.engine.algebra import FactSet, Region
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.errors import EverlogError
from everlog.planning.compiled_program import prepared
from everlog.reasoning.modules.module import Backbone
from everlog.reasoning.modules.module import Update as ToldUpdate
from oracles import clingo_oracle, naive
from oracles.exchange import facts_of, rows_of
from oracles.ground import Ground, Instance, Record
from oracles.naive import Fact, Facts
from oracles.recording import Recorded
from support import kept_state
from support.sequences import Sequence, Update, smallest_sequence

Mode = Literal["levels", "single"]

MODES: Final[tuple[Mode, ...]] = ("levels", "single")
STRATEGIES: Final = ("fbf", "fbf:always", "fbf:depth:1", "fbf:depth:2", "fbf:budget:0", "fbf:budget:5")
ALGORITHMS: Final = ("dred", *STRATEGIES, "bf", "dredc", "bfc", "counting")
"""Those that maintain; `auto` chooses among them and `remat` does not."""

CONFIGURATIONS: Final[tuple[tuple[str, Mode], ...]] = tuple(product(("auto", "remat", *ALGORITHMS), MODES))


class Wrong(AssertionError):
    """Something is not the truth."""


def visible(facts: Iterable[Fact]) -> Facts:
    return frozenset(fact for fact in facts if not fact[0].startswith(HIDDEN))


class Truth:
    """What is so at the start of a sequence and after each of its updates."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.explicit = sequence.explicit()
        self._rules = prepared(sequence.case.program.rules)
        self._grounds: dict[Mode, Ground] = {}
        self._recorded: dict[tuple[str, Mode], list[Record]] = {}
        self.materialised = [self._materialised(number) for number in range(len(self.explicit))]

    def _materialised(self, number: int) -> Facts:
        rules, E = self.sequence.case.program.rules, self.explicit[number]
        by_clingo, by_force = clingo_oracle.materialise(rules, E), naive.materialise(rules, E)
        assert by_clingo == by_force == visible(self.ground("levels").materialised(E)), "the oracles agree"
        return by_clingo

    def ground(self, mode: Mode) -> Ground:
        if mode not in self._grounds:
            self._grounds[mode] = Ground(self._rules, frozenset().union(*self.explicit), mode)
        return self._grounds[mode]

    def recorded(self, algorithm: str, mode: Mode) -> list[Record]:
        """What an algorithm considers in each update, held to the theorems."""
        if (algorithm, mode) not in self._recorded:
            ground = self.ground(mode)
            engine = Recorded(ground, algorithm, self.explicit[0])
            records = []
            for number, update in enumerate(self.sequence.updates):
                records.append(engine.update(update.minus, update.plus))
                before, after = self.explicit[number : number + 2]
                _same("E on ground rules", engine.explicit, after)
                check_theorems(algorithm, records[-1], ground, before, update)
            self._recorded[algorithm, mode] = records
        return self._recorded[algorithm, mode]


def check_theorems(algorithm: str, record: Record, ground: Ground, E: Facts, update: Update) -> None:
    """What *Revisited* says of the rule instances that an update of `E` considers; (a) of its theorems is first."""
    I, after = ground.materialised(E), ground.materialised(update.applied(E))
    _same(f"{algorithm} on ground rules", record.after, after)
    old, new = ground.firing(I), ground.firing(after)
    phases = {name: record.phases.get(name, []) for name in PHASES[algorithm.partition(":")[0]]}
    assert not record.phases.keys() - phases.keys()
    if algorithm == "counting":
        _once_among("Theorem 12(b)", phases["deleted"], old)
        _once_among("Theorem 12(c)", phases["added"], new)
        _same_phases("Algorithm 3", record, ground.counting(E, update.minus, update.plus))
        if not any(one.recursive for one in ground.instances):
            _same("Proposition 27", {*phases["deleted"], *phases["added"]}, old ^ new)
    elif algorithm in ("dred", "dredc"):
        _once_among("Theorem 19(b)", phases["overdeletion"], old)
        _once_among("Theorem 19(c)", phases["one_step_rederivation"] + phases["insertion"], new)
        paper = getattr(ground, algorithm)(E, update.minus, update.plus)
        candidates = set(paper.phases.pop("candidates", ()))
        _same("Theorem 19(c), whatever line 42 chooses", candidates & set(phases["insertion"]), set())
        _same_phases("Algorithm 4", record, paper, one_for_each=("one_step_rederivation",))
    else:
        _check_fbf(algorithm, record, ground, old, new, E, update)
    if algorithm != "counting" and not update.minus & E and old <= new:
        _same("Proposition 32", {one for phase in phases.values() for one in phase}, new - old)


def _check_fbf(
    algorithm: str,
    record: Record,
    ground: Ground,
    old: frozenset[Instance],
    new: frozenset[Instance],
    E: Facts,
    update: Update,
) -> None:
    deletion, forward, insertion = (
        record.phases.get(name, []) for name in ("deletion_propagation", "forward", "insertion")
    )
    line_64 = record.operations.get(("backward", "provable"), [])
    line_81 = record.operations.get(("backward", "premises"), [])
    _once_among("Theorem 25(b)", deletion, old)
    _once_among("Theorem 25(c), in I′", insertion + line_64 + forward, new)
    _once_among("Theorem 25(c), in I", line_64 + forward, old)
    _once_among("Theorem 25(d)", line_81, {one for one in old if one.recursive})
    if algorithm in ("bf", "bfc", "fbf:never"):
        _same("Theorem 25(e), rederivation", line_64, [])
        kept = ground.undisturbed(E, update.minus, update.plus)
        _same("Theorem 25(e), deletion is exact", set(deletion), old - kept)
        _same("Theorem 25(e), insertion is exact", set(insertion), new - kept)
    dred = ground.dred(E, update.minus, update.plus)
    if algorithm in ("fbf:always", "fbf:depth:0"):
        _same("Theorem 25(f)", forward + line_81, [])
        _same("Theorem 25(f), overdeletion", set(deletion), set(dred.phases["overdeletion"]))
        _same("Theorem 25(f), rederivation", len(line_64), len(dred.phases["one_step_rederivation"]))
        _same("Theorem 25(f), insertion", set(insertion), set(dred.phases["insertion"]))
    _same("deletion beyond DRed's", set(deletion) - set(dred.phases["overdeletion"]), set())


PHASES: Final = {
    "counting": ("deleted", "added"),
    **dict.fromkeys(("dred", "dredc"), ("overdeletion", "one_step_rederivation", "insertion")),
    **dict.fromkeys(("fbf", "bf", "bfc"), ("deletion_propagation", "backward", "forward", "insertion")),
}


def _once_among(what: str, instances: list[Instance], allowed: Collection[Instance]) -> None:
    _same(f"{what}, repetition", len(instances), len(set(instances)))
    _same(f"{what}, instances", set(instances).difference(allowed), set())


def _same_phases(what: str, record: Record, paper: Record, one_for_each: tuple[str, ...] = ()) -> None:
    """Equal sets of instances; of some phases only the heads, since any instance of a head will do."""
    for phase, instances in paper.phases.items():
        found: list[Instance] = record.phases.get(phase, [])
        if phase in one_for_each:
            _same(f"{what}, {phase}", sorted(map(repr, _heads(found))), sorted(map(repr, _heads(instances))))
        else:
            _same(f"{what}, {phase}", set(found), set(instances))


def _heads(instances: list[Instance]) -> Iterator[Fact]:
    return (one.head for one in instances)


def _same(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Wrong(f"{what}: {found} instead of {expected}")


# ---------------------------------------------------------------------------------------- knowledge bases


def assert_right(sequence: Sequence, configurations: Iterable[tuple[str, Mode]], **options: object) -> None:
    """All ways to follow a sequence of updates end in the truth; if one does not, a small sequence is shown."""
    chosen = list(configurations)
    found = wrong(sequence, chosen, **options)
    if found is not None:
        small = smallest_sequence(sequence, lambda fewer: wrong(fewer, chosen, **options) is not None)
        raise AssertionError(f"{found}\nmade small: {wrong(small, chosen, **options)}\n{small}")


def wrong(sequence: Sequence, configurations: Iterable[tuple[str, Mode]], **options: object) -> str | None:
    """What is wrong with the first way that does not end in the truth."""
    try:
        truth = Truth(sequence)
    except EverlogError:
        return None  # no program at all, as can happen when one is made smaller
    return untrue(truth, configurations, **options)


def untrue(truth: Truth, configurations: Iterable[tuple[str, Mode]], **options: object) -> str | None:
    """The same for a sequence whose truth is known."""
    for algorithm, mode in configurations:
        try:
            check_sequence(truth, algorithm, mode, **options)
        except Exception as found:
            return f"{algorithm}, {mode}: {type(found).__name__}: {found}"
    return None


def check_sequence(truth: Truth, algorithm: str, mode: Mode, **options: object) -> None:
    """A knowledge base follows all updates of a sequence; modules, which skip rule instances, are off unless asked for."""
    program = truth.sequence.case.program
    options = {"workers": 1, "modules": "off", "algorithm": algorithm, "stratification": mode, **options}
    kb = KnowledgeBase(program, **options)  # type: ignore[arg-type]
    kb.add(rows_of(truth.sequence.case.facts))
    kb.materialise()
    _check_state(kb, truth, 0, options)
    for number, update in enumerate(truth.sequence.updates):
        report = apply(kb, update, waiting=number % 2 == 1)
        _check_state(kb, truth, number + 1, options)
        _check_report(report, truth, number, algorithm)
        if number % 3 == 0:
            _check_changes(kb, truth, number)
        if algorithm in ALGORITHMS and options["modules"] == "off":
            numbers = truth.recorded(algorithm, mode)[number].numbers()
            _same("derivations", report.derivations, numbers)


def apply(kb: KnowledgeBase, update: Update, waiting: bool = False, algorithm: str | None = None) -> Report:
    """An update; with `waiting`, the new facts have waited since an `add`."""
    if waiting:
        kb.add(rows_of(update.add))
        return kb.update(delete=rows_of(update.delete), algorithm=algorithm)
    return kb.update(add=rows_of(update.add), delete=rows_of(update.delete), algorithm=algorithm)


def _check_state(kb: KnowledgeBase, truth: Truth, number: int, options: dict[str, Any]) -> None:
    E, I = truth.explicit[number], truth.materialised[number]
    _same(f"materialisation after {number}", facts_of(kb), I)
    if number + 1 == len(truth.explicit):
        _same("explicit facts in the end", facts_of(kb, "explicit"), E)
        _same("derived facts in the end", facts_of(kb, "derived"), I - E)
    if options["modules"] == "off":
        check_kept(kb, truth.ground(options["stratification"]), E, f"after {number}")
    else:
        check_backbones(kb)
        if options["algorithm"] in ("dredc", "bfc"):
            check_counts_of_the_rest(kb, E, options)


def check_backbones(kb: KnowledgeBase) -> None:
    """A backbone is part of its relation, and the relation follows from it.

    If deletion is exact, the backbone is what it would be from scratch: all facts of the relation from elsewhere. Those of
    a sequence may be neighbours as well, and need not be there.
    """
    materialisation = kb.reasoner.materialisation
    assert materialisation is not None
    E, I = as_memory_facts(materialisation.E), as_memory_facts(materialisation.I)
    everything = materialisation.holding  # rules ask closed relations for all of their facts
    for stratum in materialisation.strata:
        for module in materialisation.modules.get(stratum.index, ()):
            if not isinstance(module, Backbone):
                continue
            mine = I.within(module.region)
            assert not module.X - mine
            module.begin(ToldUpdate(I, I, I, I - I))
            assert not module._outside(module.X, mine)
            if module.exact and module.kind != "seq":
                heads = Region(module.heads)
                anew: FactSet = E.within(heads)
                anew |= stratum.nonrecursive.apply(everything).within(heads)
                assert not module.X.within(heads) - anew
                assert not anew - module.X


def check_counts_of_the_rest(kb: KnowledgeBase, E: Facts, options: dict[str, Any]) -> None:
    """The derivations by rules in no module are as many as they are from scratch, if the same modules are chosen there."""
    anew = KnowledgeBase(kb.program, **options)
    for predicate, arguments in E:
        anew.add({predicate: [tuple(naive.value_of(one) for one in arguments)]})
    anew.materialise()
    before, after = (each.reasoner.materialisation for each in (kb, anew))
    assert before is not None and after is not None
    if [(one.kind, one.heads) for one in before.module_list()] != [
        (one.kind, one.heads) for one in after.module_list()
    ]:
        return
    for recursive in (False, True):
        _same("counts", kept_state.counts(kb, recursive), kept_state.counts(anew, recursive))


def check_kept(kb: KnowledgeBase, ground: Ground, E: Facts, when: str) -> None:
    """Whatever is kept equals what it would be from scratch (Theorem 12(a))."""
    if kb.reasoner.materialisation is None or not kept_state.kept(kb).names():
        return
    both = ground.counts(E)
    for recursive in (False, True):
        counted = kept_state.counts(kb, recursive)
        if counted is not None:
            _same(f"counts {when}", counted, {fact: pair[recursive] for fact, pair in both.items() if pair[recursive]})
    trace = kept_state.trace(kb)
    if trace is not None:
        _same(f"trace {when}", trace, ground.trace(E))
        _same(f"stages {when}", kept_state.stages(kb), ground.stages(E))


def _check_report(report: Report, truth: Truth, number: int, algorithm: str) -> None:
    before, after = truth.materialised[number : number + 2]
    _same("facts of the report", report.facts, {"explicit": len(truth.explicit[number + 1]), "total": len(after)})
    _same("added and deleted", (report.added, report.deleted), (len(after - before), len(before - after)))
    if algorithm != "auto":
        _same("algorithm of the report", report.algorithm, algorithm)
    elif not report.reasons:
        raise Wrong("auto gives no reason")


def _check_changes(kb: KnowledgeBase, truth: Truth, number: int) -> None:
    before, after = truth.materialised[number : number + 2]
    for predicate in kb.predicates():
        for table, expected in zip(kb.changes(predicate), (after - before, before - after), strict=True):
            texts = [
                [_text(value, field.metadata) for value in table.column(field.name).to_pylist()]
                for field in table.schema
            ]
            found = sorted(zip(*texts, strict=True)) if texts else [()] * table.num_rows
            wanted = sorted(
                tuple(write_term(naive.value_of(one)) for one in arguments)
                for name, arguments in expected
                if name == predicate
            )
            _same(f"changes of {predicate}", found, wanted)


@cache
def _is_text(metadata: frozenset[tuple[bytes, bytes]]) -> bool:
    return dict(metadata).get(b"everlog") == b"ntriples"


def _text(value: object, metadata: dict[bytes, bytes] | None) -> str:
    if _is_text(frozenset((metadata or {}).items())):
        return str(value)
    return write_term(normalise(value))
