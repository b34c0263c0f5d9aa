/** Formats a duration: `340 ms`, `2.1 s`, `3 min 5 s`. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return "?";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** Formats a count of tokens: `395`, `12.4k`, `1.05M`. An unknown count is shown as unknown. */
export function tokens(count: number | undefined): string {
  if (count === undefined) return "?";
  if (count < 10_000) return String(count);
  if (count < 1_000_000) return `${trim((count / 1_000).toFixed(1))}k`;
  return `${trim((count / 1_000_000).toFixed(2))}M`;
}

/** Formats an age in the largest unit that fits. */
export function ago(at: number | undefined, now: number): string {
  if (at === undefined) return "never";
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 60) return "just now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  if (seconds < 86_400 * 60) return `${Math.floor(seconds / 86_400)} d ago`;
  return new Date(at).toISOString().slice(0, 10);
}

/** Formats a day and a time, in this machine's time zone. */
export function moment(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Formats bytes with a unit. */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${trim((count / 1_000).toFixed(1))} kB`;
  if (count < 1_000_000_000) return `${trim((count / 1_000_000).toFixed(1))} MB`;
  return `${trim((count / 1_000_000_000).toFixed(1))} GB`;
}

/** Formats a share as a percentage. */
export function percent(part: number, whole: number): string {
  return whole === 0 ? "?" : `${Math.round((part / whole) * 100)} %`;
}

/** Formats a number with a noun, in singular or plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const trim = (figure: string) => figure.replace(/\.0+$/, "").replace(/(\.\d*[1-9])0+$/, "$1");
