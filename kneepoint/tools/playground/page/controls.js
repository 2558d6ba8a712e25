// Controls: sliders of declared parameters, choices and numbers, as elements that report a change.
const STEPS = 1000; // number of steps of a slider

export function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made[name] = value;
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...content);
  return made;
}

/** A choice; options are texts or [value, text]. */
export function choice(label, options, value, onchange) {
  const select = element("select", { onchange: () => onchange(select.value) });
  for (const option of options) {
    const [own, text] = Array.isArray(option) ? option : [option, option];
    select.append(element("option", { value: own, selected: own === value }, text));
  }
  return element("label", { class: "row" }, element("span", {}, label), select);
}

let made = 0;

/** The value at a share of a parameter's range, in four digits. */
export function valueAt({ low, high, type, scale }, share) {
  const value = scale === "log" && low > 0 ? low * (high / low) ** share : low + share * (high - low);
  return type === "real" ? Number(value.toPrecision(4)) : Math.round(value);
}

/**
 * A slider with a number, for a parameter as the catalogue declares the parameter.
 * @param {object} parameter name, unit, meaning, low, high, min, max, type, scale
 */
export function slider(parameter, value, onchange) {
  const { name, unit, meaning, low, high, min, max, type, scale } = parameter;
  const id = `slider-${++made}`;
  const isLog = scale === "log" && low > 0;
  const place = (number) => (isLog ? Math.log(Math.max(number, 1e-9) / low) / Math.log(high / low) : (number - low) / (high - low));
  const numberAt = (share) => valueAt(parameter, share);
  const shownPlace = (number) => Math.round(STEPS * Math.min(1, Math.max(0, place(number))));
  const range = element("input", { type: "range", id, min: 0, max: STEPS, "aria-describedby": `${id}-meaning` });
  const exact = element("input", { type: "number", step: "any", min, max, "aria-label": `${name}, exact` });
  const show = (number) => {
    exact.value = number;
    range.value = shownPlace(number);
    range.setAttribute("aria-valuetext", `${number} ${unit}`);
  };
  let present = value;
  const tell = (number) => {
    show(number);
    if (number === present) return;
    present = number;
    onchange(number);
  };
  range.oninput = () => tell(numberAt(range.value / STEPS));
  // A key moves to the next whole number if a step of the slider is smaller.
  range.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    let at = shownPlace(present);
    do at += by; while (at > 0 && at < STEPS && numberAt(at / STEPS) === present);
    const next = numberAt(Math.min(1, Math.max(0, at / STEPS)));
    tell(type !== "real" && Math.abs(next - present) < 1 ? present + by : next);
  };
  exact.onchange = () => tell(Number.isFinite(exact.valueAsNumber) ? exact.valueAsNumber : present);
  show(value);
  return element(
    "div",
    { class: "slider", "data-name": name },
    element("label", { for: id }, name, unit === "1" ? "" : element("small", {}, ` ${unit}`)),
    exact,
    range,
    element("p", { id: `${id}-meaning`, class: "meaning" }, meaning),
  );
}

/** Controls of a queue: its kind, and a number for each declared parameter. */
export function queue(kinds, text, starts, onchange) {
  const [kind, rest = ""] = text.split(":");
  const given = Object.fromEntries(rest.split(",").filter(Boolean).map((pair) => pair.split("=")));
  const box = element("div");
  box.append(choice("Queue", kinds.map((each) => each.name), kind, (name) => onchange(starts[name] ? `${name}:${starts[name]}` : name)));
  const declared = kinds.find((each) => each.name === kind);
  if (!declared) return box;
  box.append(element("p", { class: "meaning" }, declared.meaning));
  const tell = () => {
    const pairs = Object.entries(given).filter(([, value]) => value !== "");
    onchange(pairs.length ? `${kind}:${pairs.map((pair) => pair.join("=")).join(",")}` : kind);
  };
  for (const each of declared.parameters) {
    const input = element("input", { type: "number", step: "any", value: given[each.name] ?? "", placeholder: each.default ?? "none", title: each.meaning });
    input.onchange = () => {
      given[each.name] = input.value;
      tell();
    };
    box.append(element("label", { class: "row" }, element("span", {}, each.name, element("small", {}, ` ${each.unit}`)), input));
  }
  return box;
}
