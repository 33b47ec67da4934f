"""`REGEX` and `REPLACE`: as pyoxigraph has them where that follows XPath, and as XPath says elsewhere."""

from __future__ import annotations

from itertools import product

import pytest

from everlog.datalog.syntax import Variable
from everlog.datalog.values import Value
from everlog.expressions.columns import column_of
from everlog.expressions.evaluation import evaluate
from oracles.sparql_oracle import pyoxigraph_values
from support.expression_values import call, tagged

TEXTS: list[Value] = [
    "",
    "a",
    "abc",
    "ABC",
    "a\nb",
    "a b",
    "a.b",
    "aab 12",
    "É",
    "x-y",
    "[a]",
    "a$",
    tagged("abc", "en"),
    1,
]
PATTERNS: list[Value] = [
    *(
        "",
        "a",
        "^a",
        "c$",
        "^abc$",
        "a.b",
        "^b",
        r"\.",
        "[a-c]+",
        "[^a-c]",
        r"\d+",
        r"\s",
        r"\w\w",
        "a{2}",
        "a{1,}",
        "a{1,2}?",
    ),
    *(
        "(a|b)c",
        "(?:a)b",
        r"\bb",
        r"\$$",
        "[.]",
        "[a-]",
        "[-a]",
        r"[\[\]]",
        r"\p{Lu}",
        r"\P{L}",
        r"[\p{Nd}x]",
        "a b",
        "é",
    ),
    *("(", ")", "[", "a{", "*a", "(?=a)", "(?<!a)", r"\q", r"\p{Xx}", "a{3,2}"),
]
FLAGS: list[Value] = ["", "i", "s", "m", "x", "q", "im", "z", tagged("i", "en")]
X, Y, Z = Variable("x"), Variable("y"), Variable("z")


def test_patterns_as_pyoxigraph_has_them() -> None:
    rows = list(product(TEXTS, PATTERNS, FLAGS))
    columns = {one: column_of([row[place] for row in rows]) for place, one in enumerate((X, Y, Z))}
    matched = call("REGEX", X, Y, Z)
    (expected,) = pyoxigraph_values([matched], [X, Y, Z], rows)
    ours = evaluate(matched, columns, len(rows)).values()
    assert [(row, one) for row, one, other in zip(rows, ours, expected, strict=True) if one != other] == []


def test_replacements_as_pyoxigraph_has_them() -> None:
    rows = list(
        product(TEXTS, ["b", "a.b", "[a-c]", "(a)(b)", "(", r"\.", "A"], ["", "-", "$0$0", "<$1>", "$2 $1"], ["", "i"])
    )
    columns = {one: column_of([row[place] for row in rows]) for place, one in enumerate((X, Y, Z, Variable("f")))}
    replaced = call("REPLACE", X, Y, Z, Variable("f"))
    (expected,) = pyoxigraph_values([replaced], [X, Y, Z, Variable("f")], rows)
    ours = evaluate(replaced, columns, len(rows)).values()
    assert [(row, one, other) for row, one, other in zip(rows, ours, expected, strict=True) if one != other] == []


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "matches"),
    [
        ("abc\n", "c$", "", False),
        ("a#b", "a#b", "x", True),
        ("a b", "a[ ]b", "x", True),
        ("hello", "^[a-z-[aeiou]]", "", True),
        ("ello", "^[a-z-[aeiou]]", "", False),
        ("b1", r"^[\p{L}-[a]]\p{Nd}$", "", True),
        ("é", r"^[^\P{L}]$", "", True),
        ("abab", r"^(ab)\1$", "", True),
        ("aa", "a++", "", None),
        ("a", "a{,2}", "", None),
        ("a", "[]a]", "", None),
        ("a", "[[a]]", "", None),
        ("a", "(?P<n>a)", "", None),
        ("a", "(?i)A", "", None),
        ("a", "}", "", None),
        ("a", "a{99999999999999}", "", None),
    ],
)
def test_patterns_as_xpath_has_them(text: str, pattern: str, flags: str, matches: bool | None) -> None:
    assert evaluate(call("REGEX", text, pattern, flags), {}, 1).values() == [matches]


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "replaced"),
    [
        ("abcd", "b", "Z", "aZcd"),
        ("abab", "B", "Z", "abab"),
        ("abracadabra", "bra", "*", "a*cada*"),
        ("abracadabra", "a.*?a", "*", "*c*bra"),
        ("abracadabra", "a(.)", "a$1$1", "abbraccaddabbra"),
        ("abracadabra", ".*?", "$1", None),
        ("AAAA", "A+?", "b", "bbbb"),
        ("abc", "(b)", "$12", "ab2c"),
        ("abc", "(b)", "$2", "ac"),
        ("abc", "b|(x)", "<$1>", "a<>c"),
        ("abc", "b", r"\$\\", "a$\\c"),
        ("abc", "b", "$", None),
        ("abc", "b", r"\n", None),
        ("abc", "x*", "-", None),
    ],
)
def test_replacements_as_xpath_has_them(text: str, pattern: str, replacement: str, replaced: str | None) -> None:
    assert evaluate(call("REPLACE", text, pattern, replacement), {}, 1).values() == [replaced]


def test_a_replacement_of_a_quoted_pattern_is_quoted_too() -> None:
    assert evaluate(call("REPLACE", "a.c", ".", "$0", "q"), {}, 1).values() == ["a$0c"]
