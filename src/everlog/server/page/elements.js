// Elements of the page. Whatever comes from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

export const count = (number) => Number(number).toLocaleString("en-US");
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${Number(number) === 1 ? one : many}`;
export const seconds = (number) => (number >= 10 ? number.toFixed(1) : number >= 0.1 ? number.toFixed(2) : number.toFixed(4));

export function failure(error) {
  return h("p", { class: "failure", role: "alert" }, error.message);
}

export function waiting() {
  return h("p", { class: "quiet waiting", role: "status" }, "…");
}

// Buttons that turn the pages of `total` rows, `size` to a page; `turn` is told the first row of another page.
export function pager(first, size, total, turn) {
  if (total <= size) return null;
  const last = Math.floor((total - 1) / size) * size;
  const button = (text, label, to, key) =>
    h("button", { type: "button", class: "plain", "aria-label": label, disabled: to === first, "data-key": key, onclick: () => turn(to) }, text);
  return h(
    "div",
    { class: "pager", role: "group", "aria-label": "Pages" },
    button("«", "First page", 0),
    button("‹", "Page before", Math.max(0, first - size), "p"),
    h("span", {}, `${count(first + 1)}–${count(Math.min(first + size, total))} of ${count(total)}`),
    button("›", "Next page", Math.min(last, first + size), "n"),
    button("»", "Last page", last),
  );
}

// A table of many rows, of which one page is shown: `columns` have a title, a `cell` of a row, and perhaps a `key` to sort by.
export function pagedTable(rows, columns, { size = 50, label, texts, sorted, empty = "Nothing fits." }) {
  let first = 0;
  let [by, falling] = sorted ?? [null, false];
  const field = h("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${label}`, "data-field": true });
  const place = h("div");
  function shown() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? rows.filter((row) => words.every((word) => texts(row).toLowerCase().includes(word))) : [...rows];
    if (by !== null) {
      const key = columns[by].key;
      found.sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
        return falling ? -order : order;
      });
    }
    if (first >= found.length) first = 0;
    const heads = columns.map((column, at) =>
      h("th", { scope: "col", class: column.class, "aria-sort": by === at ? (falling ? "descending" : "ascending") : null },
        column.key
          ? h("button", { type: "button", class: "sort", onclick: () => {
              [falling, by] = [by === at ? !falling : column.class === "number", at];
              shown();
            } }, column.title, by === at ? (falling ? " ↓" : " ↑") : "")
          : column.title));
    const body = found.slice(first, first + size).map((row) => h("tr", {}, columns.map((column) => h("td", { class: column.class }, column.cell(row)))));
    const turning = pager(first, size, found.length, (to) => {
      first = to;
      shown();
    });
    place.replaceChildren(
      h("p", { class: "quiet", role: "status" }, found.length === rows.length ? `${count(rows.length)} ${label}` : `${count(found.length)} of ${count(rows.length)} ${label}`),
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body))),
      ...(found.length ? [] : [h("p", { class: "quiet" }, empty)]),
      ...(turning ? [turning] : []),
    );
  }
  field.addEventListener("input", () => {
    first = 0;
    shown();
  });
  shown();
  return { element: h("div", {}, field, place), filter: (text) => {
    field.value = text;
    first = 0;
    shown();
  } };
}
