"""Prefixes for namespaces that an ontology uses often and gives no prefix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from everlog.datalog.prefixes import WELL_KNOWN

_NAMESPACE = re.compile(r"(.*[#/:])[A-Za-z0-9_][A-Za-z0-9_.\-]*")
OFTEN = 3


def with_invented_prefixes(prefixes: Mapping[str, str], iris: Iterable[str]) -> dict[str, str]:
    """The prefixes and new ones, named after the ends of their namespaces.

    >>> with_invented_prefixes({}, ["http://a.org/univ-bench.owl#" + name for name in "ABC"])
    {'univbench': 'http://a.org/univ-bench.owl#'}
    """
    namespaces = Counter(match[1] for iri in iris if (match := _NAMESPACE.fullmatch(iri)))
    known = {*WELL_KNOWN.values(), *prefixes.values()}
    result = dict(prefixes)
    for namespace, times in sorted(namespaces.items()):
        if times >= OFTEN and namespace not in known:
            name = word = _word(namespace)
            number = 1
            while name in result or name in WELL_KNOWN:
                number += 1
                name = f"{word}{number}"
            result[name] = namespace
    return result


def _word(namespace: str) -> str:
    parts = [part for part in re.split(r"[#/:]", namespace) if part]
    last = parts[-1].rpartition(".")[0] or parts[-1] if parts else ""
    word = re.sub(r"\W", "", last, flags=re.ASCII)
    return word.lower() if word[:1].isalpha() else f"n{word}".lower()
