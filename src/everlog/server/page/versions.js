// The versions of the store, and what one of them changed.

import { address, json } from "./asking.js";
import { count, counted, failure, h, pagedTable, waiting } from "./elements.js";
import { factLine } from "./terms.js";

const FACTS = 50;

export async function versionsView({ parameters, store, signal }) {
  const rows = store.versions.map((one, at) => ({ ...one, before: store.versions[at - 1] ?? null })).reverse();
  const change = (now, before) => (before === null || now === before ? "" : now > before ? ` +${count(now - before)}` : ` −${count(before - now)}`);
  const facts = (title) => ({ title, class: "number", key: (row) => row[title], cell: (row) => [count(row[title]), h("span", { class: "quiet" }, change(row[title], row.before?.[title] ?? null))] });
  const table = pagedTable(rows, [
    { title: "version", class: "number", key: (row) => row.version, cell: (row) => h("a", { href: address("versions", { of: row.version }), "aria-label": `What version ${row.version} changed` }, String(row.version)) },
    { title: "written", class: "date", key: (row) => row.written, cell: (row) => new Date(row.written).toLocaleString() },
    facts("explicit"),
    facts("derived"),
    { title: "", cell: (row) => h("a", { href: address("ask", { version: row.version }) }, "look at it") },
  ], { size: 20, label: "versions", texts: (row) => `${row.version} ${row.written}` });
  const place = h("section", { id: "change", "aria-live": "polite" });
  const of = Number(parameters.get("of"));
  if (of) fill(place, of, rows.find((row) => row.version === of), signal);
  const note = store.versions.length === 100 ? h("p", { class: "quiet" }, "These are the newest hundred.") : null;
  return h("div", {}, h("div", { class: "card" }, h("h1", {}, "Versions"), note, table.element), place);
}

async function fill(place, version, row, signal) {
  if (!row?.before) {
    place.replaceChildren(h("div", { class: "card" }, h("h2", {}, `Version ${version}`), h("p", {}, "There is no version before it to compare it with.")));
    return;
  }
  const before = row.before.version;
  place.replaceChildren(waiting());
  try {
    const [found] = await json("changes", { from: before, to: version, limit: FACTS, terms: "full" }, { signal });
    const parts = ["explicit", "derived"].flatMap((section) => ["added", "deleted"].flatMap((part) =>
      Object.entries(found[section][part]).map(([predicate, facts]) => ({ section, part, predicate, facts, number: found.counts[section][part][predicate] }))));
    place.replaceChildren(h("div", { class: "card" },
      h("h2", {}, `What version ${version} changed`),
      h("p", {}, `${counted(found.facts, "fact")} since version ${before}.`),
      parts.map((one) => changed(one, one.part === "added" ? version : before))));
  } catch (error) {
    if (error.name !== "AbortError") place.replaceChildren(failure(error));
  }
}

function changed({ section, part, predicate, facts, number }, version) {
  const more = number > facts.length ? h("p", { class: "quiet" }, `and ${count(number - facts.length)} more`) : null;
  return h("details", { open: number <= 10 || null, class: part },
    h("summary", {}, h("span", { class: `badge ${part}` }, `${section}, ${part}`), " ", h("code", {}, predicate), ` ${count(number)}`),
    h("ul", { class: "facts" }, facts.map((values) => h("li", {}, factLine(predicate, values, version)))), more);
}
