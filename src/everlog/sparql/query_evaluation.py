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

from collections.abc import Callable, Mapping, Sequence
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
from everlog.sparql.large_paths import is_large, large_pairs
from everlog.sparql.large_solutions import AnySolutions, LargeSolutions, can_spread, conjuncts
from everlog.sparql.path_search import FROM, TO, Pairs, PathSearch
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
_TRIED: Final = 10_000
_TRIED_TIMES: Final = 20
"""Where a few solutions that pass are enough, they are first looked for among so many, or so many times as many."""


@dataclass(slots=True, eq=False)
class Setting:
    """Where a pattern is evaluated: the active graph, and what is bound around it."""

    graph: ActiveGraph
    around: AnySolutions | None = None
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
        """The solutions of a pattern, perhaps elsewhere; if only the `first` ones are asked for, at least so many of them.

        If there are fewer, they are all.
        """
        interrupts.look()
        found = self._solved(pattern, setting, seeds, first)
        if isinstance(found, Solutions):
            self.limits.check(found)
        return found

    def _solved(self, pattern: Pattern, setting: Setting, seeds: Solutions | None, first: int | None) -> AnySolutions:
        match pattern:
            case Basic():
                return self._basic(pattern, setting, seeds, first)
            case Project(inner, variables):
                inside = _projected(setting, variables)
                found = self.found(inner, inside, _restricted(seeds, variables), first)
                return _project(found, (*variables, *inside.hidden))
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
                return self._left_join(left, right, condition, setting, seeds, first)
            case Union(patterns):
                return self._union([self.found(one, setting, seeds, first) for one in patterns], setting)
            case Minus(left, right):
                return self._minus(left, right, setting, seeds)
            case Filter(inner, condition):
                return self._sifted(
                    inner, setting, seeds, first, lambda found: self._filtered(found, condition, setting)
                )
            case Extend(inner, variable, formula):
                return self._extended(inner, variable, formula, setting, seeds, first)
            case InGraph(name, inner):
                return self._in_graph(name, inner, setting, seeds)
            case Group():
                return self._grouped(pattern, setting)
            case Ordered(inner, keys):
                found = self.found(inner, setting)
                by = [one for one, _ in keys]
                if not isinstance(found, Solutions) and first is not None and all(_is_plain(one) for one in by):
                    found = found.least(keys, first)
                return self.ordered(_here(found), keys, setting)
            case Distinct(inner):
                return self._sifted(inner, setting, seeds, first, lambda found: found.distinct())
            case Slice(inner, offset, limit):
                # Inside of EXISTS and GRAPH, each solution outside has its own first ones.
                last = None if limit is None or not setting.is_plain else offset + limit
                found = self.found(inner, setting, first=last)
                if not isinstance(found, Solutions) and last is not None:
                    found = found.first(last)
                return _sliced(_here(found), offset, limit, setting)

    def _sifted(
        self,
        inner: Pattern,
        setting: Setting,
        seeds: Solutions | None,
        first: int | None,
        sift: Callable[[AnySolutions], AnySolutions],
    ) -> AnySolutions:
        """What is left of a pattern's solutions; if the `first` ones are enough, perhaps of a part of them."""
        if first is not None and setting.is_plain:
            more = max(_TRIED, _TRIED_TIMES * first)
            some = self.found(inner, setting, seeds, more)
            if not isinstance(some, Solutions) or some.length < more:
                return sift(some)
            left = sift(some)
            if isinstance(left, Solutions) and left.length >= first:
                return left
        return sift(self.found(inner, setting, seeds))

    def _basic(self, pattern: Basic, setting: Setting, seeds: Solutions | None, first: int | None) -> AnySolutions:
        if not pattern.triples:
            return self._within(setting, UNIT)
        spread = setting.graph.spread(pattern) if self.terms.grows else None
        return self._within(setting, setting.graph.matches(pattern, seeds, first) if spread is None else spread)

    def _within(self, setting: Setting, found: AnySolutions) -> AnySolutions:
        """The solutions of a leaf, with what is bound around it."""
        return found if setting.around is None else self._joined(setting.around, found, setting)

    # ------------------------------------------------------------------------------------ joins

    def _joined(self, left: AnySolutions, right: AnySolutions, setting: Setting) -> AnySolutions:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Solutions) and not one.columns and one.length <= 1:
                return other if one.length else one
        large = self._alike(left, right, setting)
        if large is not None:
            return large[0].joined(large[1])
        one, other = _here(left), _here(right)
        return join(one, other, self._check(one, other))

    def _check(self, left: Solutions, right: Solutions) -> Check:
        """Looks at the number of pairs before they are made."""
        return self.limits.of_columns(len(left.columns.keys() | right.columns.keys()))

    def _alike(
        self, found: AnySolutions, other: AnySolutions, setting: Setting
    ) -> tuple[LargeSolutions, LargeSolutions] | None:
        """Two bags, both elsewhere, if one of them is, and both have variables."""
        bags = found, other
        if all(isinstance(some, Solutions) for some in bags) or not all(map(_variables, bags)):
            return None
        one, two = (self._elsewhere(some, setting) for some in bags)
        return one, two

    def _elsewhere(self, found: AnySolutions, setting: Setting) -> LargeSolutions:
        return setting.graph.facts.moved(found) if isinstance(found, Solutions) else found

    def _join(self, pattern: Join, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        left, right = pattern.left, pattern.right
        if isinstance(left, Basic) and isinstance(right, Basic):
            return self.found(Basic((*left.triples, *right.triples)), setting, seeds)
        if _rank(right) < _rank(left):
            left, right = right, left
        return self._joined(*self._both(left, right, setting, seeds), setting)

    def _both(
        self, left: Pattern, right: Pattern, setting: Setting, seeds: Solutions | None, first: int | None = None
    ) -> tuple[AnySolutions, AnySolutions]:
        """The solutions of two patterns that are compared with each other, of the left one perhaps the `first`."""
        found = _without_rows(self.found(left, setting, seeds, first))
        return found, _without_rows(self.found(right, _beside(right, setting), _seeds(found)))

    def _left_join(
        self,
        left: Pattern,
        right: Pattern,
        condition: Formula | None,
        setting: Setting,
        seeds: Solutions | None,
        first: int | None,
    ) -> AnySolutions:
        one, two = self._both(left, right, setting, seeds, first)  # of each on the left there is a solution at least
        large = self._alike(one, two, setting) if condition is None or can_spread(condition) else None
        if large is not None:
            return self._left_joined_elsewhere(*large, condition, setting)
        found, other = _here(one), _here(two)
        mine, others = pairs(found, other, self._check(found, other))
        both = merged(found, other, mine, others)
        if condition is not None:
            kept = np.flatnonzero(self._holds(condition, both, setting))
            both, mine = both.take(kept), mine[kept]
        alone = np.ones(found.length, np.bool_)
        alone[mine] = False
        return stacked([both, found.take(alone)]) if alone.any() else both

    def _left_joined_elsewhere(
        self, left: LargeSolutions, right: LargeSolutions, condition: Formula | None, setting: Setting
    ) -> AnySolutions:
        if condition is None:
            return left.left_joined(right)
        variables = tuple(dict.fromkeys((*left.variables, *right.variables)))
        number = Variable(f"#left{next(self._names)}")
        numbered = left.numbered(left.variables, number)
        both = self._elsewhere(self._filtered(numbered.joined(right), condition, setting), setting)
        alone = numbered.with_partner(both.projected((number,)).distinct(), True)
        return both.stacked([alone]).projected(variables)

    def _minus(self, left: Pattern, right: Pattern, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        one, two = self._both(left, right, setting, seeds)
        large = self._alike(one, two, setting)
        apart = {*setting.hidden, *setting.bound}
        if large is not None:
            return large[0].without_partner(large[1], apart)
        found, other = _here(one), _here(two)
        return found.take(~has_partner(found, other, apart))

    def _union(self, parts: Sequence[AnySolutions], setting: Setting) -> AnySolutions:
        parts = [_without_rows(part) for part in parts]
        bare = any(isinstance(part, Solutions) and part.length and not part.columns for part in parts)
        if bare or all(isinstance(part, Solutions) for part in parts):
            return stacked([_here(part) for part in parts])
        some = [part for part in parts if not isinstance(part, Solutions) or part.length]
        one, *others = [self._elsewhere(part, setting) for part in some]
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

    def _kept_elsewhere(self, found: LargeSolutions, condition: Formula, setting: Setting) -> LargeSolutions | None:
        """The same where there are many, part by part of the condition; None if a part is not for there."""
        patterns = dict(condition.exists)
        parts = [Formula(part, _asked_in(part, patterns)) for part in conjuncts(condition.expression)]
        if not all(map(can_spread, parts)):
            return None
        for part in sorted(parts, key=lambda one: len(one.exists)):
            asked = part.expression
            negative = isinstance(asked, Call) and asked.function == "!"
            inner = asked.arguments[0] if isinstance(asked, Call) and negative else asked
            pattern = patterns.get(inner) if isinstance(inner, Variable) else None
            if pattern is not None and is_closed(pattern) and found.open.isdisjoint(mentioned(pattern)):
                inside = self.found(pattern, _beside(pattern, setting))
                if _variables(inside):
                    found = found.with_partner(self._elsewhere(inside, setting), negative)
                elif bool(_here(inside).length) == negative:
                    return found.first(0)
            else:
                variables = found.variables
                found = self._marked(found, part, setting).filtered(Formula(asked)).projected(variables)
        return found

    def _marked(self, found: LargeSolutions, formula: Formula, setting: Setting) -> LargeSolutions:
        """Solutions elsewhere with the truth of what an expression asks about patterns, which are evaluated for each."""
        for mark, pattern in formula.exists:
            shared = [variable for variable in found.variables if variable in mentioned(pattern)]
            keys = tuple(dict.fromkeys((*shared, *setting.hidden)))
            number = Variable(f"#outside{next(self._names)}")
            numbered = found.numbered(keys, number)
            around = numbered.projected((*keys, number)).distinct()
            bound = setting.bound | frozenset(shared)
            inside = self.found(pattern, Setting(setting.graph, around, (*setting.hidden, number), bound))
            there = self._elsewhere(_project(inside, (number,)), setting)
            found = numbered.marked(there, number, mark).projected((*found.variables, mark))
        return found

    def _extended(
        self,
        inner: Pattern,
        variable: Variable,
        formula: Formula,
        setting: Setting,
        seeds: Solutions | None,
        first: int | None,
    ) -> AnySolutions:
        found = self.found(inner, setting, None if seeds is None else seeds.without((variable,)), first)
        if not isinstance(found, Solutions) and can_spread(formula) and variable not in found.variables:
            variables = (*found.variables, variable)
            found = self._marked(found, formula, setting).extended(variable, Formula(formula.expression))
            return found.projected(variables) if formula.exists else found
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
            inside = self.found(pattern, _beside(pattern, setting), _seeds(outside.project(shared)))
            return has_partner(outside, self._met_by(inside, outside, setting))
        keys = [*shared, *(name for name in setting.hidden if name not in shared)]
        columns = [outside.column(key) for key in keys]
        numbers, some = group_numbers(columns, outside.length)
        number = Variable(f"#outside{next(self._names)}")
        around = Solutions(len(some), {key: column[some] for key, column in zip(keys, columns, strict=True)})
        marks = self._marks(len(some))
        around = around.extended(number, marks)
        inside_setting = Setting(setting.graph, around, (*setting.hidden, number), setting.bound | frozenset(shared))
        solved = self.found(pattern, inside_setting)
        if not isinstance(solved, Solutions):
            solved = solved.projected((number,)).distinct().fetched()
        there = np.isin(marks, solved.column(number))
        return there[numbers]

    def _marks(self, number: int) -> Ids:
        """So many ids; where solutions may go elsewhere, these have to be of terms."""
        places = np.arange(number, dtype=np.int64)
        return self.terms.ids(Integers(places)) if self.terms.grows else places

    def _met_by(self, found: AnySolutions, others: Solutions, setting: Setting) -> Solutions:
        """Solutions in this process, without some that agree with none of others, and of those that are left each once."""
        if isinstance(found, Solutions):
            return found
        shared = [variable for variable in found.variables if variable in others.columns]
        if not shared:
            return found.first(1).fetched()
        keys = self._elsewhere(others.project(shared).distinct(), setting)
        return found.projected(shared).distinct().with_partner(keys, False).fetched()

    # ------------------------------------------------------------------------------------ graphs and paths

    def _in_graph(self, name: Term, inner: Pattern, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        if isinstance(name, Constant):
            if not _names_graph(inner) and not np.isin(self.terms.constant(name.value), setting.graph.names()).any():
                return NOTHING.project(setting.hidden)
            return self.found(inner, replace(setting, graph=setting.graph.called(name)), seeds)
        hidden = Variable(f"#graph{next(self._names)}")
        graph = setting.graph.called(hidden)
        around = setting.around
        if around is not None or not _names_graph(inner):
            names = graph.names()
            around = self._joined(UNIT if around is None else around, Solutions(len(names), {hidden: names}), setting)
        inside = replace(setting, graph=graph, around=around, hidden=(*setting.hidden, hidden))
        found = self.found(inner, inside, _renamed(seeds, name, hidden))
        if not isinstance(found, Solutions):
            return found.renamed(hidden, name)
        ids = found.column(hidden)
        rest = found.without((hidden,))
        if name not in rest.columns:
            return rest.extended(name, ids)
        known = rest.columns[name]
        return rest.extended(name, ids).take((known == UNBOUND) | (known == ids))

    def _path(self, pattern: PathPattern, setting: Setting, seeds: Solutions | None) -> AnySolutions:
        graph = setting.graph
        if not isinstance(graph.name, Variable):
            return self._path_in(pattern, graph, seeds)
        parts: list[AnySolutions] = [Solutions(0, {graph.name: np.zeros(0, np.int64)})]
        names = graph.names()
        for name, value in zip(names, self.terms.values(names), strict=True):
            assert value is not None
            found = self._path_in(pattern, graph.called(Constant(value)), seeds)
            here = Solutions(1, {graph.name: np.array([name], np.int64)})
            if isinstance(found, Solutions):
                parts.append(found.extended(graph.name, np.full(found.length, name, np.int64)))
            else:
                parts.append(found.joined(self._elsewhere(here, setting)))
        return self._union(parts, setting)

    def _path_in(self, pattern: PathPattern, graph: ActiveGraph, seeds: Solutions | None) -> AnySolutions:
        starts, ends = self._end(pattern.subject, seeds), self._end(pattern.object, seeds)
        constant = isinstance(pattern.subject, Constant) or isinstance(pattern.object, Constant)
        if isinstance(pattern.subject, Constant):
            ends = None
        elif isinstance(pattern.object, Constant):
            starts = None
        large = self.terms.grows and is_large(graph, pattern.path)
        if large and starts is None and ends is None:
            return _path_elsewhere(pattern, large_pairs(graph, pattern.path))
        found = PathSearch(graph, large).pairs(pattern.path, starts, ends, constant)
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
        arguments = [one for some in pattern.arguments for one in some]
        if isinstance(found, Solutions) or not all(map(_is_plain, arguments)):
            return self.groups(_here(found), pattern, setting)
        keys = (*setting.hidden, *pattern.keys)
        groups = found.grouped(replace(pattern, keys=keys)).fetched()
        if pattern.keys:
            return groups
        always = self._always(setting)
        missing = always.take(~has_partner(always, groups))
        if not missing.length:
            return groups
        return stacked([groups, self.groups(NOTHING, pattern, replace(setting, around=missing))])

    def _always(self, setting: Setting) -> Solutions:
        """What there is a group for, even if it has no solutions."""
        if not setting.hidden:
            return UNIT
        if setting.around is None:
            names = setting.graph.names()
            return Solutions(len(names), {setting.hidden[-1]: names})
        around = setting.around
        if isinstance(around, Solutions):
            return around.project(setting.hidden).distinct()
        return around.projected(setting.hidden).distinct().fetched()

    def groups(self, found: Solutions, pattern: Group, setting: Setting) -> Solutions:
        """The groups of some solutions, with what aggregates say of them."""
        keys = (*setting.hidden, *pattern.keys)
        always = None if pattern.keys else self._always(setting)
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
    seen = [name for name in _variables(setting.around) if name in variables or name in setting.hidden]
    return replace(setting, around=_project(setting.around, seen), bound=setting.bound & frozenset(variables))


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


def _path_elsewhere(pattern: PathPattern, pairs: LargeSolutions) -> LargeSolutions:
    """Pairs as solutions of a pattern whose ends are variables."""
    assert isinstance(pattern.subject, Variable) and isinstance(pattern.object, Variable)
    return pairs.renamed(FROM, pattern.subject).renamed(TO, pattern.object)


def _variables(found: AnySolutions) -> Sequence[Variable]:
    return tuple(found.columns) if isinstance(found, Solutions) else found.variables


def _is_plain(formula: Formula) -> bool:
    """Whether an expression can be computed in many places as it is."""
    return not formula.exists and can_spread(formula)


def _project(found: AnySolutions, variables: Sequence[Variable]) -> AnySolutions:
    if isinstance(found, Solutions):
        return found.project(variables)
    return found.projected(variables) if variables else Solutions(found.number(), {})


def _asked_in(expression: Expression, patterns: Mapping[Variable, Pattern]) -> tuple[tuple[Variable, Pattern], ...]:
    """The patterns that an expression asks about."""
    found = (term for term in terms_of(expression) if isinstance(term, Variable) and term in patterns)
    return tuple((variable, patterns[variable]) for variable in dict.fromkeys(found))


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
