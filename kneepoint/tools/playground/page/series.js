// The link and the flows over time, by uPlot: four pictures with one cursor.
const PICTURES = [
  { name: "Throughput (Mbit/s)", of: (run) => [run.capacity_mbps, ...run.flows.map((flow) => flow.throughput_by_interval_mbps)] },
  { name: "Queueing delay (ms)", of: (run) => [run.delay_ms] },
  { name: "Window (packets)", of: (run) => run.flows.map((flow) => flow.window_by_interval_packets.map((packets) => packets || null)) }, // 0: nothing was acknowledged
  { name: "Queue (packets)", of: (run) => [run.queue_packets] },
];
const MAX_INTERVALS = 256;

/** Returns the interval (s) of series of this duration: a power of two in ms, as in the link's series. */
export function interval(duration_s) {
  let interval_ms = 1;
  while ((1000 * duration_s) / interval_ms > MAX_INTERVALS) interval_ms *= 2;
  return interval_ms / 1000;
}

/** Series of whole intervals from a run's answer: means of rates, greatest delays, last queues. */
export function series({ figures, over_time }, interval_s) {
  if (!over_time) return { ...withoutLog(figures), flows: figures.flows };
  const each = Math.max(1, Math.round(interval_s / over_time.interval_s));
  const grouped = (values, combine) =>
    Array.from({ length: Math.floor(values.length / each) }, (_, k) => combine(values.slice(k * each, (k + 1) * each)));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const greatest = (values) => {
    const some = values.filter((value) => value !== null);
    return some.length ? Math.max(...some) : null;
  };
  return {
    capacity_mbps: grouped(over_time.capacity_mbps, mean),
    delay_ms: grouped(over_time.delay_ms, greatest),
    queue_packets: grouped(over_time.queue_packets, (values) => values.at(-1)),
    flows: figures.flows,
  };
}

function withoutLog({ capacity_mbps, uplink: { queue_by_interval_packets } }) {
  const each = (value) => queue_by_interval_packets.map(() => value);
  return { capacity_mbps: each(capacity_mbps), delay_ms: each(null), queue_packets: queue_by_interval_packets };
}

export class Series {
  #places;
  #plots = [];
  #shape = "";
  #drawn = null;

  /** @param {HTMLElement} place where the four pictures stand */
  constructor(place) {
    this.#places = PICTURES.map(() => place.appendChild(document.createElement("div")));
    new ResizeObserver(() => this.#fit()).observe(place);
  }

  /** @param {{side: string, run: object}[]} settings sides with the results of `series` */
  draw(settings, interval_s) {
    this.#drawn = [settings, interval_s];
    const shape = JSON.stringify(settings.map(({ run, names }) => [names, run.flows.length]));
    if (shape !== this.#shape) this.#make(settings);
    this.#shape = shape;
    const length = Math.min(...settings.map(({ run }) => run.delay_ms.length));
    const x = Array.from({ length }, (_, k) => Number(((k + 1) * interval_s).toPrecision(9)));
    PICTURES.forEach(({ of }, at) => {
      const lines = settings.flatMap(({ run }, k) => of(run).slice(at === 0 && k > 0 ? 1 : 0)); // the capacity is drawn once
      this.#plots[at].setData([x, ...lines.map((line) => line.slice(0, length))]);
      this.#places[at].hidden = lines.flat().every((value) => value === null);
    });
  }

  /** Draws anew, such as in other colours. */
  again() {
    this.#shape = "";
    if (this.#drawn) this.draw(...this.#drawn);
  }

  #make(settings) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    for (const plot of this.#plots) plot.destroy();
    this.#plots = PICTURES.map(({ name, of }, at) => {
      const lines = settings.flatMap(({ side, run, names }, k) => {
        const made = of(run).map((_, flow) => {
          const isCapacity = at === 0 && flow === 0;
          const own = at === 0 ? flow - 1 : flow;
          if (isCapacity) return { label: "capacity", stroke: colour("--hair"), fill: colour("--raised"), width: 1 };
          const label = settings.length > 1 ? `${side.toUpperCase()}: ${names[own]}` : names[own];
          return { label, stroke: colour(`--${side}`), width: 1.5, dash: own > 0 ? [4, 3] : undefined };
        });
        return at === 0 && k > 0 ? made.slice(1) : made;
      });
      const digits = (_, value) => (value === null || value === undefined ? "" : String(Number(value.toPrecision(3))));
      const axis = { stroke: colour("--quiet"), font: "12px system-ui, sans-serif", grid: { stroke: colour("--hair"), width: 0.5 }, ticks: { show: false } };
      return new uPlot(
        {
          title: name,
          width: this.#places[0].clientWidth || 400,
          height: 150,
          cursor: { sync: { key: "time" }, drag: { x: true, y: false } },
          scales: { x: { time: false }, y: { range: (_, low, high) => [0, high * 1.05 || 1] } },
          axes: [{ ...axis, size: 26, values: (_, ticks) => ticks.map((tick) => `${tick} s`) }, { ...axis, size: 48 }],
          series: [{ label: "time", value: (_, value) => (value === null || value === undefined ? "" : `${value.toFixed(1)} s`) }, ...lines.map((line) => ({ value: digits, points: { show: false }, spanGaps: at === 2, ...line }))],
        },
        [[], ...lines.map(() => [])],
        this.#places[at],
      );
    });
  }

  #fit() {
    for (const plot of this.#plots) plot.setSize({ width: this.#places[0].clientWidth, height: 150 }); // others may be hidden
  }
}
