// Calls methods of the emulator, one [NAME, ARGUMENT...] per line of stdin, and prints each answer
// as JSON. `digest` prints the SHA-256 of a text and forgets the text; `trap` makes a run that a
// trap ends.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Emulator } from "../../controllers/wasm/emulator.mjs";

let traps = false;
const { Instance } = WebAssembly;
WebAssembly.Instance = class {
  constructor(...given) {
    const { exports } = new Instance(...given);
    this.exports = { ...exports, run: () => (traps ? exports.room(2 ** 31) : exports.run()) };
  }
};
const emulator = new Emulator(new WebAssembly.Module(readFileSync(process.argv[2])));
const methods = {
  digest(name) {
    const text = emulator.read(name);
    emulator.write(name, "");
    return createHash("sha256").update(text).digest("hex");
  },
  trap(line) {
    traps = true;
    const answer = emulator.run(line);
    traps = false;
    return answer;
  },
  bytesOfMemory: () => emulator.bytesOfMemory,
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...texts] = JSON.parse(line);
  const answer = name in methods ? methods[name](...texts) : emulator[name](...texts);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
