"""`everlog ontology`: what an ontology says, what rules keep of it, and which of its classes can have no instances."""

from __future__ import annotations

import typer

from everlog.cli import ontologies
from everlog.cli.ontology_rules import OntologyArguments
from everlog.cli.outcome import warn
from everlog.wording import counted


def ontology(files: OntologyArguments, profile: ontologies.ProfileOption = "L") -> None:
    """Show what an ontology holds, what becomes of it as a program, and its unsatisfiable classes.

    A class is unsatisfiable if an instance of it would contradict the axioms. Whatever the profile, those that are shown
    are such in OWL; the assertions about individuals play no part.

    `everlog rules` prints the program, with the axioms that the profile drops or approximates.
    """
    from everlog.datalog.printer import print_term
    from everlog.datalog.syntax import Constant
    from everlog.knowledge.ontology import ontology as read_ontology

    read = read_ontology(*files, profile=profile)
    warn(list(read.warnings))
    what = f"{counted(len(read.rules), 'rule')}, {counted(len(read.facts), 'fact')}"
    left_out = counted(len({remark.axiom for remark in read.left_out}), "axiom")
    typer.echo(f"{counted(len(read.source.axioms), 'axiom')}")
    typer.echo(f"profile {profile}: {what}; {left_out} dropped or approximated")
    found = read.unsatisfiable()
    typer.echo(f"unsatisfiable: {counted(len(found), 'class', 'classes')}")
    prefixes = {**read.declared_prefixes, **read.prefixes}
    for iri, axioms in found.items():
        typer.echo(f"  {print_term(Constant(iri), prefixes)}: an instance would contradict {'; '.join(axioms)}")
