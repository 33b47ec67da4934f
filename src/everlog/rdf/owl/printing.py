"""A translation as a rule file that people read, edit and load: each rule below its axiom, at the end what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from everlog.datalog.prefixes import WELL_KNOWN
from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import Rule
from everlog.rdf.owl.profiles import Translation
from everlog.wording import counted


def print_translation(translation: Translation, title: str) -> str:
    """The text of a translation; the same ontology always gives the same text."""
    return "".join(f"{line}\n" for line in _lines(translation, title))


def _lines(translation: Translation, title: str) -> Iterator[str]:
    program = translation.program
    yield f"# {title}: {counted(len(program.rules), 'rule')}, {counted(len(program.facts), 'fact')}"
    text = "\n".join(print_rule(Rule(atom, ()), program.prefixes) for atom in program.facts)
    rules = [(print_rule(rule, program.prefixes), translation.origins[rule]) for rule in program.rules]
    used = "\n".join((text, *(rule for rule, _ in rules)))
    for name, namespace in sorted(program.prefixes.items()):
        if WELL_KNOWN.get(name) != namespace and f"{name}:" in used:
            yield f"@prefix {name}: <{namespace}> ."
    before: tuple[str, ...] = ()
    for rule, origins in rules:
        if origins != before:
            yield ""
            yield from (f"# {_one_line(origin)}" for origin in origins)
            before = origins
        yield rule
    if program.facts:
        yield ""
        yield "# assertions"
        yield from text.splitlines()
    if translation.remarks:
        yield ""
        yield f"# What this profile does not keep as it is ({len(translation.remarks):,}):"
        yield from (f"#   {_one_line(str(remark))}" for remark in translation.remarks)


def _one_line(text: str) -> str:
    return " ".join(text.split())
