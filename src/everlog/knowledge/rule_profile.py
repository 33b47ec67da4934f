"""What the rules of a program took, for people: a table, a picture, and numbers for `--stats`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Final

from everlog.datalog.syntax import Program
from everlog.knowledge.rule_texts import RuleTexts, purpose
from everlog.reasoning.profiled import Work

_TOGETHER: Final = "rules without a module are measured by stratum, since Spark evaluates those of a stratum in one job"
_HEADS: Final = ("seconds", "derivations", "facts", "stratum", "rules")
_NO_MODULES: Final = ("negation", "steps", "aggregate", "groups", "minima", "equality")
_BAR: Final = 160
"""The width of the longest bar, in pixels."""


@dataclass(frozen=True)
class ProfileLine:
    """One rule, or several that were evaluated together.

    `kind` is that of the module that evaluates them, `negation` for what is joined to be negated, `steps` for
    what a module steps along, `aggregate` for what is
    joined to be aggregated, `groups` for what is made of that, `minima` for rules that keep the best facts, `equality` for
    rules that equality depends on where names are rewritten, and else empty.

    `derivations` are the rule instances considered. `facts` are those that came of them: new ones in a materialisation; in
    an update all that were found to come, to go, or to come back.
    """

    seconds: float
    derivations: int
    facts: int
    stratum: int
    kind: str
    rules: list[str]

    def named(self) -> list[str]:
        """The rules, and what evaluates them, as they are shown."""
        if not self.kind:
            return self.rules
        return [f"[{self.kind if self.kind in _NO_MODULES else f'module {self.kind}'}]", *self.rules]

    def cells(self) -> tuple[str, str, str, str]:
        """The numbers as they are shown."""
        return f"{self.seconds:.3f}", f"{self.derivations:,}", f"{self.facts:,}", str(self.stratum)


@dataclass(frozen=True, repr=False)
class Profile:
    """Lines in the order of their seconds, and the seconds of the strata, which have other work besides the rules'."""

    lines: list[ProfileLine]
    strata: dict[int, float]

    @property
    def remarks(self) -> list[str]:
        """What one should know about the numbers."""
        together = any(not line.kind and len(line.rules) > 1 for line in self.lines)
        return [_TOGETHER] if together else []

    def stats(self) -> dict[str, object]:
        """What `--stats` has under `profile`."""
        return {"rules": [asdict(line) for line in self.lines], "strata": self.strata}

    def __repr__(self) -> str:
        return "\n".join(self._text())

    def _text(self) -> Iterator[str]:
        rows = [_HEADS[:-1], *(line.cells() for line in self.lines)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rules = [[_HEADS[-1]], *(line.named() for line in self.lines)]
        for row, (first, *more) in zip(rows, rules, strict=True):
            yield "  ".join([*(text.rjust(width) for text, width in zip(row, widths, strict=True)), first])
            yield from (" " * (sum(widths) + 2 * len(widths)) + text for text in more)
        shown = ", ".join(f"{stratum}: {seconds:.3f}" for stratum, seconds in self.strata.items())
        yield f"seconds by stratum: {shown or 'none'}"
        yield from self.remarks

    def _repr_html_(self) -> str:
        """A notebook shows bars, the longest first; those of strata are below."""
        longest = max([0.0, *(line.seconds for line in self.lines), *self.strata.values()])
        heads = "".join(f"<th>{name}</th>" for name in ("", *_HEADS))
        rows = "".join(_row(line, longest) for line in self.lines)
        strata = "".join(
            f"<tr><td>{_bar(seconds, longest)}</td><td>{seconds:.3f}</td><td>stratum {stratum}</td></tr>"
            for stratum, seconds in self.strata.items()
        )
        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks)
        return f"<table><tr>{heads}</tr>{rows}</table><table>{strata}</table>{remarks}"

    def page(self) -> str:
        """The same as a page that needs nothing else."""
        style = (
            "body{font:14px sans-serif;margin:2em}td,th{padding:2px 10px;text-align:right;vertical-align:top}"
            "td:last-child,th:last-child{text-align:left}code{white-space:pre-wrap}"
        )
        title = "What the rules took"
        head = f'<meta charset="utf-8"><title>{title}</title><style>{style}</style>'
        body = f"<h1>{title}</h1>{self._repr_html_()}"
        return f"<!DOCTYPE html>\n<html><head>{head}</head><body>{body}</body></html>\n"


def profile_of(work: Sequence[Work], strata: Mapping[int, float], program: Program) -> Profile:
    """A profile of what was measured; rules that were never applied are left out."""
    texts = RuleTexts((rule for one in work for rule in one.rules), program)
    lines = []
    for one in work:
        if one.seconds:
            purposes = [purpose(rule) for rule in one.rules]
            kind = one.kind or (purposes[0] if len(set(purposes)) == 1 else "")
            rules = [
                f"[{what}] {texts.text(rule)}" if what and not kind else texts.text(rule)
                for rule, what in zip(one.rules, purposes, strict=True)
            ]
            lines.append(ProfileLine(one.seconds, one.derivations, one.facts, one.stratum, kind, rules))
    return Profile(lines, dict(strata))


def _row(line: ProfileLine, longest: float) -> str:
    numbers = "".join(f"<td>{text}</td>" for text in line.cells())
    rules = "<br>".join(f"<code>{escape(text)}</code>" for text in line.named())
    return f"<tr><td>{_bar(line.seconds, longest)}</td>{numbers}<td>{rules}</td></tr>"


def _bar(seconds: float, longest: float) -> str:
    width = _BAR * seconds / longest if longest else 0.0
    return f'<svg width="{_BAR}" height="12"><rect width="{width:.1f}" height="12" fill="#4477aa"></rect></svg>'
