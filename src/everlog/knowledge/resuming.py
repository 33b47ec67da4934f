"""What a stored state goes on with: the modules that have stored something, and no others.

Which modules there are was decided when everything was computed, and not by the algorithm of the update that goes on with
it. A store without backbones goes on without modules, and so does one that has those of other modules: their facts are
facts like others. What such a store lacks is what negations hide in rules that are no module's any more; then everything is
to be computed anew. The same goes for decomposed rules, if derivations are counted: theirs are not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from everlog.datalog.syntax import Rule
from everlog.engine.kept_kinds import BACKBONE, NONRECURSIVE, RECURSIVE
from everlog.knowledge.materialisation import Materialisation
from everlog.knowledge.saved_kinds import DECOMPOSED, TREE, module_key, tree_key
from everlog.knowledge.settings import Settings
from everlog.planning.hidden_predicates import KEYED, NEGATED, STEPS
from everlog.planning.modules.module_choice import LEFT_OUT_BEFORE, Verdicts
from everlog.planning.modules.module_rules import Module

Chosen: TypeAlias = Callable[[Rule], bool]
"""Whether a rule is to be decomposed."""

Compiled: TypeAlias = Callable[[Settings, Verdicts | None, Chosen | None], Materialisation]
"""Compiles the program of a state, with some settings, verdicts about modules, and a choice of rules to be decomposed."""

_AGAIN: Final = "everything was computed anew, since "
_OTHER_MODULES: Final = f"{_AGAIN}other modules were stored than there are now"
_OTHER_TREES: Final = f"{_AGAIN}other rules are decomposed than when their derivations were counted"
_OTHER_HIDDEN: Final = f"{_AGAIN}what negations and steps hide was stored under other names"


class Unresumable(Exception):
    """What is stored is not enough to go on with; the reason is for people."""


def refuse_undefined(names: Iterable[str], heads: Collection[str]) -> None:
    """Raises `Unresumable` if relations of a store are about hidden predicates that no rule derives.

    Their names are made of their definitions, and a store gives other names to blank nodes.
    """
    hidden = (name.partition(":")[2] for name in names)
    if any(name.startswith((NEGATED, KEYED, STEPS)) and name not in heads for name in hidden):
        raise Unresumable(_OTHER_HIDDEN)


def resumed(compiled: Compiled, settings: Settings, kinds: frozenset[str]) -> Materialisation:
    """A materialisation, without facts yet, that fits the kinds of values that are stored; or `Unresumable`."""
    settings = replace(settings, algorithm="auto")
    without = replace(settings, modules="off")
    trees = frozenset(kind for kind in kinds if kind.startswith(TREE))
    counted = bool(kinds & {NONRECURSIVE, RECURSIVE}) and settings.decomposed
    chosen: Chosen | None = (lambda rule: tree_key(rule) in trees) if counted else None

    def with_trees(chosen_settings: Settings, verdicts: Verdicts | None) -> Materialisation:
        found = compiled(chosen_settings, verdicts, chosen)
        if counted and (DECOMPOSED not in kinds or found.tree_keys() != trees):
            raise Unresumable(_OTHER_TREES)
        return found

    if BACKBONE not in kinds:
        return with_trees(without, None)

    def left_out_before(modules: Sequence[Module]) -> list[str | None]:
        """Whatever the facts are now, what was decided about modules when everything was computed is what was stored."""
        stored = (module_key(*module.identity) in kinds for module in modules)
        return [None if known else LEFT_OUT_BEFORE for known in stored]

    found = with_trees(settings, left_out_before)
    if found.fits(kinds):
        return found
    plain = with_trees(without, None)
    if any(head.startswith(NEGATED) for head in plain.heads()):
        raise Unresumable(_OTHER_MODULES)
    return plain
