// The emulator of kneepoint.wasm in JavaScript, for a page's worker or Node.js: its functions are
// those of module.cc.

// All that it asks of the system is to print as it aborts.
const system = { fd_close: () => 0, fd_seek: () => 0, fd_write: () => 0 };

export class Emulator {
  #module;
  #exports;
  #kept = new Map(); // how each text was made, by its name: for the next instance

  // `module`: a WebAssembly.Module.
  constructor(module) {
    this.#module = module;
    this.#start();
  }

  // JSON of controllers with their parameters, queues, host models and impairments.
  catalogue() {
    return this.#call("catalogue", "");
  }

  // The JSON that answers a line of `emulate --batch`: a link's `trace` is the name of a text.
  run(line) {
    return this.#call("run", line);
  }

  // Keeps a text under a name, in place of a file.
  write(name, text) {
    return this.#make("write", name, text);
  }

  // A text that was given, or that a run or synthesize() has written.
  read(name) {
    return this.#call("read", name);
  }

  // JSON of what a link's log of this name tells, as `measure --over-time` prints it.
  overTime(name) {
    return this.#call("over_time", name);
  }

  // Writes a trace under a name, from the options of `synthesize`.
  synthesize(name, options) {
    return this.#make("synthesize", name, options);
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
      // What stopped in the midst of a call is of no use any more.
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
