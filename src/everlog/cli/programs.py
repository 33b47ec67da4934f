"""Rule files as one program: the union of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from everlog.datalog.arities import check_arities
from everlog.datalog.reader import parse_program
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Program, Rule
from everlog.errors import EverlogError


def read_programs(paths: Sequence[Path]) -> Program:
    """The union of the programs in files."""
    return united([parse_program(_text(path), str(path)) for path in paths])


def united(programs: Sequence[Program]) -> Program:
    """The union of programs. A prefix that two of them declare means in goals what the first one says."""
    rules: dict[Rule, Rule] = {}
    for rule in (rule for program in programs for rule in program.rules):
        rules.setdefault(canonical_rule(rule), rule)
    prefixes: dict[str, str] = {}
    for program in reversed(programs):
        prefixes |= program.prefixes
    facts = dict.fromkeys(fact for program in programs for fact in program.facts)
    union = Program(tuple(rules.values()), tuple(facts), MappingProxyType(prefixes))
    check_arities(union)
    return union


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as mistake:
        raise EverlogError(f"{path}: not UTF-8 text (byte {mistake.start}); is this a rule file?") from None
    except OSError as mistake:
        raise EverlogError(f"{path}: {mistake.strerror}") from None
