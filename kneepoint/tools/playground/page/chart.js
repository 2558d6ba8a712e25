// Pictures that are no time series: the throughput-delay plane and the sweep, as SVG.

const WIDTH = 460;
const HEIGHT = 330;
const [LEFT, RIGHT, TOP, BOTTOM] = [60, 14, 14, 46];

export const shown = (value, digits = 3) => (value === null || !Number.isFinite(value) ? "–" : String(Number(value.toPrecision(digits))));

const escape = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// A scale from values to places, with the values of its ticks.
function scale([low, high], [from, to], isLog) {
  const by = isLog ? Math.log10 : (value) => value;
  const place = (value) => from + ((by(value) - by(low)) / (by(high) - by(low) || 1)) * (to - from);
  return { place, ticks: (isLog ? logTicks : evenTicks)(low, high) };
}

function logTicks(low, high) {
  const steps = high > 20 * low ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    found.push(...steps.map((step) => step * 10 ** power));
  }
  const within = found.filter((tick) => tick >= low && tick <= high);
  return within.length > 8 ? within.filter((tick) => /^[^1-9]*1/.test(String(tick))) : within;
}

function evenTicks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

function axes(x, y, labels) {
  const floor = HEIGHT - BOTTOM;
  const parts = [`<path class="axis" d="M${LEFT} ${TOP}V${floor}H${WIDTH - RIGHT}"/>`];
  for (const tick of x.ticks) parts.push(`<text class="tick" x="${x.place(tick)}" y="${floor + 17}" text-anchor="middle">${shown(tick)}</text>`);
  for (const tick of y.ticks) {
    parts.push(`<path class="grid" d="M${LEFT} ${y.place(tick)}H${WIDTH - RIGHT}"/>`);
    parts.push(`<text class="tick" x="${LEFT - 8}" y="${y.place(tick) + 4}" text-anchor="end">${shown(tick)}</text>`);
  }
  parts.push(`<text class="label" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escape(labels[0])}</text>`);
  parts.push(`<text class="label" transform="translate(13 ${(TOP + floor) / 2}) rotate(-90)" text-anchor="middle">${escape(labels[1])}</text>`);
  return parts.join("");
}

function line(points, x, y, kind) {
  const usable = points.filter(([across, up]) => Number.isFinite(x.place(across)) && Number.isFinite(y.place(up)));
  if (usable.length < 2) return "";
  return `<polyline class="${kind}" points="${usable.map(([across, up]) => `${x.place(across).toFixed(1)},${y.place(up).toFixed(1)}`).join(" ")}"/>`;
}

// A name beside a ring, on the side that has room.
function named(text, across, up) {
  const isLeft = across > WIDTH - 110;
  return `<text class="named" x="${across + (isLeft ? -14 : 14)}" y="${up - 9}" text-anchor="${isLeft ? "end" : "start"}">${escape(text)}</text>`;
}

const svg = (content, title) => `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title)}">${content}</svg>`;

const at = (figures) => [Math.max(figures.signal_delay_p95_ms, 1), figures.throughput_mbps];

const usable = (figures) => figures && figures.signal_delay_p95_ms !== null && figures.throughput_mbps !== null;

/**
 * The throughput-delay plane with contours of power; delay decreases to the right.
 * @param {object[]} settings {side, now, before}: figures now, and figures of the previous points
 * @param {object[]} sweep figures of the points of a sweep, in order
 * @param {object|null} knee the figures of greatest power in the sweep
 */
export function plane(settings, sweep, knee) {
  const all = [...settings.flatMap(({ now, before }) => [now, ...before]), ...sweep].filter(usable);
  if (!all.length) return svg("", "no point yet");
  const delays = all.map((each) => at(each)[0]);
  const most = Math.max(...all.map((each) => each.throughput_mbps), ...settings.map(({ now }) => now.capacity_mbps ?? 0));
  const range = [Math.min(...delays) * 0.8, Math.max(...delays, Math.min(...delays) * 3) * 1.15];
  const x = scale(range, [WIDTH - RIGHT, LEFT], true);
  const y = scale([0, most * 1.08], [HEIGHT - BOTTOM, TOP], false);
  const parts = [axes(x, y, ["95th percentile of signal delay (ms), less to the right", "Throughput (Mbit/s)"])];
  for (const power of logTicks((1e3 * most) / range[1] / 8, (1e3 * most) / range[0])) {
    const curve = Array.from({ length: 41 }, (_, k) => range[0] * (range[1] / range[0]) ** (k / 40))
      .map((delay_ms) => [delay_ms, (power * delay_ms) / 1e3])
      .filter(([, mbps]) => mbps <= most * 1.08);
    parts.push(line(curve, x, y, "contour"));
    const [delay_ms, mbps] = curve.at(-1) ?? [0, 0];
    if (curve.length > 4) parts.push(`<text class="power" x="${x.place(delay_ms) + 3}" y="${y.place(mbps) + 11}">${shown(power)}</text>`);
  }
  parts.push(line(sweep.filter(usable).map(at), x, y, "curve"));
  const dot = (figures, kind, radius, more = "") =>
    `<circle class="${kind}" cx="${x.place(at(figures)[0]).toFixed(1)}" cy="${y.place(at(figures)[1]).toFixed(1)}" r="${radius}"${more}/>`;
  for (const each of sweep.filter(usable)) parts.push(dot(each, "swept", 2));
  if (usable(knee)) parts.push(dot(knee, "knee", 10), named("knee", x.place(at(knee)[0]), y.place(at(knee)[1])));
  for (const { side, now, before } of settings) {
    const trail = before.filter(usable);
    trail.forEach((each, k) => parts.push(dot(each, side, 3.5, ` opacity="${((k + 1) / (trail.length + 1)) * 0.5}"`)));
    if (usable(now)) parts.push(dot(now, `${side} now`, 6));
  }
  return svg(parts.join(""), `Throughput against signal delay: ${settings.filter(({ now }) => usable(now)).map(({ side, now }) => `${side.toUpperCase()} ${shown(now.throughput_mbps)} Mbit/s at ${now.signal_delay_p95_ms} ms`).join(", ")}`);
}

/**
 * Power over the values of a parameter, its knee marked; a point's data-value is its value.
 * @param {{value: number, figures: object}[]} points
 * @param {object} parameter as the catalogue declares it
 * @param {number} present the present value of the parameter
 */
export function sweep(points, parameter, present, knee) {
  const known = points.filter(({ figures }) => figures && figures.power !== null);
  if (!known.length) return svg("", "no run yet");
  const values = points.map(({ value }) => value);
  const x = scale([Math.min(...values), Math.max(...values)], [LEFT, WIDTH - RIGHT], parameter.scale === "log" && Math.min(...values) > 0);
  const y = scale([0, Math.max(...known.map(({ figures }) => figures.power)) * 1.1 || 1], [HEIGHT - BOTTOM, TOP], false);
  const unit = parameter.unit === "1" ? "" : ` (${parameter.unit})`;
  const parts = [axes(x, y, [`${parameter.name}${unit}`, "Power (Mbit/s/s)"])];
  parts.push(line(known.map(({ value, figures }) => [value, figures.power]), x, y, "curve a-line"));
  if (present >= values[0] && present <= values.at(-1)) parts.push(`<path class="present" d="M${x.place(present)} ${TOP}V${HEIGHT - BOTTOM}"/>`);
  for (const { value, figures } of known) {
    parts.push(`<circle class="a" data-value="${value}" cx="${x.place(value).toFixed(1)}" cy="${y.place(figures.power).toFixed(1)}" r="3.4"><title>${value}: power ${shown(figures.power)}</title></circle>`);
  }
  if (knee) {
    const place = [x.place(knee.value), y.place(knee.figures.power)];
    parts.push(`<circle class="knee" cx="${place[0]}" cy="${place[1]}" r="9"/>`, named(`knee at ${shown(knee.value)}`, ...place));
  }
  return svg(parts.join(""), `Power over ${parameter.name}${knee ? `, greatest at ${knee.value}` : ""}`);
}
