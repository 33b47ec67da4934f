"""Patterns to solutions: the algebra of section 18.5, set at a time.

Every operator takes whole bags of solutions. Two things come down from above:

* the **setting**: the active graph, and what is bound around the pattern. That is nothing but inside of EXISTS, whose
  pattern is evaluated for each solution outside, and inside of GRAPH with a variable, for each graph. These are evaluated
  for all at once: every solution carries the number of the one outside, in a column of its own, and all operators keep
  that apart.
* **seeds**: solutions that the result will be joined with. A pattern may leave out what agrees with none of them, and is
  often found sooner with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Final

import numpy as np

from everlog import interrupts
from everlog.datalog.syntax import Call, Constant, Expression, Term, Variable, terms_of
from everlog.datalog.values import RDF_TYPE
from everlog.expressions.application import Function
from everlog.expressions.columns import Booleans, Column, Integers, Strings
from everlog.expressions.columns import terms_of as column_of_terms
from everlog.expressions.evaluation import evaluate, holds
from everlog.sparql.active_graph import ActiveGraph
from everlog.sparql.large_solutions import AnySolutions, LargeSolutions, can_spread, conjuncts
from everlog.sparql.path_search import Pairs, PathSearch
from everlog.sparql.query_expressions import ROW
from everlog.sparql.query_functions import query_functions
from everlog.sparql.query_groups import aggregate, groups_of
from everlog.sparql.query_limits import Limits
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.query_tree import (
    Basic,
    Distinct,
    Extend,
    Filter,
    Formula,
    Group,
    InGraph,
    Inline,
    Join,
    LeftJoin,
    Minus,
    Ordered,
    PathPattern,
    Pattern,
    Project,
    Slice,
    Union,
)
from everlog.sparql.solution_joins import Check, has_partner, join, merged, pairs
from everlog.sparql.solution_order import sorted_places
from everlog.sparql.solutions import NOTHING, UNBOUND, UNIT, Ids, Mask, Solutions, group_numbers, stacked
from everlog.sparql.variable_scopes import is_closed, mentioned

_SEEDS: Final = 1_000_000
"""Up to so many solutions are handed on as seeds."""


@dataclass(slots=True, eq=False)
class Setting:
    """Where a pattern is evaluated: the active graph, and what is bound around it."""

    graph: ActiveGraph
    around: Solutions | None = None
    """With the columns of `hidden`, and of variables that a pattern inside may mention."""
    hidden: tuple[Variable, ...] = ()
    """Columns that tell for which solution outside, or for which graph, a solution is one."""
    bound: frozenset[Variable] = frozenset()
    """Variables that are bound around it."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing around the pattern matters."""
        return self.around is None and not self.hidden


@dataclass
class Evaluation:
    """One query."""

    terms: QueryTerms
    limits: Limits
    _names: count[int] = field(default_factory=lambda: count(1))
    _rows: int = 0

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """Those that are the query's own: in one query it is always the same time."""
        return query_functions()

    def solve(self, pattern: Pattern, setting: Setting, seeds: Solutions | None = None) -> Solutions:
        """The solutions of a pattern, in this process."""
        return _here(self.found(pattern, setting, seeds))

    def found(
        self, pattern: Pattern, setting: Setting, seeds: Solutions | None = None, first: int | None = None
    ) -> AnySolutions:
        """The solutions of a pattern, perhaps elsewhere; if only the `first` ones are asked for, perhaps no others."""
        interrupts.look()
        found = self._solved(pattern, setting, seeds, first)
        if isinstance(found, Solutions):
            self.limits.check(found)
        return found

    def _solved(self, pattern: Pattern, setting: Setting, seeds: Solutions | None, first: int | None) -> AnySolutions:
        match pattern:
            case Basic():
                return self._basic(pattern, setting, seeds)
            case Project(inner, variables):
                inside = _projected(setting, variables)
                found = self.found(inner, inside, _restricted(seeds, variables), first)
                if isinstance(found, Solutions):
                    return found.project((*variables, *inside.hidden))
                return found.projected(variables) if variables else Solutions(found.number(), {})
            case PathPattern():
                return self._within(setting, self._path(pattern, setting, seeds))
            case Inline(variables, rows):
                values = [[None if term is None else term.value for term in row] for row in rows]
                columns = {
                    variable: self.terms.encode([row[at] for row in values]) for at, variable in enumerate(variables)
                }
                return self._within(setting, Solutions(len(rows), columns))
            case Join():
                return self._join(pattern, setting, seeds)
            case LeftJoin(left, right, condition):
                return self._left_join(left, right, condition, setting, seeds)
            case Union(patterns):
                return self._union([self.found(one, setting, seeds) for one in patterns], setting)
            case Minus(left, right):
                return self._minus(left, right, setting, seeds)
            case Filter(inner, condition):
                return self._filtered(self.found(inner, setting, seeds), condition, setting)
            case Extend(inner, variable, formula):
                return self._extended(inner, variable, formula, setting, seeds)
            case InGraph(name, inner):
                return self._in_graph(name, inner, setting, seeds)
            case Group():
                return self._grouped(pattern, setting)
            case Ordered(inner, keys):
                found = self.found(inner, setting)
                if not isinstance(found, Solutions) and first is not None and all(can_spread(one) for one, _ in keys):
                    found = found.least(keys, first)
                return self.ordered(_here(found), keys, setting)
            case Distinct(inner):
                return self.found(inner, setting, seeds).distinct()
            case Slice(inner, offset, limit):
                last = None if limit is None else offset + limit
                found = self.found(inner, setting, first=last)
                if not isinstance(found, Solutions) and last is not None:
                    found = found.first(last)
                return _sliced(_here(found), offset, limit, setting)

    def _basic(self, pattern: Basic, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        if not pattern.triples:
            return self._within(setting, UNIT)
        spread = setting.graph.spread(pattern) if self.terms.grows and setting.is_plain else None
        return self._within(setting, setting.graph.matches(pattern, seeds)) if spread is None else spread

    def _within(self, setting: Setting, found: Solutions) -> Solutions:
        """The solutions of a leaf, with what is bound around it."""
        return found if setting.around is None else self._joined(setting.around, found)

    # ------------------------------------------------------------------------------------ joins

    def _joined(self, left: Solutions, right: Solutions) -> Solutions:
        return join(left, right, self._check(left, right))

    def _check(self, left: Solutions, right: Solutions) -> Check:
        """Looks at the number of pairs before they are made."""
        return self.limits.of_columns(len(left.columns.keys() | right.columns.keys()))

    def _alike(
        self, found: AnySolutions, other: AnySolutions, setting: Setting
    ) -> tuple[LargeSolutions, LargeSolutions] | None:
        """Two bags, both elsewhere, if one of them is."""
        if isinstance(found, Solutions) and isinstance(other, Solutions):
            return None
        one, two = (setting.graph.facts.moved(some) if isinstance(some, Solutions) else some for some in (found, other))
        return one, two

    def _join(self, pattern: Join, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        left, right = pattern.left, pattern.right
        if isinstance(left, Basic) and isinstance(right, Basic):
            return self.found(Basic((*left.triples, *right.triples)), setting, seeds)
        if _rank(right) < _rank(left):
            left, right = right, left
        found, other = self._both(left, right, setting, seeds)
        large = self._alike(found, other, setting)
        return self._joined(_here(found), _here(other)) if large is None else large[0].joined(large[1])

    def _both(
        self, left: Pattern, right: Pattern, setting: Setting, seeds: Solutions | None
    ) -> tuple[AnySolutions, AnySolutions]:
        """The solutions of two patterns that are compared with each other."""
        found = _without_rows(self.found(left, setting, seeds))
        other = _without_rows(self.found(right, _beside(right, setting), _seeds(found)))
        bare = any(isinstance(some, Solutions) and not some.columns for some in (found, other))
        return (_here(found), _here(other)) if bare or not setting.is_plain else (found, other)

    def _left_join(
        self, left: Pattern, right: Pattern, condition: Formula | None, setting: Setting, seeds: Solutions | None
    ) -> AnySolutions:
        one, two = self._both(left, right, setting, seeds)
        large = self._alike(one, two, setting) if condition is None or can_spread(condition) else None
        if large is not None:
            return large[0].left_joined(large[1], condition)
        found, other = _here(one), _here(two)
        mine, others = pairs(found, other, self._check(found, other))
        both = merged(found, other, mine, others)
        if condition is not None:
            kept = np.flatnonzero(self._holds(condition, both, setting))
            both, mine = both.take(kept), mine[kept]
        alone = np.ones(found.length, np.bool_)
        alone[mine] = False
        return stacked([both, found.take(alone)]) if alone.any() else both

    def _minus(self, left: Pattern, right: Pattern, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        one, two = self._both(left, right, setting, seeds)
        large = self._alike(one, two, setting)
        if large is not None:
            return large[0].without_partner(large[1])
        found, other = _here(one), _here(two)
        return found.take(~has_partner(found, other, {*setting.hidden, *setting.bound}))

    def _union(self, parts: Sequence[AnySolutions], setting: Setting) -> AnySolutions:
        parts = [_without_rows(part) for part in parts]
        bare = any(isinstance(part, Solutions) and part.length and not part.columns for part in parts)
        if bare or all(isinstance(part, Solutions) for part in parts):
            return stacked([_here(part) for part in parts])
        move = setting.graph.facts.moved
        some = [part for part in parts if not isinstance(part, Solutions) or part.columns]
        one, *others = [move(part) if isinstance(part, Solutions) else part for part in some]
        return one.stacked(others) if others else one

    # ------------------------------------------------------------------------------------ expressions

    def _filtered(self, found: AnySolutions, condition: Formula, setting: Setting) -> AnySolutions:
        if not isinstance(found, Solutions):
            kept = self._kept_elsewhere(found, condition, setting)
            if kept is not None:
                return kept
        return self.kept(_here(found), condition, setting)

    def kept(self, found: Solutions, condition: Formula, setting: Setting | None = None) -> Solutions:
        """The solutions for which a condition holds; it has no patterns unless there is a setting."""
        return found.take(self._holds(condition, found, setting)) if found.length else found

    def _kept_elsewhere(self, found: LargeSolutions, condition: Formula, setting: Setting) -> AnySolutions | None:
        """The same where there are many, part by part of the condition; None if a part is not for there."""
        patterns = dict(condition.exists)
        plain: list[Expression] = []
        asked: list[tuple[Pattern, bool]] = []
        for part in conjuncts(condition.expression):
            negative = isinstance(part, Call) and part.function == "!"
            inner = part.arguments[0] if isinstance(part, Call) and negative else part
            if isinstance(inner, Variable) and inner in patterns:
                asked.append((patterns[inner], negative))
            elif patterns.keys().isdisjoint(terms_of(part)) and can_spread(Formula(part)):
                plain.append(part)
            else:
                return None
        for pattern, _ in asked:
            if not is_closed(pattern) or not found.open.isdisjoint(mentioned(pattern)):
                return None
        for part in plain:
            found = found.filtered(Formula(part))
        for pattern, negative in asked:
            inside = self.found(pattern, setting)
            if isinstance(inside, Solutions) and not inside.columns:
                return self.kept(found.fetched(), condition, setting)
            large = setting.graph.facts.moved(inside) if isinstance(inside, Solutions) else inside
            found = found.with_partner(large, negative)
        return found

    def _extended(
        self, inner: Pattern, variable: Variable, formula: Formula, setting: Setting, seeds: Solutions | None
    ) -> AnySolutions:
        found = self.found(inner, setting, None if seeds is None else seeds.without((variable,)))
        if not isinstance(found, Solutions) and can_spread(formula) and variable not in found.variables:
            return found.extended(variable, formula)
        return self.with_values(_here(found), variable, formula, setting)

    def with_values(
        self, found: Solutions, variable: Variable, formula: Formula, setting: Setting | None = None
    ) -> Solutions:
        """Solutions with what an expression computes of each."""
        if ROW in terms_of(formula.expression) and ROW not in found.columns:
            found = found.extended(ROW, self._rows + np.arange(found.length))
            self._rows += found.length
        ids = self.terms.ids(self._values(formula, found, setting))
        if variable in found.columns:  # bound around an EXISTS
            known = found.columns[variable]
            agreed = (known == UNBOUND) | (ids == UNBOUND) | (known == ids)
            return found.extended(variable, np.where(known == UNBOUND, ids, known)).take(agreed)
        return found.extended(variable, ids)

    def ordered(
        self, found: Solutions, keys: Sequence[tuple[Formula, bool]], setting: Setting | None = None
    ) -> Solutions:
        """Solutions in an order."""
        by = [(self._values(formula, found, setting), greatest) for formula, greatest in keys]
        return found.take(sorted_places(by, found.length))

    def _holds(self, condition: Formula, found: Solutions, setting: Setting | None) -> Mask:
        return holds(self._values(condition, found, setting)) if found.length else np.zeros(0, np.bool_)

    def _values(self, formula: Formula, found: Solutions, setting: Setting | None) -> Column:
        """The values of an expression in each solution."""
        if not found.length:
            return column_of_terms([])
        columns: dict[Variable, Column] = {}
        patterns = dict(formula.exists)
        expression = self._with_texts(formula.expression, found, columns)
        for variable in {term for term in terms_of(expression) if isinstance(term, Variable)}:
            if variable in columns:
                continue
            if variable in patterns and setting is not None:
                columns[variable] = Booleans(self._exists(patterns[variable], found, setting))
            elif variable == ROW:
                column = found.columns.get(ROW)
                columns[variable] = Integers(np.arange(found.length) if column is None else column)
            elif variable in found.columns:
                columns[variable] = self.terms.column(found.columns[variable])
        return evaluate(expression, columns, found.length, self.functions)

    def _with_texts(self, expression: Expression, found: Solutions, columns: dict[Variable, Column]) -> Expression:
        """An expression in which `STR` of a variable is a column of texts, where it has IRIs: no term is made of them."""
        if not isinstance(expression, Call):
            return expression
        argument = expression.arguments[0] if expression.function == "STR" else None
        if isinstance(argument, Variable) and argument in found.columns:
            name = Variable(f"#text of {argument.name}")
            if name not in columns and (texts := self.terms.iri_texts(found.columns[argument])) is not None:
                columns[name] = Strings(texts)
            return name if name in columns else expression
        inner = tuple(self._with_texts(one, found, columns) for one in expression.arguments)
        return Call(expression.function, inner)

    def _exists(self, pattern: Pattern, found: Solutions, setting: Setting) -> Mask:
        """For which solutions a pattern has one, once their values are put into it."""
        outside = found.without((ROW,))
        shared = [variable for variable in outside.columns if variable in mentioned(pattern)]
        if is_closed(pattern) and not any((outside.columns[key] == UNBOUND).any() for key in shared):
            inside = self.solve(pattern, _beside(pattern, setting), _seeds(outside.project(shared)))
            return has_partner(outside, inside)
        keys = [*shared, *(name for name in setting.hidden if name not in shared)]
        columns = [outside.column(key) for key in keys]
        numbers, some = group_numbers(columns, outside.length)
        number = Variable(f"#outside{next(self._names)}")
        around = Solutions(len(some), {key: column[some] for key, column in zip(keys, columns, strict=True)})
        around = around.extended(number, np.arange(len(some)))
        inside_setting = Setting(setting.graph, around, (*setting.hidden, number), setting.bound | frozenset(shared))
        solved = self.solve(pattern, inside_setting)
        there = np.zeros(len(some), np.bool_)
        there[solved.column(number)] = True
        return there[numbers]

    # ------------------------------------------------------------------------------------ graphs and paths

    def _in_graph(self, name: Term, inner: Pattern, setting: Setting, seeds: Solutions | None) -> Solutions:
        if isinstance(name, Constant):
            if not _names_graph(inner) and not np.isin(self.terms.constant(name.value), setting.graph.names()).any():
                return NOTHING.project(setting.hidden)
            return self.solve(inner, replace(setting, graph=setting.graph.called(name)), seeds)
        hidden = Variable(f"#graph{next(self._names)}")
        graph = setting.graph.called(hidden)
        around = setting.around
        if around is not None or not _names_graph(inner):
            names = graph.names()
            around = join(around or UNIT, Solutions(len(names), {hidden: names}))
        inside = replace(setting, graph=graph, around=around, hidden=(*setting.hidden, hidden))
        found = self.solve(inner, inside, _renamed(seeds, name, hidden))
        ids = found.column(hidden)
        rest = found.without((hidden,))
        if name not in rest.columns:
            return rest.extended(name, ids)
        known = rest.columns[name]
        return rest.extended(name, ids).take((known == UNBOUND) | (known == ids))

    def _path(self, pattern: PathPattern, setting: Setting, seeds: Solutions | None) -> Solutions:
        graph = setting.graph
        if not isinstance(graph.name, Variable):
            return self._path_in(pattern, graph, seeds)
        parts = [Solutions(0, {variable: np.zeros(0, np.int64) for variable in (graph.name,)})]
        names = graph.names()
        for name, value in zip(names, self.terms.values(names), strict=True):
            assert value is not None
            found = self._path_in(pattern, graph.called(Constant(value)), seeds)
            parts.append(found.extended(graph.name, np.full(found.length, name, np.int64)))
        return stacked(parts)

    def _path_in(self, pattern: PathPattern, graph: ActiveGraph, seeds: Solutions | None) -> Solutions:
        starts, ends = self._end(pattern.subject, seeds), self._end(pattern.object, seeds)
        constant = isinstance(pattern.subject, Constant) or isinstance(pattern.object, Constant)
        if isinstance(pattern.subject, Constant):
            ends = None
        elif isinstance(pattern.object, Constant):
            starts = None
        found = PathSearch(graph).pairs(pattern.path, starts, ends, constant)
        return _path_solutions(pattern, found, self._end(pattern.subject, None), self._end(pattern.object, None))

    def _end(self, term: Term, seeds: Solutions | None) -> Ids | None:
        """What is known of an end of a path."""
        if isinstance(term, Constant):
            return self.terms.constant(term.value)
        if seeds is None or term not in seeds.columns:
            return None
        known = seeds.columns[term]
        return None if (known == UNBOUND).any() else known

    # ------------------------------------------------------------------------------------ groups

    def _grouped(self, pattern: Group, setting: Setting) -> Solutions:
        found = _without_rows(self.found(pattern.pattern, setting))
        if not isinstance(found, Solutions) and all(can_spread(one) for some in pattern.arguments for one in some):
            groups = found.grouped(pattern).fetched()
            return groups if groups.length or pattern.keys else self.groups(NOTHING, pattern, setting)
        return self.groups(_here(found), pattern, setting)

    def groups(self, found: Solutions, pattern: Group, setting: Setting) -> Solutions:
        """The groups of some solutions, with what aggregates say of them."""
        keys = (*setting.hidden, *pattern.keys)
        always = None
        if not pattern.keys:
            around = UNIT if setting.around is None else setting.around
            if setting.hidden and setting.around is None:
                names = setting.graph.names()
                around = Solutions(len(names), {setting.hidden[-1]: names})
            always = around.project(setting.hidden)
            always = always.distinct() if setting.hidden else always
        numbers, groups = groups_of(found, keys, always)
        for aggregation, arguments in zip(pattern.aggregations, pattern.arguments, strict=True):
            argument: Column | Ids | None = None
            if arguments:
                expression = arguments[0].expression
                if aggregation.function == "COUNT" and isinstance(expression, Variable) and not arguments[0].exists:
                    argument = found.column(expression)
                else:
                    argument = self._values(arguments[0], found, setting).widened(found.length)
            column = aggregate(aggregation, self.terms, found, numbers, groups.length, argument)
            groups = groups.extended(aggregation.result, self.terms.ids(column.widened(groups.length)))
        return groups


# ------------------------------------------------------------------------------------ settings and seeds


def _beside(pattern: Pattern, setting: Setting) -> Setting:
    """The setting of a pattern that is joined with one that has what is bound around both."""
    return replace(setting, around=None, hidden=()) if setting.around is not None and is_closed(pattern) else setting


def _projected(setting: Setting, variables: tuple[Variable, ...]) -> Setting:
    """The setting inside of a subquery, which sees the variables that it projects alone."""
    if setting.around is None:
        return setting
    seen = [name for name in setting.around.columns if name in variables or name in setting.hidden]
    return replace(setting, around=setting.around.project(seen), bound=setting.bound & frozenset(variables))


def _path_solutions(pattern: PathPattern, found: Pairs, start: Ids | None, end: Ids | None) -> Solutions:
    """Pairs as solutions, those with the start and the end that are given."""
    kept = np.ones(len(found.starts), np.bool_)
    columns: dict[Variable, Ids] = {}
    for term, ids, known in ((pattern.subject, found.starts, start), (pattern.object, found.ends, end)):
        if known is not None:
            kept &= ids == known[0]
        elif isinstance(term, Variable) and term in columns:
            kept &= ids == columns[term]
        elif isinstance(term, Variable):
            columns[term] = ids
    return Solutions(len(kept), columns).take(kept)


def _seeds(found: AnySolutions) -> Solutions | None:
    return found if isinstance(found, Solutions) and found.length <= _SEEDS else None


def _here(found: AnySolutions) -> Solutions:
    """Solutions in this process."""
    return found if isinstance(found, Solutions) else found.fetched()


def _without_rows(found: AnySolutions) -> AnySolutions:
    return found.without((ROW,)) if isinstance(found, Solutions) else found


def _restricted(seeds: Solutions | None, variables: tuple[Variable, ...]) -> Solutions | None:
    return None if seeds is None else seeds.project(name for name in seeds.columns if name in variables)


def _renamed(seeds: Solutions | None, name: Variable, hidden: Variable) -> Solutions | None:
    if seeds is None or name not in seeds.columns:
        return seeds
    return seeds.extended(hidden, seeds.columns[name]).without((name,))


def _rank(pattern: Pattern) -> int:
    """Which of two patterns to evaluate first: the one that is likely to have fewer solutions.

    What is given comes before what is about something given, such as a path that ends there.
    """
    match pattern:
        case Inline():
            return 0
        case Basic(triples):
            return 1 if any(_is_about_something(*triple) for triple in triples) else 2
        case PathPattern(subject, _, target):
            return 1 if isinstance(subject, Constant) or isinstance(target, Constant) else 3
        case Join(left, right):
            return min(_rank(left), _rank(right))
        case Union(patterns):
            return max(map(_rank, patterns))
        case LeftJoin(left, _, _) | Minus(left, _):
            return _rank(left)
        case Filter(inner, _) | Extend(inner, _, _) | InGraph(_, inner) | Project(inner, _) | Distinct(inner):
            return _rank(inner)
        case _:
            return 2


def _is_about_something(subject: Term, verb: Term, target: Term) -> bool:
    """Whether a triple is about a given thing; a class is none, since it may have many members."""
    is_class = isinstance(verb, Constant) and verb.value == RDF_TYPE
    return isinstance(subject, Constant) or (isinstance(target, Constant) and not is_class)


def _names_graph(pattern: Pattern) -> bool:
    """Whether every solution of a pattern tells by itself in which graph it is one."""
    match pattern:
        case Basic(triples):
            return bool(triples)
        case PathPattern():
            return True
        case Join(left, right):
            return _names_graph(left) and _names_graph(right)
        case Union(patterns):
            return all(map(_names_graph, patterns))
        case LeftJoin(left, right, _) | Minus(left, right):
            return _names_graph(left) and _names_graph(right)
        case Filter(inner, condition):
            return _names_graph(inner) and not condition.exists
        case Extend(inner, _, _):
            return _names_graph(inner)
        case _:
            return False


def _sliced(found: Solutions, offset: int, limit: int | None, setting: Setting) -> Solutions:
    if not setting.hidden:
        return found.take(slice(offset, None if limit is None else offset + limit))
    # Each solution outside has its own first ones.
    numbers, some = group_numbers([found.columns[name] for name in setting.hidden], found.length)
    order = np.argsort(numbers, kind="stable")
    sizes = np.bincount(numbers, minlength=len(some))
    ranks = np.empty(found.length, np.int64)
    ranks[order] = np.arange(found.length) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return found.take((ranks >= offset) & (ranks < (np.inf if limit is None else offset + limit)))
