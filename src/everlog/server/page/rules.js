// The program: strata and what they depend on, and the rules with what each derived and took.

import { json } from "./asking.js";
import { count, counted, failure, h, pagedTable, seconds, waiting } from "./elements.js";
import { strataGraph } from "./strata.js";

const PURPOSES = new Set(["negation", "steps", "aggregate", "equality"]);

export async function rulesView({ parameters, signal, program }) {
  const version = parameters.get("version");
  const place = h("div");
  const found = await json("profile", { version }, { signal });
  show(place, program, found.measured ? found : null, version);
  return place;
}

function show(place, program, measured, version) {
  const rows = unitRows(program, measured);
  const table = rulesTable(rows, measured);
  const measuring = h("div", {});
  const measure = h("button", { type: "button", id: "measure", onclick: async () => {
      measuring.replaceChildren(waiting());
      measure.disabled = true;
      try {
        const path = version ? `profile?version=${version}` : "profile";
        show(place, program, await json(path, {}, { method: "POST" }), version);
      } catch (error) {
        measuring.replaceChildren(failure(error));
        measure.disabled = false;
      }
    } }, measured ? "Measure again" : "Measure");
  const about = measured
    ? `Measured in the ${measured.measured} of version ${measured.version}: facts that each derived, rule instances that were considered, and seconds.`
    : "What each rule derives and takes was not measured. To measure is to compute everything anew, beside what is open here.";
  place.replaceChildren(
    h("div", { class: "card" },
      h("h1", {}, "Strata"),
      h("p", {}, `${counted(program.strata.length, "stratum", "strata")}, ${counted(rows.length, "rule or module", "rules and modules")}. An arrow leads to rules that need the facts where it begins; it is dashed where they are negated or aggregated. Choose a stratum to see its rules.`),
      strataGraph(program, rows, (stratum) => table.filter(stratum === null ? "" : `stratum:${stratum}.`))),
    h("div", { class: "card" }, h("h1", {}, "Rules"), h("p", {}, about), h("p", { class: "row" }, measure), measuring, table.element));
}

// Rules and modules with what was measured of them; what was measured of others, such as rules for equality, comes last.
function unitRows(program, measured) {
  const key = (one) => JSON.stringify([Number(one.stratum), one.kind, one.rules]);
  const lines = new Map((measured?.rules ?? []).map((line) => [key(line), line]));
  const rows = program.units.map((unit) => {
    const line = lines.get(key(unit));
    lines.delete(key(unit));
    return { ...unit, line };
  });
  return [...rows, ...[...lines.values()].map((line) => ({ ...line, why: "", origins: [], line }))];
}

function rulesTable(rows, measured) {
  const most = Math.max(1e-9, ...rows.map((row) => row.line?.seconds ?? 0));
  const number = (title, key, write) => ({ title, class: "number", key: (row) => row.line?.[key] ?? -1, cell: (row) => (row.line ? write(row.line[key]) : "") });
  const kind = (row) => (row.kind && !PURPOSES.has(row.kind) ? `module ${row.kind}` : row.kind);
  const rule = {
    title: "rules", class: "rule",
    cell: (row) => [
      row.kind ? h("span", { class: `badge ${PURPOSES.has(row.kind) ? "" : "module"}` }, kind(row)) : null,
      row.rules.map((text) => h("code", {}, text)),
      row.why ? h("span", { class: "quiet" }, row.why) : null,
      row.origins.map((origin) => h("span", { class: "quiet" }, origin)),
    ],
  };
  const figures = measured
    ? [number("facts", "facts", count), number("instances", "derivations", count), number("seconds", "seconds", seconds),
       { title: "", class: "bars", cell: (row) => h("meter", { min: 0, max: most, value: row.line?.seconds ?? 0, "aria-label": "seconds" }) }]
    : [];
  const stratum = { title: "stratum", class: "number", key: (row) => Number(row.stratum), cell: (row) => String(row.stratum) };
  return pagedTable(rows, [rule, stratum, ...figures], {
    label: "rules and modules",
    texts: (row) => `stratum:${row.stratum}. ${kind(row)} ${row.rules.join(" ")} ${row.origins.join(" ")}`,
    sorted: measured ? [4, true] : [1, false],
    empty: "No rule fits.",
  });
}
