// The emulator's own thread, which takes jobs one after the other and answers each job. page.py puts
// the class Emulator of controllers/wasm/emulator.mjs before this text.
let core;
const LOG = "of the uplink"; // with blanks, which names of traces do not have

function found(text) {
  const answer = JSON.parse(text || "{}");
  if (answer.reason) throw new Error(answer.reason);
  return answer;
}

const JOBS = {
  start({ module }) {
    core = new Emulator(module);
    return found(core.catalogue());
  },
  trace({ name, text, words }) {
    found(words ? core.synthesize(name, words) : core.write(name, text));
  },
  rule({ text, settings }) {
    return JSON.parse(core.rule(settings, text)); // also a mistake is an answer, with its place
  },
  run({ scenario, series }) {
    const job = { scenario, flows: true };
    const logs = series && scenario.uplink?.trace; // a link without a trace has no log
    const figures = found(core.run(JSON.stringify(logs ? { ...job, uplink_log: LOG } : job)));
    return logs ? { figures, ...found(core.overTime(LOG)) } : { figures };
  },
};

onmessage = ({ data }) => {
  try {
    postMessage({ id: data.id, result: JOBS[data.kind](data) });
  } catch (error) {
    postMessage({ id: data.id, reason: error.message, broken: !core });
  }
};
