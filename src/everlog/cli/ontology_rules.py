"""`everlog rules`: an ontology as a rule file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everlog.cli import ontologies
from everlog.cli.outcome import warn

OntologyArguments = Annotated[
    list[Path],
    typer.Argument(
        metavar="ONTOLOGY",
        help="OWL 2 in RDF/XML, Turtle, OWL/XML or functional syntax; several files are one ontology.",
        show_default=False,
    ),
]


def rules(
    ontology: OntologyArguments,
    profile: ontologies.ProfileOption = "L",
    owl_thing: ontologies.ThingOption = False,
    sameas_rules: ontologies.EqualityRulesOption = False,
    with_schema: ontologies.SchemaOption = False,
    complete: ontologies.CompleteOption = False,
    all_pairs: ontologies.AllPairsOption = False,
) -> None:
    """Print the rules that an ontology becomes, each below its axiom; they can be edited and loaded.

    What the profile drops or approximates stands at the end, with the reasons.
    """
    from everlog.knowledge.ontology import ontology as read_ontology
    from everlog.rdf.owl.printing import print_translation

    read = read_ontology(
        *ontology,
        profile=profile,
        owl_thing=owl_thing,
        sameas_rules=sameas_rules,
        with_schema=with_schema,
        complete=complete,
        all_pairs=all_pairs,
    )
    names = ", ".join(path.name for path in ontology)
    typer.echo(print_translation(read.translation, f"{names}, profile {profile}"), nl=False)
    warn(list(read.warnings))
