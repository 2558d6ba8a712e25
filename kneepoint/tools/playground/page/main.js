// The page: its state, its controls, and a run after each change. Only the newest run counts.
import { plane, shown, sweep as drawSweep } from "kneepoint/chart";
import { choice, element, queue, slider, valueAt } from "kneepoint/controls";
import { Emulator } from "kneepoint/emulator";
import { assign, take, traces } from "kneepoint/links";
import { unpack } from "kneepoint/packed";
import { RuleEditor } from "kneepoint/rule";
import { interval, Series, series } from "kneepoint/series";
import { changed, data, DEFAULTS, format, parse, patched, quote, shows, SIDES } from "kneepoint/state";

const TRAIL = 12; // number of previous points
const SEEDS = 10;
const QUANTILE = 2.262; // of Student's t with SEEDS - 1 degrees of freedom, at 97.5 %
const SWEPT = 24; // number of runs of a sweep
const REST_MS = 250; // time without a change until the page runs sweeps and seeds
const FEW = 6; // number of parameters that the page shows at first
const METRICS = ["power", "throughput_mbps", "signal_delay_p95_ms", "utilization"];
const QUEUES = {
  droptail: "packets=100",
  drophead: "packets=100",
  drr: "packets=100",
  policer: "rate_mbps=10,burst=30000",
  codel: "target=5,interval=100",
  fq_codel: "target=5,interval=100",
  "codel-mahimahi": "target=5,interval=100,packets=1000",
  pie: "qdelay_ref=15,max_burst=150",
  "pie-mahimahi": "qdelay_ref=15,max_burst=150,packets=1000",
  red: "min=5,max=50",
};
const DELAY = { name: "delay_ms", unit: "ms", meaning: "propagation delay, one way", low: 0, high: 200, min: 0, max: 60000, type: "integer", scale: "linear" };
const LOSS = { name: "loss", unit: "share", meaning: "of the packets, lost independently", low: 0, high: 0.1, min: 0, max: 1, type: "real", scale: "linear" };
const RATE = { name: "rate_mbps", unit: "Mbit/s", meaning: "of the link, all the time", low: 0.5, high: 50, min: 0.01, max: 500, type: "real", scale: "log" };
const LATENCY = { name: "host_latency_us", unit: "us", meaning: "of the hosts, in each direction", low: 0, high: 5000, min: 0, max: 1000000, type: "integer", scale: "linear" };

const PATH = ["delay_ms", "loss", "queue", "host_model", "host_latency_us", "beside", "further"];
const CONDITIONS = Object.keys(DEFAULTS).filter((key) => !["sweep", ...Object.values(SIDES).flat()].includes(key));

const find = (id) => document.getElementById(id);
const start = changed(DEFAULTS, data.exercise?.start ?? {});
const exercise = data.exercise && new (await import("kneepoint/exercise")).Exercise(data.exercise, find("exercise"));

let state = start;
let catalogue;
let emulator;
let reader; // of rules: an emulator that never runs, so that a mistake is shown at once
let pictures;
const editors = {}; // of rules, by side
let present = []; // {side, names, figures, run} of the last good runs
const before = { a: [], b: [] };
let swept = { key: "", points: [] };
let conditions = "";
let complaint = ""; // what is wrong with the address
let changes = 0;
let isRunning = false;
let resting;
let writing;

function tell(text, isWrong = false) {
  find("status").textContent = complaint || text;
  find("status").classList.toggle("wrong", isWrong || complaint !== "");
}

const namesOf = (declared) => declared.map(({ name }) => name);

const controllerOf = (name) => catalogue.controllers.find((each) => each.name === name);

// Parameters that most controllers have come last: the other parameters characterise a controller.
function parametersOf(side) {
  const [controller, , rule] = SIDES[side].map((key) => state[key]);
  const owners = (parameter) => catalogue.controllers.filter((each) => each.parameters.some((own) => own.name === parameter.name)).length;
  const isCommon = (parameter) => owners(parameter) > catalogue.controllers.length / 2;
  const all = controllerOf(controller).parameters.filter(({ name }) => !rule || !encodes(name));
  return [...all.filter((each) => !isCommon(each)), ...all.filter(isCommon)].filter((each) => shows(each.name));
}

const encodes = (name) => /^(code|number)_\d+$/.test(name); // a rule

/** The parameters of the emulator's controller; throws an Error for a rule with a mistake. */
async function flowOf(controller, set, rule) {
  const { reason, parameters } = rule ? await reader.rule(rule) : {};
  if (reason) throw new Error(reason);
  return { controller, parameters: { ...parameters, ...set } };
}

async function scenarioOf(given, side, seed = given.seed) {
  const link = traces(given, data.links);
  const common = { delay_ms: given.delay_ms };
  const uplink = { ...common, ...link.uplink, queue: given.queue };
  if (given.loss !== 0) uplink.loss_probability = given.loss;
  const setting = SIDES[side].map((key) => given[key]);
  const own = await flowOf(...setting);
  const rule = given.beside === "rule" ? setting[2] || data.rules[0].text : "";
  const flows = [{}, ...(given.beside ? [await flowOf(given.beside, {}, rule)] : [])];
  const scenario = { uplink, downlink: { ...common, ...link.downlink }, flows, seed };
  if (given.link === "port") scenario.duration_s = link.duration_s; // a trace has its duration
  for (const key of ["host_model", "host_latency_us"]) scenario[key] = given[key];
  const whole = patched(scenario, given.further);
  if (Array.isArray(whole.flows)) whole.flows = whole.flows.map((flow) => (flow?.controller ? flow : { ...own, ...flow }));
  const duration_s = whole.duration_s ?? link.duration_s;
  return { scenario: { ...whole, interval_s: interval(duration_s) }, traces: link.traces, duration_s };
}

async function figuresOf(given, side, seed) {
  const job = await scenarioOf(given, side, seed);
  return (await emulator.run(job.scenario, job.traces, false)).figures;
}

async function runBoth(given) {
  const found = [];
  for (const side of given.b ? ["a", "b"] : ["a"]) {
    const job = await scenarioOf(given, side);
    const answer = await emulator.run(job.scenario, job.traces, true);
    const { interval_s } = job.scenario;
    const names = answer.figures.flows.map((flow) => flow.controller);
    found.push({ side, names, interval_s, duration_s: job.duration_s, figures: answer.figures, run: series(answer, interval_s) });
  }
  return found;
}

/** Runs the state, or the newest of several states; keeps the last good picture. */
async function update() {
  clearTimeout(resting);
  ++changes;
  emulator.hurry();
  if (isRunning) return;
  isRunning = true;
  find("pictures").ariaBusy = "true";
  let mine;
  let isShown;
  do {
    mine = changes;
    isShown = false;
    try {
      const found = await runBoth(state);
      remember(found);
      draw();
      isShown = true;
      if (mine === changes) tell(`${shown(found[0].duration_s)} s of the link in ${shown(found[0].figures.packets_sent)} packets`);
    } catch (error) {
      if (mine === changes) tell(error.message, true);
    }
  } while (mine !== changes);
  isRunning = false;
  find("pictures").ariaBusy = "false";
  if (isShown) resting = setTimeout(rest, REST_MS);
}

// Previous points are kept only for the present link, path and hosts.
function remember(found) {
  const now = JSON.stringify(CONDITIONS.map((key) => state[key]));
  if (now !== conditions) before.a = before.b = [];
  else for (const { side, figures } of present) before[side] = [...before[side], figures].slice(-TRAIL);
  conditions = now;
  present = found;
}

function draw() {
  drawNumbers();
  pictures.draw(present, present[0].interval_s);
  drawPlane();
  exercise?.judge(present[0].figures, state, (given) => figuresOf(given, "a")).catch((error) => tell(error.message, true));
}

function drawPlane() {
  const known = swept.points.filter(({ figures }) => figures?.power);
  const knee = swept.points.length && swept.isWhole ? known.reduce((best, each) => (best && best.figures.power >= each.figures.power ? best : each), null) : null;
  const settings = present.map(({ side, figures }) => ({ side, now: figures, before: before[side] }));
  find("plane").firstElementChild.innerHTML = plane(settings, swept.points.map(({ figures }) => figures), knee?.figures ?? null);
  if (swept.parameter) {
    const { parameter, points } = swept;
    find("sweep").firstElementChild.innerHTML = drawSweep(points, parameter, state.set[parameter.name] ?? parameter.default, knee);
  }
}

function drawNumbers() {
  const rows = present.map(({ side, names, figures, spread }) => {
    const cells = METRICS.map((metric) => element("td", { title: String(figures[metric]) }, shown(figures[metric]), element("small", {}, spread?.[metric] ?? "")));
    const flows = names.length > 2 ? `${names[0]} and ${names.length - 1} flows` : names.join(" and ");
    return element("tr", {}, element("th", { scope: "row", class: side }, state.b ? `${side.toUpperCase()} ${flows}` : flows), ...cells);
  });
  find("numbers").tBodies[0].replaceChildren(...rows);
  const shares = present.filter(({ names }) => names.length > 1).map(({ names: [name, ...others], figures }) => {
    const goodputs = figures.flows.map((flow) => flow.goodput_mbps);
    const share = goodputs[0] / goodputs.reduce((sum, goodput) => sum + goodput, 0);
    return `${name} has ${shown(100 * share)} % of the goodput beside ${others.length > 1 ? `${others.length} flows` : others[0]}; Jain's index ${shown(figures.jains_index)}.`;
  });
  find("beside").textContent = [...shares, present[0].spread ? `Small: 95 % confidence interval of the mean over ${SEEDS} seeds of the hosts and losses (Student's t).` : ""].join(" ");
}

/** Runs the sweep, then other seeds, while nothing changes; a change ends them. */
async function rest() {
  const mine = changes;
  const goesOn = () => mine === changes;
  try {
    await runSweep(goesOn);
    await runSeeds(goesOn);
  } catch (error) {
    if (goesOn()) tell(error.message, true);
  }
}

async function runSweep(goesOn) {
  if (find("sweep").hidden) return;
  const numbers = editors.a?.numbers ?? [];
  const parameters = [...numbers, ...parametersOf("a")].filter((each) => each.low < each.high);
  const parameter = parameters.find((each) => each.name === state.sweep) ?? parameters[0];
  if (!parameter) return;
  find("swept").replaceChildren(...parameters.map((each) => element("option", { value: each.name, selected: each === parameter }, numbers.includes(each) ? `${each.name}: ${each.meaning}` : each.name)));
  const key = format({ ...state, b: "", sweep: parameter.name, set: { ...state.set, [parameter.name]: 0 } });
  if (key === swept.key && swept.isWhole) return drawPlane();
  const values = new Set(Array.from({ length: SWEPT }, (_, k) => valueAt(parameter, k / (SWEPT - 1))));
  swept = { key, parameter, points: [...values].map((value) => ({ value, figures: null })), isWhole: false };
  const given = state;
  for (const point of swept.points) {
    // A value that the emulator refuses leaves a gap.
    point.figures = await figuresOf({ ...given, set: { ...given.set, [parameter.name]: point.value } }, "a").catch(() => null);
    if (!goesOn()) return;
    drawPlane();
  }
  swept.isWhole = true;
  drawPlane();
}

async function runSeeds(goesOn) {
  for (const setting of present) {
    const runs = [setting.figures];
    while (runs.length < SEEDS) {
      runs.push(await figuresOf(state, setting.side, state.seed + runs.length));
      if (!goesOn()) return;
    }
    setting.spread = Object.fromEntries(METRICS.map((metric) => [metric, intervalOf(runs.map((each) => each[metric]))]));
    drawNumbers();
  }
}

function intervalOf(values) {
  if (values.some((value) => value === null)) return "";
  if (values.every((value) => value === values[0])) return "equal for all seeds";
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const half = QUANTILE * Math.sqrt(variance / values.length);
  const digits = [3, 4, 5, 6, 8, 10, 12, 14].find((each) => (mean - half).toPrecision(each) !== (mean + half).toPrecision(each)) ?? 17;
  return `${shown(mean - half, digits)} to ${shown(mean + half, digits)}`;
}

/** Writes the state into the address. */
function write() {
  clearTimeout(writing);
  history.replaceState(null, "", format(state, start));
}

/** Changes the state by a choice, before which the browser's key "back" leads. */
function choose(keys) {
  write();
  state = { ...state, ...keys };
  history.pushState(null, "", format(state, start));
  build();
  return change({});
}

/** Changes the state by a slider or by typing: often, whereas browsers limit the number of addresses. */
function change(keys) {
  complaint = "";
  state = { ...state, ...keys };
  clearTimeout(writing);
  writing = setTimeout(write, REST_MS);
  return update();
}

const offered = () => namesOf(catalogue.controllers).filter((name) => data.exercise?.controllers.includes(name) ?? true);

function settingOf(side) {
  const [key, set, rule] = SIDES[side];
  const box = element("div", { class: `side-${side}` }, element("h2", {}, state.b ? `Setting ${side.toUpperCase()}` : "Controller"));
  box.append(choice("Controller", offered(), state[key], (name) => {
    const next = changed(start, { [key]: name });
    choose(Object.fromEntries([...SIDES[side], ...(side === "a" ? ["sweep"] : [])].map((each) => [each, next[each]])));
  }));
  box.append(element("p", { class: "meaning" }, controllerOf(state[key]).summary));
  if (state[rule]) box.append(editorOf(side).box);
  else delete editors[side];
  const sliders = parametersOf(side).map((parameter) =>
    slider(parameter, state[set][parameter.name] ?? parameter.default, (value) => change({ [set]: { ...state[set], [parameter.name]: value } })));
  box.append(element("div", {}), ...sliders.slice(0, FEW));
  if (sliders.length > FEW) box.append(element("details", {}, element("summary", {}, "More parameters"), ...sliders.slice(FEW)));
  return box;
}

function editorOf(side) {
  const [, set, rule] = SIDES[side];
  const isUsual = (key) => JSON.stringify(state[key]) === JSON.stringify(DEFAULTS[key]);
  const isNetwork = () => data.links.some(({ name }) => name === state.link) && PATH.every(isUsual);
  const editor = (editors[side] ??= new RuleEditor({
    parse: (text) => reader.rule(text, state[set]).catch((error) => ({ reason: error.message })),
    change: (text) => editors[side] === editor && text !== state[rule] && change({ [rule]: text }),
    choose: (text) => choose({ [rule]: text }),
    study: () => ({ network: isNetwork() ? state.link : "your-network", set: state[set] }),
    tell,
  }));
  editor.show(state[rule]);
  return editor;
}

const controls = () => [...find("setting").parentElement.querySelectorAll("select, input, textarea, button, summary")];

function build() {
  const focused = controls().indexOf(document.activeElement); // stays there, for readers who use keys
  const places = [settingOf("a")];
  if (state.b) places.push(settingOf("b"));
  else delete editors.b;
  if (!exercise) {
    const toggled = () => choose(state.b ? { b: "", b_set: {}, b_rule: "" } : { b: state.controller, b_set: { ...state.set }, b_rule: state.rule });
    places.push(element("button", { type: "button", onclick: toggled }, state.b ? "Remove setting B" : "Compare with a second setting"));
  }
  find("setting").replaceChildren(...places);
  find("conditions").replaceChildren(...(exercise ? [] : [linkControls(), pathControls()]));
  controls()[focused]?.focus();
}

function linkControls() {
  const box = element("div", { class: "group" }, element("h2", {}, "Link"));
  const options = [...data.links.map((each) => [each.name, each.title]), ["constant", "Constant rate"], ["port", "A router's port"], ["file", "A file of yours"]];
  box.append(choice("Link", options, state.link, (link) => choose({ link })));
  if (["constant", "port"].includes(state.link)) box.append(slider(RATE, state.rate_mbps, (rate_mbps) => change({ rate_mbps })));
  const pick = element("input", { type: "file", multiple: true, "aria-label": "A trace, or a CSV of rates", onchange: () => takeFiles([...pick.files]) });
  box.append(pick, element("p", { class: "meaning" }, "A trace of mahimahi, or a CSV of times (s) and rates (Mbit/s): choose it, or drop it onto the page. It stays on this machine."));
  return box;
}

function pathControls() {
  const hosts = [...new Set([state.host_model, ...namesOf(catalogue.host_models)])];
  const box = element("div", { class: "group" }, element("h2", {}, "Path"));
  box.append(slider(DELAY, state.delay_ms, (delay_ms) => change({ delay_ms })));
  box.append(slider(LOSS, state.loss, (loss) => change({ loss })));
  box.append(queue(catalogue.queues, state.queue, QUEUES, (text) => choose({ queue: text })));
  box.append(choice("Beside it", [["", "no other flow"], ...namesOf(catalogue.controllers)], state.beside, (beside) => choose({ beside })));
  if (Object.keys(state.further).length) {
    box.append(element("p", {}, "Further conditions: ", element("code", {}, JSON.stringify(state.further))));
    box.append(element("button", { type: "button", onclick: () => choose({ further: {} }) }, "Remove them"));
  }
  if (state.link === "port") return box; // hosts are at traces
  box.append(choice("Hosts", hosts, state.host_model, (host_model) => choose({ host_model, host_latency_us: host_model === "ideal" ? 0 : start.host_latency_us })));
  box.append(slider(LATENCY, state.host_latency_us, (host_latency_us) => change({ host_latency_us })));
  return box;
}

async function takeFiles(files) {
  if (!files.length) return;
  complaint = "";
  try {
    const taken = await Promise.all(files.slice(0, 2).map(take));
    const wanted = [state.uplink, state.downlink].filter(Boolean);
    if (!crypto.subtle && state.link === "file" && wanted.length === taken.length) return await tryOrders(taken, wanted);
    const isWanted = taken.some((text) => wanted.some((each) => each.split(":")[1] === text.split(":")[1]));
    const next = { ...state, link: "file", ...(isWanted ? {} : { uplink: taken[0], downlink: taken[1] ?? "" }) };
    await runBoth(next); // a state that cannot run does not become the page's state
    await choose(next);
  } catch (error) {
    tell(error.message, true);
  }
}

async function tryOrders(taken, wanted) {
  assign(taken, wanted);
  await runBoth(state).catch(() => assign(taken.toReversed(), wanted));
  await runBoth(state);
  await choose({});
}

/** The state of an address; throws an Error if the page does not offer one of its names, or a rule has a mistake. */
async function stateOf(address) {
  const next = parse(address, start);
  const require = (key, name, known) => {
    if (!known.includes(name)) throw new Error(`address: ${key} ${quote(name)} is not among ${known.filter(Boolean).join(", ") || "the keys"}`);
  };
  const kindOf = (notation) => notation.split(":")[0];
  require("controller", next.controller, offered());
  require("b", next.b, ["", ...offered()]);
  require("beside", next.beside, ["", ...namesOf(catalogue.controllers)]);
  require("link", next.link, [...namesOf(data.links), "constant", "port", "file"]);
  require("queue", kindOf(next.queue), namesOf(catalogue.queues));
  require("host_model", kindOf(next.host_model), namesOf(catalogue.host_models));
  const parameters = (name) => (name ? namesOf(controllerOf(name).parameters) : []);
  require("parameter", next.sweep, ["", ...parameters(next.controller)]);
  for (const [controller, set, rule] of Object.values(SIDES)) {
    if (next[rule]) require(`controller of a ${rule}`, next[controller], ["rule"]);
    const known = parameters(next[controller]).filter((name) => !next[rule] || !encodes(name));
    for (const name of Object.keys(next[set])) require(`${controller}'s parameter`, name, known);
    await flowOf(next[controller], next[set], next[rule]).catch((error) => Promise.reject(new Error(`address: ${rule}: ${error.message}`)));
  }
  return next;
}

/** Shows the state of the address; if it is broken, the present state and picture remain. */
async function open() {
  clearTimeout(writing);
  const { hash } = location;
  const next = await stateOf(hash).catch((error) => error);
  if (hash !== location.hash) return; // there is a newer address
  complaint = next instanceof Error ? next.message : "";
  if (complaint && present.length) return tell(complaint);
  if (!complaint) state = next;
  for (const side of Object.keys(editors)) delete editors[side]; // with texts that have mistakes
  build();
  return update();
}

function listen() {
  addEventListener("hashchange", open);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  for (const kind of ["dragleave", "drop"]) addEventListener(kind, () => document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    takeFiles([...event.dataTransfer.files]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => pictures.again());
  find("swept").onchange = () => change({ sweep: find("swept").value });
  find("sweep").addEventListener("click", ({ target }) => {
    const value = Number(target.dataset.value);
    if (!target.dataset.value) return;
    if (editors.a?.numbers.some(({ name }) => name === swept.parameter.name)) editors.a.set(swept.parameter.name, value);
    else choose({ set: { ...state.set, [swept.parameter.name]: value } });
  });
  find("copy").onclick = () => {
    complaint = "";
    write();
    const home = document.querySelector("link[rel=canonical]") ?? location; // of the report that contains the page
    const link = new URL(location.hash, home.href).href;
    const copied = navigator.clipboard?.writeText(link) ?? Promise.reject();
    copied.then(() => tell("The link is copied."), () => tell(link));
  };
}

async function begin() {
  try {
    const module = await WebAssembly.compile(await (await unpack(find("module").textContent)).arrayBuffer());
    [emulator, reader] = [1, 2].map(() => new Emulator(module, find("worker").textContent));
    catalogue = await emulator.start();
  } catch (error) {
    tell(`This browser cannot run the emulator (${error.message}); use a current Firefox, Chrome or Safari.`, true);
    return;
  }
  pictures = new Series(find("series"));
  listen();
  find("sweep").hidden = Boolean(exercise && !data.exercise.sweep);
  find("lead").hidden = Boolean(exercise);
  await open();
}

begin();
