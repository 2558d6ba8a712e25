// In a report: points of figures, and rows of runs, open the playground with their settings.
const part = (name) => document.getElementById(`playground-${name}`).textContent;
const addresses = await (await unpack(part("states"))).json(); // in the order of the rows
const states = {}; // by run
let url;

async function playground() {
  if (!url) {
    const home = document.createElement("link"); // so that the playground's links lead to this report
    Object.assign(home, { rel: "canonical", href: location.href.replace(/#.*/, "") });
    const page = (await (await unpack(part("page"))).text()).replace("{{ module }}", () => part("module"));
    url = URL.createObjectURL(new Blob([page.replace("<style>", (style) => home.outerHTML + style)], { type: "text/html" }));
  }
  return url;
}

async function show(run) {
  const opened = window.open("about:blank"); // at once: later the browser would refuse to open a window
  opened.location = (await playground()) + states[run];
}

[...document.querySelectorAll('tr[id^="run-"]')].forEach((row, at) => {
  if (!addresses[at]) return;
  const run = row.id.slice("run-".length);
  states[run] = `${addresses[at]}&seed=${row.cells[row.cells.length - 1].textContent.trim()}`;
  const link = document.createElement("button");
  link.type = "button";
  link.textContent = "run it here";
  link.onclick = () => show(run);
  row.cells[0].append(" ", link);
});
addEventListener("click", (event) => {
  const { run } = event.target.dataset;
  if (!states[run]) return;
  event.stopPropagation();
  show(run);
}, true);
if (location.hash.startsWith("#controller=")) location.replace((await playground()) + location.hash);
