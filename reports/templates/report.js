// Tables that sort, filter, begin short and can be copied; without a script they are plain tables.
"use strict";

const number = (text) => {
  const match = text.replace(/\u2212/g, "-").replace(/,(?=\d{3})/g, "").match(/^[+-]?\d[\d.]*(e[+-]?\d+)?/);
  return match ? parseFloat(match[0]) : NaN;
};

const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.localeCompare(b);
  return x - y;
};

const heads = (table) => [...table.tHead.rows[table.tHead.rows.length - 1].cells];
const cells = (row) => [...row.cells].map((cell) => cell.textContent.trim());

const sort = (table, column) => {
  const head = heads(table)[column];
  const rising = head.getAttribute("aria-sort") !== "ascending";
  for (const each of heads(table)) each.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compare(cells(a)[column], cells(b)[column]) * (rising ? 1 : -1));
  table.tBodies[0].append(...rows);
  show(table);
};

// The rows that the filter selects or, without a filter, the first rows, if the table begins short.
const show = (table, wanted = table.closest("figure").querySelector("input").value) => {
  const { first, all } = table.closest("figure").dataset;
  [...table.tBodies[0].rows].forEach((row, at) => {
    const isFirst = !first || all || at < Number(first);
    row.hidden = wanted ? !row.textContent.toLowerCase().includes(wanted.toLowerCase()) : !isFirst;
  });
};

// Of two heads, a column has the name of its group before its own.
const titles = (table) => {
  const groups = [];
  if (table.tHead.rows.length > 1)
    for (const cell of table.tHead.rows[0].cells)
      for (let i = 0; i < cell.colSpan; i += 1) groups.push(cell.textContent.trim());
  return heads(table).map((head, at) => {
    const unit = head.querySelector("small");
    const title = head.firstChild ? head.firstChild.textContent.trim() : "";
    return [groups[at], title, unit ? `(${unit.textContent})` : ""].filter(Boolean).join(" ");
  });
};

const shown = (table) => [...table.tBodies[0].rows].filter((row) => !row.hidden).map(cells);

const csv = (table) => {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  return [titles(table), ...shown(table)].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
};

const latex = (table) => {
  const escaped = (text) => text.replace(/[&%$#_{}]/g, "\\$&").replace(/\u2212/g, "$-$");
  const line = (row) => `${row.map(escaped).join(" & ")} \\\\`;
  const sides = heads(table).map((head) => (head.classList.contains("left") ? "l" : "r")).join("");
  return [
    `\\begin{tabular}{${sides}}`,
    "\\hline",
    line(titles(table)),
    "\\hline",
    ...shown(table).map(line),
    "\\hline",
    "\\end{tabular}",
    "",
  ].join("\n");
};

const copy = async (button, text) => {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    button.textContent = "not allowed here";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
};

const tools = (table, name) => {
  const bar = document.createElement("div");
  bar.className = "tools";
  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = "filter rows";
  filter.setAttribute("aria-label", `filter the rows of ${name}`);
  filter.addEventListener("input", () => show(table, filter.value));
  bar.append(filter);
  const { dataset } = table.closest("figure");
  const count = table.tBodies[0].rows.length;
  if (count > Number(dataset.first)) {
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    const label = () => { more.textContent = dataset.all ? `first ${dataset.first}` : `all ${count}`; };
    more.addEventListener("click", () => {
      if (dataset.all) delete dataset.all; else dataset.all = "yes";
      label();
      show(table, filter.value);
    });
    label();
    bar.append(more);
  }
  for (const [label, written] of [["CSV", csv], ["LaTeX", latex]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.setAttribute("aria-label", `copy ${name} as ${label}`);
    button.addEventListener("click", () => copy(button, written(table)));
    bar.append(button);
  }
  return bar;
};

for (const figure of document.querySelectorAll("figure.table")) {
  const table = figure.querySelector("table");
  heads(table).forEach((head, column) => {
    head.setAttribute("aria-sort", "none");
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(table, column));
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(table, column); });
  });
  // On a narrow screen each cell stands beside its column's name, and one without a value not at all.
  const names = titles(table);
  for (const cell of table.tBodies[0].querySelectorAll("td")) {
    cell.dataset.head = names[cell.cellIndex];
    cell.classList.toggle("none", ["", "\u2013"].includes(cell.textContent.trim()));
  }
  figure.querySelector(".scroll").before(tools(table, figure.querySelector(".number").textContent));
  show(table);
}

// One field above all tables, and above the figures that are folded.
const search = document.getElementById("search");
if (search) {
  search.parentElement.hidden = false;
  search.addEventListener("input", () => {
    for (const figure of document.querySelectorAll("figure.table")) {
      figure.querySelector("input").value = search.value;
      show(figure.querySelector("table"), search.value);
    }
    for (const fold of document.querySelectorAll("main details"))
      fold.hidden = !fold.querySelector("summary").textContent.toLowerCase().includes(search.value.toLowerCase());
  });
}

// What the point under the pointer shows, at once and on touch, too; without a script the browser
// shows it as a title.
const value = document.createElement("div");
value.id = "value";
value.hidden = true;
document.body.append(value);
for (const point of document.querySelectorAll(".values circle")) {
  const title = point.querySelector("title");
  point.dataset.value = title.textContent;
  title.remove();
}
document.addEventListener("pointerover", (event) => {
  const text = event.target.dataset && event.target.dataset.value;
  value.hidden = !text;
  if (!text) return;
  value.textContent = text;
  const place = event.target.getBoundingClientRect();
  const left = Math.min(place.right + 6, document.documentElement.clientWidth - value.offsetWidth - 8);
  value.style.left = `${Math.max(8, left) + window.scrollX}px`;
  value.style.top = `${place.top - value.offsetHeight - 6 + window.scrollY}px`;
});

// A point leads to the row of its run.
document.addEventListener("click", (event) => {
  const { run } = event.target.dataset;
  if (run) location.hash = `run-${run}`;
});

// A link to folded content opens it; browsers differ in whether they do so themselves.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const row = target.closest("tr");
  if (row) row.hidden = false;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
};
window.addEventListener("hashchange", unfold);
unfold();

// Content wider than its frame fades out at the edge, until it has been scrolled to its end.
const frames = [...document.querySelectorAll(".scroll")];
const fade = (frame) =>
  frame.classList.toggle("goes-on", frame.scrollWidth - frame.clientWidth - frame.scrollLeft > 4);
for (const frame of frames) frame.addEventListener("scroll", () => fade(frame), { passive: true });
const sized = new ResizeObserver((entries) => entries.forEach((entry) => fade(entry.target)));
for (const frame of frames) sized.observe(frame);

// On a narrow screen the contents begin closed.
if (window.matchMedia("(max-width: 78rem)").matches) document.querySelector("nav details").open = false;
