// The emulator of kneepoint.wasm in JavaScript, for a page's worker or Node.js. Its methods call
// the functions of module.cc.

// The module calls the system only to print a message when it aborts.
const system = { fd_close: () => 0, fd_seek: () => 0, fd_write: () => 0 };

export class Emulator {
  #module;
  #exports;
  #kept = new Map(); // how each text was made, by name, to make the texts again in a new instance

  // `module`: a WebAssembly.Module.
  constructor(module) {
    this.#module = module;
    this.#start();
  }

  // Returns the JSON of controllers with their parameters, queues, host models and impairments.
  catalogue() {
    return this.#call("catalogue", "");
  }

  // Returns the JSON that answers a line of `emulate --batch`; a link's `trace` is the name of a text.
  run(line) {
    return this.#call("run", line);
  }

  // Keeps a text under a name, in place of a file.
  write(name, text) {
    return this.#make("write", name, text);
  }

  // Returns a text that the caller, a run or synthesize() wrote.
  read(name) {
    return this.#call("read", name);
  }

  // Returns the JSON that `measure --over-time` prints for the link's log of this name.
  overTime(name) {
    return this.#call("over_time", name);
  }

  // Writes the trace that options of `synthesize` describe, under a name.
  synthesize(name, options) {
    return this.#make("synthesize", name, options);
  }

  // Returns the JSON of a rule: its parameters, or what is wrong; `settings` are words NAME=VALUE.
  rule(settings, text) {
    return this.#call("rule", `${settings}\n${text}`);
  }

  get bytesOfMemory() {
    return this.#exports.memory.buffer.byteLength;
  }

  #make(how, name, text) {
    const answer = this.#call(how, `${name}\n${text}`);
    if (answer === "") this.#kept.set(name, [how, text]);
    return answer;
  }

  #start() {
    const imports = { wasi_snapshot_preview1: system };
    this.#exports = new WebAssembly.Instance(this.#module, imports).exports;
    this.#exports._initialize();
  }

  #call(name, argument) {
    try {
      const bytes = new TextEncoder().encode(argument);
      const room = this.#exports.room(bytes.length);
      this.#bytes(room, bytes.length).set(bytes);
      const length = this.#exports[name]();
      return new TextDecoder().decode(this.#bytes(this.#exports.answer(), length));
    } catch (error) {
      // An instance that stopped in a call cannot be used again.
      this.#start();
      for (const [kept, [how, text]] of this.#kept) this.#call(how, `${kept}\n${text}`);
      const reason = `the emulator stopped: ${error.message ?? "memory is short"}`;
      return JSON.stringify({ status: "fault", reason });
    }
  }

  #bytes(place, length) {
    return new Uint8Array(this.#exports.memory.buffer, place >>> 0, length);
  }
}
