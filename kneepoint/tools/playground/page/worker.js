// The emulator's own thread: it takes jobs one after the other, and answers each.
"use strict";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NOT_SUPPORTED = 52; // ENOSYS of WASI
let core;

// A run needs neither clock nor files: what WASI offers besides is refused.
function imports(module) {
  const found = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (found[from] ??= {})[name] = () => NOT_SUPPORTED;
  }
  Object.assign((found.wasi_snapshot_preview1 ??= {}), {
    proc_exit: (status) => {
      throw new Error(`the emulator ended with status ${status}`);
    },
    environ_sizes_get: (count, size) => {
      new Uint32Array(core.memory.buffer)[count >> 2] = 0;
      new Uint32Array(core.memory.buffer)[size >> 2] = 0;
      return 0;
    },
    environ_get: () => 0,
  });
  return found;
}

function call(name, text = "") {
  const bytes = encoder.encode(text);
  const place = core.room(bytes.length);
  new Uint8Array(core.memory.buffer, place, bytes.length).set(bytes);
  const size = core[name]();
  return decoder.decode(new Uint8Array(core.memory.buffer, core.answer(), size));
}

function answer(name, text) {
  const found = JSON.parse(call(name, text) || "{}");
  if (found.reason) throw new Error(found.reason);
  return found;
}

const JOBS = {
  async start({ module }) {
    core = (await WebAssembly.instantiate(module, imports(module))).exports;
    core._initialize?.();
    return answer("catalogue");
  },
  trace({ name, text, words }) {
    answer(words ? "synthesize" : "write", `${name}\n${words ?? text}`);
  },
  run({ scenario, series }) {
    const job = { scenario, flows: true };
    const figures = answer("run", JSON.stringify(series ? { ...job, uplink_log: "log" } : job));
    return series ? { figures, ...answer("over_time", "log") } : { figures };
  },
};

onmessage = async ({ data }) => {
  try {
    postMessage({ id: data.id, result: await JOBS[data.kind](data) });
  } catch (error) {
    const broken = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    postMessage({ id: data.id, reason: error.message, broken });
  }
};
