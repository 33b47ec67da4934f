"""A place in the tokens of a program, and what may be said about them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from everlog.errors import SyntaxMistake
from everlog.souffle.souffle_tokens import Token

_OPENING: Final = "([{"
_CLOSING: Final = ")]}"


class NotConverted(Exception):
    """Something at a token that Everlog has no counterpart of."""

    def __init__(self, token: Token, what: str) -> None:
        super().__init__(what)
        self.token, self.what = token, what


class Cursor:
    """Goes through tokens one by one; the last is the end."""

    def __init__(self, tokens: Sequence[Token], source: str) -> None:
        self._tokens, self.source = tokens, source
        self.at = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self.at]

    @property
    def following(self) -> Token:
        """The token after the next."""
        return self._tokens[min(self.at + 1, len(self._tokens) - 1)]

    @property
    def before(self) -> Token:
        """The token before the next."""
        return self._tokens[self.at - 1]

    def take(self) -> Token:
        """The next token, which is left behind."""
        found = self.token
        self.at = min(self.at + 1, len(self._tokens) - 1)
        return found

    def is_sign(self, *signs: str) -> bool:
        """Whether one of some signs comes next."""
        return self.token.kind == "sign" and self.token.text in signs

    def skip(self, *signs: str) -> bool:
        """Leaves one of some signs behind, if one comes next."""
        return self.is_sign(*signs) and bool(self.take())

    def expect(self, sign: str) -> Token:
        """The sign that has to come next."""
        if not self.is_sign(sign):
            self.fail(f"'{sign}'")
        return self.take()

    def name(self, what: str) -> Token:
        """The name that has to come next."""
        if self.token.kind != "name":
            self.fail(what)
        return self.take()

    def balanced(self) -> None:
        """Leaves everything up to the bracket behind that closes the next one."""
        opening = self.token
        depth = 0
        while True:
            if self.token.kind == "end":
                raise self.mistake(opening, f"the bracket '{opening.text}' is never closed")
            token = self.take()
            if token.kind == "sign" and token.text in _OPENING:
                depth += 1
            elif token.kind == "sign" and token.text in _CLOSING:
                depth -= 1
            if depth == 0:
                return

    def to_dot(self) -> None:
        """Leaves the rest of a clause behind, with its dot."""
        while not self.is_sign("."):
            if self.token.kind == "end":
                self.fail("'.' at the end of the clause")
            if self.token.kind == "sign" and self.token.text in _OPENING:
                self.balanced()
            else:
                self.take()
            self.qualified()
        self.take()

    def is_relation(self) -> bool:
        """Whether the name of a relation comes next, or of a functor: `p(`, or `component.p`."""
        return self.token.kind == "name" and (self.following.text == "(" or self._is_inner_dot(self.at + 1))

    def qualified(self) -> bool:
        """Leaves `.name` behind, as often as it stands right after a name; gives whether it does."""
        found = False
        while self._is_inner_dot(self.at):
            self.take()
            self.take()
            found = True
        return found

    def _is_inner_dot(self, at: int) -> bool:
        """Whether a dot stands between two names."""
        if not 0 < at < len(self._tokens) - 1:
            return False
        before, dot, after = self._tokens[at - 1 : at + 2]
        adjacent = before.stop == dot.start and dot.stop == after.start
        return adjacent and dot.text == "." and before.kind == after.kind == "name"

    def fail(self, expected: str) -> NoReturn:
        """Raises a mistake at the next token."""
        found = "the end" if self.token.kind == "end" else f"'{self.token.text}'"
        raise self.mistake(self.token, f"expected {expected}, found {found}")

    def mistake(self, token: Token, what: str) -> SyntaxMistake:
        """A mistake at a token."""
        return SyntaxMistake(f"{self.source}:{token.line}:{token.column}: {what}")
