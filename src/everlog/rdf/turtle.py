"""Terms as Turtle writes them, from N-Triples: with prefixes and short literals."""

from __future__ import annotations

import re
from collections.abc import Mapping

from everlog.datalog.prefixes import LOCAL_NAME, WELL_KNOWN
from everlog.datalog.values import RDF_TYPE, XSD

_SHORT = {
    "integer": re.compile(r"0|-?[1-9][0-9]{0,17}"),
    "decimal": re.compile(r"-?[0-9]{1,17}\.[0-9]{1,17}"),
    "double": re.compile(r"-?[0-9]{1,17}\.[0-9]{1,17}E-?[0-9]{1,3}"),
    "boolean": re.compile(r"true|false"),
}
"""The literals that are written without quotes, by their datatypes: those that no reader changes."""
_TYPED = re.compile(r'"(?P<text>.*)"\^\^<(?P<datatype>[^<>]*)>', re.DOTALL)
_ALWAYS = ("owl", "rdf", "rdfs", "xsd")


def turtle_prefixes(prefixes: Mapping[str, str]) -> dict[str, str]:
    """The prefixes that a document declares: those of OWL, and given ones."""
    return dict(sorted({**{name: WELL_KNOWN[name] for name in _ALWAYS}, **prefixes}.items()))


def turtle_header(prefixes: Mapping[str, str]) -> str:
    """The declarations of prefixes."""
    return "".join(f"@prefix {name}: <{namespace}> .\n" for name, namespace in prefixes.items())


class TurtleTerms:
    """N-Triples terms as Turtle writes them.

    >>> terms = TurtleTerms({"ex": "http://ex.org/"})
    >>> terms.term("<http://ex.org/a>"), terms.term("<http://ex.org/a/b>"), terms.predicate(str(RDF_TYPE))
    ('ex:a', '<http://ex.org/a/b>', 'a')
    """

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        # The longest namespace that fits leaves the shortest name.
        self._namespaces = sorted(prefixes.items(), key=lambda item: -len(item[1]))

    def term(self, text: str) -> str:
        """A term that is a subject or an object."""
        if text[0] == "<":
            return self._iri(text)
        typed = _TYPED.fullmatch(text) if text[-1] == ">" else None
        if typed is None:
            return text
        datatype = typed["datatype"]
        short = _SHORT.get(datatype.removeprefix(XSD)) if datatype.startswith(XSD) else None
        if short is not None and short.fullmatch(typed["text"]):
            return typed["text"]
        return f'"{typed["text"]}"^^{self._iri(f"<{datatype}>")}'

    def predicate(self, text: str) -> str:
        """A term that is a predicate."""
        return "a" if text == _TYPE else self._iri(text)

    def _iri(self, text: str) -> str:
        for name, namespace in self._namespaces:
            if text.startswith(namespace, 1) and LOCAL_NAME.fullmatch(text, len(namespace) + 1, len(text) - 1):
                return f"{name}:{text[len(namespace) + 1 : -1]}"
        return text


_TYPE = str(RDF_TYPE)
