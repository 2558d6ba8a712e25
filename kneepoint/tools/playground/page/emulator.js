// The page's side of the worker: sends jobs, and replaces a worker that hangs or failed.
const LONGEST_MS = 20000;
const LONG_MS = 1000; // of a job that a newer job need not wait for

export class Emulator {
  #module;
  #url;
  #worker = null;
  #waiting = new Map();
  #known = new Map(); // texts of traces, by name
  #last = 0;
  #began = 0; // time at which the worker began its present job
  #timer;

  /**
   * @param {WebAssembly.Module} module the compiled kneepoint.wasm
   * @param {string} source text of worker.js
   */
  constructor(module, source) {
    this.#module = module;
    this.#url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  }

  /** Starts the worker; returns the catalogue of controllers, queues and hosts. */
  start() {
    this.#known.clear();
    this.#worker = new Worker(this.#url);
    this.#worker.onmessage = ({ data }) => this.#settle(data);
    this.#worker.onerror = (event) => this.#end(event.message || "the emulator's thread failed");
    return this.#ask({ kind: "start", module: this.#module });
  }

  /**
   * Runs a scenario.
   * @param {object} scenario a scenario, as `emulate --scenario` reads it
   * @param {object[]} traces the traces that the scenario names: {name, words} of `synthesize`, or {name, text}
   * @param {boolean} series whether the answer has the link over time
   */
  async run(scenario, traces, series) {
    if (!this.#worker) await this.start();
    for (const trace of traces) {
      const text = trace.words ?? trace.text;
      if (this.#known.get(trace.name) === text) continue;
      await this.#ask({ kind: "trace", ...trace });
      this.#known.set(trace.name, text);
    }
    return this.#ask({ kind: "run", scenario, series });
  }

  /**
   * Asks about a rule.
   * @param {string} text the rule
   * @param {object} set parameters of the controller `rule` that do not encode it, by name, for its C++
   */
  async rule(text, set = {}) {
    if (!this.#worker) await this.start();
    return this.#ask({ kind: "rule", text, settings: Object.entries(set).map((pair) => pair.join("=")).join(" ") });
  }

  #ask(job) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (this.#waiting.size === 1) this.#watch();
      this.#worker.postMessage({ id, ...job });
    });
  }

  /** Ends a job that has taken long, and the jobs that wait: a newer job makes them needless. */
  hurry() {
    if (this.#waiting.size && performance.now() - this.#began > LONG_MS) this.#end("a newer run ended this run");
  }

  // Gives the job that the worker now begins its time.
  #watch() {
    this.#began = performance.now();
    this.#timer = setTimeout(() => this.#end("the run took too long and was ended; shorten the link"), LONGEST_MS);
  }

  #settle({ id, result, reason, broken }) {
    const job = this.#waiting.get(id);
    if (!job) return;
    this.#waiting.delete(id);
    clearTimeout(this.#timer);
    if (this.#waiting.size) this.#watch();
    if (reason === undefined) job.resolve(result);
    else job.reject(new Error(reason));
    if (broken) this.#end("the emulator failed and was started again");
  }

  #end(reason) {
    clearTimeout(this.#timer);
    this.#worker.terminate();
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}
