// Links: shipped synthetic links, constant rates, and files that the reader drops onto the page.
import { quote } from "kneepoint/state";

const PACKET_BITS = 1504 * 8; // bits of a delivery opportunity
const MAX_BYTES = 20e6;
const MAX_PACKETS = 5e6;
const dropped = new Map(); // {name, text} by SHA-256, or by name if the browser computes no digest

/**
 * Reads a dropped file: a trace of mahimahi, or a CSV of times (s) and rates (Mbit/s).
 * @param {File} file
 * @returns {Promise<string>} NAME:SHA-256, as in the address
 * @throws {Error} the file is too large, cannot be read, or is not a list of times and rates
 */
export async function take(file) {
  if (file.size > MAX_BYTES) {
    throw new Error(`${file.name}: ${Math.round(file.size / 1e6)} MB are too many; cut it to ${MAX_BYTES / 1e6} MB`);
  }
  const raw = await file.text().catch(() => {
    throw new Error(`${file.name} cannot be read; choose a file, not a folder`);
  });
  const text = file.name.toLowerCase().endsWith(".csv") ? ofRates(rates(raw, file.name), file.name) : raw;
  // A page that a report on a disk opened has an origin without cryptography.
  const digest = (await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(text))) ?? new ArrayBuffer(0);
  const sha256 = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const plain = file.name.replace(/[:\s]/g, "_");
  const isTaken = [...dropped.values()].some((each) => each.name === plain && each.text !== text);
  const name = isTaken ? `${plain}(${dropped.size + 1})` : plain;
  dropped.set(sha256 || name, { name, text });
  return `${name}:${sha256}`;
}

/** Takes dropped files as the files that an address names; the emulator compares digests. */
export function assign(taken, wanted) {
  taken.forEach((text, at) => dropped.set(key(wanted[at]), dropped.get(key(text))));
}

const key = (text) => text.split(":")[1] || text.split(":")[0];

/**
 * The traces of a state's link.
 * @returns uplink and downlink with keys of a scenario's link, traces, duration_s
 * @throws {Error} a file is missing, or the link is unknown
 */
export function traces(state, shipped) {
  const { rate_mbps, duration_s } = state;
  if (["constant", "port"].includes(state.link)) {
    if (!(rate_mbps > 0 && duration_s > 0)) {
      throw new Error(`${state.link}: ${rate_mbps} Mbit/s for ${duration_s} s; rate_mbps and duration_s must be above 0`);
    }
    if (state.link === "port") return { uplink: { rate_mbps }, downlink: { rate_mbps }, traces: [], duration_s };
    const name = "constant"; // the same name for all rates, so that a new trace replaces the last trace
    const text = ofRates([[duration_s, rate_mbps]], `${rate_mbps} Mbit/s for ${duration_s} s`);
    return { uplink: { trace: name }, downlink: { trace: name }, traces: [{ name, text }], duration_s };
  }
  if (state.link === "file") {
    const named = [state.uplink, state.downlink || state.uplink];
    const [up, down] = named.map(given);
    const ends = [up, down].map(({ name }, at) => ({ trace: name, trace_sha256: named[at].split(":")[1] || undefined }));
    return { uplink: ends[0], downlink: ends[1], traces: [up, down], duration_s: last(up.text) / 1000 };
  }
  const link = shipped.find((each) => each.name === state.link);
  if (!link) {
    throw new Error(`unknown link ${quote(state.link)}; known: ${shipped.map((each) => each.name).join(", ")}, constant, port, file`);
  }
  const both = ["uplink", "downlink"].map((end) => ({ name: `${link.name}-${end}`, words: link[end] }));
  return { uplink: { trace: both[0].name }, downlink: { trace: both[1].name }, traces: both, duration_s: link.duration_s };
}

function given(text) {
  const [name, sha256] = text.split(":");
  if (!dropped.has(key(text))) {
    throw new Error(`drop the trace ${name || "of a link"} onto this page${sha256 ? `, SHA-256 ${sha256.slice(0, 12)}…` : ""}: it stays on this machine`);
  }
  return dropped.get(key(text));
}

const last = (text) => Number(text.trimEnd().slice(-20).split("\n").pop()) || 60;

// [duration (s), rate (Mbit/s)] of each row; the last row lasts as long as the row before it.
function rates(text, name) {
  const lines = text.trim().split(/\r?\n/);
  const separator = [";", "\t"].find((sign) => lines[0].includes(sign)) ?? ",";
  // With another separator, a comma is a decimal comma.
  const cellsOf = (line) => line.split(separator).map((cell) => cell.trim().replace(",", "."));
  const numberOf = (cell) => (cell === "" ? NaN : Number(cell));
  if (cellsOf(lines[0]).every((cell) => Number.isNaN(numberOf(cell)))) lines.shift(); // a header
  const rows = lines.map((line) => cellsOf(line).map(numberOf));
  rows.forEach((row, at) => {
    const isValid = row.length === 2 && row.every((value) => value >= 0 && Number.isFinite(value));
    if (!isValid || (at > 0 && row[0] <= rows[at - 1][0])) {
      throw new Error(`${name}: ${quote(lines[at])} is not a later time (s) and a rate (Mbit/s)`);
    }
  });
  if (rows.length < 2) throw new Error(`${name} has fewer than two rows of a time (s) and a rate (Mbit/s)`);
  const times = rows.map(([time_s]) => time_s);
  times.push(2 * times.at(-1) - times.at(-2));
  return rows.map(([, mbps], at) => [times[at + 1] - times[at], mbps]);
}

// An opportunity is due once the link could have carried it, as in kneepoint.networks.traces.
function ofRates(steps, name) {
  const lines = [];
  let start_ms = 0;
  let passed = 0; // packets
  for (const [lasts_s, mbps] of steps) {
    const after = passed + (mbps * 1e6 * lasts_s) / PACKET_BITS;
    if (after > MAX_PACKETS) throw new Error(`${name}: more than ${MAX_PACKETS} packets; lower the rate or the time`);
    for (let k = Math.floor(passed) + 1; k <= Math.floor(after + 1e-9); ++k) {
      lines.push(Math.ceil(start_ms + ((k - passed) * PACKET_BITS) / (mbps * 1000) - 1e-9));
    }
    passed = after;
    start_ms += 1000 * lasts_s;
  }
  const end_ms = Math.round(start_ms);
  if (lines.at(-1) !== end_ms) lines.push(end_ms); // so that it repeats after its duration
  return `${lines.join("\n")}\n`;
}
