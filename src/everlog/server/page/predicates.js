// The predicates with their arities and sizes.

import { address } from "./asking.js";
import { count, h, pagedTable } from "./elements.js";

const PROPERTIES = "SELECT ?property (COUNT(*) AS ?number) { ?x ?property ?y } GROUP BY ?property ORDER BY DESC(?number)";

export async function predicatesView({ store }) {
  const rows = Object.entries(store.predicates).map(([name, one]) => ({
    name,
    goal: one.goal,
    arity: one.arity,
    explicit: one.explicit ?? 0,
    derived: one.derived ?? 0,
    total: (one.explicit ?? 0) + (one.derived ?? 0),
  }));
  const all = rows.reduce((sum, row) => sum + row.total, 0);
  const most = Math.max(1, ...rows.map((row) => row.total));
  const number = (title, key) => ({ title, class: "number", key: (row) => row[key], cell: (row) => count(row[key]) });
  const table = pagedTable(rows, [
    { title: "predicate", key: (row) => row.name, cell: (row) => h("a", { class: "term", href: address("ask", { kind: "goal", text: row.goal }) }, row.name) },
    number("arity", "arity"),
    number("explicit", "explicit"),
    number("derived", "derived"),
    number("facts", "total"),
    { title: "", class: "bars", cell: (row) => h("meter", { min: 0, max: most, value: row.total, "aria-label": `facts of ${row.name}` }) },
  ], { label: "predicates", texts: (row) => row.name, sorted: [4, true] });
  const triples = rows.some((row) => row.name === "triple" && row.total)
    ? h("p", {}, "Triples are facts of ", h("code", {}, "triple"), ": see ", h("a", { href: address("ask", { kind: "sparql", text: PROPERTIES }) }, "how many each property has"), ".")
    : null;
  return h("div", { class: "card" }, h("h1", {}, "Predicates"), h("p", {}, `${count(all)} facts and ${count(store.terms)} terms in version ${store.version}.`), triples, table.element);
}
