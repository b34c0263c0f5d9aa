const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Formats how long ago something was, in as few characters as fit into a list: `now`, `5m`, `3h`, `2d`, then a
 * date.
 */
export function relativeTime(at: number, now: number, locale?: string): string {
  const age = now - at;
  if (age < minute) return "now";
  if (age < hour) return `${Math.floor(age / minute)}m`;
  if (age < day) return `${Math.floor(age / hour)}h`;
  if (age < 7 * day) return `${Math.floor(age / day)}d`;
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(locale, {
    month: "short",
    day: "numeric",
    ...(sameYear ? {} : { year: "numeric" }),
  }).format(at);
}

/** Formats the full date and time, for tooltips and screen readers. */
export function fullTime(at: number, locale?: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(at);
}

/** Returns the milliseconds until `relativeTime` may return another text. */
export function nextChange(at: number, now: number): number {
  const age = Math.max(0, now - at);
  if (age < hour) return minute - (age % minute);
  if (age < day) return hour - (age % hour);
  return day - (age % day);
}
