// The editor of a rule: mistakes where they stand, numbers as sliders, and the rule as a study or in C++.
import { choice, element, slider } from "kneepoint/controls";
import { data } from "kneepoint/state";

const FEW = 6; // number of sliders that the page shows at first
let made = 0;

export class RuleEditor {
  #page;
  #text = ""; // the last without a mistake
  #answer = { numbers: [], places: [] }; // of the emulator, about this text
  #area = element("textarea", { id: `rule-${++made}`, rows: 3, spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-describedby": `rule-${made}-mistake` });
  #behind = element("pre", { "aria-hidden": "true" }); // the same text, with the mistake marked
  #mistake = element("p", { id: `rule-${made}-mistake`, class: "mistake", role: "status" });
  #numbers = element("details");
  #copied = element("pre", { tabindex: 0, role: "region", hidden: true });

  /**
   * @param {object} page
   *   parse(text): asks the emulator about a text; see controllers/wasm/rule_answer.hh
   *   change(text): hears of a new text without a mistake
   *   shows(name): whether a number has a slider
   *   study(): the network and the other parameters of a study
   *   tell(text): tells the reader
   */
  constructor(page) {
    this.#page = page;
    this.#area.oninput = () => this.#read({ tells: true });
    const examples = [["", "…"], ...data.rules.map(({ title, text }) => [text, title])];
    const copies = { "a study": studyOf, "a controller in C++": ({ controller }) => controller, "an entry in C++": ({ entry }) => entry };
    const buttons = Object.entries(copies).map(([name, of]) => element("button", { type: "button", onclick: () => this.#copy(name, of) }, `Copy as ${name}`));
    this.box = element(
      "div",
      { class: "rule" },
      element("label", { for: this.#area.id }, "Rule"),
      element("div", { class: "text" }, this.#behind, this.#area),
      this.#mistake,
      choice("Example", examples, "", (text) => text && this.#write(text)),
      element("details", {}, element("summary", {}, "The language"), ...data.language.map((line) => element("p", { class: "meaning" }, line))),
      this.#numbers,
      element("p", { class: "copies" }, ...buttons),
      this.#copied,
    );
  }

  /** The numbers of the rule in the order of its text, declared as parameters are. */
  get numbers() {
    const { numbers, places } = this.#answer;
    const begin = new Map(numbers.map((number, k) => [number, places[k][0]]));
    return numbers.toSorted((a, b) => begin.get(a) - begin.get(b)).filter(({ name }) => this.#page.shows(name));
  }

  /** Shows a rule of the page's state. */
  show(text) {
    if (text === this.#text) return;
    this.#area.value = text;
    this.#read({ tells: false });
  }

  /** Writes a value in place of a number. */
  set(name, value) {
    this.#put(name, value);
    this.#slide();
  }

  #put(name, value) {
    const { numbers, places } = this.#answer;
    const which = numbers.findIndex((each) => each.name === name);
    const [begin, end] = places[which];
    const written = String(Number(value.toPrecision(4)));
    const longer = written.length - (end - begin);
    numbers[which].default = value;
    this.#answer.places = places.map((place) => place.map((at) => (at > begin ? at + longer : at)));
    this.#text = this.#text.slice(0, begin) + written + this.#text.slice(end);
    this.#area.value = this.#text;
    this.#read({ tells: true, numbers });
  }

  #write(text) {
    this.#area.value = text;
    this.#read({ tells: true });
  }

  // Asks about the text; its numbers are new ones, unless a slider has changed one of these.
  async #read({ tells, numbers }) {
    const text = this.#area.value;
    const answer = await this.#page.parse(text);
    if (text !== this.#area.value) return; // there is a newer text
    this.#mark(text, answer);
    if (answer.reason) return;
    this.#text = text;
    this.#answer = numbers ? { ...answer, numbers } : answer;
    if (!numbers) this.#slide();
    this.#copied.hidden = true;
    if (tells) this.#page.change(text);
  }

  #mark(text, { reason = "", place = [0, 0] }) {
    const [begin, end] = place;
    const wrong = text.slice(begin, end).trim() ? text.slice(begin, end) : ` ${text.slice(begin, end)}`;
    this.#behind.replaceChildren(...(reason ? [text.slice(0, begin), element("mark", {}, wrong), text.slice(end)] : [text]), "\n");
    this.#area.setAttribute("aria-invalid", reason !== "");
    this.#mistake.textContent = reason;
    this.#numbers.inert = reason !== "";
  }

  #slide() {
    const shown = this.numbers;
    const sliders = shown.map((number) => slider(number, number.default, (value) => this.#put(number.name, value)));
    this.#numbers.replaceChildren(element("summary", {}, "Its numbers"), ...sliders);
    this.#numbers.open = shown.length <= FEW;
    this.#numbers.hidden = !shown.length;
  }

  async #copy(name, of) {
    const text = of(await this.#page.parse(this.#text), this.#text, this.#page.study());
    this.#copied.textContent = text;
    this.#copied.setAttribute("aria-label", `The rule as ${name}`);
    this.#copied.hidden = false;
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
    copied.then(() => this.#page.tell(`The rule is copied as ${name}.`), () => {}); // the page shows it, too
  }
}

function studyOf({ parameters, numbers }, text, { network, set }) {
  if (!numbers.length) return "# The rule has no number that a study could search.\n";
  const names = numbers.map(({ name }) => name);
  const fixed = Object.entries({ ...parameters, ...set }).filter(([name, value]) => value !== 0 && !names.includes(name));
  const ranges = numbers.map(({ name, default: value, low, high, scale, meaning }) => `  ${name}: {low: ${low}, high: ${high}, log: ${scale === "log"}} # ${value} ${meaning}`);
  return [
    "# studies/my-rule.yaml: a search for the numbers of the rule",
    ...text.split("\n").map((line) => `#   ${line}`),
    "title: The numbers of a rule",
    "controller: rule",
    `networks: [${network}]`,
    `parameters: {${fixed.map((pair) => pair.join(": ")).join(", ")}}`,
    "space:",
    ...ranges,
    "sampler: {kind: tpe, trials: 300, startup_trials: 30}",
    "runs_per_trial: 2",
    "",
  ].join("\n");
}
