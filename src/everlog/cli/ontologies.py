"""Ontologies on the command line: the options, the union with rule files, and contradictions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from everlog.cli.programs import read_programs
from everlog.datalog.syntax import Constant, Program
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from everlog.knowledge.base import KnowledgeBase
    from everlog.sources.read_facts import Read

SHOWN = 5
"""Remarks on a translation that a command repeats; `everlog rules` has them all."""

_REMARK = "profile "
_option = partial(typer.Option, rich_help_panel="Ontologies")

OntologyOption = Annotated[
    list[Path] | None,
    _option(
        metavar="FILE",
        help="An OWL 2 ontology, which becomes rules: RDF/XML, Turtle, OWL/XML or functional syntax. Several are one, "
        "and imports are found among them.",
    ),
]
Profile: TypeAlias = Literal["L", "U", "RL"]
_PROFILES = (
    "What becomes of axioms that are no rules: L drops them (sound), U approximates them (complete), RL keeps to the rules "
    "of OWL 2 RL."
)
ProfileOption = Annotated[Profile, _option(help=_PROFILES)]
ThingOption = Annotated[bool, _option("--owl-thing", help="Derive that individuals are of type owl:Thing.")]
EqualityRulesOption = Annotated[
    bool, _option("--sameas-rules", help="Add the rules eq-* of OWL 2 RL, which make owl:sameAs equality.")
]
SchemaOption = Annotated[
    bool,
    _option("--with-schema", help="Take the ontology's own triples as facts, with the rules scm-* of OWL 2 RL."),
]
CompleteOption = Annotated[
    bool,
    _option(
        "--complete",
        help="With --profile RL, all rules of OWL 2 RL/RDF, over axioms as facts, in ontologies or in --facts, with "
        "datatypes, equality and axiomatic triples.",
    ),
]
WantedProfileOption = Annotated[Profile | None, _option("--profile", show_default="L", help=_PROFILES)]
AllPairsOption = Annotated[
    bool,
    _option(
        "--all-pairs",
        help="With --complete, also what follows about every two terms of an ontology that has many, and about every way "
        "to write their literals.",
    ),
]
StoredProfileOption = Annotated[
    Profile | None,
    _option("--profile", help="As with init; by default what the store was made with, as with the next ones."),
]
StoredThingOption = Annotated[bool | None, _option("--owl-thing/--no-owl-thing", help="As with init.")]
StoredEqualityRulesOption = Annotated[bool | None, _option("--sameas-rules/--no-sameas-rules", help="As with init.")]
StoredSchemaOption = Annotated[bool | None, _option("--with-schema/--without-schema", help="As with init.")]
StoredCompleteOption = Annotated[bool | None, _option("--complete/--not-complete", help="As with init.")]
StoredAllPairsOption = Annotated[bool | None, _option("--all-pairs/--no-all-pairs", help="As with init.")]
NewOntologyOption = Annotated[
    list[Path] | None,
    _option(
        "--ontology",
        metavar="FILE",
        help="The ontology of the store as it is now, all of its files: axioms that are new become rules, and rules of "
        "axioms that are gone go.",
    ),
]
FailOnViolationOption = Annotated[
    bool,
    _option("--fail-on-violation", help="Fail if the facts contradict the ontology, or equalities what they say."),
]


def with_ontologies(
    programs: Sequence[Path] | None,
    ontologies: Sequence[Path] | None,
    profile: Profile | None,
    thing: bool,
    equality_rules: bool,
    schema: bool,
    complete: bool,
    all_pairs: bool,
    equality: str,
    shapes: Sequence[Path] | None,
) -> tuple[Program, list[str]]:
    """The program of rule files, ontologies and shapes together, and what to warn of."""
    if not programs and not ontologies and not complete and not shapes:
        raise EverlogError("there are no rules: give a PROGRAM, an ontology with --ontology, or shapes with --shapes")
    if not ontologies and not complete:
        refuse_idle(profile, thing or None, equality_rules or None, schema or None, all_pairs=all_pairs or None)
    profile = profile or "L"
    _refuse_incomplete(complete, all_pairs, profile, equality, "leave --equality out")
    from everlog.datalog.program_union import union
    from everlog.knowledge.ontology import ontology

    rules = read_programs(programs or ())
    if shapes:
        from everlog.knowledge.validation import shapes as shapes_of

        rules = union(rules, shapes_of(*shapes))
    if not ontologies and not complete:
        return rules, []
    read = ontology(
        *(ontologies or ()),
        profile=profile,
        owl_thing=thing,
        sameas_rules=equality_rules,
        with_schema=schema,
        complete=complete,
        all_pairs=all_pairs,
    )
    remarks = (f"{_REMARK}{profile}: {remark}" for remark in read.left_out)
    return union(rules, read), [*read.warnings, *remarks]


def refuse_idle(
    profile: Profile | None,
    thing: bool | None,
    equality_rules: bool | None,
    schema: bool | None,
    complete: bool | None = None,
    all_pairs: bool | None = None,
) -> None:
    """Refuses what says how an ontology is translated, if anything does: there is none to be translated."""
    names = {"profile": profile, "owl-thing": thing, "sameas-rules": equality_rules, "with-schema": schema}
    names |= {"complete": complete, "all-pairs": all_pairs}
    if given := [f"--{name}" for name, value in names.items() if value is not None]:
        say = "says" if len(given) == 1 else "say"
        raise EverlogError(
            f"{' and '.join(given)} {say} how an ontology becomes rules: give the ontology with --ontology"
        )


def _refuse_incomplete(complete: bool, all_pairs: bool, profile: str, equality: str, remedy: str) -> None:
    """Refuses what cannot go together with all of OWL 2 RL; the remedy is for equality."""
    if all_pairs and not complete:
        raise EverlogError("--all-pairs is about all of OWL 2 RL: give --profile RL and --complete, too")
    if complete and profile != "RL":
        raise EverlogError(f"--complete means all of OWL 2 RL, and the profile is {profile}: give --profile RL, too")
    if complete and equality != "off":
        raise EverlogError(
            "--complete has the rules of OWL 2 RL about equality itself, and others about names, of which rewriting "
            f"keeps one: {remedy}"
        )


def translation(
    profile: Profile, thing: bool, equality_rules: bool, schema: bool, complete: bool, all_pairs: bool
) -> dict[str, str | bool]:
    """How an ontology becomes rules, as a store keeps it."""
    said: dict[str, str | bool] = {"profile": profile, "owl_thing": thing, "sameas_rules": equality_rules}
    return {**said, "with_schema": schema, "complete": complete, "all_pairs": all_pairs}


def new_state(
    ontologies: Sequence[Path],
    known: Mapping[str, str | bool],
    profile: Profile | None,
    thing: bool | None,
    equality_rules: bool | None,
    schema: bool | None,
    complete: bool | None,
    all_pairs: bool | None,
    equality: str,
) -> tuple[Program, dict[str, Any], list[str]]:
    """The program of ontologies as they are now, how it was made, and what to warn of.

    They are translated as a store says that it `knows`, unless something else is asked for.
    """
    from everlog.knowledge.ontology import ontology

    asked: dict[str, Any] = {"profile": profile, "owl_thing": thing, "sameas_rules": equality_rules}
    asked |= {"with_schema": schema, "complete": complete, "all_pairs": all_pairs}
    how: dict[str, Any] = {**translation("L", False, False, False, False, False), **known}
    how |= {name: value for name, value in asked.items() if value is not None}
    remedy = f"make another store without --equality, which this one has ({equality})"
    _refuse_incomplete(how["complete"], how["all_pairs"], how["profile"], equality, remedy)
    read = ontology(*ontologies, **how)
    remarks = (f"{_REMARK}{how['profile']}: {remark}" for remark in read.left_out)
    return read, how, [*read.warnings, *remarks]


def shortened(messages: Sequence[str]) -> list[str]:
    """Messages for people: of the remarks on a translation only the first. `--stats` has them all."""
    remarks = [message for message in messages if message.startswith(_REMARK)]
    rest = remarks[SHOWN:]
    if not rest:
        return list(messages)
    more = f"{rest[0].split(':')[0]}: {len(rest):,} more axioms are dropped or approximated; `everlog rules` lists them all"
    left_out = set(rest[1:])
    return [more if message == rest[0] else message for message in messages if message not in left_out]


def axioms_among_facts(reads: Sequence[Read], program: Program, store: Path) -> list[str]:
    """What to warn of if there are axioms among the facts of an update; a store made of an ontology refuses them."""
    from everlog.datalog.violations import has_violation_rules
    from everlog.rdf.owl.axiom_triples import idle_axioms

    idle = [message for read in reads for message in idle_axioms(read.axioms, program)]
    if idle and has_violation_rules(program):
        given = f"`everlog export {shlex.quote(str(store))} --out DATA --explicit` writes the facts that the store has"
        raise EverlogError(f"{idle[0]}; {given}. Nothing was changed")
    return idle


def _a_name(program: Program) -> str:
    """A class or property in a rule's body, of no vocabulary that every ontology has."""
    terms = (term for rule in program.rules for atom in rule.positive for term in atom.terms[1:])
    names = (str(term.value) for term in terms if isinstance(term, Constant))
    return next((name for name in names if name.startswith("<") and "//www.w3.org/" not in name), "those in its rules")


@dataclass
class Contradictions:
    """What a knowledge base says against its ontology, found once it is materialised."""

    fatal: bool
    ontology: bool = False
    """Whether there is an ontology now, from which something should follow."""
    messages: list[str] = field(default_factory=list)

    def check(self, kb: KnowledgeBase) -> None:
        """Finds the violations; with `fatal`, raises what it finds."""
        if self.ontology and kb.size("triple") and not kb.size("triple", "derived"):
            self.messages.append(
                f"no triple follows from the facts: do they use the names of the ontology, such as {_a_name(kb.program)}?"
            )
        clashes, found = kb.clashes(), kb.contradictions()
        self.messages += found
        if self.fatal and found:
            lines = "\n  ".join(found)
            what = "the ontology" if len(found) > len(clashes) else "each other"
            raise EverlogError(f"the facts contradict {what}; nothing was written:\n  {lines}")
