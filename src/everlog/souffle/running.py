"""How a converted program is run: where its inputs are expected, and the command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_FOLDER: Final = "FACTS"
_SUFFIXES: Final = {"\t": "facts", ",": "csv"}


def advice(program: str, inputs: Mapping[str, Mapping[str, str]], outputs: Sequence[str]) -> list[str]:
    """Lines for people: the command for a program, and what there is to do about files before.

    >>> advice("p.dlog", {"edge": {"filename": "g.csv", "delimiter": ","}}, ["path"])
    ['everlog run p.dlog --facts FACTS --output path --out RESULTS', 'edge: copy g.csv to FACTS/edge.csv']
    """
    facts = f" --facts {_FOLDER}" if inputs else ""
    chosen = f" --output {shlex.quote(','.join(outputs))}" if outputs else ""
    return [f"everlog run {shlex.quote(program)}{facts}{chosen} --out RESULTS", *_files(inputs)]


def _files(inputs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for name, parameters in inputs.items():
        kind = parameters.get("io", "file")
        delimiter = parameters.get("delimiter", "\t")
        if kind not in ("file", "stdin"):
            yield f"{name}: it is read by IO={kind}; write its facts to {_FOLDER}/{name}.facts"
        elif delimiter not in _SUFFIXES:
            yield f"{name}: its fields are parted by {delimiter!r}; write them to {_FOLDER}/{name}.facts, with tabs"
        else:
            given = "standard input" if kind == "stdin" else parameters.get("filename", f"{name}.facts")
            place = f"{name}.{_SUFFIXES[delimiter]}"
            if given != place:
                yield f"{name}: copy {given} to {_FOLDER}/{place}"
