// An exercise: the controls that the page shows, and the goals. An exercise is for learning: the page
// computes the result, and readers of the page's source can see the hidden link.
import { shown } from "kneepoint/chart";
import { element } from "kneepoint/controls";
import { changed } from "kneepoint/state";

const NAMES = { power: ["power", "Mbit/s/s"], throughput_mbps: ["throughput", "Mbit/s"], signal_delay_p95_ms: ["95th percentile of signal delay", "ms"], utilization: ["utilization", "of the link"] };

export class Exercise {
  #given;
  #goals;
  #hidden = null;
  #bounds = new Map(); // figures of the settings to beat
  #state;
  #run;

  /**
   * @param {object} given of the file: text (HTML), goals, hidden
   * @param {HTMLElement} place the element for the text and the goals
   */
  constructor(given, place) {
    this.#given = given;
    this.#goals = given.goals.map(() => element("li"));
    place.innerHTML = given.text;
    place.append(element("ul", { "aria-label": "What must be reached" }, ...this.#goals));
    if (given.hidden) {
      this.#hidden = element("p", { role: "status" });
      place.append(element("button", { type: "button", onclick: () => this.#tryHidden() }, "Try it on a hidden link"), this.#hidden);
    }
    place.append(element("p", { class: "meaning" }, "For learning, not for grading: the page computes the result."));
    place.hidden = false;
  }

  /**
   * Marks the goals that figures reach.
   * @param {object} figures of setting A
   * @param {object} state of the page
   * @param {(state: object) => Promise<object>} run returns the figures of a state's setting A
   */
  async judge(figures, state, run) {
    this.#state = { ...state, b: "", b_set: {} };
    this.#run = run;
    if (this.#hidden) this.#hidden.textContent = "";
    const reached = await this.#judged(figures, {});
    reached.forEach(({ isReached, text }, at) => {
      this.#goals[at].textContent = text;
      this.#goals[at].classList.toggle("reached", isReached);
    });
  }

  async #tryHidden() {
    const { hidden } = this.#given;
    const answer = this.#run({ ...this.#state, ...hidden }).then((figures) => this.#judged(figures, hidden));
    this.#hidden.textContent = await answer.then(
      (reached) => reached.map(({ isReached, text }) => `${isReached ? "Reached" : "Not reached"} there: ${text}`).join(". "),
      (error) => error.message,
    );
  }

  #judged(figures, conditions) {
    return Promise.all(this.#given.goals.map(async ({ metric, at_least, at_most, beats }) => {
      const [name, unit] = NAMES[metric];
      const isLess = at_most !== undefined || metric === "signal_delay_p95_ms";
      const bound = beats ? (await this.#boundOf({ ...changed({ ...this.#state, set: {}, sweep: "" }, beats), ...conditions }))[metric] : (at_most ?? at_least);
      const value = figures[metric];
      const isReached = value !== null && (isLess ? value <= bound : value >= bound) && !(beats && value === bound);
      const wanted = beats ? `${isLess ? "below" : "above"} ${shown(bound)}` : `at ${isLess ? "most" : "least"} ${shown(bound)}`;
      return { isReached, text: `${name} ${wanted} ${unit}, now ${shown(value)}` };
    }));
  }

  async #boundOf(state) {
    const key = JSON.stringify(state);
    if (!this.#bounds.has(key)) this.#bounds.set(key, await this.#run(state));
    return this.#bounds.get(key);
  }
}
