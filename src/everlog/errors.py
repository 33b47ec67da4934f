"""The one family of errors that users see. A message says what is wrong, where, and what to do."""

from __future__ import annotations


class EverlogError(Exception):
    """Every mistake that a user can make or mend."""

    exit_code = 2
    """What the command line exits with."""


class SyntaxMistake(EverlogError):
    """A program that cannot be read; the message starts with `file:line:column`."""


class UnsafeRule(EverlogError):
    """A rule with a variable that no positive atom binds."""


class NotStratifiable(EverlogError):
    """A program with a cycle through negation."""


class ArityMistake(EverlogError):
    """A predicate used with two arities, or a row of the wrong length."""


class UnsupportedValue(EverlogError):
    """A value that is none of str, int, float, bool and the RDF terms."""


class Failure(EverlogError):
    """Something that no user did: a full disk, a Spark job that died."""

    exit_code = 1
