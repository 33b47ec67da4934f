// What is known about a term: the facts that mention it, by predicate and place.

import { address, json } from "./asking.js";
import { count, counted, h } from "./elements.js";
import { factLine } from "./terms.js";

const PLACES = { triple: ["subject", "property", "object"] };

export async function termView({ parameters, signal }) {
  const term = parameters.get("term");
  const groups = await json("facts", { term, version: parameters.get("version") }, { method: "POST", signal });
  const total = groups.reduce((sum, group) => sum + group.number, 0);
  return h("div", { class: "card" },
    h("h1", { class: "term-title" }, term),
    h("p", {}, groups.length ? `${counted(total, "fact")} ${total === 1 ? "mentions" : "mention"} it.` : "No fact mentions it."),
    groups.map((group) => h("details", { open: true },
      h("summary", {}, h("code", {}, group.predicate), h("span", { class: "quiet" }, `, as ${PLACES[group.predicate]?.[group.place] ?? `argument ${group.place + 1}`}`), ` ${count(group.number)}`),
      h("ul", { class: "facts" }, group.facts.map((values) => h("li", {}, factLine(group.predicate, values)))),
      group.number > group.facts.length ? h("p", {}, h("a", { href: address("ask", { kind: "goal", text: group.goal }) }, `all ${count(group.number)}`)) : null)));
}
