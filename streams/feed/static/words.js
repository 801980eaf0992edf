// Numbers, times and names as an operator reads them.

const LABELS = {
  tokens_per_second: "tokens/s",
  step_seconds: "step time",
  loader_share: "loader share",
  loader_seconds: "loader wait",
  checkpoint_seconds: "checkpoint pause",
  compute_seconds: "own compute",
  wait_seconds: "collective wait",
  grad_norm: "gradient norm",
  gpu_util: "GPU busy",
  sm_clock_mhz: "SM clock",
  temperature_c: "GPU temperature",
  power_watts: "GPU power",
  cpu_util: "CPU busy",
  iowait: "I/O wait",
  storage_retries_per_second: "storage retries/s",
  storage_latency_seconds: "storage latency",
  storage_read_bytes_per_second: "storage reads",
  memory_available_bytes: "memory available",
};
const SHARES = /(_share|_util|_ratio|_active|_waste)$|^iowait$|^mfu$|_share\./;
const BIG = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The name of a signal, for people. */
export const label = (name) => LABELS[name] ?? name.replace(/_per_second$/, "/s").replaceAll("_", " ");

/** A word of the contract, for people: `object_storage_throttling` -> `object storage throttling`. */
export const spoken = (word) => String(word).replaceAll("_", " ");

/** Two to four significant digits, large numbers shortened. */
export function short(value) {
  const size = Math.abs(value);
  for (const [scale, letter] of BIG) {
    if (size >= scale) return trim(value / scale) + letter;
  }
  return size > 0 && size < 0.001 ? value.toExponential(1) : trim(value);
}

function trim(value) {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** A reading with its unit, by the name of its signal. */
export function reading(name, value) {
  if (value == null || Number.isNaN(value)) return "–";
  if (SHARES.test(name)) return percent(value);
  if (name.endsWith("_bytes_per_second")) return `${short(value)}B/s`;
  if (name.endsWith("_per_second")) return `${short(value)}/s`;
  if (name.endsWith("_bytes")) return `${short(value)}B`;
  if (name.endsWith("_seconds")) return value && Math.abs(value) < 0.1 ? `${trim(value * 1000)}\u00a0ms` : `${trim(value)}\u00a0s`;
  if (name.endsWith("_watts")) return `${short(value)}\u00a0W`;
  if (name.endsWith("_mhz")) return `${trim(value)}\u00a0MHz`;
  if (name.endsWith("_c")) return `${trim(value)}\u00a0°C`;
  return short(value);
}

/** A share of belief or suspicion: whole percents, more would pretend. */
export function belief(share) {
  if (share > 0 && share < 0.01) return "<1\u00a0%";
  return share > 0.99 && share < 1 ? ">99\u00a0%" : `${Math.round(share * 100)}\u00a0%`;
}

/** A measured share. */
export const percent = (share) => `${trim(share * 100)}\u00a0%`;

/** A whole number with thousands marked. */
export const whole = (value) => Math.round(value).toLocaleString("en-US");

/** Step ranges and single steps. */
export const steps = (from, to) => (to == null || to === from ? whole(from) : `${whole(from)} – ${whole(to)}`);

/** UTC clock time; with the day unless it is the day of `now`. */
export function utc(seconds, now = Date.now() / 1000) {
  const date = new Date(seconds * 1000);
  const clock = date.toISOString().slice(11, 19);
  if (Math.floor(seconds / 86400) === Math.floor(now / 86400)) return clock;
  const year = date.getUTCFullYear() === new Date(now * 1000).getUTCFullYear() ? "" : ` ${date.getUTCFullYear()}`;
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${year} ${clock}`;
}

/** A length of time in its largest fitting unit. */
export function span(seconds) {
  const size = Math.max(0, seconds);
  if (size < 90) return `${Math.round(size)} s`;
  if (size < 5400) return `${Math.round(size / 60)} min`;
  if (size < 172800) return `${trim(size / 3600)} h`;
  return `${Math.round(size / 86400)} d`;
}

/** GPU-hours, with a decimal while they are few. */
export const gpuHours = (hours) => (hours >= 100 ? whole(hours) : hours.toFixed(1));

/** How many, of what. */
export const count = (number, one, many = `${one}s`) => `${whole(number)} ${number === 1 ? one : many}`;
