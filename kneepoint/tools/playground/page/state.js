// The address of the page contains its state: #controller=fixed_window&set.window=20&link=synthetic-slow

/** The data of this page, and the defaults of a state, as kneepoint/tools/playground/state.py declares them. */
export const data = JSON.parse(document.getElementById("data").textContent);
export const DEFAULTS = data.defaults;

/** Whether a parameter has a slider. */
export const shows = (name) => data.exercise?.parameters?.includes(name) ?? true;

const KEYS = Object.keys(DEFAULTS).filter((key) => !key.endsWith("set"));
const written = (key) => (key === "b_rule" ? "b.rule" : key);
const KEY_OF = Object.fromEntries(KEYS.map((key) => [written(key), key]));

/**
 * Reads an address.
 * @param {string} hash what follows the page's name, with or without #
 * @param {object} defaults values of the keys that are not given
 * @throws {Error} a part is unknown, given twice or not a number
 */
export function parse(hash, defaults = DEFAULTS) {
  const given = { set: {}, b_set: {} };
  const seen = new Set();
  for (const [key, text] of new URLSearchParams(hash.replace("#", ""))) {
    if (seen.has(key)) throw new Error(`address: ${quote(key)} is given twice; remove one`);
    seen.add(key);
    const [, owner, name] = /^(b\.)?set\.([a-z]\w*)$/i.exec(key) ?? [];
    if (name) {
      given[owner ? "b_set" : "set"][name] = number(key, text);
    } else if (Object.hasOwn(KEY_OF, key)) {
      given[KEY_OF[key]] = READERS[typeof DEFAULTS[KEY_OF[key]]](key, text);
    } else {
      throw new Error(`address: unknown key ${quote(key)}; known: ${Object.keys(KEY_OF).join(", ")}, set.NAME, b.set.NAME`);
    }
  }
  return changed(defaults, given);
}

/** The keys of each side: controller, parameters, rule. */
export const SIDES = { a: ["controller", "set", "rule"], b: ["b", "b_set", "b_rule"] };

// The controller `rule` begins with a rule, unless its parameters are a program.
const firstRule = (controller, set) => (controller === "rule" && !("code_0" in set) ? data.rules[0].text : "");

/** A state with other keys; parameters, rule and sweep stay only with the controller that they belong to. */
export function changed(state, keys) {
  const next = { ...state, ...keys };
  for (const [controller, set, rule] of Object.values(SIDES)) {
    const isSame = next[controller] === state[controller];
    next[set] = { ...(isSame ? state[set] : {}), ...keys[set] };
    next[rule] = keys[rule] || (isSame ? state[rule] : firstRule(next[controller], next[set]));
  }
  if (next.controller !== state.controller) next.sweep = keys.sweep ?? "";
  return next;
}

/** A JSON value changed by a merge patch (RFC 7396). */
export function patched(target, patch) {
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isObject(patch)) return patch;
  const found = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete found[key];
    else found[key] = patched(found[key], value);
  }
  return found;
}

/** Writes a state as an address that `parse` reads. */
export function format(state, defaults = DEFAULTS) {
  const textOf = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const changed = KEYS.filter((key) => key === "controller" || key === "link" || textOf(state[key]) !== textOf(defaults[key]));
  const pairs = changed.map((key) => [written(key), textOf(state[key])]);
  for (const [name, value] of Object.entries(state.set)) pairs.push([`set.${name}`, value]);
  for (const [name, value] of Object.entries(state.b ? state.b_set : {})) pairs.push([`b.set.${name}`, value]);
  const readable = { "%3A": ":", "%2C": ",", "%3D": "=" };
  return `#${String(new URLSearchParams(pairs)).replace(/%(3A|2C|3D)/g, (code) => readable[code])}`;
}

export const quote = (text) => `'${String(text).slice(0, 80)}'`;

const READERS = { number, object, string: (_, text) => text };

function object(key, text) {
  try {
    const found = JSON.parse(text);
    if (Object.prototype.toString.call(found) === "[object Object]") return found;
  } catch {
    // it is no JSON
  }
  throw new Error(`address: ${key}=${text.slice(0, 80)} is not an object in JSON`);
}

function number(key, text) {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new Error(`address: ${key}=${String(text).slice(0, 80)} is not a number`);
  if (key === "seed" && !Number.isSafeInteger(value)) throw new Error(`address: seed=${value} is not a whole number below 2^53`);
  return value;
}
