// Why a fact holds, as a tree that can be folded, or why it does not.

import { address, json } from "./asking.js";
import { counted, failure, h, waiting } from "./elements.js";
import { factLine } from "./terms.js";

const UNFOLDED = 4;

export async function whyView({ parameters, signal }) {
  const version = parameters.get("version");
  if (parameters.has("goal")) return ofAnswer(parameters, version, signal);
  const asked = { fact: parameters.get("fact"), predicate: parameters.get("predicate"), values: parameters.get("values"), version };
  const heading = asked.predicate ? factLine(asked.predicate, JSON.parse(asked.values)) : h("code", {}, asked.fact);
  heading.querySelector?.(".why")?.remove();
  return h("div", { class: "card" }, h("h1", { class: "term-title" }, heading), explained(await explain(asked, signal)));
}

const explain = (asked, signal) => json("explain", asked, { method: "POST", signal });

async function ofAnswer(parameters, version, signal) {
  const goal = parameters.get("goal");
  const facts = await json("facts", { goal, row: parameters.get("row"), version }, { method: "POST", signal });
  const parts = facts.map(({ predicate, values }, at) => {
    const place = h("div");
    const load = async () => {
      place.replaceChildren(waiting());
      try {
        place.replaceChildren(explained(await explain({ predicate, values: JSON.stringify(values), version }, signal)));
      } catch (error) {
        place.replaceChildren(failure(error));
      }
    };
    const line = factLine(predicate, values);
    line.querySelector(".why").remove();
    const fold = h("details", { ontoggle: () => fold.open && !place.hasChildNodes() && load() }, h("summary", {}, line), place);
    fold.open = at === 0;
    return fold;
  });
  const none = facts.length ? null : h("p", {}, "What this answer says, no single fact says: it comes of negations, tests or aggregates.");
  return h("div", { class: "card" }, h("h1", { class: "term-title" }, h("code", {}, goal)), h("p", {}, `The answer is made of ${counted(facts.length, "fact")}.`), none, parts);
}

function explained(found) {
  if (!found.holds) return notSo(found);
  const proof = found.proofs[0];
  const seen = new Set();
  const limits = found.complete ? null : h("p", { class: "quiet" }, "The search was ended by a limit: there may be a lower proof.");
  const more = found.answers > 1 ? h("p", { class: "quiet" }, `The first of ${counted(found.answers, "fact")} that fit.`) : null;
  return h("div", {},
    h("p", { class: "quiet" }, `A proof of least height: ${counted(proof.height, "rule")} on top of each other, ${counted(proof.nodes.length, "fact")}.`),
    limits, more,
    h("div", { class: "tree", role: "group", "aria-label": "Proof" }, node(proof, proof.conclusion, seen, 0)));
}

function node(proof, at, seen, depth) {
  const one = proof.nodes[at];
  const fact = h("code", { class: "proved" }, one.fact);
  if (!one.conditions) {
    const link = one.kind === "unexplored" ? h("a", { class: "why", href: address("why", { fact: one.fact }) }, "why?") : null;
    return h("div", { class: "leaf" }, fact, " ", h("span", { class: `badge ${one.kind}` }, one.kind), " ", link);
  }
  if (seen.has(at)) return h("div", { class: "leaf" }, fact, " ", h("span", { class: "badge" }, "as above"));
  seen.add(at);
  const rules = one.rules ?? (one.rule ? [one.rule] : []);
  const inside = h("div", { class: "inside" });
  const fill = () => inside.replaceChildren(
    ...rules.map((rule) => h("p", { class: "by" }, h("span", { class: "quiet" }, one.kind === "path" ? "a path, by " : "by "), h("code", {}, rule))),
    ...(one.origin ? [h("p", { class: "quiet" }, one.origin)] : []),
    ...one.conditions.map((condition) => line(proof, condition, seen, depth + 1)));
  const fold = h("details", { ontoggle: () => fold.open && !inside.hasChildNodes() && fill() },
    h("summary", {}, fact, " ", h("span", { class: `badge ${one.kind}` }, one.kind)), inside);
  if (depth < UNFOLDED) {
    fill();
    fold.open = true;
  }
  return fold;
}

function line(proof, condition, seen, depth) {
  if (condition.kind === "fact") return node(proof, condition.node, seen, depth);
  if (condition.kind === "absent") return h("div", { class: "leaf" }, h("code", {}, condition.pattern), " ", h("span", { class: "badge absent" }, "absent"));
  if (condition.kind === "tested") return h("div", { class: "leaf" }, h("code", {}, condition.test), " ", h("span", { class: "badge" }, "test"));
  const values = Object.entries(condition.values).map(([name, value]) => `?${name} = ${value}`).join(", ");
  return h("details", {},
    h("summary", {}, h("code", {}, condition.aggregate), " ", h("span", { class: "badge" }, `group of ${condition.size}: ${values}`)),
    h("ul", { class: "facts" }, condition.members.map((member) => h("li", {}, h("code", {}, member.join(", "))))));
}

function notSo(found) {
  const ways = found.whyNot.map((one) => h("details", { open: true },
    h("summary", {}, h("code", {}, one.rule)),
    h("div", { class: "inside" },
      one.held.map((held) => h("div", { class: "leaf" }, h("code", {}, held), " ", h("span", { class: "badge given" }, "holds"))),
      h("div", { class: "leaf" }, h("code", {}, one.failing), " ", h("span", { class: "badge absent" }, "fails")))));
  return h("div", {}, h("p", {}, "It does not hold.", ways.length ? " Rules that could derive it, and what they lack:" : " No rule could derive it."), ways);
}
