// The editor of a rule: mistakes where they stand, numbers as sliders, and the rule as a study or in C++.
import { element, slider } from "kneepoint/controls";
import { data, shows } from "kneepoint/state";

const FEW = 6; // number of sliders that the page shows at first
let made = 0;

export class RuleEditor {
  #page;
  #text = ""; // the last without a mistake
  #numbers = []; // of this text
  #area = element("textarea", { id: `rule-${++made}`, rows: 3, spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-describedby": `rule-${made}-mistake` });
  #behind = element("pre", { "aria-hidden": "true" }); // the same text, with the mistake marked
  #mistake = element("p", { id: `rule-${made}-mistake`, class: "mistake", role: "status" });
  #sliders = element("details");
  #copied = element("pre", { tabindex: 0, role: "region", hidden: true });

  /**
   * @param {object} page
   *   parse(text): asks the emulator about a text; see controllers/wasm/rule_answer.hh
   *   change(text): hears of a new text without a mistake
   *   choose(text): hears of an example, which the page then shows
   *   study(): the network and the other parameters of a study
   *   tell(text): tells the reader
   */
  constructor(page) {
    this.#page = page;
    this.#area.oninput = () => this.#read({ tells: true });
    const button = (text, onclick) => element("button", { type: "button", onclick }, text);
    const copies = { "a study": studyOf, "a controller in C++": ({ controller }) => controller, "an entry in C++": ({ entry }) => entry };
    this.box = element(
      "div",
      { class: "rule" },
      element("label", { for: this.#area.id }, "Rule"),
      element("div", { class: "text" }, this.#behind, this.#area),
      this.#mistake,
      element("p", { class: "buttons" }, "Examples: ", ...data.rules.map(({ title, text }) => button(title, () => this.#choose(text)))),
      element("details", {}, element("summary", {}, "The language"), ...data.language.map((line) => element("p", { class: "meaning" }, line))),
      this.#sliders,
      element("p", { class: "buttons" }, "Copy as: ", ...Object.entries(copies).map(([name, of]) => button(name, () => this.#copy(name, of)))),
      this.#copied,
    );
  }

  /** The numbers of the rule in the order of its text, declared as parameters are. */
  get numbers() {
    return this.#numbers.toSorted((a, b) => a.place[0] - b.place[0]).filter(({ name }) => shows(name));
  }

  /** Shows a rule of the page's state. */
  show(text) {
    if (text === this.#text) return;
    this.#area.value = this.#text = text;
    this.#slide([]); // until the answer has the numbers of this text
    this.#read({ tells: false });
  }

  #choose(text) {
    this.#text = ""; // in case the present text has a mistake
    this.#page.choose(text);
  }

  /** Writes a value in place of a number. */
  set(name, value) {
    this.#put(name, value);
    this.#slide(this.#numbers);
  }

  #put(name, value) {
    const own = this.#numbers.find((each) => each.name === name);
    const [begin, end] = own.place;
    const isSigned = value >= 0 || this.#text[begin] === "-" || this.#text[begin] === "(";
    const written = isSigned ? String(value) : `(${value})`; // -5 ** 2 would be another rule
    const longer = written.length - (end - begin);
    own.default = value;
    for (const each of this.#numbers) each.place = each.place.map((at) => (at > begin ? at + longer : at));
    this.#area.value = this.#text = this.#text.slice(0, begin) + written + this.#text.slice(end);
    this.#read({ tells: true, isOfSlider: true });
  }

  // Asks about the text; its numbers are new ones, unless a slider has changed one of these.
  async #read({ tells, isOfSlider = false }) {
    const text = this.#area.value;
    const answer = await this.#page.parse(text);
    if (text !== this.#area.value) return; // there is a newer text
    this.#mark(text, answer);
    if (answer.reason) return;
    this.#text = text;
    if (!isOfSlider) this.#slide(answer.numbers);
    this.#copied.hidden = true;
    if (tells) this.#page.change(text);
  }

  #mark(text, { reason = "", place = [0, 0] }) {
    const [begin, end] = place;
    const wrong = text.slice(begin, end);
    const mark = end > 0 ? [element("mark", {}, wrong.trim() ? wrong : ` ${wrong}`)] : []; // none for a whole rule
    this.#behind.replaceChildren(text.slice(0, begin), ...mark, text.slice(end), "\n");
    this.#area.setAttribute("aria-invalid", reason !== "");
    this.#mistake.textContent = reason;
    this.#sliders.inert = reason !== "";
  }

  #slide(numbers) {
    this.#numbers = numbers;
    const shown = this.numbers;
    const sliders = shown.map((number) => slider(number, number.default, (value) => this.#put(number.name, value)));
    this.#sliders.replaceChildren(element("summary", {}, "Its numbers"), ...sliders);
    this.#sliders.open = shown.length <= FEW;
    this.#sliders.hidden = !shown.length;
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
    ...text.replace(/[^\P{C}\n]|[\u2028\u2029]/gu, " ").split("\n").map((line) => `#   ${line}`), // YAML has other ends of lines, too
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
